/* ag_cast_<from>_<to> for all 144 pairs. Float to integer cuts the fraction off (out of range and
 * nan: some value, no trap), anything to bool is "not zero", complex to real drops the imaginary
 * part. Everything to and from a half goes through float. */
#ifndef AG_SCALAR_CAST_H
#define AG_SCALAR_CAST_H

#include "types.h"

/* How to read a source: as a number C can convert. */
#define AG_NUM_b1(x) (x)
#define AG_NUM_u8(x) (x)
#define AG_NUM_i8(x) (x)
#define AG_NUM_i16(x) (x)
#define AG_NUM_i32(x) (x)
#define AG_NUM_i64(x) (x)
#define AG_NUM_f16(x) ag_f16_to_f32(x)
#define AG_NUM_bf16(x) ag_bf16_to_f32(x)
#define AG_NUM_f32(x) (x)
#define AG_NUM_f64(x) (x)

/* Floats to narrow integers pass through a wider one, so that -1.0 becomes 255 and not a C
 * undefined value. */
#define AG_CAST_INT(T) \
    AG_FN ag_##T ag_cast_f32_##T(float x) { return (ag_##T)(int32_t)x; } \
    AG_FN ag_##T ag_cast_f64_##T(double x) { return (ag_##T)(int32_t)x; } \
    AG_FN ag_##T ag_cast_f16_##T(ag_f16 x) { return (ag_##T)(int32_t)ag_f16_to_f32(x); } \
    AG_FN ag_##T ag_cast_bf16_##T(ag_bf16 x) { return (ag_##T)(int32_t)ag_bf16_to_f32(x); }
AG_CAST_INT(u8) AG_CAST_INT(i8) AG_CAST_INT(i16) AG_CAST_INT(i32)
#undef AG_CAST_INT
AG_FN ag_i64 ag_cast_f32_i64(float x) { return (ag_i64)x; }
AG_FN ag_i64 ag_cast_f64_i64(double x) { return (ag_i64)x; }
AG_FN ag_i64 ag_cast_f16_i64(ag_f16 x) { return (ag_i64)ag_f16_to_f32(x); }
AG_FN ag_i64 ag_cast_bf16_i64(ag_bf16 x) { return (ag_i64)ag_bf16_to_f32(x); }

#define AG_CAST_PLAIN(A, T) \
    AG_FN ag_##T ag_cast_##A##_##T(ag_##A x) { return (ag_##T)x; }
#define AG_CAST_FROM_INT(A) \
    AG_CAST_PLAIN(A, u8) AG_CAST_PLAIN(A, i8) AG_CAST_PLAIN(A, i16) AG_CAST_PLAIN(A, i32) \
    AG_CAST_PLAIN(A, i64)
AG_CAST_FROM_INT(b1) AG_CAST_FROM_INT(u8) AG_CAST_FROM_INT(i8) AG_CAST_FROM_INT(i16)
AG_CAST_FROM_INT(i32) AG_CAST_FROM_INT(i64)
#undef AG_CAST_FROM_INT
#undef AG_CAST_PLAIN

#define AG_CAST_REAL(A) \
    AG_FN ag_b1 ag_cast_##A##_b1(ag_##A x) { return AG_NUM_##A(x) != 0; } \
    AG_FN ag_f16 ag_cast_##A##_f16(ag_##A x) { return ag_f32_to_f16((float)AG_NUM_##A(x)); } \
    AG_FN ag_bf16 ag_cast_##A##_bf16(ag_##A x) { return ag_f32_to_bf16((float)AG_NUM_##A(x)); } \
    AG_FN ag_f32 ag_cast_##A##_f32(ag_##A x) { return (float)AG_NUM_##A(x); } \
    AG_FN ag_f64 ag_cast_##A##_f64(ag_##A x) { return (double)AG_NUM_##A(x); } \
    AG_FN ag_c64 ag_cast_##A##_c64(ag_##A x) { return ag_make_c64((float)AG_NUM_##A(x), 0); } \
    AG_FN ag_c128 ag_cast_##A##_c128(ag_##A x) { return ag_make_c128((double)AG_NUM_##A(x), 0); }
AG_CAST_REAL(b1) AG_CAST_REAL(u8) AG_CAST_REAL(i8) AG_CAST_REAL(i16) AG_CAST_REAL(i32)
AG_CAST_REAL(i64) AG_CAST_REAL(f16) AG_CAST_REAL(bf16) AG_CAST_REAL(f32) AG_CAST_REAL(f64)
#undef AG_CAST_REAL

#define AG_CAST_PART(A, R, T) \
    AG_FN ag_##T ag_cast_##A##_##T(ag_##A x) { return ag_cast_##R##_##T(x.re); }
#define AG_CAST_COMPLEX(A, R) \
    AG_FN ag_b1 ag_cast_##A##_b1(ag_##A x) { return (x.re != 0) | (x.im != 0); } \
    AG_CAST_PART(A, R, u8) AG_CAST_PART(A, R, i8) AG_CAST_PART(A, R, i16) \
    AG_CAST_PART(A, R, i32) AG_CAST_PART(A, R, i64) AG_CAST_PART(A, R, f16) \
    AG_CAST_PART(A, R, bf16) AG_CAST_PART(A, R, f32) AG_CAST_PART(A, R, f64) \
    AG_FN ag_c64 ag_cast_##A##_c64(ag_##A x) { return ag_make_c64((float)x.re, (float)x.im); } \
    AG_FN ag_c128 ag_cast_##A##_c128(ag_##A x) { return ag_make_c128(x.re, x.im); }
AG_FOR_COMPLEX(AG_CAST_COMPLEX)
#undef AG_CAST_COMPLEX
#undef AG_CAST_PART

#endif
