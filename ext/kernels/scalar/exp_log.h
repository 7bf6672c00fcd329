/* Exponentials, logarithms and powers.
 *
 * Coefficients are minimax fits in the relative error of the whole function. A trick used
 * throughout: adding a large constant rounds to an integer n and leaves n + bias in the low bits of
 * the sum, from where one shift makes 2^n. No branch depends on the data. */
#ifndef AG_SCALAR_EXP_LOG_H
#define AG_SCALAR_EXP_LOG_H

#include "arith.h"

#define AG_SHIFT_F32 12583039.0f        /* 1.5 * 2^23 + 127 */
#define AG_SHIFT_F64 6755399441056767.0 /* 1.5 * 2^52 + 1023 */
/* ln 2 in two parts: n times the first is exact */
#define AG_LN2_HI_F32 0x1.62e4p-1f
#define AG_LN2_LO_F32 0x1.7f7d1cp-20f
#define AG_LN2_HI_F64 0x1.62e42fefa38p-1
#define AG_LN2_LO_F64 0x1.ef35793c7673p-45

/* Limits that let nan through. */
#define AG_AT_MOST(x, top) ((x) > (top) ? (top) : (x))
#define AG_AT_LEAST(x, low) ((x) < (low) ? (low) : (x))
AG_FN float ag_limit_f32(float x, float low, float top) {
    return ag_pick_f32(x > top, top, ag_pick_f32(x < low, low, x));
}
AG_FN double ag_limit_f64(double x, double low, double top) {
    return ag_pick_f64(x > top, top, ag_pick_f64(x < low, low, x));
}

/* ---- exp(r) - 1 for |r| <= ln(2) / 2 ---- */

AG_FN float ag_expm1_near_f32(float r) {
    const float r2 = r * r;
    const float a = ag_fma_f32(r, 0.16666539f, 0.49999997f);
    const float b = ag_fma_f32(r, 0.00836707f, 0.0416677445f);
    return ag_fma_f32(r2, ag_fma_f32(r2, ag_fma_f32(r2, 0.00138390157f, b), a), r);
}

AG_FN double ag_expm1_near_f64(double r) {
    const double r2 = r * r, r4 = r2 * r2;
    const double a = ag_fma_f64(r, 0.16666666666666677, 0.5);
    const double b = ag_fma_f64(r, 0.0083333333333216082, 0.041666666666666505);
    const double c = ag_fma_f64(r, 0.00019841269886207772, 0.0013888888888962906);
    const double d = ag_fma_f64(r, 2.7557244104338579e-06, 2.4801587171833763e-05);
    const double e = ag_fma_f64(r, 2.5109081355739706e-08, 2.7557402947651567e-07);
    const double ab = ag_fma_f64(r2, b, a), cd = ag_fma_f64(r2, d, c);
    const double ef = ag_fma_f64(r2, 2.087532649068639e-09, e);
    return ag_fma_f64(r2, ag_fma_f64(r4, ag_fma_f64(r4, ef, cd), ab), r);
}

/* ---- exp ---- */

/* p * 2^n for z = n + SHIFT. `small` says that 2^n may be subnormal; the result then takes two
 * steps, and so it does at the other end, where 2^n alone would overflow too early. */
AG_FN float ag_scale_f32(float p, float z, int small) {
    const float s = ag_from_bits_f32(ag_bits_f32(z + ag_pick_f32(small, 64.0f, -1.0f)) << 23);
    return p * s * ag_pick_f32(small, 0x1p-64f, 2.0f);
}
AG_FN double ag_scale_f64(double p, double z, int small) {
    const double s = ag_from_bits_f64(ag_bits_f64(z + ag_pick_f64(small, 128.0, -1.0)) << 52);
    return p * s * ag_pick_f64(small, 0x1p-128, 2.0);
}

/* *z = n + SHIFT for the integer n nearest x / ln 2; the result is x - n ln 2 */
AG_FN float ag_exp_reduce_f32(float x, float *z) {
    float n;
    *z = ag_fma_f32(x, 0x1.715476p+0f, AG_SHIFT_F32);
    n = *z - AG_SHIFT_F32;
    return ag_fma_f32(n, -AG_LN2_LO_F32, ag_fma_f32(n, -AG_LN2_HI_F32, x));
}
AG_FN double ag_exp_reduce_f64(double x, double *z) {
    double n;
    *z = ag_fma_f64(x, 0x1.71547652b82fep+0, AG_SHIFT_F64);
    n = *z - AG_SHIFT_F64;
    return ag_fma_f64(n, -AG_LN2_LO_F64, ag_fma_f64(n, -AG_LN2_HI_F64, x));
}

AG_FN float ag_exp_f32(float x) {
#if defined(__CUDA_ARCH__)
    return expf(x); /* 1 ulp */
#else
    const float t = ag_limit_f32(x, -104.0f, 89.0f);
    float z, r = ag_exp_reduce_f32(t, &z);
    return ag_scale_f32(1.0f + ag_expm1_near_f32(r), z, t < -80.0f);
#endif
}
AG_FN double ag_exp_f64(double x) {
    const double t = ag_limit_f64(x, -746.0, 710.0);
    double z, r = ag_exp_reduce_f64(t, &z);
    return ag_scale_f64(1.0 + ag_expm1_near_f64(r), z, t < -700.0);
}

/* exp(x + low) for -104 <= x <= 0 (-746 in double) and a small correction `low`. No result is large,
 * so all go through a scaled one: cheaper than telling the subnormal ones apart. */
AG_FN float ag_exp_falling_f32(float x, float low) {
#if defined(__CUDA_ARCH__)
    const float e = expf(x);
    return ag_fma_f32(e, low, e);
#else
    float z, r = ag_exp_reduce_f32(x, &z) + low;
    const float s = ag_from_bits_f32(ag_bits_f32(z + 64.0f) << 23);
    return (1.0f + ag_expm1_near_f32(r)) * s * 0x1p-64f;
#endif
}
AG_FN double ag_exp_falling_f64(double x, double low) {
    double z, r = ag_exp_reduce_f64(x, &z) + low;
    const double s = ag_from_bits_f64(ag_bits_f64(z + 128.0) << 52);
    return (1.0 + ag_expm1_near_f64(r)) * s * 0x1p-128;
}
/* exp(-|x|); adding -0 is no operation */
AG_FN float ag_exp_minus_abs_f32(float x) {
#if defined(__CUDA_ARCH__)
    return expf(-fabsf(x));
#else
    return ag_exp_falling_f32(AG_AT_LEAST(-fabsf(x), -104.0f), -0.0f);
#endif
}
AG_FN double ag_exp_minus_abs_f64(double x) {
    return ag_exp_falling_f64(AG_AT_LEAST(-fabs(x), -746.0), -0.0);
}

AG_FN float ag_exp2_f32(float x) {
#if defined(__CUDA_ARCH__)
    return exp2f(x); /* 2 ulps */
#else
    float z, r, q = 0.000133324924f;
    x = ag_limit_f32(x, -151.0f, 129.0f);
    z = x + AG_SHIFT_F32;
    r = x - (z - AG_SHIFT_F32);
    q = ag_fma_f32(q, r, 0.00133879273f);
    q = ag_fma_f32(q, r, 0.00962544512f);
    q = ag_fma_f32(q, r, 0.0555036627f);
    q = ag_fma_f32(q, r, 0.240225941f);
    q = ag_fma_f32(q, r, 0.693147182f);
    return ag_scale_f32(ag_fma_f32(q, r, 1.0f), z, x < -100.0f);
#endif
}
AG_FN double ag_exp2_f64(double x) {
    double z, r, q = 2.5625418232014602e-11;
    x = ag_limit_f64(x, -1076.0, 1025.0);
    z = x + AG_SHIFT_F64;
    r = x - (z - AG_SHIFT_F64);
    q = ag_fma_f64(q, r, 4.456570522990606e-10);
    q = ag_fma_f64(q, r, 7.0549744800655191e-09);
    q = ag_fma_f64(q, r, 1.01780519418723e-07);
    q = ag_fma_f64(q, r, 1.3215486594907893e-06);
    q = ag_fma_f64(q, r, 1.5252733854318488e-05);
    q = ag_fma_f64(q, r, 0.00015403530393640725);
    q = ag_fma_f64(q, r, 0.0013333558146392691);
    q = ag_fma_f64(q, r, 0.0096181291076283294);
    q = ag_fma_f64(q, r, 0.055504108664821687);
    q = ag_fma_f64(q, r, 0.24022650695910072);
    q = ag_fma_f64(q, r, 0.69314718055994529);
    return ag_scale_f64(ag_fma_f64(q, r, 1.0), z, x < -1000.0);
}

/* (exp(x) - 1) / 2, which overflows as late as sinh does; s is a quarter of 2^n. */
AG_FN float ag_half_expm1_f32(float x) {
    float z, r = ag_exp_reduce_f32(ag_limit_f32(x, -18.0f, 89.5f), &z), s;
    s = ag_from_bits_f32(ag_bits_f32(z - 2.0f) << 23);
    return 2.0f * ag_fma_f32(s, ag_expm1_near_f32(r), s - 0.25f);
}
AG_FN double ag_half_expm1_f64(double x) {
    double z, r = ag_exp_reduce_f64(ag_limit_f64(x, -38.0, 710.5), &z), s;
    s = ag_from_bits_f64(ag_bits_f64(z - 2.0) << 52);
    return 2.0 * ag_fma_f64(s, ag_expm1_near_f64(r), s - 0.25);
}
/* Tiny arguments keep their sign of zero and their last bits. */
AG_FN float ag_expm1_f32(float x) {
    const float y = 2.0f * ag_half_expm1_f32(x);
    return fabsf(x) < 0x1p-40f ? x : y;
}
AG_FN double ag_expm1_f64(double x) {
    const double y = 2.0 * ag_half_expm1_f64(x);
    return fabs(x) < 0x1p-60 ? x : y;
}

/* ---- logarithms: x = m 2^k with sqrt(1/2) <= m < sqrt(2) ---- */

/* What log gives where the formula does not hold: 0, negative, inf, nan. */
#define AG_LOG_OUTSIDE(x, inf, nan) ((x) == 0 ? -(inf) : (x) < 0 ? (nan) : (x))

AG_FN float ag_log_mantissa_f32(float x, float *k) {
    const uint32_t t = ag_bits_f32(x) - 0x3F3504F3u;
    *k = (float)((int32_t)t >> 23);
    return ag_from_bits_f32((t & 0x007FFFFFu) + 0x3F3504F3u);
}
AG_FN double ag_log_mantissa_f64(double x, double *k) {
    /* biased so that the shift below is of a positive number: AVX2 has no other for 64 bits */
    const uint64_t t = ag_bits_f64(x) + (0x3FF0000000000000u - 0x3FE6A09E667F3BCDu);
    *k = ag_from_bits_f64((t >> 52) | 0x4330000000000000u) - (0x1p+52 + 1023.0);
    return ag_from_bits_f64((t & 0x000FFFFFFFFFFFFFu) + 0x3FE6A09E667F3BCDu);
}
/* the same for subnormal numbers, which are scaled up first */
AG_FN float ag_log_split_f32(float x, float *k) {
    const int tiny = x < 0x1p-126f;
    const float m = ag_log_mantissa_f32(x * ag_pick_f32(tiny, 0x1p+25f, 1.0f), k);
    *k -= ag_pick_f32(tiny, 25.0f, 0.0f);
    return m;
}
AG_FN double ag_log_split_f64(double x, double *k) {
    const int tiny = x < 0x1p-1022;
    const double m = ag_log_mantissa_f64(x * ag_pick_f64(tiny, 0x1p+54, 1.0), k);
    *k -= ag_pick_f64(tiny, 54.0, 0.0);
    return m;
}

/* log(1 + f) = f - f^2/2 + rest */
AG_FN float ag_log_rest_f32(float f) {
    const float f2 = f * f, f4 = f2 * f2;
    const float a = ag_fma_f32(f, -0.250008196f, 0.333333313f);
    const float b = ag_fma_f32(f, -0.166233569f, 0.200012267f);
    const float c = ag_fma_f32(f, -0.131601825f, 0.142017588f);
    const float d = ag_fma_f32(f, -0.0763449445f, 0.12761575f);
    const float q = ag_fma_f32(f4, ag_fma_f32(f2, d, c), ag_fma_f32(f2, b, a));
    return q * f * f2;
}
/* with s = f / (2 + f): log(1 + f) = 2 s + s^3 (...) = f - f^2/2 + s (f^2/2 + s^2 (...)) */
AG_FN double ag_log_rest_f64(double f) {
    const double s = f / (2.0 + f), z = s * s, w = z * z;
    const double even = ag_fma_f64(w, ag_fma_f64(w, 0.15314050657958023, 0.22222198573283528),
                                   0.39999999999414687);
    const double odd = ag_fma_f64(
        w, ag_fma_f64(w, ag_fma_f64(w, 0.14795948730736683, 0.1818356432154703), 0.28571428742386507),
        0.6666666666666734);
    return s * ag_fma_f64(z, ag_fma_f64(z, even, odd), 0.5 * f * f);
}

AG_FN float ag_log_sum_f32(float k, float f) {
    const float low = ag_fma_f32(k, AG_LN2_LO_F32, ag_log_rest_f32(f));
    return ag_fma_f32(k, AG_LN2_HI_F32, f + ag_fma_f32(-0.5f * f, f, low));
}
AG_FN double ag_log_sum_f64(double k, double f) {
    const double low = ag_fma_f64(k, AG_LN2_LO_F64, ag_log_rest_f64(f));
    return ag_fma_f64(k, AG_LN2_HI_F64, f - ag_fma_f64(0.5 * f, f, -low));
}

AG_FN float ag_log_f32(float x) {
#if defined(__CUDA_ARCH__)
    return logf(x); /* 1 ulp */
#else
    float k;
    const float m = ag_log_split_f32(x, &k);
    const float y = ag_log_sum_f32(k, m - 1.0f);
    return (x > 0) & (x < INFINITY) ? y : AG_LOG_OUTSIDE(x, INFINITY, NAN);
#endif
}
AG_FN double ag_log_f64(double x) {
    double k;
    const double m = ag_log_split_f64(x, &k);
    const double y = ag_log_sum_f64(k, m - 1.0);
    return (x > 0) & (x < INFINITY) ? y : AG_LOG_OUTSIDE(x, (double)INFINITY, (double)NAN);
}

/* log1p: the rounding error of u = 1 + x goes back into the mantissa. */
AG_FN float ag_log1p_f32(float x) {
#if defined(__CUDA_ARCH__)
    return log1pf(x); /* 1 ulp */
#else
    const float u = 1.0f + x;
    const float lost = x < 1.0f ? x - (u - 1.0f) : 1.0f - (u - x);
    float k, y;
    const float m = ag_log_split_f32(u, &k);
    const float back = ag_from_bits_f32(ag_bits_f32(AG_SHIFT_F32 - AG_AT_MOST(k, 127.0f)) << 23);
    y = ag_log_sum_f32(k, ag_fma_f32(lost, back, m - 1.0f));
    y = (u > 0) & (u < INFINITY) ? y : AG_LOG_OUTSIDE(u, INFINITY, NAN);
    return x == 0 ? x : y;
#endif
}
AG_FN double ag_log1p_f64(double x) {
    const double u = 1.0 + x;
    const double lost = x < 1.0 ? x - (u - 1.0) : 1.0 - (u - x);
    double k, y;
    const double m = ag_log_split_f64(u, &k);
    const double back = ag_from_bits_f64(ag_bits_f64(AG_SHIFT_F64 - AG_AT_MOST(k, 1023.0)) << 52);
    y = ag_log_sum_f64(k, ag_fma_f64(lost, back, m - 1.0));
    y = (u > 0) & (u < INFINITY) ? y : AG_LOG_OUTSIDE(u, (double)INFINITY, (double)NAN);
    return x == 0 ? x : y;
}

/* log(1 + e) for 0 <= e <= 1, where nothing can go wrong */
AG_FN float ag_log1p_unit_f32(float e) {
#if defined(__CUDA_ARCH__)
    /* e + e^2 q(e), for log1pf takes twice as long: 1.5 ulps */
    float q = ag_fma_f32(e, -0.00324402f, 0.019851442f);
    q = ag_fma_f32(e, q, -0.056959502f);
    q = ag_fma_f32(e, q, 0.10603653f);
    q = ag_fma_f32(e, q, -0.15305592f);
    q = ag_fma_f32(e, q, 0.19675939f);
    q = ag_fma_f32(e, q, -0.24954134f);
    q = ag_fma_f32(e, q, 0.33329964f);
    q = ag_fma_f32(e, q, -0.49999902f);
    return ag_fma_f32(e * e, q, e);
#else
    const float u = 1.0f + e, lost = e - (u - 1.0f);
    float k;
    const float m = ag_log_mantissa_f32(u, &k);
    return ag_log_sum_f32(k, ag_fma_f32(lost, ag_fma_f32(-0.5f, k, 1.0f), m - 1.0f));
#endif
}
AG_FN double ag_log1p_unit_f64(double e) {
    const double u = 1.0 + e, lost = e - (u - 1.0);
    double k;
    const double m = ag_log_mantissa_f64(u, &k);
    return ag_log_sum_f64(k, ag_fma_f64(lost, ag_fma_f64(-0.5, k, 1.0), m - 1.0));
}

#if defined(__CUDA_ARCH__)
AG_FN float ag_log2_f32(float x) { return log2f(x); }   /* 1 ulp */
AG_FN float ag_log10_f32(float x) { return log10f(x); } /* 2 ulps */
#endif
/* log to another base: log(1+f) in two parts, each times the two parts of 1 / log(base). */
#define AG_LOG_BASE(name, T, R, mask, inv_hi, inv_lo, unit_hi, unit_lo)                          \
    AG_FN R ag_##name##_##T(R x) {                                                               \
        R k, f, half, hi, lo, y, big, small, top;                                                \
        f = ag_log_split_##T(x, &k) - (R)1;                                                      \
        half = (R)0.5 * f * f;                                                                   \
        hi = ag_from_bits_##T(ag_bits_##T(f - half) & (mask));                                   \
        lo = (f - hi) - half + ag_log_rest_##T(f);                                               \
        small = ag_fma_##T(lo + hi, inv_lo, ag_fma_##T(lo, inv_hi, k * (unit_lo)));              \
        big = hi * (inv_hi);                                                                     \
        top = k * (unit_hi);                                                                     \
        y = top + big;                                                                           \
        y = (small + ((top - y) + big)) + y;                                                     \
        return (x > 0) & (x < INFINITY) ? y : AG_LOG_OUTSIDE(x, (R)INFINITY, (R)NAN);            \
    }
#if !defined(__CUDA_ARCH__)
AG_LOG_BASE(log2, f32, float, 0xFFFFF000u, 0x1.714p+0f, 0x1.47652cp-12f, 1.0f, 0.0f)
AG_LOG_BASE(log10, f32, float, 0xFFFFF000u, 0x1.bcap-2f, 0x1.7b1526p-14f, 0x1.344p-2f, 0x1.3509f8p-18f)
#endif
AG_LOG_BASE(log2, f64, double, 0xFFFFFFFF00000000u, 0x1.71547p+0, 0x1.94ae0bf85ddf4p-22, 1.0, 0.0)
AG_LOG_BASE(log10, f64, double, 0xFFFFFFFF00000000u, 0x1.bcb7bp-2, 0x1.526e50e32a6abp-26,
            0x1.34413509f78p-2, 0x1.fef311f12b358p-46)
#undef AG_LOG_BASE

/* ---- powers ---- */

/* In double, where plain log2 and exp2 are exact enough for a float result. GPUs have few units for
 * double: 64 times fewer than for float, but for those of compute capability 8.0 and 9.0. */
AG_FN float ag_pow_f32(float base, float y) {
#if defined(__CUDA_ARCH__)
    return powf(base, y); /* 4 ulps */
#else
    const float ax = fabsf(base);
    double k, f, s, z, t, lg, w, r, q;
    f = ag_log_mantissa_f64((double)ax, &k) - 1.0; /* never subnormal as a double */
    s = f / (2.0 + f);
    z = s * s;
    q = ag_fma_f64(z, 0.34072800815154264, 0.41167282691149748);
    q = ag_fma_f64(z, q, 0.57708358326888987);
    q = ag_fma_f64(z, q, 0.96179667335006991);
    q = ag_fma_f64(z, q, 2.8853900817900802);
    lg = ag_fma_f64(s, q, k);
    lg = ag_pick_f64(ax == 0, -INFINITY, ag_pick_f64(ax < INFINITY, lg, (double)ax));
    t = (double)y * lg;
    t = ag_pick_f64((lg == 0) & (y == y), 0.0, t); /* |base| = 1 with y infinite */
    t = ag_limit_f64(t, -200.0, 200.0);
    w = t + AG_SHIFT_F64;
    r = t - (w - AG_SHIFT_F64);
    q = ag_fma_f64(r, 1.5196156770982731e-05, 0.00015466756329483603);
    q = ag_fma_f64(r, q, 0.0013333935053665153);
    q = ag_fma_f64(r, q, 0.0096180381320298651);
    q = ag_fma_f64(r, q, 0.055504103659968107);
    q = ag_fma_f64(r, q, 0.24022651066561307);
    q = ag_fma_f64(r, q, 0.69314718070452741);
    r = ag_fma_f64(r, q, 1.0) * ag_from_bits_f64(ag_bits_f64(w) << 52);
    {
        const int whole = rintf(y) == y; /* infinities count, as even numbers */
        const int odd = whole & (rintf(y * 0.5f) != y * 0.5f);
        const uint32_t sign = ag_bits_f32(base) & (0u - (uint32_t)odd) & 0x80000000u;
        float result = ag_from_bits_f32(ag_bits_f32((float)r) | sign);
        result = ag_pick_f32((base < 0) & !whole & (ax < INFINITY), NAN, result);
        return ag_pick_f32((y == 0) | (base == 1.0f), 1.0f, result);
    }
#endif
}
#if AG_HAS_FMA
/* A double needs its logarithm to some 65 bits, so numbers here are sums of two, `_lo` being the
 * error of the one before it. log2 m = 2 / ln 2 * atanh(s) with s = (m - 1) / (m + 1), and
 * atanh(s) = s (1 + z / 3 + z^2 (1 / 5 + z / 7 + ...)) with z = s^2 <= 0.0295: from z^2 on, the
 * terms are small enough for plain doubles. */
AG_FN double ag_pow_f64(double base, double y) {
    const double ax = fabs(base);
    double k, f, d, d_lo, r, s, s_lo, z, z_lo, p, t, t_lo, u, lg, lg_lo, w, result;
    const double m = ag_log_split_f64(ax, &k);
    f = m - 1.0;
    d = m + 1.0;
    d_lo = m - (d - 1.0);
    r = 1.0 / d;
    s = f * r;
    s_lo = ag_fma_f64(-s, d_lo, ag_fma_f64(-s, d, f)) * r;
    z = s * s;
    z_lo = ag_fma_f64(2.0 * s, s_lo, ag_fma_f64(s, s, -z));
    p = ag_fma_f64(z, 1.0 / 25.0, 1.0 / 23.0);
    p = ag_fma_f64(z, p, 1.0 / 21.0);
    p = ag_fma_f64(z, p, 1.0 / 19.0);
    p = ag_fma_f64(z, p, 1.0 / 17.0);
    p = ag_fma_f64(z, p, 1.0 / 15.0);
    p = ag_fma_f64(z, p, 1.0 / 13.0);
    p = ag_fma_f64(z, p, 1.0 / 11.0);
    p = ag_fma_f64(z, p, 1.0 / 9.0);
    p = ag_fma_f64(z, p, 1.0 / 7.0);
    p = ag_fma_f64(z, p, 1.0 / 5.0);
    /* z / 3, then all that follows the 1 */
    u = z * 0x1.5555555555555p-2;
    t_lo = ag_fma_f64(z, 0x1.5555555555555p-2, -u);
    t_lo = ag_fma_f64(z_lo, 0x1.5555555555555p-2, ag_fma_f64(z, 0x1.5555555555555p-56, t_lo));
    p = z * z * p;
    t = u + p;
    t_lo += (u - t) + p;
    /* s (1 + t) */
    u = s * t;
    w = ag_fma_f64(s_lo, t, ag_fma_f64(s, t_lo, ag_fma_f64(s, t, -u)));
    f = s + u;
    w += ((s - f) + u) + s_lo;
    /* times 2 / ln 2, and k */
    u = f * 0x1.71547652b82fep+1;
    w = ag_fma_f64(w, 0x1.71547652b82fep+1,
                   ag_fma_f64(f, 0x1.777d0ffda0d24p-55, ag_fma_f64(f, 0x1.71547652b82fep+1, -u)));
    lg = k + u;
    lg_lo = ((k - lg) + u) + w;
    {
        const int plain = (ax > 0) & (ax < INFINITY);
        lg = ag_pick_f64(plain, lg, ag_pick_f64(ax == 0, -(double)INFINITY, ax));
        lg_lo = ag_pick_f64(plain, lg_lo, 0.0);
    }
    t = y * lg;
    t_lo = ag_fma_f64(y, lg_lo, ag_fma_f64(y, lg, -t));
    t = ag_pick_f64((lg == 0) & (y == y), 0.0, t); /* |base| = 1 with y infinite */
    t_lo = ag_pick_f64((t > -1076.0) & (t < 1025.0) & (lg != 0), t_lo, 0.0);
    t = ag_limit_f64(t, -1076.0, 1025.0);
    w = t + AG_SHIFT_F64;
    r = (t - (w - AG_SHIFT_F64)) + t_lo;
    p = 2.5625418232014602e-11;
    p = ag_fma_f64(p, r, 4.456570522990606e-10);
    p = ag_fma_f64(p, r, 7.0549744800655191e-09);
    p = ag_fma_f64(p, r, 1.01780519418723e-07);
    p = ag_fma_f64(p, r, 1.3215486594907893e-06);
    p = ag_fma_f64(p, r, 1.5252733854318488e-05);
    p = ag_fma_f64(p, r, 0.00015403530393640725);
    p = ag_fma_f64(p, r, 0.0013333558146392691);
    p = ag_fma_f64(p, r, 0.0096181291076283294);
    p = ag_fma_f64(p, r, 0.055504108664821687);
    p = ag_fma_f64(p, r, 0.24022650695910072);
    p = ag_fma_f64(p, r, 0.69314718055994529);
    result = ag_scale_f64(ag_fma_f64(p, r, 1.0), w, t < -1000.0);
    {
        const int whole = rint(y) == y; /* infinities count, as even numbers */
        const int odd = whole & (rint(y * 0.5) != y * 0.5);
        const uint64_t sign =
            ag_bits_f64(base) & ((uint64_t)0 - (uint64_t)odd) & 0x8000000000000000u;
        result = ag_from_bits_f64(ag_bits_f64(result) | sign);
        result = ag_pick_f64((base < 0) & !whole & (ax < INFINITY), (double)NAN, result);
        return ag_pick_f64((y == 0) | (base == 1.0), 1.0, result);
    }
}
#else
/* Without exact products this takes twice as long as libm with its tables. */
AG_FN double ag_pow_f64(double x, double y) { return pow(x, y); }
#endif

#define AG_FROM_LOG(T, S)                                                          \
    AG_FN ag_##T ag_logaddexp_##T(ag_##T x, ag_##T y) {                            \
        const ag_##T top = x > y ? x : y, gap = x == y ? (ag_##T)0 : fabs##S(x - y); \
        return top + ag_log1p_unit_##T(ag_exp_minus_abs_##T(gap));                \
    }                                                                              \
    AG_FN ag_##T ag_xlogy_##T(ag_##T x, ag_##T y) {                                \
        const ag_##T product = x * ag_log_##T(y);                                  \
        return (x == 0) & (y == y) ? (ag_##T)0 : product;                          \
    }
AG_FOR_FLOATS(AG_FROM_LOG)
#undef AG_FROM_LOG

#endif
