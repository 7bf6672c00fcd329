"""Sums and means without NaN, and derivatives of extremes."""

from __future__ import annotations

from typing import Any

from autograd_cy._C.launch import launches_are_kept
from autograd_cy._C.levels import _batch_level
from autograd_cy._C.tensor import Tensor
from autograd_cy._tensors.namespace import div, eq, isnan, logical_not, sum, unsqueeze, where


def nansum(
    self: Tensor, dim: Any, keepdim: bool, *, dtype: Any, out: Tensor | None = None
) -> Tensor:
    if self.is_complex():
        raise RuntimeError("nansum does not support complex inputs; sum the parts")
    if not self.is_floating_point():
        return sum(self, dim, keepdim, dtype=dtype, out=out)
    looks = not launches_are_kept() and _batch_level(self) < 0 and self.device.type == "cpu"
    if out is None and looks:
        total = sum(self, dim, keepdim, dtype=dtype)
        if total.is_floating_point() and not isnan(total).any():
            return total  # there is none, as in most data
    return sum(where(isnan(self), 0, self), dim, keepdim, dtype=dtype, out=out)


def nanmean(
    self: Tensor, dim: Any, keepdim: bool, *, dtype: Any, out: Tensor | None = None
) -> Tensor:
    if not self.is_floating_point():
        raise RuntimeError(
            f"nanmean(): expected input to have floating point dtype but got {self.dtype}"
        )
    count = sum(logical_not(isnan(self)), dim, keepdim)
    return div(nansum(self, dim, keepdim, dtype=dtype), count, out=out)


def _reached(self: Tensor, extreme: Tensor, dim: int | None, keepdim: bool) -> Tensor:
    """Where an extreme is taken: nowhere in a row with a NaN."""
    if dim is not None and not keepdim and self.ndim:
        extreme = unsqueeze(extreme, dim)
    return eq(self, extreme)


def aminmax_backward(
    gmin: Tensor | None,
    gmax: Tensor | None,
    self: Tensor,
    low: Tensor,
    high: Tensor,
    dim: int | None,
    keepdim: bool,
) -> Tensor:
    total: Tensor | None = None
    for grad, extreme in ((gmin, low), (gmax, high)):
        if grad is None:
            continue
        at = _reached(self, extreme, dim, keepdim)
        if dim is None or not self.ndim:
            term = where(at, grad, 0) / sum(at)  # 0 / 0 where a NaN was the extreme
        else:
            term = where(at, grad if keepdim else unsqueeze(grad, dim), 0) / sum(at, dim, True)
        total = term if total is None else total + term
    assert total is not None  # some gradient has arrived
    return total


def aminmax_moved(
    moved: Tensor, self: Tensor, extreme: Tensor, dim: int | None, keepdim: bool
) -> Tensor:
    at = _reached(self, extreme, dim, keepdim)
    chosen = where(at, moved, 0)
    if dim is None or not self.ndim:
        return sum(chosen) / sum(at)
    return sum(chosen, dim, keepdim) / sum(at, dim, keepdim)
