# cython: language_level=3
"""Arguments that an operator changes beside its results, as running statistics."""
from libc.stdint cimport uint32_t

# `changed` are these arguments, or None; `every` has all tensors of the call.
cdef int before_change(tuple changed, tuple every, uint32_t flags, str op) except -1
cdef int after_change(tuple changed, str node) except -1
