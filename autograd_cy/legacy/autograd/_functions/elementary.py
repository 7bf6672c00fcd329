"""Functions of each element."""

from __future__ import annotations

import autograd_cy as ag

from ...tensors.wrapping import operand
from .adapter import Adapter, InplaceAdapter, Unary, define, never

__all__ = [
    "Abs",
    "Acos",
    "Asin",
    "Atan",
    "Ceil",
    "Clamp",
    "CmaxConstant",
    "CminConstant",
    "Cos",
    "Cosh",
    "Exp",
    "Floor",
    "Fmod",
    "Frac",
    "Log",
    "Log1p",
    "Negate",
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

Negate = define(__name__, "Negate", Unary, InplaceAdapter, name="neg")
Ceil, Floor, Frac, Sign, Trunc = define(__name__, "Ceil Floor Frac Sign Trunc", Unary)
# Halves go away from zero, which they don't today.
Round = define(__name__, "Round", Adapter, fits=never)
# These keep their output, so that some may work in place, and the next ones their input.
Exp, Rsqrt, Sigmoid, Tanh = define(
    __name__, "Exp Rsqrt Sigmoid Tanh", Unary, InplaceAdapter, keeps=(-1,)
)
Reciprocal, Sqrt, Tan = define(__name__, "Reciprocal Sqrt Tan", Unary, keeps=(-1,))
Abs, Acos, Asin, Atan, Cos, Cosh, Log, Log1p, Sin, Sinh = define(
    __name__, "Abs Acos Asin Atan Cos Cosh Log Log1p Sin Sinh", Unary, keeps=(0,)
)


class Clamp(Unary):
    """Elements between two bounds, of which one may be None; on a bound the derivative is 1."""

    name = "clamp"
    keeps = (0,)

    def __init__(self, min=None, max=None):
        self.min = min
        self.max = max
        self.extra = min, max


class _Rest(Unary):
    """The rest of a division."""

    def __init__(self, value):
        self.extra = (value,)


Fmod, Remainder = define(__name__, "Fmod Remainder", _Rest)


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
