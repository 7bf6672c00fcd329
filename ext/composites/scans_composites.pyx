# cython: language_level=3
"""Composites of the family scans: records in autograd_cy/ops/scans.py name them."""
from autograd_cy._C.dtypes cimport dt_is_complex, DT_F16
from autograd_cy._C.tensor cimport Tensor, wrap_double, wrap_int
include "operators_of_scans_composites.pxi"


cdef Tensor logarithm(Tensor x, bint positive):
    """log |x| of the elements of one sign; of the others a number of which exp is 0.

    -inf would make NaN of the differences in derivatives of this.
    """
    cdef double nothing = -3e4 if x.dt == DT_F16 else -1e30
    cdef Tensor chosen = T.gt(x, wrap_int(0)) if positive else T.lt(x, wrap_int(0))
    return T.where(chosen, T.log(T.where(chosen, T.abs(x), wrap_int(1))), wrap_double(nothing))


cdef Tensor complex_logarithm(Tensor x):
    """log x, and for zero a number of which exp is 0."""
    cdef Tensor none = T.eq(x, wrap_int(0))
    return T.where(none, wrap_double(-1e30), T.log(T.where(none, wrap_int(1), x)))


cdef Tensor logcumsumexp_backward(Tensor grad, Tensor a, Tensor result, Py_ssize_t dim):
    """sum over j >= i of g_j exp(a_i - r_j)."""
    cdef Tensor part, total = None
    cdef int positive
    if dt_is_complex(a.dt):                     # the conjugate of the derivative
        part = T.flip(T.sub(complex_logarithm(grad), T._conjugate(result)), (dim,))
        return T.exp(T.add(T.flip(T.logcumsumexp(part, dim), (dim,)), T._conjugate(a)))
    for positive in range(2):
        part = T.flip(T.sub(logarithm(grad, positive), result), (dim,))
        part = T.exp(T.add(T.flip(T.logcumsumexp(part, dim), (dim,)), a))
        total = part if total is None else T.sub(part, total)
    return total


cdef Tensor logcumsumexp_moved(Tensor moved, Tensor a, Tensor result, Py_ssize_t dim):
    """sum over i <= j of t_i exp(a_i - r_j)."""
    cdef Tensor part, total = None
    cdef int positive
    if dt_is_complex(a.dt):
        part = T.logcumsumexp(T.add(complex_logarithm(moved), a), dim)
        return T.exp(T.sub(part, result))
    for positive in range(2):
        part = T.logcumsumexp(T.add(logarithm(moved, positive), a), dim)
        part = T.exp(T.sub(part, result))
        total = part if total is None else T.sub(part, total)
    return total
