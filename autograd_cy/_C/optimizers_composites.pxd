# cython: language_level=3
"""Composites of the family optimizers."""
from autograd_cy._C.tensor cimport Tensor

cdef tuple norms(tuple tensors, object order, int dtype)
cdef tuple multiplied(tuple tensors, Tensor other)
