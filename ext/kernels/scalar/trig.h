/* Trigonometric functions and their inverses. */
#ifndef AG_SCALAR_TRIG_H
#define AG_SCALAR_TRIG_H

#include "types.h"

#define AG_LIBM(T, S)                                                             \
    AG_FN ag_##T ag_sin_##T(ag_##T x) { return sin##S(x); }                       \
    AG_FN ag_##T ag_cos_##T(ag_##T x) { return cos##S(x); }                       \
    AG_FN ag_##T ag_tan_##T(ag_##T x) { return tan##S(x); }                       \
    AG_FN ag_##T ag_asin_##T(ag_##T x) { return asin##S(x); }                     \
    AG_FN ag_##T ag_acos_##T(ag_##T x) { return acos##S(x); }                     \
    AG_FN ag_##T ag_atan_##T(ag_##T x) { return atan##S(x); }                     \
    AG_FN ag_##T ag_atan2_##T(ag_##T y, ag_##T x) { return atan2##S(y, x); }
AG_FOR_FLOATS(AG_LIBM)
#undef AG_LIBM

#endif
