"""Reductions: Python numbers without a dimension, and a dimension of size one with it."""

from __future__ import annotations

import autograd_cy as ag
from autograd_cy import Tensor

from .pointwise import floating_only
from .wrapping import Base, _make, in_shape_of, number_in, refuse, same_dtype, wrap

__all__ = ["Reductions"]

_numel = Tensor.numel


def _full(t, name):
    if not _numel(t):
        raise RuntimeError(f"{name}: a tensor with no elements has none to choose from")
    return t


def _extreme(name, elementwise):
    compute = getattr(ag, name)

    def method(self, dim=None):
        if dim is None:
            return number_in(compute(_full(self, name)))
        if isinstance(dim, Tensor):
            return getattr(self, elementwise)(dim)
        values, indices = compute(_full(self, name), dim, keepdim=True)
        return _make(type(self), values), wrap(indices)

    method.__name__ = name
    method.__doc__ = (
        f"The {name} of all as a number, (values, indices) along a dimension, or elementwise with "
        "a tensor."
    )
    return method


def _spread(name):
    compute = getattr(ag, name)

    def method(self, dim=None, unbiased=True):
        floating_only(self, name)
        if dim is None:
            return number_in(compute(self, unbiased=unbiased))
        return _make(type(self), compute(self, dim, unbiased=unbiased, keepdim=True))

    method.__name__ = name
    method.__doc__ = f"The {name} of all as a number, or along a dimension."
    return method


class Reductions(Base):
    """The methods that reduce or accumulate."""

    __slots__ = ()

    def sum(self, dim=None):
        """The sum of all as a number, or along a dimension, in the type of the tensor."""
        if dim is None:
            return number_in(ag.sum(self))
        if self.dtype.is_floating_point:
            return _make(type(self), ag.sum(self, dim, keepdim=True))
        return _make(type(self), ag.sum(self, dim, keepdim=True, dtype=self.dtype))

    def prod(self, dim=None):
        """The product of all as a number, or along a dimension."""
        if dim is None:
            return number_in(ag.prod(self))
        return _make(type(self), ag.prod(self, dim, keepdim=True, dtype=self.dtype))

    def mean(self, dim=None):
        """The mean of all as a number, or along a dimension."""
        floating_only(self, "mean")
        if dim is None:
            return number_in(ag.mean(self))
        return _make(type(self), ag.mean(self, dim, keepdim=True))

    max = _extreme("max", "cmax")
    min = _extreme("min", "cmin")
    std = _spread("std")
    var = _spread("var")

    def norm(self, p=2, dim=None):
        """The p-norm of all as a number, or along a dimension."""
        floating_only(self, "norm")
        if dim is None:
            return number_in(ag.norm(ag.reshape(self, (-1,)), p))
        return _make(type(self), ag.norm(self, p, dim, keepdim=True))

    def dist(self, other, p=2):
        """The p-norm of the difference, as a number."""
        floating_only(self, "dist")
        return Reductions.norm(self.sub(same_dtype(self, other, "dist")), p)

    def dot(self, other):
        """The sum of the products of the elements, as a number."""
        other = in_shape_of(self, same_dtype(self, other, "dot"), "dot")
        flat = ag.reshape(self, (-1,)), ag.reshape(other, (-1,))
        return number_in(ag.dot(*flat))

    def trace(self):
        """The sum of the diagonal of a matrix, as a number."""
        if self.dim() != 2:
            raise RuntimeError(f"trace: expected a matrix, not a tensor of {self.dim()} dimensions")
        return number_in(ag.trace(self))

    def all(self):
        """Return whether no element of a ByteTensor is 0."""
        return bool(ag.all(_bytes(self, "all")))

    def any(self):
        """Return whether some element of a ByteTensor isn't 0."""
        return bool(ag.any(_bytes(self, "any")))

    def cumsum(self, dim):
        """Sums of all elements up to each one."""
        return _make(type(self), ag.cumsum(self, dim, dtype=self.dtype))

    def cumprod(self, dim):
        """Products of all elements up to each one."""
        return _make(type(self), ag.cumprod(self, dim, dtype=self.dtype))

    def renorm(self, p, dim, maxnorm):
        """Scale down the slices along `dim` whose p-norm is more than `maxnorm`."""
        floating_only(self, "renorm")
        if self.dim() < 2:
            raise RuntimeError("renorm: need at least 2 dimensions")
        rows = ag.transpose(self, 0, dim)
        sizes = (-1, *(1,) * (self.dim() - 1))
        norms = ag.reshape(ag.norm(ag.reshape(rows, (rows.shape[0], -1)), p, 1), sizes)
        factor = ag.where(norms > maxnorm, maxnorm / (norms + 1e-7), ag.ones_like(norms))
        return wrap(ag.transpose(ag.mul(rows, factor), 0, dim).contiguous())

    def renorm_(self, p, dim, maxnorm):
        """Scale down, in place, the slices along `dim` whose p-norm is more than `maxnorm`."""
        Tensor.copy_(self, Reductions.renorm(self, p, dim, maxnorm))
        return self

    def histc(self, bins=100, min=0, max=0):
        """Numbers of elements in equal intervals from `min` to `max`, or of the data's."""
        floating_only(self, "histc")
        return wrap(ag.histc(self, bins, min, max))


def _bytes(t, name):
    if t.dtype is not ag.uint8:
        refuse(name, (t,), "a torch.ByteTensor (compare first)")
    return t
