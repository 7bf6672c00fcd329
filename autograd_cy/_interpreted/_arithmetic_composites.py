"""Elementwise operators made of others."""

from __future__ import annotations

from typing import Any

from autograd_cy._C.tensor import Tensor
from autograd_cy._interpreted.arithmetic import _rsub
from autograd_cy._tensors.namespace import sub


def rsub(input: Tensor, other: Any, *, alpha: Tensor) -> Tensor:
    factor = alpha.item()
    if factor is True or factor != 1:
        return sub(other, input, alpha=factor)
    return _rsub(input, other)
