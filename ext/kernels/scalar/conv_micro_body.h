/* Read by conv_micro.h with AG_T (element type), AG_S (its suffix) and AG_ALL_ROWS (below) defined. */

typedef AG_T AG_NAME(ag_vec_)
    __attribute__((vector_size(AG_VECTOR_BYTES), aligned(sizeof(AG_T)), may_alias));

#define VEC AG_NAME(ag_vec_)
#define LANES ((int)(AG_VECTOR_BYTES / sizeof(AG_T)))
#define FMA AG_FMA(AG_S, AG_VECTOR_BYTES)
#define ALL(x) AG_ALL(VEC, x)

/* c[i][v] = first[i] + sum_p w[p * w_step + i] * b[v][off[p]] for whole vectors v; without `first` the
 * sums go on from what c holds. */
AG_FN void AG_NAME(ag_gathered_)(const int rows, const int vecs, ptrdiff_t k, const AG_T *w,
                                 ptrdiff_t w_step, const AG_T *const *b, const ptrdiff_t *off,
                                 const AG_T *first, AG_T *c, ptrdiff_t row_step,
                                 ptrdiff_t vec_step) {
    VEC sum[AG_ROWS][4];
    const AG_T *b0 = b[0], *b1 = b[vecs > 1 ? 1 : 0], *b2 = b[vecs > 2 ? 2 : 0];
    const AG_T *b3 = b[vecs > 2 ? 3 : 0];
    AG_UNROLL
    for (int i = 0; i < rows; i++)
        AG_UNROLL
        for (int v = 0; v < vecs; v++) {
            if (first)
                sum[i][v] = (VEC){0} + first[i];
            else
                sum[i][v] = *(const VEC *)(c + i * row_step + v * vec_step);
        }
    for (ptrdiff_t p = 0; p < k; p++) {
        const ptrdiff_t at = off[p];
        const VEC x0 = *(const VEC *)(b0 + at);
        VEC x1 = {0}, x2 = {0}, x3 = {0};
        if (vecs > 1) x1 = *(const VEC *)(b1 + at);
        if (vecs > 2) {
            x2 = *(const VEC *)(b2 + at);
            x3 = *(const VEC *)(b3 + at);
        }
        AG_UNROLL
        for (int i = 0; i < rows; i++) {
            const VEC y = ALL(w[i]);
            sum[i][0] = FMA(y, x0, sum[i][0]);
            if (vecs > 1) sum[i][1] = FMA(y, x1, sum[i][1]);
            if (vecs > 2) {
                sum[i][2] = FMA(y, x2, sum[i][2]);
                sum[i][3] = FMA(y, x3, sum[i][3]);
            }
        }
        w += w_step;
    }
    AG_UNROLL
    for (int i = 0; i < rows; i++)
        AG_UNROLL
        for (int v = 0; v < vecs; v++) *(VEC *)(c + i * row_step + v * vec_step) = sum[i][v];
}

/* Rows of one channel, n elements of each: y[j] = first + sum_p w[p] * x[off[p] + j]. The last vector
 * of a row may overlap the one before it. */
#if AG_ALL_ROWS
AG_FN void AG_NAME(ag_slim_block_)(const int vecs, ptrdiff_t k, const AG_T *w, const ptrdiff_t *off,
                                   AG_T first, const AG_T *x, AG_T *y) {
    const AG_T *b[4];
    AG_UNROLL
    for (int v = 0; v < 4; v++) b[v] = x + (v < vecs ? v : 0) * LANES;
    AG_NAME(ag_gathered_)(1, vecs, k, w, 1, b, off, &first, y, 0, LANES);
}
static void AG_NAME(ag_slim_)(ptrdiff_t rows, ptrdiff_t n, ptrdiff_t k, const AG_T *w,
                              const ptrdiff_t *off, const AG_T *first, const AG_T *x,
                              ptrdiff_t x_step, AG_T *y, ptrdiff_t y_step) {
    for (ptrdiff_t r = 0; r < rows; r++, x += x_step, y += y_step) {
        ptrdiff_t j = 0;
        for (; j + 4 * LANES <= n; j += 4 * LANES)
            AG_NAME(ag_slim_block_)(4, k, w, off, *first, x + j, y + j);
        if (j + 2 * LANES <= n) {
            AG_NAME(ag_slim_block_)(2, k, w, off, *first, x + j, y + j);
            j += 2 * LANES;
        }
        if (j + LANES <= n) {
            AG_NAME(ag_slim_block_)(1, k, w, off, *first, x + j, y + j);
            j += LANES;
        }
        if (j < n)
            AG_NAME(ag_slim_block_)(1, k, w, off, *first, x + n - LANES, y + n - LANES);
    }
}
#endif

#if AG_ALL_ROWS
#define AG_GATHERED(R, V)                                                              \
    AG_NAME(ag_gathered_)(R, V, k, w, R, b, off, first, c, row_step, vec_step)
/* A wide block of a few rows keeps the arithmetic units as busy as a narrow one of many. */
#define AG_FEW(R)                        \
    case R:                              \
        if (vecs == 4) AG_GATHERED(R, 4); \
        else if (vecs == 2) AG_GATHERED(R, 2); \
        else AG_GATHERED(R, 1);          \
        break;
#define AG_MANY(R)                       \
    case R:                              \
        if (vecs == 2) AG_GATHERED(R, 2); \
        else AG_GATHERED(R, 1);          \
        break;
static void AG_NAME(ag_gather_)(int rows, int vecs, ptrdiff_t k, const AG_T *w,
                                const AG_T *const *b, const ptrdiff_t *off, const AG_T *first,
                                AG_T *c, ptrdiff_t row_step, ptrdiff_t vec_step) {
    switch (rows) {
        AG_FEW(1)
        AG_FEW(2)
#if AG_ROWS >= 6
        AG_FEW(3)
#else
        AG_MANY(3)
#endif
#if AG_ROWS >= 8
        AG_FEW(4)
#else
        AG_MANY(4)
#endif
#if AG_ROWS >= 12
        AG_FEW(5)
        AG_FEW(6)
#elif AG_ROWS >= 6
        AG_MANY(5)
        AG_MANY(6)
#endif
#if AG_ROWS >= 8
        AG_MANY(7)
        AG_MANY(8)
#endif
#if AG_ROWS >= 12
        AG_MANY(9)
        AG_MANY(10)
        AG_MANY(11)
        AG_MANY(12)
#endif
    }
}
#undef AG_GATHERED
#undef AG_FEW
#undef AG_MANY
#else
/* Integers are bound by their multiplications: small pieces are as fast. */
static void AG_NAME(ag_gather_)(int rows, int vecs, ptrdiff_t k, const AG_T *w,
                                const AG_T *const *b, const ptrdiff_t *off, const AG_T *first,
                                AG_T *c, ptrdiff_t row_step, ptrdiff_t vec_step) {
    for (int i = 0; i < rows;) {
        const int some = rows - i < 4 ? 1 : 4, pair = some == 4 && vecs > 1 ? 2 : 1;
        for (int v = 0; v < vecs; v += pair) {
            const AG_T *const *bv = b + v, *from = first ? first + i : 0;
            AG_T *to = c + i * row_step + v * vec_step;
            if (pair == 2)
                AG_NAME(ag_gathered_)(4, 2, k, w + i, rows, bv, off, from, to, row_step, vec_step);
            else if (some == 4)
                AG_NAME(ag_gathered_)(4, 1, k, w + i, rows, bv, off, from, to, row_step, vec_step);
            else
                AG_NAME(ag_gathered_)(1, 1, k, w + i, rows, bv, off, from, to, row_step, vec_step);
        }
        i += some;
    }
}
#endif

/* c[r * taps + t][v] += sum over runs and i < length of x[at[run] + base[r] + t + i] * y[..][v], where
 * the rows of y, `vecs` vectors of each, are `y_step` apart. */
AG_FN void AG_NAME(ag_tapped_)(const int bases, const int taps, const int vecs, ptrdiff_t runs,
                               ptrdiff_t length, const AG_T *x, const ptrdiff_t *at,
                               const ptrdiff_t *base, const AG_T *y, ptrdiff_t y_step, AG_T *c,
                               ptrdiff_t row_step) {
    VEC sum[AG_ROWS + 1][2];
    AG_UNROLL
    for (int i = 0; i < bases * taps; i++)
        AG_UNROLL
        for (int v = 0; v < vecs; v++) sum[i][v] = (VEC){0};
    for (ptrdiff_t run = 0; run < runs; run++) {
        const AG_T *from[AG_ROWS];
        AG_UNROLL
        for (int r = 0; r < bases; r++) from[r] = x + at[run] + base[r];
        for (ptrdiff_t p = 0; p < length; p++) {
            const VEC y0 = *(const VEC *)y;
            VEC y1 = {0};
            if (vecs > 1) y1 = *(const VEC *)(y + LANES);
            AG_UNROLL
            for (int r = 0; r < bases; r++)
                AG_UNROLL
                for (int t = 0; t < taps; t++) {
                    const VEC s = ALL(from[r][p + t]);
                    sum[r * taps + t][0] = FMA(s, y0, sum[r * taps + t][0]);
                    if (vecs > 1) sum[r * taps + t][1] = FMA(s, y1, sum[r * taps + t][1]);
                }
            /* gcc would keep what the next place reads, too, and has no registers left for it. */
            __asm__ volatile("" ::: "memory");
            y += y_step;
        }
    }
    AG_UNROLL
    for (int i = 0; i < bases * taps; i++)
        AG_UNROLL
        for (int v = 0; v < vecs; v++) *(VEC *)(c + i * row_step + v * LANES) += sum[i][v];
}

#if AG_ALL_ROWS
#define AG_TAPPED(T)                                                                              \
    case T:                                                                                       \
        if (vecs == 2)                                                                            \
            AG_NAME(ag_tapped_)(T > AG_ROWS ? 1 : AG_ROWS / T, T, 2, runs, length, x, at, base, y, 2 * LANES, c, row_step); \
        else                                                                                      \
            AG_NAME(ag_tapped_)(T > AG_ROWS ? 1 : AG_ROWS / T, T, 1, runs, length, x, at, base, y, LANES, c, row_step); \
        break;
#else
/* One place and one vector at a time, which integers are as fast with. */
#define AG_TAPPED(T)                                                                              \
    case T:                                                                                       \
        for (int r = 0; r < (T > AG_ROWS ? 1 : AG_ROWS / T); r++)                                 \
            for (int v = 0; v < vecs; v++)                                                        \
                AG_NAME(ag_tapped_)(1, T, 1, runs, length, x, at, base + r, y + v * LANES,        \
                                    vecs * LANES, c + r * T * row_step + v * LANES, row_step);    \
        break;
#endif
static void AG_NAME(ag_tap_)(int taps, int vecs, ptrdiff_t runs, ptrdiff_t length, const AG_T *x,
                             const ptrdiff_t *at, const ptrdiff_t *base, const AG_T *y, AG_T *c,
                             ptrdiff_t row_step) {
    switch (taps) {
        AG_TAPPED(1)
        AG_TAPPED(2)
        AG_TAPPED(3)
        AG_TAPPED(4)
        AG_TAPPED(5)
#if AG_ROWS >= 6
        AG_TAPPED(6)
#endif
#if AG_ROWS >= 8
        AG_TAPPED(7)
#endif
    }
}
#undef AG_TAPPED

#if AG_T_SIZE == 4
typedef int32_t AG_NAME(ag_bits_vec_)
#else
typedef int64_t AG_NAME(ag_bits_vec_)
#endif
    __attribute__((vector_size(AG_VECTOR_BYTES), aligned(AG_T_SIZE), may_alias));

/* The first n elements of a vector, zeros for the others, whatever these are. */
AG_FN VEC AG_NAME(ag_first_)(const AG_T *x, ptrdiff_t n) {
#if AG_T_SIZE == 4
    static const int32_t mask[2 * LANES] = {
#else
    static const int64_t mask[2 * LANES] = {
#endif
        [0 ... LANES - 1] = -1};
    typedef AG_NAME(ag_bits_vec_) bits;
    return (VEC)(*(const bits *)x & *(const bits *)(mask + LANES - n));
}

/* c[j * col_step + i] += sum over runs and p < length of y[j * y_step + ...] * x[at[run] + base[i] + p],
 * whole vectors along p; the runs of y follow each other. */
AG_FN void AG_NAME(ag_dotted_)(const int rows, const int cols, ptrdiff_t runs, ptrdiff_t length,
                               const AG_T *x, const ptrdiff_t *at, const ptrdiff_t *base,
                               const AG_T *y, ptrdiff_t y_step, AG_T *c, ptrdiff_t col_step) {
    VEC sum[2][AG_ROWS];
    AG_UNROLL
    for (int i = 0; i < rows; i++) {
        sum[0][i] = (VEC){0};
        sum[1][i] = (VEC){0};
    }
    for (ptrdiff_t run = 0; run < runs; run++) {
        const AG_T *from[AG_ROWS];
        ptrdiff_t p = 0;
        AG_UNROLL
        for (int i = 0; i < rows; i++) from[i] = x + at[run] + base[i];
        for (; p + LANES <= length; p += LANES) {
            const VEC y0 = *(const VEC *)(y + p);
            VEC y1 = {0};
            if (cols > 1) y1 = *(const VEC *)(y + y_step + p);
            AG_UNROLL
            for (int i = 0; i < rows; i++) {
                const VEC s = *(const VEC *)(from[i] + p);
                sum[0][i] = FMA(s, y0, sum[0][i]);
                if (cols > 1) sum[1][i] = FMA(s, y1, sum[1][i]);
            }
        }
        if (p < length) {
            const VEC y0 = AG_NAME(ag_first_)(y + p, length - p);
            VEC y1 = {0};
            if (cols > 1) y1 = AG_NAME(ag_first_)(y + y_step + p, length - p);
            AG_UNROLL
            for (int i = 0; i < rows; i++) {
                const VEC s = AG_NAME(ag_first_)(from[i] + p, length - p);
                sum[0][i] = FMA(s, y0, sum[0][i]);
                if (cols > 1) sum[1][i] = FMA(s, y1, sum[1][i]);
            }
        }
        y += length;
    }
    for (int j = 0; j < cols; j++)
        for (int i = 0; i < rows; i++) {
            AG_T lanes[LANES];
            *(VEC *)lanes = sum[j][i];
            for (int half = LANES / 2; half > 0; half /= 2)
                for (int q = 0; q < half; q++) lanes[q] += lanes[q + half];
            c[j * col_step + i] += lanes[0];
        }
}

#if AG_ALL_ROWS
#define AG_DOTTED(R)                                                              \
    case R:                                                                       \
        if (cols == 2)                                                            \
            AG_NAME(ag_dotted_)(R, 2, runs, length, x, at, base, y, y_step, c, col_step); \
        else                                                                      \
            AG_NAME(ag_dotted_)(R, 1, runs, length, x, at, base, y, y_step, c, col_step); \
        break;
static void AG_NAME(ag_dot_)(int rows, int cols, ptrdiff_t runs, ptrdiff_t length, const AG_T *x,
                             const ptrdiff_t *at, const ptrdiff_t *base, const AG_T *y,
                             ptrdiff_t y_step, AG_T *c, ptrdiff_t col_step) {
    switch (rows) {
        AG_DOTTED(1)
        AG_DOTTED(2)
        AG_DOTTED(3)
        AG_DOTTED(4)
#if AG_ROWS >= 6
        AG_DOTTED(5)
        AG_DOTTED(6)
#endif
#if AG_ROWS >= 8
        AG_DOTTED(7)
        AG_DOTTED(8)
#endif
#if AG_ROWS >= 12
        AG_DOTTED(9)
        AG_DOTTED(10)
        AG_DOTTED(11)
        AG_DOTTED(12)
#endif
    }
}
#undef AG_DOTTED
#else
static void AG_NAME(ag_dot_)(int rows, int cols, ptrdiff_t runs, ptrdiff_t length, const AG_T *x,
                             const ptrdiff_t *at, const ptrdiff_t *base, const AG_T *y,
                             ptrdiff_t y_step, AG_T *c, ptrdiff_t col_step) {
    for (int i = 0; i < rows;) {
        const int piece = rows - i < 4 ? 1 : 4;
        for (int j = 0; j < cols; j++) {
            const AG_T *yj = y + j * y_step;
            AG_T *to = c + j * col_step + i;
            if (piece == 4)
                AG_NAME(ag_dotted_)(4, 1, runs, length, x, at, base + i, yj, y_step, to, col_step);
            else
                AG_NAME(ag_dotted_)(1, 1, runs, length, x, at, base + i, yj, y_step, to, col_step);
        }
        i += piece;
    }
}
#endif

/* Runs are short, and mostly no whole number of vectors: the last piece may overlap the one before. */
AG_FN void AG_NAME(ag_copy_)(AG_T *d, const AG_T *s, ptrdiff_t n) {
    typedef AG_T quad __attribute__((vector_size(16), aligned(sizeof(AG_T)), may_alias));
    const ptrdiff_t some = 16 / (ptrdiff_t)sizeof(AG_T);
    ptrdiff_t j = 0;
    if (n >= LANES) {
        for (; j + LANES <= n; j += LANES) *(VEC *)(d + j) = *(const VEC *)(s + j);
        if (j < n) *(VEC *)(d + n - LANES) = *(const VEC *)(s + n - LANES);
    } else if (n >= some) {
        for (; j + some <= n; j += some) *(quad *)(d + j) = *(const quad *)(s + j);
        if (j < n) *(quad *)(d + n - some) = *(const quad *)(s + n - some);
    } else {
        for (; j < n; j++) d[j] = s[j];
    }
}

/* Runs of rows of sums to where they belong: result[to[i] ...] = sums[from[i] ...]. */
static void AG_NAME(ag_spread_)(ptrdiff_t rows, int runs, const ptrdiff_t *from,
                                const ptrdiff_t *to, const ptrdiff_t *count, const AG_T *sums,
                                ptrdiff_t width, AG_T *result, ptrdiff_t row_step) {
    for (ptrdiff_t r = 0; r < rows; r++) {
        for (int i = 0; i < runs; i++) AG_NAME(ag_copy_)(result + to[i], sums + from[i], count[i]);
        sums += width;
        result += row_step;
    }
}

/* Runs of each of k images side by side: tile[p * width + to[i] ...] = base[off[p] + from[i] ...]. */
static void AG_NAME(ag_collect_)(ptrdiff_t k, const ptrdiff_t *off, int runs, const ptrdiff_t *from,
                                 const ptrdiff_t *to, const ptrdiff_t *count, const AG_T *base,
                                 AG_T *tile, ptrdiff_t width) {
    for (ptrdiff_t p = 0; p < k; p++) {
        const AG_T *source = base + off[p];
        for (int i = 0; i < runs; i++) {
            const AG_T *s = source + from[i];
            AG_T *d = tile + to[i];
            if (count[i] == 4)
                memcpy(d, s, 4 * sizeof(AG_T));
            else
                AG_NAME(ag_copy_)(d, s, count[i]);
        }
        tile += width;
    }
}

/* result[p * width + j] = source[j * ld + p] for j < cols. */
static void AG_NAME(ag_turn_)(ptrdiff_t n, ptrdiff_t cols, ptrdiff_t width, const AG_T *source,
                              ptrdiff_t ld, AG_T *result) {
    ptrdiff_t first = 0;
    /* Some places at a time, so that the lines written stay in cache. */
    for (; first < n; first += 64) {
        const ptrdiff_t end = n - first < 64 ? n : first + 64;
        ptrdiff_t j = 0;
#if AG_T_SIZE == 4
        typedef AG_T quad __attribute__((vector_size(16), aligned(4), may_alias));
        typedef int32_t ag_lanes __attribute__((vector_size(16)));
        for (; j + 4 <= cols; j += 4) {
            const AG_T *s = source + j * ld;
            ptrdiff_t p = first;
            for (; p + 4 <= end; p += 4) {
                const quad r0 = *(const quad *)(s + p), r1 = *(const quad *)(s + ld + p);
                const quad r2 = *(const quad *)(s + 2 * ld + p);
                const quad r3 = *(const quad *)(s + 3 * ld + p);
                const quad l0 = AG_SHUFFLE(r0, r1, 0, 4, 1, 5), h0 = AG_SHUFFLE(r0, r1, 2, 6, 3, 7);
                const quad l1 = AG_SHUFFLE(r2, r3, 0, 4, 1, 5), h1 = AG_SHUFFLE(r2, r3, 2, 6, 3, 7);
                AG_T *d = result + p * width + j;
                *(quad *)d = AG_SHUFFLE(l0, l1, 0, 1, 4, 5);
                *(quad *)(d + width) = AG_SHUFFLE(l0, l1, 2, 3, 6, 7);
                *(quad *)(d + 2 * width) = AG_SHUFFLE(h0, h1, 0, 1, 4, 5);
                *(quad *)(d + 3 * width) = AG_SHUFFLE(h0, h1, 2, 3, 6, 7);
            }
            for (; p < end; p++)
                for (int q = 0; q < 4; q++) result[p * width + j + q] = s[q * ld + p];
        }
#endif
        for (; j < cols; j++)
            for (ptrdiff_t p = first; p < end; p++) result[p * width + j] = source[j * ld + p];
    }
    if (cols < width)
        for (ptrdiff_t p = 0; p < n; p++)
            for (ptrdiff_t j = cols; j < width; j++) result[p * width + j] = 0;
}

/* lines[j * line + q] = sums[row[q] * width + j] for q < n and j < cols. */
static void AG_NAME(ag_lines_)(ptrdiff_t n, ptrdiff_t cols, const AG_T *sums, const ptrdiff_t *row,
                               ptrdiff_t width, AG_T *lines, ptrdiff_t line) {
    ptrdiff_t q = 0;
#if AG_T_SIZE == 4
    typedef AG_T quad __attribute__((vector_size(16), aligned(4), may_alias));
    typedef int32_t ag_lanes __attribute__((vector_size(16)));
    for (; q + 4 <= n; q += 4) {
        const AG_T *s0 = sums + row[q] * width, *s1 = sums + row[q + 1] * width;
        const AG_T *s2 = sums + row[q + 2] * width, *s3 = sums + row[q + 3] * width;
        ptrdiff_t j = 0;
        for (; j + 4 <= cols; j += 4) {
            const quad r0 = *(const quad *)(s0 + j), r1 = *(const quad *)(s1 + j);
            const quad r2 = *(const quad *)(s2 + j), r3 = *(const quad *)(s3 + j);
            const quad l0 = AG_SHUFFLE(r0, r1, 0, 4, 1, 5), h0 = AG_SHUFFLE(r0, r1, 2, 6, 3, 7);
            const quad l1 = AG_SHUFFLE(r2, r3, 0, 4, 1, 5), h1 = AG_SHUFFLE(r2, r3, 2, 6, 3, 7);
            AG_T *d = lines + j * line + q;
            *(quad *)d = AG_SHUFFLE(l0, l1, 0, 1, 4, 5);
            *(quad *)(d + line) = AG_SHUFFLE(l0, l1, 2, 3, 6, 7);
            *(quad *)(d + 2 * line) = AG_SHUFFLE(h0, h1, 0, 1, 4, 5);
            *(quad *)(d + 3 * line) = AG_SHUFFLE(h0, h1, 2, 3, 6, 7);
        }
        for (; j < cols; j++) {
            lines[j * line + q] = s0[j];
            lines[j * line + q + 1] = s1[j];
            lines[j * line + q + 2] = s2[j];
            lines[j * line + q + 3] = s3[j];
        }
    }
#endif
    for (; q < n; q++)
        for (ptrdiff_t j = 0; j < cols; j++) lines[j * line + q] = sums[row[q] * width + j];
}

/* result[p * rows + i] = w[i * row_step + off[p]]. */
static void AG_NAME(ag_weights_)(ptrdiff_t rows, ptrdiff_t k, const AG_T *w, ptrdiff_t row_step,
                                 const ptrdiff_t *off, AG_T *result) {
    ptrdiff_t p = 0;
    while (p < k) {
        ptrdiff_t n = 1;
        if (row_step == 1) {
            for (ptrdiff_t i = 0; i < rows; i++) result[p * rows + i] = w[off[p] + i];
        } else {
            /* Neighbours of one row are read together. */
            while (p + n < k && off[p + n] == off[p] + n) n++;
            AG_NAME(ag_turn_)(n, rows, rows, w + off[p], row_step, result + p * rows);
        }
        p += n;
    }
}

#undef VEC
#undef LANES
#undef FMA
#undef ALL

#undef AG_T
#undef AG_ALL_ROWS
#undef AG_T_SIZE
#undef AG_S
