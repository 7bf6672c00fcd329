"""Sums and choices over all elements, of size (1,), or along a dimension that then has size one."""

from __future__ import annotations

import math

import autograd_cy as ag

from ...tensors.wrapping import CLASSES, _make
from ..function import Function
from .shapes import zeros

__all__ = ["Kthvalue", "Max", "Mean", "Median", "Min", "Mode", "Norm", "Prod", "Std", "Sum", "Var"]


def _spread(grad, shape):
    """A gradient of all elements, or of slices of size one, at each element."""
    if ag.Tensor.dim(grad) != len(shape):
        grad = ag.reshape(grad, ())
    return ag.Tensor.expand(grad, shape)


_max, _min, _numel = ag.max, ag.min, ag.Tensor.numel
_Long = CLASSES[ag.int64]


class Sum(Function):
    """The sum."""

    def __init__(self, dim=None):
        self.dim = dim

    def forward(self, x):
        self.size = x.shape
        if self.dim is not None:
            return x.sum(self.dim)
        return ag.sum(x) if x.dtype.is_floating_point else ag.sum(x, dtype=x.dtype)

    def backward(self, grad):
        return _spread(grad, self.size)


class Mean(Function):
    """The mean."""

    def __init__(self, dim=None):
        self.dim = dim

    def forward(self, x):
        self.size = x.shape
        if self.dim is None and x.dtype.is_floating_point:
            return ag.mean(x)
        return x.mean() if self.dim is None else x.mean(self.dim)

    def backward(self, grad):
        count = math.prod(self.size) if self.dim is None else self.size[self.dim]
        return ag.div(_spread(grad, self.size), count)


class Prod(Function):
    """The product."""

    def __init__(self, dim=None):
        self.dim = dim

    def forward(self, x):
        self.save_for_backward(x)
        return ag.prod(x, dtype=x.dtype) if self.dim is None else x.prod(self.dim)

    def backward(self, grad):
        (x,) = self.saved_tensors
        dim = 0 if self.dim is None else self.dim
        rows = ag.reshape(x, (-1,)) if self.dim is None else x
        # The others before each element times the others after it: right with zeros, too.
        ones = ag.ones_like(ag.narrow(rows, dim, 0, 1))
        size = rows.shape[dim] - 1
        before = ag.cumprod(ag.cat((ones, ag.narrow(rows, dim, 0, size)), dim), dim)
        turned = ag.flip(ag.narrow(rows, dim, 1, size), (dim,))
        after = ag.flip(ag.cumprod(ag.cat((ones, turned), dim), dim), (dim,))
        others = ag.reshape(ag.mul(before, after), x.shape)
        return ag.mul(_spread(grad, x.shape), others)


class _Spread(Function):
    """How far elements lie apart; unbiased divides by one less than their number."""

    def __init__(self, dim=None, unbiased=True):
        self.dim = dim
        self.unbiased = unbiased

    def forward(self, x):
        compute = getattr(x, type(self).__name__.lower())
        if self.dim is None:
            out = x.new((compute(unbiased=self.unbiased),))
        else:
            out = compute(self.dim, self.unbiased)
        self.save_for_backward(x, out)
        return out

    def of_variance(self, grad, x):
        """The gradient of the variance."""
        if self.dim is None:
            count, mean = x.numel(), ag.mean(x)
        else:
            count, mean = x.shape[self.dim], ag.mean(x, self.dim, keepdim=True)
        scale = 2 / (count - 1 if self.unbiased else count)
        return ag.mul(ag.mul(_spread(grad, x.shape), ag.sub(x, mean)), scale)


class Var(_Spread):
    """The variance."""

    def backward(self, grad):
        return self.of_variance(grad, self.saved_tensors[0])


class Std(_Spread):
    """The standard deviation."""

    def backward(self, grad):
        x, out = self.saved_tensors
        return self.of_variance(ag.div(ag.mul(grad, 0.5), out), x)


class _Choice(Function):
    """One element of all, or of each slice, and where it was."""

    of_all = False  # whether the choice without a dimension is one of all elements

    def __init__(self, dim=None):
        self.dim = dim

    def choose(self, x, dim):
        return getattr(x, type(self).__name__.lower())(dim)

    def forward(self, x):
        self.size = x.shape
        dim = self.dim
        if dim is None:
            if self.of_all:
                values, self.index = self.choose(x.contiguous().view(-1), 0)
                return values
            dim = -1
        chosen = self.choose(x, dim)
        self.to_save = self.non_differentiable = (chosen[1],)
        return chosen

    def backward(self, grad, of_indices=None):
        made = zeros(self.size, grad)
        if self.dim is None and self.of_all:
            ag.index_add_(ag.Tensor.view(made, (-1,)), 0, self.index, grad)
            return made
        (indices,) = self.saved_tensors
        return ag.scatter_(made, -1 if self.dim is None else self.dim, indices, grad)


class Max(_Choice):
    """The largest element; the first of several."""

    of_all = True

    def choose(self, x, dim):
        if not _numel(x):
            return x.max(dim)
        values, indices = _max(x, dim, True)
        return _make(type(x), values), _make(_Long, indices)


class Min(_Choice):
    """The smallest element; the first of several."""

    of_all = True

    def choose(self, x, dim):
        if not _numel(x):
            return x.min(dim)
        values, indices = _min(x, dim, True)
        return _make(type(x), values), _make(_Long, indices)


class Mode(_Choice):
    """The most frequent element along a dimension, the last one unless told."""


class Median(_Choice):
    """The lower middle element along a dimension, the last one unless told."""


class Kthvalue(_Choice):
    """The k-th smallest element along a dimension, the last one unless told."""

    def __init__(self, k, dim=None):
        self.k = k
        self.dim = dim

    def choose(self, x, dim):
        return x.kthvalue(self.k, dim)


class Norm(Function):
    """The p-norm; at a norm of 0 the gradient is 0."""

    def __init__(self, p=2, dim=None):
        self.p = p
        self.dim = dim

    def forward(self, x):
        out = x.new((x.norm(self.p),)) if self.dim is None else x.norm(self.p, self.dim)
        self.save_for_backward(x, out)
        return out

    def backward(self, grad):
        x, out = self.saved_tensors
        p = self.p
        grad, norm = _spread(grad, x.shape), _spread(out, x.shape)
        if p == 0:
            return ag.zeros_like(x)
        if p == 1:
            slope = ag.sign(x)
        elif abs(p) == math.inf:
            taken = ag.eq(ag.abs(x), norm).to(x.dtype)
            count = ag.sum(taken) if self.dim is None else ag.sum(taken, self.dim, keepdim=True)
            slope = ag.div(ag.mul(ag.sign(x), taken), count)
        elif p == 2:
            slope = ag.div(x, norm)
        else:
            slope = ag.mul(ag.sign(x), ag.pow(ag.div(ag.abs(x), norm), p - 1))
            slope = ag.masked_fill(slope, ag.eq(x, 0), 0.0)  # below p = 1 the power is infinite
        return ag.masked_fill(ag.mul(grad, slope), ag.eq(norm, 0), 0.0)
