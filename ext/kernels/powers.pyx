# cython: language_level=3
"""Powers, quotients and logit of plain tensors; usual exponents have own kernels."""
from libc.math cimport NAN
from autograd_cy._C.dtypes cimport dt_is_integral
from autograd_cy._C.rules_common cimport check_no_integer_zero
from autograd_cy._C.iterate cimport (
    ew1, ew2, ew3, clone_plain, result_dtype, P_BOOL, P_FLOAT, P_SAME, P_SKIP_FIRST)
from autograd_cy._C.kernel_table cimport kernel_number
from autograd_cy._C.tensor cimport Tensor, element_value, wrap_double, wrap_int, F_WRAPPED

cdef int K_COPY = kernel_number("copy")
cdef int K_CUBE = kernel_number("cube")
cdef int K_DIV = kernel_number("div")
cdef int K_EQ = kernel_number("eq")
cdef int K_FLOOR_DIVIDE = kernel_number("floor_divide")
cdef int K_FMOD = kernel_number("fmod")
cdef int K_LOGIT = kernel_number("logit")
cdef int K_LOGICAL_AND = kernel_number("logical_and")
cdef int K_POW = kernel_number("pow")
cdef int K_RECIPROCAL = kernel_number("reciprocal")
cdef int K_RSQRT = kernel_number("rsqrt")
cdef int K_SQRT = kernel_number("sqrt")
cdef int K_SQUARE = kernel_number("square")
cdef int K_SUB = kernel_number("sub")
cdef int K_TRUNC_DIVIDE = kernel_number("trunc_divide")
cdef int K_WHERE = kernel_number("where")


cdef int kernel_for(double exponent) noexcept:
    if exponent == 2.0:
        return K_SQUARE
    if exponent == 3.0:
        return K_CUBE
    if exponent == 0.5:
        return K_SQRT
    if exponent == -0.5:
        return K_RSQRT
    if exponent == -1.0:
        return K_RECIPROCAL
    return -1


cdef Tensor pow_plain(Tensor a, Tensor exponent, Tensor out):
    cdef int kernel
    if exponent.flags & F_WRAPPED and not dt_is_integral(a.dt) and not (a.flags & F_WRAPPED):
        value = element_value(exponent.ptr, exponent.dt)
        if not isinstance(value, complex):
            if value == 1:
                return clone_plain(a) if out is None else ew1(K_COPY, a, P_SAME, out, "pow")
            kernel = kernel_for(value)
            if kernel >= 0:
                return ew1(kernel, a, P_SAME, out, "pow")
    return ew2(K_POW, a, exponent, P_SAME, out, "pow")


cdef Tensor logit_plain(Tensor a, object eps, Tensor out):
    return ew2(K_LOGIT, a, wrap_double(NAN if eps is None else eps), P_FLOAT, out, "logit")


cdef Tensor div_rounded_plain(Tensor a, Tensor b, str mode, Tensor out):
    """The quotient rounded towards zero ("trunc") or down ("floor"); integers stay integers."""
    cdef Tensor rest
    if mode != "trunc" and mode != "floor":
        raise RuntimeError(
            "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found "
            f"'{mode}'")
    check_no_integer_zero(a, b)
    if mode == "floor":
        return ew2(K_FLOOR_DIVIDE, a, b, P_SAME, out, "div")
    if dt_is_integral(result_dtype((a, b))):
        rest = ew2(K_FMOD, a, b, P_SAME, None, "div")      # of the sign of a: the rest divides
        rest = ew2(K_SUB, a, rest, P_SAME, None, "div")
        return ew2(K_FLOOR_DIVIDE, rest, b, P_SAME, out, "div")
    return ew2(K_TRUNC_DIVIDE, a, b, P_SAME, out, "div")


cdef Tensor over_plain(Tensor a, Tensor b):
    """a / b, and 0 where both are 0."""
    cdef Tensor zero = wrap_int(0)
    cdef Tensor left = ew2(K_EQ, a, zero, P_BOOL, None, "div")
    cdef Tensor right = ew2(K_EQ, b, zero, P_BOOL, None, "div")
    cdef Tensor both = ew2(K_LOGICAL_AND, left, right, P_BOOL, None, "div")
    a = ew2(K_DIV, a, b, P_SAME, None, "div")
    return ew3(K_WHERE, both, zero, a, P_SKIP_FIRST, None, "div")
