"""Products of matrices and vectors, and sums of a tensor and such a product."""

from __future__ import annotations

import autograd_cy as ag

from ...tensors.wrapping import _make
from ..function import Function, InplaceFunction
from .shapes import in_shape

__all__ = ["Addbmm", "Addmm", "Addmv", "Addr", "Baddbmm", "Bmm", "Dot", "Ger", "Mm", "Mv"]


_addmm, _numel = ag.addmm, ag.Tensor.numel


def _turned(t):
    """The transpose of a matrix, or of each of a batch."""
    return ag.transpose(t, -1, -2)


class _Product(Function):
    """A product of two tensors."""

    def forward(self, a, b):
        self.to_save = (a, b)
        return self.product(a, b)

    def backward(self, grad):
        a, b = self.saved_tensors
        return self.gradients(grad, a, b, self.needs_input_grad)


class _AddedProduct(InplaceFunction):
    """alpha times a tensor and beta times a product of two others."""

    def __init__(self, alpha=1, beta=1, inplace=False):
        self.alpha = alpha
        self.beta = beta
        self.inplace = inplace

    def forward(self, x, a, b):
        self.to_save = (a, b)
        if self.inplace:
            self.mark_dirty(x)
            return getattr(x, f"{self.name}_")(self.alpha, self.beta, a, b)
        return self.compute(x, a, b)

    def compute(self, x, a, b):
        return getattr(x, self.name)(self.alpha, self.beta, a, b)

    def backward(self, grad):
        a, b = self.saved_tensors
        needed = self.needs_input_grad
        of_x = None
        if needed[0]:
            of_x = grad if self.alpha == 1 else ag.mul(grad, self.alpha)
        if not (needed[1] or needed[2]):
            return of_x, None, None
        scaled = grad if self.beta == 1 else ag.mul(grad, self.beta)
        return (of_x, *self.gradients(scaled, a, b, needed[1:]))


def _of_matrices(self, grad, a, b, needed):
    return (
        ag.mm(grad, _turned(b)) if needed[0] else None,
        ag.mm(_turned(a), grad) if needed[1] else None,
    )


def _of_batches(self, grad, a, b, needed):
    return (
        ag.bmm(grad, _turned(b)) if needed[0] else None,
        ag.bmm(_turned(a), grad) if needed[1] else None,
    )


def _of_matrix_and_vector(self, grad, a, b, needed):
    return (
        ag.outer(grad, b) if needed[0] else None,
        ag.mv(_turned(a), grad) if needed[1] else None,
    )


def _of_vectors(self, grad, a, b, needed):
    return (
        ag.mv(grad, b) if needed[0] else None,
        ag.mv(_turned(grad), a) if needed[1] else None,
    )


class Mm(_Product):
    """The product of two matrices."""

    gradients = _of_matrices

    def product(self, a, b):
        if a.dtype is b.dtype:
            return _make(type(a), ag.mm(a, b))
        return a.mm(b)


class Bmm(_Product):
    """The products of two batches of matrices."""

    gradients = _of_batches

    def product(self, a, b):
        if a.dtype is b.dtype:
            return _make(type(a), ag.bmm(a, b))
        return a.bmm(b)


class Mv(_Product):
    """The product of a matrix and a vector."""

    gradients = _of_matrix_and_vector

    def product(self, a, b):
        if a.dtype is b.dtype:
            return _make(type(a), ag.mv(a, b))
        return a.mv(b)


class Ger(_Product):
    """The products of all elements of two vectors."""

    gradients = _of_vectors

    def product(self, a, b):
        return a.ger(b)


class Addmm(_AddedProduct):
    """alpha x + beta a b of matrices."""

    name = "addmm"
    gradients = _of_matrices

    def compute(self, x, a, b):
        # What the core refuses or makes larger, the era refuses, or does in other shapes.
        if x.dtype.is_floating_point:
            try:
                out = _addmm(x, a, b, beta=self.alpha, alpha=self.beta)
                if _numel(out) == _numel(x):
                    return _make(type(x), out)
            except RuntimeError:
                pass
        return x.addmm(self.alpha, self.beta, a, b)


class Baddbmm(_AddedProduct):
    """alpha x + beta a b of batches of matrices."""

    name = "baddbmm"
    gradients = _of_batches


class Addbmm(_AddedProduct):
    """alpha x + beta times the sum of a b over a batch of matrices."""

    name = "addbmm"

    def gradients(self, grad, a, b, needed):
        batch = ag.Tensor.expand(grad, (a.shape[0], *grad.shape))
        return _of_batches(self, batch, a, b, needed)


class Addmv(_AddedProduct):
    """alpha x + beta a b of a matrix and a vector."""

    name = "addmv"
    gradients = _of_matrix_and_vector


class Addr(_AddedProduct):
    """alpha x + beta times the products of all elements of two vectors."""

    name = "addr"
    gradients = _of_vectors


class Dot(_Product):
    """The sum of the products of the elements, of size (1,)."""

    def product(self, a, b):
        return a.new((a.dot(b),))

    def gradients(self, grad, a, b, needed):
        weight = ag.reshape(grad, ())
        return (
            ag.mul(in_shape(b, a.shape), weight) if needed[0] else None,
            ag.mul(in_shape(a, b.shape), weight) if needed[1] else None,
        )
