/* The loops below median: keys between two others, and keys smaller than each of a few.
 *
 * Compilers do not find that a whole vector can be packed into those of its elements that are wanted,
 * so it is spelled out where there is an instruction for it. */
#ifndef AG_SELECT_LANES_H
#define AG_SELECT_LANES_H

#include <stddef.h>
#include <stdint.h>
#include "scalar/config.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#define AG_PACK(W, bits, load, ge, le, pack)                                             \
    for (; i + W <= n; i += W) {                                                                 \
        const __m512i x = load(a + i);                                                           \
        const unsigned up = (unsigned)ge(x, low), in = (unsigned)le(x, high) & up;               \
        small += W - __builtin_popcount(up);                                                     \
        /* held <= i: the elements behind those that count have been read, or lie in `out` */    \
        _mm512_storeu_si512(out + held, pack((bits)in, x));                                      \
        held += __builtin_popcount(in);                                                          \
    }
#define AG_PACK_u32                                                                              \
    const __m512i low = _mm512_set1_epi32((int)lo), high = _mm512_set1_epi32((int)hi);           \
    AG_PACK(16, __mmask16, _mm512_loadu_si512, _mm512_cmpge_epu32_mask,              \
            _mm512_cmple_epu32_mask, _mm512_maskz_compress_epi32)
#define AG_PACK_u64                                                                              \
    const __m512i low = _mm512_set1_epi64((long long)lo);                                        \
    const __m512i high = _mm512_set1_epi64((long long)hi);                                       \
    AG_PACK(8, __mmask8, _mm512_loadu_si512, _mm512_cmpge_epu64_mask,                \
            _mm512_cmple_epu64_mask, _mm512_maskz_compress_epi64)
#else
#define AG_PACK_u32
#define AG_PACK_u64
#endif

#define AG_SELECT(T)                                                                             \
    /* Keys in lo..hi, in their order, to `out`, which can hold n; returns how many they are.    \
     * `below` becomes how many are smaller than lo. */                                          \
    AG_FN ptrdiff_t ag_keep_##T(const ag_key_##T *a, ptrdiff_t n, ag_key_##T lo, ag_key_##T hi,  \
                                ag_key_##T *out, ptrdiff_t *below) {                             \
        ptrdiff_t i = 0, held = 0, small = 0;                                                    \
        AG_PACK_##T                                                                              \
        for (; i < n; i++) {                                                                     \
            const ag_key_##T x = a[i];                                                           \
            out[held] = x;                                                                       \
            held += (x >= lo) & (x <= hi);                                                       \
            small += x < lo;                                                                     \
        }                                                                                        \
        *below = small;                                                                          \
        return held;                                                                             \
    }                                                                                            \
    /* How many of the first n of 32 keys are smaller than each of the 32. */                    \
    AG_FN void ag_count_smaller_##T(const ag_key_##T *a, ptrdiff_t n, ag_key_##T *counts) {      \
        ag_key_##T many[32];                                                                     \
        ptrdiff_t i;                                                                             \
        int j;                                                                                   \
        for (j = 0; j < 32; j++) many[j] = 0;                                                    \
        for (i = 0; i < n; i++) {                                                                \
            const ag_key_##T x = a[i];                                                           \
            for (j = 0; j < 32; j++) many[j] += x < a[j];                                        \
        }                                                                                        \
        for (j = 0; j < 32; j++) counts[j] = many[j];                                            \
    }
typedef uint32_t ag_key_u32;
typedef uint64_t ag_key_u64;
AG_SELECT(u32)
AG_SELECT(u64)
#undef AG_SELECT
#undef AG_PACK
#undef AG_PACK_u32
#undef AG_PACK_u64

/* Of n elements, a multiple of a vector, those that differ from the one before; returns how many.
 * Whole vectors are written. */
#if defined(__AVX512F__)
#define AG_HAS_NEW 1
#define AG_KEEP_NEW(name, T, W, differ, pack)                                                    \
    static inline ptrdiff_t ag_keep_new_##name(const T *a, ptrdiff_t n, T *out) {                \
        ptrdiff_t held = 0;                                                                      \
        for (ptrdiff_t i = 0; i < n; i += W) {                                                   \
            const __m512i x = _mm512_loadu_si512(a + i), y = _mm512_loadu_si512(a + i - 1);      \
            const unsigned begin = (unsigned)differ;                                             \
            _mm512_storeu_si512(out + held, pack(begin, x));                                     \
            held += __builtin_popcount(begin);                                                   \
        }                                                                                        \
        return held;                                                                             \
    }
AG_KEEP_NEW(u32, uint32_t, 16, _mm512_cmpneq_epi32_mask(x, y), _mm512_maskz_compress_epi32)
AG_KEEP_NEW(u64, uint64_t, 8, _mm512_cmpneq_epi64_mask(x, y), _mm512_maskz_compress_epi64)
AG_KEEP_NEW(f32, float, 16,
            _mm512_cmp_ps_mask(_mm512_castsi512_ps(x), _mm512_castsi512_ps(y), _CMP_NEQ_UQ),
            _mm512_maskz_compress_epi32)
AG_KEEP_NEW(f64, double, 8,
            _mm512_cmp_pd_mask(_mm512_castsi512_pd(x), _mm512_castsi512_pd(y), _CMP_NEQ_UQ),
            _mm512_maskz_compress_epi64)
#undef AG_KEEP_NEW
#else
#define AG_HAS_NEW 0
#define ag_keep_new_u32(a, n, out) 0
#define ag_keep_new_u64(a, n, out) 0
#define ag_keep_new_f32(a, n, out) 0
#define ag_keep_new_f64(a, n, out) 0
#endif

#endif
