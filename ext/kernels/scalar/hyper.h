/* Hyperbolic functions and their inverses. */
#ifndef AG_SCALAR_HYPER_H
#define AG_SCALAR_HYPER_H

#include "exp_log.h"

/* tanh a = h / (h + 1) with h = (e^2a - 1) / 2 */
AG_FN float ag_tanh_f32(float x) {
#if defined(__CUDA_ARCH__)
    return tanhf(x); /* 2 ulps */
#else
    const float a = fabsf(x), h = ag_half_expm1_f32(2.0f * AG_AT_MOST(a, 10.0f));
    return a < 0x1p-40f ? x : copysignf(h / (h + 1.0f), x);
#endif
}
AG_FN double ag_tanh_f64(double x) {
    const double a = fabs(x), h = ag_half_expm1_f64(2.0 * AG_AT_MOST(a, 20.0));
    return a < 0x1p-60 ? x : copysign(h / (h + 1.0), x);
}

#define AG_HYPER(T, S, BIG, TINY, LARGE, LN2)                                                                      \
    /* with h = (e^a - 1) / 2: sinh a = h + h / (2 h + 1) */                                     \
    AG_FN ag_##T ag_sinh_##T(ag_##T x) {                                                         \
        const ag_##T h = ag_half_expm1_##T(fabs##S(x)), t = AG_AT_MOST(h, BIG);                  \
        return fabs##S(x) < TINY ? x : copysign##S(h + AG_QUOTIENT(T, t, 2 * t + 1), x);         \
    }                                                                                            \
    /* with the same h: cosh a = h + 1/2 + 1 / (2 e^a) */                                      \
    AG_FN ag_##T ag_cosh_##T(ag_##T x) {                                                         \
        const ag_##T h = ag_half_expm1_##T(fabs##S(x)), e = 2 * AG_AT_MOST(h, BIG) + 1;          \
        return (h + (ag_##T)0.5) + AG_QUOTIENT(T, (ag_##T)0.5, e);                               \
    }                                                                                            \
    /* all three through log1p, which keeps small results exact; log 2 is added where doubling the\
     * argument would overflow */                                                                \
    AG_FN ag_##T ag_asinh_##T(ag_##T x) {                                                        \
        const ag_##T a = fabs##S(x), square = a * a;                                             \
        const int big = a > LARGE;                                                                \
        /* a quotient of numbers too large is not taken */                                       \
        const ag_##T near = a + AG_QUOTIENT(T, square, 1 + sqrt##S(square + 1));                 \
        const ag_##T y = ag_log1p_##T(ag_pick_##T(big, a, near));                                \
        return ag_pick_##T(a < TINY, x, copysign##S(y + ag_pick_##T(big, LN2, 0), x));           \
    }                                                                                            \
    AG_FN ag_##T ag_acosh_##T(ag_##T x) {                                                        \
        const ag_##T t = x - 1;                                                                  \
        const int big = x > LARGE;                                                                \
        const ag_##T near = t + sqrt##S(t * (t + 2));                                            \
        const ag_##T y = ag_log1p_##T(ag_pick_##T(big, t, near)) + ag_pick_##T(big, LN2, 0);     \
        return ag_pick_##T(x < 1, (ag_##T)NAN, y);                                               \
    }                                                                                            \
    AG_FN ag_##T ag_atanh_##T(ag_##T x) {                                                        \
        const ag_##T a = fabs##S(x), b = AG_NEAR_ONE(T, a);                                      \
        const ag_##T y = (ag_##T)0.5 * ag_log1p_##T(AG_QUOTIENT(T, 2 * b, 1 - b));               \
        return ag_pick_##T(a < TINY, x, copysign##S(y, x));                                      \
    }                                                                                            \
    AG_FN ag_##T ag_tanh_backward_##T(ag_##T g, ag_##T y) {                                      \
        return g * ag_fma_##T(-y, y, (ag_##T)1);                                                 \
    }
AG_HYPER(f32, f, 1e30f, 0x1p-40f, 1e9f, 0.693147182f)
AG_HYPER(f64, , 1e300, 0x1p-60, 1e18, 0.69314718055994531)
#undef AG_HYPER

#endif
