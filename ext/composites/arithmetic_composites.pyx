# cython: language_level=3
"""Composites of the family arithmetic: records in autograd_cy/ops/arithmetic.py name them."""
from autograd_cy._C.arguments cimport operand_arg
from autograd_cy._C.dtypes cimport (
    dt_category, dt_is_complex, dt_is_float, dt_is_integral, dt_object, dt_scalar_name,
    dt_to_complex, g_default_dtype, DT_BF16, DT_BOOL, DT_C128, DT_F16, DT_F32, DT_F64)
from autograd_cy._C.iterate cimport result_dtype
from autograd_cy._C.launch cimport captures_here
from autograd_cy._C.metadata cimport is_number, number_of
from autograd_cy._C.tensor cimport (
    F_DEVICE, F_SLOW, M_NO_GRAD, Tensor, bump_version, install, requires_grad, scalar_value,
    tls_modes, wrap_double, wrap_number)
from autograd_cy._C.dtypes import finfo as _finfo
from autograd_cy._C.halves cimport is_half
from libc.math cimport isfinite
include "operators_of_arithmetic_composites.pxi"


cdef Tensor positive(Tensor a):
    if a.dt == DT_BOOL:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return a


cdef Tensor first_power(Tensor a):
    """`a`, as a power where that is recorded: derivatives of powers end with zeros."""
    if tls_modes() & M_NO_GRAD or not requires_grad(a):
        return a
    return T.pow(a, wrap_double(1.0))


cdef Tensor as_complex(Tensor a):
    """A real tensor, or the number that it stands for, as a complex one."""
    if dt_is_complex(a.dt):
        return a
    if is_number(a):
        return wrap_number(complex(number_of(a)))
    return T._to_dtype(a, dt_to_complex(a.dt if dt_category(a.dt) == 2 else g_default_dtype))


cdef Tensor nan_to_num(Tensor a, object nan, object posinf, object neginf, Tensor out):
    """Limits of the dtype stand for infinities, zero for NaN, where nothing else is given."""
    cdef Tensor r, low, least
    if dt_is_integral(a.dt):
        if out is a:
            bump_version(a)
            return a
        return T.clone(a, -1)
    if dt_is_complex(a.dt):
        # By parts. What was replaced in some part has no gradient; torch has none at all.
        r = T.nan_to_num(T.view_as_real(T.detach(T.resolve_conj(a))), nan, posinf, neginf)
        r = T.view_as_complex(r)
        low = T.eq(T.sub(a, a), wrap_double(0.0))       # finite ones
        if out is not None and out.dt == a.dt:
            return T.where_out(low, a, r, out)
        return T.where(low, a, r)
    # No sum with a NaN or an infinity is finite: where it is, nothing is to be replaced. That is
    # worth a look where the value is at hand.
    if (out is None and not captures_here() and not a.flags & (F_SLOW | F_DEVICE)
            and (tls_modes() & M_NO_GRAD or not requires_grad(a))
            and isfinite(scalar_value(T.sum(a, DT_F32 if is_half(a.dt) else -1)))):
        return T.clone(a, -1)
    limits = _finfo(dt_object(a.dt))
    r = T.where(T.ne(a, a), wrap_number(0.0 if nan is None else nan), a)   # only NaN differs
    r = T.where(T.eq(a, wrap_double(float("inf"))),
                wrap_number(limits.max if posinf is None else posinf), r)
    low = T.eq(a, wrap_double(float("-inf")))
    least = wrap_number(limits.min if neginf is None else neginf)
    if out is not None and out.dt == a.dt:
        return T.where_out(low, least, r, out)
    return T.where(low, least, r)


cdef Tensor round_decimals(Tensor a, Py_ssize_t decimals, Tensor out):
    """Nearest multiple of a power of ten; negative `decimals` count before the point."""
    cdef Tensor factor = wrap_double(10.0 ** abs(decimals))
    if not dt_is_float(a.dt):
        raise NotImplementedError(f"round: decimals are not implemented for tensors of dtype "
                                  f"{dt_scalar_name(a.dt)}; convert them first")
    if a.dt == DT_F16 or a.dt == DT_BF16:       # a scaled half may overflow
        return T._to_dtype(round_decimals(T._to_dtype(a, DT_F32), decimals, None), a.dt)
    a = T.round(T.div(a, factor) if decimals < 0 else T.mul(a, factor))
    if out is not None and out.dt == a.dt:
        return T.mul_out(a, factor, out) if decimals < 0 else T.div_out(a, factor, out)
    return T.mul(a, factor) if decimals < 0 else T.div(a, factor)


cdef Tensor in_dtype(Tensor a, int dt):
    """An operand of float_power; numbers stay numbers, which take the dtype of the other one."""
    return a if a.dt == dt or is_number(a) else T._to_dtype(a, dt)


cdef int float_power_dtype(Tensor a, Tensor exponent) noexcept:
    return DT_C128 if dt_is_complex(a.dt) or dt_is_complex(exponent.dt) else DT_F64


cdef Tensor float_power(Tensor a, Tensor exponent, Tensor out):
    cdef int dt = float_power_dtype(a, exponent)
    a = in_dtype(a, dt)
    exponent = in_dtype(exponent, dt)
    if out is not None and out.dt == dt and result_dtype((a, exponent)) == dt:
        return T.pow_out(a, exponent, out)
    return T.pow(a, exponent)


def float_power_(Tensor self not None, exponent):
    """
    In-place form of :func:`float_power`; changes and returns the first argument.

    Parameters
    ----------
    exponent : Tensor or Number
        The power.

    Raises
    ------
    RuntimeError
        If this tensor isn't of the dtype of the result, float64 or complex128.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.tensor([2.0, 3.0], dtype=ag.float64).float_power_(2)
    tensor([4., 9.], dtype=autograd_cy.float64)
    """
    cdef Tensor power = operand_arg(exponent, "float_power_", "exponent", 1)
    cdef int dt = float_power_dtype(self, power)
    if self.dt != dt:
        raise RuntimeError(
            f"the base given to float_power_ has dtype {dt_scalar_name(self.dt)} but the "
            f"operation's result requires dtype {dt_scalar_name(dt)}; use float_power()")
    return T.pow_(self, in_dtype(power, dt))


install(Tensor, "float_power_", float_power_)
