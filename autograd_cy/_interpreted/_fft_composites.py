"""Frequencies, and the transposes of Fourier transforms."""

from __future__ import annotations

from typing import Any

from autograd_cy._C.creation import _delivered
from autograd_cy._C.dtypes import float64
from autograd_cy._C.tensor import Tensor
from autograd_cy._interpreted import fft
from autograd_cy._tensors.namespace import arange, cat, narrow, real, zeros

# The transpose of a transform is the other direction, with the scaling of this one.
_TRANSPOSED = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def _fit(x: Tensor, size: int, dim: int) -> Tensor:
    """The first elements of a dimension, or all and zeros."""
    have = x.shape[dim]
    if have == size:
        return x
    if have > size:
        return narrow(x, dim, 0, size)
    shape = list(x.shape)
    shape[dim] = size - have
    return cat((x, zeros(shape, dtype=x.dtype, device=x.device)), dim)


def c2c_backward(grad: Tensor, size: tuple, dim: int, norm: str | None, inverse: bool) -> Tensor:
    other = fft.fft if inverse else fft.ifft
    return _fit(other(grad, None, dim, _TRANSPOSED[norm]), size[dim], dim)


def r2c_backward(grad: Tensor, size: tuple, n: int | None, dim: int, norm: str | None) -> Tensor:
    n = size[dim] if n is None else n
    whole = fft.ifft(_fit(grad, n, dim), None, dim, _TRANSPOSED[norm])
    return _fit(real(whole), size[dim], dim)


def c2r_backward(grad: Tensor, size: tuple, dim: int, norm: str | None) -> Tensor:
    """Elements of half a spectrum stand for two, but the first and, of an even length, the last."""
    n = grad.shape[dim]
    half = fft.rfft(grad, None, dim, _TRANSPOSED[norm])
    last = 1 if n % 2 == 0 else 0
    inner = half.shape[dim] - 1 - last
    if inner > 0:
        parts = [narrow(half, dim, 0, 1), 2 * narrow(half, dim, 1, inner)]
        if last:
            parts.append(narrow(half, dim, 1 + inner, 1))
        half = cat(tuple(parts), dim)
    return _fit(half, size[dim], dim)


def fftfreq(
    n: int, d: float, *, dtype: Any, device: Any, requires_grad: bool, out: Tensor | None = None
) -> Tensor:
    span = _span(n, d, dtype, out, "fftfreq")
    low = arange(0, (n - 1) // 2 + 1, dtype=float64, device="cpu")
    high = arange(-(n // 2), 0, dtype=float64, device="cpu")
    options = (dtype, device, None, False, out, requires_grad, "fft.fftfreq")
    return _delivered(cat((low, high)) / span, *options)


def rfftfreq(
    n: int, d: float, *, dtype: Any, device: Any, requires_grad: bool, out: Tensor | None = None
) -> Tensor:
    span = _span(n, d, dtype, out, "rfftfreq")
    options = (dtype, device, None, False, out, requires_grad, "fft.rfftfreq")
    return _delivered(arange(0, n // 2 + 1, dtype=float64, device="cpu") / span, *options)


def _span(n: int, d: float, dtype: Any, out: Tensor | None, name: str) -> float:
    least = 0 if name == "fftfreq" else 1  # half a spectrum begins with 0 / n
    if n < least:
        raise RuntimeError(f"fft.{name}: n must be at least {least}, but got {n}")
    result_dtype = dtype if out is None else out.dtype
    if result_dtype is not None and not (result_dtype.is_floating_point or result_dtype.is_complex):
        raise RuntimeError(f"fft.{name} requires a floating point dtype, not {result_dtype}")
    return n * d
