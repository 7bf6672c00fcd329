# cython: language_level=3
"""Composites of the family dropout: records in autograd_cy/ops/dropout.py name them."""
from libc.math cimport sqrt
from autograd_cy._C.tensor cimport Tensor, wrap_double, wrap_int
include "operators_of_dropout_composites.pxi"

# What selu approaches on the left, negated: its alpha times its scale.
cdef double LIMIT = 1.7580993408473766


cdef bint idle(Tensor a, double p, bint train) except -1:
    """Nothing is dropped."""
    if not 0.0 <= p <= 1.0:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p:g}")
    return not train or p == 0 or a.count == 0


cdef Tensor feature_dropout(Tensor a, double p, bint train):
    cdef Tensor mask
    if idle(a, p, train):
        return a
    mask = T._channel_mask(a, 1 - p)
    return T.mul(a, mask if p == 1 else T.div(mask, wrap_double(1 - p)))


cdef Tensor blended(Tensor a, Tensor mask, double p):
    """
    Write -LIMIT where the mask is 0, then apply an affine map that restores mean 0 and variance 1.

    Of a variable with these, q of which are kept: the mean becomes -p LIMIT and the variance
    q (1 + p LIMIT^2).
    """
    cdef double scale = 1 / sqrt((LIMIT * LIMIT * p + 1) * (1 - p))
    cdef Tensor shift = T.add(T.mul(T.sub(mask, wrap_int(1)), wrap_double(LIMIT * scale)),
                              wrap_double(LIMIT * scale * p))
    return T.add(T.mul(a, T.mul(mask, wrap_double(scale))), shift)


cdef Tensor alpha_dropout(Tensor a, double p, bint train):
    if idle(a, p, train):
        return a
    if p == 1:
        return T.mul(a, wrap_int(0))
    return blended(a, T._element_mask(a, 1 - p), p)


cdef Tensor feature_alpha_dropout(Tensor a, double p, bint train):
    if idle(a, p, train):
        return a
    if p == 1:
        return T.mul(a, wrap_int(0))
    return blended(a, T._channel_mask(a, 1 - p), p)
