"""Products of matrices and vectors, and sums of a tensor and such a product."""

from __future__ import annotations

import autograd_cy as ag

from .adapter import FLOATING, Adapter, InplaceAdapter, Pointwise, define

__all__ = ["Addbmm", "Addmm", "Addmv", "Addr", "Baddbmm", "Bmm", "Dot", "Ger", "Mm", "Mv"]


class _Product(Pointwise):
    """A product of two tensors."""

    keeps = (0, 1)
    one_shape = False

    def method(self, a, b):
        return self._operator(a, b) if a.dtype is b.dtype else super().method(a, b)

    def adapted(self, inputs):
        return [t.double() for t in inputs]


Mm, Bmm, Mv = define(__name__, "Mm Bmm Mv", _Product)
Ger = define(__name__, "Ger", _Product, several=True, method=Adapter.method)


class Dot(Adapter):
    """The sum of the products of the elements, of size (1,)."""

    name = "dot"
    keeps = (0, 1)

    def fits(self, a, b):
        alike = type(a) is type(b) and type(a) in FLOATING and a.shape == b.shape
        return alike and len(a.shape) == 1

    def adapted(self, inputs):
        return [ag.reshape(t.double(), (-1,)) for t in inputs]


class _AddedProduct(InplaceAdapter):
    """alpha times a tensor and beta times a product of two others."""

    keeps = (1, 2)

    def __init__(self, alpha=1, beta=1, inplace=False):
        self.alpha = alpha
        self.beta = beta
        self.inplace = inplace

    def core(self, x, a, b):
        out = self._operator(x, a, b, beta=self.alpha, alpha=self.beta)
        if out.shape != x.shape:
            raise RuntimeError(f"{self.name}: nothing is broadcast")
        return out

    def core_(self, x, a, b):
        self._operator_(x, a, b, beta=self.alpha, alpha=self.beta)

    def method(self, x, a, b):
        return getattr(x, self.name)(self.alpha, self.beta, a, b)

    def method_(self, x, a, b):
        return getattr(x, f"{self.name}_")(self.alpha, self.beta, a, b)

    def fits(self, x, a, b):
        kind = type(x)
        return kind is type(a) and kind is type(b) and kind in FLOATING

    def adapted(self, inputs):
        return [t.double() for t in inputs] if type(inputs[0]) not in FLOATING else inputs


Addmm, Addbmm, Baddbmm, Addmv = define(__name__, "Addmm Addbmm Baddbmm Addmv", _AddedProduct)
Addr = define(__name__, "Addr", _AddedProduct, several=True)
