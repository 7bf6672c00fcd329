/* What every scalar header needs: the function qualifier, fused multiply-add, bit casts and the
 * element types. No formulas here; types.h (half and complex) comes next. */
#ifndef AG_SCALAR_CONFIG_H
#define AG_SCALAR_CONFIG_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__CUDACC__)
#define AG_FN static __host__ __device__ __forceinline__
#elif defined(__GNUC__) || defined(__clang__)
/* always_inline: a call left in a loop stops the vectoriser. */
#define AG_FN static inline __attribute__((always_inline, unused))
/* For bodies with real branches or loops, which gain nothing from inlining. */
#define AG_FN_COLD static __attribute__((noinline, unused))
#else
#define AG_FN static inline
#endif
#ifndef AG_FN_COLD
#define AG_FN_COLD AG_FN
#endif

/* 1 where a fused multiply-add is one instruction; elsewhere a*b+c rounds twice and formulas that
 * need the exact product take another road. */
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA) || defined(__CUDA_ARCH__)                      \
    || (defined(__FP_FAST_FMA) && defined(__FP_FAST_FMAF))
#define AG_HAS_FMA 1
#else
#define AG_HAS_FMA 0
#endif

typedef unsigned char ag_b1;
typedef uint8_t ag_u8;
typedef uint16_t ag_u16;
typedef uint32_t ag_u32;
typedef uint64_t ag_u64;
typedef int8_t ag_i8;
typedef int16_t ag_i16;
typedef int32_t ag_i32;
typedef int64_t ag_i64;
typedef uint16_t ag_f16;  /* storage only: arithmetic happens in float */
typedef uint16_t ag_bf16;
typedef float ag_f32;
typedef double ag_f64;
typedef struct { float re, im; } ag_c64;
typedef struct { double re, im; } ag_c128;

/* Element of a given size whose value does not matter (copy, where). */
typedef uint8_t ag_w8;
typedef uint16_t ag_w16;
typedef uint32_t ag_w32;
typedef uint64_t ag_w64;
typedef struct { uint64_t lo, hi; } ag_w128;

/* memcpy and not a union: nvcc, gcc and clang all turn it into a plain register move. */
AG_FN uint32_t ag_bits_f32(float x) { uint32_t u; memcpy(&u, &x, 4); return u; }
AG_FN uint64_t ag_bits_f64(double x) { uint64_t u; memcpy(&u, &x, 8); return u; }
AG_FN float ag_from_bits_f32(uint32_t u) { float x; memcpy(&x, &u, 4); return x; }
AG_FN double ag_from_bits_f64(uint64_t u) { double x; memcpy(&x, &u, 8); return x; }

/* c ? a : b as arithmetic on bits, which gcc turns back into one blend. It takes `c ? a : b` itself
 * apart when a is a constant: one path per outcome, with the constant folded into all that follows,
 * and the loop becomes a heap of masks or no longer vectorises. SSE2 alone has no such blend for
 * doubles. */
AG_FN float ag_pick_f32(int c, float a, float b) {
#if defined(__CUDA_ARCH__)
    return c ? a : b;
#else
    const uint32_t m = 0u - (uint32_t)c;
    return ag_from_bits_f32((ag_bits_f32(a) & m) | (ag_bits_f32(b) & ~m));
#endif
}
AG_FN double ag_pick_f64(int c, double a, double b) {
#if defined(__CUDA_ARCH__) || (defined(__x86_64__) && !defined(__SSE4_1__))
    return c ? a : b;
#else
    const uint64_t m = (uint64_t)0 - (uint64_t)c;
    return ag_from_bits_f64((ag_bits_f64(a) & m) | (ag_bits_f64(b) & ~m));
#endif
}

/* The one way to a fused product: compilers are told to fuse nothing by themselves (ext/build/flags.py).
 * fused.h has that of vectors. */
AG_FN float ag_fma_f32(float a, float b, float c) {
#if AG_HAS_FMA
    return fmaf(a, b, c);
#else
    return a * b + c;
#endif
}
AG_FN double ag_fma_f64(double a, double b, double c) {
#if AG_HAS_FMA
    return fma(a, b, c);
#else
    return a * b + c;
#endif
}

/* A product that stays one: where differences and sums of products take turns, as in the parts of
 * complex products, gcc 12 makes one fused instruction of both, whatever -ffp-contract says. */
#if defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__) && !defined(__CUDACC__)
#define AG_ROUNDED(x) __builtin_assoc_barrier(x)
#else
#define AG_ROUNDED(x) (x)
#endif

/* Primitives of GPUs. Formulas are the same everywhere; where machine code of float32 would be bound
 * by arithmetic instead of memory, __CUDA_ARCH__ chooses a shorter way, in this file and those that
 * follow. Errors in ulps are those of the CUDA C++ programming guide. float64 has no such ways.
 *
 * AG_QUOTIENT(T, a, b) is a / b for 2^-126 <= |b| <= 2^126, on GPUs within 2 ulps. Beyond 2^126
 * that gives 0 and below 2^-126 infinity, so a call says why b is neither, or that it does no harm.
 * AG_PRODUCT(T, a, b) is a product that nvcc doesn't fuse, so that it has the CPU's bits. */
#if defined(__CUDA_ARCH__)
/* __fdividef takes three instructions more, for subnormal b. */
static __device__ __forceinline__ float ag_quotient_f32(float a, float b) {
    float inverse;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(b));
    return a * inverse;
}
#define AG_QUOTIENT_f32(a, b) ag_quotient_f32(a, b)
/* Stands for x where 1 - x is divided by and results beyond 1 and -1 are nan anyway; nan becomes -2. */
#define AG_NEAR_ONE_f32(x) fminf(fmaxf(x, -2.0f), 2.0f)
#define AG_PRODUCT_f32(a, b) __fmul_rn(a, b)
#define AG_PRODUCT_f64(a, b) __dmul_rn(a, b)
#else
#define AG_QUOTIENT_f32(a, b) ((a) / (b))
#define AG_NEAR_ONE_f32(x) (x)
#define AG_PRODUCT_f32(a, b) AG_ROUNDED((a) * (b))
#define AG_PRODUCT_f64(a, b) AG_ROUNDED((a) * (b))
#endif
#define AG_QUOTIENT_f64(a, b) ((a) / (b))
#define AG_NEAR_ONE_f64(x) (x)
#define AG_NEAR_ONE(T, x) AG_CAT(AG_NEAR_ONE_, T)(x)
#define AG_QUOTIENT(T, a, b) AG_CAT(AG_QUOTIENT_, T)(a, b)
#define AG_PRODUCT(T, a, b) AG_CAT(AG_PRODUCT_, T)(a, b)

#define AG_FOR_SIGNED(M) M(i8, uint32_t) M(i16, uint32_t) M(i32, uint32_t) M(i64, uint64_t)
#define AG_FOR_INTS(M) M(u8, uint32_t) AG_FOR_SIGNED(M)
#define AG_FOR_UNSIGNED(M) M(u16, uint32_t) M(u32, uint32_t) M(u64, uint64_t)
#define AG_FOR_FLOATS(M) M(f32, f) M(f64, )
#define AG_FOR_COMPLEX(M) M(c64, f32) M(c128, f64)
#define AG_CAT2(a, b) a##b
#define AG_CAT(a, b) AG_CAT2(a, b)

#endif
