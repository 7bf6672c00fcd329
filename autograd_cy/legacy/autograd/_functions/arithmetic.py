"""Sums, differences, products, quotients and powers of two tensors, or of one and a number."""

from __future__ import annotations

import autograd_cy as ag

from ...tensors.wrapping import operand
from .adapter import FLOATING, Adapter, InplaceAdapter, Pointwise, Unary, define, never

__all__ = [
    "Add",
    "AddConstant",
    "Addcdiv",
    "Addcmul",
    "Cmax",
    "Cmin",
    "Div",
    "DivConstant",
    "Lerp",
    "Mul",
    "MulConstant",
    "Pow",
    "PowConstant",
    "Sub",
    "SubConstant",
]


# Of two tensors, in the shape of the first.
Add, Sub = define(__name__, "Add Sub", Pointwise, InplaceAdapter)
Mul, Div, Pow = define(__name__, "Mul Div Pow", Pointwise, keeps=(0, 1))


class _Constant(Unary):
    """A tensor and a number."""

    def __init__(self, constant, inplace=False):
        self.constant = constant
        self.extra = (constant,)
        self.inplace = inplace


AddConstant = define(__name__, "AddConstant", _Constant, InplaceAdapter, name="add")
MulConstant = define(__name__, "MulConstant", _Constant, InplaceAdapter, name="mul")


class _Reversible(_Constant):
    """A tensor and a number, or a number and a tensor."""

    def method(self, x):
        return self.reversed(x) if self.reverse else super().method(x)

    def method_(self, x):
        return x.copy_(self.reversed(x)) if self.reverse else super().method_(x)


class SubConstant(_Reversible, InplaceAdapter):
    """x - c, or c - x with `sub_tensor`."""

    name = "sub"

    def __init__(self, constant, sub_tensor=False, inplace=False):
        self.extra = (constant,)
        self.constant = constant
        self.sub_tensor = self.reverse = sub_tensor
        self.inplace = inplace

    def core(self, x):
        return ag.rsub(x, self.constant) if self.reverse else ag.sub(x, self.constant)

    def reversed(self, x):
        return self.constant - x


class DivConstant(_Reversible, InplaceAdapter):
    """x / c, or c / x with `div_by_tensor`."""

    name = "div"

    def __init__(self, constant, div_by_tensor=False, inplace=False):
        self.extra = (constant,)
        self.constant = constant
        self.div_by_tensor = self.reverse = self.several = div_by_tensor
        if div_by_tensor:
            self.keeps = (-1,)
        self.inplace = inplace

    def core(self, x):
        if self.reverse:
            return ag.mul(ag.reciprocal(x) if self.constant else x, self.constant)
        return ag.div(x, self.constant)

    def reversed(self, x):
        return self.constant / x


class PowConstant(_Reversible):
    """x ** c, or c ** x with `tensor_power`."""

    name = "pow"

    def __init__(self, constant, tensor_power=False):
        self.extra = (constant,)
        self.constant = constant
        self.tensor_power = self.reverse = tensor_power
        self.keeps = (-1,) if tensor_power else (0,)

    def core(self, x):
        if self.reverse:
            return ag.pow(self.constant, x) if self.constant else ag.mul(x, 0)
        return ag.pow(x, self.constant)

    def reversed(self, x):
        return self.constant**x


class Lerp(Pointwise):
    """a + weight (b - a)."""

    name = "lerp"

    def __init__(self, weight):
        self.weight = float(weight)
        self.extra = (self.weight,)


class _Scaled(InplaceAdapter):
    """A tensor and a multiple of what two others give."""

    keeps = (1, 2)

    def __init__(self, scale=1, inplace=False):
        self.scale = scale
        self.inplace = inplace

    def fits(self, x, a, b):
        kind = type(x)
        alike = kind is type(a) and kind is type(b) and kind in FLOATING
        return alike and x.shape == a.shape == b.shape

    def core(self, x, a, b):
        return self._operator(x, a, b, value=self.scale)

    def core_(self, x, a, b):
        self._operator_(x, a, b, value=self.scale)

    def method(self, x, a, b):
        return getattr(x, self.name)(self.scale, a, b)

    def method_(self, x, a, b):
        return getattr(x, f"{self.name}_")(self.scale, a, b)


Addcmul, Addcdiv = define(__name__, "Addcmul Addcdiv", _Scaled)


class Cmax(Adapter):
    """The larger of a and b; where both are equal, the gradient goes to b."""

    fits = never

    def core(self, a, b):
        return ag.where(ag.gt(a, b), a, b)

    def method(self, a, b):
        return a.cmax(operand(a, b, "gt"))


class Cmin(Adapter):
    """The smaller of a and b; where both are equal, the gradient goes to b."""

    fits = never

    def core(self, a, b):
        return ag.where(ag.lt(a, b), a, b)

    def method(self, a, b):
        return a.cmin(operand(a, b, "lt"))
