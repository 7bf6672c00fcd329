# cython: language_level=3
"""Conjugation and negation that are still to be done; see Note [Lazy bits] in lazy.pyx."""
from libc.stdint cimport uint32_t
from autograd_cy._C.tensor cimport Tensor

cdef uint32_t whole_bits(Tensor base, Tensor view) noexcept
cdef uint32_t window_bits(Tensor base, Tensor view) noexcept
cdef Tensor turned(Tensor t, uint32_t bits)
cdef Tensor turned_view(Tensor t, uint32_t bits)
