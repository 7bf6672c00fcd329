# cython: language_level=3
# build: simd cold
# The loops around the innermost block of matrix products (scalar/gemm_micro.h): packing, walking
# over blocks, the products of very narrow matrices, and rounding to the half types.
# Compiled once per instruction set; gemm.pyx picks one copy and decides what is called when.

from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

from autograd_cy._C.dtypes cimport (
    DT_BF16 as BFLOAT16, DT_C64 as COMPLEX64, DT_F16 as FLOAT16, DT_F64 as FLOAT64, DT_I16 as INT16,
    DT_I32 as INT32, DT_I64 as INT64, DT_I8 as INT8, DT_U8 as UINT8)
from autograd_cy._C.gemm_loops cimport (
    BY_ROWS, CHUNK, KIND_F32, KIND_F64, KIND_U32, KIND_U64, LONGEST_DIRECT,
    LONGEST_PACK, LoopTable, STRIPS)
from autograd_cy._C.sizes cimport parts

include "fused.pxi"

cdef extern from "scalar/types.h":
    float ag_f16_to_f32(uint16_t h) noexcept nogil
    uint16_t ag_f32_to_f16(float x) noexcept nogil
    float ag_bf16_to_f32(uint16_t h) noexcept nogil
    uint16_t ag_f32_to_bf16(float x) noexcept nogil

cdef extern from "scalar/gemm_micro.h":
    enum:
        AG_ROWS
        AG_VECTOR_BYTES
    void ag_prefetch(const void* address) noexcept nogil
    void ag_prefetch_written(const void* address) noexcept nogil

    void ag_by_rows_f32(
        int rows, Py_ssize_t k, const float* a, Py_ssize_t step, const float* b, Py_ssize_t ldb,
        float alpha, float beta, const float* base, Py_ssize_t ld_base, float* c,
        Py_ssize_t ldc, int cols) noexcept nogil
    void ag_by_rows_f64(
        int rows, Py_ssize_t k, const double* a, Py_ssize_t step, const double* b, Py_ssize_t ldb,
        double alpha, double beta, const double* base, Py_ssize_t ld_base, double* c,
        Py_ssize_t ldc, int cols) noexcept nogil
    void ag_by_columns_f32(
        int rows, Py_ssize_t k, const float* a, Py_ssize_t step, const float* b, Py_ssize_t ldb,
        float alpha, float beta, const float* base, Py_ssize_t ld_base, float* c,
        Py_ssize_t ldc, int cols) noexcept nogil
    void ag_by_columns_f64(
        int rows, Py_ssize_t k, const double* a, Py_ssize_t step, const double* b, Py_ssize_t ldb,
        double alpha, double beta, const double* base, Py_ssize_t ld_base, double* c,
        Py_ssize_t ldc, int cols) noexcept nogil
    void ag_by_columns_u32(
        int rows, Py_ssize_t k, const uint32_t* a, Py_ssize_t step, const uint32_t* b,
        Py_ssize_t ldb, uint32_t alpha, uint32_t beta, const uint32_t* base, Py_ssize_t ld_base,
        uint32_t* c, Py_ssize_t ldc, int cols) noexcept nogil
    void ag_by_columns_u64(
        int rows, Py_ssize_t k, const uint64_t* a, Py_ssize_t step, const uint64_t* b,
        Py_ssize_t ldb, uint64_t alpha, uint64_t beta, const uint64_t* base, Py_ssize_t ld_base,
        uint64_t* c, Py_ssize_t ldc, int cols) noexcept nogil

    void ag_pack_rows_u32(
        Py_ssize_t k, Py_ssize_t cols, const uint32_t* s, Py_ssize_t ld,
        uint32_t* d) noexcept nogil
    void ag_pack_rows_u64(
        Py_ssize_t k, Py_ssize_t cols, const uint64_t* s, Py_ssize_t ld,
        uint64_t* d) noexcept nogil
    void ag_pack_transposed_u32(
        Py_ssize_t k, Py_ssize_t cols, Py_ssize_t width, const uint32_t* s, Py_ssize_t ld,
        uint32_t* d) noexcept nogil
    void ag_pack_transposed_u64(
        Py_ssize_t k, Py_ssize_t cols, Py_ssize_t width, const uint64_t* s, Py_ssize_t ld,
        uint64_t* d) noexcept nogil
    void ag_pack_strip_u32(
        Py_ssize_t k, Py_ssize_t rows, const uint32_t* s, Py_ssize_t ld,
        uint32_t* d) noexcept nogil
    void ag_pack_strip_u64(
        Py_ssize_t k, Py_ssize_t rows, const uint64_t* s, Py_ssize_t ld,
        uint64_t* d) noexcept nogil

    void ag_dot_rows_f32(
        Py_ssize_t rows, int few, Py_ssize_t k, const float* w, Py_ssize_t ld, const float* x,
        Py_ssize_t ldx, float alpha, float beta, float* c, Py_ssize_t row_step,
        Py_ssize_t col_step) noexcept nogil
    void ag_dot_rows_f64(
        Py_ssize_t rows, int few, Py_ssize_t k, const double* w, Py_ssize_t ld, const double* x,
        Py_ssize_t ldx, double alpha, double beta, double* c, Py_ssize_t row_step,
        Py_ssize_t col_step) noexcept nogil
    void ag_add_product_f32(
        Py_ssize_t n, Py_ssize_t k, int few, const float* w, Py_ssize_t ld, const float* x,
        Py_ssize_t ldx, float* y, Py_ssize_t ldy) noexcept nogil
    void ag_add_product_f64(
        Py_ssize_t n, Py_ssize_t k, int few, const double* w, Py_ssize_t ld, const double* x,
        Py_ssize_t ldx, double* y, Py_ssize_t ldy) noexcept nogil
    void ag_pack_complex_f32(
        Py_ssize_t k, Py_ssize_t cols, const float* s, Py_ssize_t k_step, Py_ssize_t col_step,
        bint conj, float alpha_re, float alpha_im, float* d) noexcept nogil
    void ag_pack_complex_f64(
        Py_ssize_t k, Py_ssize_t cols, const double* s, Py_ssize_t k_step, Py_ssize_t col_step,
        bint conj, double alpha_re, double alpha_im, double* d) noexcept nogil
    void ag_strip_complex_f32(
        Py_ssize_t k, Py_ssize_t rows, const float* s, Py_ssize_t ld, bint conj,
        float* d) noexcept nogil
    void ag_strip_complex_f64(
        Py_ssize_t k, Py_ssize_t rows, const double* s, Py_ssize_t ld, bint conj,
        double* d) noexcept nogil

cdef extern from "scalar/gemm_tiny.h":
    enum:
        AG_HAS_TINY
        AG_TINIEST
    void ag_tiny_products_f32(
        Py_ssize_t count, int m, int n, int k, const float* a, Py_ssize_t step_a, Py_ssize_t row,
        Py_ssize_t column, int trans_b, const float* b, Py_ssize_t step_b, Py_ssize_t ldb,
        float alpha, float beta, float* c, Py_ssize_t step_c, Py_ssize_t ldc) noexcept nogil
    void ag_tiny_products_f64(
        Py_ssize_t count, int m, int n, int k, const double* a, Py_ssize_t step_a, Py_ssize_t row,
        Py_ssize_t column, int trans_b, const double* b, Py_ssize_t step_b, Py_ssize_t ldb,
        double alpha, double beta, double* c, Py_ssize_t step_c, Py_ssize_t ldc) noexcept nogil

cdef extern from "scalar/dot_complex.h":
    void ag_parts_of_dot_f32(
        Py_ssize_t k, const float* w, const float* x, float* parts) noexcept nogil
    void ag_parts_of_dot_f64(
        Py_ssize_t k, const double* w, const double* x, double* parts) noexcept nogil
    void ag_turn_f32(float* re, float* im, float by_re, float by_im) noexcept nogil
    void ag_turn_f64(double* re, double* im, double by_re, double by_im) noexcept nogil

cdef enum:
    # Rows of a matrix that are packed together.
    TOGETHER = 16
    # Bytes from one row of a result to the next up to which its columns can be walked down.
    NEAR = 2048

ctypedef fused number:
    float
    double
    uint32_t
    uint64_t

ctypedef fused real:
    float
    double

ctypedef fused word:
    uint32_t
    uint64_t


# Blocks.

cdef inline void block(
        int layout, int rows, Py_ssize_t k, number* a, Py_ssize_t step, number* b, Py_ssize_t ldb,
        number alpha, number beta, const number* base, Py_ssize_t ld_base, number* c,
        Py_ssize_t ldc, int cols) noexcept nogil:
    if number is uint32_t:
        ag_by_columns_u32(
            rows, k, a, step, b, ldb, alpha, beta, base, ld_base, c, ldc, cols)
    elif number is uint64_t:
        ag_by_columns_u64(
            rows, k, a, step, b, ldb, alpha, beta, base, ld_base, c, ldc, cols)
    elif number is float:
        if layout == BY_ROWS:
            ag_by_rows_f32(
                rows, k, a, step, b, ldb, alpha, beta, base, ld_base, c, ldc, cols)
        else:
            ag_by_columns_f32(
                rows, k, a, step, b, ldb, alpha, beta, base, ld_base, c, ldc, cols)
    else:
        if layout == BY_ROWS:
            ag_by_rows_f64(
                rows, k, a, step, b, ldb, alpha, beta, base, ld_base, c, ldc, cols)
        else:
            ag_by_columns_f64(
                rows, k, a, step, b, ldb, alpha, beta, base, ld_base, c, ldc, cols)


cdef inline Py_ssize_t row_jump(int layout, Py_ssize_t k, Py_ssize_t step) noexcept nogil:
    # Distance of two neighbouring groups of rows of a, per row.
    if layout == BY_ROWS:
        return step
    return k if layout == STRIPS else 1


cdef inline void fetch_lines(
        number* a, Py_ssize_t step, Py_ssize_t lines, Py_ssize_t first,
        Py_ssize_t last) noexcept nogil:
    # Cache lines `first` to `last` of rows that have `lines` each.
    cdef Py_ssize_t row, col, _
    if first >= last:
        return
    row, col = first // lines, first % lines
    for _ in range(first, last):
        ag_prefetch(a + row * step + col * (64 // sizeof(number)))
        col += 1
        if col == lines:
            row, col = row + 1, 0


cdef inline void fetch_result(
        number* c, Py_ssize_t ldc, Py_ssize_t rows, Py_ssize_t cols) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(rows):
        ag_prefetch_written(c + i * ldc)
        ag_prefetch_written(c + i * ldc + cols - 1)


cdef void multiply_kind(
        Py_ssize_t m, Py_ssize_t n, Py_ssize_t k, int layout, number* a, Py_ssize_t step,
        number* packed, number alpha, number beta, const number* base, Py_ssize_t ld_base,
        number* c, Py_ssize_t ldc) noexcept nogil:
    # Rows as they lie: a group of them stays in the first-level cache while the strips of b pass
    # by; the lines of the next group are fetched meanwhile.  Few rows, or packed ones where the
    # rows of c are so short that pages of it follow each other slowly: a strip of b stays there
    # while all groups pass by.
    cdef Py_ssize_t width = 2 * AG_VECTOR_BYTES // sizeof(number), most = AG_ROWS
    cdef Py_ssize_t strips = parts(n, width), groups = parts(m, most)
    cdef Py_ssize_t jump = row_jump(layout, k, step), outer, inner, i, strip, rows, cols
    cdef Py_ssize_t share = 0, last = 0
    cdef Py_ssize_t lines = (k * sizeof(number) + 63) // 64
    cdef bint by_strip = groups <= 2 or (layout == STRIPS and ldc * sizeof(number) <= NEAR)
    cdef number* out
    if layout == STRIPS:
        step = AG_ROWS
    else:
        most = parts(m, groups)
    for outer in range(strips if by_strip else groups):
        if not by_strip and layout == BY_ROWS:
            last = lines * max(min(most, m - (outer + 1) * most), <Py_ssize_t>0)
            share = parts(last, strips)
        for inner in range(groups if by_strip else strips):
            i, strip = (inner if by_strip else outer) * most, outer if by_strip else inner
            rows, cols = min(most, m - i), min(width, n - strip * width)
            out = c + i * ldc + strip * width
            fetch_result(out, ldc, rows, cols)
            fetch_lines(
                a + (i + rows) * step, step, lines, strip * share,
                min(strip * share + share, last))
            block(
                layout, <int>rows, k, a + i * jump, step, packed + strip * width * k, width,
                alpha, beta, base + i * ld_base + strip * width, ld_base, out, ldc, <int>cols)


cdef inline void multiply_column(
        Py_ssize_t m, Py_ssize_t k, int layout, number* a, Py_ssize_t step, number* b,
        Py_ssize_t ldb, number alpha, number beta, number* c, Py_ssize_t ldc,
        Py_ssize_t cols) noexcept nogil:
    # Rows are dealt out evenly: 8 rows as 4 and 4 keep the arithmetic units busier than 6 and 2.
    cdef Py_ssize_t groups = parts(m, AG_ROWS)
    cdef Py_ssize_t rows = parts(m, groups), i, jump = row_jump(layout, k, step)
    for i from 0 <= i < m by rows:
        block(
            layout, <int>min(rows, m - i), k, a + i * jump, step, b, ldb, alpha, beta,
            c + i * ldc, ldc, c + i * ldc, ldc, <int>cols)


cdef void multiply_direct_kind(
        Py_ssize_t m, Py_ssize_t n, Py_ssize_t k, int layout, real* a, Py_ssize_t step,
        real* b, Py_ssize_t ldb, real alpha, real beta, real* c, Py_ssize_t ldc) noexcept nogil:
    cdef Py_ssize_t lanes = AG_VECTOR_BYTES // sizeof(real)
    cdef Py_ssize_t whole = n - n % lanes, cols, j, p, q
    # One vector for each k.
    cdef double[LONGEST_DIRECT * 8] scratch
    cdef real* tail = <real*>scratch
    for j from 0 <= j < whole by 2 * lanes:
        cols = min(2 * lanes, whole - j)
        multiply_column(m, k, layout, a, step, b + j, ldb, alpha, beta, c + j, ldc, cols)
    if whole == n:
        return
    # Less than a vector is left: reading b there would leave its rows.
    cols = n - whole
    for p in range(k):
        for q in range(lanes):
            tail[p * lanes + q] = b[p * ldb + whole + q] if q < cols else 0
    multiply_column(m, k, layout, a, step, tail, lanes, alpha, beta, c + whole, ldc, cols)


cdef void multiply(
        int kind, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k, int layout, const void* a,
        Py_ssize_t step, const void* packed, double alpha, double beta,
        void* c, Py_ssize_t ldc) noexcept nogil:
    if kind == KIND_F32:
        multiply_kind[float](
            m, n, k, layout, <float*>a, step, <float*>packed, <float>alpha, <float>beta,
            <const float*>c, ldc, <float*>c, ldc)
    elif kind == KIND_F64:
        multiply_kind[double](
            m, n, k, layout, <double*>a, step, <double*>packed, alpha, beta, <const double*>c, ldc,
            <double*>c, ldc)
    elif kind == KIND_U32:
        multiply_kind[uint32_t](
            m, n, k, layout, <uint32_t*>a, step, <uint32_t*>packed, <uint32_t>alpha,
            <uint32_t>beta, <const uint32_t*>c, ldc, <uint32_t*>c, ldc)
    else:
        multiply_kind[uint64_t](
            m, n, k, layout, <uint64_t*>a, step, <uint64_t*>packed, <uint64_t>alpha,
            <uint64_t>beta, <const uint64_t*>c, ldc, <uint64_t*>c, ldc)


cdef void multiply_onto(
        int kind, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k, int layout, const void* a,
        Py_ssize_t step, const void* packed, double alpha, const void* row,
        void* c, Py_ssize_t ldc) noexcept nogil:
    if kind == KIND_F32:
        multiply_kind[float](
            m, n, k, layout, <float*>a, step, <float*>packed, <float>alpha, 1, <const float*>row,
            0, <float*>c, ldc)
    else:
        multiply_kind[double](
            m, n, k, layout, <double*>a, step, <double*>packed, alpha, 1, <const double*>row, 0,
            <double*>c, ldc)


cdef void multiply_direct(
        int kind, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k, int layout, const void* a,
        Py_ssize_t step, const void* b, Py_ssize_t ldb, double alpha, double beta,
        void* c, Py_ssize_t ldc) noexcept nogil:
    if kind == KIND_F32:
        multiply_direct_kind[float](
            m, n, k, layout, <float*>a, step, <float*>b, ldb, <float>alpha, <float>beta,
            <float*>c, ldc)
    else:
        multiply_direct_kind[double](
            m, n, k, layout, <double*>a, step, <double*>b, ldb, alpha, beta, <double*>c, ldc)


# Packing moves bits, so float32 travels as uint32 and float64 as uint64.  What is narrower than its
# computing type is widened first, a strip at a time.

cdef inline void widen_row(
        int dtype, const char* source, uint32_t* result, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    cdef float* halves = <float*>result
    if dtype == UINT8:
        for i in range(n):
            result[i] = (<uint8_t*>source)[i]
    elif dtype == INT8:
        for i in range(n):
            result[i] = <uint32_t>(<int8_t*>source)[i]
    elif dtype == INT16:
        for i in range(n):
            result[i] = <uint32_t>(<int16_t*>source)[i]
    elif dtype == FLOAT16:
        for i in range(n):
            halves[i] = ag_f16_to_f32((<uint16_t*>source)[i])
    else:
        for i in range(n):
            halves[i] = ag_bf16_to_f32((<uint16_t*>source)[i])


cdef inline Py_ssize_t narrow_size(int dtype) noexcept nogil:
    # Bytes of the types that need widening, 0 for the others.
    if dtype == UINT8 or dtype == INT8:
        return 1
    return 2 if dtype == INT16 or dtype == FLOAT16 or dtype == BFLOAT16 else 0


cdef inline void pack_words(
        bint trans, bint of_a, Py_ssize_t k, Py_ssize_t count, word* source, Py_ssize_t ld,
        word* result) noexcept nogil:
    # One strip; `trans` is about memory: the k elements of a row or column are neighbours.
    if word is uint32_t:
        if trans:
            ag_pack_transposed_u32(
                k, count, AG_ROWS if of_a else 2 * AG_VECTOR_BYTES // 4, source, ld, result)
        elif of_a:
            ag_pack_strip_u32(k, count, source, ld, result)
        else:
            ag_pack_rows_u32(k, count, source, ld, result)
    else:
        if trans:
            ag_pack_transposed_u64(
                k, count, AG_ROWS if of_a else 2 * AG_VECTOR_BYTES // 8, source, ld, result)
        elif of_a:
            ag_pack_strip_u64(k, count, source, ld, result)
        else:
            ag_pack_rows_u64(k, count, source, ld, result)


cdef inline void pack_rows(
        bint of_a, Py_ssize_t width, Py_ssize_t length, Py_ssize_t k, word* source, Py_ssize_t ld,
        word* result) noexcept nogil:
    # All strips from some rows at a time, which are read as they follow each other in memory.
    cdef Py_ssize_t q, start, now
    for q from 0 <= q < k by TOGETHER:
        now = min(<Py_ssize_t>TOGETHER, k - q)
        for start from 0 <= start < length by width:
            pack_words(
                False, of_a, now, min(width, length - start), source + q * ld + start, ld,
                result + start * k + q * width)


cdef void pack(
        int dtype, bint trans, bint of_a, Py_ssize_t length, Py_ssize_t k, const char* source,
        Py_ssize_t ld, char* result) noexcept nogil:
    cdef bint wide = dtype == INT64 or dtype == FLOAT64
    cdef Py_ssize_t size = 8 if wide else 4, narrow = narrow_size(dtype)
    cdef Py_ssize_t width = AG_ROWS if of_a else 2 * AG_VECTOR_BYTES // size
    cdef Py_ssize_t start, count, i, rows, cols
    cdef const char* strip
    # Room for the widest strip of the longest k.
    cdef uint32_t[LONGEST_PACK * 32] widened
    if not trans and not narrow:
        if wide:
            pack_rows(of_a, width, length, k, <uint64_t*>source, ld, <uint64_t*>result)
        else:
            pack_rows(of_a, width, length, k, <uint32_t*>source, ld, <uint32_t*>result)
        return
    for start from 0 <= start < length by width:
        count = min(width, length - start)
        strip = source + (start * ld if trans else start) * (narrow if narrow else size)
        if narrow:
            rows = count if trans else k
            cols = k if trans else count
            for i in range(rows):
                widen_row(dtype, strip + i * ld * narrow, widened + i * cols, cols)
            pack_words(trans, of_a, k, count, widened, cols, <uint32_t*>(result + start * k * 4))
        elif wide:
            pack_words(
                trans, of_a, k, count, <uint64_t*>strip, ld, <uint64_t*>(result + start * k * 8))
        else:
            pack_words(
                trans, of_a, k, count, <uint32_t*>strip, ld, <uint32_t*>(result + start * k * 4))


cdef void pack_complex_b(
        int dtype, int trans, Py_ssize_t k, Py_ssize_t n, const void* b, Py_ssize_t ldb,
        double alpha_re, double alpha_im, char* packed) noexcept nogil:
    cdef bint single = dtype == COMPLEX64
    cdef Py_ssize_t size = 4 if single else 8, width = AG_VECTOR_BYTES // size, start, count
    cdef Py_ssize_t k_step = 1 if trans else ldb, col_step = ldb if trans else 1, offset
    for start from 0 <= start < n by width:
        count = min(width, n - start)
        offset = 2 * start * col_step
        if single:
            ag_pack_complex_f32(
                k, count, <float*>b + offset, k_step, col_step, trans == 2,
                <float>alpha_re, <float>alpha_im, <float*>packed + 4 * start * k)
        else:
            ag_pack_complex_f64(
                k, count, <double*>b + offset, k_step, col_step, trans == 2,
                alpha_re, alpha_im, <double*>packed + 4 * start * k)


cdef void pack_b(
        int dtype, int trans, Py_ssize_t k, Py_ssize_t n, const void* b, Py_ssize_t ldb,
        double alpha_re, double alpha_im, void* packed) noexcept nogil:
    if dtype >= COMPLEX64:
        pack_complex_b(dtype, trans, k, n, b, ldb, alpha_re, alpha_im, <char*>packed)
    else:
        pack(dtype, trans != 0, False, n, k, <const char*>b, ldb, <char*>packed)


cdef void pack_a(
        int dtype, int trans, Py_ssize_t m, Py_ssize_t k,
        const void* a, Py_ssize_t lda, void* packed) noexcept nogil:
    cdef Py_ssize_t start, count
    if dtype < COMPLEX64:
        pack(dtype, trans == 0, True, m, k, <const char*>a, lda, <char*>packed)
        return
    # Complex a is packed only if it is stored transposed.
    for start from 0 <= start < m by AG_ROWS:
        count = min(<Py_ssize_t>AG_ROWS, m - start)
        if dtype == COMPLEX64:
            ag_strip_complex_f32(
                k, count, <float*>a + 2 * start, lda, trans == 2, <float*>packed + 2 * start * k)
        else:
            ag_strip_complex_f64(
                k, count, <double*>a + 2 * start, lda, trans == 2,
                <double*>packed + 2 * start * k)


# Products of a large matrix with one of at most four rows, which read memory once and in order.

cdef void dot_rows(
        int kind, Py_ssize_t m, int few, Py_ssize_t k, const void* w, Py_ssize_t ldw,
        const void* x, Py_ssize_t ldx, double alpha, double beta,
        void* c, Py_ssize_t row_step, Py_ssize_t col_step) noexcept nogil:
    if kind == KIND_F32:
        ag_dot_rows_f32(
            m, few, k, <float*>w, ldw, <float*>x, ldx, <float>alpha, <float>beta,
            <float*>c, row_step, col_step)
    else:
        ag_dot_rows_f64(
            m, few, k, <double*>w, ldw, <double*>x, ldx, alpha, beta,
            <double*>c, row_step, col_step)


cdef inline void add_rows_kind(
        Py_ssize_t m, int few, Py_ssize_t k, real* w, Py_ssize_t ldw, real* x, Py_ssize_t ldx,
        real alpha, real beta, real* c, Py_ssize_t row_step,
        Py_ssize_t col_step) noexcept nogil:
    # Two rows of x at a time.
    cdef double[2 * CHUNK] scratch
    cdef real* sums = <real*>scratch
    cdef int j, f, now
    cdef Py_ssize_t i
    cdef real* out
    for j in range(0, few, 2):
        now = min(2, few - j)
        memset(sums, 0, now * m * sizeof(real))
        if real is float:
            ag_add_product_f32(m, k, now, w, ldw, x + j * ldx, ldx, sums, m)
        else:
            ag_add_product_f64(m, k, now, w, ldw, x + j * ldx, ldx, sums, m)
        for f in range(now):
            out = c + (j + f) * col_step
            if beta == 0:
                for i in range(m):
                    out[i * row_step] = alpha * sums[f * m + i]
            else:
                for i in range(m):
                    out[i * row_step] = fma(beta, out[i * row_step], alpha * sums[f * m + i])


cdef void add_rows(
        int kind, Py_ssize_t m, int few, Py_ssize_t k, const void* w, Py_ssize_t ldw,
        const void* x, Py_ssize_t ldx, double alpha, double beta,
        void* c, Py_ssize_t row_step, Py_ssize_t col_step) noexcept nogil:
    if kind == KIND_F32:
        add_rows_kind(
            m, few, k, <float*>w, ldw, <float*>x, ldx, <float>alpha, <float>beta,
            <float*>c, row_step, col_step)
    else:
        add_rows_kind(
            m, few, k, <double*>w, ldw, <double*>x, ldx, alpha, beta,
            <double*>c, row_step, col_step)


# Products of two complex vectors.

cdef inline void dot_complex_kind(
        Py_ssize_t k, const real* w, bint conj_w, const real* x, bint conj_x, double alpha_re,
        double alpha_im, double beta, real* c) noexcept nogil:
    cdef real[4] sums       # of re re, im im, re im, im re
    cdef real re, im, factor = <real>alpha_re, turn = <real>alpha_im
    if real is float:
        ag_parts_of_dot_f32(k, w, x, sums)
    else:
        ag_parts_of_dot_f64(k, w, x, sums)
    re = sums[0] - sums[1] if conj_w == conj_x else sums[0] + sums[1]
    im = ((-sums[2] if conj_x else sums[2])
          + (-sums[3] if conj_w else sums[3]))
    if turn != 0:
        if real is float:
            ag_turn_f32(&re, &im, factor, turn)
        else:
            ag_turn_f64(&re, &im, factor, turn)
    else:
        re *= factor
        im *= factor
    if beta != 0:
        re = fma(<real>beta, c[0], re)
        im = fma(<real>beta, c[1], im)
    c[0] = re
    c[1] = im


cdef void dot_complex(
        int kind, Py_ssize_t k, const void* w, bint conj_w, const void* x, bint conj_x,
        double alpha_re, double alpha_im, double beta, void* c) noexcept nogil:
    if kind == KIND_F32:
        dot_complex_kind(
            k, <const float*>w, conj_w, <const float*>x, conj_x, alpha_re, alpha_im, beta,
            <float*>c)
    else:
        dot_complex_kind(
            k, <const double*>w, conj_w, <const double*>x, conj_x, alpha_re, alpha_im, beta,
            <double*>c)


# Batches of tiny matrices.

cdef void tiny_products(
        int kind, Py_ssize_t count, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k, const void* a,
        Py_ssize_t step_a, Py_ssize_t row, Py_ssize_t column, bint trans_b, const void* b,
        Py_ssize_t step_b, Py_ssize_t ldb, double alpha, double beta, void* c, Py_ssize_t step_c,
        Py_ssize_t ldc) noexcept nogil:
    if kind == KIND_F32:
        ag_tiny_products_f32(
            count, <int>m, <int>n, <int>k, <const float*>a, step_a, row, column, trans_b,
            <const float*>b, step_b, ldb, <float>alpha, <float>beta, <float*>c, step_c, ldc)
    else:
        ag_tiny_products_f64(
            count, <int>m, <int>n, <int>k, <const double*>a, step_a, row, column, trans_b,
            <const double*>b, step_b, ldb, alpha, beta, <double*>c, step_c, ldc)


# Rounding from the computing type.

ctypedef fused integer:
    uint8_t
    int8_t
    int16_t
    int32_t
    int64_t


cdef inline void narrow_ints(
        Py_ssize_t rows, Py_ssize_t cols, const word* sums, Py_ssize_t ld,
        int64_t alpha, int64_t beta, integer* c, Py_ssize_t ldc) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef word factor = <word>alpha, keep = <word>beta
    for i in range(rows):
        if beta == 0:
            for j in range(cols):
                c[i * ldc + j] = <integer>(factor * sums[i * ld + j])
        else:
            for j in range(cols):
                c[i * ldc + j] = <integer>(
                    factor * sums[i * ld + j] + keep * <word>c[i * ldc + j])


cdef inline void narrow_halves(
        bint brain, Py_ssize_t rows, Py_ssize_t cols, const float* sums, Py_ssize_t ld,
        float alpha, float beta, uint16_t* c, Py_ssize_t ldc) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef const float* row
    cdef uint16_t* out
    for i in range(rows):
        row = sums + i * ld
        out = c + i * ldc
        if beta == 0 and brain:
            for j in range(cols):
                out[j] = ag_f32_to_bf16(alpha * row[j])
        elif beta == 0:
            for j in range(cols):
                out[j] = ag_f32_to_f16(alpha * row[j])
        elif brain:
            for j in range(cols):
                out[j] = ag_f32_to_bf16(fma(beta, ag_bf16_to_f32(out[j]), alpha * row[j]))
        else:
            for j in range(cols):
                out[j] = ag_f32_to_f16(fma(beta, ag_f16_to_f32(out[j]), alpha * row[j]))


cdef void narrow(
        int dtype, Py_ssize_t rows, Py_ssize_t cols, const void* sums, Py_ssize_t ld,
        double alpha, double beta, void* c, Py_ssize_t ldc) noexcept nogil:
    cdef const uint32_t* words = <const uint32_t*>sums
    cdef int64_t factor, keep
    if dtype == FLOAT16 or dtype == BFLOAT16:
        narrow_halves(
            dtype == BFLOAT16, rows, cols, <const float*>sums, ld,
            <float>alpha, <float>beta, <uint16_t*>c, ldc)
        return
    factor = <int64_t>alpha
    keep = <int64_t>beta
    if dtype == UINT8:
        narrow_ints(rows, cols, words, ld, factor, keep, <uint8_t*>c, ldc)
    elif dtype == INT8:
        narrow_ints(rows, cols, words, ld, factor, keep, <int8_t*>c, ldc)
    elif dtype == INT16:
        narrow_ints(rows, cols, words, ld, factor, keep, <int16_t*>c, ldc)
    elif dtype == INT32:
        narrow_ints(rows, cols, words, ld, factor, keep, <int32_t*>c, ldc)
    else:
        narrow_ints(rows, cols, <const uint64_t*>sums, ld, factor, keep, <int64_t*>c, ldc)


cdef LoopTable table
table.rows = AG_ROWS
table.width[KIND_F32] = table.width[KIND_U32] = 2 * AG_VECTOR_BYTES // 4
table.width[KIND_F64] = table.width[KIND_U64] = 2 * AG_VECTOR_BYTES // 8
table.pack_b = pack_b
table.pack_a = pack_a
table.multiply = multiply
table.multiply_onto = multiply_onto
table.multiply_direct = multiply_direct
table.dot_rows = dot_rows
table.add_rows = add_rows
table.narrow = narrow
table.dot_complex = dot_complex
table.tiny_products = tiny_products
# Without masks a loop over elements is as quick for the smallest alone.
table.tiniest = AG_TINIEST if AG_HAS_TINY else 4


def table_capsule():
    """Return the table of this instruction set."""
    return PyCapsule_New(&table, "autograd_cy.gemm_loops", NULL)
