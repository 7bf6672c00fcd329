/* Complex arithmetic and functions. Products are the plain formula; division scales by the larger
 * part; functions are put together from the real ones. */
#ifndef AG_SCALAR_COMPLEX_H
#define AG_SCALAR_COMPLEX_H

#include "arith.h"
#include "exp_log.h"
#include "hyper.h"
#include "special.h"
#include "trig.h"

/* T complex type, R its part */
#define AG_COMPLEX_ARITH(T, R)                                                                   \
    /* all four products are rounded, so that pairs in a vector and one left over agree */       \
    AG_FN ag_##T ag_mul_##T(ag_##T x, ag_##T y) {                                                \
        const ag_##R aa = AG_PRODUCT(R, x.re, y.re), bb = AG_PRODUCT(R, x.im, y.im);             \
        const ag_##R ab = AG_PRODUCT(R, x.re, y.im), ba = AG_PRODUCT(R, x.im, y.re);             \
        return ag_make_##T(aa - bb, ab + ba);                                                    \
    }                                                                                            \
    AG_FN ag_##T ag_add_##T(ag_##T x, ag_##T y) { return ag_make_##T(x.re + y.re, x.im + y.im); } \
    AG_FN ag_##T ag_sub_##T(ag_##T x, ag_##T y) { return ag_make_##T(x.re - y.re, x.im - y.im); } \
    AG_FN ag_##T ag_div_##T(ag_##T x, ag_##T y) {                                                \
        const int flip = ag_abs_##R(y.re) < ag_abs_##R(y.im);                                    \
        const ag_##R big = flip ? y.im : y.re, small = flip ? y.re : y.im;                       \
        const ag_##R ratio = big == 0 ? small : small / big;                                     \
        const ag_##R whole = ag_fma_##R(small, ratio, big);                                      \
        /* by zero, of any signs, both parts are divided by +0 */                                \
        const int zero = whole == 0;                                                             \
        const ag_##R scale = (ag_##R)1 / ag_pick_##R(zero, 0, whole);                            \
        const ag_##R a = flip ? x.im : x.re, b = flip ? x.re : x.im;                             \
        /* flipped: (a + b r) and (a r - b); plain: (a + b r) and (b - a r) */                   \
        const ag_##R ar = AG_PRODUCT(R, a, ratio), br = AG_PRODUCT(R, b, ratio);                 \
        const ag_##R im = flip ? ar - b : b - ar;                                                \
        return ag_make_##T(ag_pick_##R(zero, a, a + br) * scale,                                 \
                           ag_pick_##R(zero, b, im) * scale);                                    \
    }                                                                                            \
    AG_FN ag_##T ag_neg_##T(ag_##T x) { return ag_make_##T(-x.re, -x.im); }                      \
    AG_FN ag_##T ag_conj_##T(ag_##T x) { return ag_make_##T(x.re, -x.im); }                      \
    AG_FN ag_##R ag_real_##T(ag_##T x) { return x.re; }                                          \
    AG_FN ag_##R ag_imag_##T(ag_##T x) { return x.im; }                                          \
    AG_FN ag_##T ag_complex_##T(ag_##R re, ag_##R im) { return ag_make_##T(re, im); }            \
    AG_FN ag_##R ag_abs_##T(ag_##T x) { return ag_hypot_##R(x.re, x.im); }                       \
    AG_FN ag_##R ag_angle_##T(ag_##T x) { return ag_atan2_##R(x.im, x.re); }                     \
    AG_FN ag_##T ag_sign_##T(ag_##T x) {                                                         \
        const ag_##R r = ag_abs_##T(x);                                                          \
        return r == 0 ? ag_make_##T(0, 0) : ag_make_##T(x.re / r, x.im / r);                     \
    }                                                                                            \
    AG_FN ag_##T ag_square_##T(ag_##T x) { return ag_mul_##T(x, x); }                            \
    AG_FN ag_##T ag_cube_##T(ag_##T x) { return ag_mul_##T(ag_mul_##T(x, x), x); }               \
    AG_FN ag_##T ag_reciprocal_##T(ag_##T x) { return ag_div_##T(ag_make_##T(1, 0), x); }        \
    AG_FN ag_##T ag_add_scaled_##T(ag_##T x, ag_##T y, ag_##T alpha) {                           \
        return ag_add_##T(x, ag_mul_##T(y, alpha));                                              \
    }                                                                                            \
    AG_FN ag_##T ag_addcmul_##T(ag_##T x, ag_##T a, ag_##T b, ag_##T value) {                    \
        return ag_add_##T(x, ag_mul_##T(ag_mul_##T(value, a), b));                               \
    }                                                                                            \
    AG_FN ag_##T ag_add_products_##T(ag_##T a, ag_##T b, ag_##T c, ag_##T d) {                   \
        return ag_add_##T(ag_mul_##T(a, b), ag_mul_##T(c, d));                                   \
    }                                                                                            \
    AG_FN ag_##T ag_addcdiv_##T(ag_##T x, ag_##T a, ag_##T b, ag_##T value) {                    \
        return ag_add_##T(x, ag_div_##T(ag_mul_##T(value, a), b));                               \
    }                                                                                            \
    AG_FN ag_##T ag_lerp_##T(ag_##T x, ag_##T y, ag_##T w) {                                     \
        const ag_##T d = ag_sub_##T(y, x);                                                       \
        const int near_x = w.re * w.re + w.im * w.im < (ag_##R)0.25;                             \
        const ag_##T left = ag_add_##T(x, ag_mul_##T(w, d));                                     \
        const ag_##T right = ag_sub_##T(y, ag_mul_##T(d, ag_make_##T(1 - w.re, -w.im)));         \
        return ag_make_##T(near_x ? left.re : right.re, near_x ? left.im : right.im);            \
    }
AG_FOR_COMPLEX(AG_COMPLEX_ARITH)
#undef AG_COMPLEX_ARITH

#define AG_COMPLEX_LOG(T, R)                                                                     \
    /* log h for h = |z|, from |z|^2 - 1 where z is near the unit circle */                      \
    AG_FN ag_##R ag_log_modulus_##R(ag_##R h, ag_##R excess) {                                   \
        const int near = (excess > (ag_##R)-0.29) & (excess < (ag_##R)0.41);                     \
        ag_##R k, y;                                                                             \
        const ag_##R m = ag_log_split_##R(h, &k);                                                \
        const ag_##R f = ag_pick_##R(near, excess, m - 1);                                       \
        y = ag_log_sum_##R(ag_pick_##R(near, 0, k), f) * ag_pick_##R(near, (ag_##R)0.5, 1);      \
        return (h > 0) & (h < (ag_##R)INFINITY) ? y : AG_LOG_OUTSIDE(h, (ag_##R)INFINITY, (ag_##R)NAN);\
    }                                                                                            \
    /* scaled by a power of two where the modulus would be subnormal, or overflow */              \
    AG_FN ag_##T ag_log_##T(ag_##T x) {                                                          \
        const ag_##R a = ag_abs_##R(x.re), b = ag_abs_##R(x.im);                                 \
        const ag_##R big = a > b ? a : b, small = a > b ? b : a;                                 \
        const ag_##R excess = ag_fma_##R(small, small, (big - 1) * (big + 1));                   \
        const int tiny = big < (sizeof(ag_##R) == 4 ? (ag_##R)1e-30 : (ag_##R)1e-290);           \
        const int huge = big > (sizeof(ag_##R) == 4 ? (ag_##R)1e38 : (ag_##R)1e307);             \
        const ag_##R scale =                                                                     \
            ag_pick_##R(tiny, (ag_##R)0x1p+64, ag_pick_##R(huge, (ag_##R)0x1p-64, 1));           \
        const ag_##R re = ag_log_modulus_##R(ag_hypot_##R(a * scale, b * scale), excess);        \
        const ag_##R back = (ag_##R)44.3614195558364998;                                         \
        return ag_make_##T(re - ag_pick_##R(tiny, back, ag_pick_##R(huge, -back, 0)),            \
                           ag_atan2_##R(x.im, x.re));                                            \
    }                                                                                            \
    AG_FN ag_##T ag_log1p_##T(ag_##T x) {                                                        \
        const ag_##R u = x.re + 1;                                                               \
        const ag_##R excess = ag_fma_##R(x.im, x.im, x.re * (2 + x.re));                         \
        const ag_##R a = ag_abs_##R(u), b = ag_abs_##R(x.im);                                    \
        const int huge = (a > b ? a : b) > (sizeof(ag_##R) == 4 ? (ag_##R)1e38 : (ag_##R)1e307); \
        const ag_##R scale = ag_pick_##R(huge, (ag_##R)0x1p-64, 1);                              \
        const ag_##R re = ag_log_modulus_##R(ag_hypot_##R(u * scale, x.im * scale), excess)      \
                          + ag_pick_##R(huge, (ag_##R)44.3614195558364998, 0);                   \
        return ag_make_##T(ag_pick_##R((x.re == 0) & (x.im == 0), x.re, re),                     \
                           ag_atan2_##R(x.im, u));                                               \
    }                                                                                            \
    AG_FN ag_##T ag_log2_##T(ag_##T x) {                                                         \
        const ag_##R scale = (ag_##R)1.44269504088896340736;                                     \
        const ag_##T z = ag_log_##T(x);                                                          \
        return ag_make_##T(z.re * scale, z.im * scale);                                          \
    }                                                                                            \
    AG_FN ag_##T ag_log10_##T(ag_##T x) {                                                        \
        const ag_##R scale = (ag_##R)0.43429448190325182765;                                     \
        const ag_##T z = ag_log_##T(x);                                                          \
        return ag_make_##T(z.re * scale, z.im * scale);                                          \
    }                                                                                            \
    /* scaled by 1/16 or 2^24 (double: 2^108) where |x| would overflow or lose bits */            \
    AG_FN ag_##T ag_sqrt_##T(ag_##T x) {                                                         \
        const ag_##R top = sizeof(ag_##R) == 4 ? (ag_##R)1e37 : (ag_##R)1e307;                   \
        const ag_##R low = sizeof(ag_##R) == 4 ? (ag_##R)1e-30 : (ag_##R)1e-290;                 \
        const ag_##R up = sizeof(ag_##R) == 4 ? (ag_##R)0x1p+12 : (ag_##R)0x1p+54;               \
        const ag_##R a = ag_abs_##R(x.re), b = ag_abs_##R(x.im);                                 \
        const int large = (a > top) | (b > top), tiny = (a < low) & (b < low);                   \
        const ag_##R scale =                                                                     \
            ag_pick_##R(large, (ag_##R)0.0625, ag_pick_##R(tiny, up * up, 1));                   \
        const ag_##R back = ag_pick_##R(large, 4, ag_pick_##R(tiny, 1 / up, 1));                 \
        const ag_##R c = a * scale, d = b * scale;                                               \
        const ag_##R t = ag_sqrt_##R((ag_##R)0.5 * (c + ag_hypot_##R(c, d)));                    \
        const int infinite = b == (ag_##R)INFINITY; /* both parts then, whatever x.re is */      \
        const ag_##R first = ag_pick_##R(infinite, b, t * back);                                 \
        ag_##R second = d / (2 * ag_pick_##R(t == 0, 1, t)) * back;                              \
        second = ag_pick_##R(infinite, b, second);                                               \
        return ag_make_##T(                                                                      \
            ag_pick_##R(x.re < 0, second, first),                                                \
            ag_copysign_##R(ag_pick_##R(x.re < 0, first, second), x.im));                        \
    }                                                                                            \
    AG_FN ag_##T ag_rsqrt_##T(ag_##T x) { return ag_reciprocal_##T(ag_sqrt_##T(x)); }
AG_FOR_COMPLEX(AG_COMPLEX_LOG)
#undef AG_COMPLEX_LOG

/* Inverse functions from two square roots each [1]: both parts keep their last bits, because what is
 * added has one sign. Infinite parts leave only the angle, which atan2 knows.
 *
 * [1] Kahan, Branch cuts for complex elementary functions, 1987. */
#define AG_COMPLEX_INVERSE(T, R)                                                                 \
    AG_FN int ag_infinite_##T(ag_##T x) {                                                        \
        return (ag_abs_##R(x.re) == (ag_##R)INFINITY) | (ag_abs_##R(x.im) == (ag_##R)INFINITY);  \
    }                                                                                            \
    /* asinh(a b - c d), also where that overflows because z is next to the largest number */    \
    AG_FN ag_##R ag_asinh_of_products_##T(ag_##T z, ag_##R a, ag_##R b, ag_##R c, ag_##R d) {    \
        const ag_##R top = sizeof(ag_##R) == 4 ? (ag_##R)4e37 : (ag_##R)2e307;                   \
        const int huge = (ag_abs_##R(z.re) > top) | (ag_abs_##R(z.im) > top);                    \
        const ag_##R less = ag_pick_##R(huge, (ag_##R)0.25, 1);                                  \
        const ag_##R y = ag_asinh_##R(less * a * b - less * c * d);                              \
        return y + ag_copysign_##R(ag_pick_##R(huge, (ag_##R)1.38629436111989062, 0), y);        \
    }                                                                                            \
    /* (2 atan(Re p / Re q), asinh(Im(conj(q) p))) with p = sqrt(1 - z), q = sqrt(1 + z) */      \
    AG_FN ag_##T ag_acos_##T(ag_##T x) {                                                         \
        const ag_##T p = ag_sqrt_##T(ag_make_##T(1 - x.re, -x.im));                              \
        const ag_##T q = ag_sqrt_##T(ag_make_##T(1 + x.re, x.im));                               \
        const int far = ag_infinite_##T(x);                                                      \
        const int right = (x.re == 0) & (x.im != x.im); /* nan above and below 0 */              \
        const ag_##R angle = ag_atan2_##R(ag_pick_##R(far, ag_abs_##R(x.im), p.re),              \
                                          ag_pick_##R(far, x.re, q.re));                         \
        const ag_##R re = ag_pick_##R(right, (ag_##R)1.57079632679489661923,                     \
                                      angle * ag_pick_##R(far, 1, 2));                           \
        const ag_##R im = ag_asinh_of_products_##T(x, q.re, p.im, q.im, p.re);                   \
        return ag_make_##T(                                                                      \
            re, ag_pick_##R(far, ag_copysign_##R((ag_##R)INFINITY, -x.im), im));                 \
    }                                                                                            \
    /* acosh z = i acos z or -i acos z, whichever has no negative real part */                   \
    AG_FN ag_##T ag_acosh_##T(ag_##T x) {                                                        \
        const ag_##T z = ag_acos_##T(x);                                                         \
        return ag_make_##T(ag_abs_##R(z.im), ag_copysign_##R(z.re, x.im));                       \
    }                                                                                            \
    /* (asinh(Im(conj(p) q)), atan(y / Re(p q))) with p = sqrt(1 - iz), q = sqrt(1 + iz) */           \
    AG_FN ag_##T ag_asinh_##T(ag_##T x) {                                                        \
        const ag_##T p = ag_sqrt_##T(ag_make_##T(1 + x.im, -x.re));                              \
        const ag_##T q = ag_sqrt_##T(ag_make_##T(1 - x.im, x.re));                               \
        const int far = ag_infinite_##T(x);                                                      \
        const ag_##R re = ag_asinh_of_products_##T(x, p.re, q.im, p.im, q.re);                   \
        const ag_##R im = ag_atan2_##R(                                                          \
            x.im, ag_pick_##R(far, ag_abs_##R(x.re), p.re * q.re - p.im * q.im));                \
        return ag_make_##T(                                                                      \
            ag_pick_##R(far, ag_copysign_##R((ag_##R)INFINITY, x.re), ag_copysign_##R(re, x.re)),\
            ag_pick_##R((x.im == 0) & (x.re != x.re), x.im, im));                                \
    }                                                                                            \
    /* asin z = -i asinh(iz), atan likewise */                                                   \
    AG_FN ag_##T ag_asin_##T(ag_##T x) {                                                         \
        const ag_##T z = ag_asinh_##T(ag_make_##T(-x.im, x.re));                                 \
        return ag_make_##T(z.im, -z.re);                                                         \
    }                                                                                            \
    /* (log(1 + 4a / ((1-a)^2 + b^2)) / 4, atan2(2b, (1-a)(1+a) - b^2) / 2); far out the first is\
     * a / |z|^2, and beside the pole it is log(2 / b) / 2 */                                    \
    AG_FN ag_##T ag_atanh_##T(ag_##T x) {                                                        \
        const ag_##R a = ag_abs_##R(x.re), b = ag_abs_##R(x.im);                                 \
        const ag_##R h = ag_hypot_##R(a, b), t = 1 - a;                                          \
        const ag_##R limit = sizeof(ag_##R) == 4 ? (ag_##R)1e+5 : (ag_##R)1e+10;                 \
        const ag_##R low = sizeof(ag_##R) == 4 ? (ag_##R)1e-15 : (ag_##R)1e-150;                 \
        const int big = h > limit, pole = (t == 0) & (b < low);                                  \
        const ag_##R q = ag_pick_##R(pole, (ag_##R)1.41421356237309504880 / ag_sqrt_##R(b),      \
                                     4 * a / (t * t + b * b));                                   \
        const ag_##R near = ag_log1p_##R(q) * ag_pick_##R(pole, 1, (ag_##R)0.25);                \
        const ag_##R far = ag_pick_##R(h == (ag_##R)INFINITY, 0, a / h / h);                     \
        const ag_##R im =                                                                        \
            (ag_##R)0.5 * ag_atan2_##R(x.im, (ag_##R)0.5 * (t * (1 + a) - b * b));               \
        const ag_##R half_pi = ag_copysign_##R((ag_##R)1.57079632679489661923, x.im);            \
        const int flat = (h == (ag_##R)INFINITY) & (x.im == x.im);                               \
        return ag_make_##T(                                                                      \
            ag_copysign_##R(ag_pick_##R(big, far, ag_pick_##R(a == 0, a, near)), x.re),          \
            ag_pick_##R(flat, half_pi, im));                                                     \
    }                                                                                            \
    AG_FN ag_##T ag_atan_##T(ag_##T x) {                                                         \
        const ag_##T z = ag_atanh_##T(ag_make_##T(-x.im, x.re));                                 \
        return ag_make_##T(z.im, -z.re);                                                         \
    }
AG_FOR_COMPLEX(AG_COMPLEX_INVERSE)
#undef AG_COMPLEX_INVERSE

/* Whether sin and cos of x are nan. */
#define AG_NO_ANGLE(R, x) (!(ag_abs_##R(x) < (ag_##R)INFINITY))

/* e^a times a number below 1 may be finite where e^a isn't: then the exponential goes by the last AG_STEP of a
 * apart, as the factor AG_UP. So far out sinh, cosh and expm1 are powers of e, too. */
#define AG_IS_FAR(R, a) ((a) > (ag_##R)(sizeof(ag_##R) == 4 ? 80 : 700))
#define AG_STEP(R, far) ag_pick_##R(far, (ag_##R)(sizeof(ag_##R) == 4 ? 16 : 32), 0)
#define AG_UP(R, far)                                                                            \
    ag_pick_##R(far, (ag_##R)(sizeof(ag_##R) == 4 ? 8886110.52050787264 : 78962960182680.6952), 1)

/* What needs sin and cos of a part, once with N = _near for arguments that ag_trig_far_T rules in. */
#define AG_COMPLEX_TRIG(T, R, N)                                                                 \
    AG_FN ag_##T ag_polar##N##_##T(ag_##R r, ag_##R t) {                                         \
        return ag_make_##T(r * ag_cos##N##_##R(t), r * ag_sin##N##_##R(t));                      \
    }                                                                                            \
    /* r up e^it for e^x or 2^x: an angle that is no number leaves the infinite modulus in the   \
     * real part, and of the modulus 0 nothing. */                                               \
    AG_FN ag_##T ag_power##N##_##T(ag_##T x, ag_##R r, ag_##R up, ag_##R t) {                    \
        const int lost = AG_NO_ANGLE(R, x.im);                                                   \
        const ag_##R re = r * ag_cos##N##_##R(t) * up, im = r * ag_sin##N##_##R(t) * up;         \
        const int none = lost & (x.re == (ag_##R)-INFINITY);                                     \
        const int whole = lost & (x.re == (ag_##R)INFINITY);                                     \
        return ag_make_##T(ag_pick_##R(none, 0, ag_pick_##R(whole, x.re, re)),                   \
                           ag_pick_##R(x.im == 0, x.im, ag_pick_##R(none, 0, im)));              \
    }                                                                                            \
    AG_FN ag_##T ag_exp##N##_##T(ag_##T x) {                                                     \
        const int far = AG_IS_FAR(R, x.re);                                                      \
        const ag_##R r = ag_exp_##R(x.re - AG_STEP(R, far));                                     \
        return ag_power##N##_##T(x, r, AG_UP(R, far), x.im);                                     \
    }                                                                                            \
    /* not the exponential of a product, which would round a large part of x */                  \
    AG_FN ag_##T ag_exp2##N##_##T(ag_##T x) {                                                    \
        const int far = x.re > (ag_##R)(sizeof(ag_##R) == 4 ? 120 : 1000);                       \
        const ag_##R r = ag_exp2_##R(x.re - ag_pick_##R(far, 32, 0));                            \
        return ag_power##N##_##T(x, r, ag_pick_##R(far, (ag_##R)4294967296.0, 1),                \
                                 x.im * (ag_##R)0.69314718055994530942);                         \
    }                                                                                            \
    /* expm1(a+ib) = expm1(a) cos b - 2 sin^2(b/2) + i e^a sin b: no cancellation near 0 */      \
    AG_FN ag_##T ag_expm1##N##_##T(ag_##T x) {                                                   \
        const int far = AG_IS_FAR(R, x.re);                                                      \
        const ag_##R half = ag_sin##N##_##R(x.im * (ag_##R)0.5);                                 \
        const ag_##R less = ag_expm1_##R(x.re - AG_STEP(R, far)), up = AG_UP(R, far);            \
        const ag_##R re = less * ag_cos##N##_##R(x.im) * up - 2 * half * half;                   \
        const ag_##R e = ag_exp_##R(x.re - AG_STEP(R, far)), im = e * ag_sin##N##_##R(x.im) * up;\
        const int lost = AG_NO_ANGLE(R, x.im), none = lost & (x.re == (ag_##R)-INFINITY);        \
        return ag_make_##T(                                                                      \
            ag_pick_##R(none | (lost & (x.re == (ag_##R)INFINITY)), less, re),                   \
            ag_pick_##R(x.im == 0, x.im, ag_pick_##R(none, 0, im)));                             \
    }                                                                                            \
    AG_FN ag_##T ag_sinh##N##_##T(ag_##T x) {                                                    \
        const ag_##R a = ag_abs_##R(x.re);                                                       \
        const int far = AG_IS_FAR(R, a);                                                         \
        const ag_##R y = ag_copysign_##R(a - AG_STEP(R, far), x.re), up = AG_UP(R, far);         \
        const ag_##R re = ag_sinh_##R(y) * ag_cos##N##_##R(x.im) * up;                           \
        const ag_##R im = ag_cosh_##R(y) * ag_sin##N##_##R(x.im) * up;                           \
        const int end = (x.re == 0) | (a == (ag_##R)INFINITY);                                   \
        return ag_make_##T(ag_pick_##R(AG_NO_ANGLE(R, x.im) & end, x.re, re),                    \
                           ag_pick_##R(x.im == 0, x.im, im));                                    \
    }                                                                                            \
    AG_FN ag_##T ag_cosh##N##_##T(ag_##T x) {                                                    \
        const ag_##R a = ag_abs_##R(x.re);                                                       \
        const int far = AG_IS_FAR(R, a);                                                         \
        const ag_##R y = ag_copysign_##R(a - AG_STEP(R, far), x.re), up = AG_UP(R, far);         \
        const ag_##R re = ag_cosh_##R(y) * ag_cos##N##_##R(x.im) * up;                           \
        const ag_##R im = ag_sinh_##R(y) * ag_sin##N##_##R(x.im) * up;                           \
        const ag_##R zero = ag_copysign_##R(0, x.re) * ag_copysign_##R(1, x.im);                 \
        return ag_make_##T(                                                                      \
            ag_pick_##R(AG_NO_ANGLE(R, x.im) & (a == (ag_##R)INFINITY), a, re),                  \
            ag_pick_##R((x.im == 0) | (x.re == 0), zero, im));                                   \
    }                                                                                            \
    /* (tanh a (1 + tan^2 b) + i tan b (1 - tanh^2 a)) / (1 + tanh^2 a tan^2 b), with cos and sin\
     * in place of tan, which has poles */                                                       \
    AG_FN ag_##T ag_tanh##N##_##T(ag_##T x) {                                                    \
        const ag_##R c = ag_cos##N##_##R(x.im), s = ag_sin##N##_##R(x.im);                       \
        const ag_##R t = ag_tanh_##R(x.re), steep = 1 / ag_cosh_##R(x.re);                       \
        const ag_##R below = c * c + t * t * s * s;                                              \
        const ag_##R im = c * s * steep * steep / below;                                         \
        const int lost = AG_NO_ANGLE(R, x.im), end = ag_abs_##R(x.re) == (ag_##R)INFINITY;       \
        return ag_make_##T(                                                                      \
            ag_pick_##R(end | (lost & (x.re == 0)), t, t / below),                               \
            ag_pick_##R(x.im == 0, x.im,                                                         \
                        ag_pick_##R(lost & end, ag_copysign_##R(0, x.im), im)));                 \
    }                                                                                            \
    /* sin z = -i sinh(iz), tan likewise, cos z = cosh(iz) */                                    \
    AG_FN ag_##T ag_sin##N##_##T(ag_##T x) {                                                     \
        const ag_##T z = ag_sinh##N##_##T(ag_make_##T(-x.im, x.re));                             \
        return ag_make_##T(z.im, -z.re);                                                         \
    }                                                                                            \
    AG_FN ag_##T ag_cos##N##_##T(ag_##T x) { return ag_cosh##N##_##T(ag_make_##T(-x.im, x.re)); }\
    AG_FN ag_##T ag_tan##N##_##T(ag_##T x) {                                                     \
        const ag_##T z = ag_tanh##N##_##T(ag_make_##T(-x.im, x.re));                             \
        return ag_make_##T(z.im, -z.re);                                                         \
    }                                                                                            \
    /* 1 / (1 + e^-z) or e^z / (1 + e^z), whichever exponential cannot overflow */               \
    AG_FN ag_##T ag_sigmoid##N##_##T(ag_##T x) {                                                 \
        const int left = x.re < 0;                                                               \
        const ag_##T e = ag_exp##N##_##T(                                                        \
            ag_make_##T(-ag_abs_##R(x.re), ag_pick_##R(left, x.im, -x.im)));                     \
        return ag_div_##T(ag_make_##T(ag_pick_##R(left, e.re, 1), ag_pick_##R(left, e.im, 0)),   \
                          ag_make_##T(1 + e.re, e.im));                                          \
    }                                                                                            \
    AG_FN ag_##T ag_silu##N##_##T(ag_##T x) { return ag_mul_##T(x, ag_sigmoid##N##_##T(x)); }    \
    AG_FN ag_##T ag_silu_backward##N##_##T(ag_##T g, ag_##T x) {                                 \
        const ag_##T s = ag_sigmoid##N##_##T(x);                                                 \
        const ag_##T t = ag_mul_##T(x, ag_make_##T(1 - s.re, -s.im));                            \
        return ag_mul_##T(g, ag_conj_##T(ag_mul_##T(s, ag_make_##T(1 + t.re, t.im))));           \
    }
AG_COMPLEX_TRIG(c64, f32, )
AG_COMPLEX_TRIG(c128, f64, )
AG_COMPLEX_TRIG(c64, f32, _near)
AG_COMPLEX_TRIG(c128, f64, _near)
#undef AG_COMPLEX_TRIG
#undef AG_IS_FAR
#undef AG_STEP
#undef AG_UP

#define AG_COMPLEX_REST(T, R)                                                                    \
    AG_FN int ag_trig_far_##T(ag_##T x) { return ag_trig_far_##R(x.re) | ag_trig_far_##R(x.im); }\
    AG_FN_COLD ag_##T ag_pow_##T(ag_##T x, ag_##T y) {                                           \
        if (y.re == 0 && y.im == 0) return ag_make_##T(1, 0);                                    \
        if (x.re == 0 && x.im == 0 && y.re > 0) return y.im == 0 && y.re == 1 ? x : ag_make_##T(0, 0);\
        if (y.im == 0) { /* small whole exponents by products: exact on exact input */           \
            if (y.re == 1) return x;                                                             \
            if (y.re == 2) return ag_mul_##T(x, x);                                              \
            if (y.re == 3) return ag_mul_##T(ag_mul_##T(x, x), x);                               \
            if (y.re == -1) return ag_reciprocal_##T(x);                                         \
            if (y.re == -2) return ag_reciprocal_##T(ag_mul_##T(x, x));                          \
        }                                                                                        \
        return ag_exp_##T(ag_mul_##T(y, ag_log_##T(x)));                                         \
    }                                                                                            \
    /* from the one with the larger real part */                                                 \
    AG_FN ag_##T ag_logaddexp_##T(ag_##T x, ag_##T y) {                                          \
        const int first = x.re >= y.re;                                                          \
        const ag_##T big = ag_make_##T(first ? x.re : y.re, first ? x.im : y.im);                \
        const ag_##T small = ag_make_##T(first ? y.re : x.re, first ? y.im : x.im);              \
        if (x.re == y.re && ag_abs_##R(x.re) == (ag_##R)INFINITY) return big;                    \
        return ag_add_##T(big, ag_log1p_##T(ag_exp_##T(ag_sub_##T(small, big))));                \
    }                                                                                            \
    /* gradients of y = f(x): g conj(f'(x)) */                                                   \
    AG_FN ag_##T ag_tanh_backward_##T(ag_##T g, ag_##T y) {                                      \
        const ag_##T yy = ag_mul_##T(y, y);                                                      \
        return ag_mul_##T(g, ag_make_##T(1 - yy.re, yy.im));                                     \
    }                                                                                            \
    AG_FN ag_##T ag_sigmoid_backward_##T(ag_##T g, ag_##T y) {                                   \
        const ag_##T dydx = ag_mul_##T(ag_make_##T(1 - y.re, -y.im), y);                         \
        return ag_mul_##T(g, ag_conj_##T(dydx));                                                 \
    }
AG_FOR_COMPLEX(AG_COMPLEX_REST)
#undef AG_COMPLEX_REST

#endif
