/* Distances of a few rows from many columns: the columns are the lanes of vectors, and the sums of
 * four rows and two vectors stay in registers while the coordinates go by. */
#ifndef AG_DISTANCE_LANES_H
#define AG_DISTANCE_LANES_H

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "scalar/fused.h"
#include "scalar/scalar.h"

#if defined(__AVX512F__)
#define AG_DISTANCE_BYTES 64
#elif defined(__AVX2__)
#define AG_DISTANCE_BYTES 32
#else
#define AG_DISTANCE_BYTES 16
#endif

/* What is summed: elements that differ, sizes, squares; or the largest size is taken. */
enum { AG_DIFFERENT, AG_SIZES, AG_SQUARES, AG_LARGEST };

/* Coordinates whose sum is made before it joins that of all: less is lost by rounding. */
#define AG_DISTANCE_TOGETHER 64
#define AG_DISTANCE_ROWS 4

/* I is an integer as wide as T, MINUS its sign bit alone. */
#define AG_DISTANCES(T, I, MINUS)                                                                \
    typedef ag_##T ag_far_##T                                                                    \
        __attribute__((vector_size(AG_DISTANCE_BYTES), aligned(sizeof(ag_##T)), may_alias));     \
    typedef I ag_far_bits_##T __attribute__((vector_size(AG_DISTANCE_BYTES)));                   \
    AG_FN ag_far_##T ag_with_far_##T(const int kind, ag_far_##T sum, ag_far_##T t) {             \
        const ag_far_##T one = (ag_far_##T){0} + 1;                                              \
        const ag_far_##T size = (ag_far_##T)((ag_far_bits_##T)t & ~(ag_far_bits_##T)(            \
            (ag_far_bits_##T){0} + MINUS));                                                      \
        if (kind == AG_SQUARES) return AG_FMA(T, AG_DISTANCE_BYTES)(t, t, sum);                  \
        if (kind == AG_SIZES) return sum + size;                                                 \
        if (kind == AG_DIFFERENT)                                                                \
            return sum + (ag_far_##T)((ag_far_bits_##T)(t != 0) & (ag_far_bits_##T)one);         \
        const ag_far_bits_##T wins = (size > sum) | (t != t);                                    \
        return (ag_far_##T)((wins & (ag_far_bits_##T)size) | (~wins & (ag_far_bits_##T)sum));    \
    }                                                                                            \
    AG_FN void ag_far_block_##T(const int kind, const int rows, ptrdiff_t size, const ag_##T *x, \
                                const ag_##T *y, ptrdiff_t filled, ag_##T *out, ptrdiff_t ld,    \
                                ptrdiff_t columns) {                                             \
        const ptrdiff_t lanes = AG_DISTANCE_BYTES / sizeof(ag_##T);                              \
        ag_far_##T total[AG_DISTANCE_ROWS][2], sum[AG_DISTANCE_ROWS][2];                         \
        for (int i = 0; i < rows; i++) total[i][0] = total[i][1] = (ag_far_##T){0};              \
        for (ptrdiff_t from = 0; from < size; from += AG_DISTANCE_TOGETHER) {                    \
            const ptrdiff_t to =                                                                 \
                from + AG_DISTANCE_TOGETHER < size ? from + AG_DISTANCE_TOGETHER : size;         \
            AG_FEW for (int i = 0; i < rows; i++) {                                              \
                sum[i][0] = sum[i][1] = (ag_far_##T){0};                                         \
                if (kind == AG_LARGEST) sum[i][0] = total[i][0], sum[i][1] = total[i][1];        \
            }                                                                                    \
            for (ptrdiff_t k = from; k < to; k++) {                                              \
                const ag_far_##T *b = (const ag_far_##T *)(y + k * filled);                      \
                const ag_far_##T b0 = b[0], b1 = b[1];                                           \
                AG_FEW for (int i = 0; i < rows; i++) {                                          \
                    const ag_far_##T a = (ag_far_##T){0} + x[i * size + k];                      \
                    sum[i][0] = ag_with_far_##T(kind, sum[i][0], a - b0);                        \
                    sum[i][1] = ag_with_far_##T(kind, sum[i][1], a - b1);                        \
                }                                                                                \
            }                                                                                    \
            AG_FEW for (int i = 0; i < rows; i++) {                                              \
                if (kind == AG_LARGEST) total[i][0] = total[i][1] = (ag_far_##T){0};             \
                total[i][0] += sum[i][0];                                                        \
                total[i][1] += sum[i][1];                                                        \
            }                                                                                    \
        }                                                                                        \
        for (int i = 0; i < rows; i++)                                                           \
            memcpy(out + i * ld, total[i],                                                       \
                   (size_t)(columns < 2 * lanes ? columns : 2 * lanes) * sizeof(ag_##T));        \
    }                                                                                            \
    AG_FN void ag_far_rows_##T(const int kind, ptrdiff_t rows, ptrdiff_t size, const ag_##T *x,  \
                               const ag_##T *y, ptrdiff_t filled, ag_##T *out,                   \
                               ptrdiff_t columns) {                                              \
        const ptrdiff_t width = 2 * AG_DISTANCE_BYTES / sizeof(ag_##T);                          \
        for (ptrdiff_t at = 0; at < columns; at += width) {                                      \
            ptrdiff_t i = 0;                                                                     \
            for (; i + 4 <= rows; i += 4)                                                        \
                ag_far_block_##T(kind, 4, size, x + i * size, y + at, filled,                    \
                                 out + i * columns + at, columns, columns - at);                 \
            for (; i < rows; i++)                                                                \
                ag_far_block_##T(kind, 1, size, x + i * size, y + at, filled,                    \
                                 out + i * columns + at, columns, columns - at);                 \
        }                                                                                        \
    }                                                                                            \
    /* out[rows, columns], from x[rows, size] and y[size, filled]; filled is a multiple of two   \
     * vectors, columns not larger. */                                                           \
    static void ag_distances_##T(int kind, ptrdiff_t rows, ptrdiff_t size, const ag_##T *x,      \
                                 const ag_##T *y, ptrdiff_t filled, ag_##T *out,                 \
                                 ptrdiff_t columns) {                                            \
        if (kind == AG_SQUARES)                                                                  \
            ag_far_rows_##T(AG_SQUARES, rows, size, x, y, filled, out, columns);                 \
        else if (kind == AG_SIZES)                                                               \
            ag_far_rows_##T(AG_SIZES, rows, size, x, y, filled, out, columns);                   \
        else if (kind == AG_DIFFERENT)                                                           \
            ag_far_rows_##T(AG_DIFFERENT, rows, size, x, y, filled, out, columns);               \
        else                                                                                     \
            ag_far_rows_##T(AG_LARGEST, rows, size, x, y, filled, out, columns);                 \
    }

#if defined(__clang__)
#define AG_FEW _Pragma("clang loop unroll(full)")
#else
#define AG_FEW _Pragma("GCC unroll 4")
#endif
AG_DISTANCES(f32, int32_t, INT32_MIN)
AG_DISTANCES(f64, int64_t, INT64_MIN)
#undef AG_DISTANCES
#undef AG_FEW

#endif
