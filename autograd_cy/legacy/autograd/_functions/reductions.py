"""Sums and choices over all elements, of size (1,), or along a dimension that then has size one."""

from __future__ import annotations

import autograd_cy as ag

from ...tensors.wrapping import CLASSES, _make
from .adapter import FLOATING, Adapter, as_floating, define, detached, leaf, never

__all__ = [
    "Kthvalue",
    "Max",
    "Mean",
    "Median",
    "Min",
    "Mode",
    "Norm",
    "Prod",
    "Sort",
    "Std",
    "Sum",
    "Topk",
    "Var",
]
_Long = CLASSES[ag.int64]


class _Total(Adapter):
    """A number made of all elements, or of each slice."""

    def __init__(self, dim=None):
        self.dim = dim
        if dim is not None:
            self.extra = dim, True

    def method(self, x):
        return getattr(x, self.name)(self.dim)


class _KeepsType(_Total):
    """A total that is of the type of the elements, of integers too."""

    def method(self, x):
        return self._operator(x, dtype=x.dtype) if self.dim is None else super().method(x)


Sum = define(__name__, "Sum", _KeepsType)
Prod = define(__name__, "Prod", _KeepsType, keeps=(0,))
Mean = define(__name__, "Mean", _Total)


class Var(Adapter):
    """The variance; unbiased divides by one less than the number of elements."""

    name = "var"
    keeps = (0, -1)

    def __init__(self, dim=None, unbiased=True):
        self.dim = dim
        self.unbiased = unbiased

    def core(self, x):
        return ag.var(x, self.dim, unbiased=self.unbiased, keepdim=self.dim is not None)

    def method(self, x):
        return getattr(x, self.name)(self.dim, self.unbiased)


class Std(Var):
    """The standard deviation; its derivative at 0 is that of the root."""

    name = "std"
    several = True
    fits = never

    def core(self, x):
        return ag.sqrt(super().core(x))


class Norm(Adapter):
    """The p-norm; at a norm of 0 the gradient is 0."""

    name = "norm"
    keeps = (0, -1)
    several = True

    def __init__(self, p=2, dim=None):
        self.p = p
        self.dim = dim

    def core(self, x):
        if self.dim is None:
            return ag.norm(ag.reshape(x, (-1,)), self.p)
        return ag.norm(x, self.p, self.dim, keepdim=True)

    def method(self, x):
        return x.norm(self.p, self.dim)


class _Choice(Adapter):
    """Elements along a dimension, the last one unless told, and where they were."""

    of_all = False  # whether the choice without a dimension is one of all elements
    return_indices = True
    saves_indices = True
    _paired = False  # whether the node belongs to values and indices

    def __init__(self, dim=None):
        self.dim = dim

    def method(self, x, dim):
        return getattr(x, self.name)(dim)

    def forward(self, x):
        if self._requires_grad and not ag.is_grad_enabled():
            with ag.inference_mode(False), ag.enable_grad():
                return self.forward(x)
        flat = self.of_all and self.dim is None
        rows = x.contiguous().view(-1) if flat else x
        dim = -1 if self.dim is None else self.dim
        values, indices = self.method(rows, dim)
        if self._requires_grad:
            if flat or type(x) not in FLOATING:
                self._sizes = [(x.shape, x.dtype)]
                rows = as_floating(rows, rows.shape)
            # Any choice has the derivative of one by its indices.
            result = ag.gather(leaf(rows, True), dim, detached(indices))
            self._node, self._shape, self._dtype = result.grad_fn, result.shape, result.dtype
            self._paired = False
        if flat or not self.return_indices:
            return values
        self.non_differentiable = (indices,)
        if self.saves_indices:
            self.to_save = self.non_differentiable
        return values, indices

    def _derived(self, grads):
        return super()._derived(grads if self._paired else grads[:1])


class _Extreme(_Choice):
    of_all = True

    def forward(self, x):
        if self.dim is None or not self._requires_grad or type(x) not in FLOATING:
            return super().forward(x)
        try:
            result, indices = self._operator(leaf(x, True), self.dim, True)
        except (RuntimeError, IndexError):
            return super().forward(x)
        self._node, self._paired = result.grad_fn, True
        if self._node is None:
            return super().forward(x)
        indices = _make(_Long, indices)
        self.to_save = self.non_differentiable = (indices,)
        return _make(type(x), result), indices


# The first of several; the most frequent; the lower middle one.
Max, Min = define(__name__, "Max Min", _Extreme)
Mode, Median = define(__name__, "Mode Median", _Choice)


class Kthvalue(_Choice):
    """The k-th smallest element along a dimension, the last one unless told."""

    def __init__(self, k, dim=None):
        self.k = k
        self.dim = dim

    def method(self, x, dim):
        return x.kthvalue(self.k, dim)


class Sort(_Choice):
    """All elements in order."""

    saves_indices = False

    def __init__(self, dim=None, descending=False, return_indices=True):
        self.dim = dim
        self.descending = descending
        self.return_indices = return_indices

    def method(self, x, dim):
        return x.sort(dim, self.descending)


class Topk(_Choice):
    """The k largest or smallest elements."""

    saves_indices = False

    def __init__(self, k, dim=None, largest=True, sort=True, return_indices=True):
        self.k = k
        self.dim = dim
        self.largest = largest
        self.sort = sort
        self.return_indices = return_indices

    def method(self, x, dim):
        return x.topk(self.k, dim, self.largest, self.sort)
