"""Resizing by filters as wide as the input's steps, so that no element is passed over."""

from __future__ import annotations

import functools

import numpy as np

import autograd_cy as ag
from autograd_cy import Tensor

__all__ = ["antialiased"]


@functools.lru_cache(maxsize=64)
def _taps(
    size: int, out: int, factor: float, cubic: bool, align_corners: bool
) -> tuple[np.ndarray, np.ndarray]:
    """For each element of the result the indices it averages and their weights, (out, taps).

    Rows with fewer taps than the widest point at index `size`, where the caller has a zero: an
    infinite neighbour may not reach them.
    """
    if align_corners:
        step = (size - 1) / (out - 1) if out > 1 else 0.0
    else:
        step = 1 / factor if factor > 0 else size / out
    width = max(step, 1.0)
    reach = (2 if cubic else 1) * width
    centre = step * (np.arange(out) + 0.5)
    first = np.maximum((centre - reach + 0.5).astype(np.int64), 0)
    last = np.minimum((centre + reach + 0.5).astype(np.int64), size)
    most = max(int((last - first).max()), 1)
    index = first[:, None] + np.arange(most)
    t = np.abs(index - centre[:, None] + 0.5) / width
    if cubic:  # Keys' kernel with a = -1/2
        near = (1.5 * t - 2.5) * t * t + 1
        far = ((2.5 - 0.5 * t) * t - 4) * t + 2
        weight = np.where(t < 1, near, np.where(t < 2, far, 0.0))
    else:
        weight = np.maximum(1 - t, 0.0)
    inside = index < last[:, None]
    weight *= inside
    total = weight.sum(1, keepdims=True)
    weight /= np.where(total == 0, 1, total)
    return np.where(inside, index, size), weight


def _resized(x: Tensor, dim: int, out: int, factor: float, cubic: bool, align: bool) -> Tensor:
    index, weight = _taps(x.shape[dim], out, factor, cubic, align)
    at = ag.tensor(index.reshape(-1), device=x.device)
    by = ag.tensor(weight if dim == -1 else weight[:, :, None], dtype=x.dtype, device=x.device)
    x = ag.cat([x, ag.zeros_like(x.narrow(dim, 0, 1))], dim)
    taken = x.index_select(dim, at).unflatten(dim, index.shape)
    return (taken * by).sum(dim)


def antialiased(
    input: Tensor, size: list[int], factors: list[float], cubic: bool, align_corners: bool
) -> Tensor:
    """
    The images (N, C, H, W) in another size, averaged with a triangle or a cubic.

    Parameters
    ----------
    input : Tensor
        float32 or float64, shape (N, C, H, W).
    size : list of int
        Rows and columns of the result.
    factors : list of float
        Of rows and columns, where they were given; empty: the ratios of the sizes.
    cubic : bool
        Weights by a cubic in place of a triangle.
    align_corners : bool
        Whether the first and last elements stay where they are.

    Returns
    -------
    Tensor
        Shape (N, C, size[0], size[1]).

    Raises
    ------
    NotImplementedError
        Another dtype than float32 and float64, as in torch.
    RuntimeError
        A size of zero.

    Notes
    -----
    The filters are stretched by the step of the input where that is above 1: P. Heckbert,
    "Fundamentals of texture mapping and image warping" (1989), section 3.5.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> x = torch.arange(8.0).reshape(1, 1, 1, 8)
    >>> antialiased(x, [1, 2], [], False, False).flatten()
    tensor([1.8929, 5.1071])
    """
    if input.dtype not in (ag.float32, ag.float64):
        raise NotImplementedError(
            f"interpolate: antialias=True is not implemented for {input.dtype}; give it float32 "
            "or float64, by input.float()"
        )
    if not all(n > 0 for n in (*input.shape[1:], *size)):
        raise RuntimeError(
            "Input and output sizes should be greater than 0, but got input (H: "
            f"{input.shape[2]}, W: {input.shape[3]}) output (H: {size[0]}, W: {size[1]})"
        )
    rows, columns = factors or (0.0, 0.0)
    x = _resized(input, -1, size[1], columns, cubic, align_corners)
    return _resized(x, -2, size[0], rows, cubic, align_corners)
