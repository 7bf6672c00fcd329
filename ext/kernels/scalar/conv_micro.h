/* The innermost loops of convolutions, for float, double and the unsigned type in which integers are
 * computed: gemm_micro.h's blocks, whose rows of b lie anywhere.  convolution_loops.pyx calls them. */
#ifndef AG_CONV_MICRO_H
#define AG_CONV_MICRO_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "config.h"
#include "fused.h"

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

#if defined(__clang__)
#define AG_UNROLL _Pragma("clang loop unroll(full)")
#else
#define AG_UNROLL _Pragma("GCC unroll 16")
#endif

#if defined(__clang__) || __GNUC__ >= 12
#define AG_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define AG_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (ag_lanes){__VA_ARGS__})
#endif

#define AG_NAME(stem) AG_CAT(stem, AG_S)

#define AG_T float
#define AG_ALL_ROWS 1
#define AG_T_SIZE 4
#define AG_S f32
#include "conv_micro_body.h"

/* d[i] = s[2 * i]; nothing behind the last of them is read. Rows of images are short: compilers leave
 * their last elements to a loop over single ones, here the last piece may overlap the one before. */
AG_FN void ag_halve_f32(float *d, const float *s, ptrdiff_t n) {
    typedef float quad __attribute__((vector_size(16), aligned(4), may_alias));
    typedef int32_t ag_lanes __attribute__((vector_size(16), unused));
    if (n < 4) {
        for (ptrdiff_t i = 0; i < n; i++) d[i] = s[2 * i];
        return;
    }
    for (ptrdiff_t i = 0; i < n; i += 4) {
        const ptrdiff_t at = i + 4 <= n ? i : n - 4;
        const quad low = *(const quad *)(s + 2 * at), high = *(const quad *)(s + 2 * at + 3);
        *(quad *)(d + at) = AG_SHUFFLE(low, high, 0, 2, 5, 7);
    }
}

/* Rows of images whose elements are sums of two kinds in turn, as in the gradient of a convolution with
 * a step of two: d[2 * i + phase] = first + sum_p w[phase][p] * s[off[phase][p] + i], for n elements of a
 * row. Whole vectors are read. */
#if AG_VECTOR_BYTES == 64
#define AG_LOW 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define AG_HIGH 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#elif AG_VECTOR_BYTES == 32
#define AG_LOW 0, 8, 1, 9, 2, 10, 3, 11
#define AG_HIGH 4, 12, 5, 13, 6, 14, 7, 15
#else
#define AG_LOW 0, 4, 1, 5
#define AG_HIGH 2, 6, 3, 7
#endif
AG_FN void ag_twins_f32(ptrdiff_t rows, ptrdiff_t n, const ptrdiff_t *k, const float *const *w,
                        const ptrdiff_t *const *off, float first, const float *s, ptrdiff_t s_step,
                        float *d, ptrdiff_t d_step) {
    typedef float vec __attribute__((vector_size(AG_VECTOR_BYTES), aligned(4), may_alias));
    typedef int32_t ag_lanes __attribute__((vector_size(AG_VECTOR_BYTES), unused));
    const ptrdiff_t lanes = AG_VECTOR_BYTES / 4;
    const vec zero = {0};
    for (ptrdiff_t row = 0; row < rows; row++, s += s_step, d += d_step)
        for (ptrdiff_t i = 0; i < n; i += 2 * lanes) {
            vec sum[2], out[2];
            for (int phase = 0; phase < 2; phase++) {
                sum[phase] = zero + first;
                for (ptrdiff_t p = 0; p < k[phase]; p++)
                    sum[phase] = AG_FMA(f32, AG_VECTOR_BYTES)(
                        AG_ALL(vec, w[phase][p]), *(const vec *)(s + off[phase][p] + i / 2),
                        sum[phase]);
            }
            out[0] = AG_SHUFFLE(sum[0], sum[1], AG_LOW);
            out[1] = AG_SHUFFLE(sum[0], sum[1], AG_HIGH);
            if (n - i >= 2 * lanes) {
                *(vec *)(d + i) = out[0];
                *(vec *)(d + i + lanes) = out[1];
            } else
                memcpy(d + i, out, (size_t)(n - i) * sizeof(float));
        }
}
#undef AG_LOW
#undef AG_HIGH
#define AG_T double
#define AG_ALL_ROWS 1
#define AG_T_SIZE 8
#define AG_S f64
#include "conv_micro_body.h"
#define AG_T uint64_t
#define AG_ALL_ROWS 0
#define AG_T_SIZE 8
#define AG_S u64
#include "conv_micro_body.h"

#include "conv_lanes.h"

#endif
