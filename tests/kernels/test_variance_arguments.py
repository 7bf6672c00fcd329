"""var and std: a bool in place of a dimension, or after it, is the older name of `correction`."""

import numpy as np
import pytest

import autograd_cy as ag

X = np.random.default_rng(0).normal(size=(3, 4))


@pytest.mark.parametrize("name", ["var", "std"])
@pytest.mark.parametrize(
    ("args", "kwargs", "axis", "ddof", "keepdims"),
    [
        ((False,), {}, None, 0, False),
        ((True,), {}, None, 1, False),
        ((), {"unbiased": False}, None, 0, False),
        ((None, False), {}, None, 0, False),
        ((0, False), {}, 0, 0, False),
        ((1, True, True), {}, 1, 1, True),
        ((0,), {"unbiased": False}, 0, 0, False),
        ((), {"dim": 0, "unbiased": False, "keepdim": True}, 0, 0, True),
        ((0,), {"keepdim": True, "unbiased": False}, 0, 0, True),
        (((0, 1), False), {}, None, 0, False),
        ((), {"correction": None}, None, 1, False),
        ((0,), {"correction": None}, 0, 1, False),
        ((0,), {"correction": 0}, 0, 0, False),
        ((), {"correction": 2.5}, None, 2.5, False),
        ((), {"keepdim": True}, None, 1, True),
        (([],), {}, None, 1, False),
    ],
)
def test_unbiased_and_correction_in_all_positions(name, args, kwargs, axis, ddof, keepdims):
    x = ag.tensor(X, requires_grad=True)
    expected = getattr(np, name)(X, axis=axis, ddof=ddof, keepdims=keepdims)
    for result in (getattr(x, name)(*args, **kwargs), getattr(ag, name)(x, *args, **kwargs)):
        np.testing.assert_allclose(result.detach().numpy(), expected, rtol=1e-12)
    result.sum().backward()
    assert x.grad.abs().sum() > 0


@pytest.mark.parametrize("name", ["var", "std"])
@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((0, 0), {}),
        ((0, True), {"correction": 1}),
        ((), {"unbiased": False, "keepdim": True}),
        ((False,), {"keepdim": True}),
        ((False,), {"unbiased": True}),
        ((0, False, 1), {}),
        ((0,), {"unbiased": 1}),
        ((0,), {"unbiased": None}),
        ((0, False, True, True), {}),
    ],
)
def test_mixtures_that_mean_nothing_are_refused(name, args, kwargs):
    with pytest.raises(TypeError, match=rf"{name}\(\)"):
        getattr(ag.tensor(X), name)(*args, **kwargs)


@pytest.mark.parametrize("name", ["var", "std"])
def test_out(name):
    x, out = ag.tensor(X), ag.empty(4, dtype=ag.float64)
    assert getattr(ag, name)(x, 0, out=out) is out
    np.testing.assert_allclose(out.numpy(), getattr(np, name)(X, axis=0, ddof=1), rtol=1e-12)
    assert getattr(ag, name)(x, 0, False, out=out) is out
    np.testing.assert_allclose(out.numpy(), getattr(np, name)(X, axis=0, ddof=0), rtol=1e-12)
