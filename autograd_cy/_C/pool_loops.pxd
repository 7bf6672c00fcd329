# cython: language_level=3
# What the compiled copies of pool_loops.pyx offer, handed over as one table in a capsule: pooling
# over up to three dimensions (fewer have sizes of 1 in front). Planes, the parts of a tensor that
# are pooled, lie side by side, and so do the elements of a plane.

from libc.stdint cimport int64_t

from autograd_cy._C.dtypes cimport DTYPES

# Windows along dimension d: those of step s[d] and kernel k[d], whose elements are e[d] apart and
# which begin p[d] before the first element; or, if `adaptive`, out[d] nearly equal parts.
ctypedef struct PoolShape:
    Py_ssize_t size[3]
    Py_ssize_t out[3]
    Py_ssize_t k[3]
    Py_ssize_t s[3]
    Py_ssize_t p[3]
    Py_ssize_t e[3]
    bint adaptive
    bint with_pad          # averages count the padding, too
    Py_ssize_t divisor     # of averages; 0: the number of elements
    Py_ssize_t c           # channels of a place, for the functions that go by places

# Rows first to last (all planes counted) of the result; index, if it is not NULL: where in its
# plane each element was.
ctypedef void (*max_rows_fn)(
    const PoolShape* g, const char* a, char* out, int64_t* index, Py_ssize_t first,
    Py_ssize_t last) noexcept nogil

# Rows first to last of the result, or of the gradient of the averaged tensor.
ctypedef void (*rows_fn)(
    const PoolShape* g, const char* a, char* out, Py_ssize_t first,
    Py_ssize_t last) noexcept nogil

# Planes first to last of the gradient.
ctypedef void (*planes_fn)(
    const PoolShape* g, const char* grad, char* out, Py_ssize_t first,
    Py_ssize_t last) noexcept nogil

# out[index] += grad in each plane of `size` elements; `count` of grad belong to one.
ctypedef void (*put_fn)(
    const char* grad, const int64_t* index, char* out, Py_ssize_t size, Py_ssize_t count,
    Py_ssize_t first, Py_ssize_t last) noexcept nogil

cdef enum:
    PUT_BLOCK = 64

ctypedef struct PoolTable:
    max_rows_fn max_rows[DTYPES]
    rows_fn avg_rows[DTYPES]
    rows_fn avg_back_rows[DTYPES]      # only if by_rows
    planes_fn avg_back_planes[DTYPES]
    put_fn put[DTYPES]
    # The same in channels last, for places of the results with all their channels.
    max_rows_fn max_places[DTYPES]
    rows_fn avg_places[DTYPES]
    rows_fn avg_back_places[DTYPES]
    max_rows_fn put_places[DTYPES]     # a gradient, out, index; blocks of PUT_BLOCK channels
    bint (*by_rows)(const PoolShape* g) noexcept nogil
