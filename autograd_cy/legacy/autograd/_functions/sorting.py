"""Elements in order along a dimension, and where they were."""

from __future__ import annotations

import autograd_cy as ag

from ..function import Function
from .shapes import zeros

__all__ = ["Sort", "Topk"]


class _Ordered(Function):
    """Values along a dimension, the last one unless told, with their indices if wanted."""

    def forward(self, x):
        self.size = x.shape
        values, self.indices = self.order(x, -1 if self.dim is None else self.dim)
        if not self.return_indices:
            return values
        self.mark_non_differentiable(self.indices)
        return values, self.indices

    def backward(self, grad, of_indices=None):
        dim = -1 if self.dim is None else self.dim
        return ag.scatter_(zeros(self.size, grad), dim, self.indices, grad)


class Sort(_Ordered):
    """All elements in order."""

    def __init__(self, dim=None, descending=False, return_indices=True):
        self.dim = dim
        self.descending = descending
        self.return_indices = return_indices

    def order(self, x, dim):
        return x.sort(dim, self.descending)


class Topk(_Ordered):
    """The k largest or smallest elements."""

    def __init__(self, k, dim=None, largest=True, sort=True, return_indices=True):
        self.k = k
        self.dim = dim
        self.largest = largest
        self.sort = sort
        self.return_indices = return_indices

    def order(self, x, dim):
        return x.topk(self.k, dim, self.largest, self.sort)
