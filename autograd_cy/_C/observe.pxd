# cython: language_level=3
"""Called around each operator while the global profile bit is set."""

cdef int observe_begin(str op) except -1
cdef int observe_end() except -1
