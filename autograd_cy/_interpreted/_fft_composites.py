"""Frequencies, and the transposes of Fourier transforms."""

from __future__ import annotations

from typing import Any

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
    return cat((x, zeros(shape, dtype=x.dtype)), dim)


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


def fftfreq(n: int, d: float, *, dtype: Any, device: Any, requires_grad: bool) -> Tensor:
    _check_count(n, "fftfreq")
    low = arange(0, (n - 1) // 2 + 1, device=device)
    high = arange(-(n // 2), 0, device=device)
    return _spaced(cat((low, high)), n, d, dtype, requires_grad)


def rfftfreq(n: int, d: float, *, dtype: Any, device: Any, requires_grad: bool) -> Tensor:
    _check_count(n, "rfftfreq")
    return _spaced(arange(0, n // 2 + 1, device=device), n, d, dtype, requires_grad)


def _check_count(n: int, name: str) -> None:
    if n < 1:
        raise RuntimeError(f"fft.{name}: n must be at least 1, but got {n}")


def _spaced(numbers: Tensor, n: int, d: float, dtype: Any, requires_grad: bool) -> Tensor:
    result = numbers / (n * d)
    if dtype is not None:
        result = numbers.to(dtype) / (n * d)
    return result.requires_grad_(requires_grad)
