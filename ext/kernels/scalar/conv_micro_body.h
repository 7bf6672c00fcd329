/* Read by conv_micro.h with AG_T (element type) and AG_S (its suffix) defined. */

typedef AG_T AG_NAME(ag_vec_)
    __attribute__((vector_size(AG_VECTOR_BYTES), aligned(sizeof(AG_T)), may_alias));

#define VEC AG_NAME(ag_vec_)
#define LANES ((int)(AG_VECTOR_BYTES / sizeof(AG_T)))

/* c[i][v] = first[i] + sum_p w[p * rows + i] * b[v][off[p]] for whole vectors v; without `first` the
 * sums go on from what c holds. */
AG_FN void AG_NAME(ag_gathered_)(const int rows, const int vecs, ptrdiff_t k, const AG_T *w,
                                 const AG_T *const *b, const ptrdiff_t *off, const AG_T *first,
                                 AG_T *c, ptrdiff_t row_step, ptrdiff_t vec_step) {
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
            const AG_T y = w[i];
            sum[i][0] += y * x0;
            if (vecs > 1) sum[i][1] += y * x1;
            if (vecs > 2) {
                sum[i][2] += y * x2;
                sum[i][3] += y * x3;
            }
        }
        w += rows;
    }
    AG_UNROLL
    for (int i = 0; i < rows; i++)
        AG_UNROLL
        for (int v = 0; v < vecs; v++) *(VEC *)(c + i * row_step + v * vec_step) = sum[i][v];
}

#define AG_GATHERED(R, V)                                                              \
    AG_NAME(ag_gathered_)(R, V, k, w, b, off, first, c, row_step, vec_step)
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

/* c[r * taps + t][v] += sum over runs and i < length of x[at[run] + base[r] + t + i] * y[..][v], where
 * the rows of y, `vecs` vectors each, follow each other. */
AG_FN void AG_NAME(ag_tapped_)(const int bases, const int taps, const int vecs, ptrdiff_t runs,
                               ptrdiff_t length, const AG_T *x, const ptrdiff_t *at,
                               const ptrdiff_t *base, const AG_T *y, AG_T *c, ptrdiff_t row_step) {
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
                    const AG_T s = from[r][p + t];
                    sum[r * taps + t][0] += s * y0;
                    if (vecs > 1) sum[r * taps + t][1] += s * y1;
                }
            y += vecs * LANES;
        }
    }
    AG_UNROLL
    for (int i = 0; i < bases * taps; i++)
        AG_UNROLL
        for (int v = 0; v < vecs; v++) *(VEC *)(c + i * row_step + v * LANES) += sum[i][v];
}

#define AG_TAPPED(T)                                                                              \
    case T:                                                                                       \
        if (vecs == 2)                                                                            \
            AG_NAME(ag_tapped_)(T > AG_ROWS ? 1 : AG_ROWS / T, T, 2, runs, length, x, at, base, y, c, row_step); \
        else                                                                                      \
            AG_NAME(ag_tapped_)(T > AG_ROWS ? 1 : AG_ROWS / T, T, 1, runs, length, x, at, base, y, c, row_step); \
        break;
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

#undef VEC
#undef LANES
