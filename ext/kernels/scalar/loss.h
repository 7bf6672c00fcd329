/* Losses of one prediction and its target, and their gradients. A gradient takes the incoming one
 * first. NaN passes through all of them. */
#ifndef AG_SCALAR_LOSS_H
#define AG_SCALAR_LOSS_H

#include "activation.h"
#include "arith.h"
#include "exp_log.h"

/* log(0) counts as this, so that a certain but wrong prediction has a finite loss. */
#define AG_LOG_FLOOR -100
/* What a variance x (1 - x) that is divided by is at least. */
#define AG_VARIANCE_FLOOR 1e-12

#define AG_LOSS(T, S)                                                                            \
    AG_FN ag_##T ag_l1_loss_##T(ag_##T x, ag_##T t) { return fabs##S(x - t); }                   \
    AG_FN ag_##T ag_l1_loss_backward_##T(ag_##T g, ag_##T x, ag_##T t) {                         \
        return g * ag_sign_##T(x - t);                                                           \
    }                                                                                            \
    AG_FN ag_##T ag_smooth_l1_loss_##T(ag_##T x, ag_##T t, ag_##T beta) {                        \
        const ag_##T d = fabs##S(x - t), near = (ag_##T)0.5 * d * d / beta;                      \
        return d < beta ? near : d - (ag_##T)0.5 * beta;                                         \
    }                                                                                            \
    AG_FN ag_##T ag_smooth_l1_loss_backward_##T(ag_##T g, ag_##T x, ag_##T t, ag_##T beta) {     \
        const ag_##T e = x - t, d = e == 0 ? e : e / beta;  /* beta may be 0 in this type */     \
        return g * (d >= 1 ? (ag_##T)1 : d <= -1 ? (ag_##T)-1 : d);                              \
    }                                                                                            \
    AG_FN ag_##T ag_huber_loss_##T(ag_##T x, ag_##T t, ag_##T delta) {                           \
        const ag_##T d = fabs##S(x - t);                                                         \
        return d <= delta ? (ag_##T)0.5 * d * d : delta * (d - (ag_##T)0.5 * delta);             \
    }                                                                                            \
    AG_FN ag_##T ag_huber_loss_backward_##T(ag_##T g, ag_##T x, ag_##T t, ag_##T delta) {        \
        const ag_##T d = x - t;                                                                  \
        return g * (d >= delta ? delta : d <= -delta ? -delta : d);                              \
    }                                                                                            \
    AG_FN ag_##T ag_binary_cross_entropy_##T(ag_##T x, ag_##T t) {                               \
        const ag_##T yes = ag_log_##T(x), no = ag_log1p_##T(-x);                                 \
        return (t - 1) * (no < AG_LOG_FLOOR ? (ag_##T)AG_LOG_FLOOR : no)                         \
            - t * (yes < AG_LOG_FLOOR ? (ag_##T)AG_LOG_FLOOR : yes);                             \
    }                                                                                            \
    AG_FN ag_##T ag_binary_cross_entropy_backward_##T(ag_##T g, ag_##T x, ag_##T t) {            \
        const ag_##T v = ((ag_##T)1 - x) * x;                                                    \
        return g * (x - t)                                                                       \
            / (v < (ag_##T)AG_VARIANCE_FLOOR ? (ag_##T)AG_VARIANCE_FLOOR : v);                   \
    }                                                                                            \
    /* x (1 - t) - log sigmoid(x), and log sigmoid(x) = -max(-x, 0) - log(1 + e^-|x|) */         \
    AG_FN ag_##T ag_logit_cross_entropy_##T(ag_##T x, ag_##T t) {                                \
        return x * ((x > 0 ? (ag_##T)1 : (ag_##T)0) - t)                                         \
            + ag_log1p_unit_##T(ag_exp_minus_abs_##T(x));                                        \
    }                                                                                            \
    AG_FN ag_##T ag_logit_cross_entropy_backward_##T(ag_##T g, ag_##T x, ag_##T t) {             \
        return g * (ag_sigmoid_##T(x) - t);                                                      \
    }                                                                                            \
    /* the same where positive targets weigh p: x (1 - t) - (1 + (p - 1) t) log sigmoid(x) */    \
    AG_FN ag_##T ag_weighted_logit_cross_entropy_##T(ag_##T x, ag_##T t, ag_##T p) {             \
        const ag_##T w = (ag_##T)1 + (p - (ag_##T)1) * t;                                        \
        return x * (x > 0 ? (ag_##T)1 - t : -p * t)                                              \
            + w * ag_log1p_unit_##T(ag_exp_minus_abs_##T(x));                                    \
    }                                                                                            \
    AG_FN ag_##T ag_weighted_logit_cross_entropy_backward_##T(ag_##T g, ag_##T x, ag_##T t,      \
                                                              ag_##T p) {                        \
        const ag_##T w = (ag_##T)1 + (p - (ag_##T)1) * t;                                        \
        return g * (w * ag_sigmoid_##T(x) - p * t);                                              \
    }                                                                                            \
    AG_FN ag_##T ag_kl_div_##T(ag_##T x, ag_##T t) { return ag_xlogy_##T(t, t) - t * x; }        \
    AG_FN ag_##T ag_kl_div_log_##T(ag_##T x, ag_##T t) { return ag_exp_##T(t) * (t - x); }       \
    AG_FN ag_##T ag_kl_div_log_backward_##T(ag_##T g, ag_##T t) { return -g * ag_exp_##T(t); }   \
    /* log(1 + e^-tx) */                                                                         \
    AG_FN ag_##T ag_soft_margin_loss_##T(ag_##T x, ag_##T t) {                                   \
        const ag_##T z = -t * x;                                                                 \
        return (z < 0 ? (ag_##T)0 : z) + ag_log1p_unit_##T(ag_exp_minus_abs_##T(z));             \
    }                                                                                            \
    AG_FN ag_##T ag_soft_margin_loss_backward_##T(ag_##T g, ag_##T x, ag_##T t) {                \
        return -g * t * ag_sigmoid_##T(-t * x);                                                  \
    }
AG_FOR_FLOATS(AG_LOSS)
#undef AG_LOSS

#endif
