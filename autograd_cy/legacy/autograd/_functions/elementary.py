"""Functions of each element."""

from __future__ import annotations

import autograd_cy as ag

from ...tensors.wrapping import operand
from .adapter import Adapter, InplaceAdapter, Unary, never

__all__ = ["Clamp", "CmaxConstant", "CminConstant", "Fmod", "Negate", "Remainder", "Round"]

# Functions that keep their output, so that some may work in place; their input; nothing.
_IN_PLACE = "Exp Rsqrt Sigmoid Tanh"
_OF_OUTPUT = "Reciprocal Sqrt Tan"
_OF_INPUT = "Abs Acos Asin Atan Cos Cosh Log Log1p Sin Sinh"
_OF_NONE = "Ceil Floor Frac Sign Trunc"


def _define(names, base, keeps):
    for name in names.split():
        row = {"__module__": __name__, "name": name.lower(), "keeps": keeps}
        globals()[name] = type(base)(name, (base,), row)
        __all__.append(name)


class _InplaceUnary(Unary, InplaceAdapter):
    pass


_define(_IN_PLACE, _InplaceUnary, (-1,))
_define(_OF_OUTPUT, Unary, (-1,))
_define(_OF_INPUT, Unary, (0,))
_define(_OF_NONE, Unary, ())


class Negate(_InplaceUnary):
    name = "neg"


class Round(Adapter):
    """Whole numbers; halves go away from zero, which they don't today."""

    name = "round"
    fits = never


class Clamp(Unary):
    """Elements between two bounds, of which one may be None; on a bound the derivative is 1."""

    name = "clamp"
    keeps = (0,)

    def __init__(self, min=None, max=None):
        self.min = min
        self.max = max
        self.extra = min, max


class _Rest(Unary):
    def __init__(self, value):
        self.extra = (value,)


class Fmod(_Rest):
    """The rest of a division, with the sign of x."""

    name = "fmod"


class Remainder(_Rest):
    """The rest of a division, with the sign of the divisor."""

    name = "remainder"


class _Bounded(Adapter):
    """The gradient goes to x where x was taken, so not where both are equal."""

    fits = never

    def __init__(self, constant):
        self.constant = constant


class CmaxConstant(_Bounded):
    """The larger of x and c."""

    def core(self, x):
        return ag.where(ag.gt(x, self.constant), x, self.constant)

    def method(self, x):
        return x.cmax(operand(x, self.constant, "gt"))


class CminConstant(_Bounded):
    """The smaller of x and c."""

    def core(self, x):
        return ag.where(ag.lt(x, self.constant), x, self.constant)

    def method(self, x):
        return x.cmin(operand(x, self.constant, "lt"))
