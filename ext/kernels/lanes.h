/* Vectors of 32 bytes, which the loops of row_loops.pyx accumulate in.
 *
 * Written out because compilers keep arrays of accumulators in memory around short loops, where
 * most rows end; as values they stay in registers. Without AVX2 the compiler makes two (or four)
 * smaller vectors of each. */
#ifndef AG_LANES_H
#define AG_LANES_H

#include <stddef.h>

#include "scalar/config.h"
#include "scalar/fused.h"

/* Aligned like one element: rows start anywhere. */
#define AG_LANES(T)                                                                              \
    typedef ag_##T ag_lanes_##T                                                                  \
        __attribute__((vector_size(32), aligned(sizeof(ag_##T)), may_alias));                    \
    AG_FN ag_lanes_##T ag_zeros_##T(void) {                                                      \
        ag_lanes_##T z = {0};                                                                    \
        return z;                                                                                \
    }
AG_LANES(i64)
AG_LANES(f32)
AG_LANES(f64)
#undef AG_LANES

/* Vectors for the largest and the smallest elements, of the size that the processor compares: gcc
 * takes larger ones apart to single elements. */
#if defined(__AVX2__)
#define AG_CHOICE 32
#else
#define AG_CHOICE 16
#endif
#define AG_CHOICES(T)                                                                            \
    typedef ag_##T ag_choice_##T                                                                 \
        __attribute__((vector_size(AG_CHOICE), aligned(sizeof(ag_##T)), may_alias));             \
    /* The larger (smaller) of each pair; a NaN in either stays. */                              \
    AG_FN ag_choice_##T ag_larger_##T(ag_choice_##T m, ag_choice_##T x) {                        \
        const __typeof__(x > m) k = (x > m) | (x != x);                                          \
        return (ag_choice_##T)(((__typeof__(k))x & k) | ((__typeof__(k))m & ~k));                \
    }                                                                                            \
    AG_FN ag_choice_##T ag_smaller_##T(ag_choice_##T m, ag_choice_##T x) {                       \
        const __typeof__(x < m) k = (x < m) | (x != x);                                          \
        return (ag_choice_##T)(((__typeof__(k))x & k) | ((__typeof__(k))m & ~k));                \
    }
AG_CHOICES(u8)
AG_CHOICES(i8)
AG_CHOICES(i16)
AG_CHOICES(i32)
AG_CHOICES(i64)
AG_CHOICES(f32)
AG_CHOICES(f64)
#undef AG_CHOICES

/* The best of n floats (n at least a vector), where one instruction takes the larger of two. It
 * forgets a NaN, which is looked for aside. */
#if defined(__AVX2__)
#include <immintrin.h>
#define AG_HAS_BEST 1
#define AG_BEST(name, T, V, sfx, width, take, rest)                                              \
    AG_FN T ag_##name(const T *p, ptrdiff_t n) {                                                 \
        V a = _mm256_loadu_##sfx(p), b = _mm256_loadu_##sfx(p + n - width);                      \
        V bad = _mm256_cmp_##sfx(a, b, _CMP_UNORD_Q), c = a, d = b;                              \
        ptrdiff_t i = width;                                                                     \
        a = take(a, b);                                                                          \
        for (; i + 4 * width <= n; i += 4 * width) {                                             \
            const V s = _mm256_loadu_##sfx(p + i), t = _mm256_loadu_##sfx(p + i + width);        \
            const V u = _mm256_loadu_##sfx(p + i + 2 * width);                                   \
            const V v = _mm256_loadu_##sfx(p + i + 3 * width);                                   \
            a = take(s, a);                                                                      \
            b = take(t, b);                                                                      \
            c = take(u, c);                                                                      \
            d = take(v, d);                                                                      \
            bad = _mm256_or_##sfx(bad, _mm256_or_##sfx(_mm256_cmp_##sfx(s, t, _CMP_UNORD_Q),     \
                                                       _mm256_cmp_##sfx(u, v, _CMP_UNORD_Q)));   \
        }                                                                                        \
        for (; i + width <= n; i += width) {                                                     \
            const V s = _mm256_loadu_##sfx(p + i);                                               \
            a = take(s, a);                                                                      \
            bad = _mm256_or_##sfx(bad, _mm256_cmp_##sfx(s, s, _CMP_UNORD_Q));                    \
        }                                                                                        \
        if (__builtin_expect(_mm256_movemask_##sfx(bad), 0)) return (T)NAN;                      \
        a = take(take(a, b), take(c, d));                                                        \
        rest                                                                                     \
    }
#define AG_BEST_F32(name, op)                                                                    \
    AG_BEST(name, float, __m256, ps, 8, _mm256_##op##_ps, {                                      \
        __m128 h = _mm_##op##_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));        \
        h = _mm_##op##_ps(h, _mm_movehl_ps(h, h));                                               \
        h = _mm_##op##_ss(h, _mm_shuffle_ps(h, h, 1));                                           \
        return _mm_cvtss_f32(h);                                                                 \
    })
#define AG_BEST_F64(name, op)                                                                    \
    AG_BEST(name, double, __m256d, pd, 4, _mm256_##op##_pd, {                                    \
        __m128d h = _mm_##op##_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd(a, 1));       \
        h = _mm_##op##_sd(h, _mm_unpackhi_pd(h, h));                                             \
        return _mm_cvtsd_f64(h);                                                                 \
    })
AG_BEST_F32(largest_f32, max)
AG_BEST_F32(smallest_f32, min)
AG_BEST_F64(largest_f64, max)
AG_BEST_F64(smallest_f64, min)
#undef AG_BEST
#undef AG_BEST_F32
#undef AG_BEST_F64
#else
#define AG_HAS_BEST 0
#define ag_largest_f32(p, n) (*(p))
#define ag_smallest_f32(p, n) (*(p))
#define ag_largest_f64(p, n) (*(p))
#define ag_smallest_f64(p, n) (*(p))
#endif

/* Four vectors of doubles run along a product; the elements are widened as they are read, by an
 * instruction that compilers do not find themselves. Floats come by fours with AVX-512, too: Zen 4
 * widens twice four of them in less time than eight. */
#if defined(__AVX512F__)
#define AG_WIDE_f64 8
#else
#define AG_WIDE_f64 4
#endif
#define AG_WIDE_f32 4
#if defined(__AVX2__)
#define AG_WIDENED_f32(p) ((ag_wide_f32)_mm256_cvtps_pd(_mm_loadu_ps(p)))
#else
typedef float ag_four_f32 __attribute__((vector_size(16), aligned(4), may_alias));
#define AG_WIDENED_f32(p) __builtin_convertvector(*(const ag_four_f32 *)(p), ag_wide_f32)
#endif
typedef double ag_wide_f32 __attribute__((vector_size(8 * AG_WIDE_f32), aligned(8), may_alias));
typedef double ag_wide_f64 __attribute__((vector_size(8 * AG_WIDE_f64), aligned(8), may_alias));
#define AG_WIDENED_f64(p) (*(const ag_wide_f64 *)(p))
typedef int64_t ag_bits_f32_wide __attribute__((vector_size(8 * AG_WIDE_f32)));
typedef int64_t ag_bits_f64_wide __attribute__((vector_size(8 * AG_WIDE_f64)));
/* Where a product has become tiny, it goes on from 2^512 times that, and *lifted counts these: a
 * step to a number below the normal ones takes as long as a hundred others. */
#define AG_STRETCH 64
AG_FN_COLD void ag_lift(double *acc, int n, ptrdiff_t *lifted) {
    for (int i = 0; i < n; i++)
        if (acc[i] != 0 && fabs(acc[i]) < 0x1p-512) {
            acc[i] *= 0x1p+512;
            *lifted += 1;
        }
}
/* The product of what was lifted, no part of which leaves the range. */
AG_FN_COLD double ag_lifted_product(const double *acc, int n, ptrdiff_t lifted) {
    double product = 1;
    ptrdiff_t sum = -512 * lifted;
    for (int i = 0; i < n; i++) {
        int exponent = 0;
        product = frexp(product * acc[i] * (fabs(acc[i]) > 1 ? 0x1p-512 : 1), &exponent);
        sum += exponent + (fabs(acc[i]) > 1 ? 512 : 0);
    }
    return ldexp(product, sum < -5000 ? -5000 : sum > 5000 ? 5000 : (int)sum);
}
#define AG_PRODUCT(T)                                                                            \
    AG_FN int ag_any_tiny_##T(ag_wide_##T a, ag_wide_##T b, ag_wide_##T c, ag_wide_##T d) {      \
        const ag_bits_##T##_wide all = (ag_bits_##T##_wide){0} + 0x7FFFFFFFFFFFFFFF;             \
        const ag_bits_##T##_wide least = (ag_bits_##T##_wide){0} + ((int64_t)511 << 52);         \
        const ag_bits_##T##_wide tiny =                                                          \
            (((ag_bits_##T##_wide)a & all) < least) | (((ag_bits_##T##_wide)b & all) < least)    \
            | (((ag_bits_##T##_wide)c & all) < least) | (((ag_bits_##T##_wide)d & all) < least); \
        int64_t any = 0;                                                                         \
        for (int i = 0; i < AG_WIDE_##T; i++) any |= tiny[i];                                    \
        return any != 0;                                                                         \
    }                                                                                            \
    AG_FN double ag_product_##T(const ag_##T *p, ptrdiff_t n) {                                  \
        const ptrdiff_t step = 4 * AG_WIDE_##T;                                                  \
        ag_wide_##T a = (ag_wide_##T){0} + 1.0, b = a, c = a, d = a;                             \
        ag_lanes_f64 few = {1, 1, 1, 1};                                                         \
        double last = 1;                                                                         \
        ptrdiff_t i = 0, lifted = 0;                                                             \
        for (;;) {                                                                               \
            const ptrdiff_t end = n - i > AG_STRETCH * step ? i + AG_STRETCH * step : n;         \
            for (; i + step <= end; i += step) {                                                 \
                a *= AG_WIDENED_##T(p + i);                                                      \
                b *= AG_WIDENED_##T(p + i + AG_WIDE_##T);                                        \
                c *= AG_WIDENED_##T(p + i + 2 * AG_WIDE_##T);                                    \
                d *= AG_WIDENED_##T(p + i + 3 * AG_WIDE_##T);                                    \
            }                                                                                    \
            if (i + step > n) break;                                                             \
            if (__builtin_expect(ag_any_tiny_##T(a, b, c, d), 0)) {                              \
                ag_wide_##T acc[4] = {a, b, c, d};                                               \
                ag_lift((double *)acc, 4 * AG_WIDE_##T, &lifted);                                \
                a = acc[0];                                                                      \
                b = acc[1];                                                                      \
                c = acc[2];                                                                      \
                d = acc[3];                                                                      \
            }                                                                                    \
        }                                                                                        \
        for (; i + 4 <= n; i += 4)                                                               \
            few *= (ag_lanes_f64){p[i], p[i + 1], p[i + 2], p[i + 3]};                           \
        for (; i < n; i++) last *= p[i];                                                         \
        if (__builtin_expect(lifted != 0, 0)) {                                                  \
            double acc[4 * AG_WIDE_##T + 5];                                                     \
            const ag_wide_##T sums[4] = {a, b, c, d};                                            \
            memcpy(acc, sums, sizeof(sums));                                                     \
            memcpy(acc + 4 * AG_WIDE_##T, &few, sizeof(few));                                    \
            acc[4 * AG_WIDE_##T + 4] = last;                                                     \
            return ag_lifted_product(acc, 4 * AG_WIDE_##T + 5, lifted);                          \
        }                                                                                        \
        a = (a * b) * (c * d);                                                                   \
        for (i = 0; i < AG_WIDE_##T; i += 4)                                                     \
            few *= (ag_lanes_f64){a[i], a[i + 1], a[i + 2], a[i + 3]};                           \
        return ((few[0] * few[2]) * (few[1] * few[3])) * last;                                   \
    }
AG_PRODUCT(f32)
AG_PRODUCT(f64)
#undef AG_PRODUCT

/* Products of n columns of rows that are `step` bytes apart, each in the order of its rows. */
#define AG_PRODUCTS(T)                                                                           \
    AG_FN void ag_products_##T(const ag_##T *p, ptrdiff_t rows, ptrdiff_t step, ptrdiff_t n,     \
                               double *acc) {                                                    \
        ptrdiff_t j = 0, r;                                                                      \
        for (; j + 4 * AG_WIDE_##T <= n; j += 4 * AG_WIDE_##T) {                                 \
            const char *q = (const char *)(p + j);                                               \
            ag_wide_##T *o = (ag_wide_##T *)(acc + j);                                           \
            ag_wide_##T a = (ag_wide_##T){0} + 1.0, b = a, c = a, d = a;                         \
            for (r = 0; r < rows; r++, q += step) {                                              \
                const ag_##T *x = (const ag_##T *)q;                                             \
                a *= AG_WIDENED_##T(x);                                                          \
                b *= AG_WIDENED_##T(x + AG_WIDE_##T);                                            \
                c *= AG_WIDENED_##T(x + 2 * AG_WIDE_##T);                                        \
                d *= AG_WIDENED_##T(x + 3 * AG_WIDE_##T);                                        \
            }                                                                                    \
            o[0] = a;                                                                            \
            o[1] = b;                                                                            \
            o[2] = c;                                                                            \
            o[3] = d;                                                                            \
        }                                                                                        \
        for (; j + AG_WIDE_##T <= n; j += AG_WIDE_##T) {                                         \
            const char *q = (const char *)(p + j);                                               \
            ag_wide_##T a = (ag_wide_##T){0} + 1.0;                                              \
            for (r = 0; r < rows; r++, q += step) a *= AG_WIDENED_##T((const ag_##T *)q);        \
            *(ag_wide_##T *)(acc + j) = a;                                                       \
        }                                                                                        \
        for (; j < n; j++) {                                                                     \
            const char *q = (const char *)(p + j);                                               \
            double a = 1;                                                                        \
            for (r = 0; r < rows; r++, q += step) a *= *(const ag_##T *)q;                       \
            acc[j] = a;                                                                          \
        }                                                                                        \
    }
AG_PRODUCTS(f32)
AG_PRODUCTS(f64)
#undef AG_PRODUCTS

/* Sums of squares, in four vectors; the last elements singly. */
#define AG_SQUARES(T, width)                                                                     \
    AG_FN double ag_squares_##T(const ag_##T *p, ptrdiff_t n) {                                  \
        ag_lanes_##T a = {0}, b = a, c = a, d = a;                                               \
        ag_##T last = 0;                                                                         \
        double sum = 0;                                                                          \
        ptrdiff_t i = 0;                                                                         \
        for (; i + 4 * width <= n; i += 4 * width) {                                             \
            const ag_lanes_##T *q = (const ag_lanes_##T *)(p + i);                               \
            a = AG_FMA(T, 32)(q[0], q[0], a);                                                    \
            b = AG_FMA(T, 32)(q[1], q[1], b);                                                    \
            c = AG_FMA(T, 32)(q[2], q[2], c);                                                    \
            d = AG_FMA(T, 32)(q[3], q[3], d);                                                    \
        }                                                                                        \
        for (; i + width <= n; i += width) {                                                     \
            const ag_lanes_##T x = *(const ag_lanes_##T *)(p + i);                               \
            a = AG_FMA(T, 32)(x, x, a);                                                          \
        }                                                                                        \
        for (; i < n; i++) last = ag_fma_##T(p[i], p[i], last);                                  \
        a = (a + b) + (c + d);                                                                   \
        for (i = 0; i < width; i++) sum += a[i];                                                 \
        return sum + last;                                                                       \
    }
AG_SQUARES(f32, 8)
AG_SQUARES(f64, 4)
#undef AG_SQUARES

#endif
