"""Elementwise operators made of others."""

from __future__ import annotations

from typing import Any

from autograd_cy._C.tensor import Tensor
from autograd_cy._interpreted.arithmetic import _rsub
from autograd_cy._tensors.namespace import sub


def rsub(input: Tensor, other: Any, alpha: Tensor) -> Tensor:
    factor = alpha.item()
    if type(factor) is not int or factor != 1:  # sub checks what factor goes with the dtypes
        return sub(other, input, alpha=factor)
    return _rsub(input, other)
