/* ag_cast_<from>_<to>. Float to integer cuts the fraction off (out of range and nan: some value, no
 * trap), anything to bool is "not zero". Only the pairs that the others are made of: halves pass
 * through float, complex to real reads every second float, int8 and uint8 results are the same
 * bits (see kernel_loops.py). */
#ifndef AG_SCALAR_CAST_H
#define AG_SCALAR_CAST_H

#include "types.h"

#define AG_CAST(A, T) AG_FN ag_##T ag_cast_##A##_##T(ag_##A x) { return (ag_##T)x; }
#define AG_CAST_INT(A, U)                                               \
    AG_CAST(A, u8) AG_CAST(A, i16) AG_CAST(A, i32) AG_CAST(A, i64)      \
    AG_CAST(A, f32) AG_CAST(A, f64)                                     \
    AG_FN ag_b1 ag_cast_##A##_b1(ag_##A x) { return x != 0; }
AG_FOR_INTS(AG_CAST_INT)
#undef AG_CAST_INT

/* Of unsigned integers only what isn't decided by the bits of the signed ones. */
#define AG_CAST_UNSIGNED(A, U) AG_CAST(A, i64) AG_CAST(A, f64)
AG_FOR_UNSIGNED(AG_CAST_UNSIGNED)
AG_CAST(u16, i32) AG_CAST(u16, f32) AG_CAST(u64, f32)
/* Rounded once, by way of double; for a cast gcc adds two halves by a fused product, which the check
 * of contractions (ext/build/contraction.py) can't tell from one that was not meant. */
AG_FN ag_f32 ag_cast_u32_f32(ag_u32 x) {
    return (ag_f32)((ag_f64)(int32_t)(x ^ 0x80000000u) + 2147483648.0);
}
#undef AG_CAST_UNSIGNED

/* Narrow integers pass through a wide one, so that -1.0 becomes 255 and not an undefined value. */
#define AG_CAST_FLOAT(A, S)                                                    \
    AG_FN ag_u8 ag_cast_##A##_u8(ag_##A x) { return (ag_u8)(int32_t)x; }       \
    AG_FN ag_i16 ag_cast_##A##_i16(ag_##A x) { return (ag_i16)(int32_t)x; }    \
    AG_CAST(A, i32) AG_CAST(A, i64) AG_CAST(A, f32) AG_CAST(A, f64)            \
    AG_FN ag_u32 ag_cast_##A##_u32(ag_##A x) { return (ag_u32)(int64_t)x; }    \
    /* beyond int64 by a distance: a conversion to uint64 differs between processors */          \
    AG_FN ag_u64 ag_cast_##A##_u64(ag_##A x) {                                 \
        const ag_##A top = (ag_##A)9223372036854775808.0;                      \
        return x < top ? (ag_u64)(int64_t)x : (ag_u64)(int64_t)(x - top) + 0x8000000000000000u;  \
    }                                                                          \
    AG_FN ag_b1 ag_cast_##A##_b1(ag_##A x) { return x != 0; }
AG_FOR_FLOATS(AG_CAST_FLOAT)
#undef AG_CAST_FLOAT
#undef AG_CAST

AG_FN ag_f16 ag_cast_f32_f16(ag_f32 x) { return ag_f32_to_f16(x); }
AG_FN ag_f32 ag_cast_f16_f32(ag_f16 x) { return ag_f16_to_f32(x); }
AG_FN ag_bf16 ag_cast_f32_bf16(ag_f32 x) { return ag_f32_to_bf16(x); }
AG_FN ag_f32 ag_cast_bf16_f32(ag_bf16 x) { return ag_bf16_to_f32(x); }

AG_FN ag_c64 ag_cast_f32_c64(ag_f32 x) { return ag_make_c64(x, 0); }
AG_FN ag_c128 ag_cast_f64_c128(ag_f64 x) { return ag_make_c128(x, 0); }
AG_FN ag_c128 ag_cast_c64_c128(ag_c64 x) { return ag_make_c128(x.re, x.im); }
AG_FN ag_c64 ag_cast_c128_c64(ag_c128 x) { return ag_make_c64((float)x.re, (float)x.im); }
AG_FN ag_b1 ag_cast_c64_b1(ag_c64 x) { return (x.re != 0) | (x.im != 0); }
AG_FN ag_b1 ag_cast_c128_b1(ag_c128 x) { return (x.re != 0) | (x.im != 0); }

#endif
