/* The error function, its complement, and the normal distribution. */
#ifndef AG_SCALAR_SPECIAL_H
#define AG_SCALAR_SPECIAL_H

#include "exp_log.h"

/* exp(-c z^2) where that is at least exp(-104) (-746 in double), with the rounding error of z^2 put
 * back: far out it is many ulps of the result. */
AG_FN float ag_gauss_f32(float z, float c) {
#if AG_HAS_FMA
    const float h = z * z, low = fmaf(z, z, -h);
#else
    const float top = ag_from_bits_f32(ag_bits_f32(z) & 0xFFFFF000u);
    const float h = top * top, low = (z - top) * (z + top);
#endif
    return ag_exp_falling_f32(-c * h, -c * low);
}
AG_FN double ag_gauss_f64(double z, double c) {
#if AG_HAS_FMA
    const double h = z * z, low = fma(z, z, -h);
#else
    const double top = ag_from_bits_f64(ag_bits_f64(z) & 0xFFFFFFFFF8000000u);
    const double h = top * top, low = (z - top) * (z + top);
#endif
    return ag_exp_falling_f64(-c * h, -c * low);
}

/* exp(z^2) erfc(z) for z >= 0, as 1 / (sqrt(pi) z + n(z) / d(z)) with one division. The first term
 * rules for large z, where rounding in n and d then hardly counts. */
AG_FN float ag_erfcx_f32(float z) {
    float n = 4.4089014883855276e-06f, d = 0.039212753466123074f;
    n = ag_fma_f32(n, z, 0.034605328804300464f);
    n = ag_fma_f32(n, z, 0.2317201039651256f);
    n = ag_fma_f32(n, z, 0.65260485332184659f);
    n = ag_fma_f32(n, z, 1.0f);
    d = ag_fma_f32(d, z, 0.25917743589229769f);
    d = ag_fma_f32(d, z, 0.793658321638958f);
    d = ag_fma_f32(d, z, 1.2966782630661209f);
    d = ag_fma_f32(d, z, 1.0f);
    return AG_QUOTIENT(f32, d, ag_fma_f32(1.77245390f * z, d, n)); /* z is at most some 10 */
}
AG_FN double ag_erfcx_f64(double z) {
    double n = 1.6835872098810665e-05, d = 1.8997247337212202e-05;
    n = ag_fma_f64(n, z, 0.00035554720713100967);
    n = ag_fma_f64(n, z, 0.0036922397353007326);
    n = ag_fma_f64(n, z, 0.024452259475488732);
    n = ag_fma_f64(n, z, 0.11318121537699569);
    n = ag_fma_f64(n, z, 0.37922251178887023);
    n = ag_fma_f64(n, z, 0.92218150249530617);
    n = ag_fma_f64(n, z, 1.5809956794218665);
    n = ag_fma_f64(n, z, 1.7591505171928516);
    n = ag_fma_f64(n, z, 1.0);
    d = ag_fma_f64(d, z, 0.00040119206130244443);
    d = ag_fma_f64(d, z, 0.0041852436536038212);
    d = ag_fma_f64(d, z, 0.027992611898187351);
    d = ag_fma_f64(d, z, 0.13184908496232589);
    d = ag_fma_f64(d, z, 0.45489624664203998);
    d = ag_fma_f64(d, z, 1.1621344800919859);
    d = ag_fma_f64(d, z, 2.1725617339533829);
    d = ag_fma_f64(d, z, 2.8556126461468847);
    d = ag_fma_f64(d, z, 2.4032252010028543);
    d = ag_fma_f64(d, z, 1.0);
    return d / ag_fma_f64(1.7724538509055159 * z, d, n);
}

AG_FN float ag_erf_f32(float x) {
#if defined(__CUDA_ARCH__)
    return erff(x); /* 2 ulps */
#else
    const float a = fabsf(x), b = ag_pick_f32(a > 5.0f, 5.0f, a), z = x * x;
    float p = -0.000634851865f, far;
    p = ag_fma_f32(z, p, 0.0050577037f);
    p = ag_fma_f32(z, p, -0.0268072877f);
    p = ag_fma_f32(z, p, 0.11282865f);
    p = ag_fma_f32(z, p, -0.376125902f);
    p = ag_fma_f32(z, p, 0.128379166f);
    far = ag_fma_f32(-ag_gauss_f32(b, 1.0f), ag_erfcx_f32(b), 1.0f);
    return a < 0.85f ? ag_fma_f32(x, p, x) : copysignf(far, x);
#endif
}
AG_FN double ag_erf_f64(double x) {
    const double a = fabs(x), b = ag_pick_f64(a > 6.0, 6.0, a), z = x * x;
    double p = 1.1463755544334476e-08, far;
    p = ag_fma_f64(z, p, -1.5937599276605997e-07);
    p = ag_fma_f64(z, p, 1.6430388115030847e-06);
    p = ag_fma_f64(z, p, -1.4924176629811083e-05);
    p = ag_fma_f64(z, p, 0.00012055288776907262);
    p = ag_fma_f64(z, p, -0.00085483261690833966);
    p = ag_fma_f64(z, p, 0.0052239776151221801);
    p = ag_fma_f64(z, p, -0.026866170644402471);
    p = ag_fma_f64(z, p, 0.11283791670952481);
    p = ag_fma_f64(z, p, -0.37612638903183715);
    p = ag_fma_f64(z, p, 0.12837916709551256);
    far = ag_fma_f64(-ag_gauss_f64(b, 1.0), ag_erfcx_f64(b), 1.0);
    return a < 0.75 ? ag_fma_f64(x, p, x) : copysign(far, x);
}

/* Far out the Gaussian is 0 first; the limits keep the polynomials finite. */
AG_FN float ag_erfc_f32(float x) {
    const float a = fabsf(x), b = ag_pick_f32(a > 10.197f, 10.197f, a);
    const float tail = ag_gauss_f32(b, 1.0f) * ag_erfcx_f32(b);
    return x < 0 ? 2.0f - tail : tail;
}
AG_FN double ag_erfc_f64(double x) {
    const double a = fabs(x), b = ag_pick_f64(a > 27.2975, 27.2975, a);
    const double tail = ag_gauss_f64(b, 1.0) * ag_erfcx_f64(b);
    return x < 0 ? 2.0 - tail : tail;
}

/* The limits here and below are where the exponential has just become 0.
 * The tail of the standard normal beyond |x| is *ratio e with e = exp(-x^2/2). */
AG_FN float ag_normal_tail_f32(float x, float *ratio) {
    const float a = fabsf(x), b = ag_pick_f32(a > 14.4205f, 14.4205f, a);
    *ratio = 0.5f * ag_erfcx_f32(b * 0.707106781f);
    return ag_gauss_f32(b, 0.5f);
}
AG_FN double ag_normal_tail_f64(double x, double *ratio) {
    const double a = fabs(x), b = ag_pick_f64(a > 38.605, 38.605, a);
    *ratio = 0.5 * ag_erfcx_f64(b * 0.70710678118654752440);
    return ag_gauss_f64(b, 0.5);
}

#endif
