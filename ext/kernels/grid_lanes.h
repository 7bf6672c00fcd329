/* Eight channels of an image, which lie behind each other, at the points of a grid: a vector is the
 * sum of the elements around a point, and eight of them become rows of eight points.
 *
 * Compilers turn such a block element by element, which takes longer than the sums. */
#ifndef AG_GRID_LANES_H
#define AG_GRID_LANES_H

#include <stddef.h>
#include <stdint.h>

#include "scalar/config.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

enum { AG_GRID_BLOCK = 64 };   /* from the places of one corner to those of the next */

/* Return whether all elements around eight points are there. */
AG_FN int ag_all_there(const int32_t *found, const int count) {
#if defined(__AVX2__)
    __m256i any = _mm256_setzero_si256();
    for (int m = 0; m < count; m++)
        any = _mm256_or_si256(any,
                              _mm256_loadu_si256((const __m256i *)(found + m * AG_GRID_BLOCK)));
    return _mm256_movemask_ps(_mm256_castsi256_ps(any)) == 0;
#else
    int32_t any = 0;
    for (int m = 0; m < count; m++)
        for (int q = 0; q < 8; q++) any |= found[m * AG_GRID_BLOCK + q];
    return any >= 0;
#endif
}

#if defined(__clang__)
#define AG_CORNERS _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define AG_CORNERS _Pragma("GCC unroll 4")
#else
#define AG_CORNERS
#endif

/* I is an integer as wide as T. */
#define AG_EIGHT(T, I)                                                                           \
    typedef ag_##T ag_eight_##T                                                                  \
        __attribute__((vector_size(8 * sizeof(ag_##T)), aligned(sizeof(ag_##T)), may_alias));    \
    typedef I ag_eight_bits_##T __attribute__((vector_size(8 * sizeof(I))));                     \
    AG_FN ag_eight_##T ag_all_eight_##T(const ag_##T *image, ptrdiff_t step,                     \
                                        const int32_t *found, const ag_##T *weight,              \
                                        const int count) {                                       \
        ag_eight_##T sum = weight[0] * *(const ag_eight_##T *)(image + found[0] * step);         \
        AG_CORNERS for (int m = 1; m < count; m++)                                               \
            sum += weight[m * AG_GRID_BLOCK]                                                     \
                   * *(const ag_eight_##T *)(image + found[m * AG_GRID_BLOCK] * step);           \
        return sum;                                                                              \
    }                                                                                            \
    /* Without branches, which nobody could predict; a zero keeps its sign. */                   \
    AG_FN ag_eight_##T ag_sum_eight_##T(const ag_##T *image, ptrdiff_t step,                     \
                                        const int32_t *found, const ag_##T *weight,              \
                                        const int count) {                                       \
        ag_eight_##T sum = -(ag_eight_##T){0};                                                   \
        AG_CORNERS for (int m = 0; m < count; m++) {                                             \
            const int32_t i = found[m * AG_GRID_BLOCK];                                          \
            const I there = ~(I)(i >> 31);                                                       \
            const ag_eight_##T x = weight[m * AG_GRID_BLOCK]                                     \
                * *(const ag_eight_##T *)(image + (ptrdiff_t)(i & ~(i >> 31)) * step);           \
            sum += (ag_eight_##T)((ag_eight_bits_##T)x & there);                                 \
        }                                                                                        \
        return sum;                                                                              \
    }                                                                                            \
    AG_FN void ag_store_eight_##T(const ag_eight_##T *sums, ptrdiff_t n, ag_##T *out,            \
                                  ptrdiff_t apart) {                                             \
        const ag_##T *lanes = (const ag_##T *)sums;                                              \
        for (int k = 0; k < 8; k++)                                                              \
            for (ptrdiff_t q = 0; q < n; q++) out[k * apart + q] = lanes[8 * q + k];             \
    }
AG_EIGHT(f32, int32_t)
AG_EIGHT(f64, int64_t)
#undef AG_EIGHT

AG_FN void ag_turn_eight_f64(const ag_eight_f64 *sums, double *out, ptrdiff_t apart) {
    ag_store_eight_f64(sums, 8, out, apart);
}

AG_FN void ag_turn_eight_f32(const ag_eight_f32 *sums, float *out, ptrdiff_t apart) {
#if defined(__AVX2__)
    __m256 a[8], b[8];
    for (int k = 0; k < 8; k += 2) {
        a[k] = _mm256_unpacklo_ps((__m256)sums[k], (__m256)sums[k + 1]);
        a[k + 1] = _mm256_unpackhi_ps((__m256)sums[k], (__m256)sums[k + 1]);
    }
    for (int k = 0; k < 8; k += 4) {
        b[k] = _mm256_shuffle_ps(a[k], a[k + 2], 0x44);
        b[k + 1] = _mm256_shuffle_ps(a[k], a[k + 2], 0xEE);
        b[k + 2] = _mm256_shuffle_ps(a[k + 1], a[k + 3], 0x44);
        b[k + 3] = _mm256_shuffle_ps(a[k + 1], a[k + 3], 0xEE);
    }
    for (int k = 0; k < 4; k++) {
        _mm256_storeu_ps(out + k * apart, _mm256_permute2f128_ps(b[k], b[k + 4], 0x20));
        _mm256_storeu_ps(out + (k + 4) * apart, _mm256_permute2f128_ps(b[k], b[k + 4], 0x31));
    }
#else
    ag_store_eight_f32(sums, 8, out, apart);
#endif
}

#define AG_SAMPLE_EIGHT(T)                                                                       \
    AG_FN void ag_sample_count_##T(const ag_##T *image, ptrdiff_t step, const int32_t *found,    \
                                   const ag_##T *weight, const int count, ptrdiff_t n,           \
                                   ag_##T *out, ptrdiff_t apart) {                               \
        ag_eight_##T sums[8];                                                                    \
        ptrdiff_t p = 0;                                                                         \
        for (; p + 8 <= n; p += 8) {                                                             \
            if (ag_all_there(found + p, count)) {                                                \
                for (int q = 0; q < 8; q++)                                                      \
                    sums[q] =                                                                    \
                        ag_all_eight_##T(image, step, found + p + q, weight + p + q, count);     \
            } else {                                                                             \
                for (int q = 0; q < 8; q++)                                                      \
                    sums[q] =                                                                    \
                        ag_sum_eight_##T(image, step, found + p + q, weight + p + q, count);     \
            }                                                                                    \
            ag_turn_eight_##T(sums, out + p, apart);                                             \
        }                                                                                        \
        for (int q = 0; q < n - p; q++)                                                          \
            sums[q] = ag_sum_eight_##T(image, step, found + p + q, weight + p + q, count);       \
        ag_store_eight_##T(sums, n - p, out + p, apart);                                         \
    }                                                                                            \
    /* Channels of n points, in rows that are `apart` elements apart; those of an element of the \
     * image are `step` elements from the next ones. */                                          \
    static void ag_sample_eight_##T(const ag_##T *image, ptrdiff_t step, const int32_t *found,   \
                                    const ag_##T *weight, int count, ptrdiff_t n, ag_##T *out,   \
                                    ptrdiff_t apart) {                                           \
        if (count == 4)                                                                          \
            ag_sample_count_##T(image, step, found, weight, 4, n, out, apart);                   \
        else if (count == 1)                                                                     \
            ag_sample_count_##T(image, step, found, weight, 1, n, out, apart);                   \
        else                                                                                     \
            ag_sample_count_##T(image, step, found, weight, count, n, out, apart);               \
    }
AG_SAMPLE_EIGHT(f32)
AG_SAMPLE_EIGHT(f64)
#undef AG_SAMPLE_EIGHT

#endif
