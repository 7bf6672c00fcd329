# cython: language_level=3
"""Composites of the family elementary."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor deg2rad(Tensor a, Tensor out)
cdef Tensor rad2deg(Tensor a, Tensor out)
