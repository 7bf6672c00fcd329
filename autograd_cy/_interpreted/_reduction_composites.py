"""Sums and means without NaN."""

from __future__ import annotations

from typing import Any

from autograd_cy._C.launch import is_capturing
from autograd_cy._C.levels import _batch_level
from autograd_cy._C.tensor import Tensor
from autograd_cy._tensors.namespace import div, isnan, logical_not, sum, where


def nansum(
    self: Tensor, dim: Any, keepdim: bool, *, dtype: Any, out: Tensor | None = None
) -> Tensor:
    if self.is_complex():
        raise RuntimeError("nansum does not support complex inputs; sum the parts")
    if not self.is_floating_point():
        return sum(self, dim, keepdim, dtype=dtype, out=out)
    looks = not is_capturing() and _batch_level(self) < 0 and self.device.type == "cpu"
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
            f"nanmean(): expected input to have floating point dtype but got {self.dtype._scalar}"
        )
    if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(
            "nanmean(): could not infer output dtype. Optional dtype must be either a floating "
            f"point or complex dtype. Got: {dtype._scalar}"
        )
    count = sum(logical_not(isnan(self)), dim, keepdim)
    return div(nansum(self, dim, keepdim, dtype=dtype), count, out=out)
