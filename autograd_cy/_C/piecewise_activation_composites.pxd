# cython: language_level=3
"""Composites of the family piecewise_activation."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor prelu(Tensor a, Tensor weight)
