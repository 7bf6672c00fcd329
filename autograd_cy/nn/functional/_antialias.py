"""Resizing by filters as wide as the input's steps, so that no element is passed over."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

import autograd_cy as ag
from autograd_cy import Tensor
from autograd_cy._interpreted import Family

__all__ = ["REACH", "antialiased", "filter_along", "taps"]

_resampling = Family("ops_resampling")

# How far the filter of a mode reaches, in elements of the wider one of input and result.
REACH = {"bilinear": 1, "bicubic": 2, "lanczos": 3}


@functools.lru_cache(maxsize=64)
def taps(
    size: int, out: int, factor: float, mode: str, align_corners: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The elements from and to which each of the result averages, (out, 2), and their weights."""
    if align_corners:
        step = (size - 1) / (out - 1) if out > 1 else 0.0
    else:
        step = 1 / factor if factor > 0 else size / out
    width = max(step, 1.0)
    reach = REACH[mode] * width
    centre = step * (np.arange(out) + 0.5)
    first = np.maximum((centre - reach + 0.5).astype(np.int64), 0)
    last = np.minimum((centre + reach + 0.5).astype(np.int64), size)
    index = first[:, None] + np.arange(max(int((last - first).max()), 1))
    t = np.abs(index - centre[:, None] + 0.5) / width
    if mode == "lanczos":
        weight = np.where(t < 3, np.sinc(t) * np.sinc(t / 3), 0.0)
    elif mode == "bicubic":  # Keys' kernel with a = -1/2
        near = (1.5 * t - 2.5) * t * t + 1
        far = ((2.5 - 0.5 * t) * t - 4) * t + 2
        weight = np.where(t < 1, near, np.where(t < 2, far, 0.0))
    else:
        weight = np.maximum(1 - t, 0.0)
    weight *= index < last[:, None]
    total = weight.sum(1, keepdims=True)
    weight /= np.where(total == 0, 1, total)
    return np.stack([first, np.maximum(first, last)], 1), weight


def filter_along(
    x: Tensor, dim: int, name: str, bounds: np.ndarray, weight: np.ndarray, *more: Any
) -> Tensor:
    """
    A filter along rows (-1) or columns (-2) of images, which keep their order of elements.

    Parameters
    ----------
    x : Tensor
        Shape (N, C, H, W).
    dim : {-1, -2}
    name : {"_filter", "_filter_bytes"}
        The operator.
    bounds, weight : ndarray
        int64 of shape (out, 2), and of the operator's dtype of shape (out, taps).
    *more : Any
        The operator's other arguments.

    Returns
    -------
    Tensor
        As `x`, with `out` elements in the dimension.
    """
    weights = ag.tensor(bounds, device=x.device), ag.tensor(weight, device=x.device)
    apply = getattr(_resampling, name)
    if x.is_contiguous() or not x.is_contiguous(memory_format=ag.channels_last):
        return apply(x, *weights, -1 - dim, *more)
    return apply(x.permute(0, 2, 3, 1), *weights, -dim, *more).permute(0, 3, 1, 2)


def _resized(x: Tensor, dim: int, out: int, factor: float, mode: str, align: bool) -> Tensor:
    if x.shape[dim] == out:
        return x  # whatever the factor is, as in torch; an infinite element stays alone
    bounds, weight = taps(x.shape[dim], out, factor, mode, align)
    real = np.float32 if x.dtype == ag.float32 else np.float64
    return filter_along(x, dim, "_filter", bounds, weight.astype(real))


def antialiased(
    input: Tensor, size: list[int], factors: list[float], mode: str, align_corners: bool
) -> Tensor:
    """
    Return the images (N, C, H, W) in another size, averaged by a filter.

    Sizes are above zero. `factors` are those of rows and columns, or empty: the ratios of the
    sizes. Filters are a triangle, a cubic, or a sinc in the window of another, 3 to each side, and
    are stretched by the step of the input where that is above 1: P. Heckbert, "Fundamentals of
    texture mapping and image warping" (1989), section 3.5. Lanczos' filter: C. E. Duchon, "Lanczos
    filtering in one and two dimensions" (1979). Other dtypes than float32 and float64 are a
    NotImplementedError, as in torch; of uint8 see `_byte_images`.
    """
    if input.dtype not in (ag.float32, ag.float64):
        raise NotImplementedError(
            f"interpolate: antialias=True is not implemented for {input.dtype._scalar}; give it "
            "float32, float64 or uint8, by input.float()"
        )
    rows, columns = factors or (0.0, 0.0)
    x = _resized(input, -1, size[1], columns, mode, align_corners)
    x = _resized(x, -2, size[0], rows, mode, align_corners)
    return x if x is not input else input.clone()
