# cython: language_level=3
"""Composites of the family complex."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor dense_pairs(Tensor a)
cdef Tensor resolve_conj(Tensor a)
cdef Tensor resolve_neg(Tensor a)
cdef Tensor real_part(Tensor a)
cdef Tensor imag_part(Tensor a)
cdef Tensor adjoint(Tensor a)
