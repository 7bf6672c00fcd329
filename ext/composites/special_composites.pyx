# cython: language_level=3
"""Composites of the family special: records in autograd_cy/ops/special.py name them."""
from libc.math cimport NAN
from autograd_cy._C.tensor cimport Tensor, wrap_double, wrap_int
include "operators_of_special_composites.pxi"


cdef Tensor logit_backward(Tensor grad, Tensor a, object eps):
    cdef Tensor one = wrap_int(1)
    cdef Tensor derivative = T.div(grad, T.mul(a, T.sub(one, a)))
    cdef double low = 0.0 if eps is None else eps
    return T.where(T.logical_or(T.lt(a, wrap_double(low)), T.gt(a, wrap_double(1.0 - low))),
                   wrap_double(NAN if eps is None else 0.0), derivative)
