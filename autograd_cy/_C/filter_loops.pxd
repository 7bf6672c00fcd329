# cython: language_level=3
# What the compiled copies of filter_loops.pyx offer, handed over as one table in a capsule: sums of
# neighbours along one dimension, each element of the result with weights of its own.

from libc.stdint cimport int64_t

cdef enum:
    LANES = 16                 # planes of bytes that are filtered together

# Element o of the result is the sum of weight[o * taps + k] times element bounds[2 * o] + k, up to
# and without bounds[2 * o + 1]. An element is a row of `inner` numbers.
ctypedef struct Filter:
    Py_ssize_t size            # elements of the input
    Py_ssize_t to              # of the result
    Py_ssize_t inner
    Py_ssize_t taps
    int bits                   # of bytes: what weights are multiplied by, as a power of two
    const int64_t* bounds
    const char* weight         # float, double, or int16 for bytes

# Rows first to last of the result: elements of all planes, or planes where `inner` is 1, of bytes
# less than LANES; `scratch` is for LANES planes of the input and of the result then.
ctypedef void (*filter_fn)(
    const Filter* f, const char* a, char* out, void* scratch, Py_ssize_t first,
    Py_ssize_t last) noexcept nogil

# Planes first to last of the gradient.
ctypedef void (*filter_back_fn)(
    const Filter* f, const char* grad, char* out, Py_ssize_t first,
    Py_ssize_t last) noexcept nogil

ctypedef struct FilterTable:
    filter_fn forward[3]            # float32, float64, uint8
    filter_back_fn backward[2]
