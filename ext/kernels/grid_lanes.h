/* Eight channels of an image, which lie behind each other, at the points of a grid: a vector is the
 * sum of the elements around a point, and eight of them become rows of eight points.
 *
 * Compilers turn such a block element by element, which takes longer than the sums. */
#ifndef AG_GRID_LANES_H
#define AG_GRID_LANES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "scalar/config.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

enum { AG_GRID_BLOCK = 64 };   /* from the places of one corner to those of the next */

/* Return whether all elements around eight points are there. */
AG_FN int ag_all_there(const int32_t *places, const int count) {
#if defined(__AVX2__)
    __m256i any = _mm256_setzero_si256();
    for (int m = 0; m < count; m++)
        any = _mm256_or_si256(any,
                              _mm256_loadu_si256((const __m256i *)(places + m * AG_GRID_BLOCK)));
    return _mm256_movemask_ps(_mm256_castsi256_ps(any)) == 0;
#else
    int32_t any = 0;
    for (int m = 0; m < count; m++)
        for (int q = 0; q < 8; q++) any |= places[m * AG_GRID_BLOCK + q];
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
                                        const int32_t *places, const ag_##T *weight,             \
                                        const int count) {                                       \
        ag_eight_##T sum = weight[0] * *(const ag_eight_##T *)(image + places[0] * step);        \
        AG_CORNERS for (int m = 1; m < count; m++)                                               \
            sum += weight[m * AG_GRID_BLOCK]                                                     \
                   * *(const ag_eight_##T *)(image + places[m * AG_GRID_BLOCK] * step);          \
        return sum;                                                                              \
    }                                                                                            \
    /* Without branches, which nobody could predict; a zero keeps its sign. */                   \
    AG_FN ag_eight_##T ag_sum_eight_##T(const ag_##T *image, ptrdiff_t step,                     \
                                        const int32_t *places, const ag_##T *weight,             \
                                        const int count) {                                       \
        ag_eight_##T sum = -(ag_eight_##T){0};                                                   \
        AG_CORNERS for (int m = 0; m < count; m++) {                                             \
            const int32_t i = places[m * AG_GRID_BLOCK];                                         \
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
    AG_FN void ag_sample_count_##T(const ag_##T *image, ptrdiff_t step, const int32_t *places,   \
                                   const ag_##T *weight, const int count, ptrdiff_t n,           \
                                   ag_##T *out, ptrdiff_t apart) {                               \
        ag_eight_##T sums[8];                                                                    \
        ptrdiff_t p = 0;                                                                         \
        for (; p + 8 <= n; p += 8) {                                                             \
            if (ag_all_there(places + p, count)) {                                               \
                for (int q = 0; q < 8; q++)                                                      \
                    sums[q] =                                                                    \
                        ag_all_eight_##T(image, step, places + p + q, weight + p + q, count);    \
            } else {                                                                             \
                for (int q = 0; q < 8; q++)                                                      \
                    sums[q] =                                                                    \
                        ag_sum_eight_##T(image, step, places + p + q, weight + p + q, count);    \
            }                                                                                    \
            ag_turn_eight_##T(sums, out + p, apart);                                             \
        }                                                                                        \
        for (int q = 0; q < n - p; q++)                                                          \
            sums[q] = ag_sum_eight_##T(image, step, places + p + q, weight + p + q, count);      \
        ag_store_eight_##T(sums, n - p, out + p, apart);                                         \
    }                                                                                            \
    /* Channels of n points, in rows that are `apart` elements apart; those of an element of the \
     * image are `step` elements from the next ones. */                                          \
    static void ag_sample_eight_##T(const ag_##T *image, ptrdiff_t step, const int32_t *places,  \
                                    const ag_##T *weight, int count, ptrdiff_t n, ag_##T *out,   \
                                    ptrdiff_t apart) {                                           \
        if (count == 4)                                                                          \
            ag_sample_count_##T(image, step, places, weight, 4, n, out, apart);                  \
        else if (count == 1)                                                                     \
            ag_sample_count_##T(image, step, places, weight, 1, n, out, apart);                  \
        else                                                                                     \
            ag_sample_count_##T(image, step, places, weight, count, n, out, apart);              \
    }
AG_SAMPLE_EIGHT(f32)
AG_SAMPLE_EIGHT(f64)
#undef AG_SAMPLE_EIGHT

/* One channel at up to AG_GRID_BLOCK points, in memory for whole vectors: elements are
 * gathered by their places, and what isn't there counts as 0. Other places are first ones. */
#if defined(__AVX512F__)
#define AG_GATHERS 1
typedef __m512 ag_row_f32;
typedef __m512d ag_row_f64;
AG_FN __m512 ag_gathered_f32(const float *image, const int32_t *places) {
    const __m512i at = _mm512_loadu_si512(places);
    return _mm512_mask_i32gather_ps(_mm512_setzero_ps(), ~_mm512_movepi32_mask(at), at, image, 4);
}
AG_FN __m512d ag_gathered_f64(const double *image, const int32_t *places) {
    const __m256i at = _mm256_loadu_si256((const __m256i *)places);
    const __mmask8 there = (__mmask8)~_mm256_movepi32_mask(at);
    return _mm512_mask_i32gather_pd(_mm512_setzero_pd(), there, at, image, 8);
}
#elif defined(__AVX2__)
#define AG_GATHERS 1
typedef __m256 ag_row_f32;
typedef __m256d ag_row_f64;
AG_FN __m256 ag_gathered_f32(const float *image, const int32_t *places) {
    const __m256i at = _mm256_loadu_si256((const __m256i *)places);
    const __m256i there = _mm256_cmpgt_epi32(at, _mm256_set1_epi32(-1));
    return _mm256_mask_i32gather_ps(_mm256_setzero_ps(), image, at, _mm256_castsi256_ps(there), 4);
}
AG_FN __m256d ag_gathered_f64(const double *image, const int32_t *places) {
    const __m128i at = _mm_loadu_si128((const __m128i *)places);
    const __m256i there = _mm256_cvtepi32_epi64(_mm_cmpgt_epi32(at, _mm_set1_epi32(-1)));
    return _mm256_mask_i32gather_pd(_mm256_setzero_pd(), image, at, _mm256_castsi256_pd(there), 8);
}
#else
#define AG_GATHERS 0
#endif

#if AG_GATHERS
#define AG_SAMPLE_PLANE(T)                                                                       \
    AG_FN void ag_plane_count_##T(const ag_##T *image, const int32_t *places, const ag_##T *weight,\
                                  const int count, ptrdiff_t n, ag_##T *out) {                   \
        enum { lanes = sizeof(ag_row_##T) / sizeof(ag_##T) };                                    \
        ag_##T last[lanes];                                                                      \
        for (ptrdiff_t p = 0; p < n; p += lanes) {                                               \
            ag_##T *to = p + lanes <= n ? out + p : last;                                        \
            ag_row_##T sum = ag_gathered_##T(image, places + p), part;                           \
            if (count > 1) {                                                                     \
                memcpy(&part, weight + p, sizeof(part));                                         \
                sum *= part;                                                                     \
            }                                                                                    \
            AG_CORNERS for (int m = 1; m < count; m++) {                                         \
                memcpy(&part, weight + m * AG_GRID_BLOCK + p, sizeof(part));                     \
                sum += part * ag_gathered_##T(image, places + m * AG_GRID_BLOCK + p);            \
            }                                                                                    \
            memcpy(to, &sum, sizeof(sum));                                                       \
            if (to == last) memcpy(out + p, last, (size_t)(n - p) * sizeof(ag_##T));             \
        }                                                                                        \
    }
#else
#define AG_SAMPLE_PLANE(T)                                                                       \
    AG_FN void ag_plane_count_##T(const ag_##T *image, const int32_t *places, const ag_##T *weight,\
                                  const int count, ptrdiff_t n, ag_##T *out) {                   \
        ag_##T sums[AG_GRID_BLOCK];                                                              \
        for (ptrdiff_t p = 0; p < n; p++) sums[p] = (ag_##T)-0.0;                                \
        for (int m = 0; m < count; m++)                                                          \
            for (ptrdiff_t p = 0; p < n; p++) {                                                  \
                const int32_t i = places[m * AG_GRID_BLOCK + p];                                 \
                const ag_##T x = image[i & ~(i >> 31)] * weight[m * AG_GRID_BLOCK + p];          \
                sums[p] += i < 0 ? 0 : x;                                                        \
            }                                                                                    \
        memcpy(out, sums, (size_t)n * sizeof(ag_##T));                                           \
    }
#endif
#define AG_SAMPLE_PLANES(T)                                                                      \
    AG_SAMPLE_PLANE(T)                                                                           \
    /* The weight of a single corner is 1. */                                                    \
    static void ag_sample_plane_##T(const ag_##T *image, const int32_t *places,                  \
                                    const ag_##T *weight, int count, ptrdiff_t n, ag_##T *out) { \
        if (count == 4)                                                                          \
            ag_plane_count_##T(image, places, weight, 4, n, out);                                \
        else if (count == 1)                                                                     \
            ag_plane_count_##T(image, places, weight, 1, n, out);                                \
        else                                                                                     \
            ag_plane_count_##T(image, places, weight, count, n, out);                            \
    }
AG_SAMPLE_PLANES(f32)
AG_SAMPLE_PLANES(f64)
#undef AG_SAMPLE_PLANES
#undef AG_SAMPLE_PLANE

/* What is around AG_GRID_BLOCK points of two coordinates, as flat_nearest() and flat_linear() of
 * grid_loops.pyx find it, in rows and columns of up to AG_GRID_EXACT elements: places are compared
 * as integers, where no number and what is beyond the integers is one below all. */
enum { AG_GRID_EXACT = 1 << 24 };
#if defined(__AVX512F__) && defined(__AVX512DQ__)
#define AG_HAS_FLAT 1
typedef struct { __m512 half, shift, last; __m512i end; } ag_flat_edges;
AG_FN ag_flat_edges ag_edges_of(int32_t size, int aligned) {
    const ag_flat_edges e = {
        _mm512_set1_ps((float)(aligned ? size - 1 : size) / 2), _mm512_set1_ps(aligned ? 0 : 0.5f),
        _mm512_set1_ps((float)(size - 1)), _mm512_set1_epi32(size - 1)};
    return e;
}
AG_FN __m512 ag_flat_placed(__m512 point, const ag_flat_edges *e, int border) {
    const __m512 x = _mm512_sub_ps(
        _mm512_mul_ps(_mm512_add_ps(point, _mm512_set1_ps(1)), e->half), e->shift);
    return border ? _mm512_min_ps(_mm512_max_ps(x, _mm512_setzero_ps()), e->last) : x;
}
/* The second and the first coordinates of sixteen points. */
AG_FN void ag_flat_points(const float *points, __m512 *u, __m512 *v) {
    const __m512i even =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512 a = _mm512_loadu_ps(points), b = _mm512_loadu_ps(points + 16);
    *u = _mm512_permutex2var_ps(a, _mm512_add_epi32(even, _mm512_set1_epi32(1)), b);
    *v = _mm512_permutex2var_ps(a, even, b);
}
AG_FN void ag_put_place(__mmask16 there, __m512i at, int32_t *places) {
    _mm512_storeu_si512(places, _mm512_mask_mov_epi32(_mm512_set1_epi32(-1), there, at));
}
static void ag_flat_nearest(const float *points, int32_t rows, int32_t columns, int aligned,
                            int border, int32_t *places, float *weight) {
    const ag_flat_edges e = ag_edges_of(rows, aligned), d = ag_edges_of(columns, aligned);
    const __m512i step = _mm512_set1_epi32(columns);
    for (int p = 0; p < AG_GRID_BLOCK; p += 16) {
        __m512 u, v;
        ag_flat_points(points + 2 * p, &u, &v);
        const __m512i i = _mm512_cvtps_epi32(ag_flat_placed(u, &e, border));
        const __m512i j = _mm512_cvtps_epi32(ag_flat_placed(v, &d, border));
        const __mmask16 there =
            _mm512_cmple_epu32_mask(i, e.end) & _mm512_cmple_epu32_mask(j, d.end);
        ag_put_place(there, _mm512_add_epi32(_mm512_mullo_epi32(i, step), j), places + p);
        _mm512_storeu_ps(weight + p, _mm512_maskz_mov_ps(there, _mm512_set1_ps(1)));
    }
}
/* Return whether a coordinate is no number. */
static int ag_flat_linear(const float *points, int32_t rows, int32_t columns, int aligned,
                          int border, int32_t *places, float *weight) {
    const ag_flat_edges e = ag_edges_of(rows, aligned), d = ag_edges_of(columns, aligned);
    const __m512i step = _mm512_set1_epi32(columns), one = _mm512_set1_epi32(1);
    const __m512 whole = _mm512_set1_ps(1);
    __mmask16 missing = 0;
    for (int p = 0; p < AG_GRID_BLOCK; p += 16) {
        __m512 u, v, s, t, s_left, t_left;
        ag_flat_points(points + 2 * p, &u, &v);
        missing |= _mm512_cmp_ps_mask(u, v, _CMP_UNORD_Q);
        u = ag_flat_placed(u, &e, border);
        v = ag_flat_placed(v, &d, border);
        s = _mm512_roundscale_ps(u, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
        t = _mm512_roundscale_ps(v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
        const __m512i i = _mm512_cvttps_epi32(s), k = _mm512_cvttps_epi32(t);
        const __m512i j = _mm512_add_epi32(i, one), h = _mm512_add_epi32(k, one);
        const __mmask16 has_i = _mm512_cmple_epu32_mask(i, e.end);
        const __mmask16 has_j = _mm512_cmple_epu32_mask(j, e.end);
        const __mmask16 has_k = _mm512_cmple_epu32_mask(k, d.end);
        const __mmask16 has_h = _mm512_cmple_epu32_mask(h, d.end);
        const __m512i row = _mm512_mullo_epi32(i, step), next = _mm512_add_epi32(row, step);
        s = _mm512_sub_ps(u, s);
        t = _mm512_sub_ps(v, t);
        s_left = _mm512_maskz_sub_ps(has_i, whole, s);
        t_left = _mm512_maskz_sub_ps(has_k, whole, t);
        s = _mm512_maskz_mov_ps(has_j, s);
        t = _mm512_maskz_mov_ps(has_h, t);
        ag_put_place(has_i & has_k, _mm512_add_epi32(row, k), places + p);
        ag_put_place(has_i & has_h, _mm512_add_epi32(row, h), places + AG_GRID_BLOCK + p);
        ag_put_place(has_j & has_k, _mm512_add_epi32(next, k), places + 2 * AG_GRID_BLOCK + p);
        ag_put_place(has_j & has_h, _mm512_add_epi32(next, h), places + 3 * AG_GRID_BLOCK + p);
        _mm512_storeu_ps(weight + p, _mm512_mul_ps(s_left, t_left));
        _mm512_storeu_ps(weight + AG_GRID_BLOCK + p, _mm512_mul_ps(s_left, t));
        _mm512_storeu_ps(weight + 2 * AG_GRID_BLOCK + p, _mm512_mul_ps(s, t_left));
        _mm512_storeu_ps(weight + 3 * AG_GRID_BLOCK + p, _mm512_mul_ps(s, t));
    }
    return missing != 0;
}
#else
#define AG_HAS_FLAT 0
#define ag_flat_nearest(...) ((void)0)
#define ag_flat_linear(...) 0
#endif

#endif
