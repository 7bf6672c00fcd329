"""Arguments of every operator: positions, names, defaults, and what each kind refuses."""

import ast
import re

import numpy as np
import pytest
from calls import (
    CLASS_OF,
    EVALUATOR,
    RECORDS,
    Case,
    make,
    method_name,
    public_function,
    said_name,
    to_array,
)
from grouping import each

import autograd_cy as ag


class Unknown:
    """Something that is no argument of anything."""


TENSOR, VECTOR = ag.ones(2), ag.ones(2).long()
NO_INTS = (True, np.bool_(True), 1.0, 1.5, "1", Unknown(), [1], (), np.array([1]), ag.tensor(1.5))
NO_INTS += (ag.tensor(True), 1j, ag.float32, VECTOR)
NO_SIZES = (True, 1.5, "12", Unknown(), (1.0,), [True], (None,), ["1"], {1}, 1j, VECTOR, {})
NO_NUMBERS = ("1", Unknown(), [1.0], (), TENSOR, ag.float32, np.ones(1))
NO_TENSORS = ("text", Unknown(), [1.0], (), np.ones(2), ag.float32)
# What no argument of a kind takes; a kind with "?" takes None beside that.
REFUSED = {
    "Tensor": (*NO_TENSORS, 1.0, 1, True, None),
    "Tensor[]": ("text", Unknown(), 1, None, TENSOR, [1.0], (TENSOR, None), {}),
    "operand": (*NO_TENSORS, None),
    "Scalar": (*NO_NUMBERS, None),
    "int": (*NO_INTS, None),
    "dim": (*NO_INTS, None),
    "bool": (0, 1, 1.0, "True", np.bool_(True), None, Unknown(), [True], ag.tensor(True)),
    "float": (*NO_NUMBERS, None, 1j, np.complex64(1), ag.tensor(1j)),
    "str": (1, None, b"mean", Unknown(), ["mean"], True),
    "dims": (*NO_SIZES, None),
    "sizes": (*NO_SIZES, None),
    "ints(2)": (*NO_SIZES, None),
    "ints": (*NO_SIZES, None, 1, np.int64(1), ag.tensor(1)),
    "padding": (True, 1.5, Unknown(), (1.0,), [True], (None,), ["1"], {1}, 1j, VECTOR, {}, None),
    "dtype": (1, "float32", True, Unknown(), [ag.float32], TENSOR),
    "format": (1, "contiguous", True, Unknown(), ag.float32, TENSOR),
    "indices": (1, None, TENSOR, [1], (TENSOR, 1.0), "text", Unknown()),
    "int | ints": (True, 1.5, "12", None, Unknown(), (1.0,), [True], VECTOR, TENSOR, {}),
    "int | ints | Tensor": (True, 1.5, "12", None, Unknown(), (1.0,), [True], {}),
    "start": (True, 1.5, "12", None, Unknown(), [1], (1, 2)),
    "device": (1.5, Unknown(), [1], True),
    "Generator": (1, "1", True, Unknown(), TENSOR),
    "float | Tensor": ("x", None, Unknown(), [1.0], 1j),
    "int | Tensor": (True, 1.5, "12", None, Unknown(), [1], (1, 2)),
    "order": (Unknown(), [1], (), TENSOR, ag.float32, 1j),
    "correction": (*NO_NUMBERS, 1j),
}


def public(record):
    named = not record.name.startswith("_") and (record.call.function or record.call.method)
    return named and bool(record.tests.samples)


PUBLIC = [pytest.param(r, id=r.key) for r in RECORDS if public(r)]
CHANGING = [pytest.param(r, id=r.key) for r in RECORDS if public(r) and r.call.inplace]


def shown_name(record, i):
    return "input" if record.args[i].name == "self" else record.args[i].name


def dtype_of(record):
    return next(
        n
        for n in ("float64", "complex128", "int64", "float32")
        if CLASS_OF[n] in record.call.dtypes
    )


def forms(record):
    """The function and the method of a record, as users call them."""
    found = []
    if record.call.function:
        found.append(public_function(record))
    if record.call.method:
        found.append(getattr(ag.Tensor, method_name(record)))
    return found


def sample_call(record, number=0):
    """A call of a record: (tensors, arguments in order of the signature, keyword arguments)."""
    call = make(Case(record, number), dtype_of(record))
    tensors = call.tensors()
    args, kwargs = call.arguments(tensors)
    return call, tensors, list(args), dict(kwargs)


def unchanged(call, tensors):
    for t, leaf in zip(tensors, call.leaves):
        np.testing.assert_array_equal(t.numpy(), leaf.array)


def same(a, b):
    a, b = to_array(a), to_array(b)
    for x, y in zip(a, b) if isinstance(a, tuple) else [(a, b)]:
        np.testing.assert_array_equal(x, y)
        assert x.dtype == y.dtype


def refused_values(a):
    kind, optional = a.type.removesuffix("?"), a.type.endswith("?")
    kind = "str" if kind.startswith("choice(") else kind
    return [v for v in REFUSED[kind] if not (optional and v is None)]


@each("record", PUBLIC)
def test_each_argument_refuses_what_is_of_another_kind(record):
    call, tensors, args, kwargs = sample_call(record)
    form = EVALUATOR.form(record)
    for i, a in enumerate(record.args):
        name = shown_name(record, i)
        for wrong in refused_values(a):
            given, named = list(args), dict(kwargs)
            if i < len(given):
                given[i] = wrong
            elif all(x.default is not None or x.name in named for x in record.args[len(given) : i]):
                named[name] = wrong
            with pytest.raises(TypeError) as caught:
                form(*given, **named)
            text = str(caught.value)
            assert text.startswith(f"{said_name(record)}(): "), text
            assert f"'{name}'" in text, (wrong, text)
            position = i + 1 if record.call.function else i
            if i >= len(given):  # what came by name has no place
                assert "position" not in text or not ag.overrides._overrides._is_intercepted(form)
            elif not a.keyword and position and "element" not in text:
                assert f"(position {position})" in text, text
    unchanged(call, tensors)
    x = ag.ones(2, requires_grad=True)
    (x * x).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


@each("record", CHANGING)
def test_in_place_forms_refuse_the_same_and_change_nothing(record):
    call, tensors, args, kwargs = sample_call(record)
    module = EVALUATOR.modules[record.key]
    form = getattr(module, f"form_{record.key}_", None) or getattr(module, f"{record.name}_")
    versions = [t._version for t in tensors]
    for i in range(min(len(args), len(record.args))):
        first = ("Tensor", *REFUSED["Tensor"]) if i == 0 else refused_values(record.args[i])
        for wrong in first:
            given = list(args)
            given[i] = wrong
            with pytest.raises(TypeError, match=re.escape(f"{said_name(record)}_(): ")) as caught:
                form(*given, **kwargs)
            assert f"'{shown_name(record, i)}'" in str(caught.value)
    unchanged(call, tensors)
    assert versions == [t._version for t in tensors]


@each("record", PUBLIC)
def test_names_positions_and_defaults_mean_the_same(record):
    for number in range(len(record.tests.samples)):
        _, _, args, kwargs = sample_call(record, number)
        expected = EVALUATOR.form(record)(*args, **kwargs)
        given = {shown_name(record, i): x for i, x in enumerate(args)} | kwargs
        for i, a in enumerate(record.args):
            if a.default is not None:
                given.setdefault(shown_name(record, i), ast.literal_eval(a.default))
        for form in forms(record):
            same(form(*args, **kwargs), expected)
            if record.name in ("max", "min") and "other" not in given and "dim" not in given:
                continue
            first = shown_name(record, 0)
            rest = {k: v for k, v in given.items() if k != first}
            if record.overload or not rest.keys() & overloaded(record):
                same(form(given[first], **rest), expected)


def overloaded(record):
    """Names of arguments that make the call one of another overload."""
    return {
        a.name
        for r in RECORDS
        if r.name == record.name and r is not record and r.call.when is not None
        for a in r.args[1:]
    } | {"unbiased"}


@each("record", PUBLIC)
def test_too_many_missing_unknown_and_double_arguments_are_refused(record):
    call, tensors, args, kwargs = sample_call(record)
    positional = [a for a in record.args if not a.keyword]
    several = record.args[-1].type == "sizes" and len(record.args) == 2
    for form in (EVALUATOR.form(record), *forms(record)):
        wrong = [((), {}), (args, kwargs | {"no_such_argument": 1}), (args, kwargs | {"input_": 1})]
        if not several:
            filled = [*args, *(Unknown() for _ in range(len(positional) + 3 - len(args)))]
            wrong.append((filled, kwargs))
        if len(args) > 1 and not several:
            wrong.append((args, kwargs | {shown_name(record, 1): args[1]}))
        for given, named in wrong:
            with pytest.raises(TypeError) as caught:
                form(*given, **named)
            text = str(caught.value)
            assert record.name in text or "descriptor" in text or "invalid" in text, text
            if form in forms(record):
                assert not re.search(r"\b(form|bound|_\w+)_?\w*\(\)", text), text
    unchanged(call, tensors)


@each("record", PUBLIC)
def test_out_takes_a_tensor_or_none_only(record):
    if not record.call.out:
        pytest.skip("no out=")
    _, _, args, kwargs = sample_call(record)
    form = EVALUATOR.form(record)
    expected = form(*args, **kwargs)
    same(form(*args, **kwargs, out=None), expected)
    for wrong in ("text", 1.0, [TENSOR], (TENSOR,), Unknown()):
        with pytest.raises(TypeError, match="argument 'out' must be Tensor"):
            form(*args, **kwargs, out=wrong)


CHANGED = [r for r in RECORDS if r.call.inplace and r.call.method and not r.name.startswith("_")]


@each("record", [pytest.param(r, id=r.key) for r in CHANGED if len(r.args) > 1 and r.tests.samples])
def test_in_place_forms_count_their_arguments_from_the_one_after_the_tensor(record):
    _, _, args, kwargs = sample_call(record)
    form = getattr(ag.Tensor, method_name(record) + "_")
    for i, a in enumerate(record.args[1 : len(args)], 1):
        wrong = next(iter(refused_values(a)), Unknown())
        with pytest.raises(TypeError) as caught:
            form(*args[:i], wrong, *args[i + 1 :], **kwargs)
        text = str(caught.value)
        if f"'{shown_name(record, i)}'" in text and "element" not in text:
            assert f"(position {i})" in text, text
