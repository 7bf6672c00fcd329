/* Rows of attention scores, a vector at a time: one walk finds the largest, one takes exponentials,
 * sums and stores them. Read by attention_loops.pyx; attention_lanes_body.h holds the loops. */
#ifndef AG_ATTENTION_LANES_H
#define AG_ATTENTION_LANES_H

#include <stddef.h>

#include "scalar/fused.h"
#include "scalar/scalar.h"

#if defined(__AVX512F__)
#define AG_LANE_BYTES 64
#elif defined(__AVX2__)
#define AG_LANE_BYTES 32
#else
#define AG_LANE_BYTES 16
#endif

#if defined(__clang__)
#define AG_UNROLLED _Pragma("clang loop unroll(full)")
#else
#define AG_UNROLLED _Pragma("GCC unroll 16")
#endif

#define AG_NAMED(stem) AG_CAT(stem, AG_S)

/* Rows lie far apart, so no processor guesses the next ones. */
AG_FN void ag_fetch_row(const void *row, ptrdiff_t bytes) {
    for (ptrdiff_t i = 0; i < bytes; i += 64) __builtin_prefetch((const char *)row + i);
}

#define AG_T float
#define AG_I int32_t
#define AG_S f32
#define AG_FRACTION 23
#define AG_LEAST -87.0f
#define AG_EXP_SHIFT AG_SHIFT_F32
#define AG_LOG2E 0x1.715476p+0f
#define AG_LN2_HI AG_LN2_HI_F32
#define AG_LN2_LO AG_LN2_LO_F32
#define AG_POLYNOMIAL(r)                                                                         \
    const VEC r2 = r * r, a = FMA(r, ALL(0.16666539f), ALL(0.49999997f));                        \
    const VEC b = FMA(r, ALL(0.00836707f), ALL(0.0416677445f));                                  \
    const VEC less = FMA(r2, FMA(r2, FMA(r2, ALL(0.00138390157f), b), a), r);
#include "attention_lanes_body.h"
#undef AG_T
#undef AG_I
#undef AG_S
#undef AG_FRACTION
#undef AG_LEAST
#undef AG_EXP_SHIFT
#undef AG_LOG2E
#undef AG_LN2_HI
#undef AG_LN2_LO
#undef AG_POLYNOMIAL

#define AG_T double
#define AG_I int64_t
#define AG_S f64
#define AG_FRACTION 52
#define AG_LEAST -708.0
#define AG_EXP_SHIFT AG_SHIFT_F64
#define AG_LOG2E 0x1.71547652b82fep+0
#define AG_LN2_HI AG_LN2_HI_F64
#define AG_LN2_LO AG_LN2_LO_F64
#define AG_POLYNOMIAL(r)                                                                         \
    const VEC r2 = r * r, r4 = r2 * r2;                                                          \
    const VEC a = FMA(r, ALL(0.16666666666666677), ALL(0.5));                                    \
    const VEC b = FMA(r, ALL(0.0083333333333216082), ALL(0.041666666666666505));                 \
    const VEC c = FMA(r, ALL(0.00019841269886207772), ALL(0.0013888888888962906));               \
    const VEC d = FMA(r, ALL(2.7557244104338579e-06), ALL(2.4801587171833763e-05));              \
    const VEC e = FMA(r, ALL(2.5109081355739706e-08), ALL(2.7557402947651567e-07));              \
    const VEC f = FMA(r2, ALL(2.087532649068639e-09), e);                                        \
    const VEC less = FMA(r2, FMA(r4, FMA(r4, f, FMA(r2, d, c)), FMA(r2, b, a)), r);
#include "attention_lanes_body.h"
#undef AG_T
#undef AG_I
#undef AG_S
#undef AG_FRACTION
#undef AG_LEAST
#undef AG_EXP_SHIFT
#undef AG_LOG2E
#undef AG_LN2_HI
#undef AG_LN2_LO
#undef AG_POLYNOMIAL

#endif
