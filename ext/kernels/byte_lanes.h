/* Sixteen bytes at a time: rows that become columns, and sums of bytes with weights. */
#ifndef AG_BYTE_LANES_H
#define AG_BYTE_LANES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>

static inline __attribute__((always_inline)) void ag_mix_bytes(const __m128i *v, __m128i *u)
{
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) {
        u[2 * i] = _mm_unpacklo_epi8(v[i], v[i + 8]);
        u[2 * i + 1] = _mm_unpackhi_epi8(v[i], v[i + 8]);
    }
}

/* Sixteen rows of sixteen bytes, `step` apart, to rows `to` apart: four rounds of pairs. */
static inline void ag_turn_bytes(const uint8_t *a, ptrdiff_t step, uint8_t *out, ptrdiff_t to)
{
    __m128i v[16], u[16];
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++)
        v[i] = _mm_loadu_si128((const __m128i *)(a + i * step));
    ag_mix_bytes(v, u);
    ag_mix_bytes(u, v);
    ag_mix_bytes(v, u);
    ag_mix_bytes(u, v);
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++)
        _mm_storeu_si128((__m128i *)(out + i * to), v[i]);
}

/* Sixteen sums of n bytes `step` apart with weights, rounded and divided by 2 to the power `bits`. Two bytes and
 * their weights are one multiplication. */
static inline void ag_weigh_bytes(const uint8_t *a, ptrdiff_t step, const int16_t *w, ptrdiff_t n, int bits, uint8_t *out)
{
    const __m128i none = _mm_setzero_si128(), shift = _mm_cvtsi32_si128(bits);
    __m128i s0 = _mm_set1_epi32(1 << bits >> 1), s1 = s0, s2 = s0, s3 = s0;
    for (ptrdiff_t k = 0; k < n; k += 2) {
        const int two = k + 1 < n;
        const uint32_t pair = (uint16_t)w[k] | (two ? (uint32_t)(uint16_t)w[k + 1] << 16 : 0);
        const __m128i by = _mm_set1_epi32((int32_t)pair);
        const __m128i p = _mm_loadu_si128((const __m128i *)(a + k * step));
        const __m128i q = two ? _mm_loadu_si128((const __m128i *)(a + (k + 1) * step)) : none;
        const __m128i low = _mm_unpacklo_epi8(p, q), high = _mm_unpackhi_epi8(p, q);
        s0 = _mm_add_epi32(s0, _mm_madd_epi16(_mm_unpacklo_epi8(low, none), by));
        s1 = _mm_add_epi32(s1, _mm_madd_epi16(_mm_unpackhi_epi8(low, none), by));
        s2 = _mm_add_epi32(s2, _mm_madd_epi16(_mm_unpacklo_epi8(high, none), by));
        s3 = _mm_add_epi32(s3, _mm_madd_epi16(_mm_unpackhi_epi8(high, none), by));
    }
    s0 = _mm_packs_epi32(_mm_sra_epi32(s0, shift), _mm_sra_epi32(s1, shift));
    s2 = _mm_packs_epi32(_mm_sra_epi32(s2, shift), _mm_sra_epi32(s3, shift));
    _mm_storeu_si128((__m128i *)out, _mm_packus_epi16(s0, s2));
}

#else

static inline void ag_turn_bytes(const uint8_t *a, ptrdiff_t step, uint8_t *out, ptrdiff_t to)
{
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++)
            out[j * to + i] = a[i * step + j];
}

static inline void ag_weigh_bytes(const uint8_t *a, ptrdiff_t step, const int16_t *w, ptrdiff_t n, int bits, uint8_t *out)
{
    int32_t s[16];
    for (int i = 0; i < 16; i++)
        s[i] = 1 << bits >> 1;
    for (ptrdiff_t k = 0; k < n; k++)
        for (int i = 0; i < 16; i++)
            s[i] += (int32_t)w[k] * a[k * step + i];
    for (int i = 0; i < 16; i++) {
        s[i] >>= bits;
        out[i] = s[i] < 0 ? 0 : s[i] > 255 ? 255 : (uint8_t)s[i];
    }
}

#endif
#endif
