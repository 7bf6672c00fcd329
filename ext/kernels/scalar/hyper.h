/* Hyperbolic functions and their inverses. */
#ifndef AG_SCALAR_HYPER_H
#define AG_SCALAR_HYPER_H

#include "exp_log.h"

/* tanh a = h / (h + 1) with h = (e^2a - 1) / 2 */
AG_FN float ag_tanh_f32(float x) {
    const float a = fabsf(x), h = ag_half_expm1_f32(2.0f * AG_AT_MOST(a, 10.0f));
    return a < 0x1p-40f ? x : copysignf(h / (h + 1.0f), x);
}
AG_FN double ag_tanh_f64(double x) {
    const double a = fabs(x), h = ag_half_expm1_f64(2.0 * AG_AT_MOST(a, 20.0));
    return a < 0x1p-60 ? x : copysign(h / (h + 1.0), x);
}

#define AG_HYPER(T, S, BIG, TINY)                                                                      \
    /* with h = (e^a - 1) / 2: sinh a = h + h / (2 h + 1) */                                     \
    AG_FN ag_##T ag_sinh_##T(ag_##T x) {                                                         \
        const ag_##T h = ag_half_expm1_##T(fabs##S(x)), t = AG_AT_MOST(h, BIG);                  \
        return fabs##S(x) < TINY ? x : copysign##S(h + t / (2 * t + 1), x);                      \
    }                                                                                            \
    /* with the same h: cosh a = h + 1/2 + 1 / (2 e^a) */                                      \
    AG_FN ag_##T ag_cosh_##T(ag_##T x) {                                                         \
        const ag_##T h = ag_half_expm1_##T(fabs##S(x)), e = 2 * AG_AT_MOST(h, BIG) + 1;          \
        return (h + (ag_##T)0.5) + (ag_##T)0.5 / e;                                              \
    }                                                                                            \
    AG_FN ag_##T ag_asinh_##T(ag_##T x) { return asinh##S(x); }                                  \
    AG_FN ag_##T ag_acosh_##T(ag_##T x) { return acosh##S(x); }                                  \
    AG_FN ag_##T ag_atanh_##T(ag_##T x) { return atanh##S(x); }                                  \
    AG_FN ag_##T ag_tanh_backward_##T(ag_##T g, ag_##T y) {                                      \
        return g * ((ag_##T)1 - y * y);                                                          \
    }
AG_HYPER(f32, f, 1e30f, 0x1p-40f)
AG_HYPER(f64, , 1e300, 0x1p-60)
#undef AG_HYPER

#endif
