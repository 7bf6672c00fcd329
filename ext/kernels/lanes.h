/* Vectors of 32 bytes, which the loops of row_loops.pyx accumulate in.
 *
 * Written out because compilers keep arrays of accumulators in memory around short loops, where
 * most rows end; as values they stay in registers. Without AVX2 the compiler makes two (or four)
 * smaller vectors of each. */
#ifndef AG_LANES_H
#define AG_LANES_H

#include "scalar/config.h"

/* Aligned like one element: rows start anywhere. */
#define AG_LANES(T)                                                                              \
    typedef ag_##T ag_lanes_##T                                                                  \
        __attribute__((vector_size(32), aligned(sizeof(ag_##T)), may_alias));                    \
    AG_FN ag_lanes_##T ag_zeros_##T(void) {                                                      \
        ag_lanes_##T z = {0};                                                                    \
        return z;                                                                                \
    }                                                                                            \
    /* The larger (smaller) of each pair; a NaN in either stays. */                              \
    AG_FN ag_lanes_##T ag_larger_lanes_##T(ag_lanes_##T m, ag_lanes_##T x) {                     \
        const __typeof__(x > m) k = (x > m) | (x != x);                                          \
        return (ag_lanes_##T)(((__typeof__(k))x & k) | ((__typeof__(k))m & ~k));                 \
    }                                                                                            \
    AG_FN ag_lanes_##T ag_smaller_lanes_##T(ag_lanes_##T m, ag_lanes_##T x) {                    \
        const __typeof__(x < m) k = (x < m) | (x != x);                                          \
        return (ag_lanes_##T)(((__typeof__(k))x & k) | ((__typeof__(k))m & ~k));                 \
    }
AG_LANES(u8)
AG_LANES(i8)
AG_LANES(i16)
AG_LANES(i32)
AG_LANES(i64)
AG_LANES(f32)
AG_LANES(f64)
#undef AG_LANES

#endif
