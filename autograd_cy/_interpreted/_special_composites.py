"""Derivatives of special functions that are sums over an order, and of drawn vectors."""

from __future__ import annotations

from autograd_cy._C.tensor import Tensor
from autograd_cy._interpreted import special
from autograd_cy._tensors.namespace import digamma, sum


def mvlgamma_backward(grad: Tensor, self: Tensor, p: int) -> Tensor:
    total = digamma(self + 0.0)  # as torch, of which -0.0 is 0.0
    for i in range(1, p):
        total = total + digamma(self - i / 2)
    return grad * total


# --- vectors drawn from a Dirichlet distribution --------------------------------------------------


def _by_concentration(concentration: Tensor, x: Tensor) -> Tensor:
    total = sum(concentration, -1, True).expand_as(concentration)
    return special._dirichlet_grad(x, concentration, total)


def dirichlet_backward(grad: Tensor, concentration: Tensor, x: Tensor) -> Tensor:
    return _by_concentration(concentration, x) * (grad - sum(x * grad, -1, True))


def dirichlet_jvp(tangent: Tensor, concentration: Tensor, x: Tensor) -> Tensor:
    change = _by_concentration(concentration, x) * tangent
    return change - x * sum(change, -1, True)
