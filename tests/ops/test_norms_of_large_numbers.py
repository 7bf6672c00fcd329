"""Norms of numbers whose powers leave the range of the dtype, and of no numbers."""

import numpy as np
import pytest

import autograd_cy as ag

INF = float("inf")
ORDERS = [0.5, 1, 1.5, 2, 3, 4, 10, INF, -INF, -1, -2]
LARGE, SMALL = [3e38, -1e38, 1.0], [1e-30, -3e-31, 2e-30]


def taken(function, values, dtype):
    x = ag.tensor(values, dtype=dtype, requires_grad=True)
    y = function(x)
    (g,) = ag.autograd.grad(y.sum(), x)
    return y.detach().double().numpy(), g.double().numpy()


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("values", [LARGE, SMALL])
def test_norms_and_gradients_are_those_of_a_wider_dtype(order, values):
    def function(x):
        return ag.linalg.vector_norm(x, order)

    y, g = taken(function, values, ag.float32)
    wide, gradient = taken(function, values, ag.float64)
    assert not np.isnan(g).any()
    if order == 2:  # one pass without quotients: the sum of squares is infinite, or 0
        assert y in (0, INF) and not g.any()
        return
    with np.errstate(over="ignore"):
        wide, gradient = np.float32(wide), np.float32(gradient)
    np.testing.assert_allclose(y, wide, rtol=1e-5)
    if y == INF:
        return
    np.testing.assert_allclose(g, gradient, rtol=1e-4, atol=1e-30)


@pytest.mark.parametrize("order", [o for o in ORDERS if o > 0])
def test_what_is_made_of_norms_has_no_nan(order):
    functions = [
        lambda x: ag.nn.functional.normalize(x, order, 0),
        lambda x: ag.dist(x, ag.zeros(3), order),
        lambda x: ag.nn.functional.pairwise_distance(x[None], ag.zeros(1, 3), order),
        lambda x: ag.cdist(x[None], ag.zeros(1, 3), order),
        lambda x: ag.norm(x, order),
    ]
    for function in functions:
        y, g = taken(function, LARGE, ag.float32)
        assert not np.isnan(y).any() and not np.isnan(g).any()


@pytest.mark.parametrize("order", [0.5, 1.5, 3, -2])
def test_scaling_goes_through_every_derivative(order):
    x = ag.tensor([[0.7, -1.2, 3.0], [0.2, 0.4, -0.1]], dtype=ag.float64, requires_grad=True)
    for dim, keepdim in ((None, False), (1, False), (0, True), ((0, 1), True)):

        def function(x, dim=dim, keepdim=keepdim):
            return ag.linalg.vector_norm(x, order, dim, keepdim)

        assert ag.autograd.gradcheck(function, (x,), check_forward_ad=True)
        assert ag.autograd.gradgradcheck(function, (x,))
        axis = dim if dim is not None else (0, 1)
        powers = (np.abs(x.detach().numpy()) ** order).sum(axis, keepdims=keepdim)
        np.testing.assert_allclose(function(x).detach().numpy(), powers ** (1 / order))
    each = ag.vmap(lambda row: ag.linalg.vector_norm(row, order))(x.detach())
    np.testing.assert_allclose(
        each.numpy(), ag.linalg.vector_norm(x.detach(), order, 1).numpy(), rtol=1e-12
    )


def test_norms_of_zeros_and_infinities_are_as_before():
    for order in (0.5, 3):
        x = ag.zeros(3, requires_grad=True)
        norm = ag.linalg.vector_norm(x, order)
        (g,) = ag.autograd.grad(norm, x)
        assert norm.item() == 0 and g.tolist() == [0, 0, 0]
        assert ag.linalg.vector_norm(ag.tensor([1.0, INF]), order).item() == INF
        assert ag.linalg.vector_norm(ag.tensor([1.0, float("nan")]), order).isnan()
    assert ag.linalg.vector_norm(ag.tensor([1.0, 0.0]), -2).item() == 0


@pytest.mark.parametrize("order", [-1, -0.5, INF, -INF])
def test_norms_of_nothing_without_a_value_are_refused(order):
    for function in (ag.linalg.vector_norm, ag.linalg.norm, ag.norm):
        with pytest.raises(RuntimeError, match=rf"the {order:g} norm on an empty tensor"):
            function(ag.ones(0), order)
        with pytest.raises(RuntimeError, match=rf"the {order:g} norm on the dimension 0"):
            function(ag.ones(0, 3), order, 0)
        assert function(ag.ones(0, 3), order, 1).shape == (0,)
    for order in (0, 0.5, 1, 2, 3):
        assert ag.linalg.vector_norm(ag.ones(0), order).item() == 0


def test_out_takes_scaled_norms():
    x = ag.tensor([[3.0, 4.0], [1.0, 2.0]])
    out = ag.empty(2)
    assert ag.linalg.vector_norm(x, 3, 1, out=out) is out
    np.testing.assert_allclose(out.numpy(), (x.numpy() ** 3).sum(1) ** (1 / 3), rtol=1e-6)
    half = ag.norm(ag.tensor([3e4, 3e4], dtype=ag.float16), 3)
    assert half.dtype == ag.float16 and abs(half.item() - 3e4 * 2 ** (1 / 3)) < 32
