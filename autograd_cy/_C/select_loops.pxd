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
    # How many runs of equal elements there are, if `values` is NULL. Else the first element of each
    # of so many, and, where they are not NULL, the number of the run of each element and the sizes
    # of runs.
    Py_ssize_t (*runs)(int dt, Py_ssize_t item, const char* a, Py_ssize_t n, Py_ssize_t count,
                       char* values, int64_t* numbers, int64_t* sizes) noexcept nogil
