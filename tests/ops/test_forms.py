"""The Python callables of the compiled operators: one binder of arguments behind all of them."""

import copy
import functools
import gc
import importlib
import inspect
import pickle
import re
import sys
import weakref

import pytest
from grouping import each

import autograd_cy as ag
from ext.codegen import generate, table

Form = type(ag.add)
RECORDS = [r for records in generate.compiled(table.load()).values() for r in records]
SINGLE = [
    r
    for r in RECORDS
    if not r.name.startswith("_") and sum(other.name == r.name for other in RECORDS) == 1
]


def form_of(record):
    module = importlib.import_module(f"autograd_cy._C.ops_{record.file}")
    return getattr(module, record.name)


@each("record", [pytest.param(r, id=r.key) for r in SINGLE])
def test_the_signature_is_that_of_the_record(record):
    form = form_of(record)
    assert type(form) is Form
    parameters = inspect.signature(form).parameters
    expected = ["input" if a.name == "self" else a.name for a in record.args]
    named = [p for p in parameters.values() if p.kind is not p.VAR_POSITIONAL]
    assert [p.name for p in named][: len(expected)] == expected
    for a, p in zip(record.args, named):
        if a.keyword:
            assert p.kind is p.KEYWORD_ONLY, p
        if a.default is not None:
            assert repr(p.default) == repr(eval(a.default)), p
    assert ("out" in parameters) == bool(record.call.out or record.outs)
    assert form.__doc__.startswith(f"{record.name}(input") or expected[0] != "input"
    # What the table calls self has another name in signatures.
    assert re.sub(r"\bself\b", "input", record.presentation.doc.splitlines()[0]) in form.__doc__


@each("record", [pytest.param(r, id=r.key) for r in SINGLE])
def test_what_cannot_be_bound_is_a_type_error_that_names_it(record):
    form, name = form_of(record), record.name
    x = ag.ones(2)
    required = [a for a in record.args if a.default is None]
    if required and not record.call.alone:
        with pytest.raises(TypeError, match=rf"^{name}\(\) missing 1 required positional argument"):
            form()
    with pytest.raises(TypeError, match=rf"{name}\(\) got an unexpected keyword argument 'quite'"):
        form(*[x] * len(required), quite=1)
    positional = sum(not a.keyword for a in record.args)
    shown = positional - (record.call.method and not record.call.function)  # without the tensor
    spread = inspect.signature(form).parameters
    if not any(p.kind is p.VAR_POSITIONAL for p in spread.values()):
        with pytest.raises(TypeError, match=rf"^{name}\(\) takes {shown} positional argument"):
            form(*[x] * (positional + 1))
    first = "input" if record.args[0].name == "self" else record.args[0].name
    with pytest.raises(TypeError, match=f"multiple values for argument '{first}'"):
        form(x, **{first: x})


def test_a_form_is_a_function_in_every_respect():
    for form in (ag.add, ag.sum, ag.Tensor.add_, ag.Tensor.add, ag.Tensor.moveaxis):
        assert callable(form) and inspect.isroutine(form)
        assert form.__name__ == form.__qualname__
        assert form.__module__ == sys.modules[form.__module__].__name__
        assert form.__name__ in repr(form)
        assert pickle.loads(pickle.dumps(form)) is form
        assert copy.deepcopy(form) is form is copy.copy(form)
        assert weakref.ref(form)() is form
        assert {form: 1}[form] == 1
        wrapped = functools.wraps(form)(lambda *args: form(*args))
        assert wrapped.__doc__ == form.__doc__ and wrapped.__name__ == form.__name__
        with pytest.raises(TypeError):
            Form()
    x = ag.tensor([1.0, 2.0])
    assert x.add.__self__ is x
    assert ag.Tensor.add is not ag.add and ag.Tensor.add.__doc__ == ag.add.__doc__
    assert ag.add.__call__(x, 1).tolist() == [2.0, 3.0]
    assert ag.Tensor.__dict__["sqrt"].__get__(x, ag.Tensor)().tolist() == x.sqrt().tolist()
    assert next(map(ag.neg, [x])).tolist() == [-1.0, -2.0]
    assert functools.partial(ag.sub, other=x)(x).tolist() == [0.0, 0.0]
    assert ag.add(input=x, other=x, alpha=2).tolist() == [3.0, 6.0]
    assert ag.add.__doc__.startswith("add(input, other, *, alpha=1, out=None)\n\nSum ")
    text = ag.Tensor.add_.__doc__
    assert "In-place form of :func:`add`" in text and "out : " not in text
    assert "input : Tensor\n    The tensor that is changed.\nother : Tensor or Number\n" in text
    assert ">>> ag.add_(ag.tensor([1, 2]), ag.tensor([10, 20]), alpha=2)\ntensor([21, 42])" in text
    assert ag.eq_.__doc__.rstrip().endswith("tensor([1, 0])"), "no truth values among integers"
    assert "`input`." in ag.relu_.__doc__ and "`input`." in ag.i0_.__doc__


def test_names_that_are_equal_but_not_the_same_object():
    name = "".join(["key", "dim"])
    assert ag.sum(ag.ones(2, 3), 0, **{name[:0] + "".join(["keep", "dim"]): True}).shape == (1, 3)
    with pytest.raises(TypeError, match="unexpected keyword argument 'keydim'"):
        ag.sum(ag.ones(2, 3), 0, **{name: True})


def test_defaults_are_made_for_each_call_where_a_call_may_change_them():
    whole, m = ag.ones(2, 2, dtype=ag.int64), ag.ones(2, 2)
    for _ in range(3):
        assert ag.addmm(whole, whole, whole).tolist() == [[3, 3], [3, 3]]
        assert ag.addmm(m, m, m).tolist() == [[3.0, 3.0], [3.0, 3.0]]
        assert ag.addcmul(whole, whole, whole).tolist() == [[2, 2], [2, 2]]
        assert ag.addcmul(m, m, m).tolist() == [[2.0, 2.0], [2.0, 2.0]]


def test_sizes_one_by_one_in_a_sequence_and_by_name():
    x = ag.arange(6)
    assert x.view(2, 3).shape == x.view((2, 3)).shape == x.view([2, 3]).shape == (2, 3)
    assert x.view(size=(3, 2)).shape == (3, 2)
    assert x.view(6).shape == (6,) == x.reshape(-1).shape
    assert x.reshape(2, -1).shape == (2, 3)
    for wrong in (lambda: x.view(2, size=(2, 3)), lambda: x.expand(2, 3, size=(2, 3))):
        with pytest.raises(TypeError, match="multiple values for argument 'size'"):
            wrong()
    with pytest.raises(TypeError, match="found element of type str at pos 1"):
        x.view(2, "3")


def test_nothing_is_kept_or_lost_when_a_later_argument_is_refused():
    """New objects of conversion (tensors of numbers, tuples) are released, given ones are not."""
    x = ag.ones(2)
    sizes, many = [1, 2], (x, x)
    calls = [
        lambda: ag.addcmul(x, 2.0, "no"),
        lambda: ag.lerp(x, x, "no"),
        lambda: x.new_zeros(sizes, dtype="no"),
        lambda: ag.cat(many, "no"),
        lambda: x.view(1, 2, "no"),
        lambda: ag.add(x, 1.0, out="no"),
    ]

    def refused(call):
        with pytest.raises(TypeError):
            call()

    for call in calls:
        refused(call)
        gc.collect()
        before = [sys.getrefcount(thing) for thing in (x, sizes, many)]
        blocks = sys.getallocatedblocks()
        for _ in range(200):
            refused(call)
        gc.collect()
        assert [sys.getrefcount(thing) for thing in (x, sizes, many)] == before
        assert sys.getallocatedblocks() - blocks < 150


def test_one_signature_of_an_overloaded_name_and_the_choice_among_them():
    x = ag.tensor([[1.0, 5.0], [3.0, 2.0]])
    assert ag.max(x).item() == 5.0
    assert ag.max(x, 0).values.tolist() == ag.max(x, dim=0).values.tolist() == [3.0, 5.0]
    assert ag.max(x, other=x).tolist() == ag.max(x, x).tolist() == x.tolist()
    module = sys.modules["autograd_cy._C.ops_reduction"]
    assert module.form_max_dim(x, 1).values.tolist() == [5.0, 3.0]
    assert str(inspect.signature(module.form_max_dim)) == "(input, dim, keepdim=False, *, out=None)"
    assert str(inspect.signature(ag.max)) == "(*args, **kwargs)"
    with pytest.raises(TypeError, match=r"max\(\): argument 'other'"):
        module.form_max_other(x, 1)


def test_two_numbers_alone():
    assert ag.add(1, 2).dtype == ag.int64 and ag.add(1.5, 2).dtype == ag.get_default_dtype()
    with pytest.raises(TypeError, match=r"argument 'test_elements' \(position 2\) must be Tensor"):
        ag.isin(1, 2)
    assert ag.mul(True, 2).tolist() == 2


def test_signatures_that_are_no_methods():
    groups, seen = {}, 0
    for r in RECORDS:
        groups.setdefault((r.file, r.name), []).append(r)
    for (_, name), group in groups.items():
        alone = [r for r in group if not r.call.method]
        if name.startswith("_") or not alone or len(alone) == len(group):
            continue
        for record in alone:
            args = [ag.tensor([1, 2]) for a in record.args if a.default is None and not a.keyword]
            assert isinstance(getattr(ag, name)(*args), ag.Tensor)
            with pytest.raises(TypeError, match=name):
                getattr(args[0], name)(*args[1:])
            seen += 1
    assert seen
    with pytest.raises(TypeError, match=r"repeat_interleave\(\) missing 1 required"):
        ag.tensor([1, 2]).repeat_interleave()
