"""Convolutions whose steps go beyond their reach, and kernels without elements."""

import numpy as np
import pytest
from grouping import each

import autograd_cy as ag
from autograd_cy.nn import functional as F

rng = np.random.default_rng(0)


def convolved(x, w, stride, dilation, padding, groups):
    """By NumPy's windows, group by group."""
    x = np.pad(x, [(0, 0), (0, 0)] + [(padding, padding)] * (x.ndim - 2))
    reach = [(k - 1) * dilation + 1 for k in w.shape[2:]]
    axes = tuple(range(2, x.ndim))
    windows = np.lib.stride_tricks.sliding_window_view(x, reach, axis=axes)
    each_step = (slice(None), slice(None)) + (slice(None, None, stride),) * len(axes)
    windows = windows[each_step + (slice(None, None, dilation),) * len(axes)]
    n, m = x.shape[1] // groups, w.shape[0] // groups
    letters = "xy"[: len(axes)], "kl"[: len(axes)]
    rule = f"nc{letters[0]}{letters[1]},oc{letters[1]}->no{letters[0]}"
    return np.concatenate(
        [
            np.einsum(rule, windows[:, g * n : (g + 1) * n], w[g * m : (g + 1) * m])
            for g in range(groups)
        ],
        1,
    )


@each(
    "dims,k,dilation,stride,groups",
    [
        (dims, k, dilation, stride, groups)
        for dims, dtype in ((1, "float64"), (2, "float32"))
        for k, dilation in ((1, 1), (3, 1), (3, 2), (4, 3))
        for stride in (1, 2, 5, 8, 11)
        for groups in (1, 2)
    ],
)
def test_convolutions_with_long_steps(dims, k, dilation, stride, groups):
    dtype = np.float32 if dims == 2 else np.float64
    x = rng.standard_normal((2, 4) + (26,) * dims).astype(dtype)
    w = rng.standard_normal((4, 4 // groups) + (k,) * dims).astype(dtype)
    options = {"stride": stride, "dilation": dilation, "padding": 1, "groups": groups}
    leaves = [ag.from_numpy(a.copy()).requires_grad_(True) for a in (x, w)]
    out = getattr(F, f"conv{dims}d")(*leaves, **options)
    want = convolved(x, w, **options)
    close = {"rtol": 1e-3, "atol": 1e-3} if dims == 2 else {"rtol": 1e-9, "atol": 1e-9}
    np.testing.assert_allclose(out.detach().numpy(), want, **close)
    g = rng.standard_normal(want.shape).astype(dtype)
    grads = [t.numpy() for t in ag.autograd.grad(out, leaves, ag.from_numpy(g.copy()))]
    # Linear in either: the gradient is the transposed map.
    other = rng.standard_normal(x.shape).astype(dtype), rng.standard_normal(w.shape).astype(dtype)
    for found, moved, args in ((grads[0], other[0], (other[0], w)), (grads[1], other[1],
                                                                    (x, other[1]))):  # fmt: skip
        np.testing.assert_allclose(
            (found * moved).sum(), (g * convolved(*args, **options)).sum(), rtol=1e-3, atol=1e-2
        )


@each("call", ["conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d"])
def test_kernels_of_no_element_are_refused(call):
    dims = int(call[-2])
    for shape in {(0,) + (2,) * (dims - 1), (2,) * (dims - 1) + (0,)}:
        with pytest.raises(RuntimeError, match="kernel size should be greater than zero"):
            getattr(F, call)(ag.ones((1, 1) + (3,) * dims), ag.ones((1, 1, *shape)))
