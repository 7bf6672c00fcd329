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
    float t = ag_fma_f32(n, -0x1.921fb4p+0f, x);
    t = ag_fma_f32(n, -0x1.4442dp-24f, t);
    *r = ag_fma_f32(n, -0x1.846988p-48f, t);
    return ag_bits_f32(z);
}
AG_FN uint64_t ag_quadrant_f64(double x, double *r) {
    const double z = ag_fma_f64(x, 0.63661977236758138, 0x1.8p+52), n = z - 0x1.8p+52;
    double t = ag_fma_f64(n, -0x1.921fb54442d18p+0, x);
    t = ag_fma_f64(n, -0x1.1a62633145c06p-54, t);
    *r = ag_fma_f64(n, -0x1.c1cd129024e08p-107, t);
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
    return ag_pick_f64(x == 0, x, (q & 1 ? -c : s) / (q & 1 ? s : c));
}

/* GPUs have sinf, cosf (2 ulps) and tanf (4), which are right everywhere, and shorter than both ways
 * here: all arguments of float32 are far there. */
#if defined(__CUDA_ARCH__)
#define AG_TRIG_FAR_f32(a, limit) 1
#else
#define AG_TRIG_FAR_f32(a, limit) (!((a) <= limit))
#endif
#define AG_TRIG_FAR_f64(a, limit) (!((a) <= limit))

/* U: bits as unsigned, B: their number minus 2, which moves bit 1 of the quadrant to the sign */
#define AG_TRIG(T, S, U, B, LIMIT)                                                               \
    AG_FN int ag_trig_far_##T(ag_##T x) { return AG_TRIG_FAR_##T(fabs##S(x), LIMIT); }           \
    AG_FN ag_##T ag_turn_##T(U q, ag_##T even, ag_##T odd) {                                     \
        const U pick = 0 - (q & 1); /* bits, not a comparison: SSE2 has none for 64 */            \
        const U v = (ag_bits_##T(odd) & pick) | (ag_bits_##T(even) & ~pick);                     \
        return ag_from_bits_##T(v ^ ((q & 2) << B));                                             \
    }                                                                                            \
    AG_FN ag_##T ag_sin_near_##T(ag_##T x) {                                                     \
        ag_##T r;                                                                                \
        const U q = ag_quadrant_##T(x, &r);                                                      \
        const ag_##T y = ag_turn_##T(q, ag_sin_core_##T(r), ag_cos_core_##T(r));                 \
        return ag_pick_##T(x == 0, x, y); /* the polynomial makes -0 + 0 of -0 */                 \
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
    }
AG_TRIG(f32, f, uint32_t, 30, AG_TRIG_LIMIT_F32)
AG_TRIG(f64, , uint64_t, 62, AG_TRIG_LIMIT_F64)
#undef AG_TRIG

/* ---- inverses ---- */

/* (atan(a) - a) / a^3 with z = a^2, 0 <= a <= 1 */
AG_FN float ag_atan_rest_f32(float z) {
    const float w = z * z;
    float even = ag_fma_f32(w, -0.00179362774f, -0.0311779082f);
    float odd = ag_fma_f32(w, 0.0109146358f, 0.0579576641f);
    even = ag_fma_f32(w, even, -0.0840345472f);
    odd = ag_fma_f32(w, odd, 0.109521873f);
    even = ag_fma_f32(w, even, -0.142642424f);
    odd = ag_fma_f32(w, odd, 0.199985489f);
    even = ag_fma_f32(w, even, -0.333332986f);
    return ag_fma_f32(z, odd, even);
}
AG_FN double ag_atan_rest_f64(double z) {
    const double w = z * z;
    double even = ag_fma_f64(w, -2.0258261629035526e-05, -0.0011640595809627437);
    double odd = ag_fma_f64(w, 0.00022301962345492617, 0.0038559423148626418);
    even = ag_fma_f64(w, even, -0.0091844997695584747);
    odd = ag_fma_f64(w, odd, 0.016977957698637559);
    even = ag_fma_f64(w, even, -0.02582672032087948);
    odd = ag_fma_f64(w, odd, 0.034067754277953215);
    even = ag_fma_f64(w, even, -0.040926350129892611);
    odd = ag_fma_f64(w, odd, 0.046739482116556312);
    even = ag_fma_f64(w, even, -0.052392325359133837);
    odd = ag_fma_f64(w, odd, 0.058773076535669162);
    even = ag_fma_f64(w, even, -0.066658603409925493);
    odd = ag_fma_f64(w, odd, 0.076922129275133602);
    even = ag_fma_f64(w, even, -0.090909012351031188);
    odd = ag_fma_f64(w, odd, 0.11111110678730308);
    even = ag_fma_f64(w, even, -0.14285714271334082);
    odd = ag_fma_f64(w, odd, 0.19999999999755005);
    even = ag_fma_f64(w, even, -0.3333333333333186);
    return ag_fma_f64(z, odd, even);
}
/* (asin(a) - a) / a^3 with z = a^2, 0 <= a <= 1/2 */
AG_FN float ag_asin_rest_f32(float z) {
    float q = ag_fma_f32(z, 0.0421583913f, 0.0241847429f);
    q = ag_fma_f32(z, q, 0.0454691537f);
    q = ag_fma_f32(z, q, 0.0749530941f);
    return ag_fma_f32(z, q, 0.166667521f);
}
AG_FN double ag_asin_rest_f64(double z) {
    const double w = z * z;
    double even = ag_fma_f64(w, -0.016224252833727353, 0.0065279760930889328);
    double odd = ag_fma_f64(w, 0.031912270677571977, 0.019528264307671253);
    even = ag_fma_f64(w, even, 0.013885235588838989);
    odd = ag_fma_f64(w, odd, 0.01216921124459211);
    even = ag_fma_f64(w, even, 0.022371758053546624);
    odd = ag_fma_f64(w, odd, 0.017359704738515811);
    even = ag_fma_f64(w, even, 0.044642856828337643);
    odd = ag_fma_f64(w, odd, 0.030381959136736813);
    even = ag_fma_f64(w, even, 0.16666666666665408);
    odd = ag_fma_f64(w, odd, 0.075000000003369968);
    return ag_fma_f64(z, odd, even);
}

#define AG_HALF_PI_F32 1.57079637f
#define AG_HALF_PI_LOW_F32 -4.37113883e-08f
#define AG_HALF_PI_F64 0x1.921fb54442d18p+0
#define AG_HALF_PI_LOW_F64 0x1.1a62633145c07p-54

#define AG_INVERSE(T, S, HALF_PI, LOW)                                                           \
    /* the angle of a point by its smaller slope, then folded back by octants */                 \
    AG_FN ag_##T ag_atan2_##T(ag_##T y, ag_##T x) {                                              \
        const ag_##T ay = fabs##S(y), ax = fabs##S(x);                                           \
        const int steep = ay > ax;                                                               \
        const ag_##T big = ag_pick_##T(steep, ay, ax), small = ag_pick_##T(steep, ax, ay);       \
        ag_##T a = small / ag_pick_##T(big == 0, (ag_##T)1, big), r;                             \
        a = ag_pick_##T(small == (ag_##T)INFINITY, (ag_##T)1, a);                                \
        r = ag_fma_##T(a * a * a, ag_atan_rest_##T(a * a), a);                                   \
        r = ag_pick_##T(steep, (HALF_PI) - (r - (LOW)), r);                                      \
        r = ag_pick_##T((int)(ag_bits_##T(x) >> (8 * sizeof(x) - 1)),                            \
                        2 * (HALF_PI) - (r - 2 * (LOW)), r);                                     \
        return ag_pick_##T((x != x) | (y != y), x + y, copysign##S(r, y));                       \
    }                                                                                            \
    AG_FN ag_##T ag_atan_##T(ag_##T x) {                                                         \
        const ag_##T ax = fabs##S(x);                                                            \
        const int steep = ax > 1;                                                                \
        /* beyond 2^126 a quotient of 0 does as well */                                          \
        const ag_##T a = ag_pick_##T(steep, AG_QUOTIENT(T, (ag_##T)1, ax), ax);                  \
        const ag_##T r = ag_fma_##T(a * a * a, ag_atan_rest_##T(a * a), a);                      \
        return copysign##S(ag_pick_##T(steep, (HALF_PI) - (r - (LOW)), r), x);                   \
    }                                                                                            \
    /* beyond 1/2 from asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2)) */                             \
    AG_FN ag_##T ag_asin_##T(ag_##T x) {                                                         \
        const ag_##T ax = fabs##S(x);                                                            \
        const int far = ax > (ag_##T)0.5;                                                        \
        const ag_##T z = ag_pick_##T(far, (1 - ax) * (ag_##T)0.5, ax * ax);                      \
        const ag_##T a = ag_pick_##T(far, sqrt##S(z), ax);                                       \
        const ag_##T r = ag_fma_##T(a * z, ag_asin_rest_##T(z), a);                              \
        return copysign##S(ag_pick_##T(far, (HALF_PI) - (2 * r - (LOW)), r), x);                 \
    }                                                                                            \
    AG_FN ag_##T ag_acos_##T(ag_##T x) {                                                         \
        const ag_##T ax = fabs##S(x);                                                            \
        const int far = ax > (ag_##T)0.5;                                                        \
        const ag_##T z = ag_pick_##T(far, (1 - ax) * (ag_##T)0.5, ax * ax);                      \
        const ag_##T a = ag_pick_##T(far, sqrt##S(z), ax);                                       \
        const ag_##T r = ag_fma_##T(a * z, ag_asin_rest_##T(z), a);                              \
        const ag_##T near = (HALF_PI) - (copysign##S(r, x) - (LOW));                             \
        const ag_##T left = 2 * ((HALF_PI) - (r - (LOW)));                                       \
        return ag_pick_##T(far, ag_pick_##T(x < 0, left, 2 * r), near);                          \
    }
AG_INVERSE(f32, f, AG_HALF_PI_F32, AG_HALF_PI_LOW_F32)
AG_INVERSE(f64, , AG_HALF_PI_F64, AG_HALF_PI_LOW_F64)
#undef AG_INVERSE

#endif
