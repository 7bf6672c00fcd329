"""The largest elements and the means of windows, and the way back."""

from __future__ import annotations

from typing import Any

import numpy as np

import autograd_cy as ag
from autograd_cy.nn import functional as _now

from .._modern import modern
from ._operands import batch_of, variable

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "fractional_max_pool2d",
    "lp_pool2d",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
]


def _of_dims(dims: int) -> tuple[Any, Any, Any]:
    """(largest and mean of windows, the way back from the largest) of so many dimensions."""
    largest = getattr(_now, f"max_pool{dims}d")
    mean = getattr(_now, f"avg_pool{dims}d")
    back = getattr(_now, f"max_unpool{dims}d")

    def max_pool(
        input,
        kernel_size,
        stride=None,
        padding=0,
        dilation=1,
        ceil_mode=False,
        return_indices=False,
    ):
        def compute(x):
            return largest(x, kernel_size, stride, padding, dilation, ceil_mode, return_indices)

        batch_of(input, (dims + 2,), f"max_pool{dims}d")
        return modern(f"MaxPool{dims}d", compute, input)

    def avg_pool(
        input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True
    ):
        def compute(x):
            return mean(x, kernel_size, stride, padding, ceil_mode, count_include_pad)

        batch_of(input, (dims + 2,), f"avg_pool{dims}d")
        return modern(f"AvgPool{dims}d", compute, input)

    def max_unpool(input, indices, kernel_size, stride=None, padding=0, output_size=None):
        size = None if output_size is None else tuple(output_size)

        def compute(x, places):
            return back(x, places, kernel_size, stride, padding, size)

        batch_of(input, (dims + 2,), f"max_unpool{dims}d")
        return modern(f"MaxUnpool{dims}d", compute, input, indices)

    functions = max_pool, avg_pool, max_unpool
    what = (
        ("max_pool", "The largest elements of windows"),
        ("avg_pool", "The means of windows"),
        ("max_unpool", "The largest elements at their places among zeros"),
    )
    for function, (name, does) in zip(functions, what):
        function.__name__ = function.__qualname__ = f"{name}{dims}d"
        function.__doc__ = f"{does} over {dims} dimension{'s' if dims > 1 else ''}."
    return functions


max_pool1d, avg_pool1d, max_unpool1d = _of_dims(1)
max_pool2d, avg_pool2d, max_unpool2d = _of_dims(2)
max_pool3d, avg_pool3d, max_unpool3d = _of_dims(3)


def adaptive_max_pool1d(input: Any, output_size: int, return_indices: bool = False) -> Any:
    """The largest elements of as many windows as the result is to have."""
    batch_of(input, (3,), "adaptive_max_pool1d")
    return modern(
        "AdaptiveMaxPool1d",
        lambda x: _now.adaptive_max_pool1d(x, output_size, return_indices),
        input,
    )


def adaptive_max_pool2d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """The largest elements of as many windows as the result is to have."""
    batch_of(input, (4,), "adaptive_max_pool2d")
    return modern(
        "AdaptiveMaxPool2d",
        lambda x: _now.adaptive_max_pool2d(x, output_size, return_indices),
        input,
    )


def adaptive_avg_pool1d(input: Any, output_size: int) -> Any:
    """The means of as many windows as the result is to have."""
    batch_of(input, (3,), "adaptive_avg_pool1d")
    return modern("AdaptiveAvgPool1d", lambda x: _now.adaptive_avg_pool1d(x, output_size), input)


def adaptive_avg_pool2d(input: Any, output_size: Any) -> Any:
    """The means of as many windows as the result is to have."""
    batch_of(input, (4,), "adaptive_avg_pool2d")
    return modern("AdaptiveAvgPool2d", lambda x: _now.adaptive_avg_pool2d(x, output_size), input)


def lp_pool2d(
    input: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Any:
    """The p-norms of windows."""
    batch_of(input, (4,), "lp_pool2d")
    return modern(
        "LPPool2d",
        lambda x: _now.lp_pool2d(x, norm_type, kernel_size, stride, ceil_mode),
        input,
    )


def fractional_max_pool2d(
    input: Any,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:
    """
    The largest elements of windows whose places are drawn, so that any output size is reached.

    Parameters
    ----------
    input : Variable
        Of size (batch, channels, height, width).
    kernel_size : int or pair of int
        Of the windows.
    output_size : int or pair of int, optional
        Of the result; or else `output_ratio` of the input's size, between 0 and 1.
    output_ratio : float or pair of float, optional
    return_indices : bool, optional
        Whether the places in the flat images are wanted, too.

    Notes
    -----
    The windows of the pseudorandom sequence of B. Graham, "Fractional max-pooling" (2014): the i-th
    begins at ``floor(alpha (i + u)) - floor(alpha u)`` with ``alpha = (in - kernel) / (out - 1)``
    and u uniform for each image, channel and direction; the last ends with the image.
    """
    batch_of(input, (4,), "fractional_max_pool2d")
    if (output_size is None) == (output_ratio is None):
        raise ValueError(
            "fractional_max_pool2d: specify either output_size or output_ratio, and not both"
        )
    batch, channels, *space = input.size()
    kernel = _pair(kernel_size)
    if output_size is None:
        ratio = _pair(output_ratio)
        if not all(0 < r < 1 for r in ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")
        out = tuple(int(n * r) for n, r in zip(space, ratio))
    else:
        out = _pair(output_size)
    if any(o < 1 or o + k - 1 > n for n, o, k in zip(space, out, kernel)):
        raise ValueError(
            f"fractional_max_pool2d: windows of {kernel} and an output of {out} don't fit into "
            f"images of {tuple(space)}"
        )
    if _random_samples is None:
        samples = ag.rand((batch, channels, 2), dtype=ag.float64)
    else:
        samples = getattr(_random_samples, "data", _random_samples).double()
    u = samples.numpy()
    rows = _starts(u[..., 1], space[0], out[0], kernel[0])
    columns = _starts(u[..., 0], space[1], out[1], kernel[1])
    # (batch, channels, out rows, out columns, kernel rows, kernel columns): places in flat images.
    down = rows[:, :, :, None, None, None] + np.arange(kernel[0])[:, None]
    right = columns[:, :, None, :, None, None] + np.arange(kernel[1])
    places = ag.from_numpy((down * space[1] + right).reshape(batch, channels, -1).astype(np.int64))

    def compute(x):
        windows = ag.gather(ag.flatten(x, 2), 2, places)
        largest, chosen = ag.max(windows.reshape(batch, channels, *out, -1), -1)
        if not return_indices:
            return largest
        every = places.reshape(batch, channels, *out, -1)
        return largest, ag.gather(every, -1, chosen.unsqueeze(-1)).squeeze(-1)

    return modern("FractionalMaxPool2d", compute, variable(input, "fractional_max_pool2d"))


def _pair(value: Any) -> tuple[Any, Any]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value, value)


def _starts(u: Any, size: int, count: int, kernel: int) -> Any:
    """Return the begins of windows along one direction, for each image and channel."""
    if count == 1:
        return np.full((*u.shape, 1), size - kernel)
    alpha = (size - kernel) / (count - 1)
    steps = np.arange(count)
    begins = np.floor((steps + u[..., None]) * alpha) - np.floor(u[..., None] * alpha)
    begins[..., -1] = size - kernel
    return begins.astype(np.int64)
