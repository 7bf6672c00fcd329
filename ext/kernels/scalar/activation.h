/* Activations of neural networks and their gradients. A gradient takes the incoming one first, then
 * the value it was saved with: the input x, or the result y where that is cheaper. */
#ifndef AG_SCALAR_ACTIVATION_H
#define AG_SCALAR_ACTIVATION_H

#include "arith.h"
#include "exp_log.h"
#include "hyper.h"
#include "special.h"

/* Where the normal distribution ends: x times 0 must be 0 from here on, also for x = -inf. */
#define AG_NORMAL_END_f32 20.0f
#define AG_NORMAL_END_f64 50.0

#define AG_ACTIVATION(T, S)                                                                      \
    /* written so that nan and -0 pass through */                                                \
    AG_FN ag_##T ag_relu_##T(ag_##T x) { return x < 0 ? (ag_##T)0 : x; }                         \
    AG_FN ag_##T ag_threshold_backward_##T(ag_##T g, ag_##T x) { return x <= 0 ? (ag_##T)0 : g; } \
    AG_FN ag_##T ag_leaky_relu_##T(ag_##T x, ag_##T slope) { return x > 0 ? x : x * slope; }     \
    AG_FN ag_##T ag_leaky_relu_backward_##T(ag_##T g, ag_##T x, ag_##T slope) {                  \
        return x > 0 ? g : g * slope;                                                            \
    }                                                                                            \
    AG_FN ag_##T ag_elu_##T(ag_##T x, ag_##T alpha) {                                            \
        const ag_##T low = alpha * ag_expm1_##T(x);                                              \
        return x > 0 ? x : low;                                                                  \
    }                                                                                            \
    AG_FN ag_##T ag_elu_backward_##T(ag_##T g, ag_##T x, ag_##T alpha) {                         \
        const ag_##T low = g * alpha * ag_exp_##T(x);                                            \
        return x <= 0 ? low : g;                                                                 \
    }                                                                                            \
    /* from e^-|x|, which cannot overflow and keeps the left tail */                             \
    AG_FN ag_##T ag_sigmoid_##T(ag_##T x) {                                                      \
        const ag_##T e = ag_exp_minus_abs_##T(x);                                                    \
        return AG_QUOTIENT(T, x < 0 ? e : (ag_##T)1, (ag_##T)1 + e);                             \
    }                                                                                            \
    /* log(x / (1 - x)) of x limited to [eps, 1 - eps]; no limits if eps is nan */               \
    AG_FN ag_##T ag_logit_##T(ag_##T x, ag_##T eps) {                                            \
        const ag_##T top = (ag_##T)1 - eps;                                                      \
        const ag_##T y = x < eps ? eps : x > top ? top : x;                                      \
        const ag_##T p = AG_NEAR_ONE(T, y);                                                      \
        return ag_log_##T(AG_QUOTIENT(T, p, (ag_##T)1 - p));                                     \
    }                                                                                            \
    AG_FN ag_##T ag_sigmoid_backward_##T(ag_##T g, ag_##T y) {                                   \
        return g * ((ag_##T)1 - y) * y;                                                          \
    }                                                                                            \
    AG_FN ag_##T ag_log_sigmoid_##T(ag_##T x) {                                                  \
        return (x > 0 ? (ag_##T)0 : x) - ag_log1p_unit_##T(ag_exp_minus_abs_##T(x));                  \
    }                                                                                            \
    AG_FN ag_##T ag_log_sigmoid_backward_##T(ag_##T g, ag_##T x) { return g * ag_sigmoid_##T(-x); } \
    /* linear above the threshold, so that exp cannot overflow; of a beta beyond 2^126 0 remains */                                \
    AG_FN ag_##T ag_softplus_##T(ag_##T x, ag_##T beta, ag_##T threshold) {                      \
        const ag_##T t = x * beta;                                                               \
        const ag_##T top = t < 0 ? (ag_##T)0 : t;                                                \
        const ag_##T soft =                                                                      \
            AG_QUOTIENT(T, top + ag_log1p_unit_##T(ag_exp_minus_abs_##T(t)), beta);              \
        return t > threshold ? x : soft;                                                         \
    }                                                                                            \
    AG_FN ag_##T ag_softplus_backward_##T(ag_##T g, ag_##T x, ag_##T beta, ag_##T threshold) {   \
        const ag_##T t = x * beta;                                                               \
        const ag_##T soft = g * ag_sigmoid_##T(t);                                               \
        return t > threshold ? g : soft;                                                         \
    }                                                                                            \
    AG_FN ag_##T ag_silu_##T(ag_##T x) { return x * ag_sigmoid_##T(x); }                         \
    AG_FN ag_##T ag_silu_backward_##T(ag_##T g, ag_##T x) {                                      \
        const ag_##T s = ag_sigmoid_##T(x);                                                      \
        /* g last: g s may be next to nothing where the rest is not */                           \
        return g * (s * ag_fma_##T(x, (ag_##T)1 - s, (ag_##T)1));                                \
    }                                                                                            \
    /* x Phi(x), with the tail taken on the side where it does not cancel */                     \
    AG_FN ag_##T ag_gelu_by_tail_##T(ag_##T x) {                                                 \
        ag_##T ratio;                                                                            \
        const ag_##T e = ag_normal_tail_##T(x, &ratio);                                          \
        const ag_##T a = copysign##S(AG_AT_MOST(fabs##S(x), AG_NORMAL_END_##T), x);      \
        const ag_##T tail = a * ratio * e;                                                       \
        return x > 0 ? x - tail : tail; /* -0 for -0 */                                          \
    }                                                                                            \
    AG_FN ag_##T ag_gelu_backward_##T(ag_##T g, ag_##T x) {                                      \
        ag_##T ratio;                                                                            \
        const ag_##T e = ag_normal_tail_##T(x, &ratio), tail = ratio * e;                        \
        const ag_##T a = copysign##S(AG_AT_MOST(fabs##S(x), AG_NORMAL_END_##T), x);      \
        const ag_##T below = x < 0 ? tail : (ag_##T)1 - tail;                                    \
        return g * ag_fma_##T(a * (ag_##T)0.39894228040143267794, e, below);                     \
    }                                                                                            \
    /* 0.5 (1 + tanh u) = sigmoid(2u), which keeps the left tail */                              \
    AG_FN ag_##T ag_gelu_tanh_##T(ag_##T x) {                                                    \
        const ag_##T k = (ag_##T)1.59576912160573071176, c = (ag_##T)0.07135481627260024878;        \
        const ag_##T a = AG_AT_LEAST(x, -AG_NORMAL_END_##T);                                     \
        return a * ag_sigmoid_##T(x * ag_fma_##T(c * x, x, k));                                  \
    }                                                                                            \
    AG_FN ag_##T ag_gelu_tanh_backward_##T(ag_##T g, ag_##T x) {                                 \
        const ag_##T k = (ag_##T)1.59576912160573071176, c = (ag_##T)0.07135481627260024878;        \
        const ag_##T a = copysign##S(AG_AT_MOST(fabs##S(x), AG_NORMAL_END_##T), x);      \
        const ag_##T u = a * ag_fma_##T(c * a, a, k), s = ag_sigmoid_##T(u);                     \
        const ag_##T t = ag_sigmoid_##T(-u), du = ag_fma_##T((ag_##T)3 * c * a, a, k);           \
        return g * ag_fma_##T(s * t * a, du, s);                                                 \
    }
AG_FOR_FLOATS(AG_ACTIVATION)
#undef AG_ACTIVATION

#if defined(__CUDA_ARCH__) || defined(AG_ON_HOST)
/* 2^x for |x| <= 1, and 1/x of what is neither next to nothing nor huge: an instruction each. */
AG_FN float ag_exp2_short_f32(float x) {
#if defined(__CUDA_ARCH__)
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return exp2f(x);
#endif
}
AG_FN float ag_reciprocal_short_f32(float x) {
#if defined(__CUDA_ARCH__)
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return 1.0f / x;
#endif
}

/* The same in 31 instructions. The rational function of erfcx is one of |x| here. The exponential is
 * a power of two from 2^-126 on, so that what is smaller is rounded once, at the end. */
AG_FN float ag_gelu_by_powers_f32(float x) {
    const float b = fminf(fabsf(x), 15.0f), h = b * b, low = fmaf(b, b, -h);
    const float shift = 12582912.0f + 127.0f, half = -0.72134751081466675f; /* -log2(e) / 2 */
    const float z = fmaxf(fmaf(h, half, shift), shift - 126.0f), whole = z - shift;
    float r = fmaf(h, half, -whole), d = 0.0098031883f, n = 2.204450744192764e-06f;
    float tail, inverse;
    r = fmaf(h, -9.62981494545545e-09f, r);
    r = fmaf(low, half, r);
    d = fmaf(d, b, 0.091633061f);
    d = fmaf(d, b, 0.39682916f);
    d = fmaf(d, b, 0.91688999f);
    d = fmaf(d * b, b, b);
    n = fmaf(n, b, 0.02446966266271102f);
    n = fmaf(n, b, 0.2317201039651256f);
    n = fmaf(n, b, 0.92292263443826f);
    n = fmaf(n, b, 2.50662827f * d) + 2.0f;
    inverse = ag_reciprocal_short_f32(n);
    tail = d * inverse;
    tail = fmaf(fmaf(-tail, n, d), inverse, tail);
    tail *= ag_exp2_short_f32(r);
    return fmaf(-tail, ag_from_bits_f32(ag_bits_f32(z) << 23), x < 0 ? -0.0f : x);
}
AG_FN float ag_gelu_f32(float x) { return ag_gelu_by_powers_f32(x); }
#else
AG_FN float ag_gelu_f32(float x) { return ag_gelu_by_tail_f32(x); }
#endif
AG_FN double ag_gelu_f64(double x) { return ag_gelu_by_tail_f64(x); }

/* From here on to the left x e^x is 0, and so is what multiplies x below. */
#define AG_EXP_END_f32 200.0f
#define AG_EXP_END_f64 1000.0

/* The scaled and the continuous elu; bounded and shrunk lines; gates. With e = e^-|x| and
 * D = 1 + 2e + 2e^2 (x > 0) or 2 + 2e + e^2, mish is x (D - 2e^2) / D or x (D - 2) / D. */
#define AG_SELU_ALPHA 1.6732632423543772848170429916717
#define AG_SELU_SCALE 1.0507009873554804934193349852946
#define AG_PIECES(T, S)                                                                          \
    AG_FN ag_##T ag_selu_##T(ag_##T x) {                                                         \
        const ag_##T low = (ag_##T)(AG_SELU_ALPHA * AG_SELU_SCALE) * ag_expm1_##T(x);            \
        return x > 0 ? x * (ag_##T)AG_SELU_SCALE : low;                                          \
    }                                                                                            \
    AG_FN ag_##T ag_selu_backward_##T(ag_##T g, ag_##T x) {                                      \
        const ag_##T low = g * (ag_##T)(AG_SELU_ALPHA * AG_SELU_SCALE) * ag_exp_##T(x);          \
        return x <= 0 ? low : g * (ag_##T)AG_SELU_SCALE;                                         \
    }                                                                                            \
    AG_FN ag_##T ag_celu_##T(ag_##T x, ag_##T alpha, ag_##T rate) {                              \
        const ag_##T low = alpha * ag_expm1_##T(x * rate);                                       \
        return x > 0 ? x : low;                                                                  \
    }                                                                                            \
    AG_FN ag_##T ag_celu_backward_##T(ag_##T g, ag_##T x, ag_##T rate) {                         \
        const ag_##T low = g * ag_exp_##T(x * rate);                                             \
        return x <= 0 ? low : g;                                                                 \
    }                                                                                            \
    AG_FN ag_##T ag_prelu_weight_##T(ag_##T g, ag_##T x) { return x > 0 ? (ag_##T)0 : g * x; }   \
    AG_FN ag_##T ag_hardshrink_##T(ag_##T x, ag_##T end) {                                       \
        return (x >= -end) & (x <= end) ? (ag_##T)0 : x;                                         \
    }                                                                                            \
    AG_FN ag_##T ag_softshrink_##T(ag_##T x, ag_##T end) {                                       \
        return x > end ? x - end : x < -end ? x + end : x * (ag_##T)0;                           \
    }                                                                                            \
    AG_FN ag_##T ag_shrink_backward_##T(ag_##T g, ag_##T x, ag_##T end) {                        \
        return (x >= -end) & (x <= end) ? (ag_##T)0 : g;                                         \
    }                                                                                            \
    AG_FN ag_##T ag_hardtanh_backward_##T(ag_##T g, ag_##T x, ag_##T low, ag_##T high) {         \
        return (x <= low) | (x >= high) ? (ag_##T)0 : g;                                         \
    }                                                                                            \
    AG_FN ag_##T ag_ramp_##T(ag_##T x) { /* x + 3 in [0, 6] */                                   \
        const ag_##T y = x + (ag_##T)3;                                                          \
        return y < 0 ? (ag_##T)0 : y > 6 ? (ag_##T)6 : y;                                        \
    }                                                                                            \
    AG_FN ag_##T ag_hardsigmoid_##T(ag_##T x) { return ag_ramp_##T(x) / (ag_##T)6; }             \
    AG_FN ag_##T ag_hardsigmoid_backward_##T(ag_##T g, ag_##T x) {                               \
        return (x > (ag_##T)-3) & (x < (ag_##T)3) ? g / (ag_##T)6 : (ag_##T)0;                   \
    }                                                                                            \
    AG_FN ag_##T ag_hardswish_##T(ag_##T x) { return x * ag_ramp_##T(x) / (ag_##T)6; }           \
    AG_FN ag_##T ag_hardswish_backward_##T(ag_##T g, ag_##T x) {                                 \
        const ag_##T middle = g * (x / (ag_##T)3 + (ag_##T)0.5);                                 \
        return x <= (ag_##T)-3 ? (ag_##T)0 : x < (ag_##T)3 ? middle : g;                         \
    }                                                                                            \
    AG_FN ag_##T ag_mish_##T(ag_##T x) {                                                         \
        const ag_##T e = ag_exp_minus_abs_##T(x), two = (ag_##T)2 * e, square = e * e;           \
        const ag_##T top = x > 0 ? (ag_##T)1 + two : square + two;                               \
        const ag_##T rest = x > 0 ? two * e : (ag_##T)2;                                         \
        return AG_AT_LEAST(x, -AG_EXP_END_##T) * AG_QUOTIENT(T, top, top + rest);                \
    }                                                                                            \
    AG_FN ag_##T ag_mish_backward_##T(ag_##T g, ag_##T x) {                                      \
        const ag_##T e = ag_exp_minus_abs_##T(x), two = (ag_##T)2 * e, square = e * e;           \
        const ag_##T top = x > 0 ? (ag_##T)1 + two : square + two;                               \
        const ag_##T whole = top + (x > 0 ? two * e : (ag_##T)2);                                \
        const ag_##T curvature = AG_QUOTIENT(                                                    \
            T, (ag_##T)4 * (x > 0 ? square : e) * ((ag_##T)1 + e), whole * whole);               \
        const ag_##T a = copysign##S(AG_AT_MOST(fabs##S(x), AG_EXP_END_##T), x);                 \
        return g * (AG_QUOTIENT(T, top, whole) + a * curvature);                                 \
    }                                                                                            \
    AG_FN ag_##T ag_glu_##T(ag_##T a, ag_##T b) { return a * ag_sigmoid_##T(b); }                \
    AG_FN ag_##T ag_glu_gate_##T(ag_##T g, ag_##T a, ag_##T b) {                                 \
        return g * a * ag_sigmoid_##T(b) * ag_sigmoid_##T(-b);                                   \
    }
AG_FOR_FLOATS(AG_PIECES)
#undef AG_PIECES

#endif
