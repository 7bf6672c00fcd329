/* The logarithm of the gamma function and its first two derivatives.
 *
 * Near the zeros of lgamma (at 1 and 2) and of digamma the zero is a factor, so that errors are
 * relative to the result. Elsewhere recurrences lead to Stirling's series (NIST DLMF 5.5, 5.11,
 * 5.15), and reflection to positive numbers. Coefficients were computed with 60 digits. */
#ifndef AG_SCALAR_GAMMA_H
#define AG_SCALAR_GAMMA_H

#include "exp_log.h"
#include "trig.h"

/* lgamma(w) / ((w - 1) (w - 2)) for 1 <= w <= 3 at t = w - 2; digamma(x) / (x - its zero) for
 * 1 <= x <= 2 at t = 2 x - 3 */
AG_FN float ag_lgamma_near_f32(float t) {
    float p = 1.93087505e-05f;
    p = ag_fma_f32(p, t, -3.87342096e-05f);
    p = ag_fma_f32(p, t, 2.02493768e-05f);
    p = ag_fma_f32(p, t, -5.2419442e-05f);
    p = ag_fma_f32(p, t, 0.000195799474f);
    p = ag_fma_f32(p, t, -0.00042557137f);
    p = ag_fma_f32(p, t, 0.000910506309f);
    p = ag_fma_f32(p, t, -0.00210206158f);
    p = ag_fma_f32(p, t, 0.00499948051f);
    p = ag_fma_f32(p, t, -0.0123849751f);
    p = ag_fma_f32(p, t, 0.0329649469f);
    p = ag_fma_f32(p, t, -0.100317273f);
    return ag_fma_f32(p, t, 0.422784336f);
}
AG_FN double ag_lgamma_near_f64(double t) {
    double p = 1.5818126337371086e-09;
    p = ag_fma_f64(p, t, -3.0588517405592795e-09);
    p = ag_fma_f64(p, t, -4.358862409072515e-09);
    p = ag_fma_f64(p, t, 7.63280367498139e-09);
    p = ag_fma_f64(p, t, 1.6327287432845006e-08);
    p = ag_fma_f64(p, t, -2.99246932704989e-08);
    p = ag_fma_f64(p, t, 5.68873795385758e-09);
    p = ag_fma_f64(p, t, -1.8782633004145104e-08);
    p = ag_fma_f64(p, t, 1.0444285443279689e-07);
    p = ag_fma_f64(p, t, -2.1198058876068515e-07);
    p = ag_fma_f64(p, t, 3.95720794275161e-07);
    p = ag_fma_f64(p, t, -8.415314379954077e-07);
    p = ag_fma_f64(p, t, 1.8114769634727658e-06);
    p = ag_fma_f64(p, t, -3.851745589307298e-06);
    p = ag_fma_f64(p, t, 8.221205092155423e-06);
    p = ag_fma_f64(p, t, -1.7660513220920708e-05);
    p = ag_fma_f64(p, t, 3.81690832831345e-05);
    p = ag_fma_f64(p, t, -8.309532779844489e-05);
    p = ag_fma_f64(p, t, 0.00018255261441838105);
    p = ag_fma_f64(p, t, -0.00040570737581328186);
    p = ag_fma_f64(p, t, 0.0009153769241238952);
    p = ag_fma_f64(p, t, -0.002108130835268435);
    p = ag_fma_f64(p, t, 0.004998641164623283);
    p = ag_fma_f64(p, t, -0.012384192193334375);
    p = ag_fma_f64(p, t, 0.032965000621156974);
    p = ag_fma_f64(p, t, -0.10031730167435422);
    return ag_fma_f64(p, t, 0.42278433509846713);
}
AG_FN float ag_digamma_near_f32(float t) {
    float p = 1.09696048e-05f;
    p = ag_fma_f32(p, t, -3.20073902e-05f);
    p = ag_fma_f32(p, t, 6.60514348e-05f);
    p = ag_fma_f32(p, t, -0.00020139799f);
    p = ag_fma_f32(p, t, 0.000638982508f);
    p = ag_fma_f32(p, t, -0.00193929571f);
    p = ag_fma_f32(p, t, 0.00593629377f);
    p = ag_fma_f32(p, t, -0.0185498449f);
    p = ag_fma_f32(p, t, 0.0601356647f);
    p = ag_fma_f32(p, t, -0.21181375f);
    return ag_fma_f32(p, t, 0.951055875f);
}
AG_FN double ag_digamma_near_f64(double t) {
    double p = -8.50550766013261e-11;
    p = ag_fma_f64(p, t, 2.478695345606839e-10);
    p = ag_fma_f64(p, t, -2.7580994814377e-10);
    p = ag_fma_f64(p, t, 8.657533672812613e-10);
    p = ag_fma_f64(p, t, -3.7083753242807277e-09);
    p = ag_fma_f64(p, t, 1.1039363482759935e-08);
    p = ag_fma_f64(p, t, -3.162911147408454e-08);
    p = ag_fma_f64(p, t, 9.500659034300503e-08);
    p = ag_fma_f64(p, t, -2.863161166883193e-07);
    p = ag_fma_f64(p, t, 8.59134317611421e-07);
    p = ag_fma_f64(p, t, -2.578093954045772e-06);
    p = ag_fma_f64(p, t, 7.741156049273805e-06);
    p = ag_fma_f64(p, t, -2.3258242519113285e-05);
    p = ag_fma_f64(p, t, 6.995020506384849e-05);
    p = ag_fma_f64(p, t, -0.00021074841138175561);
    p = ag_fma_f64(p, t, 0.0006368880282849916);
    p = ag_fma_f64(p, t, -0.0019350666648613071);
    p = ag_fma_f64(p, t, 0.005936795278436479);
    p = ag_fma_f64(p, t, -0.018550615381735008);
    p = ag_fma_f64(p, t, 0.060135621060193475);
    p = ag_fma_f64(p, t, -0.2118137106407303);
    return ag_fma_f64(p, t, 0.951055876031833);
}

#define AG_PI 3.14159265358979323846
#define AG_LOG_PI 1.1447298858494001741
#define AG_HALF_LOG_TWO_PI 0.91893853320467274178

/* sin and cos of pi a for 0 <= a <= 1/2 */
#define AG_HALF_TURN(T, S)                                                                       \
    AG_FN ag_##T ag_sin_pi_##T(ag_##T a) {                                                       \
        const int high = a > (ag_##T)0.25;                                                       \
        const ag_##T r = (ag_##T)AG_PI * ag_pick_##T(high, (ag_##T)0.5 - a, a);                  \
        return ag_pick_##T(high, ag_cos_core_##T(r), ag_sin_core_##T(r));                        \
    }                                                                                            \
    AG_FN ag_##T ag_cos_pi_##T(ag_##T a) {                                                       \
        const int high = a > (ag_##T)0.25;                                                       \
        const ag_##T r = (ag_##T)AG_PI * ag_pick_##T(high, (ag_##T)0.5 - a, a);                  \
        return ag_pick_##T(high, ag_sin_core_##T(r), ag_cos_core_##T(r));                        \
    }
AG_FOR_FLOATS(AG_HALF_TURN)
#undef AG_HALF_TURN

/* The tails of Stirling's series in r = 1 / z^2, for z >= 10: of lgamma and digamma (times z). */
#define AG_STIRLING(T, S)                                                                        \
    AG_FN ag_##T ag_lgamma_tail_##T(ag_##T r) {                                                  \
        ag_##T p = (ag_##T)(-691.0 / 360360);                                                    \
        p = ag_fma_##T(p, r, (ag_##T)(1.0 / 1188));                                              \
        p = ag_fma_##T(p, r, (ag_##T)(-1.0 / 1680));                                             \
        p = ag_fma_##T(p, r, (ag_##T)(1.0 / 1260));                                              \
        p = ag_fma_##T(p, r, (ag_##T)(-1.0 / 360));                                              \
        return ag_fma_##T(p, r, (ag_##T)(1.0 / 12));                                             \
    }                                                                                            \
    AG_FN ag_##T ag_digamma_tail_##T(ag_##T r) {                                                 \
        ag_##T p = (ag_##T)(1.0 / 12);                                                           \
        p = ag_fma_##T(p, r, (ag_##T)(-691.0 / 32760));                                          \
        p = ag_fma_##T(p, r, (ag_##T)(1.0 / 132));                                               \
        p = ag_fma_##T(p, r, (ag_##T)(-1.0 / 240));                                              \
        p = ag_fma_##T(p, r, (ag_##T)(1.0 / 252));                                               \
        p = ag_fma_##T(p, r, (ag_##T)(-1.0 / 120));                                              \
        return ag_fma_##T(p, r, (ag_##T)(1.0 / 12)) * r;                                         \
    }                                                                                            \
    AG_FN ag_##T ag_trigamma_tail_##T(ag_##T r) {                                                \
        ag_##T p = (ag_##T)(7.0 / 6);                                                            \
        p = ag_fma_##T(p, r, (ag_##T)(-691.0 / 2730));                                           \
        p = ag_fma_##T(p, r, (ag_##T)(5.0 / 66));                                                \
        p = ag_fma_##T(p, r, (ag_##T)(-1.0 / 30));                                               \
        p = ag_fma_##T(p, r, (ag_##T)(1.0 / 42));                                                \
        p = ag_fma_##T(p, r, (ag_##T)(-1.0 / 30));                                               \
        return ag_fma_##T(p, r, (ag_##T)(1.0 / 6)) * r;                                          \
    }
AG_FOR_FLOATS(AG_STIRLING)
#undef AG_STIRLING

/* A factor z - 1 while z >= 3, which is left out afterwards. */
#define AG_LOWER(T) (more = z >= 3, z = ag_pick_##T(more, z - 1, z), f *= ag_pick_##T(more, z, 1))

#define AG_LGAMMA(T, S)                                                                          \
    AG_FN ag_##T ag_lgamma_##T(ag_##T x) {                                                       \
        const ag_##T a = fabs##S(x), away = fabs##S(x - rint##S(x));                             \
        const int far = a >= 10, less = a < 1;                                                   \
        ag_##T z = AG_AT_MOST(a, (ag_##T)10), f = 1, t, l, near, stirling, y, mirror;            \
        int more;                                                                                \
        AG_LOWER(T), AG_LOWER(T), AG_LOWER(T), AG_LOWER(T);                                      \
        AG_LOWER(T), AG_LOWER(T), AG_LOWER(T), AG_LOWER(T);                                      \
        /* of numbers below 1: lgamma(z + 1) - log(z) */                                         \
        t = z - ag_pick_##T(less, (ag_##T)1, (ag_##T)2);                                         \
        near = ag_lgamma_near_##T(t) * t * ag_pick_##T(less, z, z - 1);                          \
        l = ag_log_##T(ag_pick_##T(far | less, a, f));                                           \
        near += ag_pick_##T(less, -l, l);                                                        \
        z = AG_AT_LEAST(a, (ag_##T)10);                                                          \
        stirling = ag_lgamma_tail_##T(1 / (z * z)) / z + (ag_##T)(AG_HALF_LOG_TWO_PI - 0.5);     \
        stirling = ag_fma_##T(z - (ag_##T)0.5, l - 1, stirling);                                 \
        y = ag_pick_##T(far, stirling, near);                                                    \
        mirror = (ag_##T)AG_LOG_PI - ag_log_##T(a * ag_sin_pi_##T(away));                        \
        /* of tiny numbers the sign makes no difference, and the product above has few digits */  \
        y = ag_pick_##T(x < -TINY_##T, mirror - y, y);                                           \
        return ag_pick_##T(a > FAR_##T, (ag_##T)INFINITY, y);                                    \
    }
#define TINY_f32 0x1p-30f
#define TINY_f64 0x1p-60
/* the largest numbers whose results are finite */
#define FAR_f32 4.085003e36f
#define FAR_f64 2.55634852e305
AG_FOR_FLOATS(AG_LGAMMA)
#undef AG_LGAMMA
#undef AG_LOWER
#undef TINY_f32
#undef TINY_f64
#undef FAR_f32
#undef FAR_f64

#define AG_DIGAMMA(T, S)                                                                         \
    AG_FN ag_##T ag_digamma_##T(ag_##T x) {                                                      \
        const ag_##T turn = x - rint##S(x), away = fabs##S(turn);                                \
        const ag_##T z = ag_pick_##T(x < 0, 1 - x, x);                                           \
        const int low = z < 10;                                                                  \
        const ag_##T v = ag_pick_##T(low, z + 10, z), w = ag_pick_##T(low, z, (ag_##T)1);        \
        ag_##T q = w + 45, d = 10, y, tangent;                                                   \
        /* w (w + 1) ... (w + 9) and its derivative, whose quotient is the sum of 1 / (w + k) */ \
        d = ag_fma_##T(d, w, (ag_##T)405);                                                       \
        q = ag_fma_##T(q, w, (ag_##T)870), d = ag_fma_##T(d, w, (ag_##T)6960);                   \
        q = ag_fma_##T(q, w, (ag_##T)9450), d = ag_fma_##T(d, w, (ag_##T)66150);                 \
        q = ag_fma_##T(q, w, (ag_##T)63273), d = ag_fma_##T(d, w, (ag_##T)379638);               \
        q = ag_fma_##T(q, w, (ag_##T)269325), d = ag_fma_##T(d, w, (ag_##T)1346625);             \
        q = ag_fma_##T(q, w, (ag_##T)723680), d = ag_fma_##T(d, w, (ag_##T)2894720);             \
        q = ag_fma_##T(q, w, (ag_##T)1172700), d = ag_fma_##T(d, w, (ag_##T)3518100);            \
        q = ag_fma_##T(q, w, (ag_##T)1026576), d = ag_fma_##T(d, w, (ag_##T)2053152);            \
        q = ag_fma_##T(q, w, (ag_##T)362880) * w, d = ag_fma_##T(d, w, (ag_##T)362880);          \
        y = ag_log_##T(v) - ((ag_##T)0.5 / v + ag_digamma_tail_##T(1 / (v * v)));                \
        y -= ag_pick_##T(low, d / q, (ag_##T)0);                                                 \
        y = ag_pick_##T((z >= 1) & (z <= 2),                                                     \
                        ag_digamma_near_##T(2 * z - 3) * ((z - ROOT_##T) - REST_##T), y);        \
        tangent = ag_sin_pi_##T(away) / ag_cos_pi_##T(away);                                     \
        y = ag_pick_##T(x < 0, y - copysign##S((ag_##T)AG_PI / tangent, turn), y);               \
        y = ag_pick_##T((x < 0) & (turn == 0), (ag_##T)NAN, y);                                  \
        return ag_pick_##T(x == 0, copysign##S((ag_##T)INFINITY, -x), y);                        \
    }
/* the zero of digamma in two parts */
#define ROOT_f32 1.46163213f
#define REST_f32 1.24381499e-08f
#define ROOT_f64 1.4616321449683622
#define REST_f64 9.549995429965697e-17
AG_FOR_FLOATS(AG_DIGAMMA)
#undef AG_DIGAMMA
#undef ROOT_f32
#undef REST_f32
#undef ROOT_f64
#undef REST_f64

/* 1 / w^2 + 1 / (w + 1)^2 at w = v + k */
#define AG_TWO_SQUARES(T, k) \
    (w = v + (k), p = w * (w + 1), q = w * w, y += (q + (w + 1) * (w + 1)) / (p * p))

#define AG_TRIGAMMA(T, S)                                                                        \
    AG_FN ag_##T ag_trigamma_##T(ag_##T x) {                                                     \
        const ag_##T away = fabs##S(x - rint##S(x)), sine = ag_sin_pi_##T(away);                 \
        const ag_##T z = ag_pick_##T(x > 0, x, 1 - x);                                           \
        const int low = z < 12;                                                                  \
        const ag_##T v = ag_pick_##T(low, z, (ag_##T)1), u = ag_pick_##T(low, z + 12, z);        \
        ag_##T y = 0, w, p, q, turn = (ag_##T)AG_PI / sine;                                      \
        AG_TWO_SQUARES(T, 0), AG_TWO_SQUARES(T, 2), AG_TWO_SQUARES(T, 4);                        \
        AG_TWO_SQUARES(T, 6), AG_TWO_SQUARES(T, 8), AG_TWO_SQUARES(T, 10);                       \
        w = 1 / u;                                                                               \
        p = ((ag_##T)1 + ag_fma_##T((ag_##T)0.5, w, ag_trigamma_tail_##T(w * w))) * w;           \
        y = p + ag_pick_##T(low, y, (ag_##T)0);                                                  \
        return ag_pick_##T(x > 0, y, ag_fma_##T(turn, turn, -y));                                \
    }
AG_FOR_FLOATS(AG_TRIGAMMA)
#undef AG_TRIGAMMA
#undef AG_TWO_SQUARES
#undef AG_PI
#undef AG_LOG_PI
#undef AG_HALF_LOG_TWO_PI

#endif
