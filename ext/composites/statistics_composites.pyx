# cython: language_level=3
"""Composites of the family statistics: records in autograd_cy/ops/statistics.py name them."""
from autograd_cy._C.metadata cimport count_reduced
from autograd_cy._C.tensor cimport Tensor, dims_of, wrap_double, wrap_int
include "operators_of_statistics_composites.pxi"


cdef double freedom(Tensor a, object dim, double correction) except? -1.0:
    """Return the divisor of the sum of squares."""
    return count_reduced(dims_of(a), dim) - correction


cdef Tensor var_mean_backward(Tensor var, Tensor mean, Tensor a, object dim, double correction,
                              bint keepdim):
    """`var` and `mean` are gradients, None where there is none."""
    cdef Tensor r = None
    cdef tuple shape = dims_of(a)
    cdef double n
    if var is not None:
        n = freedom(a, dim, correction)
        var = T.mul(var, wrap_double(2.0 / n if n > 0 else float("inf")))
        r = T.mul(T._expand_reduced(var, shape, dim, keepdim),
                  T.sub(a, T.mean_dim(a, dim, True, -1)))
    if mean is not None:
        mean = T.div(mean, wrap_int(count_reduced(shape, dim)))
        mean = T._expand_reduced(mean, shape, dim, keepdim)
        r = mean if r is None else T.add(r, mean)
    return r


cdef Tensor var_jvp(Tensor tangent, Tensor a, object dim, double correction, bint keepdim):
    """The tangent of the variance."""
    cdef double n = freedom(a, dim, correction)
    cdef Tensor r = T.mul(tangent, T.conj(T.sub(a, T.mean_dim(a, dim, True, -1))))
    r = T.sum_dim(T.real(r), dim, keepdim, -1)
    return T.mul(r, wrap_double(2.0 / n if n > 0 else float("inf")))


cdef Tensor of_root(Tensor tangent, Tensor root):
    """A gradient or tangent through the square root `root`; 0 where that is 0."""
    cdef Tensor none = T.eq(root, wrap_int(0))
    return T.where(none, wrap_int(0),
                   T.div(tangent, T.mul(T.where(none, wrap_int(1), root), wrap_int(2))))


cdef Tensor std_mean_backward(Tensor std, Tensor mean, Tensor root, Tensor a, object dim,
                              double correction, bint keepdim):
    if std is not None:
        std = of_root(std, root)
    return var_mean_backward(std, mean, a, dim, correction, keepdim)
