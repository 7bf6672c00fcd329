# cython: language_level=3
"""Composites of the family comparison: records in autograd_cy/ops/comparison.py name them."""
from autograd_cy._C.dtypes cimport dt_is_integral, dt_scalar_name
from autograd_cy._C.iterate cimport result_dtype
from autograd_cy._C.tensor cimport Tensor, dims_of, wrap_int
include "operators_of_comparison_composites.pxi"


cdef Tensor fmax(Tensor a, Tensor b, Tensor out):
    if dt_is_integral(result_dtype((a, b))):    # without NaN
        return T.maximum(a, b) if out is None else T.maximum_out(a, b, out)
    return T._fmax(a, b) if out is None else T._fmax_out(a, b, out)


cdef Tensor fmin(Tensor a, Tensor b, Tensor out):
    if dt_is_integral(result_dtype((a, b))):
        return T.minimum(a, b) if out is None else T.minimum_out(a, b, out)
    return T._fmin(a, b) if out is None else T._fmin_out(a, b, out)


cdef Tensor heaviside(Tensor a, Tensor values, Tensor out):
    cdef int dt = result_dtype((a, values))
    if a.dt != values.dt:
        raise RuntimeError(
            "heaviside is not yet implemented for tensors with different dtypes "
            f"({dt_scalar_name(a.dt)} and {dt_scalar_name(values.dt)}); convert one with "
            ".to(dtype).")
    if not dt_is_integral(dt):
        # In place the result must have the shape of the first operand.
        if out is not None and out.dt == dt and (out is not a or values.nd == 0
                                                 or dims_of(values) == dims_of(a)):
            return T._heaviside_out(a, values, out)
        return T._heaviside(a, values)
    return T.where(T.eq(a, wrap_int(0)), values, T._to_dtype(T.gt(a, wrap_int(0)), dt))
