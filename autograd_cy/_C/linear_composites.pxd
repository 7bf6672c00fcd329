# cython: language_level=3
"""Composites of the family linear."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor flatten_rows(Tensor a)
cdef Tensor weight_gradient(Tensor grad, Tensor x)
cdef Tensor batched_linear(Tensor x, Tensor weight, Tensor bias)
