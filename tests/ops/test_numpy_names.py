"""NumPy's names of arguments: `axis`, `keepdims`, `x`, `a`, `x1`, `x2`, as in torch."""

import re
import warnings

import numpy as np
import pytest
from calls import CLASS_OF, EVALUATOR, RECORDS, Case, make, method_name, public_function, to_array
from grouping import each

import autograd_cy as ag

NAMES = {"dim": ("axis",), "keepdim": ("keepdims",), "self": ("x", "a", "x1"), "other": ("x2",)}
# torch has these in Python, where its own names only are known; ours take both.
IN_PYTHON = {"norm", "split", "unflatten"}
# There the name of the second argument depends on its kind.
OTHER_NAMES = {"tensor_split"}
# Random, or of another signature in torch.
SKIPPED = {"dropout", "cross_entropy", "nll_loss", "mse_loss", "linear", "cross"}


def known(record):
    named = not record.name.startswith("_") and record.tests.samples and record.name not in SKIPPED
    named = named and record.namespace != "nn.functional"  # few know them in torch, too
    return named and any(a.name in NAMES for a in record.args)


def given_by_name(record, number):
    """(arguments, keyword arguments, their aliases) of a sample: all that have one by name."""
    dtype = next(
        n
        for n in ("float64", "complex128", "int64", "float32")
        if CLASS_OF[n] in record.call.dtypes
    )
    call = make(Case(record, number), dtype)
    args, kwargs = call.arguments(call.tensors())
    first = next((i for i, a in enumerate(record.args) if a.name in NAMES), len(args))
    first = min(first, len(args))
    by_name = {record.args[i].name: x for i, x in enumerate(args) if i >= first} | kwargs
    return call, list(args[:first]), by_name


def plain(by_name):
    return {"input" if k == "self" else k: v for k, v in by_name.items()}


def renamed(by_name, which):
    """The names of NumPy, the `which`-th where there are several."""
    names = {k: NAMES[k][which % len(NAMES[k])] for k in by_name if k in NAMES}
    return {names.get(k, k): v for k, v in by_name.items()}


def outcome(function, args, kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args, **kwargs)


def same(a, b):
    a, b = to_array(a), to_array(b)
    for x, y in zip(a, b, strict=True) if isinstance(a, tuple) else [(a, b)]:
        assert x.tobytes() == y.tobytes() and x.dtype == y.dtype


def close(ours, theirs):
    """Compare but for rounding."""
    for x, y in zip(*map(listed, (ours, theirs)), strict=True):
        x, y = to_array(x), np.array(y.detach().resolve_conj().resolve_neg().numpy())
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
        np.testing.assert_allclose(x, y, rtol=1e-6, atol=1e-9)


def listed(found):
    return list(found) if isinstance(found, (tuple, list)) else [found]


@each("record", [pytest.param(r, id=r.key) for r in RECORDS if known(r)])
def test_names_of_numpy_mean_those_of_torch(record):
    function = public_function(record) if record.call.function else None
    for number in range(len(record.tests.samples)):
        _, args, by_name = given_by_name(record, number)
        expected = outcome(EVALUATOR.form(record), args, plain(by_name))
        for which in range(3):
            kwargs = renamed(by_name, which)
            if function is not None:
                same(outcome(function, args, kwargs), expected)
            if record.call.method and args:
                same(outcome(getattr(ag.Tensor, method_name(record)), args, kwargs), expected)


@each("record", [pytest.param(r, id=r.key) for r in RECORDS if known(r)])
def test_torch_takes_the_same_names(record):
    torch = pytest.importorskip("torch")
    if (
        record.name in IN_PYTHON | OTHER_NAMES
        or record.namespace
        or not hasattr(torch, record.name)
        or not record.call.function
    ):
        pytest.skip("a function in Python there, or none, or with other names")
    from test_op_arguments_against_torch import as_torch

    for number in range(len(record.tests.samples)):
        _, args, by_name = given_by_name(record, number)
        kwargs = renamed(by_name, number)
        theirs = {k: as_torch(v) for k, v in kwargs.items()}
        theirs = outcome(getattr(torch, record.name), [as_torch(x) for x in args], theirs)
        close(outcome(public_function(record), args, kwargs), theirs)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: x.sum(dim=0, axis=0), "unexpected keyword argument 'axis'"),
        (lambda x: ag.sum(x, 0, axis=0), "multiple values for argument 'dim'"),
        (lambda x: ag.sum(input=x, a=x), "unexpected keyword argument 'a'"),
        (lambda x: ag.exp(x=x, a=x), "exp"),
        (lambda x: ag.flip(x, axis=0), "unexpected keyword argument 'axis'"),
        (lambda x: x.transpose(axis=0, dim1=1), "transpose"),
        (lambda x: x.sum(axis="0"), "argument 'dim'"),
        (lambda x: x.sum(axis=0, keepdims=1), "argument 'keepdim'"),
        (lambda x: ag.stack([x], axis=0, axes=1), "unexpected keyword argument"),
        (lambda x: ag.isclose(x, x2=x, x=x), "isclose"),
    ],
)
def test_names_that_are_given_twice_or_mean_nothing_are_refused(call, message):
    with pytest.raises(TypeError, match=re.escape(message)):
        call(ag.ones(2, 3))


def test_functions_without_a_record_know_the_names():
    x = ag.tensor([[3.0, 4.0], [0.0, 1.0]])
    assert ag.stack([x, x], axis=1).shape == (2, 2, 2) == ag.cat([x[None]] * 2, axis=0).shape
    assert x.size(axis=1) == 2 and x.stride(axis=0) == 2
    assert ag.linalg.norm(x, axis=1, keepdims=True).tolist() == [[5.0], [1.0]]
    assert ag.linalg.vector_norm(x, axis=1).tolist() == [5.0, 1.0]
    assert ag.isclose(x, x2=x).all() and ag.numel(a=x) == 4
    assert ag.where(x > 1, x=x, x2=ag.zeros(())).tolist() == [[3.0, 4.0], [0.0, 0.0]]
    assert ag.zeros_like(a=x).sum() == 0
    assert ag.result_type(tensor=x, x2=2) is ag.float32


def test_subclasses_are_asked_with_the_names_that_were_written():
    seen = []

    class Logged(ag.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append((func.__name__, dict(kwargs or {})))
            return super().__torch_function__(func, types, args, kwargs)

    x = ag.ones(2, 3).as_subclass(Logged)
    assert x.sum(axis=0, keepdims=True).shape == (1, 3)
    assert seen[0] == ("sum", {"axis": 0, "keepdims": True})


def test_other_errors_come_as_they_are():
    def fail(x):
        raise TypeError("of the program itself")

    x = ag.ones(2)
    with pytest.raises(TypeError, match="of the program itself"):
        x.apply_(fail)
    with pytest.raises(RuntimeError, match="shape"):
        ag.add(x1=x, x2=ag.ones(3))
