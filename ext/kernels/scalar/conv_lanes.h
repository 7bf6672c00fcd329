/* Convolutions whose channels of results are the lanes of vectors, for float: weights lie in
 * vectors, and an element of an image is multiplied by each of them. Rows of images may be of any
 * length, and with a step of one or two they are read as they lie. Included by conv_micro.h. */

/* Columns whose sums registers hold, for two vectors of channels. */
#if AG_ROWS >= 12
#define AG_HELD 14
#else
#define AG_HELD 6
#endif

typedef float ag_lanes_vec __attribute__((vector_size(AG_VECTOR_BYTES), aligned(4), may_alias));
#define LANES (AG_VECTOR_BYTES / 4)

/* For some rows i and columns j, with rows of the tile tile_row apart and vectors of channels:
 * tile[i][j] = first + sum_p w[p] * x[off[p] + i * x_row + j * step] */
AG_FN void ag_lanes_block(const int vecs, const int rows, const int cols, const int step,
                          ptrdiff_t k, const float *w, const ptrdiff_t *off, const float *first,
                          const float *x, ptrdiff_t x_row, float *tile, ptrdiff_t tile_row) {
    ag_lanes_vec sum[2][14][2];
    AG_UNROLL
    for (int i = 0; i < rows; i++)
        AG_UNROLL
        for (int j = 0; j < cols; j++)
            AG_UNROLL
            for (int v = 0; v < vecs; v++)
                sum[i][j][v] = *(const ag_lanes_vec *)(first + v * LANES);
    for (ptrdiff_t p = 0; p < k; p++) {
        const float *at = x + off[p], *below = at + x_row;
        const ag_lanes_vec w0 = *(const ag_lanes_vec *)w;
        ag_lanes_vec w1 = {0};
        if (vecs > 1) w1 = *(const ag_lanes_vec *)(w + LANES);
        AG_UNROLL
        for (int i = 0; i < rows; i++)
            AG_UNROLL
            for (int j = 0; j < cols; j++) {
                const ag_lanes_vec s = AG_ALL(ag_lanes_vec, (i ? below : at)[j * step]);
                sum[i][j][0] = AG_FMA(f32, AG_VECTOR_BYTES)(w0, s, sum[i][j][0]);
                if (vecs > 1) sum[i][j][1] = AG_FMA(f32, AG_VECTOR_BYTES)(w1, s, sum[i][j][1]);
            }
        w += vecs * LANES;
    }
    AG_UNROLL
    for (int i = 0; i < rows; i++)
        AG_UNROLL
        for (int j = 0; j < cols; j++)
            AG_UNROLL
            for (int v = 0; v < vecs; v++)
                *(ag_lanes_vec *)(tile + i * tile_row + (j * vecs + v) * LANES) = sum[i][j][v];
}

#define AG_LANES_CASE(R, C)                                                                      \
    case C:                                                                                      \
        ag_lanes_block(vecs, R, C, step, k, w, off, first, x, x_row, tile, tile_row);            \
        break;

AG_FN void ag_lanes_rows(const int vecs, const int step, int rows, int cols, ptrdiff_t k,
                         const float *w, const ptrdiff_t *off, const float *first, const float *x,
                         ptrdiff_t x_row, float *tile, ptrdiff_t tile_row) {
    if (rows == 2) switch (cols) {
            AG_LANES_CASE(2, 1)
            AG_LANES_CASE(2, 2)
            AG_LANES_CASE(2, 3)
#if AG_HELD >= 14
            AG_LANES_CASE(2, 4)
            AG_LANES_CASE(2, 5)
            AG_LANES_CASE(2, 6)
            AG_LANES_CASE(2, 7)
#endif
        }
    else switch (cols) {
            AG_LANES_CASE(1, 1)
            AG_LANES_CASE(1, 2)
            AG_LANES_CASE(1, 3)
            AG_LANES_CASE(1, 4)
            AG_LANES_CASE(1, 5)
            AG_LANES_CASE(1, 6)
#if AG_HELD >= 14
            AG_LANES_CASE(1, 7)
            AG_LANES_CASE(1, 8)
            AG_LANES_CASE(1, 9)
            AG_LANES_CASE(1, 10)
            AG_LANES_CASE(1, 11)
            AG_LANES_CASE(1, 12)
            AG_LANES_CASE(1, 13)
            AG_LANES_CASE(1, 14)
#endif
        }
}
#undef AG_LANES_CASE

static void ag_lanes_f32(int vecs, int step, ptrdiff_t rows, ptrdiff_t cols, ptrdiff_t k,
                         const float *w, const ptrdiff_t *off, const float *first, const float *x,
                         ptrdiff_t x_row, float *tile) {
    const ptrdiff_t pieces = (cols + AG_HELD - 1) / AG_HELD, tile_row = cols * vecs * LANES;
    const int pair = 2 * cols <= AG_HELD;
    for (ptrdiff_t i = 0; i < rows;) {
        const int some = pair && i + 2 <= rows ? 2 : 1;
        for (ptrdiff_t piece = 0; piece < pieces; piece++) {
            const ptrdiff_t j = piece * cols / pieces;
            const int n = (int)((piece + 1) * cols / pieces - j);
            const float *from = x + i * x_row + j * step;
            float *to = tile + i * tile_row + j * vecs * LANES;
            if (vecs == 2 && step == 1)
                ag_lanes_rows(2, 1, some, n, k, w, off, first, from, x_row, to, tile_row);
            else if (vecs == 2)
                ag_lanes_rows(2, 2, some, n, k, w, off, first, from, x_row, to, tile_row);
            else if (step == 1)
                ag_lanes_rows(1, 1, some, n, k, w, off, first, from, x_row, to, tile_row);
            else
                ag_lanes_rows(1, 2, some, n, k, w, off, first, from, x_row, to, tile_row);
        }
        i += some;
    }
}

/* AG_NEXT and AG_TWOS: four vectors to four, each of which has one lane of all of them in turn.
 * Fours of lanes stay where they are; AG_FOURS moves these. */
#if LANES == 16
#define AG_NEXT(a, b, i, j)                                                                      \
    AG_SHUFFLE(a, b, i, i + 16, j, j + 16, i + 4, i + 20, j + 4, j + 20, i + 8, i + 24, j + 8,   \
               j + 24, i + 12, i + 28, j + 12, j + 28)
#define AG_TWOS(a, b, i)                                                                         \
    AG_SHUFFLE(a, b, i, i + 1, i + 16, i + 17, i + 4, i + 5, i + 20, i + 21, i + 8, i + 9,       \
               i + 24, i + 25, i + 12, i + 13, i + 28, i + 29)
#define AG_FOURS(a, b, i, j)                                                                     \
    AG_SHUFFLE(a, b, 4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3, 4 * j, 4 * j + 1, 4 * j + 2,        \
               4 * j + 3, 4 * i + 16, 4 * i + 17, 4 * i + 18, 4 * i + 19, 4 * j + 16,            \
               4 * j + 17, 4 * j + 18, 4 * j + 19)
#elif LANES == 8
#define AG_NEXT(a, b, i, j) AG_SHUFFLE(a, b, i, i + 8, j, j + 8, i + 4, i + 12, j + 4, j + 12)
#define AG_TWOS(a, b, i) AG_SHUFFLE(a, b, i, i + 1, i + 8, i + 9, i + 4, i + 5, i + 12, i + 13)
#define AG_FOURS(a, b, i)                                                                        \
    AG_SHUFFLE(a, b, 4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3, 4 * i + 8, 4 * i + 9, 4 * i + 10,   \
               4 * i + 11)
#else
#define AG_NEXT(a, b, i, j) AG_SHUFFLE(a, b, i, i + 4, j, j + 4)
#define AG_TWOS(a, b, i) AG_SHUFFLE(a, b, i, i + 1, i + 4, i + 5)
#endif

/* y[c * y_step + p] = tile[p * width + c] for as many places as a vector has lanes. */
AG_FN void ag_unlane_block(ptrdiff_t channels, const float *tile, ptrdiff_t width, float *y,
                           ptrdiff_t y_step) {
    typedef int32_t ag_lanes __attribute__((vector_size(AG_VECTOR_BYTES), unused));
    ag_lanes_vec four[LANES / 4][4], turned[LANES];
    AG_UNROLL
    for (int q = 0; q < LANES / 4; q++) {
        const float *s = tile + 4 * q * width;
        const ag_lanes_vec r0 = *(const ag_lanes_vec *)s, r1 = *(const ag_lanes_vec *)(s + width);
        const ag_lanes_vec r2 = *(const ag_lanes_vec *)(s + 2 * width);
        const ag_lanes_vec r3 = *(const ag_lanes_vec *)(s + 3 * width);
        const ag_lanes_vec l0 = AG_NEXT(r0, r1, 0, 1), h0 = AG_NEXT(r0, r1, 2, 3);
        const ag_lanes_vec l1 = AG_NEXT(r2, r3, 0, 1), h1 = AG_NEXT(r2, r3, 2, 3);
        four[q][0] = AG_TWOS(l0, l1, 0);
        four[q][1] = AG_TWOS(l0, l1, 2);
        four[q][2] = AG_TWOS(h0, h1, 0);
        four[q][3] = AG_TWOS(h0, h1, 2);
    }
    AG_UNROLL
    for (int i = 0; i < 4; i++) {
#if LANES == 16
        const ag_lanes_vec l0 = AG_FOURS(four[0][i], four[1][i], 0, 1);
        const ag_lanes_vec h0 = AG_FOURS(four[0][i], four[1][i], 2, 3);
        const ag_lanes_vec l1 = AG_FOURS(four[2][i], four[3][i], 0, 1);
        const ag_lanes_vec h1 = AG_FOURS(four[2][i], four[3][i], 2, 3);
        turned[i] = AG_FOURS(l0, l1, 0, 2);
        turned[4 + i] = AG_FOURS(l0, l1, 1, 3);
        turned[8 + i] = AG_FOURS(h0, h1, 0, 2);
        turned[12 + i] = AG_FOURS(h0, h1, 1, 3);
#elif LANES == 8
        turned[i] = AG_FOURS(four[0][i], four[1][i], 0);
        turned[4 + i] = AG_FOURS(four[0][i], four[1][i], 1);
#else
        turned[i] = four[0][i];
#endif
    }
    AG_UNROLL
    for (int i = 0; i < LANES; i++)
        if (i < channels) *(ag_lanes_vec *)(y + i * y_step) = turned[i];
}
#undef AG_NEXT
#undef AG_TWOS
#undef AG_FOURS

/* y[c * y_step + p] = tile[p * width + c] for n places p and all channels c. A tile has memory for
 * as many places as a vector has lanes. */
static void ag_unlane_f32(ptrdiff_t n, ptrdiff_t channels, const float *tile, ptrdiff_t width,
                          float *y, ptrdiff_t y_step) {
    for (ptrdiff_t c = 0; c < channels; c += LANES) {
        if (n < LANES) {
            float some[LANES * LANES];
            ag_unlane_block(LANES, tile + c, width, some, LANES);
            for (ptrdiff_t i = 0; i < LANES && c + i < channels; i++)
                memcpy(y + (c + i) * y_step, some + i * LANES, (size_t)n * sizeof(float));
            continue;
        }
        for (ptrdiff_t p = 0; p < n; p += LANES) {
            /* The last of them may overlap those before. */
            const ptrdiff_t at = p + LANES <= n ? p : n - LANES;
            ag_unlane_block(channels - c, tile + at * width + c, width, y + c * y_step + at,
                            y_step);
        }
    }
}
#undef LANES
