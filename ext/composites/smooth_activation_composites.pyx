# cython: language_level=3
"""Composites of the family smooth_activation: records in ops/smooth_activation.py name them."""
from autograd_cy._C.tensor cimport Tensor, wrap_int
include "operators_of_smooth_activation_composites.pxi"


cdef Tensor glu_jvp(Tensor a, Tensor tangent, Py_ssize_t dim):
    """With s = sigmoid(b): d(a s) = da s + a s (1 - s) db."""
    cdef Tensor first, gate, da, db, s
    first, gate = T.chunk(a, 2, dim)
    da, db = T.chunk(tangent, 2, dim)
    s = T.sigmoid(gate)
    return T.mul(s, T.add(da, T.mul(T.mul(first, T.sigmoid(T.neg(gate))), db)))


cdef Tensor glu_backward_jvp(Tensor grad, Tensor a, Tensor tangent, Py_ssize_t dim):
    """The gradient g (s, a s') moves by g (s' db, s' da + a s'' db), s'' = s' (1 - 2 s)."""
    cdef Tensor first, gate, da, db, s, derivative, curvature
    first, gate = T.chunk(a, 2, dim)
    da, db = T.chunk(tangent, 2, dim)
    s = T.sigmoid(gate)
    derivative = T.mul(grad, T.mul(s, T.sigmoid(T.neg(gate))))
    curvature = T.sub(wrap_int(1), T.mul(wrap_int(2), s))
    return T.cat((T.mul(derivative, db),
                  T.mul(derivative, T.add(da, T.mul(T.mul(first, curvature), db)))), dim)
