# cython: language_level=3
"""The table of functions that each compiled copy of select_loops.pyx offers to indexing.pyx, in a
capsule."""
from libc.stdint cimport int64_t

ctypedef struct SelectTable:
    # The place of the median, the lower of two; `scratch` is 16 bytes for each element.
    int64_t (*median)(int dt, const char* a, Py_ssize_t step, Py_ssize_t n, bint skip_nan,
                      char* scratch) noexcept nogil
