# cython: language_level=3
"""Powers of plain tensors: the usual exponents have kernels of their own, ten times faster."""
from autograd_cy._C.dtypes cimport dt_is_float
from autograd_cy._C.iterate cimport ew1, ew2, clone_plain
from autograd_cy._C.kernel_ids cimport K_CUBE, K_POW, K_RECIPROCAL, K_RSQRT, K_SQRT, K_SQUARE
from autograd_cy._C.tensor cimport Tensor, element_value, F_WRAPPED


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


cdef Tensor pow_plain(Tensor a, Tensor exponent):
    cdef int kernel
    if exponent.flags & F_WRAPPED and dt_is_float(a.dt) and not (a.flags & F_WRAPPED):
        value = element_value(exponent.ptr, exponent.dt)
        if not isinstance(value, complex):
            if value == 1:
                return clone_plain(a)
            kernel = kernel_for(value)
            if kernel >= 0:
                return ew1(kernel, a, 0, None, "pow")
    return ew2(K_POW, a, exponent, 0, None, "pow")
