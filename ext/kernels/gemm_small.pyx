# cython: language_level=3
# The loops of matrix products that no BLAS has: integers, and the way into and out of float32 for
# the half types.  Compiled once per instruction set; gemm.pyx picks one copy and calls the table.

from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

from autograd_cy._C.gemm_small cimport SmallTable

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>

    static inline float agc_bits_float(uint32_t bits) {
        float value; memcpy(&value, &bits, 4); return value;
    }
    static inline uint32_t agc_float_bits(float value) {
        uint32_t bits; memcpy(&bits, &value, 4); return bits;
    }

    static inline float agc_bf16_float(uint16_t h) { return agc_bits_float((uint32_t)h << 16); }

    /* Round to nearest even; a NaN stays quiet whatever its payload. */
    static inline uint16_t agc_float_bf16(float value) {
        uint32_t bits = agc_float_bits(value);
        uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
        uint32_t nan = (bits >> 16) | 0x40u;
        return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
    }

    /* Without branches and without denormal floats, so that it vectorises and does not depend on
       the mode of the processor. */
    static inline float agc_f16_float(uint16_t h) {
        uint32_t magnitude = h & 0x7fffu;
        uint32_t normal = (magnitude << 13) + (112u << 23);
        uint32_t special = (magnitude << 13) | 0x7f800000u;
        uint32_t small = agc_float_bits((float)(int32_t)magnitude * 5.9604644775390625e-8f);
        uint32_t bits = magnitude < 0x400u ? small : (magnitude >= 0x7c00u ? special : normal);
        return agc_bits_float(bits | ((uint32_t)(h & 0x8000u) << 16));
    }

    static inline uint16_t agc_float_f16(float value) {
        uint32_t all = agc_float_bits(value);
        uint32_t sign = (all >> 16) & 0x8000u;
        uint32_t bits = all & 0x7fffffffu;
        uint32_t normal = (bits + 0xfffu + ((bits >> 13) & 1u) - (112u << 23)) >> 13;
        /* Adding 0.5 puts the last place of a half denormal at the last place of the float. */
        uint32_t small = agc_float_bits(agc_bits_float(bits) + 0.5f) - 0x3f000000u;
        uint32_t large = bits > 0x7f800000u ? 0x7e00u : 0x7c00u;
        uint32_t half = bits < (113u << 23) ? small : (bits >= 0x477ff000u ? large : normal);
        return (uint16_t)(half | sign);
    }
    """
    float agc_bf16_float(uint16_t h) noexcept nogil
    float agc_f16_float(uint16_t h) noexcept nogil
    uint16_t agc_float_bf16(float value) noexcept nogil
    uint16_t agc_float_f16(float value) noexcept nogil

cdef enum:
    UINT8 = 1
    INT8 = 2
    INT16 = 3
    INT32 = 4
    INT64 = 5
    FLOAT16 = 6
    BFLOAT16 = 7

ctypedef fused small_int:
    uint8_t
    int8_t
    int16_t
    int32_t


cdef void widen_small(
        small_int* source, bint trans, Py_ssize_t rows, Py_ssize_t cols,
        Py_ssize_t ld, uint32_t* result, Py_ssize_t ld_result) noexcept nogil:
    cdef Py_ssize_t i, j
    for i in range(rows):
        if trans:
            for j in range(cols):
                result[j * ld_result + i] = <uint32_t>source[i * ld + j]
        else:
            for j in range(cols):
                result[i * ld_result + j] = <uint32_t>source[i * ld + j]


cdef void widen_int64(
        uint64_t* source, bint trans, Py_ssize_t rows, Py_ssize_t cols,
        Py_ssize_t ld, uint64_t* result, Py_ssize_t ld_result) noexcept nogil:
    cdef Py_ssize_t i, j
    for i in range(rows):
        if trans:
            for j in range(cols):
                result[j * ld_result + i] = source[i * ld + j]
        else:
            for j in range(cols):
                result[i * ld_result + j] = source[i * ld + j]


cdef void widen_half(
        bint brain, uint16_t* source, Py_ssize_t rows, Py_ssize_t cols,
        Py_ssize_t ld, float* result, Py_ssize_t ld_result) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef uint16_t* row
    cdef float* out
    for i in range(rows):
        row = source + i * ld
        out = result + i * ld_result
        if brain:
            for j in range(cols):
                out[j] = agc_bf16_float(row[j])
        else:
            for j in range(cols):
                out[j] = agc_f16_float(row[j])


cdef void widen(
        int dtype, bint trans, Py_ssize_t rows, Py_ssize_t cols,
        const void* source, Py_ssize_t ld, void* result, Py_ssize_t ld_result) noexcept nogil:
    cdef uint32_t* words = <uint32_t*>result
    if dtype == UINT8:
        widen_small(<uint8_t*>source, trans, rows, cols, ld, words, ld_result)
    elif dtype == INT8:
        widen_small(<int8_t*>source, trans, rows, cols, ld, words, ld_result)
    elif dtype == INT16:
        widen_small(<int16_t*>source, trans, rows, cols, ld, words, ld_result)
    elif dtype == INT32:
        widen_small(<int32_t*>source, trans, rows, cols, ld, words, ld_result)
    elif dtype == INT64:
        widen_int64(<uint64_t*>source, trans, rows, cols, ld, <uint64_t*>result, ld_result)
    else:
        widen_half(
            dtype == BFLOAT16, <uint16_t*>source, rows, cols, ld, <float*>result, ld_result)


cdef void narrow_small(
        Py_ssize_t rows, Py_ssize_t cols, const uint32_t* acc, Py_ssize_t ld_acc,
        int64_t alpha, int64_t beta, small_int* c, Py_ssize_t ldc) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef uint32_t factor = <uint32_t>alpha
    cdef uint32_t keep = <uint32_t>beta
    for i in range(rows):
        if beta == 0:
            for j in range(cols):
                c[i * ldc + j] = <small_int>(factor * acc[i * ld_acc + j])
        else:
            for j in range(cols):
                c[i * ldc + j] = <small_int>(
                    factor * acc[i * ld_acc + j] + keep * <uint32_t>c[i * ldc + j])


cdef void narrow_int64(
        Py_ssize_t rows, Py_ssize_t cols, const uint64_t* acc, Py_ssize_t ld_acc,
        int64_t alpha, int64_t beta, uint64_t* c, Py_ssize_t ldc) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef uint64_t factor = <uint64_t>alpha
    cdef uint64_t keep = <uint64_t>beta
    for i in range(rows):
        if beta == 0:
            for j in range(cols):
                c[i * ldc + j] = factor * acc[i * ld_acc + j]
        else:
            for j in range(cols):
                c[i * ldc + j] = factor * acc[i * ld_acc + j] + keep * c[i * ldc + j]


cdef void narrow_half(
        bint brain, Py_ssize_t rows, Py_ssize_t cols, const float* acc, Py_ssize_t ld_acc,
        float alpha, float beta, uint16_t* c, Py_ssize_t ldc) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef const float* row
    cdef uint16_t* out
    for i in range(rows):
        row = acc + i * ld_acc
        out = c + i * ldc
        if beta == 0:
            if brain:
                for j in range(cols):
                    out[j] = agc_float_bf16(alpha * row[j])
            else:
                for j in range(cols):
                    out[j] = agc_float_f16(alpha * row[j])
        elif brain:
            for j in range(cols):
                out[j] = agc_float_bf16(alpha * row[j] + beta * agc_bf16_float(out[j]))
        else:
            for j in range(cols):
                out[j] = agc_float_f16(alpha * row[j] + beta * agc_f16_float(out[j]))


cdef void narrow(
        int dtype, Py_ssize_t rows, Py_ssize_t cols, const void* acc, Py_ssize_t ld_acc,
        double alpha, double beta, void* c, Py_ssize_t ldc) noexcept nogil:
    cdef const uint32_t* words = <const uint32_t*>acc
    cdef int64_t factor, keep
    if dtype == FLOAT16 or dtype == BFLOAT16:
        narrow_half(
            dtype == BFLOAT16, rows, cols, <const float*>acc, ld_acc,
            <float>alpha, <float>beta, <uint16_t*>c, ldc)
        return
    factor = <int64_t>alpha
    keep = <int64_t>beta
    if dtype == UINT8:
        narrow_small(rows, cols, words, ld_acc, factor, keep, <uint8_t*>c, ldc)
    elif dtype == INT8:
        narrow_small(rows, cols, words, ld_acc, factor, keep, <int8_t*>c, ldc)
    elif dtype == INT16:
        narrow_small(rows, cols, words, ld_acc, factor, keep, <int16_t*>c, ldc)
    elif dtype == INT32:
        narrow_small(rows, cols, words, ld_acc, factor, keep, <int32_t*>c, ldc)
    else:
        narrow_int64(rows, cols, <const uint64_t*>acc, ld_acc, factor, keep, <uint64_t*>c, ldc)


ctypedef fused word:
    uint32_t
    uint64_t


cdef void word_product(
        Py_ssize_t m, Py_ssize_t n, Py_ssize_t k, word* a, Py_ssize_t lda,
        word* b, Py_ssize_t ldb, word* acc, Py_ssize_t ldc) noexcept nogil:
    # Four rows of b at a time: the running sums are loaded and stored a quarter as often.
    cdef Py_ssize_t i, j, p
    cdef word x0, x1, x2, x3
    cdef word* b0
    cdef word* b1
    cdef word* b2
    cdef word* b3
    cdef word* out
    for i in range(m):
        out = acc + i * ldc
        p = 0
        while p + 4 <= k:
            x0 = a[i * lda + p]
            x1 = a[i * lda + p + 1]
            x2 = a[i * lda + p + 2]
            x3 = a[i * lda + p + 3]
            b0 = b + p * ldb
            b1 = b0 + ldb
            b2 = b1 + ldb
            b3 = b2 + ldb
            for j in range(n):
                out[j] += x0 * b0[j] + x1 * b1[j] + x2 * b2[j] + x3 * b3[j]
            p += 4
        while p < k:
            x0 = a[i * lda + p]
            b0 = b + p * ldb
            for j in range(n):
                out[j] += x0 * b0[j]
            p += 1


cdef void int_product(
        bint wide, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k, const void* a, Py_ssize_t lda,
        const void* b, Py_ssize_t ldb, void* acc, Py_ssize_t ldc) noexcept nogil:
    if wide:
        word_product(m, n, k, <uint64_t*>a, lda, <uint64_t*>b, ldb, <uint64_t*>acc, ldc)
    else:
        word_product(m, n, k, <uint32_t*>a, lda, <uint32_t*>b, ldb, <uint32_t*>acc, ldc)


cdef SmallTable table
table.widen = widen
table.narrow = narrow
table.int_product = int_product


def table_capsule():
    """Return the table of this instruction set."""
    return PyCapsule_New(&table, "autograd_cy.gemm_small", NULL)
