# cython: language_level=3
"""Checks of values on the CPU, as launches of kind CHECK.

Each looks at memory, writes nothing, and raises the exception of `fault_error` for the first value
that it refuses; a replay of it does the same. What it checks must be written after it.
"""
from libc.stdint cimport int64_t
from autograd_cy._C.tensor cimport Tensor

# low <= k < size for all elements of a dense int64 tensor; `op` and `dim` are what the text needs.
cdef int check_range(Tensor t, int64_t low, int64_t size, int kind, const char* op,
                     int64_t dim) except -1
# The same of indices that count from 0.
cdef int check_indices(Tensor index, int64_t size, int kind, const char* op, int64_t dim) except -1
# No integer is 0 in its lowest `width` bytes; any strides.
cdef int check_no_zero(Tensor t, int width) except -1
