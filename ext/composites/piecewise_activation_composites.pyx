# cython: language_level=3
"""Composites of the family piecewise_activation, which records in ops name."""
from autograd_cy._C.dtypes cimport dt_scalar_name
from autograd_cy._C.tensor cimport Tensor
include "operators_of_piecewise_activation_composites.pxi"


cdef Tensor prelu(Tensor a, Tensor weight):
    """One slope, or one for each channel."""
    cdef Py_ssize_t channels
    if a.dt != weight.dt:
        raise RuntimeError(f"prelu: Type promoting not supported. Got {dt_scalar_name(a.dt)} and "
                           f"{dt_scalar_name(weight.dt)}")
    if weight.nd > 1 and weight.count == 1:
        raise RuntimeError("prelu: Expected `weight` to be a scalar or 1D tensor, but got: "
                           f"ndim = {weight.nd}")
    if weight.count != 1:
        if a.nd == 0:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = a.sizes[1] if a.nd > 1 else 1
        if weight.count != channels:
            raise RuntimeError(
                "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                f"{weight.count} and channel size = {channels}.")
        if weight.nd > 1:
            raise RuntimeError("prelu: Expected `weight` to be a scalar or 1D tensor, but got: "
                               f"ndim = {weight.nd}")
    if a.nd > 1:
        weight = T.reshape(weight, (1, -1) + (1,) * (a.nd - 2))
    elif weight.nd != a.nd:
        weight = T.reshape(weight, (1,) * a.nd)
    return T._prelu_kernel(a, weight)
