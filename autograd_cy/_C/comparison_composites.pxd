# cython: language_level=3
"""Composites of the family comparison."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor fmax(Tensor a, Tensor b, Tensor out)
cdef Tensor fmin(Tensor a, Tensor b, Tensor out)
cdef Tensor heaviside(Tensor a, Tensor values, Tensor out)
