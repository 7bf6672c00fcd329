"""Arithmetic, functions of each element and comparisons; with them Python's operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...tensors.wrapping import is_number
from .. import _functions as F
from .._state import VariableBase
from .operands import check_number

__all__ = ["Arithmetic"]


def _elementwise(name: str) -> Callable[[Any], Any]:
    function = getattr(F, name.capitalize())

    def method(self: Any) -> Any:
        return function()(self)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"The {name} of each element."
    return method


def _comparison(name: str) -> Callable[[Any, Any], Any]:
    function = getattr(F, name.capitalize())

    def method(self: Any, other: Any) -> Any:
        if isinstance(other, VariableBase):
            return function()(self, other)
        return function(check_number(name, other))(self)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = "A Variable of a ByteTensor of 0 and 1, which needs no gradient."
    return method


class Arithmetic(VariableBase):
    """The methods of elements."""

    def add(self, other: Any) -> Any:
        """Add a Variable or a number."""
        if isinstance(other, VariableBase):
            return F.Add()(self, other)
        return F.AddConstant(check_number("add", other))(self)

    def sub(self, other: Any) -> Any:
        """Subtract a Variable or a number."""
        if isinstance(other, VariableBase):
            return F.Sub()(self, other)
        return F.SubConstant(check_number("sub", other))(self)

    def mul(self, other: Any) -> Any:
        """Multiply by a Variable or a number."""
        if isinstance(other, VariableBase):
            return F.Mul()(self, other)
        return F.MulConstant(check_number("mul", other))(self)

    def div(self, other: Any) -> Any:
        """Divide by a Variable or a number."""
        if isinstance(other, VariableBase):
            return F.Div()(self, other)
        return F.DivConstant(check_number("div", other))(self)

    def pow(self, other: Any) -> Any:
        """Raise to the power of a Variable or a number."""
        if isinstance(other, VariableBase):
            return F.Pow()(self, other)
        return F.PowConstant(check_number("pow", other))(self)

    # In place -----------------------------------------------------------------------------------

    def add_(self, other: Any) -> Any:
        """Add a Variable or a number, in place."""
        if isinstance(other, VariableBase):
            return F.Add(inplace=True)(self, other)
        return F.AddConstant(check_number("add_", other), inplace=True)(self)

    def sub_(self, other: Any) -> Any:
        """Subtract a Variable or a number, in place."""
        if isinstance(other, VariableBase):
            return F.Sub(inplace=True)(self, other)
        return F.SubConstant(check_number("sub_", other), inplace=True)(self)

    def mul_(self, other: Any) -> Any:
        """Multiply by a number, in place."""
        if isinstance(other, VariableBase):
            raise RuntimeError("mul_ only supports scalar multiplication; use mul")
        return F.MulConstant(check_number("mul_", other), inplace=True)(self)

    def div_(self, other: Any) -> Any:
        """Divide by a number, in place."""
        if isinstance(other, VariableBase):
            raise RuntimeError("div_ only supports scalar multiplication; use div")
        return F.DivConstant(check_number("div_", other), inplace=True)(self)

    def exp_(self) -> Any:
        """The exponential of each element, in place."""
        return F.Exp(inplace=True)(self)

    def neg_(self) -> Any:
        """Change the sign of each element, in place."""
        return F.Negate(inplace=True)(self)

    def tanh_(self) -> Any:
        """The hyperbolic tangent of each element, in place."""
        return F.Tanh(inplace=True)(self)

    def sigmoid_(self) -> Any:
        """The logistic function of each element, in place."""
        return F.Sigmoid(inplace=True)(self)

    # Each element -------------------------------------------------------------------------------

    def neg(self) -> Any:
        """The elements with the other sign."""
        return F.Negate()(self)

    exp = _elementwise("exp")
    log = _elementwise("log")
    log1p = _elementwise("log1p")
    tanh = _elementwise("tanh")
    sigmoid = _elementwise("sigmoid")
    sin = _elementwise("sin")
    cos = _elementwise("cos")
    tan = _elementwise("tan")
    asin = _elementwise("asin")
    acos = _elementwise("acos")
    atan = _elementwise("atan")
    sinh = _elementwise("sinh")
    cosh = _elementwise("cosh")
    sqrt = _elementwise("sqrt")
    rsqrt = _elementwise("rsqrt")
    abs = _elementwise("abs")
    sign = _elementwise("sign")
    reciprocal = _elementwise("reciprocal")
    floor = _elementwise("floor")
    ceil = _elementwise("ceil")
    round = _elementwise("round")
    trunc = _elementwise("trunc")
    frac = _elementwise("frac")

    def clamp(self, min: Any = None, max: Any = None) -> Any:
        """Elements between two bounds, of which one may be left out."""
        return F.Clamp(
            None if min is None else check_number("clamp", min),
            None if max is None else check_number("clamp", max),
        )(self)

    def fmod(self, divisor: Any) -> Any:
        """The rest of a division by a number, with the sign of the element."""
        return F.Fmod(check_number("fmod", divisor))(self)

    def remainder(self, divisor: Any) -> Any:
        """The rest of a division by a number, with the sign of the divisor."""
        return F.Remainder(check_number("remainder", divisor))(self)

    def lerp(self, end: Any, weight: Any) -> Any:
        """``self + weight (end - self)``."""
        return F.Lerp(check_number("lerp", weight))(self, end)

    def addcmul(self, *args: Any) -> Any:
        """``addcmul([scale,] a, b)`` is ``self + scale a b``."""
        scale, a, b = _scaled("addcmul", args)
        return F.Addcmul(scale)(self, a, b)

    def addcdiv(self, *args: Any) -> Any:
        """``addcdiv([scale,] a, b)`` is ``self + scale a / b``."""
        scale, a, b = _scaled("addcdiv", args)
        return F.Addcdiv(scale)(self, a, b)

    # Comparisons --------------------------------------------------------------------------------

    eq = _comparison("eq")
    ne = _comparison("ne")
    gt = _comparison("gt")
    ge = _comparison("ge")
    lt = _comparison("lt")
    le = _comparison("le")

    # Operators ----------------------------------------------------------------------------------

    __add__ = __radd__ = add
    __iadd__ = add_
    __sub__ = sub
    __isub__ = sub_
    __mul__ = __rmul__ = mul
    __imul__ = mul_
    __truediv__ = __div__ = div
    __itruediv__ = __idiv__ = div_
    __pow__ = pow
    __mod__ = remainder
    __neg__ = neg
    __eq__ = eq  # type: ignore[assignment]
    __ne__ = ne  # type: ignore[assignment]
    __gt__ = gt
    __ge__ = ge
    __lt__ = lt
    __le__ = le
    __hash__ = VariableBase.__hash__

    def __rsub__(self, other: Any) -> Any:
        return F.SubConstant(check_number("sub", other), sub_tensor=True)(self)

    def __rtruediv__(self, other: Any) -> Any:
        return F.DivConstant(check_number("div", other), div_by_tensor=True)(self)

    __rdiv__ = __rtruediv__

    def __rpow__(self, other: Any) -> Any:
        return F.PowConstant(check_number("pow", other), tensor_power=True)(self)

    def __ipow__(self, other: Any) -> Any:  # type: ignore[misc]
        raise NotImplementedError("in-place pow not implemented; use x = x ** y")

    def __abs__(self) -> Any:
        return F.Abs()(self)


def _scaled(name: str, args: tuple[Any, ...]) -> Any:
    """(scale, a, b) of ``([scale,] a, b)``."""
    if len(args) == 2:
        return 1, *args
    if len(args) == 3 and is_number(args[0]):
        return args
    raise TypeError(f"{name}: expected ([scale,] Variable, Variable), got {len(args)} arguments")
