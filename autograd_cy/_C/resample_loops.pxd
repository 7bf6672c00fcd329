# cython: language_level=3
# What the compiled copies of resample_loops.pyx offer, handed over as one table in a capsule:
# interpolation over up to three dimensions (fewer have sizes of 1 in front), each by itself.

from libc.stdint cimport int64_t

cdef enum:
    NEAREST = 0
    NEAREST_EXACT = 1
    LINEAR = 2
    CUBIC = 3

# The input has planes of `size`, the result planes of `to`; in channels last, an element is
# one with all its channels. Element o of it is the sum over `taps`
# of weight[d][o * taps + k] times the element index[d][o * taps + k], dimension by dimension.
ctypedef struct Resampling:
    int taps[3]
    Py_ssize_t size[3]
    Py_ssize_t to[3]
    Py_ssize_t c               # channels that lie beside each other; else 1
    const int64_t* index[3]
    const char* weight[3]      # of the dtype of elements

# Rows first to last of the result (all planes counted); `scratch` is for size[2] * c elements.
ctypedef void (*resample_fn)(
    const Resampling* g, const char* a, char* out, char* scratch, Py_ssize_t first,
    Py_ssize_t last) noexcept nogil

# Planes first to last of the gradient.
ctypedef void (*resample_back_fn)(
    const Resampling* g, const char* grad, char* out, char* scratch, Py_ssize_t first,
    Py_ssize_t last) noexcept nogil

# The table of one dimension: `scale` is what the user gave, or 0.
ctypedef void (*resample_table_fn)(
    int mode, bint align, double scale, Py_ssize_t size, Py_ssize_t to, int64_t* index,
    char* weight) noexcept nogil

ctypedef struct ResampleTable:
    resample_fn forward[2]          # float32, float64
    resample_back_fn backward[2]
    resample_table_fn fill[2]
