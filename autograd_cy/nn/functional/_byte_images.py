"""Resizing of uint8 images, in integers: along rows, which are rounded, then along columns."""

from __future__ import annotations

import functools

import numpy as np

from autograd_cy import Tensor
from autograd_cy.nn.functional._antialias import filter_along, taps

__all__ = ["resized_bytes"]


@functools.lru_cache(maxsize=64)
def _neighbours(
    size: int, out: int, factor: float, mode: str, align_corners: bool
) -> tuple[np.ndarray, np.ndarray]:
    """From and to which each element of the result is made, (out, 2), and weights of these.

    What lies beyond an edge is the element there, whose weights add up.
    """
    if align_corners:
        at = np.arange(out) * ((size - 1) / (out - 1) if out > 1 else 0.0)
    else:
        at = (1 / factor if factor > 0 else size / out) * (np.arange(out) + 0.5) - 0.5
    if mode == "bilinear":
        at = np.maximum(at, 0)
    floor = np.floor(at).astype(np.int64)
    t = at - floor
    if mode == "bilinear":
        each, first = np.stack([1 - t, t], 1), floor
    else:  # Keys' kernel with a = -3/4

        def near(x: np.ndarray) -> np.ndarray:
            return (1.25 * x - 2.25) * x * x + 1

        def far(x: np.ndarray) -> np.ndarray:
            return -0.75 * (((x - 5) * x + 8) * x - 4)

        each, first = np.stack([far(1 + t), near(t), near(1 - t), far(2 - t)], 1), floor - 1
    index = np.clip(first[:, None] + np.arange(each.shape[1]), 0, size - 1)
    start = index[:, 0]
    weight = np.zeros_like(each)
    np.add.at(weight, (np.arange(out)[:, None], index - start[:, None]), each)
    return np.stack([start, index[:, -1] + 1], 1), weight


@functools.lru_cache(maxsize=64)
def _whole_weights(
    size: int, out: int, factor: float, mode: str, align_corners: bool, antialias: bool
) -> tuple[np.ndarray, np.ndarray, int]:
    """Bounds, weights times the highest power of two that fits into 16 bits, and its exponent."""
    bounds, weight = (taps if antialias else _neighbours)(size, out, factor, mode, align_corners)
    most, bits = float(weight.max()), 0
    while bits < 22 and int(0.5 + most * 2 ** (bits + 1)) < 2**15:
        bits += 1
    return bounds, np.trunc(weight * 2**bits + np.copysign(0.5, weight)).astype(np.int16), bits


def resized_bytes(
    input: Tensor,
    size: list[int],
    factors: list[float],
    mode: str,
    align_corners: bool,
    antialias: bool,
) -> Tensor:
    """
    Return uint8 images (N, C, H, W) in another size, with weights of 16 bits.

    Arguments are those of `antialiased`; with `antialias`, filters are as wide as
    the steps of the input. "lanczos" needs it.
    """
    x = input
    for dim, out, factor in zip((-1, -2), size[::-1], (factors or [0.0, 0.0])[::-1]):
        if x.shape[dim] != out:  # else nothing is done, whatever the factor is
            *weights, bits = _whole_weights(
                x.shape[dim], out, factor, mode, align_corners, antialias
            )
            x = filter_along(x, dim, "_filter_bytes", *weights, bits)
    return x if x is not input else input.clone()
