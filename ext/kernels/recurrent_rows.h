/* One row of a recurrent cell, forward and backward: n elements of each gate.
 *
 * Rows that are written may be those that are read at the same place, but not elsewhere: the loops
 * say so, as no compiler can see it. */
#ifndef AG_RECURRENT_ROWS_H
#define AG_RECURRENT_ROWS_H

#include <stddef.h>

#include "scalar/scalar.h"

#if defined(__CUDACC__)
#define AG_APART /* rows of one element */
#elif defined(__clang__)
#define AG_APART _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define AG_APART _Pragma("GCC ivdep")
#else
#define AG_APART
#endif

#define AG_RECURRENT(T)                                                                          \
    /* g: the sums of input, forget, cell and output gate, which become the gates; behind them   \
     * comes the new cell. One function a loop: its constants stay in registers. */              \
    AG_FN void ag_lstm_row_##T(ptrdiff_t n, ag_##T *g, const ag_##T *before, ag_##T *cell,       \
                               ag_##T *h) {                                                      \
        ag_##T *gi = g, *gf = g + n, *gz = g + 2 * n, *go = g + 3 * n, *gc = g + 4 * n;          \
        AG_APART                                                                                 \
        for (ptrdiff_t j = 0; j < 2 * n; j++) g[j] = ag_sigmoid_##T(g[j]);                       \
        AG_APART                                                                                 \
        for (ptrdiff_t j = 0; j < n; j++) go[j] = ag_sigmoid_##T(go[j]);                         \
        AG_APART                                                                                 \
        for (ptrdiff_t j = 0; j < n; j++) {                                                      \
            const ag_##T z = ag_tanh_##T(gz[j]);                                                 \
            const ag_##T c = ag_fma_##T(gf[j], before[j], gi[j] * z);                            \
            gz[j] = z;                                                                           \
            gc[j] = c;                                                                           \
            cell[j] = c;                                                                         \
        }                                                                                        \
        AG_APART                                                                                 \
        for (ptrdiff_t j = 0; j < n; j++) h[j] = go[j] * ag_tanh_##T(gc[j]);                     \
    }                                                                                            \
    /* dh, dc: gradients of h and of the cell; the latter becomes that of the cell before.       \
     * d: gradients of the four sums; raw: h again, as it was before a projection. */            \
    AG_FN void ag_lstm_back_##T(ptrdiff_t n, const ag_##T *g, const ag_##T *before,              \
                                const ag_##T *dh, ag_##T *dc, ag_##T *d, ag_##T *raw) {          \
        const ag_##T *gi = g, *gf = g + n, *gz = g + 2 * n, *go = g + 3 * n, *gc = g + 4 * n;    \
        AG_APART                                                                                 \
        for (ptrdiff_t j = 0; j < n; j++) {                                                      \
            const ag_##T i = gi[j], f = gf[j], z = gz[j], o = go[j], t = ag_tanh_##T(gc[j]);     \
            const ag_##T e = ag_fma_##T(dh[j] * o, ag_fma_##T(-t, t, 1), dc[j]);                 \
            d[j] = e * z * (1 - i) * i;                                                          \
            d[n + j] = e * before[j] * (1 - f) * f;                                              \
            d[2 * n + j] = e * i * ag_fma_##T(-z, z, 1);                                         \
            d[3 * n + j] = dh[j] * t * (1 - o) * o;                                              \
            dc[j] = e * f;                                                                       \
            raw[j] = o * t;                                                                      \
        }                                                                                        \
    }                                                                                            \
    /* g: the input's part of reset, update and new gate, s: that of the state. g becomes the    \
     * gates, and behind them s of the last. */                                                  \
    AG_FN void ag_gru_row_##T(ptrdiff_t n, ag_##T *g, const ag_##T *s, const ag_##T *before,     \
                              ag_##T *state, ag_##T *h) {                                        \
        ag_##T *gr = g, *gz = g + n, *gn = g + 2 * n, *gs = g + 3 * n;                           \
        AG_APART                                                                                 \
        for (ptrdiff_t j = 0; j < n; j++) {                                                      \
            const ag_##T r = ag_sigmoid_##T(gr[j] + s[j]);                                       \
            const ag_##T z = ag_sigmoid_##T(gz[j] + s[n + j]), a = s[2 * n + j];                 \
            const ag_##T m = ag_tanh_##T(ag_fma_##T(r, a, gn[j]));                               \
            const ag_##T y = ag_fma_##T(z, before[j] - m, m);                                    \
            gr[j] = r;                                                                           \
            gz[j] = z;                                                                           \
            gn[j] = m;                                                                           \
            gs[j] = a;                                                                           \
            state[j] = y;                                                                        \
            h[j] = y;                                                                            \
        }                                                                                        \
    }                                                                                            \
    /* dh: gradient of h, which becomes the part of that before which goes by no product; d, s:  \
     * gradients of both parts of the three sums. */                                             \
    AG_FN void ag_gru_back_##T(ptrdiff_t n, const ag_##T *g, const ag_##T *before, ag_##T *dh,   \
                               ag_##T *d, ag_##T *s) {                                           \
        const ag_##T *gr = g, *gz = g + n, *gn = g + 2 * n, *gs = g + 3 * n;                     \
        AG_APART                                                                                 \
        for (ptrdiff_t j = 0; j < n; j++) {                                                      \
            const ag_##T r = gr[j], z = gz[j], m = gn[j], y = dh[j];                             \
            const ag_##T dm = y * (1 - z) * ag_fma_##T(-m, m, 1);                                \
            const ag_##T dr = dm * gs[j] * (1 - r) * r, dz = y * (before[j] - m) * (1 - z) * z;  \
            d[j] = dr;                                                                           \
            s[j] = dr;                                                                           \
            d[n + j] = dz;                                                                       \
            s[n + j] = dz;                                                                       \
            d[2 * n + j] = dm;                                                                   \
            s[2 * n + j] = dm * r;                                                               \
            dh[j] = y * z;                                                                       \
        }                                                                                        \
    }                                                                                            \
    AG_FN void ag_tanh_row_##T(ptrdiff_t n, ag_##T *g, ag_##T *state) {                          \
        AG_APART                                                                                 \
        for (ptrdiff_t j = 0; j < n; j++) state[j] = g[j] = ag_tanh_##T(g[j]);                   \
    }                                                                                            \
    /* A NaN stays. */                                                                           \
    AG_FN void ag_relu_row_##T(ptrdiff_t n, ag_##T *g, ag_##T *state) {                          \
        AG_APART                                                                                 \
        for (ptrdiff_t j = 0; j < n; j++) state[j] = g[j] = g[j] < 0 ? (ag_##T)0 : g[j];         \
    }                                                                                            \
    AG_FN void ag_tanh_back_row_##T(ptrdiff_t n, const ag_##T *h, const ag_##T *dh, ag_##T *d) { \
        AG_APART                                                                                 \
        for (ptrdiff_t j = 0; j < n; j++) d[j] = ag_tanh_backward_##T(dh[j], h[j]);              \
    }                                                                                            \
    AG_FN void ag_relu_back_row_##T(ptrdiff_t n, const ag_##T *h, const ag_##T *dh, ag_##T *d) { \
        AG_APART                                                                                 \
        for (ptrdiff_t j = 0; j < n; j++) d[j] = h[j] > 0 ? dh[j] : (ag_##T)0;                   \
    }                                                                                            \
    AG_FN void ag_sum_row_##T(ptrdiff_t n, ag_##T *to, const ag_##T *from) {                     \
        AG_APART                                                                                 \
        for (ptrdiff_t j = 0; j < n; j++) to[j] += from[j];                                      \
    }
AG_RECURRENT(f32)
AG_RECURRENT(f64)
#undef AG_RECURRENT

#endif
