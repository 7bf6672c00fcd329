"""Comparisons of a tensor with another one or a number; they have no derivative."""

from __future__ import annotations

from ..function import Function
from .adapter import define

__all__ = ["Eq", "Ge", "Gt", "Le", "Lt", "Ne"]


class _Comparison(Function):
    """A ByteTensor of 0 and 1."""

    name = ""

    def __init__(self, scalar=None):
        self.scalar = scalar

    def forward(self, a, b=None):
        out = getattr(a, self.name)(self.scalar if b is None else b)
        self.mark_non_differentiable(out)
        return out

    def backward(self, grad):
        # Only a Function that a program derives from this one comes here.
        return (None,) * self.num_inputs


Eq, Ne, Gt, Ge, Lt, Le = define(__name__, "Eq Ne Gt Ge Lt Le", _Comparison)
