"""Calls of 2017, whose numbers come before tensors, warn and do what the calls of today do."""

import warnings

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy._tensors.numbers_first import NUMBERS_FIRST

SIZES = {
    "add": ((3,), (3,)),
    "sub": ((3,), (3,)),
    "addcmul": ((3,), (3,), (3,)),
    "addcdiv": ((3,), (3,), (3,)),
    "addmm": ((2, 4), (2, 3), (3, 4)),
    "addmv": ((2,), (2, 3), (3,)),
    "addr": ((2, 3), (2,), (3,)),
    "addbmm": ((2, 4), (5, 2, 3), (5, 3, 4)),
    "baddbmm": ((5, 2, 4), (5, 2, 3), (5, 3, 4)),
}


def tensors(name, package=ag):
    rng = np.random.default_rng(0)
    return [package.tensor(rng.uniform(0.5, 2, size)) for size in SIZES[name]]


def calls(name, package=ag):
    """(arguments in the older order, today's, whether only a function takes it)."""
    x, *rest = tensors(name, package)
    _, numbers = NUMBERS_FIRST[name]
    if len(numbers) == 1:
        yield (x, 2.5, *rest), {numbers[0]: 2.5}, False
        return
    yield (x, 2, 3, *rest), {"beta": 2, "alpha": 3}, False
    yield (x, 2, *rest), {"beta": 2}, False
    yield (2, x, 3, *rest), {"beta": 2, "alpha": 3}, True
    yield (2, x, *rest), {"beta": 2}, True


def older(function, *args, **kwargs):
    with pytest.warns(UserWarning, match="This overload of .* is deprecated"):
        return function(*args, **kwargs)


@pytest.mark.parametrize("name", NUMBERS_FIRST)
def test_the_older_order_computes_the_same_in_every_form(name):
    function = getattr(ag, name)
    names, _ = NUMBERS_FIRST[name]
    for args, options, only_function in calls(name):
        x, *rest = tensors(name)
        wanted = function(x, *rest, **options)
        assert older(function, *args).equal(wanted)
        out = ag.empty(0, dtype=ag.float64)
        assert older(function, *args, out=out) is out and out.equal(wanted)
        # The last tensors may be named.
        named = dict(zip(names, rest))
        assert older(function, *args[: -len(rest)], **named).equal(wanted)
        if only_function:
            continue
        assert older(getattr(args[0], name), *args[1:]).equal(wanted)
        changed = args[0].clone()
        assert older(getattr(changed, f"{name}_"), *args[1:]) is changed
        assert changed.equal(wanted)


@pytest.mark.parametrize("name", NUMBERS_FIRST)
def test_the_older_order_is_differentiated(name):
    for args, options, _ in calls(name):
        x, *rest = (t.requires_grad_() for t in tensors(name))
        leaves = iter((x, *rest))
        given = [next(leaves) if isinstance(a, ag.Tensor) else a for a in args]
        older(getattr(ag, name), *given).sum().backward()
        found = [t.grad for t in (x, *rest)]
        for t in (x, *rest):
            t.grad = None
        getattr(ag, name)(x, *rest, **options).sum().backward()
        assert all(a.equal(t.grad) for a, t in zip(found, (x, *rest), strict=True))


def test_what_is_no_older_call_keeps_its_error():
    v = ag.ones(3)
    for call in (
        lambda: v.add(2, v, v),
        lambda: v.add(v, 2),
        lambda: ag.add(v, "2", v),
        lambda: v.addcmul(2, v, v, value=3),
        lambda: v.mul(2, v),
        lambda: ag.addmm(2, v),
        lambda: v.add_(2, [1.0]),
        lambda: v.add_(2, v, more=1),
        lambda: v.add(ag.ones(3), v),
        lambda: v.add(ag.ones(()).requires_grad_(), v),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(TypeError):
                call()
    with pytest.raises(RuntimeError, match="alpha must not be a floating point"):
        older(v.long().add, 2.5, v.long())
    assert older(v.add, ag.tensor(2.0), v).tolist() == [3, 3, 3]
    assert older(ag.add, 2, np.float64(2), v).tolist() == [4, 4, 4]


def test_a_warning_that_is_an_error_leaves_the_tensor_alone():
    v = ag.ones(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            with pytest.raises(UserWarning, match=r"add_\(Number alpha, Tensor other\)"):
                v.add_(2, v)
    assert v.tolist() == [1, 1, 1]


@pytest.mark.parametrize("name", NUMBERS_FIRST)
def test_values_and_warnings_are_those_of_torch(name):
    theirs = pytest.importorskip("torch")
    before = theirs.is_warn_always_enabled()
    theirs.set_warn_always(True)
    try:
        for mine, its in zip(calls(name), calls(name, theirs), strict=True):
            results, texts = [], []
            for package, (args, _, only_function) in ((ag, mine), (theirs, its)):
                with warnings.catch_warnings(record=True) as seen:
                    warnings.simplefilter("always")
                    if only_function:
                        results.append(getattr(package, name)(*args).tolist())
                    else:
                        results.append(getattr(args[0], f"{name}_")(*args[1:]).tolist())
                assert [w.category for w in seen] == [UserWarning]
                texts.append(str(seen[0].message))
            np.testing.assert_allclose(*results, rtol=1e-12)
            assert texts[1].startswith(texts[0])
    finally:
        theirs.set_warn_always(before)
