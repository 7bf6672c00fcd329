# cython: language_level=3
"""Conjugation and negation that are still to be done; see Note [Lazy bits] in lazy.pyx."""
from libc.stdint cimport uint32_t
from autograd_cy._C.tensor cimport Tensor

cdef uint32_t whole_bits(Tensor base, Tensor view) noexcept
cdef uint32_t window_bits(Tensor base, Tensor view) noexcept
cdef Tensor resolve_bits(Tensor t, uint32_t bits)
cdef Tensor turned_view(Tensor t, uint32_t bits)
# `a` itself where nothing is lazy in it, or only a conjugation, which products of its device read
# as they go (records with `conjugates`); else its values.
cdef Tensor unless_taken(Tensor a)
