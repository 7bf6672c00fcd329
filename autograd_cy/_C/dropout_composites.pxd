# cython: language_level=3
"""Composites of the family dropout."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor feature_dropout(Tensor a, double p, bint train)
cdef Tensor alpha_dropout(Tensor a, double p, bint train)
cdef Tensor feature_alpha_dropout(Tensor a, double p, bint train)
