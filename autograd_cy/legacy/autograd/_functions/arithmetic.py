"""Sums, differences, products, quotients and powers of two tensors, or of one and a number."""

from __future__ import annotations

import autograd_cy as ag

from ...tensors.wrapping import _make
from ..function import Function, InplaceFunction
from .shapes import alike, in_shape

__all__ = [
    "Add",
    "AddConstant",
    "Addcdiv",
    "Addcmul",
    "Cmax",
    "CmaxConstant",
    "Cmin",
    "CminConstant",
    "Div",
    "DivConstant",
    "Lerp",
    "Mul",
    "MulConstant",
    "Negate",
    "Pow",
    "PowConstant",
    "Sub",
    "SubConstant",
]


class Add(InplaceFunction):
    """a + b, in the shape of a."""

    def forward(self, a, b):
        self.b_size = b.shape
        if self.inplace:
            self.mark_dirty(a)
            return a.add_(b)
        if alike(a, b):
            return _make(type(a), ag.add(a, b))
        return a.add(b)

    def backward(self, grad):
        return grad, in_shape(grad, self.b_size)


class Sub(InplaceFunction):
    """a - b, in the shape of a."""

    def forward(self, a, b):
        self.b_size = b.shape
        if self.inplace:
            self.mark_dirty(a)
            return a.sub_(b)
        if alike(a, b):
            return _make(type(a), ag.sub(a, b))
        return a.sub(b)

    def backward(self, grad):
        needed = self.needs_input_grad
        return grad, in_shape(ag.neg(grad), self.b_size) if needed[1] else None


class Mul(Function):
    """a b, in the shape of a."""

    def forward(self, a, b):
        self.to_save = (a, b)
        if alike(a, b):
            return _make(type(a), ag.mul(a, b))
        return a.mul(b)

    def backward(self, grad):
        a, b = self.saved_tensors
        needed = self.needs_input_grad
        return (
            ag.mul(grad, in_shape(b, a.shape)) if needed[0] else None,
            in_shape(ag.mul(grad, a), b.shape) if needed[1] else None,
        )


class Div(Function):
    """a / b, in the shape of a."""

    def forward(self, a, b):
        self.to_save = (a, b)
        if alike(a, b) and a.dtype.is_floating_point:
            return _make(type(a), ag.div(a, b))
        return a.div(b)

    def backward(self, grad):
        a, b = self.saved_tensors
        size, b = b.shape, in_shape(b, a.shape)
        needed = self.needs_input_grad
        by_b = ag.div(grad, b)
        return (
            by_b,
            in_shape(ag.neg(ag.div(ag.mul(by_b, a), b)), size) if needed[1] else None,
        )


class Pow(Function):
    """a ** b, in the shape of a."""

    def forward(self, a, b):
        self.save_for_backward(a, b)
        return a.pow(b)

    def backward(self, grad):
        a, b = self.saved_tensors
        size, b = b.shape, in_shape(b, a.shape)
        needed = self.needs_input_grad
        of_a = of_b = None
        if needed[0]:
            # b a^(b - 1) is 0 where b is, also at a = 0.
            slope = ag.masked_fill(ag.mul(b, ag.pow(a, ag.sub(b, 1))), ag.eq(b, 0), 0.0)
            of_a = ag.mul(grad, slope)
        if needed[1]:
            # a^b log a tends to 0 with a where b > 0.
            flat = ag.logical_and(ag.eq(a, 0), ag.ge(b, 0))
            of_b = ag.mul(grad, ag.masked_fill(ag.mul(ag.pow(a, b), ag.log(a)), flat, 0.0))
            of_b = in_shape(of_b, size)
        return of_a, of_b


class AddConstant(InplaceFunction):
    """x + c."""

    def __init__(self, constant, inplace=False):
        self.constant = constant
        self.inplace = inplace

    def forward(self, x):
        if self.inplace:
            self.mark_dirty(x)
            return x.add_(self.constant)
        if x.dtype.is_floating_point:
            return _make(type(x), ag.add(x, self.constant))
        return x.add(self.constant)

    def backward(self, grad):
        return grad


class SubConstant(InplaceFunction):
    """x - c, or c - x with `sub_tensor`."""

    def __init__(self, constant, sub_tensor=False, inplace=False):
        self.constant = constant
        self.sub_tensor = sub_tensor
        self.inplace = inplace

    def forward(self, x):
        if self.inplace:
            self.mark_dirty(x)
            if self.sub_tensor:
                return x.neg_().add_(self.constant)
            return x.sub_(self.constant)
        if self.sub_tensor:
            return self.constant - x
        if x.dtype.is_floating_point:
            return _make(type(x), ag.sub(x, self.constant))
        return x.sub(self.constant)

    def backward(self, grad):
        return ag.neg(grad) if self.sub_tensor else grad


class MulConstant(InplaceFunction):
    """x c."""

    def __init__(self, constant, inplace=False):
        self.constant = constant
        self.inplace = inplace

    def forward(self, x):
        if self.inplace:
            self.mark_dirty(x)
            return x.mul_(self.constant)
        if x.dtype.is_floating_point:
            return _make(type(x), ag.mul(x, self.constant))
        return x.mul(self.constant)

    def backward(self, grad):
        return ag.mul(grad, self.constant)


class DivConstant(InplaceFunction):
    """x / c, or c / x with `div_by_tensor`."""

    def __init__(self, constant, div_by_tensor=False, inplace=False):
        self.constant = constant
        self.div_by_tensor = div_by_tensor
        self.inplace = inplace

    def forward(self, x):
        if self.inplace:
            self.mark_dirty(x)
            if not self.div_by_tensor:
                return x.div_(self.constant)
            out = x.copy_(self.constant / x)
        elif self.div_by_tensor:
            out = self.constant / x
        elif x.dtype.is_floating_point:
            return _make(type(x), ag.div(x, self.constant))
        else:
            return x.div(self.constant)
        self.save_for_backward(out)
        return out

    def backward(self, grad):
        if not self.div_by_tensor:
            return ag.div(grad, self.constant)
        (out,) = self.saved_tensors
        if self.constant == 0:
            return ag.zeros_like(grad)
        # -c / x^2 is -(c / x)^2 / c.
        return ag.mul(grad, ag.div(ag.mul(out, out), -self.constant))


class PowConstant(Function):
    """x ** c, or c ** x with `tensor_power`."""

    def __init__(self, constant, tensor_power=False):
        self.constant = constant
        self.tensor_power = tensor_power

    def forward(self, x):
        out = self.constant**x if self.tensor_power else x.pow(self.constant)
        self.save_for_backward(out if self.tensor_power else x)
        return out

    def backward(self, grad):
        (kept,) = self.saved_tensors
        c = self.constant
        if c == 0:
            return ag.zeros_like(grad)
        if self.tensor_power:
            # The logarithm of a negative number is as undefined as most of its powers.
            log = ag.log(ag.full((), c, dtype=ag.float64)).item()
            return ag.mul(grad, ag.mul(kept, log))
        return ag.mul(grad, ag.mul(ag.pow(kept, c - 1), c))


class Negate(InplaceFunction):
    """-x."""

    def forward(self, x):
        if self.inplace:
            self.mark_dirty(x)
            return x.neg_()
        return x.neg()

    def backward(self, grad):
        return ag.neg(grad)


class Lerp(Function):
    """a + weight (b - a)."""

    def __init__(self, weight):
        self.weight = float(weight)

    def forward(self, a, b):
        self.b_size = b.shape
        return a.lerp(b, self.weight)

    def backward(self, grad):
        return ag.mul(grad, 1 - self.weight), in_shape(ag.mul(grad, self.weight), self.b_size)


class Addcmul(InplaceFunction):
    """x + scale a b."""

    def __init__(self, scale=1, inplace=False):
        self.scale = scale
        self.inplace = inplace

    def forward(self, x, a, b):
        self.save_for_backward(a, b)
        if self.inplace:
            self.mark_dirty(x)
            return x.addcmul_(self.scale, a, b)
        return x.addcmul(self.scale, a, b)

    def backward(self, grad):
        a, b = self.saved_tensors
        needed = self.needs_input_grad
        scaled = ag.mul(grad, self.scale)
        return (
            grad,
            in_shape(ag.mul(scaled, in_shape(b, grad.shape)), a.shape) if needed[1] else None,
            in_shape(ag.mul(scaled, in_shape(a, grad.shape)), b.shape) if needed[2] else None,
        )


class Addcdiv(InplaceFunction):
    """x + scale a / b."""

    def __init__(self, scale=1, inplace=False):
        self.scale = scale
        self.inplace = inplace

    def forward(self, x, a, b):
        self.save_for_backward(a, b)
        if self.inplace:
            self.mark_dirty(x)
            return x.addcdiv_(self.scale, a, b)
        return x.addcdiv(self.scale, a, b)

    def backward(self, grad):
        a, b = self.saved_tensors
        needed = self.needs_input_grad
        divisor = in_shape(b, grad.shape)
        of_a = ag.div(ag.mul(grad, self.scale), divisor)
        of_b = None
        if needed[2]:
            of_b = ag.neg(ag.div(ag.mul(of_a, in_shape(a, grad.shape)), divisor))
            of_b = in_shape(of_b, b.shape)
        return grad, in_shape(of_a, a.shape), of_b


class _Extreme(Function):
    """The larger or smaller of two tensors; the gradient goes to the one that was taken."""

    def forward(self, a, b):
        self.first = self.prefers(a, b)
        self.b_size = b.shape
        return self.choose(a, b)

    def backward(self, grad):
        of_a = ag.mul(grad, self.first)
        return of_a, in_shape(ag.sub(grad, of_a), self.b_size)


class Cmax(_Extreme):
    """The larger of a and b."""

    def prefers(self, a, b):
        return a.gt(b).type_as(a)

    def choose(self, a, b):
        return a.cmax(b)


class Cmin(_Extreme):
    """The smaller of a and b."""

    def prefers(self, a, b):
        return a.lt(b).type_as(a)

    def choose(self, a, b):
        return a.cmin(b)


class CmaxConstant(Function):
    """The larger of x and c."""

    def __init__(self, constant):
        self.constant = constant

    def forward(self, x):
        self.taken = x.gt(self.constant).type_as(x)
        return x.cmax(self.constant)

    def backward(self, grad):
        return ag.mul(grad, self.taken)


class CminConstant(Function):
    """The smaller of x and c."""

    def __init__(self, constant):
        self.constant = constant

    def forward(self, x):
        self.taken = x.lt(self.constant).type_as(x)
        return x.cmin(self.constant)

    def backward(self, grad):
        return ag.mul(grad, self.taken)
