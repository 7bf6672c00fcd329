# cython: language_level=3
# build: simd
# Inner loops of reductions, arg-reductions and softmax, compiled once per instruction set.
# row_loops.pxd shows the table; reduce.pyx and softmax.pyx cut tensors into tiles and call it.
#
# The compiler may not reorder sums, so the loops do: they keep several vectors of accumulators (see
# lanes.h).  Blocks of BLOCK elements are added pairwise.

from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport (
    int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint64_t)
from libc.string cimport memset

from autograd_cy._C.dtypes cimport (
    DT_BOOL, DT_U8, DT_I8, DT_I16, DT_I32, DT_I64, DT_F16, DT_BF16, DT_F32, DT_F64, DT_C64,
    DT_C128)
from autograd_cy._C.row_loops cimport *
from autograd_cy._C.sizes cimport parts, round_up

include "fused.pxi"

cdef extern from "scalar/scalar.h" nogil:
    void ag_run_exp_f32(const float*, float*, Py_ssize_t)
    void ag_run_exp_f64(const double*, double*, Py_ssize_t)
    void ag_run_exp_falling_f32(const float*, float*, Py_ssize_t)
    void ag_run_exp_falling_f64(const double*, double*, Py_ssize_t)
    float ag_log_f32(float)
    double ag_log_f64(double)

cdef extern from "scalar/config.h" nogil:
    double AG_ROUNDED(double)

cdef extern from "halves.h" nogil:
    void ag_widen(bint is_f16, const uint16_t* p, float* out, Py_ssize_t n)
    uint16_t ag_narrow(bint is_f16, float x)

cdef extern from "lanes.h" nogil:
    ctypedef int64_t lanes_i64 "ag_lanes_i64"
    ctypedef float lanes_f32 "ag_lanes_f32"
    ctypedef double lanes_f64 "ag_lanes_f64"
    lanes_i64 ag_zeros_i64()
    lanes_f32 ag_zeros_f32()
    lanes_f64 ag_zeros_f64()
    ctypedef uint8_t choice_u8 "ag_choice_u8"
    ctypedef int8_t choice_i8 "ag_choice_i8"
    ctypedef int16_t choice_i16 "ag_choice_i16"
    ctypedef int32_t choice_i32 "ag_choice_i32"
    ctypedef int64_t choice_i64 "ag_choice_i64"
    ctypedef float choice_f32 "ag_choice_f32"
    ctypedef double choice_f64 "ag_choice_f64"
    choice_u8 ag_larger_u8(choice_u8, choice_u8)
    choice_i8 ag_larger_i8(choice_i8, choice_i8)
    choice_i16 ag_larger_i16(choice_i16, choice_i16)
    choice_i32 ag_larger_i32(choice_i32, choice_i32)
    choice_i64 ag_larger_i64(choice_i64, choice_i64)
    choice_f32 ag_larger_f32(choice_f32, choice_f32)
    choice_f64 ag_larger_f64(choice_f64, choice_f64)
    choice_u8 ag_smaller_u8(choice_u8, choice_u8)
    choice_i8 ag_smaller_i8(choice_i8, choice_i8)
    choice_i16 ag_smaller_i16(choice_i16, choice_i16)
    choice_i32 ag_smaller_i32(choice_i32, choice_i32)
    choice_i64 ag_smaller_i64(choice_i64, choice_i64)
    choice_f32 ag_smaller_f32(choice_f32, choice_f32)
    choice_f64 ag_smaller_f64(choice_f64, choice_f64)
    enum:
        AG_HAS_BEST
        AG_CHOICE  # bytes of ag_choice_...
    float ag_largest_f32(const float*, Py_ssize_t)
    float ag_smallest_f32(const float*, Py_ssize_t)
    double ag_largest_f64(const double*, Py_ssize_t)
    double ag_smallest_f64(const double*, Py_ssize_t)
    double ag_product_f32(const float*, Py_ssize_t)
    double ag_product_f64(const double*, Py_ssize_t)
    void ag_products_f32(const float*, Py_ssize_t, Py_ssize_t, Py_ssize_t, double*)
    void ag_products_f64(const double*, Py_ssize_t, Py_ssize_t, Py_ssize_t, double*)
    double ag_squares_f32(const float*, Py_ssize_t)
    double ag_squares_f64(const double*, Py_ssize_t)

cdef extern from "<math.h>" nogil:
    double INFINITY

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

ctypedef fused choice_t:
    choice_u8
    choice_i8
    choice_i16
    choice_i32
    choice_i64
    choice_f32
    choice_f64

ctypedef fused adding_t:
    lanes_i64
    lanes_f32
    lanes_f64

cdef enum:
    VECTOR = 32      # bytes of a vector of lanes.h
    FEW = 8
    BLOCK = 512      # elements of a float sum that are added without the pairwise tree
    LONG = 8192      # elements of a float sum that is read at four places at once
    FOLD = 128       # rows of a column sum before it is folded into the double accumulators
    HALVES = 1024    # halves widened at once
    NARROW = 24      # rows up to this length are turned, so that lanes run across rows
    GROUP = 64       # rows turned at once

cdef RowTable table


# --- sums -----------------------------------------------------------------------------------

cdef inline void add_vectors(const adding_t* u, Py_ssize_t n, adding_t* out) noexcept nogil:
    """out[0] = sum of n vectors."""
    cdef adding_t a, b, c, d
    cdef Py_ssize_t i
    if adding_t is lanes_f32:
        a = b = c = d = ag_zeros_f32()
    elif adding_t is lanes_f64:
        a = b = c = d = ag_zeros_f64()
    else:
        a = b = c = d = ag_zeros_i64()
    for i from 0 <= i <= n - 8 by 8:
        a += u[i]
        b += u[i + 1]
        c += u[i + 2]
        d += u[i + 3]
        a += u[i + 4]
        b += u[i + 5]
        c += u[i + 6]
        d += u[i + 7]
    if i + 4 <= n:
        a += u[i]
        b += u[i + 1]
        c += u[i + 2]
        d += u[i + 3]
        i += 4
    for i in range(i, n):
        a += u[i]
    out[0] = (a + b) + (c + d)


cdef inline void add_quarters(const real_t* p, Py_ssize_t apart, Py_ssize_t n,
                              adding_t* out) noexcept nogil:
    """out[0] = sum of the vectors of n elements each at p, p + apart, p + 2 apart, p + 3 apart."""
    cdef const adding_t* u = <const adding_t*>p
    cdef const adding_t* v = <const adding_t*>(p + apart)
    cdef const adding_t* w = <const adding_t*>(p + 2 * apart)
    cdef const adding_t* x = <const adding_t*>(p + 3 * apart)
    cdef adding_t a = u[0], b = v[0], c = w[0], d = x[0]
    cdef Py_ssize_t i
    for i in range(1, n * <Py_ssize_t>sizeof(real_t) // VECTOR):
        a += u[i]
        b += v[i]
        c += w[i]
        d += x[i]
    out[0] = (a + b) + (c + d)


cdef inline void even_and_odd(const real_t* lanes, double* pair) noexcept nogil:
    """The sum of the lanes at even places, and that of those at odd ones."""
    if real_t is float:
        pair[0] = (lanes[0] + lanes[4]) + (lanes[2] + lanes[6])
        pair[1] = (lanes[1] + lanes[5]) + (lanes[3] + lanes[7])
    else:
        pair[0] = lanes[0] + lanes[2]
        pair[1] = lanes[1] + lanes[3]


cdef inline void block_sum(const real_t* p, Py_ssize_t n, double* pair) noexcept nogil:
    """Sums of the elements at even and at odd places (a complex sum needs them apart)."""
    cdef real_t lanes[FEW]
    cdef Py_ssize_t width = VECTOR // sizeof(real_t)
    cdef Py_ssize_t m = n // width, i
    if real_t is float:
        add_vectors(<const lanes_f32*>p, m, <lanes_f32*>lanes)
    else:
        add_vectors(<const lanes_f64*>p, m, <lanes_f64*>lanes)
    m *= width
    for i in range(n - m):
        lanes[i] += p[m + i]
    even_and_odd(lanes, pair)


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


cdef inline void block_of_quarters(const real_t* p, Py_ssize_t apart, Py_ssize_t n,
                                   double* pair) noexcept nogil:
    """block_sum() of n elements each of four rows; n is a multiple of FEW."""
    cdef real_t lanes[FEW]
    if real_t is float:
        add_quarters(p, apart, n, <lanes_f32*>lanes)
    else:
        add_quarters(p, apart, n, <lanes_f64*>lanes)
    even_and_odd(lanes, pair)


cdef void sum_of_quarters(const real_t* p, Py_ssize_t apart, Py_ssize_t n,
                          double* pair) noexcept nogil:
    cdef double left[2]
    cdef Py_ssize_t half
    if n <= BLOCK // 4:
        block_of_quarters(p, apart, n, pair)
        return
    half = (n // (BLOCK // 4) + 1) // 2 * (BLOCK // 4)
    sum_of_quarters(p, apart, half, left)
    sum_of_quarters(p + half, apart, n - half, pair)
    pair[0] += left[0]
    pair[1] += left[1]


cdef inline void whole_sum(const real_t* p, Py_ssize_t n, double* pair) noexcept nogil:
    """pairwise_sum(); a long one goes through its quarters side by side, as several streams come
    faster out of memory than one."""
    cdef double rest[2]
    cdef Py_ssize_t quarter
    if n < LONG:
        pairwise_sum(p, n, pair)
        return
    quarter = n // BLOCK * (BLOCK // 4)
    sum_of_quarters(p, quarter, quarter, pair)
    if 4 * quarter < n:
        pairwise_sum(p + 4 * quarter, n - 4 * quarter, rest)
        pair[0] += rest[0]
        pair[1] += rest[1]


cdef inline void transpose_block(const num_t* p, Py_ssize_t step, num_t* tile, Py_ssize_t rows,
                                 Py_ssize_t n) noexcept nogil:
    """tile[j][r] = p[r][j]; rows of p are `step` elements apart, those of `tile` GROUP."""
    cdef Py_ssize_t r, j
    for j in range(n):
        for r in range(rows):
            tile[j * GROUP + r] = p[r * step + j]


cdef void sum_short_rows(const real_t* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
                         double* acc) noexcept nogil:
    """sum_rows() of n < FEW elements, GROUP rows at once; the order is that of block_sum()."""
    cdef real_t tile[FEW * GROUP]
    cdef Py_ssize_t r, some, i
    cdef real_t even, odd
    memset(tile, 0, sizeof(tile))
    for r from 0 <= r < rows by GROUP:
        some = rows - r if rows - r < GROUP else GROUP
        transpose_block(<const real_t*>(<const char*>p + r * step),
                        step // <Py_ssize_t>sizeof(real_t), tile,
                        some, n)
        for i in range(some):
            even = (tile[i] + tile[4 * GROUP + i]) + (tile[2 * GROUP + i] + tile[6 * GROUP + i])
            odd = ((tile[GROUP + i] + tile[5 * GROUP + i])
                   + (tile[3 * GROUP + i] + tile[7 * GROUP + i]))
            acc[r + i] = <double>even + <double>odd


cdef void sum_rows(const real_t* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
                   double* acc) noexcept nogil:
    cdef Py_ssize_t r
    cdef double pair[2]
    if n < FEW and rows >= FEW and step % <Py_ssize_t>sizeof(real_t) == 0:
        sum_short_rows(p, rows, step, n, acc)
        return
    for r in range(rows):
        whole_sum(<const real_t*>(<const char*>p + r * step), n, pair)
        acc[r] = pair[0] + pair[1]


cdef void square_rows(const real_t* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
                      double* acc) noexcept nogil:
    """Sums of squares, by blocks that are added in double."""
    cdef const real_t* q
    cdef Py_ssize_t r, i
    for r in range(rows):
        q = <const real_t*>(<const char*>p + r * step)
        acc[r] = 0
        for i from 0 <= i < n by BLOCK:
            if real_t is float:
                acc[r] += ag_squares_f32(q + i, n - i if n - i < BLOCK else BLOCK)
            else:
                acc[r] += ag_squares_f64(q + i, n - i if n - i < BLOCK else BLOCK)


cdef void square_cols(const real_t* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
                      double* acc) noexcept nogil:
    cdef const real_t* q
    cdef Py_ssize_t r, j
    cdef double x
    for j in range(n):
        acc[j] = 0
    for r in range(rows):
        q = <const real_t*>(<const char*>p + r * step)
        for j in range(n):
            x = q[j]
            acc[j] = fma(x, x, acc[j])


cdef void sum_rows_complex(const real_t* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
                           double* acc) noexcept nogil:
    cdef Py_ssize_t r
    for r in range(rows):
        whole_sum(<const real_t*>(<const char*>p + r * step), 2 * n, acc + 2 * r)


cdef void sum_rows_int(const int_t* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
                       int64_t* acc) noexcept nogil:
    cdef Py_ssize_t r, i, start
    cdef const int_t* q
    cdef int64_t s
    cdef int64_t lanes[4]
    for r in range(rows):
        q = <const int_t*>(<const char*>p + r * step)
        s = 0
        start = 0
        if int_t is int64_t:
            start = n // 4 * 4
            add_vectors(<const lanes_i64*>q, n // 4, <lanes_i64*>lanes)
            s = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
        for i in range(start, n):
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
    cdef Py_ssize_t first, r, stop, j
    for j in range(n):
        acc[j] = 0
    for first from 0 <= first < rows by FOLD:
        stop = first + FOLD if first + FOLD < rows else rows
        for j in range(n):
            tile[j] = 0
        for r from first <= r <= stop - 4 by 4:
            a = <const real_t*>(base + r * step)
            b = <const real_t*>(base + (r + 1) * step)
            c = <const real_t*>(base + (r + 2) * step)
            d = <const real_t*>(base + (r + 3) * step)
            for j in range(n):
                tile[j] += (a[j] + b[j]) + (c[j] + d[j])
        for r in range(r, stop):
            a = <const real_t*>(base + r * step)
            for j in range(n):
                tile[j] += a[j]
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
    cdef const real_t* q
    cdef Py_ssize_t r
    for r in range(rows):
        q = <const real_t*>(<const char*>p + r * step)
        if real_t is float:
            acc[r] = ag_product_f32(q, n)
        else:
            acc[r] = ag_product_f64(q, n)


cdef inline void times(double* acc, double re, double im) noexcept nogil:
    """acc[0] + acc[1] i times re + im i."""
    cdef double x = acc[0], y = acc[1]
    acc[0] = AG_ROUNDED(x * re) - AG_ROUNDED(y * im)
    acc[1] = AG_ROUNDED(x * im) + AG_ROUNDED(y * re)


cdef void prod_rows_complex(const real_t* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
                            double* acc) noexcept nogil:
    cdef const real_t* q
    cdef Py_ssize_t r, i
    cdef double product[2]
    for r in range(rows):
        q = <const real_t*>(<const char*>p + r * step)
        product[0] = 1
        product[1] = 0
        for i in range(n):
            times(product, q[2 * i], q[2 * i + 1])
        acc[2 * r] = product[0]
        acc[2 * r + 1] = product[1]


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
    if real_t is float:
        ag_products_f32(p, rows, step, n, acc)
    else:
        ag_products_f64(p, rows, step, n, acc)


cdef void prod_cols_complex(const real_t* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
                            double* acc) noexcept nogil:
    cdef const real_t* q
    cdef Py_ssize_t r, j
    for j in range(n):
        acc[2 * j] = 1
        acc[2 * j + 1] = 0
    for r in range(rows):
        q = <const real_t*>(<const char*>p + r * step)
        for j in range(n):
            times(acc + 2 * j, q[2 * j], q[2 * j + 1])


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


include "row_loops/extremes.pxi"
include "row_loops/accumulators.pxi"
include "row_loops/halves.pxi"
include "row_loops/softmax.pxi"


# --- the table ------------------------------------------------------------------------------

cdef void fill_ints(int dt, int_t* unused) noexcept:
    table.rows[R_SUM][dt] = <rows_fn>sum_rows_int[int_t]
    table.rows[R_PROD][dt] = <rows_fn>prod_rows_int[int_t]
    table.cols[R_SUM][dt] = <cols_fn>sum_cols_int[int_t]
    table.cols[R_PROD][dt] = <cols_fn>prod_cols_int[int_t]


cdef void fill_reals(int dt, real_t* unused) noexcept:
    table.rows[R_SUM][dt] = <rows_fn>sum_rows[real_t]
    table.rows[R_PROD][dt] = <rows_fn>prod_rows[real_t]
    table.rows[R_SQUARES][dt] = <rows_fn>square_rows[real_t]
    table.cols[R_SQUARES][dt] = <cols_fn>square_cols[real_t]
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


fill_table()


def table_capsule():
    """Capsule with the address of the table (see row_loops.pxd)."""
    return PyCapsule_New(&table, "autograd_cy.row_table", NULL)
