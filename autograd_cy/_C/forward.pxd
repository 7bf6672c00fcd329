# cython: language_level=3
"""Forward mode: tangents of results, of views and of what is changed in place."""
from autograd_cy._C.tensor cimport Tensor, ForwardLevel

cdef ForwardLevel forward_level(tuple tensors)      # the level whose tangents are due, or None
cdef bint has_tangent(tuple tensors)                # some tensor has one that counts here
cdef tuple tangents_at(tuple tensors, ForwardLevel level)   # zeros where there is none; None if all
cdef tuple primals_at(tuple tensors, ForwardLevel level)
cdef tuple place_aliases(tuple tensors)
cdef Tensor zero_tangent(Tensor t)
cdef Tensor fit_tangent(Tensor tangent, Tensor result)
cdef int set_tangent(Tensor result, Tensor tangent, ForwardLevel level, Tensor below) except -1
cdef int set_tangents(tuple results, tuple tangents, ForwardLevel level, tuple below) except -1
cdef int refuse_tangent(tuple tensors, str op) except -1
cdef int copy_tangents(Tensor self, Tensor src) except -1    # after src was copied into self
cdef int follow_base(Tensor t) except -1             # a view gets the tangents of its base
cdef Tensor find_tangent(Tensor t, ForwardLevel level)
cdef Tensor without_level(Tensor t, ForwardLevel level)
