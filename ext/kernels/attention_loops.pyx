# cython: language_level=3
# build: simd
# Inner loops of attention between its products, compiled once per instruction set.

from cpython.pycapsule cimport PyCapsule_New
from libc.math cimport log

from autograd_cy._C.attention_loops cimport (
    AttentionTable, SEEN_ADDED, SEEN_TRUE, Scores)

cdef extern from "scalar/scalar.h" nogil:
    float ag_exp_falling_f32(float, float)
    double ag_exp_falling_f64(double, double)

cdef extern from "lanes.h" nogil:
    ctypedef float lanes_f32 "ag_lanes_f32"
    ctypedef double lanes_f64 "ag_lanes_f64"
    lanes_f32 ag_zeros_f32()
    lanes_f64 ag_zeros_f64()
    lanes_f32 ag_larger_lanes_f32(lanes_f32, lanes_f32)
    lanes_f64 ag_larger_lanes_f64(lanes_f64, lanes_f64)

cdef extern from "<math.h>" nogil:
    double INFINITY

ctypedef fused real_t:
    float
    double

cdef enum:
    WHOLE = 16      # rows are filled up to a multiple of this
    BYTES = 32      # of a vector of lanes.h


cdef inline Py_ssize_t whole(Py_ssize_t n) noexcept nogil:
    return (n + WHOLE - 1) // WHOLE * WHOLE


cdef inline void hide(const Scores* s, Py_ssize_t i, real_t* row) noexcept nogil:
    """What row i doesn't see becomes -infinity, as do the elements that fill it up."""
    cdef Py_ssize_t j, n = s.cols
    cdef real_t low = <real_t>(-INFINITY)
    cdef const unsigned char* truth
    cdef const real_t* added
    if s.seen == SEEN_TRUE:
        truth = <const unsigned char*>s.mask + i * s.mask_row
        if s.mask_col == 1:
            for j in range(n):
                row[j] = row[j] if truth[j] else low
        else:
            for j in range(n):
                row[j] = row[j] if truth[j * s.mask_col] else low
    elif s.seen == SEEN_ADDED:
        added = <const real_t*>s.mask + i * s.mask_row
        if s.mask_col == 1:
            for j in range(n):
                row[j] += added[j]
        else:
            for j in range(n):
                row[j] += added[j * s.mask_col]
    if s.causal and s.ahead + i + 1 < n:
        n = max(s.ahead + i + 1, <Py_ssize_t>0)
    for j in range(n, whole(s.cols)):
        row[j] = low


cdef inline real_t largest(const real_t* row, Py_ssize_t n) noexcept nogil:
    """NaN wins; n is a whole number of vectors."""
    cdef Py_ssize_t i, width = BYTES // sizeof(real_t)
    cdef real_t parts[8]
    cdef real_t m
    cdef lanes_f32 f
    cdef lanes_f64 d
    if real_t is float:
        f = (<const lanes_f32*>row)[0]
        for i in range(1, n // width):
            f = ag_larger_lanes_f32(f, (<const lanes_f32*>row)[i])
        (<lanes_f32*>parts)[0] = f
    else:
        d = (<const lanes_f64*>row)[0]
        for i in range(1, n // width):
            d = ag_larger_lanes_f64(d, (<const lanes_f64*>row)[i])
        (<lanes_f64*>parts)[0] = d
    m = parts[0]
    for i in range(1, width):
        if parts[i] > m or parts[i] != parts[i]:
            m = parts[i]
    return m


cdef inline real_t total_of(const real_t* row, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i, width = BYTES // sizeof(real_t)
    cdef real_t parts[8]
    cdef real_t sum = 0
    cdef lanes_f32 f = ag_zeros_f32(), g = ag_zeros_f32()
    cdef lanes_f64 d = ag_zeros_f64(), e = ag_zeros_f64()
    if real_t is float:
        for i in range(0, n // width, 2):
            f += (<const lanes_f32*>row)[i]
            g += (<const lanes_f32*>row)[i + 1]
        (<lanes_f32*>parts)[0] = f + g
    else:
        for i in range(0, n // width, 2):
            d += (<const lanes_f64*>row)[i]
            e += (<const lanes_f64*>row)[i + 1]
        (<lanes_f64*>parts)[0] = d + e
    for i in range(width):
        sum += parts[i]
    return sum


cdef inline void exponentials(real_t* row, real_t top, Py_ssize_t n) noexcept nogil:
    """row = exp(row - top), at most 1; n is a whole number of vectors."""
    cdef Py_ssize_t j
    cdef real_t x
    if real_t is float:
        for j in range(n):
            x = row[j] - top
            row[j] = ag_exp_falling_f32(<float>-104 if x < -104 else x, 0)
    else:
        for j in range(n):
            x = row[j] - top
            row[j] = ag_exp_falling_f64(<double>-746 if x < -746 else x, 0)


cdef void soften(const Scores* s, real_t* top, real_t* total, real_t* out, Py_ssize_t out_step,
                 Py_ssize_t width) noexcept nogil:
    cdef Py_ssize_t i, j, n = whole(s.cols)
    cdef real_t* row
    cdef real_t* o
    cdef real_t m, before
    cdef real_t[16] factor
    for i in range(s.rows):
        row = <real_t*>s.at + i * s.step
        hide(s, i, row)
        before = top[i]
        m = largest(<const real_t*>row, n)
        if before > m or before != before:
            m = before
        top[i] = m
        if m == <real_t>(-INFINITY):
            for j in range(n):
                row[j] = 0
            continue
        exponentials(row, m, n)
        if before == m:
            total[i] += total_of(<const real_t*>row, n)
            continue
        for j in range(16):
            factor[j] = before
        exponentials(&factor[0], m, 16)
        total[i] = total[i] * factor[0] + total_of(<const real_t*>row, n)
        if before != <real_t>(-INFINITY):
            o = out + i * out_step
            for j in range(width):
                o[j] *= factor[0]


cdef void finish_rows(Py_ssize_t rows, const real_t* top, const real_t* total, real_t* out,
                      Py_ssize_t out_step, Py_ssize_t width, real_t* lse) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef real_t* o
    cdef real_t f
    for i in range(rows):
        o = out + i * out_step
        if total[i] == 0:       # it saw nothing
            for j in range(width):
                o[j] = 0
            lse[i] = 0
            continue
        f = 1 / total[i]
        for j in range(width):
            o[j] *= f
        lse[i] = top[i] + <real_t>log(total[i])


cdef void slopes(const Scores* s, real_t* d, const real_t* lse, const real_t* shift) noexcept nogil:
    cdef Py_ssize_t i, j, n = whole(s.cols)
    cdef real_t* row
    cdef real_t* g
    cdef real_t c
    for i in range(s.rows):
        row = <real_t*>s.at + i * s.step
        g = d + i * s.step
        hide(s, i, row)
        exponentials(row, lse[i], n)
        c = shift[i]
        for j in range(n):
            g[j] = row[j] * (g[j] - c)


cdef void dots(Py_ssize_t rows, Py_ssize_t width, const real_t* a, Py_ssize_t a_step,
               const real_t* b, Py_ssize_t b_step, real_t* shift) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef real_t sum
    for i in range(rows):
        sum = 0
        for j in range(width):
            sum += a[i * a_step + j] * b[i * b_step + j]
        shift[i] = sum


# Functions of one type each, as the table has them.

cdef void soften_f32(const Scores* s, char* top, char* total, char* out, Py_ssize_t step,
                     Py_ssize_t width) noexcept nogil:
    soften(s, <float*>top, <float*>total, <float*>out, step, width)


cdef void soften_f64(const Scores* s, char* top, char* total, char* out, Py_ssize_t step,
                     Py_ssize_t width) noexcept nogil:
    soften(s, <double*>top, <double*>total, <double*>out, step, width)


cdef void finish_f32(Py_ssize_t rows, const char* top, const char* total, char* out,
                     Py_ssize_t step, Py_ssize_t width, char* lse) noexcept nogil:
    finish_rows(rows, <const float*>top, <const float*>total, <float*>out, step, width, <float*>lse)


cdef void finish_f64(Py_ssize_t rows, const char* top, const char* total, char* out,
                     Py_ssize_t step, Py_ssize_t width, char* lse) noexcept nogil:
    finish_rows(
        rows, <const double*>top, <const double*>total, <double*>out, step, width, <double*>lse)


cdef void slopes_f32(const Scores* s, char* d, const char* lse, const char* shift) noexcept nogil:
    slopes(s, <float*>d, <const float*>lse, <const float*>shift)


cdef void slopes_f64(const Scores* s, char* d, const char* lse, const char* shift) noexcept nogil:
    slopes(s, <double*>d, <const double*>lse, <const double*>shift)


cdef void dots_f32(Py_ssize_t rows, Py_ssize_t width, const char* a, Py_ssize_t a_step,
                   const char* b, Py_ssize_t b_step, char* shift) noexcept nogil:
    dots(rows, width, <const float*>a, a_step, <const float*>b, b_step, <float*>shift)


cdef void dots_f64(Py_ssize_t rows, Py_ssize_t width, const char* a, Py_ssize_t a_step,
                   const char* b, Py_ssize_t b_step, char* shift) noexcept nogil:
    dots(rows, width, <const double*>a, a_step, <const double*>b, b_step, <double*>shift)


cdef AttentionTable table
table.soften[0], table.soften[1] = soften_f32, soften_f64
table.finish_rows[0], table.finish_rows[1] = finish_f32, finish_f64
table.slopes[0], table.slopes[1] = slopes_f32, slopes_f64
table.dots[0], table.dots[1] = dots_f32, dots_f64


def table_capsule():
    """Return the table of this instruction set."""
    return PyCapsule_New(&table, "autograd_cy.attention_loops", NULL)
