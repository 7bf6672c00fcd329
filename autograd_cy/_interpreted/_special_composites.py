"""Derivatives of special functions that are sums over an order."""

from __future__ import annotations

from autograd_cy._C.tensor import Tensor
from autograd_cy._tensors.namespace import digamma


def mvlgamma_backward(grad: Tensor, self: Tensor, p: int) -> Tensor:
    total = digamma(self + 0.0)  # as torch, of which -0.0 is 0.0
    for i in range(1, p):
        total = total + digamma(self - i / 2)
    return grad * total
