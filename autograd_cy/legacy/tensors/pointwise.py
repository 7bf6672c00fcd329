"""Pointwise operations: equal numbers of elements, one type, and numbers with everything."""

from __future__ import annotations

import autograd_cy as ag
from autograd_cy import Tensor

from .._dispatch import is_variable
from .wrapping import (
    Base,
    _make,
    element_for,
    in_shape_of,
    is_number,
    operand,
    refuse,
    same_dtype,
    scalar_for,
    typename,
    wrap,
)

__all__ = ["Pointwise"]

ANY = "abs neg sign".split()
FLOATING = (
    "acos asin atan ceil cos cosh exp floor frac log log1p reciprocal rsqrt sigmoid sin sinh "
    "sqrt tan tanh trunc"
).split()


def floating_only(t, name):
    """Refuse integers, which have no such operation and aren't promoted."""
    if not t.dtype.is_floating_point:
        raise TypeError(
            f"Type {typename(t)} doesn't implement stateless method {name}; convert it with "
            ".float()"
        )


def _unary(name, floating):
    compute = getattr(ag, name)

    def method(self):
        if floating:
            floating_only(self, name)
        return _make(type(self), compute(self))

    method.__name__ = name
    method.__doc__ = f"The {name} of each element."
    return method


def _unary_(name, floating):
    compute = getattr(ag, name + "_")

    def method(self):
        if floating:
            floating_only(self, name + "_")
        compute(self)
        return self

    method.__name__ = name + "_"
    method.__doc__ = f"The {name} of each element, in place."
    return method


def _scaled(t, args, name):
    """(scale, operand) of ``(value)``, ``(tensor)`` and ``(scale, tensor)``."""
    if len(args) == 1:
        other = args[0]
        if type(other) is not type(t) or other.shape != t.shape:
            other = operand(t, other, name)
        return 1, other
    if len(args) == 2 and is_number(args[0]) and isinstance(args[1], Tensor):
        return scalar_for(t, args[0], name), operand(t, args[1], name)
    return refuse(name, (t, *args), f"([scale,] {typename(t)}) or a number")


def _added(name, args, t, compute):
    scale, other = _scaled(t, args, name)
    if scale == 1:
        return compute(t, other)
    return compute(t, other, alpha=scale)


def _divided(t, other):
    if t.dtype.is_floating_point:
        return ag.div(t, other)
    return ag.div(t, other, rounding_mode="trunc")


def _binary(name, compute):
    def method(self, other):
        # The plain case is spared the questions of `operand`.
        if type(other) is not type(self) or other.shape != self.shape:
            other = operand(self, other, name)
        return _make(type(self), compute(self, other))

    method.__name__ = name
    method.__doc__ = f"Elementwise {name} with a number or a tensor of as many elements."
    return method


def _binary_(name, compute):
    def method(self, other):
        if type(other) is not type(self) or other.shape != self.shape:
            other = operand(self, other, name)
        compute(self, other)
        return self

    method.__name__ = name
    method.__doc__ = f"Elementwise {name} with a number or a tensor, in place."
    return method


def _comparison(name):
    compute = getattr(ag, name)

    def method(self, other):
        if type(other) is not type(self) or other.shape != self.shape:
            other = operand(self, other, name)
        return wrap(compute(self, other))

    method.__name__ = name
    method.__doc__ = "A ByteTensor of 0 and 1."
    return method


def _comparison_(name):
    compute = getattr(ag, name)

    def method(self, other):
        Tensor.copy_(self, compute(self, operand(self, other, name)))
        return self

    method.__name__ = name + "_"
    method.__doc__ = "0 and 1 of the same type, in place."
    return method


def _operator(name):
    """``a + b``: what is no operand is left to the other side, and a Variable refused."""

    def method(self, other):
        if type(other) is type(self):
            return getattr(self, name)(other)
        if is_variable(other):
            refuse(name, (self, other), "tensors on both sides: use Variable(tensor) or .data")
        if not isinstance(other, Tensor) and not is_number(other):
            return NotImplemented
        return getattr(self, name)(other)

    return method


def _in_place(name):
    def method(self, other):
        return getattr(self, name)(other)

    return method


def _logical(name):
    compute = getattr(ag, f"bitwise_{name}")

    def checked(self, other):
        both = isinstance(other, Tensor) and self.dtype is other.dtype is ag.uint8
        if not both:
            raise RuntimeError("logical operations are supported on ByteTensors only")
        return in_shape_of(self, other, name)

    def method(self, other):
        return wrap(compute(self, checked(self, other)))

    def in_place(self, other):
        getattr(ag, f"bitwise_{name}_")(self, checked(self, other))
        return self

    return method, in_place


def _terms(t, args, name):
    """(scale, a, b) of ``([scale,] a, b)``."""
    scale = 1
    if len(args) == 3 and is_number(args[0]):
        scale, *args = args
    if len(args) != 2:
        refuse(name, (t, *args), f"([scale,] {typename(t)}, {typename(t)})")
    a, b = (in_shape_of(t, same_dtype(t, x, name), name) for x in args)
    return scalar_for(t, scale, name), a, b


def _unknown(self, other):
    return NotImplemented


def _refused_power(self, other):
    raise NotImplementedError("in-place pow not implemented; use x.pow_(exponent)")


class Pointwise(Base):
    """The pointwise methods."""

    __slots__ = ()

    def add(self, *args):
        """``add(number)``, ``add(tensor)`` or ``add(scale, tensor)``."""
        return _make(type(self), _added("add", args, self, ag.add))

    def add_(self, *args):
        """``add_(number)``, ``add_(tensor)`` or ``add_(scale, tensor)``."""
        _added("add_", args, self, ag.add_)
        return self

    def sub(self, *args):
        """``sub(number)``, ``sub(tensor)`` or ``sub(scale, tensor)``."""
        return _make(type(self), _added("sub", args, self, ag.sub))

    def sub_(self, *args):
        """``sub_(number)``, ``sub_(tensor)`` or ``sub_(scale, tensor)``."""
        _added("sub_", args, self, ag.sub_)
        return self

    mul = _binary("mul", ag.mul)
    mul_ = _binary_("mul_", ag.mul_)
    div = _binary("div", _divided)

    def div_(self, other):
        """Divide in place; integers are cut towards zero."""
        other = operand(self, other, "div_")
        if self.dtype.is_floating_point:
            ag.div_(self, other)
        else:
            ag.div_(self, other, rounding_mode="trunc")
        return self

    pow = _binary("pow", ag.pow)
    pow_ = _binary_("pow_", ag.pow_)
    fmod = _binary("fmod", ag.fmod)
    fmod_ = _binary_("fmod_", ag.fmod_)
    remainder = _binary("remainder", ag.remainder)
    remainder_ = _binary_("remainder_", ag.remainder_)
    cmul, cdiv = mul, div

    def round(self):
        """Whole numbers; halves go away from zero, as then."""
        if not self.dtype.is_floating_point:
            floating_only(self, "round")
        whole = ag.trunc(self)
        away = ag.ge(ag.abs(ag.sub(self, whole)), 0.5)
        return _make(type(self), ag.where(away, ag.add(whole, ag.sign(self)), whole))

    def round_(self):
        """Whole numbers, in place."""
        Tensor.copy_(self, Pointwise.round(self))
        return self

    def atan2(self, other):
        """The angle of (other, self)."""
        floating_only(self, "atan2")
        return wrap(ag.atan2(self, operand(self, same_dtype(self, other, "atan2"), "atan2")))

    def atan2_(self, other):
        """The angle of (other, self), in place."""
        Tensor.copy_(self, Pointwise.atan2(self, other))
        return self

    def lerp(self, end, weight):
        """``self + weight (end - self)``."""
        floating_only(self, "lerp")
        return wrap(ag.lerp(self, operand(self, same_dtype(self, end, "lerp"), "lerp"), weight))

    def lerp_(self, end, weight):
        """``self + weight (end - self)``, in place."""
        Tensor.copy_(self, Pointwise.lerp(self, end, weight))
        return self

    def clamp(self, min=None, max=None):
        """Elements between two bounds, of which one may be left out."""
        return _make(type(self), ag.clamp(self, *self._bounds(min, max)))

    def clamp_(self, min=None, max=None):
        """Elements between two bounds, in place."""
        ag.clamp_(self, *self._bounds(min, max))
        return self

    def _bounds(self, low, high):
        if low is None and high is None:
            raise ValueError("clamp requires specifying at least one of min and max arguments")
        return tuple(x if x is None else element_for(self, x, "clamp") for x in (low, high))

    def clamp_min(self, value):
        """Elements of at least `value`."""
        return self.clamp(min=value)

    def clamp_min_(self, value):
        """Elements of at least `value`, in place."""
        return self.clamp_(min=value)

    def clamp_max(self, value):
        """Elements of at most `value`."""
        return self.clamp(max=value)

    def clamp_max_(self, value):
        """Elements of at most `value`, in place."""
        return self.clamp_(max=value)

    def addcmul(self, *args):
        """``addcmul([scale,] a, b)`` is ``self + scale a b``."""
        scale, a, b = _terms(self, args, "addcmul")
        return wrap(ag.addcmul(self, a, b, value=scale))

    def addcmul_(self, *args):
        """``addcmul_([scale,] a, b)``, in place."""
        scale, a, b = _terms(self, args, "addcmul_")
        ag.addcmul_(self, a, b, value=scale)
        return self

    def addcdiv(self, *args):
        """``addcdiv([scale,] a, b)`` is ``self + scale a / b``."""
        scale, a, b = _terms(self, args, "addcdiv")
        return wrap(ag.addcdiv(self, a, b, value=scale))

    def addcdiv_(self, *args):
        """``addcdiv_([scale,] a, b)``, in place."""
        scale, a, b = _terms(self, args, "addcdiv_")
        ag.addcdiv_(self, a, b, value=scale)
        return self

    def cmax(self, other):
        """The larger of two, elementwise; what ``max(other)`` calls."""
        if is_number(other):
            return self.clamp(min=other)
        return wrap(ag.maximum(self, operand(self, other, "max")))

    def cmin(self, other):
        """The smaller of two, elementwise; what ``min(other)`` calls."""
        if is_number(other):
            return self.clamp(max=other)
        return wrap(ag.minimum(self, operand(self, other, "min")))

    def equal(self, other):
        """Return whether size and all elements are the same."""
        other = same_dtype(self, other, "equal")
        return self.shape == other.shape and bool(ag.equal(self, other))

    # Operators ------------------------------------------------------------------------------

    __add__ = __radd__ = _operator("add")
    __sub__ = _operator("sub")
    __mul__ = __rmul__ = _operator("mul")
    __truediv__ = __div__ = _operator("div")
    __mod__ = _operator("remainder")
    __pow__ = _operator("pow")
    __eq__ = _operator("eq")
    __ne__ = _operator("ne")
    __lt__ = _operator("lt")
    __le__ = _operator("le")
    __gt__ = _operator("gt")
    __ge__ = _operator("ge")
    __hash__ = object.__hash__
    __iadd__ = _in_place("add_")
    __isub__ = _in_place("sub_")
    __imul__ = _in_place("mul_")
    __itruediv__ = __idiv__ = _in_place("div_")
    __imod__ = _in_place("remainder_")
    __and__, __iand__ = _logical("and")
    __or__, __ior__ = _logical("or")
    __xor__, __ixor__ = _logical("xor")

    __ipow__ = _refused_power

    def __rsub__(self, other):
        if not is_number(other):
            return NotImplemented
        return wrap(ag.rsub(self, scalar_for(self, other, "sub")))

    def __rtruediv__(self, other):
        if not is_number(other):
            return NotImplemented
        other = scalar_for(self, other, "div")
        return wrap(_divided(ag.full_like(self, other), self))

    __rdiv__ = __rtruediv__

    def __rpow__(self, other):
        if not is_number(other):
            return NotImplemented
        return wrap(ag.pow(scalar_for(self, other, "pow"), self))

    # What came later: neither side knows it.
    __floordiv__ = __rfloordiv__ = __ifloordiv__ = __rmod__ = _unknown
    __lshift__ = __rlshift__ = __ilshift__ = __rshift__ = __rrshift__ = __irshift__ = _unknown
    __rand__ = __ror__ = __rxor__ = __rmatmul__ = _unknown

    def __pos__(self):
        return self

    def __neg__(self):
        return self.neg()

    def __abs__(self):
        return self.abs()

    def __invert__(self):
        if self.dtype is not ag.uint8:
            raise RuntimeError("logical operations are supported on ByteTensors only")
        return wrap(ag.rsub(self, 1))

    def __matmul__(self, other):
        if not isinstance(other, Tensor):
            refuse("__matmul__", (self, other), "two tensors, or two Variables")
        dims = self.dim(), other.dim()
        if dims == (1, 1):
            return self.dot(other)
        if dims == (2, 1):
            return self.mv(other)
        if dims == (1, 2):
            return other.t().mv(self)
        if dims == (2, 2):
            return self.mm(other)
        raise ValueError("both arguments to __matmul__ need to be 1D or 2D")


for _name in (*ANY, *FLOATING):
    setattr(Pointwise, _name, _unary(_name, _name in FLOATING))
    setattr(Pointwise, _name + "_", _unary_(_name, _name in FLOATING))
for _name in "eq ne lt le gt ge".split():
    setattr(Pointwise, _name, _comparison(_name))
    setattr(Pointwise, _name + "_", _comparison_(_name))
