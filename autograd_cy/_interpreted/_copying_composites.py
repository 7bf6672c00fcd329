"""Tensors of one value."""

from __future__ import annotations

from autograd_cy._C.ops_copying import _fill
from autograd_cy._C.tensor import Tensor


def fill(self: Tensor, value: Tensor) -> Tensor:
    if value.ndim:
        raise RuntimeError(
            "fill_ only supports 0-dimension value tensor but got tensor with "
            f"{value.ndim} dimensions."
        )
    if value.is_complex() and not self.is_complex():
        raise RuntimeError(
            f"fill: value cannot be converted to type {self.dtype._number} without overflow: it is "
            "complex"
        )
    return _fill(self, value.to(self.dtype))
