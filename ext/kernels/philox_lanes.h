/* The 64 words of a chunk: ag_philox (scalar/philox.h) on 16 consecutive counters at once.
 *
 * Compilers do not find the 32 x 32 -> 64 bit vector product by themselves in the form it needs here:
 * one word per 64-bit lane, whose upper half the product ignores. So the wide targets spell it out;
 * all others take the plain loop, and both give the same words. */
#ifndef AG_PHILOX_LANES_H
#define AG_PHILOX_LANES_H

#include "scalar/philox.h"

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>

#if defined(__AVX512F__)
typedef __m512i ag_lanes;
#define AG_LANES 8
#define AG_LANES_SET(x) _mm512_set1_epi64((long long)(x))
#define AG_LANES_ADD _mm512_add_epi64
#define AG_LANES_MUL _mm512_mul_epu32
#define AG_LANES_HIGH(x) _mm512_srli_epi64(x, 32)
#define AG_LANES_XOR3(a, b, c) _mm512_ternarylogic_epi64(a, b, c, 0x96)
AG_FN ag_lanes ag_lanes_index(void) { return _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0); }
AG_FN void ag_lanes_store(uint32_t *w, ag_lanes x) {
    _mm256_storeu_si256((__m256i *)w, _mm512_cvtepi64_epi32(x));
}
#else
typedef __m256i ag_lanes;
#define AG_LANES 4
#define AG_LANES_SET(x) _mm256_set1_epi64x((long long)(x))
#define AG_LANES_ADD _mm256_add_epi64
#define AG_LANES_MUL _mm256_mul_epu32
#define AG_LANES_HIGH(x) _mm256_srli_epi64(x, 32)
#define AG_LANES_XOR3(a, b, c) _mm256_xor_si256(_mm256_xor_si256(a, b), c)
AG_FN ag_lanes ag_lanes_index(void) { return _mm256_set_epi64x(3, 2, 1, 0); }
AG_FN void ag_lanes_store(uint32_t *w, ag_lanes x) {
    const __m256i low_halves = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
    _mm_storeu_si128((__m128i *)w,
                     _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(x, low_halves)));
}
#endif

/* Two vectors side by side hide the latency of the product. */
static void ag_philox_chunk(uint64_t seed, uint64_t chunk, uint32_t *w) {
    const ag_lanes m0 = AG_LANES_SET(AG_PHILOX_M0), m1 = AG_LANES_SET(AG_PHILOX_M1);
    const ag_lanes high = AG_LANES_SET((uint32_t)(chunk >> 28));
    int i, r;
    for (i = 0; i < 16; i += 2 * AG_LANES) {
        ag_lanes a0 = AG_LANES_ADD(AG_LANES_SET((uint32_t)(chunk << 4) + (uint32_t)i),
                                   ag_lanes_index());
        ag_lanes b0 = AG_LANES_ADD(a0, AG_LANES_SET(AG_LANES));
        ag_lanes a1 = high, b1 = high;
        ag_lanes a2 = AG_LANES_SET(0), b2 = a2, a3 = a2, b3 = a2;
        uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
        for (r = 0; r < 10; r++) {
            const ag_lanes key0 = AG_LANES_SET(k0), key1 = AG_LANES_SET(k1);
            const ag_lanes p0 = AG_LANES_MUL(a0, m0), p1 = AG_LANES_MUL(a2, m1);
            const ag_lanes q0 = AG_LANES_MUL(b0, m0), q1 = AG_LANES_MUL(b2, m1);
            a0 = AG_LANES_XOR3(AG_LANES_HIGH(p1), a1, key0);
            b0 = AG_LANES_XOR3(AG_LANES_HIGH(q1), b1, key0);
            a2 = AG_LANES_XOR3(AG_LANES_HIGH(p0), a3, key1);
            b2 = AG_LANES_XOR3(AG_LANES_HIGH(q0), b3, key1);
            a1 = p1; b1 = q1; a3 = p0; b3 = q0;
            k0 += AG_PHILOX_W0;
            k1 += AG_PHILOX_W1;
        }
        ag_lanes_store(w + i, a0); ag_lanes_store(w + i + AG_LANES, b0);
        ag_lanes_store(w + 16 + i, a1); ag_lanes_store(w + 16 + i + AG_LANES, b1);
        ag_lanes_store(w + 32 + i, a2); ag_lanes_store(w + 32 + i + AG_LANES, b2);
        ag_lanes_store(w + 48 + i, a3); ag_lanes_store(w + 48 + i + AG_LANES, b3);
    }
}

#else

static void ag_philox_chunk(uint64_t seed, uint64_t chunk, uint32_t *w) {
    const uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    const uint32_t low = (uint32_t)(chunk << 4), high = (uint32_t)(chunk >> 28);
    int i;
    for (i = 0; i < 16; i++) {
        const ag_philox_words r = ag_philox(low + (uint32_t)i, high, 0, 0, k0, k1);
        w[i] = r.w0;
        w[16 + i] = r.w1;
        w[32 + i] = r.w2;
        w[48 + i] = r.w3;
    }
}

#endif
#endif
