"""Infinities of one sign."""

from __future__ import annotations

from autograd_cy._C.tensor import Tensor
from autograd_cy._tensors.namespace import bool as _bool
from autograd_cy._tensors.namespace import eq, zeros_like


def isposinf(self: Tensor, out: Tensor | None = None) -> Tensor:
    return _is(self, float("inf"), "isposinf", out)


def isneginf(self: Tensor, out: Tensor | None = None) -> Tensor:
    return _is(self, float("-inf"), "isneginf", out)


def _is(self: Tensor, number: float, op: str, out: Tensor | None) -> Tensor:
    if self.is_complex():
        raise RuntimeError(f"{op} does not support complex inputs.")
    if not self.is_floating_point():
        return zeros_like(self, dtype=_bool)
    if out is not None and out.dtype == _bool:
        return eq(self, number, out=out)
    return eq(self, number)
