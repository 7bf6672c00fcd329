/* Storage types that are not plain C numbers: float16, bfloat16 and complex.
 * Conversions are branch-free and right for all 65,536 encodings; arithmetic is in complex.h.
 *
 * GPUs convert by one instruction (cuda_fp16.h would cost half a second a file). Its NaN is 0x7fff and
 * becomes that of the formula. A NaN of float16 comes out as the float 0x7fffffff, without its sign and
 * payload; nothing is lost by that, as arithmetic of GPUs keeps neither. */
#ifndef AG_SCALAR_TYPES_H
#define AG_SCALAR_TYPES_H

#include "config.h"

AG_FN float ag_f16_to_f32(ag_f16 h) {
#if defined(__CUDA_ARCH__)
    float f;
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
    return f;
#else
    const uint32_t w = (uint32_t)h << 16;
    const uint32_t sign = w & 0x80000000u;
    const uint32_t two_w = w + w;
    /* Normal numbers, inf and nan: move the field and let one product rebias the exponent. */
    const float normal = ag_from_bits_f32((two_w >> 4) + (0xE0u << 23)) * 0x1.0p-112f;
    /* Subnormals: put the mantissa under a known exponent and take that exponent away again. */
    const float subnormal = ag_from_bits_f32((two_w >> 17) | (126u << 23)) - 0.5f;
    const uint32_t mag = two_w < (1u << 27) ? ag_bits_f32(subnormal) : ag_bits_f32(normal);
    return ag_from_bits_f32(sign | mag);
#endif
}

AG_FN ag_f16 ag_f32_to_f16(float f) {
#if defined(__CUDA_ARCH__)
    ag_f16 h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(f));
    return f == f ? h : (ag_f16)((ag_bits_f32(f) >> 16 & 0x8000u) | 0x7E00u);
#else
    const uint32_t w = ag_bits_f32(f);
    const uint32_t two_w = w + w;
    const uint32_t sign = w & 0x80000000u;
    uint32_t bias = two_w & 0xFF000000u;
    /* Overflow goes to inf in the first product, the second brings the rest back. */
    float base = (ag_from_bits_f32(w & 0x7FFFFFFFu) * 0x1.0p+112f) * 0x1.0p-110f;
    uint32_t bits, magnitude;
    bias = bias < 0x71000000u ? 0x71000000u : bias;
    /* Adding a number with the right exponent makes the hardware round to even for us. */
    base = ag_from_bits_f32((bias >> 1) + 0x07800000u) + base;
    bits = ag_bits_f32(base);
    magnitude = ((bits >> 13) & 0x7C00u) + (bits & 0x0FFFu);
    return (ag_f16)((sign >> 16) | (two_w > 0xFF000000u ? 0x7E00u : magnitude));
#endif
}

AG_FN float ag_bf16_to_f32(ag_bf16 h) { return ag_from_bits_f32((uint32_t)h << 16); }

AG_FN ag_bf16 ag_f32_to_bf16(float f) {
#if defined(__CUDA_ARCH__)
    ag_bf16 h;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h) : "f"(f));
    return f == f ? h : (ag_bf16)0x7FC0u;
#else
    const uint32_t w = ag_bits_f32(f);
    const uint32_t rounded = (w + 0x7FFFu + ((w >> 16) & 1u)) >> 16;
    return (ag_bf16)((w & 0x7FFFFFFFu) > 0x7F800000u ? 0x7FC0u : rounded);
#endif
}

/* Runs of float16, converted by the processor where it can. Each NaN becomes the one that the
 * formula above gives. */
#if defined(__F16C__) && !defined(__CUDACC__)
#include <immintrin.h>
#endif
AG_FN void ag_run_f16_f32(const ag_f16 *p, ag_f32 *out, ptrdiff_t n) {
    ptrdiff_t i = 0;
#if defined(__CUDACC__)
#elif defined(__AVX512F__)
    for (; i + 16 <= n; i += 16)
        _mm512_storeu_ps(out + i,
                         _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(p + i))));
#elif defined(__F16C__)
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(p + i))));
#endif
    for (; i < n; i++) out[i] = ag_f16_to_f32(p[i]);
}
AG_FN void ag_run_f32_f16(const ag_f32 *p, ag_f16 *out, ptrdiff_t n) {
    ptrdiff_t i = 0;
#if defined(__CUDACC__)
#elif defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__)
    for (; i + 16 <= n; i += 16) {
        const __m512 x = _mm512_loadu_ps(p + i);
        __m256i h = _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
        const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
        if (__builtin_expect(nan, 0)) {
            const __m256i sign = _mm256_and_si256(h, _mm256_set1_epi16((short)0x8000));
            const __m256i quiet = _mm256_or_si256(sign, _mm256_set1_epi16(0x7E00));
            h = _mm256_mask_blend_epi16(nan, h, quiet);
        }
        _mm256_storeu_si256((__m256i *)(out + i), h);
    }
#elif defined(__F16C__)
    for (; i + 8 <= n; i += 8) {
        const __m256 x = _mm256_loadu_ps(p + i);
        const __m128i h = _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
        const __m256i k = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
        const __m128i nan = _mm_packs_epi32(_mm256_castsi256_si128(k),
                                            _mm256_extracti128_si256(k, 1));
        const __m128i sign = _mm_and_si128(h, _mm_set1_epi16((short)0x8000));
        const __m128i quiet = _mm_or_si128(sign, _mm_set1_epi16(0x7E00));
        _mm_storeu_si128((__m128i *)(out + i), _mm_blendv_epi8(h, quiet, nan));
    }
#endif
    for (; i < n; i++) out[i] = ag_f32_to_f16(p[i]);
}

AG_FN ag_c64 ag_make_c64(float re, float im) { ag_c64 z; z.re = re; z.im = im; return z; }
AG_FN ag_c128 ag_make_c128(double re, double im) { ag_c128 z; z.re = re; z.im = im; return z; }

#endif
