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
        return x > 0 ? g : low;                                                                  \
    }                                                                                            \
    /* from e^-|x|, which cannot overflow and keeps the left tail */                             \
    AG_FN ag_##T ag_sigmoid_##T(ag_##T x) {                                                      \
        const ag_##T e = ag_exp_minus_abs_##T(x);                                                    \
        return (x < 0 ? e : (ag_##T)1) / ((ag_##T)1 + e);                                        \
    }                                                                                            \
    /* log(x / (1 - x)) of x limited to [eps, 1 - eps]; no limits if eps is nan */               \
    AG_FN ag_##T ag_logit_##T(ag_##T x, ag_##T eps) {                                            \
        const ag_##T top = (ag_##T)1 - eps;                                                      \
        const ag_##T y = x < eps ? eps : x > top ? top : x;                                      \
        return ag_log_##T(y / ((ag_##T)1 - y));                                                  \
    }                                                                                            \
    AG_FN ag_##T ag_sigmoid_backward_##T(ag_##T g, ag_##T y) {                                   \
        return g * ((ag_##T)1 - y) * y;                                                          \
    }                                                                                            \
    AG_FN ag_##T ag_log_sigmoid_##T(ag_##T x) {                                                  \
        return (x > 0 ? (ag_##T)0 : x) - ag_log1p_unit_##T(ag_exp_minus_abs_##T(x));                  \
    }                                                                                            \
    AG_FN ag_##T ag_log_sigmoid_backward_##T(ag_##T g, ag_##T x) { return g * ag_sigmoid_##T(-x); } \
    /* linear above the threshold, so that exp cannot overflow */                                \
    AG_FN ag_##T ag_softplus_##T(ag_##T x, ag_##T beta, ag_##T threshold) {                      \
        const ag_##T t = x * beta;                                                               \
        const ag_##T soft =                                                                      \
            ((t < 0 ? (ag_##T)0 : t) + ag_log1p_unit_##T(ag_exp_minus_abs_##T(t))) / beta;            \
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
        return g * s * ((ag_##T)1 + x * ((ag_##T)1 - s));                                        \
    }                                                                                            \
    /* x Phi(x), with the tail taken on the side where it does not cancel */                     \
    AG_FN ag_##T ag_gelu_##T(ag_##T x) {                                                         \
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
        return a * ag_sigmoid_##T(x * (k + c * x * x));                                          \
    }                                                                                            \
    AG_FN ag_##T ag_gelu_tanh_backward_##T(ag_##T g, ag_##T x) {                                 \
        const ag_##T k = (ag_##T)1.59576912160573071176, c = (ag_##T)0.07135481627260024878;        \
        const ag_##T a = copysign##S(AG_AT_MOST(fabs##S(x), AG_NORMAL_END_##T), x);      \
        const ag_##T u = a * (k + c * a * a), s = ag_sigmoid_##T(u), t = ag_sigmoid_##T(-u);     \
        return g * (s + s * t * a * (k + (ag_##T)3 * c * a * a));                                \
    }
AG_FOR_FLOATS(AG_ACTIVATION)
#undef AG_ACTIVATION

#endif
