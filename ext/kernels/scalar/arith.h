/* Arithmetic of the integers, bool and the two floats. Integers wrap around; division by zero and
 * INT_MIN / -1 give a value (0 and the wrapped result) instead of a trap: the caller raises. */
#ifndef AG_SCALAR_ARITH_H
#define AG_SCALAR_ARITH_H

#include "types.h"

/* ---- integers: computed unsigned, where overflow is defined ---- */
#define AG_INT(T, U)                                                                             \
    AG_FN ag_##T ag_add_##T(ag_##T x, ag_##T y) { return (ag_##T)((U)x + (U)y); }                \
    AG_FN ag_##T ag_sub_##T(ag_##T x, ag_##T y) { return (ag_##T)((U)x - (U)y); }                \
    AG_FN ag_##T ag_mul_##T(ag_##T x, ag_##T y) { return (ag_##T)((U)x * (U)y); }                \
    AG_FN ag_##T ag_neg_##T(ag_##T x) { return (ag_##T)((U)0 - (U)x); }                          \
    AG_FN ag_##T ag_square_##T(ag_##T x) { return (ag_##T)((U)x * (U)x); }                       \
    AG_FN ag_##T ag_cube_##T(ag_##T x) { return (ag_##T)((U)x * (U)x * (U)x); }                  \
    AG_FN ag_##T ag_relu_##T(ag_##T x) { return x > 0 ? x : (ag_##T)0; }                         \
    AG_FN ag_##T ag_threshold_backward_##T(ag_##T g, ag_##T x) { return x > 0 ? g : (ag_##T)0; } \
    AG_FN ag_##T ag_add_scaled_##T(ag_##T x, ag_##T y, ag_##T alpha) {                           \
        return (ag_##T)((U)x + (U)y * (U)alpha);                                                 \
    }                                                                                            \
    AG_FN ag_##T ag_addcmul_##T(ag_##T x, ag_##T a, ag_##T b, ag_##T value) {                    \
        return (ag_##T)((U)x + (U)value * (U)a * (U)b);                                          \
    }                                                                                            \
    AG_FN ag_##T ag_maximum_##T(ag_##T x, ag_##T y) { return x > y ? x : y; }                    \
    AG_FN ag_##T ag_minimum_##T(ag_##T x, ag_##T y) { return x < y ? x : y; }                    \
    AG_FN ag_##T ag_clamp_##T(ag_##T x, ag_##T lo, ag_##T hi) {                                  \
        return ag_minimum_##T(ag_maximum_##T(x, lo), hi);                                        \
    }                                                                                            \
    AG_FN_COLD ag_##T ag_power_##T(ag_##T x, ag_##T y) { /* y >= 0, by squaring */               \
        U base = (U)x, result = 1;                                                               \
        for (; y > 0; y = (ag_##T)(y >> 1)) {                                                    \
            if (y & 1) result *= base;                                                           \
            base *= base;                                                                        \
        }                                                                                        \
        return (ag_##T)result;                                                                   \
    }
AG_FOR_INTS(AG_INT)
#undef AG_INT

AG_FN ag_u8 ag_pow_u8(ag_u8 x, ag_u8 y) { return ag_power_u8(x, y); }

#define AG_SIGNED(T, U)                                                                          \
    /* with y < 0 the real result rounds to 0 unless the base is 1 or -1 */                      \
    AG_FN ag_##T ag_pow_##T(ag_##T x, ag_##T y) {                                                \
        if (y >= 0) return ag_power_##T(x, y);                                                   \
        return (ag_##T)(x == 1 ? 1 : x == -1 ? 1 - 2 * (int)(y & 1) : 0);                        \
    }                                                                                            \
    AG_FN ag_##T ag_abs_##T(ag_##T x) { return x < 0 ? ag_neg_##T(x) : x; }                      \
    AG_FN ag_##T ag_sign_##T(ag_##T x) { return (ag_##T)((x > 0) - (x < 0)); }                   \
    AG_FN ag_##T ag_trunc_divide_##T(ag_##T x, ag_##T y) {                                       \
        if (y == 0) return 0;                                                                    \
        if (y == -1) return ag_neg_##T(x);                                                       \
        return (ag_##T)(x / y);                                                                  \
    }                                                                                            \
    AG_FN ag_##T ag_fmod_##T(ag_##T x, ag_##T y) {                                               \
        if (y == 0 || y == -1) return 0;                                                         \
        return (ag_##T)(x % y);                                                                  \
    }                                                                                            \
    AG_FN ag_##T ag_floor_divide_##T(ag_##T x, ag_##T y) {                                       \
        ag_##T q;                                                                                \
        if (y == 0) return 0;                                                                    \
        if (y == -1) return ag_neg_##T(x);                                                       \
        q = (ag_##T)(x / y);                                                                     \
        return (ag_##T)(q - (q * y != x && ((x < 0) != (y < 0))));                               \
    }                                                                                            \
    AG_FN ag_##T ag_remainder_##T(ag_##T x, ag_##T y) {                                          \
        ag_##T r;                                                                                \
        if (y == 0 || y == -1) return 0;                                                         \
        r = (ag_##T)(x % y);                                                                     \
        return (ag_##T)(r + ((r != 0 && ((r < 0) != (y < 0))) ? y : 0));                         \
    }
AG_FOR_SIGNED(AG_SIGNED)
#undef AG_SIGNED

AG_FN ag_u8 ag_abs_u8(ag_u8 x) { return x; }
AG_FN ag_u8 ag_sign_u8(ag_u8 x) { return x > 0; }
AG_FN ag_u8 ag_trunc_divide_u8(ag_u8 x, ag_u8 y) { return y ? (ag_u8)(x / y) : 0; }
AG_FN ag_u8 ag_floor_divide_u8(ag_u8 x, ag_u8 y) { return y ? (ag_u8)(x / y) : 0; }
AG_FN ag_u8 ag_fmod_u8(ag_u8 x, ag_u8 y) { return y ? (ag_u8)(x % y) : 0; }
AG_FN ag_u8 ag_remainder_u8(ag_u8 x, ag_u8 y) { return y ? (ag_u8)(x % y) : 0; }

/* ---- bool: always 0 or 1; what is missing here runs as uint8 ---- */
AG_FN ag_b1 ag_add_b1(ag_b1 x, ag_b1 y) { return x | y; }
AG_FN ag_b1 ag_sub_b1(ag_b1 x, ag_b1 y) { return x ^ y; }
AG_FN ag_b1 ag_add_scaled_b1(ag_b1 x, ag_b1 y, ag_b1 alpha) { return x | (y & alpha); }
AG_FN ag_b1 ag_pow_b1(ag_b1 x, ag_b1 y) { return x | (y ^ 1); }

/* ---- floats; S is the libm suffix ---- */
#if defined(__CUDA_ARCH__)
#define AG_RSQRT_f32(x) rsqrtf(x) /* 2 ulps */
#else
#define AG_RSQRT_f32(x) (1.0f / sqrtf(x))
#endif
#define AG_RSQRT_f64(x) (1.0 / sqrt(x))
#define AG_FLOAT(T, S)                                                                           \
    AG_FN ag_##T ag_add_##T(ag_##T x, ag_##T y) { return x + y; }                                \
    AG_FN ag_##T ag_sub_##T(ag_##T x, ag_##T y) { return x - y; }                                \
    AG_FN ag_##T ag_mul_##T(ag_##T x, ag_##T y) { return x * y; }                                \
    AG_FN ag_##T ag_div_##T(ag_##T x, ag_##T y) { return x / y; }                                \
    AG_FN ag_##T ag_neg_##T(ag_##T x) { return -x; }                                             \
    AG_FN ag_##T ag_abs_##T(ag_##T x) { return fabs##S(x); }                                     \
    AG_FN ag_##T ag_square_##T(ag_##T x) { return x * x; }                                       \
    AG_FN ag_##T ag_cube_##T(ag_##T x) { return x * x * x; }                                     \
    AG_FN ag_##T ag_sign_##T(ag_##T x) { return (ag_##T)((x > 0) - (x < 0)); }                   \
    AG_FN ag_##T ag_reciprocal_##T(ag_##T x) { return (ag_##T)1 / x; }                           \
    AG_FN ag_##T ag_sqrt_##T(ag_##T x) { return sqrt##S(x); }                                    \
    AG_FN ag_##T ag_rsqrt_##T(ag_##T x) { return AG_RSQRT_##T(x); }                              \
    AG_FN ag_##T ag_floor_##T(ag_##T x) { return floor##S(x); }                                  \
    AG_FN ag_##T ag_ceil_##T(ag_##T x) { return ceil##S(x); }                                    \
    AG_FN ag_##T ag_trunc_##T(ag_##T x) { return trunc##S(x); }                                  \
    AG_FN ag_##T ag_round_##T(ag_##T x) { return rint##S(x); } /* half to even */                \
    AG_FN ag_##T ag_frac_##T(ag_##T x) { return x - trunc##S(x); }                               \
    AG_FN ag_##T ag_copysign_##T(ag_##T x, ag_##T y) { return copysign##S(x, y); }               \
    AG_FN ag_##T ag_nextafter_##T(ag_##T x, ag_##T y) { return nextafter##S(x, y); }             \
    AG_FN ag_##T ag_fmod_##T(ag_##T x, ag_##T y) { return fmod##S(x, y); }                       \
    AG_FN ag_##T ag_trunc_divide_##T(ag_##T x, ag_##T y) { return trunc##S(x / y); }             \
    /* What remainder and floor_divide make of fmod(x, y). */                                    \
    AG_FN ag_##T ag_remainder_of_##T(ag_##T r, ag_##T y) {                                       \
        return r == 0 ? copysign##S(r, y) : r + ((r < 0) != (y < 0) ? y : (ag_##T)0);            \
    }                                                                                            \
    /* Python's rule: the quotient is rebuilt from the remainder, so that it agrees with it. */  \
    AG_FN ag_##T ag_quotient_of_##T(ag_##T x, ag_##T y, ag_##T rest) {                           \
        const ag_##T quotient = x / y;                                                           \
        ag_##T whole = (x - rest) / y, down;                                                     \
        whole -= (rest != 0 && ((rest < 0) != (y < 0))) ? (ag_##T)1 : (ag_##T)0;                 \
        down = floor##S(whole);                                                                  \
        down += whole - down > (ag_##T)0.5 ? (ag_##T)1 : (ag_##T)0;                              \
        down = whole != 0 ? down : copysign##S((ag_##T)0, quotient);                             \
        return y == 0 ? quotient : down;                                                         \
    }                                                                                            \
    AG_FN ag_##T ag_remainder_##T(ag_##T x, ag_##T y) {                                          \
        return ag_remainder_of_##T(fmod##S(x, y), y);                                            \
    }                                                                                            \
    AG_FN ag_##T ag_floor_divide_##T(ag_##T x, ag_##T y) {                                       \
        return ag_quotient_of_##T(x, y, fmod##S(x, y));                                          \
    }                                                                                            \
    /* nan wins in maximum and minimum, loses in fmax and fmin */                                \
    AG_FN ag_##T ag_maximum_##T(ag_##T x, ag_##T y) { return (x > y) | (x != x) ? x : y; }       \
    AG_FN ag_##T ag_minimum_##T(ag_##T x, ag_##T y) { return (x < y) | (x != x) ? x : y; }       \
    AG_FN ag_##T ag_fmax_##T(ag_##T x, ag_##T y) { return (x >= y) | (y != y) ? x : y; }         \
    AG_FN ag_##T ag_fmin_##T(ag_##T x, ag_##T y) { return (x <= y) | (y != y) ? x : y; }         \
    AG_FN ag_##T ag_clamp_##T(ag_##T x, ag_##T lo, ag_##T hi) {                                  \
        ag_##T y = lo > x ? lo : x;                                                              \
        y = hi < y ? hi : y;                                                                     \
        y = lo != lo ? lo : y;                                                                   \
        return hi != hi ? hi : y;                                                                \
    }                                                                                            \
    AG_FN ag_##T ag_clamp_backward_##T(ag_##T g, ag_##T x, ag_##T lo, ag_##T hi) {               \
        return (x >= lo) & (x <= hi) ? g : (ag_##T)0; /* nowhere beside nan */                   \
    }                                                                                            \
    AG_FN ag_##T ag_heaviside_##T(ag_##T x, ag_##T y) {                                          \
        const ag_##T step = x > 0 ? (ag_##T)1 : (ag_##T)0;                                       \
        return x == 0 ? y : step;                                                                \
    }                                                                                            \
    /* from the nearer end, so that weight 1 gives y exactly */                                  \
    AG_FN ag_##T ag_lerp_##T(ag_##T x, ag_##T y, ag_##T w) {                                     \
        const ag_##T d = y - x;                                                                  \
        const ag_##T left = x + w * d, right = y - d * ((ag_##T)1 - w);                          \
        return fabs##S(w) < (ag_##T)0.5 ? left : right;                                          \
    }                                                                                            \
    AG_FN ag_##T ag_add_scaled_##T(ag_##T x, ag_##T y, ag_##T alpha) { return x + y * alpha; }   \
    AG_FN ag_##T ag_addcmul_##T(ag_##T x, ag_##T a, ag_##T b, ag_##T value) {                    \
        return x + value * a * b;                                                                \
    }                                                                                            \
    AG_FN ag_##T ag_add_products_##T(ag_##T a, ag_##T b, ag_##T c, ag_##T d) {                   \
        return a * b + c * d;                                                                    \
    }                                                                                            \
    AG_FN ag_##T ag_addcdiv_##T(ag_##T x, ag_##T a, ag_##T b, ag_##T value) {                    \
        return x + value * a / b;                                                                \
    }                                                                                            \
    AG_FN ag_##T ag_angle_##T(ag_##T x) {                                                        \
        const ag_##T pi = (ag_##T)3.14159265358979323846;                                        \
        return x != x ? x : (x < 0 ? pi : (ag_##T)0);                                            \
    }
AG_FOR_FLOATS(AG_FLOAT)
#undef AG_FLOAT

/* fmod, which libm finds bit by bit, where the quotient is small: its whole part comes of a division.
 * In double, no quotient of two floats below 2^27 lies so near a whole number that rounding would
 * reach it, and all products are exact. Of doubles it may be one too large; what is left over then
 * has the other sign, and is exact with a fused multiply-add alone. */
#define AG_RATIO 0x1p27f
AG_FN int ag_ratio_far_f32(float x, float y) {
    return !(fabsf(x) < AG_RATIO * fabsf(y)) | !(fabsf(y) < INFINITY);
}
AG_FN int ag_ratio_far_f64(double x, double y) {
    return !AG_HAS_FMA | !(fabs(x) < AG_RATIO * fabs(y)) | !(fabs(y) < INFINITY);
}
AG_FN float ag_fmod_near_f32(float x, float y) {
    const double whole = (int32_t)((double)x / y);
    return copysignf((float)ag_fma_f64(-whole, y, x), x);
}
AG_FN double ag_fmod_near_f64(double x, double y) {
    const double r = ag_fma_f64(-(double)(int32_t)(x / y), y, x);
    const double back = (r != 0) & ((r < 0) != (x < 0)) ? fabs(y) : 0.0;
    return copysign(r + copysign(back, x), x);
}
#define AG_NEAR_RATIO(T, S)                                                                      \
    AG_FN ag_##T ag_remainder_near_##T(ag_##T x, ag_##T y) {                                     \
        return ag_remainder_of_##T(ag_fmod_near_##T(x, y), y);                                   \
    }                                                                                            \
    AG_FN ag_##T ag_floor_divide_near_##T(ag_##T x, ag_##T y) {                                  \
        return ag_quotient_of_##T(x, y, ag_fmod_near_##T(x, y));                                 \
    }
AG_FOR_FLOATS(AG_NEAR_RATIO)
#undef AG_NEAR_RATIO
#undef AG_RATIO

/* An infinite leg wins over nan in the other. */
AG_FN float ag_hypot_f32(float x, float y) {
#if defined(__CUDA_ARCH__)
    return hypotf(x, y); /* 3 ulps, without double (see ag_pow_f32) */
#else
    const float r = (float)sqrt(ag_fma_f64(x, x, (double)y * y));
    return (fabsf(x) == INFINITY) | (fabsf(y) == INFINITY) ? INFINITY : r;
#endif
}
AG_FN double ag_hypot_f64(double x, double y) {
    const double a = fabs(x), b = fabs(y), big = a > b ? a : b;
    /* a power of two that keeps the squares in range */
    const int tiny = big < 0x1p-500, huge = big > 0x1p+500;
    const double scale = ag_pick_f64(tiny, 0x1p+600, ag_pick_f64(huge, 0x1p-600, 1.0));
    const double back = ag_pick_f64(tiny, 0x1p-600, ag_pick_f64(huge, 0x1p+600, 1.0));
    const double c = a * scale, d = b * scale;
    const double r = sqrt(ag_fma_f64(c, c, d * d)) * back;
    return (a == INFINITY) | (b == INFINITY) ? INFINITY : r;
}

#endif
