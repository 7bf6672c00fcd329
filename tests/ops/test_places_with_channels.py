"""Kernels that go from place to place where channels lie last: the values are those of C order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autograd_cy as ag
from autograd_cy.nn import functional as F
from tests.grouping import each

# Two, fewer than a vector has lanes, some whole vectors, and more than a block holds.
CHANNELS = (2, 3, 37, 150)

WINDOWS: dict[str, Callable[[Any], Any]] = {
    "max": lambda x: F.max_pool2d(x, 2, return_indices=True),
    "max, overlapping": lambda x: F.max_pool2d(x, 3, 2, 1, return_indices=True),
    "max, dilated": lambda x: F.max_pool2d(x, (2, 3), 1, 1, (3, 2), True, True),
    "max, many": lambda x: F.max_pool2d(x, (8, 9), 1, (4, 3), return_indices=True),
    "average": lambda x: F.avg_pool2d(x, 2),
    "average, overlapping": lambda x: F.avg_pool2d(x, 3, 1, 1),
    "average, no padding": lambda x: F.avg_pool2d(x, (3, 2), (2, 1), 1, True, False),
    "average, divisor": lambda x: F.avg_pool2d(x, 3, 2, 1, divisor_override=5),
    "average, many": lambda x: F.avg_pool2d(x, (8, 9), 1),
    "average of all": lambda x: F.adaptive_avg_pool2d(x, 1),
    "parts": lambda x: F.adaptive_avg_pool2d(x, (3, 4)),
    "equal parts": lambda x: F.adaptive_avg_pool2d(x, (4, 3)),
    "more parts than elements": lambda x: F.adaptive_avg_pool2d(x, (11, 20)),
    "max of parts": lambda x: F.adaptive_max_pool2d(x, (3, 4), return_indices=True),
    "nearest": lambda x: F.interpolate(x, (17, 5)),
    "linear": lambda x: F.interpolate(x, (17, 5), mode="bilinear"),
    "linear, aligned": lambda x: F.interpolate(
        x, scale_factor=2, mode="bilinear", align_corners=True
    ),
    "cubic": lambda x: F.interpolate(x, (5, 17), mode="bicubic"),
    "zeros around": lambda x: F.pad(x, (1, 2, 0, 3), value=2.5),
    "crop": lambda x: F.pad(x, (-1, 2, 3, -2)),
    "channels, too": lambda x: F.pad(x, (1, 1, 1, 1, 1, 2)),
    "reflect": lambda x: F.pad(x, (1, 2, 3, 0), "reflect"),
    "replicate": lambda x: F.pad(x, (1, 2, 3, 0), "replicate"),
}

VOLUMES: dict[str, Callable[[Any], Any]] = {
    "max": lambda x: F.max_pool3d(x, 2, 1, 1, return_indices=True),
    "average": lambda x: F.avg_pool3d(x, 2),
    "linear": lambda x: F.interpolate(x, (3, 5, 4), mode="trilinear"),
    "replicate": lambda x: F.pad(x, (1, 2, 0, 1, 2, 0), "replicate"),
}


def _values(shape, dtype):
    """Few different numbers, so that some are equal, with infinite ones and NaNs among them."""
    rng = np.random.default_rng(7)
    a = rng.integers(-9, 9, shape).astype("float64")
    a[rng.random(shape) < 0.02] = -np.inf
    a[rng.random(shape) < 0.01] = np.nan
    return ag.tensor(a).to(dtype)


def _both(function, x, grads=True):
    """Results, indices and gradients from both layouts."""
    found = []
    last = ag.channels_last if x.ndim == 4 else ag.channels_last_3d
    for format in (last, ag.contiguous_format):
        # `* 1` makes a gradient of the layout of x.
        one = x.contiguous(memory_format=format).requires_grad_(grads)
        out = function(one)
        out = out if isinstance(out, tuple) else (out,)
        if grads:
            weight = ag.arange(out[0].numel()).reshape(out[0].shape).to(x.dtype) % 7
            weight = weight.contiguous(memory_format=format)
            out = (*out, *ag.autograd.grad(out[0], one, weight))
        found.append([t.detach().contiguous() for t in out])
    return found


@each("name,channels", [(name, c) for name in WINDOWS for c in CHANNELS])
def test_images(name, channels):
    for dtype in (ag.float32, ag.float64):
        x = _values((2, channels, 8, 9), dtype)
        if "max" not in name:
            x = ag.where(x.isfinite(), x, 0.0)
        for made, wanted in zip(*_both(WINDOWS[name], x), strict=True):
            ag.testing.assert_close(made, wanted, equal_nan=True, atol=1e-5, rtol=1e-6)


@each("name", list(VOLUMES))
def test_volumes(name):
    x = _values((2, 18, 4, 3, 5), ag.float32)
    if name != "max":
        x = ag.where(x.isfinite(), x, 0.0)
    for made, wanted in zip(*_both(VOLUMES[name], x), strict=True):
        ag.testing.assert_close(made, wanted, equal_nan=True, atol=1e-5, rtol=1e-6)


@each("name", list(WINDOWS))
def test_examples_that_lie_channels_last_together(name):
    """Examples of a batch are images, which the format of all of them says nothing of."""

    def values(x):
        out = WINDOWS[name](x)
        return out[0] if isinstance(out, tuple) else out

    def back(x, weight):
        return ag.func.vjp(values, x)[1](weight)[0]

    x = ((ag.arange(3 * 2 * 4 * 8 * 9) * 7) % 31).float().reshape(3, 2, 4, 8, 9)
    found = []
    for format in (ag.channels_last_3d, ag.contiguous_format):
        one = x.contiguous(memory_format=format)
        out = ag.vmap(values)(one)
        weight = (ag.arange(out.numel()) % 7).float().reshape(out.shape)
        weight = weight.contiguous(memory_format=format)
        more = [ag.vmap(back)(one, weight), ag.vmap(lambda g: back(x[0], g))(weight)]
        found.append([out, *more])
    for made, wanted in zip(*found, strict=True):
        ag.testing.assert_close(made, wanted, atol=1e-5, rtol=1e-6)


def test_other_dtypes():
    for name in ("max", "max of parts", "average", "parts", "linear", "crop", "replicate"):
        for dtype in (ag.float16, ag.bfloat16):
            x = ag.where(_values((2, 20, 8, 9), dtype).isfinite(), ag.ones((), dtype=dtype), 2.0)
            for made, wanted in zip(*_both(WINDOWS[name], x.to(dtype)), strict=True):
                ag.testing.assert_close(made, wanted)
    x = ag.arange(2 * 20 * 8 * 9).reshape(2, 20, 8, 9)
    for name, dtype in (
        ("max", ag.uint8),
        ("max", ag.int16),
        ("max, dilated", ag.int64),
        ("average", ag.int64),
        ("crop", ag.uint8),
        ("reflect", ag.complex64),
    ):
        for made, wanted in zip(*_both(WINDOWS[name], x.to(dtype), grads=False), strict=True):
            assert made.equal(wanted), (name, dtype)


@each("dtype", [ag.float32, ag.float64])
def test_convolutions_of_one_element(dtype):
    x = ag.where(_values((2, 20, 6, 5), dtype).isfinite(), ag.arange(5, dtype=dtype), 1.0)
    w = (ag.arange(7 * 20, dtype=dtype) % 11 - 5).reshape(7, 20, 1, 1)
    b = ag.arange(7, dtype=dtype)
    for weight in (w, w.contiguous(memory_format=ag.channels_last), w.flip(0)[::1]):
        for function in (
            lambda x, w=weight: F.conv2d(x, w, b),
            lambda x, w=weight: F.conv2d(x, w),
            lambda x, w=weight: F.conv_transpose2d(x, w.transpose(0, 1), b),
        ):
            for made, wanted in zip(*_both(function, x), strict=True):
                ag.testing.assert_close(made, wanted)
    found = []
    for format in (ag.channels_last, ag.contiguous_format):
        one, weight = x.contiguous(memory_format=format), w.clone().requires_grad_()
        y = F.conv2d(one, weight)
        turned = F.conv_transpose2d(one, weight.transpose(0, 1))
        weights = ag.arange(y.numel()).reshape(y.shape).to(dtype) % 5
        weights = weights.contiguous(memory_format=format)
        found.append(
            ag.autograd.grad(y, weight, weights) + ag.autograd.grad(turned, weight, weights)
        )
    for made, wanted in zip(*found, strict=True):
        ag.testing.assert_close(made, wanted)


@each("channels,groups", [(3, 3), (36, 4), (150, 1), (8, 2)])
def test_group_norm(channels, groups):
    """Means are far from zero, and weights take part in the gradients."""
    w = ag.arange(channels, dtype=ag.float64) % 5 - 1.5
    for dtype, shape, close in (
        (ag.float32, (3, channels, 7, 5), 2e-4),
        (ag.float64, (2, channels, 4, 3, 2), 1e-11),
        (ag.bfloat16, (2, channels, 3, 3), 0.1),
    ):
        x = ag.where(_values(shape, ag.float64).isfinite(), 100.0, 101.0)
        x = (x + ag.arange(x.numel()).reshape(shape) % 11 / 8).to(dtype)
        weight, bias = w.clone().to(dtype).requires_grad_(), (2 * w).to(dtype).requires_grad_()
        for made, wanted in zip(
            *_both(lambda x, w=weight, b=bias: F.group_norm(x, groups, w, b), x), strict=True
        ):
            ag.testing.assert_close(made, wanted, atol=close, rtol=close)
        found = []
        for format in (ag.channels_last if x.ndim == 4 else ag.channels_last_3d, None):
            one = x.contiguous(memory_format=format) if format else x
            y = F.group_norm(one, groups, weight, bias)
            found.append(ag.autograd.grad((y * y).sum(), (weight, bias)))
        for made, wanted in zip(*found, strict=True):
            ag.testing.assert_close(made, wanted, atol=close * 100, rtol=close)


def test_results_do_not_depend_on_threads():
    x = ag.where(_values((3, 70, 19, 23), ag.float32).isfinite(), 0.3, 1.7)
    x = (x + ag.arange(23) / 7).contiguous(memory_format=ag.channels_last)
    before = ag.get_num_threads()
    try:
        for name in WINDOWS:
            found = []
            for threads in (1, 2):
                ag.set_num_threads(threads)
                found.append(_both(WINDOWS[name], x)[0])
            assert all(a.equal(b) for a, b in zip(*found, strict=True)), name
    finally:
        ag.set_num_threads(before)
