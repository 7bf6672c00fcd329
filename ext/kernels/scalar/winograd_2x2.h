/* Transforms of convolutions by 3 x 3 taps whose results come in tiles of 2 x 2 (Winograd's F(2x2, 3x3)):
 *
 *     y = A' [(G g G') (B' d B)] A
 *
 * with d of 4 x 4 places, g of 3 x 3 taps, the product in between element by element. Only halves
 * are multiplied by, so that the rounding is hardly worse than that of plain sums of weights of about
 * the same size (see lacks_taps in winograd_2x2.pyx for others); S. Winograd,
 * Arithmetic Complexity of Computations, 1980; A. Lavin, S. Gray, arXiv:1509.09308. A number of the
 * 16 places lies `step` elements after that of the place before. */
#ifndef AG_WINOGRAD_2X2_H
#define AG_WINOGRAD_2X2_H

#include <stddef.h>
#include <stdint.h>

#include "config.h"
#include "fused.h"

#if defined(__AVX512F__)
#define AG_LANES 16
#define AG_WIDEST_BYTES 64
#elif defined(__AVX2__)
#define AG_LANES 8
#define AG_WIDEST_BYTES 32
#else
#define AG_LANES 4
#define AG_WIDEST_BYTES 16
#endif

/* Channels whose kernels are written together. */
#define AG_CHANNELS 16
/* Vectors of kernels that are transformed together. */
#define AG_TOGETHER 8

#define AG_NAME(stem) AG_CAT(stem, AG_L)

#define AG_L 1
#include "winograd_2x2_body.h"
#define AG_L 2
#include "winograd_2x2_body.h"
#define AG_L 4
#include "winograd_2x2_body.h"
#if AG_LANES >= 8
#define AG_L 8
#include "winograd_2x2_body.h"
#endif
#if AG_LANES >= 16
#define AG_L 16
#include "winograd_2x2_body.h"
#endif

#define AG_WIDEST AG_CAT(ag_tile_vec_, AG_LANES)

#if AG_LANES >= 16
#define AG_CUT_16(CALL) for (; n >= 16; n -= 16) CALL(16)
#else
#define AG_CUT_16(CALL)
#endif
#if AG_LANES >= 8
#define AG_CUT_8(CALL) for (; n >= 8; n -= 8) CALL(8)
#else
#define AG_CUT_8(CALL)
#endif
#define AG_CUT(CALL)                     \
    AG_CUT_16(CALL)                      \
    AG_CUT_8(CALL)                       \
    for (; n >= 4; n -= 4) CALL(4)       \
    for (; n >= 2; n -= 2) CALL(2)       \
    if (n) CALL(1)

/* Rows of n numbers, `x_step` apart, `x_row` from row to row, with zeros around them. */
static void ag_padded_rows(const float *x, ptrdiff_t x_row, ptrdiff_t x_step, ptrdiff_t rows,
                           ptrdiff_t n, float *to, ptrdiff_t row, ptrdiff_t left) {
    for (ptrdiff_t i = 0; i < rows; i++) {
        ptrdiff_t j = 0;
        for (; j < left; j++) to[j] = 0;
        to += left;
        if (x_step == 1) {
            ptrdiff_t q = 0;
            for (; q + AG_LANES <= n; q += AG_LANES)
                *(AG_WIDEST *)(to + q) = *(const AG_WIDEST *)(x + q);
            for (; q + 4 <= n; q += 4)
                *(ag_tile_vec_4 *)(to + q) = *(const ag_tile_vec_4 *)(x + q);
            for (; q < n; q++) to[q] = x[q];
        } else {
            for (ptrdiff_t q = 0; q < n; q++) to[q] = x[q * x_step];
        }
        for (j = n; j < row - left; j++) to[j] = 0;
        to += row - left;
        x += x_row;
    }
}

/* B' d B of n tiles side by side, of rows that are `row` apart. */
static void ag_input_2x2(const float *x, ptrdiff_t row, ptrdiff_t n, float *v, ptrdiff_t step) {
#define AG_CALL(L)                       \
    {                                    \
        ag_input_2x2_##L(x, row, v, step); \
        x += 2 * L;                      \
        v += L;                          \
    }
    AG_CUT(AG_CALL)
#undef AG_CALL
}

/* A' m A + bias of n tiles side by side, into rows that are `row` apart. Returns a sum that is NaN
 * if a result isn't finite. */
static float ag_output_2x2(const float *m, ptrdiff_t step, ptrdiff_t n, float bias, float *y,
                           ptrdiff_t row) {
    float probe = 0;
#define AG_CALL(L)                                       \
    {                                                    \
        probe += ag_output_2x2_##L(m, step, bias, y, row); \
        y += 2 * L;                                      \
        m += L;                                          \
    }
    AG_CUT(AG_CALL)
#undef AG_CALL
    return probe;
}

/* 9 numbers of each of n rows, side by side: t[q * AG_LANES + i] = w[i * ld + q]. */
AG_FN void ag_nine(const float *w, ptrdiff_t ld, ptrdiff_t n, float *t) {
    typedef float quad __attribute__((vector_size(16), aligned(4), may_alias));
    ptrdiff_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const float *s = w + i * ld;
        for (int q = 0; q < 8; q += 4) {
            const quad r0 = *(const quad *)(s + q), r1 = *(const quad *)(s + ld + q);
            const quad r2 = *(const quad *)(s + 2 * ld + q), r3 = *(const quad *)(s + 3 * ld + q);
            const quad l0 = AG_TILE_LOW_4(r0, r1), h0 = AG_TILE_HIGH_4(r0, r1);
            const quad l1 = AG_TILE_LOW_4(r2, r3), h1 = AG_TILE_HIGH_4(r2, r3);
            float *d = t + q * AG_LANES + i;
            *(quad *)d = AG_TILE_MIX_4(l0, l1, 0, 1, 4, 5);
            *(quad *)(d + AG_LANES) = AG_TILE_MIX_4(l0, l1, 2, 3, 6, 7);
            *(quad *)(d + 2 * AG_LANES) = AG_TILE_MIX_4(h0, h1, 0, 1, 4, 5);
            *(quad *)(d + 3 * AG_LANES) = AG_TILE_MIX_4(h0, h1, 2, 3, 6, 7);
        }
        for (int j = 0; j < 4; j++) t[8 * AG_LANES + i + j] = s[j * ld + 8];
    }
    for (; i < n; i++)
        for (int q = 0; q < 9; q++) t[q * AG_LANES + i] = w[i * ld + q];
}

/* The other way round. */
AG_FN void ag_nine_back(const float *t, ptrdiff_t ld, ptrdiff_t n, float *w) {
    typedef float quad __attribute__((vector_size(16), aligned(4), may_alias));
    ptrdiff_t i = 0;
    for (; i + 4 <= n; i += 4) {
        float *d = w + i * ld;
        for (int q = 0; q < 8; q += 4) {
            const float *s = t + q * AG_LANES + i;
            const quad r0 = *(const quad *)s, r1 = *(const quad *)(s + AG_LANES);
            const quad r2 = *(const quad *)(s + 2 * AG_LANES), r3 = *(const quad *)(s + 3 * AG_LANES);
            const quad l0 = AG_TILE_LOW_4(r0, r1), h0 = AG_TILE_HIGH_4(r0, r1);
            const quad l1 = AG_TILE_LOW_4(r2, r3), h1 = AG_TILE_HIGH_4(r2, r3);
            *(quad *)(d + q) = AG_TILE_MIX_4(l0, l1, 0, 1, 4, 5);
            *(quad *)(d + ld + q) = AG_TILE_MIX_4(l0, l1, 2, 3, 6, 7);
            *(quad *)(d + 2 * ld + q) = AG_TILE_MIX_4(h0, h1, 0, 1, 4, 5);
            *(quad *)(d + 3 * ld + q) = AG_TILE_MIX_4(h0, h1, 2, 3, 6, 7);
        }
        for (int j = 0; j < 4; j++) d[j * ld + 8] = t[8 * AG_LANES + i + j];
    }
    for (; i < n; i++)
        for (int q = 0; q < 9; q++) w[i * ld + q] = t[q * AG_LANES + i];
}

AG_FN void ag_filter_2x2_lanes(const float *t, const int *order, ptrdiff_t now, float *u, ptrdiff_t step) {
    AG_WIDEST s[4][3];
    for (int j = 0; j < 3; j++) {
        const AG_WIDEST g0 = *(const AG_WIDEST *)(t + j * AG_LANES);
        const AG_WIDEST g1 = *(const AG_WIDEST *)(t + (3 + j) * AG_LANES);
        const AG_WIDEST g2 = *(const AG_WIDEST *)(t + (6 + j) * AG_LANES);
        const AG_WIDEST outer = 0.5f * (g0 + g2), inner = 0.5f * g1;
        s[0][j] = g0;
        s[1][j] = outer + inner;
        s[2][j] = outer - inner;
        s[3][j] = g2;
    }
    for (int a = 0; a < 4; a++) {
        const AG_WIDEST outer = 0.5f * (s[a][0] + s[a][2]), inner = 0.5f * s[a][1];
        const AG_WIDEST all[4] = {s[a][0], outer + inner, outer - inner, s[a][2]};
        for (int b = 0; b < 4; b++) {
            float *to = u + (4 * order[a] + order[b]) * step;
            if (now == AG_LANES)
                *(AG_WIDEST *)to = all[b];
            else
                memcpy(to, &all[b], (size_t)now * sizeof(float));
        }
    }
}

/* G g G' of the kernels of some rows, n of each, whose 9 taps begin at w + r * row + i * ld; to
 * u + r * u_row + i. With `turned` the taps are taken in reverse, and rows are neighbours. */
static void ag_filter_2x2(const float *w, ptrdiff_t row, ptrdiff_t ld, ptrdiff_t rows, ptrdiff_t n,
                          int turned, float *u, ptrdiff_t step, ptrdiff_t u_row) {
    /* Reversed taps exchange the first and the last place along each side. */
    static const int order[2][4] = {{0, 1, 2, 3}, {3, 1, 2, 0}};
    /* Some vectors at a time: what was stored in pieces is read as a whole only later. */
    float t[AG_TOGETHER * 9 * AG_LANES] = {0};
    const ptrdiff_t vectors = (n + AG_LANES - 1) / AG_LANES;
    const ptrdiff_t outer = turned ? vectors : rows, inner = turned ? rows : vectors;
    for (ptrdiff_t o = 0; o < outer; o++)
        for (ptrdiff_t first = 0; first < inner; first += AG_TOGETHER) {
            const ptrdiff_t end = inner - first < AG_TOGETHER ? inner : first + AG_TOGETHER;
            for (ptrdiff_t q = first; q < end; q++) {
                const ptrdiff_t r = turned ? q : o, i = (turned ? o : q) * AG_LANES;
                ag_nine(w + r * row + i * ld, ld, n - i < AG_LANES ? n - i : AG_LANES,
                        t + (q - first) * 9 * AG_LANES);
            }
            for (ptrdiff_t q = first; q < end; q++) {
                const ptrdiff_t r = turned ? q : o, i = (turned ? o : q) * AG_LANES;
                ag_filter_2x2_lanes(t + (q - first) * 9 * AG_LANES, order[turned],
                                    n - i < AG_LANES ? n - i : AG_LANES, u + r * u_row + i, step);
            }
        }
}

/* G' u G for n columns of each of some channels, whose rows are n numbers long: 9 taps a channel,
 * those of a column together at w + column * ld. Returns a sum that is NaN if a result isn't
 * finite. */
static float ag_filter_gradient_2x2(const float *u, ptrdiff_t step, ptrdiff_t row,
                                    ptrdiff_t channels, ptrdiff_t n, float *w, ptrdiff_t ld) {
    AG_WIDEST all = {0};
    float probe = 0;
    /* What is written goes to memory in long pieces. */
    float lines[AG_LANES * 9 * AG_CHANNELS];
    for (ptrdiff_t i = 0; i < n; i += AG_LANES) {
        const ptrdiff_t now = n - i < AG_LANES ? n - i : AG_LANES;
        for (ptrdiff_t c = 0; c < channels; c++) {
            float t[9 * AG_LANES];
            AG_WIDEST s[3][4];
            for (int b = 0; b < 4; b++) {
                AG_WIDEST x[4] = {{0}, {0}, {0}, {0}};
                for (int a = 0; a < 4; a++) {
                    const float *from = u + (4 * a + b) * step + c * row + i;
                    if (now == AG_LANES)
                        x[a] = *(const AG_WIDEST *)from;
                    else
                        memcpy(&x[a], from, (size_t)now * sizeof(float));
                }
                const AG_WIDEST sum = 0.5f * (x[1] + x[2]);
                s[0][b] = x[0] + sum;
                s[1][b] = 0.5f * (x[1] - x[2]);
                s[2][b] = sum + x[3];
            }
            for (int a = 0; a < 3; a++) {
                const AG_WIDEST sum = 0.5f * (s[a][1] + s[a][2]);
                const AG_WIDEST g0 = s[a][0] + sum, g1 = 0.5f * (s[a][1] - s[a][2]);
                const AG_WIDEST g2 = sum + s[a][3];
                *(AG_WIDEST *)(t + 3 * a * AG_LANES) = g0;
                *(AG_WIDEST *)(t + (3 * a + 1) * AG_LANES) = g1;
                *(AG_WIDEST *)(t + (3 * a + 2) * AG_LANES) = g2;
                all += ((g0 + g2) + g1) * 0.0f;
            }
            ag_nine_back(t, 9 * AG_CHANNELS, now, lines + 9 * c);
        }
        for (ptrdiff_t j = 0; j < now; j++)
            memcpy(w + (i + j) * ld, lines + j * 9 * AG_CHANNELS, (size_t)(9 * channels) * sizeof(float));
    }
    for (int i = 0; i < AG_LANES; i++) probe += all[i];
    return probe;
}

/* A y A' of n tiles side by side, whose rows of `width` numbers (whole vectors, a channel each) lie
 * one after the other and `row` apart; those of z too. */
static void ag_output_gradient_2x2(const float *y, ptrdiff_t row, ptrdiff_t n, ptrdiff_t width,
                                   float *z, ptrdiff_t step) {
    for (ptrdiff_t t = 0; t < n; t++) {
        for (ptrdiff_t j = 0; j < width; j += AG_LANES) {
            const float *s = y + 2 * t * width + j;
            const AG_WIDEST y00 = *(const AG_WIDEST *)s, y01 = *(const AG_WIDEST *)(s + width);
            const AG_WIDEST y10 = *(const AG_WIDEST *)(s + row);
            const AG_WIDEST y11 = *(const AG_WIDEST *)(s + row + width);
            const AG_WIDEST left[4] = {y00, y00 + y10, y00 - y10, -y10};
            const AG_WIDEST right[4] = {y01, y01 + y11, y01 - y11, -y11};
            float *d = z + t * width + j;
            for (int a = 0; a < 4; a++) {
                *(AG_WIDEST *)(d + 4 * a * step) = left[a];
                *(AG_WIDEST *)(d + (4 * a + 1) * step) = left[a] + right[a];
                *(AG_WIDEST *)(d + (4 * a + 2) * step) = left[a] - right[a];
                *(AG_WIDEST *)(d + (4 * a + 3) * step) = -right[a];
            }
        }
    }
}

/* result[p * width + j] = source[j * ld + p] for j < cols, 0 for the rest. */
static void ag_transposed(ptrdiff_t n, ptrdiff_t cols, ptrdiff_t width, const float *source,
                          ptrdiff_t ld, float *result) {
    typedef float quad __attribute__((vector_size(16), aligned(4), may_alias));
    ptrdiff_t j = 0;
    for (; j + 4 <= cols; j += 4) {
        const float *s = source + j * ld;
        ptrdiff_t p = 0;
        for (; p + 4 <= n; p += 4) {
            const quad r0 = *(const quad *)(s + p), r1 = *(const quad *)(s + ld + p);
            const quad r2 = *(const quad *)(s + 2 * ld + p), r3 = *(const quad *)(s + 3 * ld + p);
            const quad l0 = AG_TILE_LOW_4(r0, r1), h0 = AG_TILE_HIGH_4(r0, r1);
            const quad l1 = AG_TILE_LOW_4(r2, r3), h1 = AG_TILE_HIGH_4(r2, r3);
            float *d = result + p * width + j;
            *(quad *)d = AG_TILE_MIX_4(l0, l1, 0, 1, 4, 5);
            *(quad *)(d + width) = AG_TILE_MIX_4(l0, l1, 2, 3, 6, 7);
            *(quad *)(d + 2 * width) = AG_TILE_MIX_4(h0, h1, 0, 1, 4, 5);
            *(quad *)(d + 3 * width) = AG_TILE_MIX_4(h0, h1, 2, 3, 6, 7);
        }
        for (; p < n; p++)
            for (int q = 0; q < 4; q++) result[p * width + j + q] = s[q * ld + p];
    }
    for (; j < width; j++)
        for (ptrdiff_t p = 0; p < n; p++) result[p * width + j] = j < cols ? source[j * ld + p] : 0;
}

#endif
