# cython: language_level=3
"""Composites of the family refusal: records in autograd_cy/ops/refusal.py name them."""
from autograd_cy._C.levels cimport batch_level, lowered
from autograd_cy._C.tensor cimport Tensor, scalar_value, F_BATCHED
include "operators_of_refusal_composites.pxi"


cdef Tensor not_implemented(Tensor grad, str name):
    raise NotImplementedError(f"the derivative for '{name}' is not implemented.")


cdef Tensor not_forward(Tensor tangent, str name):
    raise NotImplementedError(
        f"Trying to use forward AD with {name} that does not support it because it has not been "
        "implemented yet. Use reverse mode, or detach the argument.")


cdef Tensor raise_where(Tensor grad, Tensor mask, str text):
    """`grad`, if no element of `mask` is set in any example."""
    while mask.flags & F_BATCHED:
        mask = lowered(mask, batch_level(mask))
    if scalar_value(T.any(mask, None, False)):
        raise RuntimeError(text)
    return grad
