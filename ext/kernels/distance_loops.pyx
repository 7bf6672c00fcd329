# cython: language_level=3
# build: simd cold
# Distances of all rows of one matrix from all rows of another, compiled once per instruction set.
# The second matrix comes transposed, its rows filled up to whole groups of columns: vectors hold
# the distances of one row from several others (distance_lanes.h).

from cpython.buffer cimport (
    PyBUF_FORMAT, PyBUF_STRIDES, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer)

from autograd_cy._C.parallel cimport parallel_for, team_size
from autograd_cy._C.sizes cimport parts

cdef extern from "<math.h>" nogil:
    double sqrt(double)
    float sqrtf(float)

cdef extern from "distance_lanes.h" nogil:
    int AG_SQUARES
    void ag_distances_f32(
        int kind, Py_ssize_t rows, Py_ssize_t size, const float* x, const float* y,
        Py_ssize_t filled, float* out, Py_ssize_t columns)
    void ag_distances_f64(
        int kind, Py_ssize_t rows, Py_ssize_t size, const double* x, const double* y,
        Py_ssize_t filled, double* out, Py_ssize_t columns)

cdef enum:
    TILE_ROWS = 8

ctypedef fused real_t:
    float
    double


cdef struct Plan:
    int kind
    bint wide
    const char* x
    const char* y
    char* out
    Py_ssize_t rows
    Py_ssize_t size
    Py_ssize_t columns
    Py_ssize_t filled       # columns of y


cdef inline void some_rows(const Plan* p, Py_ssize_t first, Py_ssize_t rows, const real_t* x,
                           const real_t* y, real_t* out) noexcept nogil:
    cdef Py_ssize_t j
    x += first * p.size
    out += first * p.columns
    if real_t is float:
        ag_distances_f32(p.kind, rows, p.size, x, y, p.filled, out, p.columns)
    else:
        ag_distances_f64(p.kind, rows, p.size, x, y, p.filled, out, p.columns)
    if p.kind == AG_SQUARES:
        for j in range(rows * p.columns):
            if real_t is float:
                out[j] = sqrtf(out[j])
            else:
                out[j] = sqrt(out[j])


cdef void tile(void* ctx, Py_ssize_t index) noexcept nogil:
    cdef Plan* p = <Plan*>ctx
    cdef Py_ssize_t first = index * TILE_ROWS, rows = min(p.rows - first, <Py_ssize_t>TILE_ROWS)
    if p.wide:
        some_rows(p, first, rows, <const double*>p.x, <const double*>p.y, <double*>p.out)
    else:
        some_rows(p, first, rows, <const float*>p.x, <const float*>p.y, <float*>p.out)


def fill_distances(x, y, out, int kind):
    """
    Write the distances of the rows of x from the columns of y to the matrix `out`.

    All are dense arrays of float32 or of float64. y has as many rows as x has columns, and at
    least as many columns as `out`, a multiple of 64. `kind` says what is made of the differences:
    how many aren't 0, the sum of their sizes, the root of the sum of their squares, the largest.
    """
    cdef Plan p
    cdef Py_buffer[3] views
    cdef int i, got = 0
    try:
        for i, array in enumerate((x, y, out)):
            PyObject_GetBuffer(array, &views[i], PyBUF_STRIDES | PyBUF_FORMAT
                               | (PyBUF_WRITABLE if i == 2 else 0))
            got += 1
        p.kind, p.wide = kind, views[2].itemsize == 8
        p.x, p.y = <const char*>views[0].buf, <const char*>views[1].buf
        p.out = <char*>views[2].buf
        p.rows, p.size = views[0].shape[0], views[0].shape[1]
        p.columns, p.filled = views[2].shape[1], views[1].shape[1]
        with nogil:
            parallel_for(tile, &p, parts(p.rows, <Py_ssize_t>TILE_ROWS),
                         team_size(0.25 * p.rows * p.filled * p.size))
    finally:
        for i in range(got):
            PyBuffer_Release(&views[i])
