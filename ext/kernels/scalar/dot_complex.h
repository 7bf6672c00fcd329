/* Scalar products of two complex vectors: sums of the products of their parts, as they lie. */
#ifndef AG_DOT_COMPLEX_H
#define AG_DOT_COMPLEX_H

#include "config.h"
#include "gemm_micro.h"

#if defined(__clang__) || __GNUC__ >= 12
#define AG_SWAPPED(S, I, x, ...) __builtin_shufflevector(x, x, __VA_ARGS__)
#else
#define AG_SWAPPED(S, I, x, ...)                                                                 \
    __builtin_shuffle(x, (I __attribute__((vector_size(AG_VECTOR_BYTES)))){__VA_ARGS__})
#endif
#if AG_VECTOR_BYTES == 64
#define AG_SWAP_f32(x)                                                                           \
    AG_SWAPPED(f32, int32_t, x, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14)
#define AG_SWAP_f64(x) AG_SWAPPED(f64, int64_t, x, 1, 0, 3, 2, 5, 4, 7, 6)
#elif AG_VECTOR_BYTES == 32
#define AG_SWAP_f32(x) AG_SWAPPED(f32, int32_t, x, 1, 0, 3, 2, 5, 4, 7, 6)
#define AG_SWAP_f64(x) AG_SWAPPED(f64, int64_t, x, 1, 0, 3, 2)
#else
#define AG_SWAP_f32(x) AG_SWAPPED(f32, int32_t, x, 1, 0, 3, 2)
#define AG_SWAP_f64(x) AG_SWAPPED(f64, int64_t, x, 1, 0)
#endif

/* The sums of re re, im im, re im and im re over k elements of w and x, in this order. */
#define AG_DOT_COMPLEX(S)                                                                        \
    static void ag_parts_of_dot_##S(ptrdiff_t k, const ag_##S *w, const ag_##S *x,               \
                                    ag_##S *parts) {                                             \
        enum { lanes = AG_VECTOR_BYTES / sizeof(ag_##S) };                                       \
        ag_vec_##S same[4], other[4];                                                            \
        ag_##S ends[2][lanes];                                                                   \
        ptrdiff_t p = 0;                                                                         \
        AG_UNROLL                                                                                \
        for (int i = 0; i < 4; i++) same[i] = other[i] = (ag_vec_##S){0};                        \
        k *= 2;                                                                                  \
        for (; p + 4 * lanes <= k; p += 4 * lanes) {                                             \
            AG_UNROLL                                                                            \
            for (int i = 0; i < 4; i++) {                                                        \
                const ag_vec_##S u = *(const ag_vec_##S *)(w + p + i * lanes);                   \
                const ag_vec_##S v = *(const ag_vec_##S *)(x + p + i * lanes);                   \
                same[i] = AG_FMA(S, AG_VECTOR_BYTES)(u, v, same[i]);                             \
                other[i] = AG_FMA(S, AG_VECTOR_BYTES)(u, AG_SWAP_##S(v), other[i]);              \
            }                                                                                    \
        }                                                                                        \
        for (; p + lanes <= k; p += lanes) {                                                     \
            const ag_vec_##S u = *(const ag_vec_##S *)(w + p), v = *(const ag_vec_##S *)(x + p); \
            same[0] = AG_FMA(S, AG_VECTOR_BYTES)(u, v, same[0]);                                 \
            other[0] = AG_FMA(S, AG_VECTOR_BYTES)(u, AG_SWAP_##S(v), other[0]);                  \
        }                                                                                        \
        *(ag_vec_##S *)ends[0] = (same[0] + same[1]) + (same[2] + same[3]);                      \
        *(ag_vec_##S *)ends[1] = (other[0] + other[1]) + (other[2] + other[3]);                  \
        for (int i = 0; i < 4; i++) parts[i] = 0;                                                \
        for (; p < k; p += 2) {                                                                  \
            parts[0] = ag_fma_##S(w[p], x[p], parts[0]);                                         \
            parts[1] = ag_fma_##S(w[p + 1], x[p + 1], parts[1]);                                 \
            parts[2] = ag_fma_##S(w[p], x[p + 1], parts[2]);                                     \
            parts[3] = ag_fma_##S(w[p + 1], x[p], parts[3]);                                     \
        }                                                                                        \
        for (int half = lanes / 2; half > 1; half /= 2)                                          \
            for (int q = 0; q < half; q++) {                                                     \
                ends[0][q] += ends[0][q + half];                                                 \
                ends[1][q] += ends[1][q + half];                                                 \
            }                                                                                    \
        for (int i = 0; i < 4; i++) parts[i] += ends[i / 2][i % 2];                              \
    }
/* A complex number times another, whose products are rounded on every instruction set. */
#define AG_TURN(S)                                                                               \
    static inline void ag_turn_##S(ag_##S *re, ag_##S *im, ag_##S by_re, ag_##S by_im) {         \
        const ag_##S x = *re, y = *im;                                                           \
        *re = AG_ROUNDED(by_re * x) - AG_ROUNDED(by_im * y);                                     \
        *im = AG_ROUNDED(by_re * y) + AG_ROUNDED(by_im * x);                                     \
    }
AG_DOT_COMPLEX(f32)
AG_DOT_COMPLEX(f64)
#undef AG_DOT_COMPLEX
AG_TURN(f32)
AG_TURN(f64)
#undef AG_TURN

#endif
