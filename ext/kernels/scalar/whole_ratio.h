/* Quotients of whole numbers by divisions of floating-point ones, which go by whole vectors.
 *
 * The quotient of two numbers that are exact in a type is rounded correctly there, and is no nearer to
 * a whole number than 1 / y. That is more than rounding moves it, as long as numbers have no more than
 * about half of the type's digits: its whole part is exact. Where some number of a block is `far`, or
 * a divisor 0, the block takes the plain formulas. */
#ifndef AG_WHOLE_RATIO_H
#define AG_WHOLE_RATIO_H

#include "scalar.h"

AG_FN int ag_ratio_far_u8(ag_u8 x, ag_u8 y) { return (void)x, y == 0; }
AG_FN int ag_ratio_far_i8(ag_i8 x, ag_i8 y) { return (void)x, y == 0; }
AG_FN int ag_ratio_far_i16(ag_i16 x, ag_i16 y) { return (void)x, y == 0; }
/* The lowest number divided by -1 is none of its type. */
AG_FN int ag_ratio_far_i32(ag_i32 x, ag_i32 y) { return (y == 0) | (x == INT32_MIN); }
AG_FN int ag_ratio_far_i64(ag_i64 x, ag_i64 y) {
    const uint64_t middle = (uint64_t)1 << 30;
    return (y == 0) | ((((uint64_t)x + middle) | ((uint64_t)y + middle)) >> 31 != 0);
}

/* The whole part of x / y, computed in F; both fit in N. */
#define AG_WHOLE_PART(T, N, F)                                                                   \
    AG_FN ag_##T ag_whole_part_##T(ag_##T x, ag_##T y) {                                         \
        return (ag_##T)(int32_t)((F)(N)x / (F)(N)y);                                             \
    }
AG_WHOLE_PART(u8, int32_t, float)
AG_WHOLE_PART(i8, int32_t, float)
AG_WHOLE_PART(i16, int32_t, float)
AG_WHOLE_PART(i32, int32_t, double)
AG_WHOLE_PART(i64, int32_t, double)
#undef AG_WHOLE_PART

#define AG_WHOLE_RATIO(T, U)                                                                     \
    AG_FN ag_##T ag_fmod_near_##T(ag_##T x, ag_##T y) {                                          \
        return (ag_##T)(x - ag_whole_part_##T(x, y) * y);                                        \
    }                                                                                            \
    AG_FN ag_##T ag_remainder_near_##T(ag_##T x, ag_##T y) {                                     \
        const ag_##T r = ag_fmod_near_##T(x, y);                                                 \
        return (ag_##T)(r + ((r != 0) & ((r < 0) != (y < 0)) ? y : 0));                          \
    }                                                                                            \
    AG_FN ag_##T ag_floor_divide_near_##T(ag_##T x, ag_##T y) {                                  \
        const ag_##T q = ag_whole_part_##T(x, y), r = (ag_##T)(x - q * y);                       \
        return (ag_##T)(q - ((r != 0) & ((r < 0) != (y < 0))));                                  \
    }
AG_FOR_INTS(AG_WHOLE_RATIO)
#undef AG_WHOLE_RATIO

#endif
