/* The innermost loops of matrix products, for float, double and the two unsigned types in which
 * all integers are multiplied. A few rows of a times a few columns of b are summed in registers.
 * The vectors are the compiler's own, so that one text serves every instruction set.
 * The loops in gemm_micro_body.h are read once for each type; gemm_loops.pyx calls them. */
#ifndef AG_GEMM_MICRO_H
#define AG_GEMM_MICRO_H

#include <stddef.h>

#include "config.h"

/* A block of AG_ROWS x 2 vectors leaves registers for a row of b and one element of a.  With AVX-512,
 * 12 rows is where gcc keeps the sums in place (with 8 it moves them around). */
#if defined(__AVX512F__)
#define AG_VECTOR_BYTES 64
#define AG_ROWS 12
#elif defined(__AVX2__)
#define AG_VECTOR_BYTES 32
#define AG_ROWS 6
#elif defined(__aarch64__)
#define AG_VECTOR_BYTES 16
#define AG_ROWS 8
#else
#define AG_VECTOR_BYTES 16
#define AG_ROWS 4
#endif

/* Columns of a block: two vectors. */
#define AG_WIDTH(T) (2 * AG_VECTOR_BYTES / (int)sizeof(T))

/* Without full unrolling the sums would live in memory. */
#if defined(__clang__)
#define AG_UNROLL _Pragma("clang loop unroll(full)")
#else
#define AG_UNROLL _Pragma("GCC unroll 16")
#endif

#define AG_NAME(stem) AG_CAT(stem, AG_S)

AG_FN void ag_prefetch(const void *address) { __builtin_prefetch(address, 0, 3); }
AG_FN void ag_prefetch_written(const void *address) { __builtin_prefetch(address, 1, 3); }

#if defined(__clang__) || __GNUC__ >= 12
#define AG_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define AG_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (ag_lanes){__VA_ARGS__})
#endif

#define AG_T float
#define AG_ALL_ROWS 1
#define AG_T_SIZE 4
#define AG_S f32
#include "gemm_micro_body.h"
#undef AG_T
#undef AG_ALL_ROWS
#undef AG_T_SIZE
#undef AG_S
#define AG_T double
#define AG_ALL_ROWS 1
#define AG_T_SIZE 8
#define AG_S f64
#include "gemm_micro_body.h"
#undef AG_T
#undef AG_ALL_ROWS
#undef AG_T_SIZE
#undef AG_S
#define AG_T uint32_t
#define AG_ALL_ROWS 0
#define AG_T_SIZE 4
#define AG_S u32
#include "gemm_micro_body.h"
#undef AG_T
#undef AG_ALL_ROWS
#undef AG_T_SIZE
#undef AG_S
#define AG_T uint64_t
#define AG_ALL_ROWS 0
#define AG_T_SIZE 8
#define AG_S u64
#include "gemm_micro_body.h"
#undef AG_T
#undef AG_ALL_ROWS
#undef AG_T_SIZE
#undef AG_S

#endif
