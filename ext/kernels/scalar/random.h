/* From random words to distributions. Straight-line and without fused multiply-adds, so that a seed
 * gives the same numbers on every processor.
 * Words come from philox.h, the loops are in ext/kernels/random_loops.pyx. */
#ifndef AG_SCALAR_RANDOM_H
#define AG_SCALAR_RANDOM_H

#include "philox.h"

/* --- uniform in [0, 1): as many bits as the type has, so that 1 is never reached ------------- */

AG_FN float ag_uniform_f32(uint32_t w) { return (float)(int32_t)(w >> 8) * 0x1.0p-24f; }
AG_FN float ag_uniform_f16(uint32_t w) { return (float)(int32_t)(w >> 21) * 0x1.0p-11f; }
AG_FN float ag_uniform_bf16(uint32_t w) { return (float)(int32_t)(w >> 24) * 0x1.0p-8f; }

/* 27 and 26 bits: signed 32-bit conversions exist in every vector unit, 64-bit ones do not. */
AG_FN double ag_uniform_f64(uint32_t w0, uint32_t w1) {
    return ((double)(int32_t)(w0 >> 5) * 67108864.0 + (double)(int32_t)(w1 >> 6)) * 0x1.0p-53;
}

/* lo + u * (hi - lo), kept at or below `top`, the last number of the type before hi. */
AG_FN float ag_stretch_f32(float u, float lo, float width, float top) {
    const float v = lo + u * width;
    return v < top ? v : top;
}
AG_FN double ag_stretch_f64(double u, double lo, double width, double top) {
    const double v = lo + u * width;
    return v < top ? v : top;
}

/* --- -log(u) for u in (0, 1] ------------------------------------------------------------------
 * u = 2^k m with m near 1; log m = 2 artanh(s), s = (m - 1) / (m + 1), |s| < 0.172. */

AG_FN float ag_minus_log_word_f32(uint32_t w) {
    const float f = (float)(int32_t)(w >> 1) + 0.5f; /* u = f / 2^31 */
    const uint32_t bits = ag_bits_f32(f);
    const int32_t k = (int32_t)(bits - 0x3F3504F3u) >> 23; /* 0x3F3504F3: sqrt(1/2) */
    const float m = ag_from_bits_f32(bits - ((uint32_t)k << 23));
    const float s = (m - 1.0f) / (m + 1.0f);
    const float z = s * s;
    const float p = 2.0f + z * (0.666666687f + z * (0.400000006f + z * (0.285714298f
                    + z * 0.222222224f)));
    return (float)(31 - k) * 0.693147182f - s * p;
}

AG_FN double ag_minus_log_word_f64(uint32_t w0, uint32_t w1) {
    /* Four times 53 bits and a half, so that the exponent field stays above that of sqrt(1/2). */
    const double f = (double)(int32_t)(w0 >> 1) * 16777216.0
                     + ((double)(int32_t)(w1 >> 10) * 4.0 + 2.0);
    const uint64_t bits = ag_bits_f64(f);
    const uint64_t k = (bits - 0x3FE6A09E667F3BCDull) >> 52;
    const double m = ag_from_bits_f64(bits - (k << 52));
    /* A small integer becomes a double by way of the mantissa field. */
    const double e = ag_from_bits_f64(k | 0x4330000000000000ull) - 4503599627370496.0;
    const double s = (m - 1.0) / (m + 1.0);
    const double z = s * s;
    const double p = 2.0 + z * (2.0 / 3 + z * (2.0 / 5 + z * (2.0 / 7 + z * (2.0 / 9
                     + z * (2.0 / 11 + z * (2.0 / 13 + z * (2.0 / 15 + z * (2.0 / 17
                     + z * (2.0 / 19 + z * (2.0 / 21))))))))));
    return (55.0 - e) * 0.69314718055994531 - s * p;
}

/* Exponential with rate 1; zero never comes out, because programs divide by such numbers. */
AG_FN float ag_exponential_f32(uint32_t w) {
    const float x = ag_minus_log_word_f32(w);
    return x > 0x1.0p-32f ? x : 0x1.0p-32f;
}
AG_FN double ag_exponential_f64(uint32_t w0, uint32_t w1) {
    const double x = ag_minus_log_word_f64(w0, w1);
    return x > 0x1.0p-54 ? x : 0x1.0p-54;
}

/* --- normal: Box and Muller's pair, sqrt(-2 log u) (cos t, sin t) ------------------------------
 * The angle's word counts 2^32 steps of a turn: its top bits give the quarter turn exactly, the
 * rest an angle of at most pi / 4, where short series do. */

typedef struct { float cos, sin; } ag_pair_f32;
typedef struct { double cos, sin; } ag_pair_f64;

AG_FN ag_pair_f32 ag_normal_pair_f32(uint32_t w0, uint32_t w1) {
    const float r = sqrtf(2.0f * ag_minus_log_word_f32(w0));
    const uint32_t quarter = (w1 + 0x20000000u) >> 30;
    const float x = (float)(int32_t)(w1 - (quarter << 30)) * 1.46291812e-9f; /* 2 pi / 2^32 */
    const float z = x * x;
    const float s = x * (1.0f + z * (-1.66666672e-1f + z * (8.33333377e-3f + z * (-1.98412701e-4f
                    + z * 2.75573188e-6f))));
    const float c = 1.0f + z * (-0.5f + z * (4.16666679e-2f + z * (-1.38888892e-3f
                    + z * 2.48015876e-5f)));
    const uint32_t odd = 0u - (quarter & 1u);
    const uint32_t a = ag_bits_f32(c), b = ag_bits_f32(s);
    ag_pair_f32 n;
    n.cos = r * ag_from_bits_f32(((a & ~odd) | (b & odd)) ^ (((quarter + 1u) & 2u) << 30));
    n.sin = r * ag_from_bits_f32(((b & ~odd) | (a & odd)) ^ ((quarter & 2u) << 30));
    return n;
}

AG_FN ag_pair_f64 ag_normal_pair_f64(uint32_t w0, uint32_t w1, uint32_t w2, uint32_t w3) {
    const double r = sqrt(2.0 * ag_minus_log_word_f64(w0, w1));
    const uint32_t quarter = (w2 + 0x20000000u) >> 30;
    const double turn = (double)(int32_t)(w2 - (quarter << 30))
                        + (double)(int32_t)(w3 >> 1) * 0x1.0p-31;
    const double x = turn * 1.4629180792671596e-9;
    const double z = x * x;
    const double s = x * (1.0 + z * (-1.0 / 6 + z * (1.0 / 120 + z * (-1.0 / 5040
                     + z * (1.0 / 362880 + z * (-1.0 / 39916800 + z * (1.0 / 6227020800
                     + z * (-1.0 / 1307674368000 + z * (1.0 / 355687428096000)))))))));
    const double c = 1.0 + z * (-0.5 + z * (1.0 / 24 + z * (-1.0 / 720 + z * (1.0 / 40320
                     + z * (-1.0 / 3628800 + z * (1.0 / 479001600 + z * (-1.0 / 87178291200
                     + z * (1.0 / 20922789888000))))))));
    const uint64_t odd = 0ull - (uint64_t)(quarter & 1u);
    const uint64_t a = ag_bits_f64(c), b = ag_bits_f64(s);
    ag_pair_f64 n;
    n.cos = r * ag_from_bits_f64(((a & ~odd) | (b & odd))
                                 ^ ((uint64_t)((quarter + 1u) & 2u) << 62));
    n.sin = r * ag_from_bits_f64(((b & ~odd) | (a & odd)) ^ ((uint64_t)(quarter & 2u) << 62));
    return n;
}

/* --- integers ---------------------------------------------------------------------------------
 * The upper half of word * range: for a 64-bit word no value is more likely than another by more
 * than range / 2^64. A range of 0 stands for 2^64. */

AG_FN uint64_t ag_bounded(uint32_t w0, uint32_t w1, uint64_t range) {
    const uint64_t w = (uint64_t)w0 << 32 | w1;
    const uint64_t r0 = range & 0xFFFFFFFFu, r1 = range >> 32;
    const uint64_t low = (uint64_t)w1 * r0;
    const uint64_t mid = (uint64_t)w0 * r0 + (low >> 32);
    const uint64_t mid2 = (uint64_t)w1 * r1 + (mid & 0xFFFFFFFFu);
    const uint64_t high = (uint64_t)w0 * r1 + (mid >> 32) + (mid2 >> 32);
    return range ? high : w;
}

/* The same for ranges below 2^32, in half the products. */
AG_FN uint64_t ag_bounded_short(uint32_t w0, uint32_t w1, uint32_t range) {
    return ((uint64_t)w0 * range + (((uint64_t)w1 * range) >> 32)) >> 32;
}

#endif
