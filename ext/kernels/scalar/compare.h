/* Comparisons, logic, bits, selection and classification. Results of the first two are bool. */
#ifndef AG_SCALAR_COMPARE_H
#define AG_SCALAR_COMPARE_H

#include "types.h"

#define AG_ORDERED(T, U)                                                    \
    AG_FN ag_b1 ag_eq_##T(ag_##T x, ag_##T y) { return x == y; }            \
    AG_FN ag_b1 ag_ne_##T(ag_##T x, ag_##T y) { return x != y; }            \
    AG_FN ag_b1 ag_lt_##T(ag_##T x, ag_##T y) { return x < y; }             \
    AG_FN ag_b1 ag_le_##T(ag_##T x, ag_##T y) { return x <= y; }
AG_FOR_INTS(AG_ORDERED)
AG_FOR_FLOATS(AG_ORDERED)
#undef AG_ORDERED

/* The rest of their comparisons depends on bits alone. */
#define AG_BY_SIZE(T, U)                                                    \
    AG_FN ag_b1 ag_lt_##T(ag_##T x, ag_##T y) { return x < y; }             \
    AG_FN ag_b1 ag_le_##T(ag_##T x, ag_##T y) { return x <= y; }
AG_FOR_UNSIGNED(AG_BY_SIZE)
#undef AG_BY_SIZE

/* Logic of other types casts to bool first. */
AG_FN ag_b1 ag_logical_not_b1(ag_b1 x) { return x ^ 1; }
AG_FN ag_b1 ag_logical_and_b1(ag_b1 x, ag_b1 y) { return x & y; }
AG_FN ag_b1 ag_logical_or_b1(ag_b1 x, ag_b1 y) { return x | y; }
AG_FN ag_b1 ag_logical_xor_b1(ag_b1 x, ag_b1 y) { return x ^ y; }

#define AG_BITS(T, U)                                                                  \
    AG_FN ag_##T ag_bitwise_and_##T(ag_##T x, ag_##T y) { return (ag_##T)(x & y); }    \
    AG_FN ag_##T ag_bitwise_or_##T(ag_##T x, ag_##T y) { return (ag_##T)(x | y); }     \
    AG_FN ag_##T ag_bitwise_xor_##T(ag_##T x, ag_##T y) { return (ag_##T)(x ^ y); }
AG_FOR_INTS(AG_BITS)
#undef AG_BITS

AG_FN ag_b1 ag_bitwise_not_b1(ag_b1 x) { return x ^ 1; }
#define AG_INT_BITS(T, U)                                                                        \
    AG_FN ag_##T ag_bitwise_not_##T(ag_##T x) { return (ag_##T)~x; }                             \
    /* a shift by the width or more, or by less than 0, pushes every bit out */                  \
    AG_FN ag_##T ag_left_shift_##T(ag_##T x, ag_##T y) {                                         \
        const int width = (int)sizeof(x) * 8;                                                    \
        const int out = ((int64_t)y < 0) | (y >= width);                                                  \
        return out ? (ag_##T)0 : (ag_##T)((U)x << (out ? 0 : (int)y));                           \
    }                                                                                            \
    AG_FN ag_##T ag_right_shift_##T(ag_##T x, ag_##T y) {                                        \
        const int width = (int)sizeof(x) * 8, top = width - ((ag_##T)-1 < 0);                    \
        const int out = ((int64_t)y < 0) | (y >= width);                                                  \
        const ag_##T none = (ag_##T)-1 < 0 ? (ag_##T)(x >> top) : (ag_##T)0;                     \
        return out ? none : (ag_##T)(x >> (out ? 0 : (int)y));                                   \
    }
AG_FOR_INTS(AG_INT_BITS)
#undef AG_INT_BITS

#define AG_CLASSIFY(T, S)                                                              \
    AG_FN ag_b1 ag_isnan_##T(ag_##T x) { return x != x; }                              \
    AG_FN ag_b1 ag_isinf_##T(ag_##T x) { return fabs##S(x) == (ag_##T)INFINITY; }      \
    AG_FN ag_b1 ag_isfinite_##T(ag_##T x) { return fabs##S(x) < (ag_##T)INFINITY; }    \
    AG_FN ag_b1 ag_signbit_##T(ag_##T x) { return ag_bits_##T(x) >> (8 * sizeof(x) - 1); }
AG_FOR_FLOATS(AG_CLASSIFY)
#undef AG_CLASSIFY

#define AG_COMPLEX(T, R)                                                                         \
    AG_FN ag_b1 ag_eq_##T(ag_##T x, ag_##T y) { return (x.re == y.re) & (x.im == y.im); }        \
    AG_FN ag_b1 ag_ne_##T(ag_##T x, ag_##T y) { return (x.re != y.re) | (x.im != y.im); }        \
    AG_FN ag_b1 ag_isnan_##T(ag_##T x) { return (x.re != x.re) | (x.im != x.im); }               \
    AG_FN ag_b1 ag_isinf_##T(ag_##T x) { return ag_isinf_##R(x.re) | ag_isinf_##R(x.im); }       \
    AG_FN ag_b1 ag_isfinite_##T(ag_##T x) { return ag_isfinite_##R(x.re) & ag_isfinite_##R(x.im); }
AG_FOR_COMPLEX(AG_COMPLEX)
#undef AG_COMPLEX

/* Both values are loaded before the choice: a branch on a random mask is 40 times slower. */
#define AG_ANY(T)                                                                       \
    AG_FN ag_##T ag_where_##T(ag_b1 c, ag_##T x, ag_##T y) { return c ? x : y; }        \
    AG_FN ag_##T ag_copy_##T(ag_##T x) { return x; }
AG_ANY(w8) AG_ANY(w16) AG_ANY(w32) AG_ANY(w64)
#undef AG_ANY
AG_FN ag_w128 ag_copy_w128(ag_w128 x) { return x; }
AG_FN ag_w128 ag_where_w128(ag_b1 c, ag_w128 x, ag_w128 y) {
    ag_w128 r;
    r.lo = c ? x.lo : y.lo;
    r.hi = c ? x.hi : y.hi;
    return r;
}

#endif
