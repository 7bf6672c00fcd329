# cython: language_level=3
"""Composites of the family rectifier."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor prelu(Tensor a, Tensor weight)
