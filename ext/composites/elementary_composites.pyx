# cython: language_level=3
"""Composites of the family elementary: records in autograd_cy/ops/elementary.py name them."""
from autograd_cy._C.dtypes cimport dt_is_complex
from autograd_cy._C.tensor cimport Tensor, wrap_double
include "operators_of_elementary_composites.pxi"


cdef Tensor convert_angle(Tensor a, double factor, Tensor out, str op):
    """An angle in other units."""
    if dt_is_complex(a.dt):
        raise RuntimeError(f"{op} is not supported for complex tensors.")
    if out is not None:
        return T.mul_out(a, wrap_double(factor), out)
    return T.mul(a, wrap_double(factor))


cdef Tensor deg2rad(Tensor a, Tensor out):
    return convert_angle(a, 0.017453292519943295, out, "deg2rad")


cdef Tensor rad2deg(Tensor a, Tensor out):
    return convert_angle(a, 57.29577951308232, out, "rad2deg")
