/* Transforms of convolutions by 3 x 3 taps whose results come in tiles of 4 x 4 (Winograd's F(4x4, 3x3)):
 *
 *     y = A' [(G g G') (B' d B)] A
 *
 * with d of 6 x 6 places. The points of the interpolation are 0, +-1/sqrt(2), +-sqrt(2) and infinity:
 * pairs whose products are 1 keep all factors near 1, and the rounding is that of plain sums, give or
 * take a factor of 2 (with 0, +-1, +-2 it would be 5). S. Winograd, Arithmetic Complexity of Computations, 1980;
 * A. Lavin, S. Gray, arXiv:1509.09308; on points B. Barabasz et al., arXiv:1803.10986.
 *
 * Vectors go over channels, whatever the size of an image. A number of the 36 places lies `step`
 * elements after that of the place before. Read after winograd_2x2.h. */
#ifndef AG_WINOGRAD_4X4_H
#define AG_WINOGRAD_4X4_H

#define AG_SIXTH 0.16666666666666666f
#define AG_ROOT2 1.4142135623730951f
#define AG_HALF_ROOT2 0.70710678118654752f
/* factor * x + y */
#define AG_TIMES(factor, x, y) AG_FMA(f32, AG_WIDEST_BYTES)(AG_ALL(AG_WIDEST, factor), x, y)

/* B' x: six numbers of an image to six places. */
#define AG_INPUT_4X4(X, Y)                                                   \
    {                                                                        \
        const AG_WIDEST e1 = AG_TIMES(-2.0f, X(2), X(4));                    \
        const AG_WIDEST e2 = AG_TIMES(-0.5f, X(2), X(4));                    \
        const AG_WIDEST o1 = AG_TIMES(-2.0f, X(1), X(3));                    \
        const AG_WIDEST o2 = AG_TIMES(-0.5f, X(1), X(3));                    \
        Y(0, X(0) + AG_TIMES(-2.5f, X(2), X(4)));                            \
        Y(1, AG_TIMES(AG_HALF_ROOT2, o1, e1));                               \
        Y(2, AG_TIMES(-AG_HALF_ROOT2, o1, e1));                              \
        Y(3, AG_TIMES(AG_ROOT2, o2, e2));                                    \
        Y(4, AG_TIMES(-AG_ROOT2, o2, e2));                                   \
        Y(5, X(1) + AG_TIMES(-2.5f, X(3), X(5)));                            \
    }

/* A' m: six places to four results. */
#define AG_OUTPUT_4X4(X, Y)                                                  \
    {                                                                        \
        const AG_WIDEST s1 = X(1) + X(2), d1 = AG_HALF_ROOT2 * (X(1) - X(2));\
        const AG_WIDEST s2 = X(3) + X(4), d2 = AG_ROOT2 * (X(3) - X(4));     \
        Y(0, X(0) + s1 + s2);                                                \
        Y(1, d1 + d2);                                                       \
        Y(2, AG_TIMES(2.0f, s2, 0.5f * s1));                                 \
        Y(3, AG_TIMES(2.0f, d2, 0.5f * d1) + X(5));                          \
    }

/* A y: four gradients of results to six places. */
#define AG_OUTPUT_GRADIENT_4X4(X, Y)                                         \
    {                                                                        \
        const AG_WIDEST e1 = AG_TIMES(0.5f, X(2), X(0));                     \
        const AG_WIDEST e2 = AG_TIMES(2.0f, X(2), X(0));                     \
        const AG_WIDEST o1 = AG_HALF_ROOT2 * AG_TIMES(0.5f, X(3), X(1));     \
        const AG_WIDEST o2 = AG_ROOT2 * AG_TIMES(2.0f, X(3), X(1));          \
        Y(0, X(0));                                                          \
        Y(1, e1 + o1);                                                       \
        Y(2, e1 - o1);                                                       \
        Y(3, e2 + o2);                                                       \
        Y(4, e2 - o2);                                                       \
        Y(5, X(3));                                                          \
    }

/* G g: three taps to six places. */
#define AG_FILTER_4X4(X, Y)                                                  \
    {                                                                        \
        const AG_WIDEST e1 = (-2.0f * AG_SIXTH) * AG_TIMES(2.0f, X(0), X(2));\
        const AG_WIDEST e2 = AG_SIXTH * AG_TIMES(2.0f, X(2), X(0));          \
        const AG_WIDEST o1 = (-4.0f * AG_SIXTH * AG_HALF_ROOT2) * X(1);      \
        const AG_WIDEST o2 = (AG_SIXTH * AG_ROOT2) * X(1);                   \
        Y(0, X(0));                                                          \
        Y(1, e1 + o1);                                                       \
        Y(2, e1 - o1);                                                       \
        Y(3, e2 + o2);                                                       \
        Y(4, e2 - o2);                                                       \
        Y(5, X(2));                                                          \
    }

/* G' s: six places to three taps. */
#define AG_FILTER_GRADIENT_4X4(X, Y)                                         \
    {                                                                        \
        const AG_WIDEST s1 = (-2.0f * AG_SIXTH) * (X(1) + X(2));             \
        const AG_WIDEST s2 = AG_SIXTH * (X(3) + X(4));                       \
        const AG_WIDEST d1 = (-4.0f * AG_SIXTH * AG_HALF_ROOT2) * (X(1) - X(2)); \
        const AG_WIDEST d2 = (AG_SIXTH * AG_ROOT2) * (X(3) - X(4));          \
        Y(0, X(0) + AG_TIMES(2.0f, s1, s2));                                 \
        Y(1, d1 + d2);                                                       \
        Y(2, AG_TIMES(2.0f, s2, s1) + X(5));                                 \
    }

/* `rows` rows of n numbers of up to AG_LANES channels: to[(r * ld + left + p) * AG_LANES + channel],
 * with zeros to the left and the right and for channels that aren't there. */
static void ag_padded_channels(const float *x, ptrdiff_t channel, ptrdiff_t x_row, ptrdiff_t x_step,
                               ptrdiff_t now, ptrdiff_t rows, ptrdiff_t n, ptrdiff_t left,
                               ptrdiff_t ld, float *to) {
    const AG_WIDEST zero = {0};
    for (ptrdiff_t r = 0; r < rows; r++) {
        const float *s = x + r * x_row;
        float *t = to + r * ld * AG_LANES;
        for (ptrdiff_t p = 0; p < left; p++) *(AG_WIDEST *)(t + p * AG_LANES) = zero;
        for (ptrdiff_t p = left + n; p < ld; p++) *(AG_WIDEST *)(t + p * AG_LANES) = zero;
        t += left * AG_LANES;
        if (x_step == 1) {
            ag_transposed(n, now, AG_LANES, s, channel, t);
        } else if (channel == 1 && now == AG_LANES) {
            for (ptrdiff_t p = 0; p < n; p++)
                *(AG_WIDEST *)(t + p * AG_LANES) = *(const AG_WIDEST *)(s + p * x_step);
        } else {
            for (ptrdiff_t p = 0; p < n; p++)
                for (ptrdiff_t j = 0; j < AG_LANES; j++)
                    t[p * AG_LANES + j] = j < now ? s[p * x_step + j * channel] : 0;
        }
    }
}

/* B' d B of n tiles side by side, in rows of `ld` vectors; a tile's numbers lie `each` after those of
 * the one before. `scratch` takes 6 rows. */
static void ag_input_4x4(const float *x, ptrdiff_t ld, ptrdiff_t n, float *v, ptrdiff_t each,
                         ptrdiff_t step, float *scratch) {
    const ptrdiff_t wide = 4 * n + 2;
    for (ptrdiff_t p = 0; p < wide; p++) {
        const float *s = x + p * AG_LANES;
        float *d = scratch + p * AG_LANES;
#define X(i) (*(const AG_WIDEST *)(s + (i) * ld * AG_LANES))
#define Y(i, value) *(AG_WIDEST *)(d + (i) * wide * AG_LANES) = (value)
        AG_INPUT_4X4(X, Y)
#undef X
#undef Y
    }
    for (ptrdiff_t t = 0; t < n; t++)
        for (int a = 0; a < 6; a++) {
            const float *s = scratch + (a * wide + 4 * t) * AG_LANES;
            float *d = v + t * each + 6 * a * step;
#define X(i) (*(const AG_WIDEST *)(s + (i) * AG_LANES))
#define Y(i, value) *(AG_WIDEST *)(d + (i) * step) = (value)
            AG_INPUT_4X4(X, Y)
#undef X
#undef Y
        }
}

/* A y A' of n tiles side by side. `scratch` takes 6 rows. */
static void ag_output_gradient_4x4(const float *y, ptrdiff_t ld, ptrdiff_t n, float *z,
                                   ptrdiff_t each, ptrdiff_t step, float *scratch) {
    const ptrdiff_t wide = 4 * n;
    for (ptrdiff_t p = 0; p < wide; p++) {
        const float *s = y + p * AG_LANES;
        float *d = scratch + p * AG_LANES;
#define X(i) (*(const AG_WIDEST *)(s + (i) * ld * AG_LANES))
#define Y(i, value) *(AG_WIDEST *)(d + (i) * wide * AG_LANES) = (value)
        AG_OUTPUT_GRADIENT_4X4(X, Y)
#undef X
#undef Y
    }
    for (ptrdiff_t t = 0; t < n; t++)
        for (int a = 0; a < 6; a++) {
            const float *s = scratch + (a * wide + 4 * t) * AG_LANES;
            float *d = z + t * each + 6 * a * step;
#define X(i) (*(const AG_WIDEST *)(s + (i) * AG_LANES))
#define Y(i, value) *(AG_WIDEST *)(d + (i) * step) = (value)
            AG_OUTPUT_GRADIENT_4X4(X, Y)
#undef X
#undef Y
        }
}

AG_FN void ag_filter_4x4_lanes(const float *from, int turned, float *to, ptrdiff_t step) {
    AG_WIDEST s[6][3];
    for (int b = 0; b < 3; b++) {
#define X(i) (*(const AG_WIDEST *)(from + (turned ? 8 - 3 * (i) - b : 3 * (i) + b) * AG_LANES))
#define Y(i, value) s[i][b] = (value)
        AG_FILTER_4X4(X, Y)
#undef X
#undef Y
    }
    for (int a = 0; a < 6; a++) {
        float *d = to + 6 * a * step;
#define X(i) s[a][i]
#define Y(i, value) *(AG_WIDEST *)(d + (i) * step) = (value)
        AG_FILTER_4X4(X, Y)
#undef X
#undef Y
    }
}

/* G g G' of kernels whose 9 taps begin at w + k * w_step + column * ld: n columns side by side at
 * u + k * width. With `turned` the taps are taken in reverse. */
static void ag_filter_4x4(const float *w, ptrdiff_t ld, ptrdiff_t w_step, ptrdiff_t n, ptrdiff_t k,
                          int turned, float *u, ptrdiff_t width, ptrdiff_t step) {
    /* Some vectors at a time: what was stored in pieces is read as a whole only later. What lies
     * together in memory is taken together. */
    float t[AG_TOGETHER][9 * AG_LANES] = {{0}};
    const ptrdiff_t vectors = (n + AG_LANES - 1) / AG_LANES, all = vectors * k;
    const ptrdiff_t inner = ld < w_step ? vectors : k;
    for (ptrdiff_t first = 0; first < all; first += AG_TOGETHER) {
        const ptrdiff_t end = all - first < AG_TOGETHER ? all : first + AG_TOGETHER;
        for (ptrdiff_t q = first; q < end; q++) {
            const ptrdiff_t p = ld < w_step ? q / inner : q % inner;
            const ptrdiff_t i = (ld < w_step ? q % inner : q / inner) * AG_LANES;
            const float *from = w + p * w_step + i * ld;
            if (ld < w_step)
                for (int line = 0; line < 9 * AG_LANES; line += 16)
                    __builtin_prefetch(from + AG_TOGETHER / 2 * w_step + line, 0, 3);
            ag_nine(from, ld, n - i < AG_LANES ? n - i : AG_LANES, t[q - first]);
        }
        for (ptrdiff_t q = first; q < end; q++) {
            const ptrdiff_t p = ld < w_step ? q / inner : q % inner;
            const ptrdiff_t i = (ld < w_step ? q % inner : q / inner) * AG_LANES;
            float *to = u + p * width + i;
            if (turned)
                ag_filter_4x4_lanes(t[q - first], 1, to, step);
            else
                ag_filter_4x4_lanes(t[q - first], 0, to, step);
        }
    }
}

/* One row of tiles, from vectors over channels. A few channels at a time: those of images whose sizes
 * are powers of 2 share their places in a cache. */
AG_FN void ag_output_4x4_spread(const float *lines, ptrdiff_t n, ptrdiff_t now, ptrdiff_t high,
                                ptrdiff_t wide, float *y, ptrdiff_t channel, ptrdiff_t y_row,
                                ptrdiff_t y_step) {
    typedef float quad __attribute__((vector_size(16), aligned(4), may_alias));
    const ptrdiff_t whole = y_step == 1 ? (wide / 4 < n ? wide / 4 : n) : 0;
    for (ptrdiff_t a = 0; a < high; a++) {
        const float *from = lines + 4 * a * AG_LANES;
        float *to = y + a * y_row;
        ptrdiff_t j = 0;
        if (channel == 1 && now == AG_LANES) {
            for (ptrdiff_t p = 0; p < wide && p < 4 * n; p++)
                *(AG_WIDEST *)(to + p * y_step) =
                    *(const AG_WIDEST *)(from + (p / 4 * 16 + p % 4) * AG_LANES);
            continue;
        }
        for (; j < now; j += 4) {
            ptrdiff_t p = 0;
            if (now - j >= 4) {
                float *d = to + j * channel;
                for (ptrdiff_t t = 0; t < whole; t++, d += 4) {
                    const float *f = from + 16 * t * AG_LANES + j;
                    const quad r0 = *(const quad *)f, r1 = *(const quad *)(f + AG_LANES);
                    const quad r2 = *(const quad *)(f + 2 * AG_LANES);
                    const quad r3 = *(const quad *)(f + 3 * AG_LANES);
                    const quad l0 = AG_TILE_LOW_4(r0, r1), h0 = AG_TILE_HIGH_4(r0, r1);
                    const quad l1 = AG_TILE_LOW_4(r2, r3), h1 = AG_TILE_HIGH_4(r2, r3);
                    *(quad *)d = AG_TILE_MIX_4(l0, l1, 0, 1, 4, 5);
                    *(quad *)(d + channel) = AG_TILE_MIX_4(l0, l1, 2, 3, 6, 7);
                    *(quad *)(d + 2 * channel) = AG_TILE_MIX_4(h0, h1, 0, 1, 4, 5);
                    *(quad *)(d + 3 * channel) = AG_TILE_MIX_4(h0, h1, 2, 3, 6, 7);
                }
                p = 4 * whole;
            }
            for (; p < wide && p < 4 * n; p++)
                for (ptrdiff_t q = j; q < now && q < j + 4; q++)
                    to[q * channel + p * y_step] = from[(p / 4 * 16 + p % 4) * AG_LANES + q];
        }
    }
}

/* A' m A + bias of n tiles side by side, whose numbers lie `each` apart, for up to AG_LANES channels.
 * `high` rows and `wide` columns of results are there. Returns a sum that is NaN if a result isn't
 * finite. */
static float ag_output_4x4(const float *m, ptrdiff_t each, ptrdiff_t step, ptrdiff_t n,
                           const float *bias, ptrdiff_t now, ptrdiff_t high, ptrdiff_t wide,
                           float *y, ptrdiff_t channel, ptrdiff_t y_row, ptrdiff_t y_step) {
    AG_WIDEST all = {0};
    const AG_WIDEST first = *(const AG_WIDEST *)bias;
    /* Some tiles at a time, as above. */
    float lines[AG_TOGETHER][16 * AG_LANES];
    float probe = 0;
    for (ptrdiff_t begin = 0; begin < n; begin += AG_TOGETHER) {
        const ptrdiff_t some = n - begin < AG_TOGETHER ? n - begin : AG_TOGETHER;
        for (ptrdiff_t t = 0; t < some; t++) {
            AG_WIDEST s[4][6];
            for (int b = 0; b < 6; b++) {
                const float *from = m + (begin + t) * each + b * step;
#define X(i) (*(const AG_WIDEST *)(from + 6 * (i) * step))
#define Y(i, value) s[i][b] = (value)
                AG_OUTPUT_4X4(X, Y)
#undef X
#undef Y
            }
            for (int a = 0; a < 4; a++) {
#define X(i) s[a][i]
#define Y(i, value)                                                  \
    {                                                                \
        const AG_WIDEST sum = (value) + first;                       \
        all = AG_TIMES(0.0f, sum, all);                              \
        *(AG_WIDEST *)(lines[t] + (4 * a + i) * AG_LANES) = sum;     \
    }
                AG_OUTPUT_4X4(X, Y)
#undef X
#undef Y
            }
        }
        ag_output_4x4_spread(lines[0], some, now, high, wide - 4 * begin, y + 4 * begin * y_step,
                             channel, y_row, y_step);
    }
    for (int i = 0; i < AG_LANES; i++) probe += all[i];
    return probe;
}

/* G' u G for n columns (`width` are there) of each of some rows: 9 taps a column, those of a row's
 * columns one after the other. Returns a sum that is NaN if a result isn't finite. */
static float ag_filter_gradient_4x4(const float *u, ptrdiff_t width, ptrdiff_t step, ptrdiff_t rows,
                                    ptrdiff_t n, float *w, ptrdiff_t ld) {
    AG_WIDEST all = {0};
    float lines[AG_TOGETHER][9 * AG_LANES];
    float probe = 0;
    const ptrdiff_t vectors = (n + AG_LANES - 1) / AG_LANES, total = vectors * rows;
    for (ptrdiff_t first = 0; first < total; first += AG_TOGETHER) {
        const ptrdiff_t end = total - first < AG_TOGETHER ? total : first + AG_TOGETHER;
        for (ptrdiff_t q = first; q < end; q++) {
            const float *from = u + q / vectors * width + q % vectors * AG_LANES;
            const float *to = w + q / vectors * ld + q % vectors * AG_LANES * 9;
            AG_WIDEST s[3][6];
            for (int line = 0; line < 9 * AG_LANES; line += 16) __builtin_prefetch(to + line, 1, 3);
            for (int b = 0; b < 6; b++) {
#define X(i) (*(const AG_WIDEST *)(from + (6 * (i) + b) * step))
#define Y(i, value) s[i][b] = (value)
                AG_FILTER_GRADIENT_4X4(X, Y)
#undef X
#undef Y
            }
            for (int a = 0; a < 3; a++) {
#define X(i) s[a][i]
#define Y(i, value)                                                          \
    {                                                                        \
        const AG_WIDEST sum = (value);                                       \
        all = AG_TIMES(0.0f, sum, all);                                      \
        *(AG_WIDEST *)(lines[q - first] + (3 * a + i) * AG_LANES) = sum;     \
    }
                AG_FILTER_GRADIENT_4X4(X, Y)
#undef X
#undef Y
            }
        }
        for (ptrdiff_t q = first; q < end; q++) {
            const ptrdiff_t i = q % vectors * AG_LANES;
            ag_nine_back(lines[q - first], 9, n - i < AG_LANES ? n - i : AG_LANES,
                         w + q / vectors * ld + 9 * i);
        }
    }
    for (int i = 0; i < AG_LANES; i++) probe += all[i];
    return probe;
}

#endif
