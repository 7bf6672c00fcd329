"""Functions of each element: each says what it keeps and what its derivative is."""

from __future__ import annotations

import math

import autograd_cy as ag

from ..function import Function, InplaceFunction
from .shapes import one_minus

__all__ = [
    "Abs",
    "Acos",
    "Asin",
    "Atan",
    "Ceil",
    "Clamp",
    "Cos",
    "Cosh",
    "Exp",
    "Floor",
    "Fmod",
    "Frac",
    "Log",
    "Log1p",
    "Reciprocal",
    "Remainder",
    "Round",
    "Rsqrt",
    "Sigmoid",
    "Sign",
    "Sin",
    "Sinh",
    "Sqrt",
    "Tan",
    "Tanh",
    "Trunc",
]


class _OfInput(Function):
    """A function of which the input is kept."""

    def forward(self, x):
        self.save_for_backward(x)
        return self.value(x)

    def backward(self, grad):
        (x,) = self.saved_tensors
        return ag.mul(grad, self.slope(x))


class _OfOutput(InplaceFunction):
    """A function of which the output is kept, so that it may work in place."""

    def forward(self, x):
        if self.inplace:
            self.mark_dirty(x)
            out = self.change(x)
        else:
            out = self.value(x)
        self.save_for_backward(out)
        return out

    def backward(self, grad):
        (out,) = self.saved_tensors
        return ag.mul(grad, self.slope(out))


class _OnlyOutput(Function):
    """A function of which the output is kept and that has no in-place form."""

    def forward(self, x):
        out = self.value(x)
        self.save_for_backward(out)
        return out

    backward = _OfOutput.backward


class _Flat(Function):
    """A step function: its derivative is 0."""

    def forward(self, x):
        return self.value(x)

    def backward(self, grad):
        return ag.zeros_like(grad)


class _Rest(Function):
    """What a division leaves: the derivative is 1."""

    def forward(self, x):
        return self.value(x)

    def backward(self, grad):
        return grad


class Exp(_OfOutput):
    def value(self, x):
        return x.exp()

    def change(self, x):
        return x.exp_()

    def slope(self, out):
        return out


class Tanh(_OfOutput):
    def value(self, x):
        return x.tanh()

    def change(self, x):
        return x.tanh_()

    def slope(self, out):
        return one_minus(ag.mul(out, out))


class Sigmoid(_OfOutput):
    def value(self, x):
        return x.sigmoid()

    def change(self, x):
        return x.sigmoid_()

    def slope(self, out):
        return ag.mul(out, one_minus(out))


class Rsqrt(_OfOutput):
    def value(self, x):
        return x.rsqrt()

    def change(self, x):
        return x.rsqrt_()

    def slope(self, out):
        return ag.mul(ag.pow(out, 3), -0.5)


class Sqrt(_OnlyOutput):
    def value(self, x):
        return x.sqrt()

    def slope(self, out):
        return ag.mul(ag.reciprocal(out), 0.5)


class Reciprocal(_OnlyOutput):
    def value(self, x):
        return x.reciprocal()

    def slope(self, out):
        return ag.neg(ag.mul(out, out))


class Log(_OfInput):
    def value(self, x):
        return x.log()

    def slope(self, x):
        return ag.reciprocal(x)


class Log1p(_OfInput):
    def value(self, x):
        return x.log1p()

    def slope(self, x):
        return ag.reciprocal(ag.add(x, 1))


class Sin(_OfInput):
    def value(self, x):
        return x.sin()

    def slope(self, x):
        return ag.cos(x)


class Cos(_OfInput):
    def value(self, x):
        return x.cos()

    def slope(self, x):
        return ag.neg(ag.sin(x))


class Tan(_OnlyOutput):
    def value(self, x):
        return x.tan()

    def slope(self, out):
        return ag.add(ag.mul(out, out), 1)


class Asin(_OfInput):
    def value(self, x):
        return x.asin()

    def slope(self, x):
        return ag.rsqrt(one_minus(ag.mul(x, x)))


class Acos(_OfInput):
    def value(self, x):
        return x.acos()

    def slope(self, x):
        return ag.neg(ag.rsqrt(one_minus(ag.mul(x, x))))


class Atan(_OfInput):
    def value(self, x):
        return x.atan()

    def slope(self, x):
        return ag.reciprocal(ag.add(ag.mul(x, x), 1))


class Sinh(_OfInput):
    def value(self, x):
        return x.sinh()

    def slope(self, x):
        return ag.cosh(x)


class Cosh(_OfInput):
    def value(self, x):
        return x.cosh()

    def slope(self, x):
        return ag.sinh(x)


class Abs(_OfInput):
    def value(self, x):
        return x.abs()

    def slope(self, x):
        return ag.sign(x)


class Clamp(_OfInput):
    """Elements between two bounds, of which one may be None; on a bound the derivative is 1."""

    def __init__(self, min=None, max=None):
        self.min = min
        self.max = max

    def value(self, x):
        return x.clamp(self.min, self.max)

    def slope(self, x):
        low = -math.inf if self.min is None else self.min
        high = math.inf if self.max is None else self.max
        return x.ge(low).mul(x.le(high)).type_as(x)


class Floor(_Flat):
    def value(self, x):
        return x.floor()


class Ceil(_Flat):
    def value(self, x):
        return x.ceil()


class Round(_Flat):
    def value(self, x):
        return x.round()


class Trunc(_Flat):
    def value(self, x):
        return x.trunc()


class Sign(_Flat):
    def value(self, x):
        return x.sign()


class Frac(_Rest):
    def value(self, x):
        return x.frac()


class Fmod(_Rest):
    """The rest of a division, with the sign of x."""

    def __init__(self, value):
        self.divisor = value

    def value(self, x):
        return x.fmod(self.divisor)


class Remainder(_Rest):
    """The rest of a division, with the sign of the divisor."""

    def __init__(self, value):
        self.divisor = value

    def value(self, x):
        return x.remainder(self.divisor)
