/* The error function and its complement. */
#ifndef AG_SCALAR_SPECIAL_H
#define AG_SCALAR_SPECIAL_H

#include "exp_log.h"

#define AG_LIBM(T, S)                                                             \
    AG_FN ag_##T ag_erf_##T(ag_##T x) { return erf##S(x); }                       \
    AG_FN ag_##T ag_erfc_##T(ag_##T x) { return erfc##S(x); }                     \
    /* distribution of the standard normal: Phi(x) */                             \
    AG_FN ag_##T ag_normal_cdf_##T(ag_##T x) {                                    \
        return (ag_##T)0.5 * erfc##S(x * (ag_##T)-0.70710678118654752440);        \
    }                                                                             \
    AG_FN ag_##T ag_normal_pdf_##T(ag_##T x) {                                    \
        return (ag_##T)0.39894228040143267794 * ag_exp_##T((ag_##T)-0.5 * x * x); \
    }
AG_FOR_FLOATS(AG_LIBM)
#undef AG_LIBM

#endif
