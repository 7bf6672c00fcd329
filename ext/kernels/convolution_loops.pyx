# cython: language_level=3
# build: simd
# The loops of convolutions: the innermost blocks (scalar/conv_micro.h), and copies that bring what
# they read in order.  Compiled once per instruction set; convolution.pyx says what is called when.

from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint64_t
from libc.string cimport memcpy

from autograd_cy._C.convolution_loops cimport CONV_F32, CONV_F64, CONV_U64, ConvTable
from autograd_cy._C.dtypes cimport (
    DT_BF16, DT_F16, DT_F32, DT_F64, DT_I16, DT_I32, DT_I64, DT_I8, DT_U8)

cdef extern from "scalar/types.h":
    float ag_f16_to_f32(uint16_t h) noexcept nogil
    uint16_t ag_f32_to_f16(float x) noexcept nogil
    float ag_bf16_to_f32(uint16_t h) noexcept nogil
    uint16_t ag_f32_to_bf16(float x) noexcept nogil

cdef extern from "scalar/conv_micro.h":
    enum:
        AG_ROWS
        AG_VECTOR_BYTES
        AG_HELD
    void ag_gather_f32(
        int rows, int vecs, Py_ssize_t k, const float* w, const float* const* b,
        const Py_ssize_t* off, const float* first, float* c, Py_ssize_t row_step,
        Py_ssize_t vec_step) noexcept nogil
    void ag_gather_f64(
        int rows, int vecs, Py_ssize_t k, const double* w, const double* const* b,
        const Py_ssize_t* off, const double* first, double* c, Py_ssize_t row_step,
        Py_ssize_t vec_step) noexcept nogil
    void ag_gather_u64(
        int rows, int vecs, Py_ssize_t k, const uint64_t* w, const uint64_t* const* b,
        const Py_ssize_t* off, const uint64_t* first, uint64_t* c, Py_ssize_t row_step,
        Py_ssize_t vec_step) noexcept nogil
    void ag_slim_f32(
        Py_ssize_t rows, Py_ssize_t n, Py_ssize_t k, const float* w, const Py_ssize_t* off,
        const float* first, const float* x, Py_ssize_t x_step, float* y,
        Py_ssize_t y_step) noexcept nogil
    void ag_slim_f64(
        Py_ssize_t rows, Py_ssize_t n, Py_ssize_t k, const double* w, const Py_ssize_t* off,
        const double* first, const double* x, Py_ssize_t x_step, double* y,
        Py_ssize_t y_step) noexcept nogil
    void ag_tap_f32(
        int taps, int vecs, Py_ssize_t runs, Py_ssize_t length, const float* x,
        const Py_ssize_t* at, const Py_ssize_t* base, const float* y, float* c,
        Py_ssize_t row_step) noexcept nogil
    void ag_tap_f64(
        int taps, int vecs, Py_ssize_t runs, Py_ssize_t length, const double* x,
        const Py_ssize_t* at, const Py_ssize_t* base, const double* y, double* c,
        Py_ssize_t row_step) noexcept nogil
    void ag_tap_u64(
        int taps, int vecs, Py_ssize_t runs, Py_ssize_t length, const uint64_t* x,
        const Py_ssize_t* at, const Py_ssize_t* base, const uint64_t* y, uint64_t* c,
        Py_ssize_t row_step) noexcept nogil
    void ag_dot_f32(
        int rows, int cols, Py_ssize_t runs, Py_ssize_t length, const float* x,
        const Py_ssize_t* at, const Py_ssize_t* base, const float* y, Py_ssize_t y_step,
        float* c, Py_ssize_t col_step) noexcept nogil
    void ag_collect_f32(
        Py_ssize_t k, const Py_ssize_t* off, int runs, const Py_ssize_t* source,
        const Py_ssize_t* to, const Py_ssize_t* count, const float* base, float* tile,
        Py_ssize_t width) noexcept nogil
    void ag_dot_f64(
        int rows, int cols, Py_ssize_t runs, Py_ssize_t length, const double* x,
        const Py_ssize_t* at, const Py_ssize_t* base, const double* y, Py_ssize_t y_step,
        double* c, Py_ssize_t col_step) noexcept nogil
    void ag_collect_f64(
        Py_ssize_t k, const Py_ssize_t* off, int runs, const Py_ssize_t* source,
        const Py_ssize_t* to, const Py_ssize_t* count, const double* base, double* tile,
        Py_ssize_t width) noexcept nogil
    void ag_dot_u64(
        int rows, int cols, Py_ssize_t runs, Py_ssize_t length, const uint64_t* x,
        const Py_ssize_t* at, const Py_ssize_t* base, const uint64_t* y, Py_ssize_t y_step,
        uint64_t* c, Py_ssize_t col_step) noexcept nogil
    void ag_collect_u64(
        Py_ssize_t k, const Py_ssize_t* off, int runs, const Py_ssize_t* source,
        const Py_ssize_t* to, const Py_ssize_t* count, const uint64_t* base, uint64_t* tile,
        Py_ssize_t width) noexcept nogil
    void ag_spread_f32(
        Py_ssize_t rows, int runs, const Py_ssize_t* source, const Py_ssize_t* to,
        const Py_ssize_t* count, const float* sums, Py_ssize_t width, float* result,
        Py_ssize_t row_step) noexcept nogil
    void ag_spread_f64(
        Py_ssize_t rows, int runs, const Py_ssize_t* source, const Py_ssize_t* to,
        const Py_ssize_t* count, const double* sums, Py_ssize_t width, double* result,
        Py_ssize_t row_step) noexcept nogil
    void ag_twins_f32(
        Py_ssize_t rows, Py_ssize_t n, const Py_ssize_t* k, const float* const* w,
        const Py_ssize_t* const* off, float first, const float* s, Py_ssize_t s_step, float* d,
        Py_ssize_t d_step) noexcept nogil
    void ag_lanes_f32(
        int vecs, int step, Py_ssize_t rows, Py_ssize_t cols, Py_ssize_t k, const float* w,
        const Py_ssize_t* off, const float* first, const float* x, Py_ssize_t x_row,
        float* tile) noexcept nogil
    void ag_unlane_f32(
        Py_ssize_t n, Py_ssize_t channels, const float* tile, Py_ssize_t width, float* y,
        Py_ssize_t y_step) noexcept nogil
    void ag_copy_f32(float* d, const float* s, Py_ssize_t n) noexcept nogil
    void ag_copy_f64(double* d, const double* s, Py_ssize_t n) noexcept nogil
    void ag_halve_f32(float* d, const float* s, Py_ssize_t n) noexcept nogil
    void ag_turn_f32(
        Py_ssize_t n, Py_ssize_t cols, Py_ssize_t width, const float* source, Py_ssize_t ld,
        float* result) noexcept nogil
    void ag_turn_f64(
        Py_ssize_t n, Py_ssize_t cols, Py_ssize_t width, const double* source, Py_ssize_t ld,
        double* result) noexcept nogil
    void ag_lines_f32(
        Py_ssize_t n, Py_ssize_t cols, const float* sums, const Py_ssize_t* row,
        Py_ssize_t width, float* lines, Py_ssize_t line) noexcept nogil
    void ag_lines_f64(
        Py_ssize_t n, Py_ssize_t cols, const double* sums, const Py_ssize_t* row,
        Py_ssize_t width, double* lines, Py_ssize_t line) noexcept nogil
    void ag_lines_u64(
        Py_ssize_t n, Py_ssize_t cols, const uint64_t* sums, const Py_ssize_t* row,
        Py_ssize_t width, uint64_t* lines, Py_ssize_t line) noexcept nogil
    void ag_weights_f32(
        Py_ssize_t rows, Py_ssize_t k, const float* w, Py_ssize_t row_step, const Py_ssize_t* off,
        float* result) noexcept nogil
    void ag_weights_f64(
        Py_ssize_t rows, Py_ssize_t k, const double* w, Py_ssize_t row_step, const Py_ssize_t* off,
        double* result) noexcept nogil

cdef enum:
    # Elements of rows that are copied in place: to call memcpy would take longer.
    SHORT = 128

ctypedef fused stored:
    float
    double
    uint8_t
    int8_t
    int16_t
    int32_t
    int64_t

ctypedef fused real:
    float
    double


cdef void gather_rows(
        int kind, int rows, int vecs, Py_ssize_t k, const void* w, const void* const* b,
        const Py_ssize_t* off, const void* first, void* c, Py_ssize_t row_step,
        Py_ssize_t vec_step) noexcept nogil:
    if kind == CONV_F32:
        ag_gather_f32(
            rows, vecs, k, <const float*>w, <const float* const*>b, off, <const float*>first,
            <float*>c, row_step, vec_step)
    elif kind == CONV_F64:
        ag_gather_f64(
            rows, vecs, k, <const double*>w, <const double* const*>b, off, <const double*>first,
            <double*>c, row_step, vec_step)
    else:
        ag_gather_u64(
            rows, vecs, k, <const uint64_t*>w, <const uint64_t* const*>b, off,
            <const uint64_t*>first, <uint64_t*>c, row_step, vec_step)


cdef void slim(
        int kind, Py_ssize_t rows, Py_ssize_t n, Py_ssize_t k, const void* w, const Py_ssize_t* off,
        const void* first, const void* x, Py_ssize_t x_step, void* y,
        Py_ssize_t y_step) noexcept nogil:
    if kind == CONV_F32:
        ag_slim_f32(rows, n, k, <const float*>w, off, <const float*>first, <const float*>x, x_step,
                    <float*>y, y_step)
    else:
        ag_slim_f64(rows, n, k, <const double*>w, off, <const double*>first, <const double*>x,
                    x_step, <double*>y, y_step)


cdef void tap(
        int kind, int taps, int vecs, Py_ssize_t runs, Py_ssize_t length, const void* x,
        const Py_ssize_t* at, const Py_ssize_t* base, const void* y, void* c,
        Py_ssize_t row_step) noexcept nogil:
    if kind == CONV_F32:
        ag_tap_f32(
            taps, vecs, runs, length, <const float*>x, at, base, <const float*>y, <float*>c,
            row_step)
    elif kind == CONV_F64:
        ag_tap_f64(
            taps, vecs, runs, length, <const double*>x, at, base, <const double*>y, <double*>c,
            row_step)
    else:
        ag_tap_u64(
            taps, vecs, runs, length, <const uint64_t*>x, at, base, <const uint64_t*>y,
            <uint64_t*>c, row_step)


cdef void dot(
        int kind, int rows, int cols, Py_ssize_t runs, Py_ssize_t length, const void* x,
        const Py_ssize_t* at, const Py_ssize_t* base, const void* y, Py_ssize_t y_step, void* c,
        Py_ssize_t col_step) noexcept nogil:
    if kind == CONV_F32:
        ag_dot_f32(rows, cols, runs, length, <const float*>x, at, base, <const float*>y, y_step,
                   <float*>c, col_step)
    elif kind == CONV_F64:
        ag_dot_f64(rows, cols, runs, length, <const double*>x, at, base, <const double*>y, y_step,
                   <double*>c, col_step)
    else:
        ag_dot_u64(rows, cols, runs, length, <const uint64_t*>x, at, base, <const uint64_t*>y,
                   y_step, <uint64_t*>c, col_step)


# Copies.

cdef void collect(
        int kind, Py_ssize_t k, const Py_ssize_t* off, int runs, const Py_ssize_t* source,
        const Py_ssize_t* to, const Py_ssize_t* count, const void* x, void* tile,
        Py_ssize_t width) noexcept nogil:
    if kind == CONV_F32:
        ag_collect_f32(k, off, runs, source, to, count, <const float*>x, <float*>tile, width)
    elif kind == CONV_F64:
        ag_collect_f64(k, off, runs, source, to, count, <const double*>x, <double*>tile, width)
    else:
        ag_collect_u64(k, off, runs, source, to, count, <const uint64_t*>x, <uint64_t*>tile, width)


cdef inline void spread_real(
        Py_ssize_t rows, int runs, const Py_ssize_t* source, const Py_ssize_t* to,
        const Py_ssize_t* count, const real* sums, Py_ssize_t width, real* result,
        Py_ssize_t row_step, Py_ssize_t step) noexcept nogil:
    cdef Py_ssize_t _, j
    cdef int i
    cdef const real* s
    cdef real* d
    if step == 1:
        if real is float:
            ag_spread_f32(rows, runs, source, to, count, sums, width, result, row_step)
        else:
            ag_spread_f64(rows, runs, source, to, count, sums, width, result, row_step)
        return
    for _ in range(rows):
        for i in range(runs):
            s = sums + source[i]
            d = result + to[i]
            if step == 2:
                for j in range(count[i]):
                    d[2 * j] = s[j]
            else:
                for j in range(count[i]):
                    d[j * step] = s[j]
        sums += width
        result += row_step


cdef void spread(
        int dt, Py_ssize_t rows, int runs, const Py_ssize_t* source, const Py_ssize_t* to,
        const Py_ssize_t* count, const void* sums, Py_ssize_t width, void* result,
        Py_ssize_t row_step, Py_ssize_t step) noexcept nogil:
    cdef Py_ssize_t r, size, wide
    cdef int i
    if dt == DT_F32:
        spread_real(rows, runs, source, to, count, <const float*>sums, width, <float*>result,
                    row_step, step)
    elif dt == DT_F64:
        spread_real(rows, runs, source, to, count, <const double*>sums, width, <double*>result,
                    row_step, step)
    else:
        size = size_of(dt)
        wide = 4 if dt == DT_F16 or dt == DT_BF16 else 8
        for r in range(rows):
            for i in range(runs):
                narrow(dt, <const char*>sums + (r * width + source[i]) * wide, count[i],
                       <char*>result + (r * row_step + to[i]) * size, step)


cdef inline void widen_ints(
        const stored* source, Py_ssize_t step, Py_ssize_t n, uint64_t* result) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        result[i] = <uint64_t><int64_t>source[i * step]


cdef inline void spaced(
        const real* source, Py_ssize_t step, Py_ssize_t n, real* result) noexcept nogil:
    cdef Py_ssize_t i
    if step == 1 and n > SHORT:
        memcpy(result, source, n * sizeof(real))
    elif step == 1:
        if real is float:
            ag_copy_f32(result, source, n)
        else:
            ag_copy_f64(result, source, n)
    elif step == 2:
        if real is float:
            ag_halve_f32(result, source, n)
        else:
            for i in range(n):
                result[i] = source[2 * i]
    else:
        for i in range(n):
            result[i] = source[i * step]


cdef inline void widen_halves(
        bint brain, const uint16_t* source, Py_ssize_t step, Py_ssize_t n,
        float* result) noexcept nogil:
    cdef Py_ssize_t i
    if brain:
        for i in range(n):
            result[i] = ag_bf16_to_f32(source[i * step])
    else:
        for i in range(n):
            result[i] = ag_f16_to_f32(source[i * step])


cdef void widen(
        int dt, const void* source, Py_ssize_t step, Py_ssize_t n, void* result) noexcept nogil:
    if dt == DT_F32:
        spaced(<const float*>source, step, n, <float*>result)
    elif dt == DT_F64:
        spaced(<const double*>source, step, n, <double*>result)
    elif dt == DT_F16 or dt == DT_BF16:
        widen_halves(dt == DT_BF16, <const uint16_t*>source, step, n, <float*>result)
    elif dt == DT_U8:
        widen_ints(<const uint8_t*>source, step, n, <uint64_t*>result)
    elif dt == DT_I8:
        widen_ints(<const int8_t*>source, step, n, <uint64_t*>result)
    elif dt == DT_I16:
        widen_ints(<const int16_t*>source, step, n, <uint64_t*>result)
    elif dt == DT_I32:
        widen_ints(<const int32_t*>source, step, n, <uint64_t*>result)
    else:
        widen_ints(<const int64_t*>source, step, n, <uint64_t*>result)


cdef inline void narrow_ints(
        const uint64_t* source, Py_ssize_t n, stored* result, Py_ssize_t step) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        result[i * step] = <stored>source[i]


cdef inline void scatter(
        const real* source, Py_ssize_t n, real* result, Py_ssize_t step) noexcept nogil:
    cdef Py_ssize_t i
    if step == 1:
        for i in range(n):
            result[i] = source[i]
    else:
        for i in range(n):
            result[i * step] = source[i]


cdef void narrow(
        int dt, const void* source, Py_ssize_t n, void* result, Py_ssize_t step) noexcept nogil:
    cdef Py_ssize_t i
    if dt == DT_F32:
        scatter(<const float*>source, n, <float*>result, step)
    elif dt == DT_F64:
        scatter(<const double*>source, n, <double*>result, step)
    elif dt == DT_F16:
        for i in range(n):
            (<uint16_t*>result)[i * step] = ag_f32_to_f16((<const float*>source)[i])
    elif dt == DT_BF16:
        for i in range(n):
            (<uint16_t*>result)[i * step] = ag_f32_to_bf16((<const float*>source)[i])
    elif dt == DT_U8:
        narrow_ints(<const uint64_t*>source, n, <uint8_t*>result, step)
    elif dt == DT_I8:
        narrow_ints(<const uint64_t*>source, n, <int8_t*>result, step)
    elif dt == DT_I16:
        narrow_ints(<const uint64_t*>source, n, <int16_t*>result, step)
    elif dt == DT_I32:
        narrow_ints(<const uint64_t*>source, n, <int32_t*>result, step)
    else:
        narrow_ints(<const uint64_t*>source, n, <int64_t*>result, step)


# Weights.

cdef inline void pack_parts(
        Py_ssize_t row, Py_ssize_t rows, Py_ssize_t k, const real* w, Py_ssize_t row_step,
        const Py_ssize_t* off, real* result) noexcept nogil:
    cdef Py_ssize_t p, i
    cdef int part, of_b
    cdef real x
    for p in range(k):
        of_b = p & 1
        for i in range(rows):
            part = (row + i) & 1
            x = w[((row + i) >> 1) * row_step + off[p] + (part ^ of_b)]
            result[p * rows + i] = -x if of_b and not part else x


cdef void pack(
        int dt, int unit, Py_ssize_t row, Py_ssize_t rows, Py_ssize_t k, const void* w,
        Py_ssize_t row_step, const Py_ssize_t* off, void* result) noexcept nogil:
    cdef Py_ssize_t p, i
    cdef const uint16_t* h
    if unit == 2:
        if dt == DT_F32:
            pack_parts(row, rows, k, <const float*>w, row_step, off, <float*>result)
        else:
            pack_parts(row, rows, k, <const double*>w, row_step, off, <double*>result)
    elif dt == DT_F32:
        ag_weights_f32(rows, k, <const float*>w + row * row_step, row_step, off, <float*>result)
    elif dt == DT_F64:
        ag_weights_f64(rows, k, <const double*>w + row * row_step, row_step, off, <double*>result)
    elif dt == DT_F16 or dt == DT_BF16:
        h = <const uint16_t*>w + row * row_step
        for p in range(k):
            widen_halves(dt == DT_BF16, h + off[p], row_step, rows, <float*>result + p * rows)
    else:
        i = size_of(dt)
        for p in range(k):
            widen(dt, <const char*>w + (row * row_step + off[p]) * i, row_step, rows,
                  <uint64_t*>result + p * rows)


cdef inline Py_ssize_t size_of(int dt) noexcept nogil:
    if dt == DT_F32 or dt == DT_I32:
        return 4
    if dt == DT_F64 or dt == DT_I64:
        return 8
    return 1 if dt == DT_U8 or dt == DT_I8 else 2


# Columns.

cdef void lines(
        int kind, Py_ssize_t n, Py_ssize_t cols, const void* sums, const Py_ssize_t* row,
        Py_ssize_t width, void* result, Py_ssize_t line) noexcept nogil:
    if kind == CONV_F32:
        ag_lines_f32(n, cols, <const float*>sums, row, width, <float*>result, line)
    elif kind == CONV_F64:
        ag_lines_f64(n, cols, <const double*>sums, row, width, <double*>result, line)
    else:
        ag_lines_u64(n, cols, <const uint64_t*>sums, row, width, <uint64_t*>result, line)


cdef inline void columns_real(
        int unit, Py_ssize_t col, Py_ssize_t cols, Py_ssize_t width, Py_ssize_t n,
        const real* source, Py_ssize_t col_step, Py_ssize_t step, real* result) noexcept nogil:
    cdef Py_ssize_t p, j
    cdef const real* s
    if unit == 1 and step == 1:
        if real is float:
            ag_turn_f32(n, cols, width, source + col * col_step, col_step, result)
        else:
            ag_turn_f64(n, cols, width, source + col * col_step, col_step, result)
        return
    for j in range(cols):
        s = source + (col + j) * col_step
        if unit == 2:
            s = source + ((col + j) >> 1) * col_step + ((col + j) & 1)
        for p in range(n):
            result[p * width + j] = s[p * step]
    for j in range(cols, width):
        for p in range(n):
            result[p * width + j] = 0


cdef void columns(
        int dt, int unit, Py_ssize_t col, Py_ssize_t cols, Py_ssize_t width, Py_ssize_t n,
        const void* source, Py_ssize_t col_step, Py_ssize_t step, void* result) noexcept nogil:
    cdef Py_ssize_t p, j, size
    cdef const char* s
    if dt == DT_F32:
        columns_real(
            unit, col, cols, width, n, <const float*>source, col_step, step, <float*>result)
    elif dt == DT_F64:
        columns_real(
            unit, col, cols, width, n, <const double*>source, col_step, step, <double*>result)
    else:
        size = size_of(dt)
        for p in range(n):
            s = <const char*>source + (col * col_step + p * step) * size
            if dt == DT_F16 or dt == DT_BF16:
                widen(dt, s, col_step, cols, <float*>result + p * width)
                for j in range(cols, width):
                    (<float*>result)[p * width + j] = 0
            else:
                widen(dt, s, col_step, cols, <uint64_t*>result + p * width)
                for j in range(cols, width):
                    (<uint64_t*>result)[p * width + j] = 0


cdef ConvTable table
table.rows = AG_ROWS
table.lanes[CONV_F32] = AG_VECTOR_BYTES // 4
table.lanes[CONV_F64] = table.lanes[CONV_U64] = AG_VECTOR_BYTES // 8
table.taps = 7 if AG_ROWS >= 8 else (6 if AG_ROWS >= 6 else 5)
table.gather = gather_rows
table.slim = slim
table.tap = tap
table.dot = dot
table.collect = collect
table.spread = spread
table.twins = ag_twins_f32
table.held = AG_HELD
table.by_channels = ag_lanes_f32
table.to_images = ag_unlane_f32
table.widen = widen
table.narrow = narrow
table.pack = pack
table.columns = columns
table.lines = lines


def table_capsule():
    """Return the table of this instruction set."""
    return PyCapsule_New(&table, "autograd_cy.convolution_loops", NULL)
