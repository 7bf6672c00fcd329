# cython: language_level=3
"""Conjugation that a kernel does while it reads, so that a lazy conjugate needs no copy before."""
from autograd_cy._C.tensor cimport Tensor

# `a` itself where nothing is lazy in it, or only a conjugation, which products of its device read
# as they go; else its values (iterate.resolved).
cdef Tensor unless_taken(Tensor a)
