# cython: language_level=3
"""Composites of the family special."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor logit_backward(Tensor grad, Tensor a, object eps)
