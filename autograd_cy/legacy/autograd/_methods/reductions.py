"""Reductions, which keep the dimension; order; samples."""

from __future__ import annotations

from typing import Any

from .. import _functions as F
from .._state import VariableBase

__all__ = ["Reductions"]


class Reductions(VariableBase):
    """The methods of all elements, or of all along a dimension."""

    def sum(self, dim: Any = None) -> Any:
        """The sum of all, or along a dimension."""
        return F.Sum(dim)(self)

    def prod(self, dim: Any = None) -> Any:
        """The product of all, or along a dimension."""
        return F.Prod(dim)(self)

    def mean(self, dim: Any = None) -> Any:
        """The mean of all, or along a dimension."""
        return F.Mean(dim)(self)

    def max(self, dim: Any = None) -> Any:
        """The largest, (values, indices) along a dimension, or elementwise with a Variable."""
        if isinstance(dim, VariableBase):
            return F.Cmax()(self, dim)
        return F.Max(dim)(self)

    def min(self, dim: Any = None) -> Any:
        """The smallest, (values, indices) along a dimension, or elementwise with a Variable."""
        if isinstance(dim, VariableBase):
            return F.Cmin()(self, dim)
        return F.Min(dim)(self)

    def mode(self, dim: Any = None) -> Any:
        """(values, indices) of the most frequent elements along a dimension."""
        return F.Mode(dim)(self)

    def median(self, dim: Any = None) -> Any:
        """(values, indices) of the lower middle elements along a dimension."""
        return F.Median(dim)(self)

    def kthvalue(self, k: int, dim: Any = None) -> Any:
        """(values, indices) of the k-th smallest elements along a dimension."""
        return F.Kthvalue(k, dim)(self)

    def sort(self, dim: Any = None, descending: bool = False) -> Any:
        """(values, indices) in order along a dimension."""
        return F.Sort(dim, descending)(self)

    def topk(self, k: int, dim: Any = None, largest: bool = True, sorted: bool = True) -> Any:
        """(values, indices) of the k largest or smallest along a dimension."""
        return F.Topk(k, dim, largest, sorted)(self)

    def var(self, dim: Any = None, unbiased: bool = True) -> Any:
        """The variance of all, or along a dimension."""
        return F.Var(dim, unbiased)(self)

    def std(self, dim: Any = None, unbiased: bool = True) -> Any:
        """The standard deviation of all, or along a dimension."""
        return F.Std(dim, unbiased)(self)

    def norm(self, p: Any = 2, dim: Any = None) -> Any:
        """The p-norm of all, or along a dimension."""
        return F.Norm(p, dim)(self)

    def dist(self, other: Any, p: Any = 2) -> Any:
        """The p-norm of the difference."""
        return F.Norm(p)(F.Sub()(self, other))

    def renorm(self, p: Any, dim: int, maxnorm: Any) -> Any:
        """Scale down the slices along `dim` whose p-norm is more than `maxnorm`."""
        if self._tensor.dim() < 2:
            raise RuntimeError("renorm: need at least 2 dimensions")
        turned = F.Clone()(F.Transpose(0, dim)(self))
        size = tuple(turned._tensor.shape)
        rows = F.View(size[0], -1)(turned)
        norms = F.CmaxConstant(float(maxnorm))(F.Norm(p, 1)(rows))
        factor = F.DivConstant(float(maxnorm), div_by_tensor=True)(norms)
        scaled = F.Mul()(rows, F.Expand(tuple(rows._tensor.shape))(factor))
        return F.Transpose(0, dim)(F.View(*size)(scaled))

    # Samples --------------------------------------------------------------------------------------

    def multinomial(self, num_samples: int = 1, with_replacement: bool = False) -> Any:
        """Indices drawn with the elements, or those of each row, as weights."""
        return F.Multinomial(num_samples, with_replacement)(self)

    def bernoulli(self) -> Any:
        """Ones with the elements as probabilities, and zeros."""
        return F.Bernoulli()(self)
