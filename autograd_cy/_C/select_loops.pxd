# cython: language_level=3
"""The table of functions that each compiled copy of select_loops.pyx offers to indexing.pyx, in a
capsule."""
from libc.stdint cimport int64_t, uint64_t

ctypedef struct SelectTable:
    # All need a scratch of 16 bytes for each element. The place of the median, the lower of two:
    int64_t (*median)(int dt, const char* a, Py_ssize_t step, Py_ssize_t n, bint skip_nan,
                      char* scratch) noexcept nogil
    # The place of one rank among the sorted elements, of which equal ones keep their order.
    int64_t (*ranked)(int dt, const char* a, Py_ssize_t step, Py_ssize_t n, Py_ssize_t rank,
                      char* scratch) noexcept nogil
    # The first k of the sorted elements, or of the largest, in the order of their places: pairs of
    # a key and a place, whose keys go up.
    void (*first)(int dt, const char* a, Py_ssize_t step, Py_ssize_t n, Py_ssize_t k,
                  bint largest, char* scratch, uint64_t* pairs) noexcept nogil
