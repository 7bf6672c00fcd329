/* Activations of neural networks and their gradients. A gradient takes the incoming one first, then
 * the value it was saved with: the input x, or the result y where that is cheaper. */
#ifndef AG_SCALAR_ACTIVATION_H
#define AG_SCALAR_ACTIVATION_H

#include "arith.h"
#include "exp_log.h"
#include "hyper.h"
#include "special.h"

#define AG_ACTIVATION(T, S)                                                                      \
    /* written so that nan passes through */                                                     \
    AG_FN ag_##T ag_relu_##T(ag_##T x) { return x <= 0 ? (ag_##T)0 : x; }                        \
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
    AG_FN ag_##T ag_sigmoid_##T(ag_##T x) { return (ag_##T)1 / ((ag_##T)1 + ag_exp_##T(-x)); }   \
    AG_FN ag_##T ag_sigmoid_backward_##T(ag_##T g, ag_##T y) {                                   \
        return g * ((ag_##T)1 - y) * y;                                                          \
    }                                                                                            \
    AG_FN ag_##T ag_log_sigmoid_##T(ag_##T x) {                                                  \
        return (x <= 0 ? x : (ag_##T)0 * x) - ag_log1p_##T(ag_exp_##T(-fabs##S(x)));             \
    }                                                                                            \
    AG_FN ag_##T ag_log_sigmoid_backward_##T(ag_##T g, ag_##T x) { return g * ag_sigmoid_##T(-x); } \
    /* linear above the threshold, so that exp cannot overflow */                                \
    AG_FN ag_##T ag_softplus_##T(ag_##T x, ag_##T beta, ag_##T threshold) {                      \
        const ag_##T t = x * beta;                                                               \
        const ag_##T soft = ag_log1p_##T(ag_exp_##T(t)) / beta;                                  \
        return t > threshold ? x : soft;                                                         \
    }                                                                                            \
    AG_FN ag_##T ag_softplus_backward_##T(ag_##T g, ag_##T x, ag_##T beta, ag_##T threshold) {   \
        const ag_##T t = x * beta;                                                               \
        const ag_##T soft = g * ag_sigmoid_##T(t);                                               \
        return t > threshold ? g : soft;                                                         \
    }                                                                                            \
    AG_FN ag_##T ag_silu_##T(ag_##T x) { return x / ((ag_##T)1 + ag_exp_##T(-x)); }              \
    AG_FN ag_##T ag_silu_backward_##T(ag_##T g, ag_##T x) {                                      \
        const ag_##T s = ag_sigmoid_##T(x);                                                      \
        return g * s * ((ag_##T)1 + x * ((ag_##T)1 - s));                                        \
    }                                                                                            \
    AG_FN ag_##T ag_gelu_##T(ag_##T x) { return x * ag_normal_cdf_##T(x); }                      \
    AG_FN ag_##T ag_gelu_backward_##T(ag_##T g, ag_##T x) {                                      \
        return g * (ag_normal_cdf_##T(x) + x * ag_normal_pdf_##T(x));                            \
    }                                                                                            \
    AG_FN ag_##T ag_gelu_tanh_##T(ag_##T x) {                                                    \
        const ag_##T k = (ag_##T)0.79788456080286535588, c = (ag_##T)0.044715;                   \
        return (ag_##T)0.5 * x * ((ag_##T)1 + ag_tanh_##T(k * (x + c * x * x * x)));             \
    }                                                                                            \
    AG_FN ag_##T ag_gelu_tanh_backward_##T(ag_##T g, ag_##T x) {                                 \
        const ag_##T k = (ag_##T)0.79788456080286535588, c = (ag_##T)0.044715;                   \
        const ag_##T t = ag_tanh_##T(k * (x + c * x * x * x));                                   \
        const ag_##T slope = k * ((ag_##T)1 + (ag_##T)3 * c * x * x);                            \
        return g * (ag_##T)0.5 * ((ag_##T)1 + t + x * ((ag_##T)1 - t * t) * slope);              \
    }
AG_FOR_FLOATS(AG_ACTIVATION)
#undef AG_ACTIVATION

#endif
