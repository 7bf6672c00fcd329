/* Exponentials, logarithms and powers of the two floats. */
#ifndef AG_SCALAR_EXP_LOG_H
#define AG_SCALAR_EXP_LOG_H

#include "types.h"

#define AG_LIBM(T, S)                                                             \
    AG_FN ag_##T ag_exp_##T(ag_##T x) { return exp##S(x); }                       \
    AG_FN ag_##T ag_exp2_##T(ag_##T x) { return exp2##S(x); }                     \
    AG_FN ag_##T ag_expm1_##T(ag_##T x) { return expm1##S(x); }                   \
    AG_FN ag_##T ag_log_##T(ag_##T x) { return log##S(x); }                       \
    AG_FN ag_##T ag_log2_##T(ag_##T x) { return log2##S(x); }                     \
    AG_FN ag_##T ag_log10_##T(ag_##T x) { return log10##S(x); }                   \
    AG_FN ag_##T ag_log1p_##T(ag_##T x) { return log1p##S(x); }                   \
    AG_FN ag_##T ag_pow_##T(ag_##T x, ag_##T y) { return pow##S(x, y); }          \
    AG_FN ag_##T ag_logaddexp_##T(ag_##T x, ag_##T y) {                           \
        const ag_##T top = x > y ? x : y, gap = fabs##S(x - y);                   \
        return x == y ? x + (ag_##T)0.69314718055994530942                        \
                      : top + log1p##S(exp##S(-gap));                             \
    }                                                                             \
    AG_FN ag_##T ag_xlogy_##T(ag_##T x, ag_##T y) {                               \
        const ag_##T product = x * ag_log_##T(y);                                 \
        return (x == 0) & (y == y) ? (ag_##T)0 : product;                         \
    }
AG_FOR_FLOATS(AG_LIBM)
#undef AG_LIBM

#endif
