# cython: language_level=3
# build: simd cold
# Steps of recurrent cells on rows, compiled once per instruction set; recurrent.pyx calls them
# between its products.

from cpython.pycapsule cimport PyCapsule_New

from autograd_cy._C.dtypes cimport DT_F32
from autograd_cy._C.recurrent_loops cimport *

cdef extern from "recurrent_rows.h" nogil:
    void ag_lstm_row_f32(Py_ssize_t, float*, const float*, float*, float*)
    void ag_lstm_row_f64(Py_ssize_t, double*, const double*, double*, double*)
    void ag_lstm_back_f32(Py_ssize_t, const float*, const float*, const float*, float*, float*,
                          float*)
    void ag_lstm_back_f64(Py_ssize_t, const double*, const double*, const double*, double*,
                          double*, double*)
    void ag_gru_row_f32(Py_ssize_t, float*, const float*, const float*, float*, float*)
    void ag_gru_row_f64(Py_ssize_t, double*, const double*, const double*, double*, double*)
    void ag_gru_back_f32(Py_ssize_t, const float*, const float*, float*, float*, float*)
    void ag_gru_back_f64(Py_ssize_t, const double*, const double*, double*, double*, double*)
    void ag_tanh_row_f32(Py_ssize_t, float*, float*)
    void ag_tanh_row_f64(Py_ssize_t, double*, double*)
    void ag_relu_row_f32(Py_ssize_t, float*, float*)
    void ag_relu_row_f64(Py_ssize_t, double*, double*)
    void ag_tanh_back_row_f32(Py_ssize_t, const float*, const float*, float*)
    void ag_tanh_back_row_f64(Py_ssize_t, const double*, const double*, double*)
    void ag_relu_back_row_f32(Py_ssize_t, const float*, const float*, float*)
    void ag_relu_back_row_f64(Py_ssize_t, const double*, const double*, double*)
    void ag_sum_row_f32(Py_ssize_t, float*, const float*)
    void ag_sum_row_f64(Py_ssize_t, double*, const double*)

ctypedef fused real_t:
    float
    double

cdef enum:
    SUMMED_ROWS = 32     # rows that are summed in their own type, before float64 takes over
    SUMMED_COLUMNS = 256


cdef inline void lstm_typed(real_t* g, Py_ssize_t rows, Py_ssize_t n, const real_t* before,
                            real_t* cell, real_t* h) noexcept nogil:
    cdef Py_ssize_t _r
    for _r in range(rows):
        if real_t is float:
            ag_lstm_row_f32(n, g, before, cell, h)
        else:
            ag_lstm_row_f64(n, g, before, cell, h)
        g += 5 * n
        before += n
        cell += n
        h += n


cdef void lstm_rows(int dt, Py_ssize_t rows, Py_ssize_t n, char* gates, const char* before,
                    char* cell, char* h) noexcept nogil:
    if dt == DT_F32:
        lstm_typed(<float*>gates, rows, n, <const float*>before, <float*>cell, <float*>h)
    else:
        lstm_typed(<double*>gates, rows, n, <const double*>before, <double*>cell, <double*>h)


cdef inline void lstm_back_typed(
        const real_t* g, Py_ssize_t rows, Py_ssize_t n, const real_t* before,
        Py_ssize_t ld_before, const real_t* dh, real_t* dc, real_t* d,
        real_t* raw) noexcept nogil:
    cdef Py_ssize_t _r
    for _r in range(rows):
        if real_t is float:
            ag_lstm_back_f32(n, g, before, dh, dc, d, raw)
        else:
            ag_lstm_back_f64(n, g, before, dh, dc, d, raw)
        g += 5 * n
        before += ld_before
        dh += n
        dc += n
        d += 4 * n
        raw += n


cdef void lstm_back(
        int dt, Py_ssize_t rows, Py_ssize_t n, const char* gates, const char* before,
        Py_ssize_t ld_before, const char* dh, char* dc, char* d, char* raw) noexcept nogil:
    if dt == DT_F32:
        lstm_back_typed(<const float*>gates, rows, n, <const float*>before, ld_before,
                        <const float*>dh, <float*>dc, <float*>d, <float*>raw)
    else:
        lstm_back_typed(<const double*>gates, rows, n, <const double*>before, ld_before,
                        <const double*>dh, <double*>dc, <double*>d, <double*>raw)


cdef inline void gru_typed(real_t* g, Py_ssize_t rows, Py_ssize_t n, const real_t* s,
                           const real_t* before, real_t* state, real_t* h) noexcept nogil:
    cdef Py_ssize_t _r
    for _r in range(rows):
        if real_t is float:
            ag_gru_row_f32(n, g, s, before, state, h)
        else:
            ag_gru_row_f64(n, g, s, before, state, h)
        g += 4 * n
        s += 3 * n
        before += n
        state += n
        h += n


cdef void gru_rows(int dt, Py_ssize_t rows, Py_ssize_t n, char* gates, const char* sums,
                   const char* before, char* state, char* h) noexcept nogil:
    if dt == DT_F32:
        gru_typed(<float*>gates, rows, n, <const float*>sums, <const float*>before, <float*>state,
                  <float*>h)
    else:
        gru_typed(<double*>gates, rows, n, <const double*>sums, <const double*>before,
                  <double*>state, <double*>h)


cdef inline void gru_back_typed(const real_t* g, Py_ssize_t rows, Py_ssize_t n,
                                const real_t* before, real_t* dh, real_t* d,
                                real_t* s) noexcept nogil:
    cdef Py_ssize_t _r
    for _r in range(rows):
        if real_t is float:
            ag_gru_back_f32(n, g, before, dh, d, s)
        else:
            ag_gru_back_f64(n, g, before, dh, d, s)
        g += 4 * n
        before += n
        dh += n
        d += 3 * n
        s += 3 * n


cdef void gru_back(int dt, Py_ssize_t rows, Py_ssize_t n, const char* gates, const char* before,
                   char* dh, char* d, char* s) noexcept nogil:
    if dt == DT_F32:
        gru_back_typed(<const float*>gates, rows, n, <const float*>before, <float*>dh, <float*>d,
                       <float*>s)
    else:
        gru_back_typed(<const double*>gates, rows, n, <const double*>before, <double*>dh,
                       <double*>d, <double*>s)


cdef void plain_rows(int dt, bint relu, Py_ssize_t n, char* sums, char* state) noexcept nogil:
    if relu:
        if dt == DT_F32:
            ag_relu_row_f32(n, <float*>sums, <float*>state)
        else:
            ag_relu_row_f64(n, <double*>sums, <double*>state)
    elif dt == DT_F32:
        ag_tanh_row_f32(n, <float*>sums, <float*>state)
    else:
        ag_tanh_row_f64(n, <double*>sums, <double*>state)


cdef void plain_back(int dt, bint relu, Py_ssize_t n, const char* h, const char* dh,
                     char* d) noexcept nogil:
    if relu:
        if dt == DT_F32:
            ag_relu_back_row_f32(n, <const float*>h, <const float*>dh, <float*>d)
        else:
            ag_relu_back_row_f64(n, <const double*>h, <const double*>dh, <double*>d)
    elif dt == DT_F32:
        ag_tanh_back_row_f32(n, <const float*>h, <const float*>dh, <float*>d)
    else:
        ag_tanh_back_row_f64(n, <const double*>h, <const double*>dh, <double*>d)


cdef void add(int dt, Py_ssize_t n, char* to, const char* source) noexcept nogil:
    if dt == DT_F32:
        ag_sum_row_f32(n, <float*>to, <const float*>source)
    else:
        ag_sum_row_f64(n, <double*>to, <const double*>source)


cdef inline void sum_typed(const real_t* p, Py_ssize_t rows, Py_ssize_t n,
                           real_t* out) noexcept nogil:
    cdef double[SUMMED_COLUMNS] total
    cdef real_t[SUMMED_COLUMNS] part
    cdef Py_ssize_t j, r, q, at, some
    for at from 0 <= at < n by SUMMED_COLUMNS:
        some = min(n - at, <Py_ssize_t>SUMMED_COLUMNS)
        for j in range(some):
            total[j] = 0
        for r from 0 <= r < rows by SUMMED_ROWS:
            for j in range(some):
                part[j] = p[r * n + at + j]
            for q in range(r + 1, min(r + SUMMED_ROWS, rows)):
                if real_t is float:
                    ag_sum_row_f32(some, part, p + q * n + at)
                else:
                    ag_sum_row_f64(some, part, p + q * n + at)
            for j in range(some):
                total[j] += part[j]
        for j in range(some):
            out[at + j] = <real_t>total[j]


cdef void sum_columns(int dt, Py_ssize_t rows, Py_ssize_t n, const char* p,
                      char* out) noexcept nogil:
    if dt == DT_F32:
        sum_typed(<const float*>p, rows, n, <float*>out)
    else:
        sum_typed(<const double*>p, rows, n, <double*>out)


cdef RecurrentTable table
table.lstm_rows = lstm_rows
table.lstm_back = lstm_back
table.gru_rows = gru_rows
table.gru_back = gru_back
table.plain_rows = plain_rows
table.plain_back = plain_back
table.add = add
table.sum_columns = sum_columns


def table_capsule():
    """Capsule with the address of the table (see recurrent_loops.pxd)."""
    return PyCapsule_New(&table, "autograd_cy.recurrent_table", NULL)
