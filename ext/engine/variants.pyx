# cython: language_level=3
"""Composites of the table that depend on an option, or on the dtype of what they are given.

They call recorded operators through T, so they differentiate by themselves.
"""
from autograd_cy._C.dtypes cimport (
    DT_F16, DT_BF16, DT_F32, dt_is_integral, dt_is_float, dt_object)
from autograd_cy._C.formulas cimport value_like
from autograd_cy._C.iterate cimport result_dtype
from autograd_cy._C.tensor cimport F_WRAPPED, Tensor, wrap_int, wrap_double
include "operators_of_variants.pxi"


cdef Tensor round_decimals(Tensor a, Py_ssize_t decimals):
    """Nearest multiple of a power of ten; negative `decimals` count before the point."""
    cdef Tensor factor = wrap_double(10.0 ** abs(decimals))
    if not dt_is_float(a.dt):
        raise RuntimeError(f"round: decimals are not implemented for tensors of dtype "
                           f"{dt_object(a.dt).name}; convert them first")
    if a.dt == DT_F16 or a.dt == DT_BF16:       # a scaled half may overflow
        return T._to_dtype(round_decimals(T._to_dtype(a, DT_F32), decimals), a.dt)
    if decimals < 0:
        return T.mul(T.round(T.div(a, factor)), factor)
    return T.div(T.round(T.mul(a, factor)), factor)


cdef Tensor fmax(Tensor a, Tensor b):
    if dt_is_integral(result_dtype((a, b))):    # without NaN
        return T.maximum(a, b)
    return T._fmax(a, b)


cdef Tensor fmin(Tensor a, Tensor b):
    if dt_is_integral(result_dtype((a, b))):
        return T.minimum(a, b)
    return T._fmin(a, b)


cdef Tensor heaviside(Tensor a, Tensor values):
    cdef int dt = result_dtype((a, values))
    if not dt_is_integral(dt):
        return T._heaviside(a, values)
    return T.where(T.eq(a, wrap_int(0)), values, T._to_dtype(T.gt(a, wrap_int(0)), dt))


cdef Tensor gather_sparse(Tensor a, Py_ssize_t dim, Tensor index, bint sparse_grad):
    if sparse_grad:
        raise NotImplementedError(
            "gather: sparse_grad=True needs sparse tensors, which there are none of here; leave it "
            "away for a dense gradient")
    return T.gather(a, dim, index)


cdef Tensor scatter_by(Tensor a, Py_ssize_t dim, Tensor index, Tensor source, str reduce):
    """Sums or products with `source`, a tensor or a number, at the indices along a dimension."""
    if reduce != "add" and reduce != "multiply":
        raise RuntimeError(
            f"scatter: reduce argument must be either add or multiply. (got '{reduce}'; "
            "scatter_reduce knows more)")
    if source.flags & F_WRAPPED:
        source = T.expand(value_like(source, a), tuple([index.sizes[i] for i in range(index.nd)]))
    if reduce == "add":
        return T.scatter_add(a, dim, index, source)
    return T.scatter_reduce(a, dim, index, source, "prod", True)


cdef tuple nonzero_tuple(Tensor a, bint as_tuple):
    """One vector of indices for each dimension; a number counts as a vector of one element."""
    if a.nd == 0:
        a = T.reshape(a, (1,))
    return T.unbind(T.nonzero(a), 1)
