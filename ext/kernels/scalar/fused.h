/* a * b + c of vectors, as ag_fma_f32 and ag_fma_f64 of config.h are of numbers.
 *
 * No compiler fuses by itself what it finds (ext/build/flags.py). What is to be fused says so, in whole
 * vectors and in the elements that are left over alike: an element gets the same bits wherever it lies.
 *
 * AG_FMA(f32, 32)(a, b, c) takes vectors of 32 bytes, AG_ALL(V, x) is a vector with x in all places.
 * The unsigned integers have both too, for texts that serve all types. */
#ifndef AG_SCALAR_FUSED_H
#define AG_SCALAR_FUSED_H

#include "config.h"

#define AG_FMA(S, bytes) AG_FMA_OF(S, bytes)
#define AG_FMA_OF(S, bytes) ag_fma_##S##_##bytes
/* not + 0, which isn't nothing for -0 */
#define AG_ALL(V, x) ((x) - (V){0})

#define AG_TWO_STEPS(a, b, c) ((a) * (b) + (c))
#define ag_fma_u32 AG_TWO_STEPS
#define ag_fma_u32_16 AG_TWO_STEPS
#define ag_fma_u32_32 AG_TWO_STEPS
#define ag_fma_u32_64 AG_TWO_STEPS
#define ag_fma_u64 AG_TWO_STEPS
#define ag_fma_u64_16 AG_TWO_STEPS
#define ag_fma_u64_32 AG_TWO_STEPS
#define ag_fma_u64_64 AG_TWO_STEPS

#if !AG_HAS_FMA
#define ag_fma_f32_16 AG_TWO_STEPS
#define ag_fma_f32_32 AG_TWO_STEPS
#define ag_fma_f32_64 AG_TWO_STEPS
#define ag_fma_f64_16 AG_TWO_STEPS
#define ag_fma_f64_32 AG_TWO_STEPS
#define ag_fma_f64_64 AG_TWO_STEPS

#elif defined(__FMA__)
#include <immintrin.h>
AG_FN __m128 ag_fma_f32_16(__m128 a, __m128 b, __m128 c) { return _mm_fmadd_ps(a, b, c); }
AG_FN __m128d ag_fma_f64_16(__m128d a, __m128d b, __m128d c) { return _mm_fmadd_pd(a, b, c); }
AG_FN __m256 ag_fma_f32_32(__m256 a, __m256 b, __m256 c) { return _mm256_fmadd_ps(a, b, c); }
AG_FN __m256d ag_fma_f64_32(__m256d a, __m256d b, __m256d c) { return _mm256_fmadd_pd(a, b, c); }
#if defined(__AVX512F__)
AG_FN __m512 ag_fma_f32_64(__m512 a, __m512 b, __m512 c) { return _mm512_fmadd_ps(a, b, c); }
AG_FN __m512d ag_fma_f64_64(__m512d a, __m512d b, __m512d c) { return _mm512_fmadd_pd(a, b, c); }
#endif

#else
/* Compilers make instructions for vectors of it. */
#define AG_FMA_BY_LANES(S, bytes)                                                                \
    typedef ag_##S ag_fused_##S##_##bytes __attribute__((vector_size(bytes)));                   \
    AG_FN ag_fused_##S##_##bytes ag_fma_##S##_##bytes(                                           \
        ag_fused_##S##_##bytes a, ag_fused_##S##_##bytes b, ag_fused_##S##_##bytes c) {          \
        for (int i = 0; i < (int)(bytes / sizeof(ag_##S)); i++)                                  \
            c[i] = ag_fma_##S(a[i], b[i], c[i]);                                                 \
        return c;                                                                                \
    }
AG_FMA_BY_LANES(f32, 16)
AG_FMA_BY_LANES(f32, 32)
AG_FMA_BY_LANES(f32, 64)
AG_FMA_BY_LANES(f64, 16)
AG_FMA_BY_LANES(f64, 32)
AG_FMA_BY_LANES(f64, 64)
#undef AG_FMA_BY_LANES
#endif

#endif
