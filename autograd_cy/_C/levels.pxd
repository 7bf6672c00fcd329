# cython: language_level=3
"""Wrappers of vmap and levels of forward mode: taking a tensor apart, level by level."""
from autograd_cy._C.tensor cimport Tensor, ForwardLevel

cdef int batch_level(Tensor t) noexcept                     # of a wrapper, else -1
cdef int top_level(tuple tensors) except -2
cdef bint is_batched(Tensor t, int level) noexcept          # its examples differ
cdef bint any_batched(tuple tensors, int level) noexcept
cdef Tensor lift(Tensor t, int level)                       # all examples share t
cdef Tensor lowered(Tensor t, int level)                    # what operators below `level` see
cdef tuple all_lowered(tuple tensors, int level)
cdef Tensor place_alias(Tensor t)                           # same place in the graph, no tangents
cdef Tensor primal_of(Tensor t)                             # without the innermost tangent
cdef Tensor primal_at(Tensor t, ForwardLevel level)         # without the tangent of `level`
cdef Tensor tangent_at(Tensor t, ForwardLevel level)        # None if there is none
cdef bint below_level(Tensor t, ForwardLevel level) noexcept
