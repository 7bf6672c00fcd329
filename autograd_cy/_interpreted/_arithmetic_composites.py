"""Elementwise operators made of others."""

from __future__ import annotations

from typing import Any

from autograd_cy._C.tensor import Tensor
from autograd_cy._namespace import sub


def rsub(input: Tensor, other: Any, *, alpha: Tensor) -> Tensor:
    return sub(other, input, alpha=alpha.item())
