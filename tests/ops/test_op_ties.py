"""Derivatives where there is none: ties, kinks and ends of intervals follow torch's conventions.

Differences can't tell what is right at such points, so samples stay away from them.
"""

import numpy as np
import pytest

import autograd_cy as ag
import autograd_cy.autograd.forward_ad as fw

THIRD = 1 / 3
# function, inputs, gradients for the incoming gradient 1, 2, 3, ..., tangents for steps 1, 2, 3,
# ... of the first input and ten times that of the second.
CONVENTIONS = {
    "maximum: halves": (
        ag.maximum,
        ([1.0, 2, 3], [1.0, 3, 2]),
        ([0.5, 0, 3], [0.5, 2, 0]),
        [5.5, 20, 3],
    ),
    "minimum: halves": (
        ag.minimum,
        ([1.0, 2, 3], [1.0, 3, 2]),
        ([0.5, 2, 0], [0.5, 0, 3]),
        [5.5, 2, 30],
    ),
    "amax: equal shares": (
        lambda x: x.amax(1),
        ([[1.0, 3, 3], [2, 2, 2]],),
        ([[0, 0.5, 0.5], [2 * THIRD] * 3],),
        [2.5, 5],
    ),
    "amin: equal shares": (
        lambda x: x.amin(1),
        ([[1.0, 3, 1], [2, 2, 2]],),
        ([[0.5, 0, 0.5], [2 * THIRD] * 3],),
        [2, 5],
    ),
    "aminmax: equal shares of the largest": (
        lambda x: x.aminmax(dim=1).max,
        ([[1.0, 3, 3], [2, 2, 2]],),
        ([[0, 0.5, 0.5], [2 * THIRD] * 3],),
        [2.5, 5],
    ),
    "aminmax: equal shares of the smallest": (
        lambda x: x.aminmax(dim=1).min,
        ([[1.0, 3, 1], [2, 2, 2]],),
        ([[0.5, 0, 0.5], [2 * THIRD] * 3],),
        [2, 5],
    ),
    "max of all: equal shares": (
        lambda x: x.max(),
        ([[1.0, 3, 3], [2, 3, 2]],),
        ([[0, THIRD, THIRD], [0, THIRD, 0]],),
        10 * THIRD,
    ),
    "min of all: equal shares": (
        lambda x: x.min(),
        ([[1.0, 3, 1], [2, 3, 2]],),
        ([[0.5, 0, 0.5], [0, 0, 0]],),
        2,
    ),
    "max along a dimension: the one it names": (
        lambda x: x.max(1)[0],
        ([[1.0, 3, 3], [2, 2, 2]],),
        ([[0, 1, 0], [2, 0, 0]],),
        [2, 4],
    ),
    "sort: stable": (lambda x: x.sort()[0], ([1.0, 1, 0],), ([2, 3, 1],), [3, 1, 2]),
    "relu at 0": (ag.relu, ([0.0, 1, -1],), ([0, 2, 0],), [0, 2, 0]),
    "abs at 0": (ag.abs, ([0.0, 1, -1],), ([0, 2, -3],), [0, 2, -3]),
    "sign": (lambda x: x.sign(), ([0.0, 1, -1],), ([0, 0, 0],), [0, 0, 0]),
    "clamp at its ends": (
        lambda x: x.clamp(0, 1),
        ([0.0, 1, -1, 0.5],),
        ([1, 2, 0, 4],),
        [1, 2, 0, 4],
    ),
    "clamp_min at the end": (
        lambda x: x.clamp_min(0),
        ([0.0, 1, -1],),
        ([1, 2, 0],),
        [1, 2, 0],
    ),
    "clamp_max at the end": (
        lambda x: x.clamp_max(0),
        ([0.0, 1, -1],),
        ([1, 0, 3],),
        [1, 0, 3],
    ),
    "power 0 at 0": (lambda x: x**0, ([0.0, 1],), ([0, 0],), [0, 0]),
    "power 2 at 0": (lambda x: x**2, ([0.0, 1],), ([0, 4],), [0, 4]),
    "powers of 0": (ag.pow, ([0.0, 0, 0], [0.0, 2, 1]), ([0, 0, 3], [0, 0, 0]), [0, 0, 3]),
    "square root at 0": (lambda x: x.sqrt(), ([0.0, 1],), ([np.inf, 1],), [np.inf, 1]),
}


def counted(x, factor=1.0):
    return (ag.arange(1.0, x.numel() + 1, dtype=ag.float64) * factor).reshape(x.shape)


@pytest.mark.parametrize("name", CONVENTIONS)
def test_gradients_and_tangents(name):
    function, arrays, gradients, tangents = CONVENTIONS[name]
    inputs = [ag.tensor(a, dtype=ag.float64, requires_grad=True) for a in arrays]
    y = function(*inputs)
    for g, expected in zip(ag.autograd.grad(y, inputs, counted(y)), gradients):
        np.testing.assert_allclose(g.numpy(), expected)
    with fw.dual_level():
        duals = [fw.make_dual(x.detach(), counted(x, 10.0**i)) for i, x in enumerate(inputs)]
        tangent = fw.unpack_dual(function(*duals)).tangent
        np.testing.assert_allclose(tangent.numpy(), tangents)
