"""Comparisons of a tensor with another one or a number; they have no derivative."""

from __future__ import annotations

from ..function import Function

__all__ = ["Eq", "Ge", "Gt", "Le", "Lt", "Ne"]


class _Comparison(Function):
    """A ByteTensor of 0 and 1."""

    def __init__(self, scalar=None):
        self.scalar = scalar

    def forward(self, a, b=None):
        out = getattr(a, type(self).__name__.lower())(self.scalar if b is None else b)
        self.mark_non_differentiable(out)
        return out

    def backward(self, grad):
        # Only a Function that a program derives from this one comes here.
        return (None,) * self.num_inputs


class Eq(_Comparison):
    """Whether a and b are equal."""


class Ne(_Comparison):
    """Whether a and b differ."""


class Gt(_Comparison):
    """Whether a is greater than b."""


class Ge(_Comparison):
    """Whether a is greater than b or equal to it."""


class Lt(_Comparison):
    """Whether a is less than b."""


class Le(_Comparison):
    """Whether a is less than b or equal to it."""
