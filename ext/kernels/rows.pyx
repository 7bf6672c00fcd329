# cython: language_level=3
# Inner loops of reductions, arg-reductions and softmax, compiled once per instruction set.
# rows.pxd shows the table; reduce.pyx and softmax.pyx cut tensors into tiles and call it.
#
# The compiler may not reorder sums, so the loops do: each keeps LANES accumulators side by side,
# which become a few vector registers.  Blocks of BLOCK elements are added pairwise.

from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport (
    int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint64_t)
from libc.string cimport memset

from autograd_cy._C.dtypes cimport (
    DT_BOOL, DT_U8, DT_I8, DT_I16, DT_I32, DT_I64, DT_F16, DT_BF16, DT_F32, DT_F64, DT_C64,
    DT_C128)
from autograd_cy._C.rows cimport *

cdef extern from "scalar/scalar.h" nogil:
    float ag_exp_f32(float)
    double ag_exp_f64(double)
    float ag_log_f32(float)
    double ag_log_f64(double)
    float ag_f16_to_f32(uint16_t)
    uint16_t ag_f32_to_f16(float)
    float ag_bf16_to_f32(uint16_t)
    uint16_t ag_f32_to_bf16(float)

cdef extern from "<math.h>" nogil:
    double INFINITY
    float sqrtf(float)
    double sqrt(double)

ctypedef fused real_t:
    float
    double

ctypedef fused int_t:
    uint8_t
    int8_t
    int16_t
    int32_t
    int64_t

ctypedef fused num_t:
    uint8_t
    int8_t
    int16_t
    int32_t
    int64_t
    float
    double

cdef enum:
    LANES = 64       # accumulators: eight AVX2 registers of floats
    FEW = 8          # accumulators of short rows
    BLOCK = 8192     # elements of a float sum that are added without the pairwise tree
    FOLD = 128       # rows of a column sum before it is folded into the double accumulators
    HALVES = 1024    # halves widened at once
    NARROW = 24      # rows up to this length are turned, so that lanes run across rows
    GROUP = 64       # rows turned at once

cdef RowTable table


# --- sums -----------------------------------------------------------------------------------

cdef inline void block_sum(const real_t* p, Py_ssize_t n, double* pair) noexcept nogil:
    """Sums of the elements at even and at odd places (a complex sum needs them apart)."""
    cdef real_t lanes[LANES]
    cdef Py_ssize_t i, k
    cdef int j, width
    if n < LANES:
        width = FEW
        for j in range(FEW):
            lanes[j] = 0
        i = 0
        while i + FEW <= n:
            for j in range(FEW):
                lanes[j] += p[i + j]
            i += FEW
    else:
        width = LANES
        for j in range(LANES):
            lanes[j] = p[j]
        i = LANES
        while i + LANES <= n:
            for j in range(LANES):
                lanes[j] += p[i + j]
            i += LANES
        while i + FEW <= n:
            for j in range(FEW):
                lanes[j] += p[i + j]
            i += FEW
    for k in range(n - i):
        lanes[k] += p[i + k]
    if width == LANES:
        for j in range(32):
            lanes[j] += lanes[j + 32]
        for j in range(16):
            lanes[j] += lanes[j + 16]
        for j in range(8):
            lanes[j] += lanes[j + 8]
    for j in range(4):
        lanes[j] += lanes[j + 4]
    pair[0] = lanes[0] + lanes[2]
    pair[1] = lanes[1] + lanes[3]


cdef void pairwise_sum(const real_t* p, Py_ssize_t n, double* pair) noexcept nogil:
    cdef double left[2]
    cdef Py_ssize_t half
    if n <= BLOCK:
        block_sum(p, n, pair)
        return
    half = (n // BLOCK + 1) // 2 * BLOCK
    pairwise_sum(p, half, left)
    pairwise_sum(p + half, n - half, pair)
    pair[0] += left[0]
    pair[1] += left[1]


cdef void sum_rows(const real_t* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
                   double* acc) noexcept nogil:
    cdef Py_ssize_t r
    cdef double pair[2]
    for r in range(rows):
        pairwise_sum(<const real_t*>(<const char*>p + r * step), n, pair)
        acc[r] = pair[0] + pair[1]


cdef void sum_rows_complex(const real_t* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
                           double* acc) noexcept nogil:
    cdef Py_ssize_t r
    for r in range(rows):
        pairwise_sum(<const real_t*>(<const char*>p + r * step), 2 * n, acc + 2 * r)


cdef void sum_rows_int(const int_t* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
                       int64_t* acc) noexcept nogil:
    cdef Py_ssize_t r, i
    cdef const int_t* q
    cdef int64_t s
    for r in range(rows):
        q = <const int_t*>(<const char*>p + r * step)
        s = 0
        for i in range(n):
            s += q[i]
        acc[r] = s


cdef void sum_cols(const real_t* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
                   double* acc) noexcept nogil:
    cdef real_t tile[2 * COLS]
    cdef const char* base = <const char*>p
    cdef const real_t* a
    cdef const real_t* b
    cdef const real_t* c
    cdef const real_t* d
    cdef Py_ssize_t r = 0, stop, j
    for j in range(n):
        acc[j] = 0
    while r < rows:
        stop = r + FOLD if r + FOLD < rows else rows
        for j in range(n):
            tile[j] = 0
        while r + 4 <= stop:
            a = <const real_t*>(base + r * step)
            b = <const real_t*>(base + (r + 1) * step)
            c = <const real_t*>(base + (r + 2) * step)
            d = <const real_t*>(base + (r + 3) * step)
            for j in range(n):
                tile[j] += (a[j] + b[j]) + (c[j] + d[j])
            r += 4
        while r < stop:
            a = <const real_t*>(base + r * step)
            for j in range(n):
                tile[j] += a[j]
            r += 1
        for j in range(n):
            acc[j] += tile[j]


cdef void sum_cols_complex(const real_t* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
                           double* acc) noexcept nogil:
    sum_cols(p, rows, step, 2 * n, acc)


cdef void sum_cols_int(const int_t* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
                       int64_t* acc) noexcept nogil:
    cdef const int_t* q
    cdef Py_ssize_t r, j
    for j in range(n):
        acc[j] = 0
    for r in range(rows):
        q = <const int_t*>(<const char*>p + r * step)
        for j in range(n):
            acc[j] += q[j]


# --- products -------------------------------------------------------------------------------

cdef void prod_rows(const real_t* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
                    double* acc) noexcept nogil:
    cdef double lanes[FEW]
    cdef const real_t* q
    cdef Py_ssize_t r, i
    cdef int j
    for r in range(rows):
        q = <const real_t*>(<const char*>p + r * step)
        for j in range(FEW):
            lanes[j] = 1
        i = 0
        while i + FEW <= n:
            for j in range(FEW):
                lanes[j] *= q[i + j]
            i += FEW
        for j in range(n - i):
            lanes[j] *= q[i + j]
        for j in range(4):
            lanes[j] *= lanes[j + 4]
        acc[r] = (lanes[0] * lanes[2]) * (lanes[1] * lanes[3])


cdef void prod_rows_complex(const real_t* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
                            double* acc) noexcept nogil:
    cdef const real_t* q
    cdef Py_ssize_t r, i
    cdef double x, y, t
    for r in range(rows):
        q = <const real_t*>(<const char*>p + r * step)
        x = 1
        y = 0
        for i in range(n):
            t = x * q[2 * i] - y * q[2 * i + 1]
            y = x * q[2 * i + 1] + y * q[2 * i]
            x = t
        acc[2 * r] = x
        acc[2 * r + 1] = y


cdef void prod_rows_int(const int_t* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
                        uint64_t* acc) noexcept nogil:
    cdef const int_t* q
    cdef Py_ssize_t r, i
    cdef uint64_t s
    for r in range(rows):
        q = <const int_t*>(<const char*>p + r * step)
        s = 1
        for i in range(n):
            s *= <uint64_t><int64_t>q[i]
        acc[r] = s


cdef void prod_cols(const real_t* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
                    double* acc) noexcept nogil:
    cdef const real_t* q
    cdef Py_ssize_t r, j
    for j in range(n):
        acc[j] = 1
    for r in range(rows):
        q = <const real_t*>(<const char*>p + r * step)
        for j in range(n):
            acc[j] *= q[j]


cdef void prod_cols_complex(const real_t* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
                            double* acc) noexcept nogil:
    cdef const real_t* q
    cdef Py_ssize_t r, j
    cdef double t
    for j in range(n):
        acc[2 * j] = 1
        acc[2 * j + 1] = 0
    for r in range(rows):
        q = <const real_t*>(<const char*>p + r * step)
        for j in range(n):
            t = acc[2 * j] * q[2 * j] - acc[2 * j + 1] * q[2 * j + 1]
            acc[2 * j + 1] = acc[2 * j] * q[2 * j + 1] + acc[2 * j + 1] * q[2 * j]
            acc[2 * j] = t


cdef void prod_cols_int(const int_t* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
                        uint64_t* acc) noexcept nogil:
    cdef const int_t* q
    cdef Py_ssize_t r, j
    for j in range(n):
        acc[j] = 1
    for r in range(rows):
        q = <const int_t*>(<const char*>p + r * step)
        for j in range(n):
            acc[j] *= <uint64_t><int64_t>q[j]


# --- largest and smallest -------------------------------------------------------------------

cdef inline num_t larger(num_t m, num_t x) noexcept nogil:
    # One test of x != x is enough: a NaN in m loses to nothing.
    return x if (x > m) | (x != x) else m


cdef inline num_t smaller(num_t m, num_t x) noexcept nogil:
    return x if (x < m) | (x != x) else m


cdef inline num_t block_max(const num_t* p, Py_ssize_t n) noexcept nogil:
    cdef num_t lanes[LANES]
    cdef num_t m
    cdef Py_ssize_t i = 1
    cdef int j
    m = p[0]
    if n >= LANES:
        for j in range(LANES):
            lanes[j] = p[j]
        i = LANES
        while i + LANES <= n:
            for j in range(LANES):
                lanes[j] = larger(lanes[j], p[i + j])
            i += LANES
        for j in range(32):
            lanes[j] = larger(lanes[j], lanes[j + 32])
        for j in range(16):
            lanes[j] = larger(lanes[j], lanes[j + 16])
        for j in range(16):
            m = larger(m, lanes[j])
    for i in range(i, n):
        m = larger(m, p[i])
    return m


cdef inline num_t block_min(const num_t* p, Py_ssize_t n) noexcept nogil:
    cdef num_t lanes[LANES]
    cdef num_t m
    cdef Py_ssize_t i = 1
    cdef int j
    m = p[0]
    if n >= LANES:
        for j in range(LANES):
            lanes[j] = p[j]
        i = LANES
        while i + LANES <= n:
            for j in range(LANES):
                lanes[j] = smaller(lanes[j], p[i + j])
            i += LANES
        for j in range(32):
            lanes[j] = smaller(lanes[j], lanes[j + 32])
        for j in range(16):
            lanes[j] = smaller(lanes[j], lanes[j + 16])
        for j in range(16):
            m = smaller(m, lanes[j])
    for i in range(i, n):
        m = smaller(m, p[i])
    return m


cdef inline void put_wide(num_t x, char* acc, Py_ssize_t i) noexcept nogil:
    """Store in the accumulator type, which holds every value exactly."""
    if num_t is float or num_t is double:
        (<double*>acc)[i] = x
    else:
        (<int64_t*>acc)[i] = x


cdef void max_rows(const num_t* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
                   char* acc) noexcept nogil:
    cdef Py_ssize_t r
    for r in range(rows):
        put_wide(block_max(<const num_t*>(<const char*>p + r * step), n), acc, r)


cdef void min_rows(const num_t* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
                   char* acc) noexcept nogil:
    cdef Py_ssize_t r
    for r in range(rows):
        put_wide(block_min(<const num_t*>(<const char*>p + r * step), n), acc, r)


cdef void max_cols(const num_t* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
                   char* acc) noexcept nogil:
    cdef num_t tile[COLS]
    cdef const num_t* q
    cdef Py_ssize_t r, j
    for j in range(n):
        tile[j] = p[j]
    for r in range(1, rows):
        q = <const num_t*>(<const char*>p + r * step)
        for j in range(n):
            tile[j] = larger(tile[j], q[j])
    for j in range(n):
        put_wide(tile[j], acc, j)


cdef void min_cols(const num_t* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
                   char* acc) noexcept nogil:
    cdef num_t tile[COLS]
    cdef const num_t* q
    cdef Py_ssize_t r, j
    for j in range(n):
        tile[j] = p[j]
    for r in range(1, rows):
        q = <const num_t*>(<const char*>p + r * step)
        for j in range(n):
            tile[j] = smaller(tile[j], q[j])
    for j in range(n):
        put_wide(tile[j], acc, j)


# --- positions of the largest and smallest --------------------------------------------------

cdef inline Py_ssize_t find(const num_t* p, Py_ssize_t n, num_t m) noexcept nogil:
    """First place that holds m (or any NaN when m is one)."""
    cdef Py_ssize_t i
    if m != m:
        for i in range(n):
            if p[i] != p[i]:
                return i
    for i in range(n):
        if p[i] == m:
            return i
    return 0


cdef void argmax_rows(const num_t* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
                      num_t* values, int64_t* index) noexcept nogil:
    cdef const num_t* q
    cdef Py_ssize_t r, i, length, at
    cdef num_t m, best
    for r in range(rows):
        q = <const num_t*>(<const char*>p + r * step)
        # Only the block that first reaches the final value is searched again.
        best = q[0]
        at = 0
        i = 0
        while i < n:
            length = n - i if n - i < 1024 else 1024
            m = block_max(q + i, length)
            if m > best or (m != m and best == best):
                best = m
                at = i
            i += length
        values[r] = best
        index[r] = at + find(q + at, n - at, best)


cdef void argmin_rows(const num_t* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
                      num_t* values, int64_t* index) noexcept nogil:
    cdef const num_t* q
    cdef Py_ssize_t r, i, length, at
    cdef num_t m, best
    for r in range(rows):
        q = <const num_t*>(<const char*>p + r * step)
        best = q[0]
        at = 0
        i = 0
        while i < n:
            length = n - i if n - i < 1024 else 1024
            m = block_min(q + i, length)
            if m < best or (m != m and best == best):
                best = m
                at = i
            i += length
        values[r] = best
        index[r] = at + find(q + at, n - at, best)


cdef void argmax_cols(const num_t* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
                      num_t* values, int64_t* index) noexcept nogil:
    cdef num_t tile[COLS]
    cdef int32_t place[COLS]
    cdef const num_t* q
    cdef Py_ssize_t r, j
    cdef num_t x, m
    cdef bint better
    cdef int32_t row
    for j in range(n):
        tile[j] = p[j]
        place[j] = 0
    for r in range(1, rows):
        q = <const num_t*>(<const char*>p + r * step)
        row = <int32_t>r
        for j in range(n):
            x = q[j]
            m = tile[j]
            better = (x > m) | ((x != x) & (m == m))
            tile[j] = x if better else m
            place[j] = row if better else place[j]
    for j in range(n):
        values[j] = tile[j]
        index[j] = place[j]


cdef void argmin_cols(const num_t* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
                      num_t* values, int64_t* index) noexcept nogil:
    cdef num_t tile[COLS]
    cdef int32_t place[COLS]
    cdef const num_t* q
    cdef Py_ssize_t r, j
    cdef num_t x, m
    cdef bint better
    cdef int32_t row
    for j in range(n):
        tile[j] = p[j]
        place[j] = 0
    for r in range(1, rows):
        q = <const num_t*>(<const char*>p + r * step)
        row = <int32_t>r
        for j in range(n):
            x = q[j]
            m = tile[j]
            better = (x < m) | ((x != x) & (m == m))
            tile[j] = x if better else m
            place[j] = row if better else place[j]
    for j in range(n):
        values[j] = tile[j]
        index[j] = place[j]


include "rows_acc.pxi"
include "rows_half.pxi"
include "rows_soft.pxi"
include "rows_step.pxi"


# --- the table ------------------------------------------------------------------------------

cdef void fill_ints(int dt, int_t* unused) noexcept:
    table.rows[R_SUM][dt] = <rows_fn>sum_rows_int[int_t]
    table.rows[R_PROD][dt] = <rows_fn>prod_rows_int[int_t]
    table.cols[R_SUM][dt] = <cols_fn>sum_cols_int[int_t]
    table.cols[R_PROD][dt] = <cols_fn>prod_cols_int[int_t]


cdef void fill_reals(int dt, real_t* unused) noexcept:
    table.rows[R_SUM][dt] = <rows_fn>sum_rows[real_t]
    table.rows[R_PROD][dt] = <rows_fn>prod_rows[real_t]
    table.cols[R_SUM][dt] = <cols_fn>sum_cols[real_t]
    table.cols[R_PROD][dt] = <cols_fn>prod_cols[real_t]
    table.soft_rows[dt] = <soft_rows_fn>soft_rows[real_t]
    table.soft_cols[dt] = <soft_cols_fn>soft_cols[real_t]
    table.soft_back_rows[dt] = <soft_back_rows_fn>soft_back_rows[real_t]
    table.soft_back_cols[dt] = <soft_back_cols_fn>soft_back_cols[real_t]
    table.deviation[dt] = <deviation_fn>deviation_rows[real_t]
    table.distance[dt] = <distance_fn>squared_distance[real_t]
    table.difference[dt] = <difference_fn>scaled_difference[real_t]


cdef void fill_complex(int dt, real_t* unused) noexcept:
    table.rows[R_SUM][dt] = <rows_fn>sum_rows_complex[real_t]
    table.rows[R_PROD][dt] = <rows_fn>prod_rows_complex[real_t]
    table.cols[R_SUM][dt] = <cols_fn>sum_cols_complex[real_t]
    table.cols[R_PROD][dt] = <cols_fn>prod_cols_complex[real_t]


cdef void fill_ordered(int dt, num_t* unused) noexcept:
    table.rows[R_MAX][dt] = <rows_fn>max_rows[num_t]
    table.rows[R_MIN][dt] = <rows_fn>min_rows[num_t]
    table.cols[R_MAX][dt] = <cols_fn>max_cols[num_t]
    table.cols[R_MIN][dt] = <cols_fn>min_cols[num_t]
    table.arg_rows[R_MAX][dt] = <arg_fn>argmax_rows[num_t]
    table.arg_rows[R_MIN][dt] = <arg_fn>argmin_rows[num_t]
    table.arg_cols[R_MAX][dt] = <arg_fn>argmax_cols[num_t]
    table.arg_cols[R_MIN][dt] = <arg_fn>argmin_cols[num_t]


cdef void fill_table() noexcept:
    memset(&table, 0, sizeof(table))
    fill_ints(DT_BOOL, <uint8_t*>NULL)
    fill_ints(DT_U8, <uint8_t*>NULL)
    fill_ints(DT_I8, <int8_t*>NULL)
    fill_ints(DT_I16, <int16_t*>NULL)
    fill_ints(DT_I32, <int32_t*>NULL)
    fill_ints(DT_I64, <int64_t*>NULL)
    fill_reals(DT_F32, <float*>NULL)
    fill_reals(DT_F64, <double*>NULL)
    fill_complex(DT_C64, <float*>NULL)
    fill_complex(DT_C128, <double*>NULL)
    fill_ordered(DT_BOOL, <uint8_t*>NULL)
    fill_ordered(DT_U8, <uint8_t*>NULL)
    fill_ordered(DT_I8, <int8_t*>NULL)
    fill_ordered(DT_I16, <int16_t*>NULL)
    fill_ordered(DT_I32, <int32_t*>NULL)
    fill_ordered(DT_I64, <int64_t*>NULL)
    fill_ordered(DT_F32, <float*>NULL)
    fill_ordered(DT_F64, <double*>NULL)
    fill_accumulators()
    fill_halves()
    fill_steps()


fill_table()


def table_capsule():
    """Capsule with the address of the table (see rows.pxd)."""
    return PyCapsule_New(&table, "autograd_cy.row_table", NULL)
