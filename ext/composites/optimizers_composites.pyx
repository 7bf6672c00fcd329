# cython: language_level=3
"""Composites of the family optimizers: records in autograd_cy/ops/optimizers.py name them."""
from autograd_cy._C.tensor cimport Tensor
include "operators_of_optimizers_composites.pxi"

__all__: list[str] = []


cdef int some(tuple tensors) except -1:
    if not tensors:
        raise RuntimeError("Tensor list must have at least one tensor.")
    return 0


cdef tuple norms(tuple tensors, object order, int dtype):
    some(tensors)
    return tuple([T.norm(<Tensor>t, order, None, False, dtype) for t in tensors])


cdef tuple multiplied(tuple tensors, Tensor other):
    some(tensors)
    for t in tensors:
        T.mul_(<Tensor>t, other)
    return tensors
