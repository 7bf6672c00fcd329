# cython: language_level=3
"""Constant tensors outside of the graph."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor filled(Tensor a, int dt, tuple size, object value)
cdef Tensor index_vector(Tensor a, list places)
