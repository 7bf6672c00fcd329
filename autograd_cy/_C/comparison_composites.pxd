# cython: language_level=3
"""Composites of the family comparison."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor fmax(Tensor a, Tensor b)
cdef Tensor fmin(Tensor a, Tensor b)
cdef Tensor heaviside(Tensor a, Tensor values)
