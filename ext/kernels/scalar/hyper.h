/* Hyperbolic functions and their inverses. */
#ifndef AG_SCALAR_HYPER_H
#define AG_SCALAR_HYPER_H

#include "types.h"

#define AG_LIBM(T, S)                                                             \
    AG_FN ag_##T ag_sinh_##T(ag_##T x) { return sinh##S(x); }                     \
    AG_FN ag_##T ag_cosh_##T(ag_##T x) { return cosh##S(x); }                     \
    AG_FN ag_##T ag_tanh_##T(ag_##T x) { return tanh##S(x); }                     \
    AG_FN ag_##T ag_asinh_##T(ag_##T x) { return asinh##S(x); }                   \
    AG_FN ag_##T ag_acosh_##T(ag_##T x) { return acosh##S(x); }                   \
    AG_FN ag_##T ag_atanh_##T(ag_##T x) { return atanh##S(x); }                   \
    AG_FN ag_##T ag_tanh_backward_##T(ag_##T g, ag_##T y) {                       \
        return g * ((ag_##T)1 - y * y);                                           \
    }
AG_FOR_FLOATS(AG_LIBM)
#undef AG_LIBM

#endif
