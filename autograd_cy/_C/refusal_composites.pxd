# cython: language_level=3
"""Composites of the family refusal."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor not_implemented(Tensor grad, str name)
cdef Tensor not_forward(Tensor tangent, str name)
