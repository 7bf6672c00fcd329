/* Trigonometric functions and their inverses.
 *
 * sin, cos and tan come in two forms. ag_sin_near_T is straight-line and right up to the limit that
 * ag_trig_far_T tests; ag_sin_T is right everywhere but branches to libm for huge arguments. Loops
 * test a block with the first and take the second only where it is needed. */
#ifndef AG_SCALAR_TRIG_H
#define AG_SCALAR_TRIG_H

#include "types.h"

/* x = q pi/2 + r with |r| <= pi/4; the lowest two bits of the result are those of q. */
#if AG_HAS_FMA
/* n times the first part of pi/2 is exact inside the fma, and so is the difference. */
#define AG_TRIG_LIMIT_F32 1048576.0f
#define AG_TRIG_LIMIT_F64 0x1p+40
AG_FN uint32_t ag_quadrant_f32(float x, float *r) {
    const float z = ag_fma_f32(x, 0.636619747f, 12582912.0f), n = z - 12582912.0f;
    float t = ag_fma_f32(n, -1.57079637f, x);
    t = ag_fma_f32(n, 4.37113883e-08f, t);
    *r = ag_fma_f32(n, 1.71512451e-15f, t);
    return ag_bits_f32(z);
}
AG_FN uint64_t ag_quadrant_f64(double x, double *r) {
    const double z = ag_fma_f64(x, 0.63661977236758138, 0x1.8p+52), n = z - 0x1.8p+52;
    double t = ag_fma_f64(n, -0x1.921fb54442d18p+0, x);
    t = ag_fma_f64(n, -0x1.1a62633145c07p-54, t);
    *r = ag_fma_f64(n, 0x1.f1976b7ed8fbcp-110, t);
    return ag_bits_f64(z);
}
#else
/* Parts of 33 bits: n times each of the first two is exact for n < 2^20. */
#define AG_TRIG_LIMIT_F32 1048576.0f
#define AG_TRIG_LIMIT_F64 0x1p+20
AG_FN uint32_t ag_quadrant_f32(float x, float *r) {
    const float z = x * 0.636619747f + 12582912.0f;
    const double n = (double)(z - 12582912.0f);
    *r = (float)(((double)x - n * 0x1.921fb544p+0) - n * 0x1.0b4611a626331p-34);
    return ag_bits_f32(z);
}
AG_FN uint64_t ag_quadrant_f64(double x, double *r) {
    const double z = x * 0.63661977236758138 + 0x1.8p+52, n = z - 0x1.8p+52;
    *r = ((x - n * 0x1.921fb544p+0) - n * 0x1.0b4611a6p-34) - n * 0x1.3198a2e037073p-69;
    return ag_bits_f64(z);
}
#endif

/* sin and cos on [-pi/4, pi/4] */
AG_FN float ag_sin_core_f32(float r) {
    const float z = r * r;
    float q = ag_fma_f32(z, -0.000195184053f, 0.0083321901f);
    q = ag_fma_f32(z, q, -0.166666552f);
    return ag_fma_f32(z * r, q, r);
}
AG_FN float ag_cos_core_f32(float r) {
    const float z = r * r;
    float q = ag_fma_f32(z, 2.44306702e-05f, -0.00138873013f);
    q = ag_fma_f32(z, q, 0.0416666456f);
    q = ag_fma_f32(z, q, -0.5f);
    return ag_fma_f32(z, q, 1.0f);
}
AG_FN double ag_sin_core_f64(double r) {
    const double z = r * r;
    double q = ag_fma_f64(z, 1.5896504977392564e-10, -2.5050753265129708e-08);
    q = ag_fma_f64(z, q, 2.7557313662061752e-06);
    q = ag_fma_f64(z, q, -0.00019841269829725219);
    q = ag_fma_f64(z, q, 0.008333333333322316);
    q = ag_fma_f64(z, q, -0.16666666666666632);
    return ag_fma_f64(z * r, q, r);
}
AG_FN double ag_cos_core_f64(double r) {
    const double z = r * r;
    double q = ag_fma_f64(z, -1.135944863976769e-11, 2.0875719557942313e-09);
    q = ag_fma_f64(z, q, -2.7557314326025224e-07);
    q = ag_fma_f64(z, q, 2.4801587289394909e-05);
    q = ag_fma_f64(z, q, -0.001388888888887399);
    q = ag_fma_f64(z, q, 0.041666666666666602);
    q = ag_fma_f64(z, q, -0.5);
    return ag_fma_f64(z, q, 1.0);
}

AG_FN float ag_tan_near_f32(float x) {
    float r;
    const uint32_t q = ag_quadrant_f32(x, &r);
    const float z = r * r;
    float p = ag_fma_f32(z, 0.00525806565f, -0.0017830166f);
    p = ag_fma_f32(z, p, 0.0123823462f);
    p = ag_fma_f32(z, p, 0.0206580497f);
    p = ag_fma_f32(z, p, 0.0541862324f);
    p = ag_fma_f32(z, p, 0.133314997f);
    p = ag_fma_f32(z, p, 0.33333385f);
    p = ag_fma_f32(z * r, p, r);
    return q & 1 ? -1.0f / p : p;
}
AG_FN double ag_tan_near_f64(double x) {
    double r;
    const uint64_t q = ag_quadrant_f64(x, &r);
    const double s = ag_sin_core_f64(r), c = ag_cos_core_f64(r);
    return (q & 1 ? -c : s) / (q & 1 ? s : c);
}

/* U: bits as unsigned, B: their number minus 2, which moves bit 1 of the quadrant to the sign */
#define AG_TRIG(T, S, U, B, LIMIT)                                                               \
    AG_FN int ag_trig_far_##T(ag_##T x) { return !(fabs##S(x) <= LIMIT); }                       \
    AG_FN ag_##T ag_turn_##T(U q, ag_##T even, ag_##T odd) {                                     \
        const U pick = 0 - (q & 1); /* bits, not a comparison: SSE2 has none for 64 */            \
        const U v = (ag_bits_##T(odd) & pick) | (ag_bits_##T(even) & ~pick);                     \
        return ag_from_bits_##T(v ^ ((q & 2) << B));                                             \
    }                                                                                            \
    AG_FN ag_##T ag_sin_near_##T(ag_##T x) {                                                     \
        ag_##T r;                                                                                \
        const U q = ag_quadrant_##T(x, &r);                                                      \
        return ag_turn_##T(q, ag_sin_core_##T(r), ag_cos_core_##T(r));                           \
    }                                                                                            \
    AG_FN ag_##T ag_cos_near_##T(ag_##T x) {                                                     \
        ag_##T r;                                                                                \
        const U q = ag_quadrant_##T(x, &r);                                                      \
        return ag_turn_##T(q + 1, ag_sin_core_##T(r), ag_cos_core_##T(r));                       \
    }                                                                                            \
    AG_FN_COLD ag_##T ag_sin_##T(ag_##T x) {                                                     \
        return ag_trig_far_##T(x) ? sin##S(x) : ag_sin_near_##T(x);                              \
    }                                                                                            \
    AG_FN_COLD ag_##T ag_cos_##T(ag_##T x) {                                                     \
        return ag_trig_far_##T(x) ? cos##S(x) : ag_cos_near_##T(x);                              \
    }                                                                                            \
    AG_FN_COLD ag_##T ag_tan_##T(ag_##T x) {                                                     \
        return ag_trig_far_##T(x) ? tan##S(x) : ag_tan_near_##T(x);                              \
    }                                                                                            \
    AG_FN ag_##T ag_asin_##T(ag_##T x) { return asin##S(x); }                                    \
    AG_FN ag_##T ag_acos_##T(ag_##T x) { return acos##S(x); }                                    \
    AG_FN ag_##T ag_atan_##T(ag_##T x) { return atan##S(x); }                                    \
    AG_FN ag_##T ag_atan2_##T(ag_##T y, ag_##T x) { return atan2##S(y, x); }
AG_TRIG(f32, f, uint32_t, 30, AG_TRIG_LIMIT_F32)
AG_TRIG(f64, , uint64_t, 62, AG_TRIG_LIMIT_F64)
#undef AG_TRIG

#endif
