# cython: language_level=3
# build: simd cold
# Inner loops of attention between its products, compiled once per instruction set.

from cpython.pycapsule cimport PyCapsule_New
from autograd_cy._C.attention_loops cimport (
    AttentionTable, SEEN_ADDED, SEEN_TRUE, Scores)
from autograd_cy._C.sizes cimport round_up

cdef extern from "attention_lanes.h" nogil:
    float ag_log_f32(float)
    double ag_log_f64(double)
    float ag_row_largest_f32(const float*, Py_ssize_t)
    double ag_row_largest_f64(const double*, Py_ssize_t)
    float ag_row_weights_f32(float*, float, Py_ssize_t)
    double ag_row_weights_f64(double*, double, Py_ssize_t)
    void ag_row_gradients_f32(float*, float*, float, float, Py_ssize_t)
    void ag_row_gradients_f64(double*, double*, double, double, Py_ssize_t)
    void ag_row_fill_f32(float*, Py_ssize_t, Py_ssize_t, float)
    void ag_row_fill_f64(double*, Py_ssize_t, Py_ssize_t, double)
    void ag_fetch_row(const void*, Py_ssize_t)
    float ag_row_dot_f32(const float*, const float*, Py_ssize_t)
    double ag_row_dot_f64(const double*, const double*, Py_ssize_t)

cdef extern from "<math.h>" nogil:
    double INFINITY
    float exp32 "expf"(float)
    double exp64 "exp"(double)

ctypedef fused real_t:
    float
    double

cdef enum:
    WHOLE = 16      # rows are filled up to a multiple of this
    AHEAD = 8       # so many rows before their turn they are fetched


cdef inline Py_ssize_t round_up_lanes(Py_ssize_t n) noexcept nogil:
    return round_up(n, WHOLE)


cdef inline void pad_row(real_t* row, Py_ssize_t first, Py_ssize_t stop,
                         real_t value) noexcept nogil:
    """Elements up to a whole number."""
    if real_t is float:
        ag_row_fill_f32(row, first, stop, value)
    else:
        ag_row_fill_f64(row, first, stop, value)


cdef inline Py_ssize_t hide(const Scores* s, Py_ssize_t i, real_t* row) noexcept nogil:
    """Set scores that row i doesn't see to -infinity; elements from the returned one on, a whole
    number, aren't seen either and are left alone."""
    cdef Py_ssize_t j, n = s.cols, stop
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
    stop = round_up_lanes(n)
    pad_row(row, n, stop, low)
    return stop


cdef void soften(const Scores* s, real_t* top, real_t* total, real_t* out, Py_ssize_t out_step,
                 Py_ssize_t width) noexcept nogil:
    cdef Py_ssize_t i, j, n
    cdef real_t* row
    cdef real_t* o
    cdef real_t m, before, sum, factor
    for i in range(s.rows):
        row = <real_t*>s.at + i * s.step
        n = hide(s, i, row)
        pad_row(row, n, round_up_lanes(s.cols), <real_t>0)
        if real_t is float:
            m = ag_row_largest_f32(row, n)
        else:
            m = ag_row_largest_f64(row, n)
        before = top[i]
        if before > m:
            m = before
        if m == <real_t>(-INFINITY):    # nothing is seen so far, unless it is NaN
            for j in range(n):
                row[j] = 0 if row[j] == row[j] else row[j]
                total[i] += row[j]
            continue
        if real_t is float:
            sum = ag_row_weights_f32(row, m, n)
        else:
            sum = ag_row_weights_f64(row, m, n)
        if before == m or before == <real_t>(-INFINITY):
            top[i] = m
            total[i] += sum
            continue
        top[i] = m
        if real_t is float:
            factor = exp32(before - m)
        else:
            factor = exp64(before - m)
        total[i] = total[i] * factor + sum
        o = out + i * out_step
        for j in range(width):
            o[j] *= factor


cdef void finish_rows(Py_ssize_t rows, const real_t* top, const real_t* total, real_t* out,
                      Py_ssize_t out_step, Py_ssize_t width, real_t* lse) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef real_t* o
    cdef real_t f
    for i in range(rows):
        if real_t is float:
            f = ag_log_f32(total[i])
        else:
            f = ag_log_f64(total[i])
        lse[i] = 0 if total[i] == 0 else top[i] + f
    for i in range(rows):
        o = out + i * out_step
        if total[i] == 0:       # it saw nothing
            for j in range(width):
                o[j] = 0
            continue
        f = 1 / total[i]
        for j in range(width):
            o[j] *= f


cdef void gradient_rows(const Scores* s, real_t* d, const real_t* lse,
                        const real_t* shift) noexcept nogil:
    cdef Py_ssize_t i, n
    cdef real_t* row
    cdef real_t* g
    for i in range(s.rows):
        row = <real_t*>s.at + i * s.step
        g = d + i * s.step
        n = hide(s, i, row)
        pad_row(row, n, round_up_lanes(s.cols), <real_t>0)
        pad_row(g, n, round_up_lanes(s.cols), <real_t>0)
        if real_t is float:
            ag_row_gradients_f32(row, g, lse[i], shift[i], n)
        else:
            ag_row_gradients_f64(row, g, lse[i], shift[i], n)


cdef void dots(Py_ssize_t rows, Py_ssize_t width, const real_t* a, Py_ssize_t a_step,
               const real_t* b, Py_ssize_t b_step, real_t* shift) noexcept nogil:
    cdef Py_ssize_t i, bytes = width * sizeof(real_t)
    for i in range(min(<Py_ssize_t>AHEAD, rows)):
        ag_fetch_row(a + i * a_step, bytes)
        ag_fetch_row(b + i * b_step, bytes)
    for i in range(rows):
        if i + AHEAD < rows:
            ag_fetch_row(a + (i + AHEAD) * a_step, bytes)
            ag_fetch_row(b + (i + AHEAD) * b_step, bytes)
        if real_t is float:
            shift[i] = ag_row_dot_f32(a + i * a_step, b + i * b_step, width)
        else:
            shift[i] = ag_row_dot_f64(a + i * a_step, b + i * b_step, width)


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


cdef void gradients_f32(const Scores* s, char* d, const char* lse,
                        const char* shift) noexcept nogil:
    gradient_rows(s, <float*>d, <const float*>lse, <const float*>shift)


cdef void gradients_f64(const Scores* s, char* d, const char* lse,
                        const char* shift) noexcept nogil:
    gradient_rows(s, <double*>d, <const double*>lse, <const double*>shift)


cdef void dots_f32(Py_ssize_t rows, Py_ssize_t width, const char* a, Py_ssize_t a_step,
                   const char* b, Py_ssize_t b_step, char* shift) noexcept nogil:
    dots(rows, width, <const float*>a, a_step, <const float*>b, b_step, <float*>shift)


cdef void dots_f64(Py_ssize_t rows, Py_ssize_t width, const char* a, Py_ssize_t a_step,
                   const char* b, Py_ssize_t b_step, char* shift) noexcept nogil:
    dots(rows, width, <const double*>a, a_step, <const double*>b, b_step, <double*>shift)


cdef AttentionTable table
table.soften[0], table.soften[1] = soften_f32, soften_f64
table.finish_rows[0], table.finish_rows[1] = finish_f32, finish_f64
table.gradients[0], table.gradients[1] = gradients_f32, gradients_f64
table.dots[0], table.dots[1] = dots_f32, dots_f64


def table_capsule():
    """Return the table of this instruction set."""
    return PyCapsule_New(&table, "autograd_cy.attention_loops", NULL)
