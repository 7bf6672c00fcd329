/* The innermost loops of matrix products, for float, double and the two unsigned types in which
 * all integers are multiplied. A few rows of a times a few columns of b are summed in registers.
 * The vectors are the compiler's own, so that one text serves every instruction set.
 * The loops in gemm_micro_body.h are read once for each type; gemm_loops.pyx calls them. */
#ifndef AG_GEMM_MICRO_H
#define AG_GEMM_MICRO_H

#include <stddef.h>

#include "config.h"
#include "fused.h"

/* A block of AG_ROWS x 2 vectors leaves registers for a row of b and one element of a.  With AVX-512,
 * 12 rows is where gcc keeps the sums in place (with 8 it moves them around). */
#if defined(__AVX512F__)
#define AG_VECTOR_BYTES 64
#define AG_ROWS 12
#elif defined(__AVX2__)
#define AG_VECTOR_BYTES 32
#define AG_ROWS 6
#elif defined(__aarch64__)
#define AG_VECTOR_BYTES 16
#define AG_ROWS 8
#else
#define AG_VECTOR_BYTES 16
#define AG_ROWS 4
#endif

/* Columns of a block: two vectors. */
#define AG_WIDTH(T) (2 * AG_VECTOR_BYTES / (int)sizeof(T))

/* Without full unrolling the sums would live in memory. */
#if defined(__clang__)
#define AG_UNROLL _Pragma("clang loop unroll(full)")
#else
#define AG_UNROLL _Pragma("GCC unroll 16")
#endif

#define AG_NAME(stem) AG_CAT(stem, AG_S)

/* The first n elements of a vector alone, all of them where n is larger. */
#if defined(__AVX512F__)
#include <immintrin.h>
#define AG_MASKS 1
#define AG_MASK(T, S, sfx, M, lanes)                                                             \
    typedef M ag_mask_##S;                                                                       \
    AG_FN M ag_mask_of_##S(int n) { return (M)(n < lanes ? (1u << n) - 1 : (1u << lanes) - 1); } \
    AG_FN T ag_masked_##S(const ag_##S *p, M m) { return _mm512_maskz_loadu_##sfx(m, p); }       \
    AG_FN void ag_put_masked_##S(ag_##S *p, M m, T x) { _mm512_mask_storeu_##sfx(p, m, x); }
AG_MASK(__m512, f32, ps, __mmask16, 16)
AG_MASK(__m512d, f64, pd, __mmask8, 8)
#undef AG_MASK
#elif defined(__AVX2__)
#include <immintrin.h>
#define AG_MASKS 1
static const int32_t ag_kept_f32[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
static const int64_t ag_kept_f64[8] = {-1, -1, -1, -1};
#define AG_MASK(T, S, sfx, lanes)                                                                \
    typedef __m256i ag_mask_##S;                                                                 \
    AG_FN __m256i ag_mask_of_##S(int n) {                                                        \
        return _mm256_loadu_si256((const __m256i *)(ag_kept_##S + lanes - (n < lanes ? n : lanes)));\
    }                                                                                            \
    AG_FN T ag_masked_##S(const ag_##S *p, __m256i m) { return _mm256_maskload_##sfx(p, m); }    \
    AG_FN void ag_put_masked_##S(ag_##S *p, __m256i m, T x) { _mm256_maskstore_##sfx(p, m, x); }
AG_MASK(__m256, f32, ps, 8)
AG_MASK(__m256d, f64, pd, 4)
#undef AG_MASK
#endif

AG_FN void ag_prefetch(const void *address) { __builtin_prefetch(address, 0, 3); }
AG_FN void ag_prefetch_written(const void *address) { __builtin_prefetch(address, 1, 3); }

/* Sixteen registers are just enough for a block of 6 x 2 vectors: gcc keeps one of its sums in memory,
 * and so takes twice as long, unless it hears that the row of b has to stay. */
#if defined(__AVX2__) && !defined(__AVX512F__) && !defined(__clang__)
#define AG_STAY(b0, b1) __asm__("" : "+x"(b0), "+x"(b1))
#else
#define AG_STAY(b0, b1)
#endif

#if defined(__clang__) || __GNUC__ >= 12
#define AG_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define AG_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (ag_lanes){__VA_ARGS__})
#endif

#define AG_T float
#define AG_ALL_ROWS 1
#define AG_T_SIZE 4
#define AG_S f32
#include "gemm_micro_body.h"
#define AG_T double
#define AG_ALL_ROWS 1
#define AG_T_SIZE 8
#define AG_S f64
#include "gemm_micro_body.h"
#define AG_T uint32_t
#define AG_ALL_ROWS 0
#define AG_T_SIZE 4
#define AG_S u32
#include "gemm_micro_body.h"
#define AG_T uint64_t
#define AG_ALL_ROWS 0
#define AG_T_SIZE 8
#define AG_S u64
#include "gemm_micro_body.h"

#endif
