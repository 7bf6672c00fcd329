/* Read by gemm_micro.h with AG_T (element type) and AG_S (its suffix) defined. */

typedef AG_T AG_NAME(ag_vec_)
    __attribute__((vector_size(AG_VECTOR_BYTES), aligned(sizeof(AG_T)), may_alias));

#define VEC AG_NAME(ag_vec_)
#define LANES ((int)(AG_VECTOR_BYTES / sizeof(AG_T)))
#define FMA AG_FMA(AG_S, AG_VECTOR_BYTES)
#define ALL(x) AG_ALL(VEC, x)

#if AG_ALL_ROWS && defined(AG_MASKS)
/* ag_store_ of a block with fewer columns than its vectors have. Called, not inlined: there are a
 * hundred blocks. */
AG_FN_COLD void AG_NAME(ag_store_part_)(int rows, VEC (*sum)[2], AG_T alpha, AG_T beta,
                                        const AG_T *base, ptrdiff_t ld_base, AG_T *c,
                                        ptrdiff_t ldc, int cols) {
    for (int at = 0; at < cols; at += LANES) {
        const AG_NAME(ag_mask_) mask = AG_NAME(ag_mask_of_)(cols - at);
        for (int i = 0; i < rows; i++) {
            VEC x = alpha * sum[i][at / LANES];
            if (beta != 0)
                x = FMA(ALL(beta), AG_NAME(ag_masked_)(base + i * ld_base + at, mask), x);
            AG_NAME(ag_put_masked_)(c + i * ldc + at, mask, x);
        }
    }
}
#endif

/* c = alpha * sums + beta * base for one block; base is c itself, or a row for all of its rows
 * (ld_base 0), and isn't read when beta is 0. */
AG_FN void AG_NAME(ag_store_)(const int rows, const int vecs, int keep, VEC (*sum)[2], AG_T alpha,
                              AG_T beta, const AG_T *base, ptrdiff_t ld_base, AG_T *c,
                              ptrdiff_t ldc, int cols) {
    if (cols == vecs * LANES && keep == rows) {
        AG_UNROLL
        for (int i = 0; i < rows; i++) {
            VEC *out = (VEC *)(c + i * ldc);
            const VEC *old = (const VEC *)(base + i * ld_base);
            if (beta == 0) {
                out[0] = alpha * sum[i][0];
                if (vecs == 2) out[1] = alpha * sum[i][1];
            } else {
                out[0] = FMA(ALL(beta), old[0], alpha * sum[i][0]);
                if (vecs == 2) out[1] = FMA(ALL(beta), old[1], alpha * sum[i][1]);
            }
        }
#if AG_ALL_ROWS && defined(AG_MASKS)
    } else {
        VEC part[AG_ROWS][2];
        AG_UNROLL
        for (int i = 0; i < rows; i++) {
            part[i][0] = sum[i][0];
            if (vecs == 2) part[i][1] = sum[i][1];
        }
        AG_NAME(ag_store_part_)(rows, part, alpha, beta, base, ld_base, c, ldc, cols);
    }
#else
    } else {
        AG_T part[AG_ROWS][2 * LANES];
        AG_UNROLL
        for (int i = 0; i < rows; i++) {
            *(VEC *)part[i] = sum[i][0];
            if (vecs == 2) *(VEC *)(part[i] + LANES) = sum[i][1];
        }
        for (int i = 0; i < keep; i++)
            for (int j = 0; j < cols; j++)
                c[i * ldc + j] = beta == 0 ? alpha * part[i][j]
                                           : AG_NAME(ag_fma_)(beta, base[i * ld_base + j],
                                                              alpha * part[i][j]);
    }
#endif
}

/* One block, of which `keep` rows are stored; `rows`, `vecs` and one of the steps of a are constants
 * where this is inlined. */
AG_FN void AG_NAME(ag_block_)(const int rows, const int vecs, int keep, ptrdiff_t k,
                              const AG_T *a, ptrdiff_t row_step, ptrdiff_t k_step, const AG_T *b,
                              ptrdiff_t ldb, AG_T alpha, AG_T beta, const AG_T *base,
                              ptrdiff_t ld_base, AG_T *c, ptrdiff_t ldc, int cols) {
    VEC sum[AG_ROWS][2];
    AG_UNROLL
    for (int i = 0; i < rows; i++) {
        sum[i][0] = (VEC){0};
        sum[i][1] = (VEC){0};
    }
    for (ptrdiff_t p = 0; p < k; p++) {
        VEC b0 = *(const VEC *)b, b1 = {0};
        if (vecs == 2) b1 = *(const VEC *)(b + LANES);
        AG_UNROLL
        for (int i = 0; i < rows; i++) {
            const VEC x = ALL(a[i * row_step]);
            sum[i][0] = FMA(x, b0, sum[i][0]);
            if (vecs == 2) sum[i][1] = FMA(x, b1, sum[i][1]);
            AG_STAY(b0, b1);
        }
        a += k_step;
        b += ldb;
    }
    AG_NAME(ag_store_)(rows, vecs, keep, sum, alpha, beta, base, ld_base, c, ldc, cols);
}

#if AG_ALL_ROWS
#define AG_CASE(R)                                                                               \
    case R:                                                                                      \
        if (cols > LANES)                                                                        \
            AG_NAME(ag_block_)(R, 2, R, k, a, AG_STEPS, b, ldb, alpha, beta, base, ld_base, c,   \
                               ldc, cols);                                                       \
        else                                                                                     \
            AG_NAME(ag_block_)(R, 1, R, k, a, AG_STEPS, b, ldb, alpha, beta, base, ld_base, c,   \
                               ldc, cols);                                                       \
        break;
#if AG_ROWS == 4
#define AG_CASES AG_CASE(1) AG_CASE(2) AG_CASE(3) AG_CASE(4)
#elif AG_ROWS == 6
#define AG_CASES AG_CASE(1) AG_CASE(2) AG_CASE(3) AG_CASE(4) AG_CASE(5) AG_CASE(6)
#elif AG_ROWS == 8
#define AG_CASES                                                                                 \
    AG_CASE(1) AG_CASE(2) AG_CASE(3) AG_CASE(4) AG_CASE(5) AG_CASE(6) AG_CASE(7) AG_CASE(8)
#else
#define AG_CASES                                                                                 \
    AG_CASE(1) AG_CASE(2) AG_CASE(3) AG_CASE(4) AG_CASE(5) AG_CASE(6) AG_CASE(7) AG_CASE(8)      \
    AG_CASE(9) AG_CASE(10) AG_CASE(11) AG_CASE(12)
#endif

/* Rows of a lie `step` apart and are contiguous along k. */
static void AG_NAME(ag_by_rows_)(int rows, ptrdiff_t k, const AG_T *a, ptrdiff_t step,
                                 const AG_T *b, ptrdiff_t ldb, AG_T alpha, AG_T beta,
                                 const AG_T *base, ptrdiff_t ld_base, AG_T *c, ptrdiff_t ldc,
                                 int cols) {
#define AG_STEPS step, 1
    switch (rows) { AG_CASES }
#undef AG_STEPS
}

/* The rows of a are neighbours and k advances by `step`. */
static void AG_NAME(ag_by_columns_)(int rows, ptrdiff_t k, const AG_T *a, ptrdiff_t step,
                                    const AG_T *b, ptrdiff_t ldb, AG_T alpha, AG_T beta,
                                    const AG_T *base, ptrdiff_t ld_base, AG_T *c, ptrdiff_t ldc,
                                    int cols) {
#define AG_STEPS 1, step
    switch (rows) { AG_CASES }
#undef AG_STEPS
}
#undef AG_CASE
#undef AG_CASES
#else
/* Integers come in full strips, so one body is enough; missing rows are computed and dropped. */
static void AG_NAME(ag_by_columns_)(int rows, ptrdiff_t k, const AG_T *a, ptrdiff_t step,
                                    const AG_T *b, ptrdiff_t ldb, AG_T alpha, AG_T beta,
                                    const AG_T *base, ptrdiff_t ld_base, AG_T *c, ptrdiff_t ldc,
                                    int cols) {
    AG_NAME(ag_block_)(AG_ROWS, 2, rows, k, a, 1, step, b, ldb, alpha, beta, base, ld_base, c, ldc,
                       cols);
}

/* Packing moves bits, so floats are packed as integers of their size. */

#if defined(__AVX512F__)
/* Quarters of vectors that stand below each other next to each other: the last two steps of a
 * transposition, for parts[0], parts[step], parts[2 * step] and parts[3 * step], in place. */
AG_FN void AG_NAME(ag_turn_quarters_)(VEC *parts, const int step) {
#if AG_T_SIZE == 4
    typedef int32_t ag_lanes __attribute__((vector_size(64)));
#define AG_EVEN(a, b) AG_SHUFFLE(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27)
#define AG_ODD(a, b) AG_SHUFFLE(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31)
#else
    typedef int64_t ag_lanes __attribute__((vector_size(64)));
#define AG_EVEN(a, b) AG_SHUFFLE(a, b, 0, 1, 4, 5, 8, 9, 12, 13)
#define AG_ODD(a, b) AG_SHUFFLE(a, b, 2, 3, 6, 7, 10, 11, 14, 15)
#endif
    const VEC a = parts[0], b = parts[step], c = parts[2 * step], d = parts[3 * step];
    const VEC even0 = AG_EVEN(a, b), even1 = AG_EVEN(c, d);
    const VEC odd0 = AG_ODD(a, b), odd1 = AG_ODD(c, d);
    parts[0] = AG_EVEN(even0, even1);
    parts[step] = AG_EVEN(odd0, odd1);
    parts[2 * step] = AG_ODD(even0, even1);
    parts[3 * step] = AG_ODD(odd0, odd1);
#undef AG_EVEN
#undef AG_ODD
}

/* result[p * width + j] = source[j * ld + p] for as many j and p as a vector has elements. */
AG_FN void AG_NAME(ag_turn_)(const AG_T *source, ptrdiff_t ld, AG_T *result, ptrdiff_t width) {
    VEC t[LANES];
#if AG_T_SIZE == 4
    typedef int32_t ag_lanes __attribute__((vector_size(64)));
    VEC r[LANES];
    AG_UNROLL
    for (int i = 0; i < 8; i++) {
        const VEC a = *(const VEC *)(source + 2 * i * ld);
        const VEC b = *(const VEC *)(source + (2 * i + 1) * ld);
        r[2 * i] = AG_SHUFFLE(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29);
        r[2 * i + 1] = AG_SHUFFLE(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
    }
    AG_UNROLL
    for (int i = 0; i < 8; i++) {
        const VEC a = r[i / 2 * 4 + i % 2], b = r[i / 2 * 4 + i % 2 + 2];
        t[2 * i] = AG_SHUFFLE(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
        t[2 * i + 1] = AG_SHUFFLE(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
    }
#else
    typedef int64_t ag_lanes __attribute__((vector_size(64)));
    AG_UNROLL
    for (int i = 0; i < 4; i++) {
        const VEC a = *(const VEC *)(source + 2 * i * ld);
        const VEC b = *(const VEC *)(source + (2 * i + 1) * ld);
        t[2 * i] = AG_SHUFFLE(a, b, 0, 8, 2, 10, 4, 12, 6, 14);
        t[2 * i + 1] = AG_SHUFFLE(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
    }
#endif
    AG_UNROLL
    for (int i = 0; i < LANES / 4; i++) AG_NAME(ag_turn_quarters_)(t + i, LANES / 4);
    AG_UNROLL
    for (int i = 0; i < LANES; i++) *(VEC *)(result + i * width) = t[i];
}
#endif

/* result[p * width + j] = source[j * ld + p] for j < cols, and 0 up to the width. */
static void AG_NAME(ag_pack_transposed_)(ptrdiff_t k, ptrdiff_t cols, ptrdiff_t width,
                                         const AG_T *source, ptrdiff_t ld, AG_T *result) {
    typedef AG_T quad __attribute__((vector_size(16), aligned(sizeof(AG_T)), may_alias));
    ptrdiff_t j = 0, p;
    if (cols < width) memset(result, 0, (size_t)(k * width) * sizeof(AG_T));
#if defined(__AVX512F__)
    if (k >= LANES)
        for (; j + LANES <= cols; j += LANES) {
            for (p = 0; p + LANES <= k; p += LANES)
                AG_NAME(ag_turn_)(source + j * ld + p, ld, result + p * width + j, width);
            /* What is left of k: some columns a second time. */
            if (p < k)
                AG_NAME(ag_turn_)(source + j * ld + k - LANES, ld,
                                  result + (k - LANES) * width + j, width);
        }
#endif
#if AG_T_SIZE == 4
    typedef int32_t ag_lanes __attribute__((vector_size(16)));
    for (; j + 4 <= cols; j += 4) {
        const AG_T *s = source + j * ld;
        for (p = 0; p + 4 <= k; p += 4) {
            const quad r0 = *(const quad *)(s + p), r1 = *(const quad *)(s + ld + p);
            const quad r2 = *(const quad *)(s + 2 * ld + p), r3 = *(const quad *)(s + 3 * ld + p);
            const quad l0 = AG_SHUFFLE(r0, r1, 0, 4, 1, 5), h0 = AG_SHUFFLE(r0, r1, 2, 6, 3, 7);
            const quad l1 = AG_SHUFFLE(r2, r3, 0, 4, 1, 5), h1 = AG_SHUFFLE(r2, r3, 2, 6, 3, 7);
            AG_T *d = result + p * width + j;
            *(quad *)d = AG_SHUFFLE(l0, l1, 0, 1, 4, 5);
            *(quad *)(d + width) = AG_SHUFFLE(l0, l1, 2, 3, 6, 7);
            *(quad *)(d + 2 * width) = AG_SHUFFLE(h0, h1, 0, 1, 4, 5);
            *(quad *)(d + 3 * width) = AG_SHUFFLE(h0, h1, 2, 3, 6, 7);
        }
        for (; p < k; p++)
            for (int q = 0; q < 4; q++) result[p * width + j + q] = s[q * ld + p];
    }
#else
    typedef int64_t ag_lanes __attribute__((vector_size(16)));
    for (; j + 2 <= cols; j += 2) {
        const AG_T *s = source + j * ld;
        for (p = 0; p + 2 <= k; p += 2) {
            const quad r0 = *(const quad *)(s + p), r1 = *(const quad *)(s + ld + p);
            AG_T *d = result + p * width + j;
            *(quad *)d = AG_SHUFFLE(r0, r1, 0, 2);
            *(quad *)(d + width) = AG_SHUFFLE(r0, r1, 1, 3);
        }
        for (; p < k; p++) {
            result[p * width + j] = s[p];
            result[p * width + j + 1] = s[ld + p];
        }
    }
#endif
    for (; j < cols; j++)
        for (p = 0; p < k; p++) result[p * width + j] = source[j * ld + p];
}

/* result[p * width + j] = source[p * ld + j] for j < cols, and 0 up to the width. */
static void AG_NAME(ag_pack_rows_)(ptrdiff_t k, ptrdiff_t cols, const AG_T *source, ptrdiff_t ld,
                                   AG_T *result) {
    const ptrdiff_t width = AG_WIDTH(AG_T);
    if (cols == width) {
        for (ptrdiff_t p = 0; p < k; p++) {
            const VEC *s = (const VEC *)(source + p * ld);
            VEC *d = (VEC *)(result + p * width);
            const VEC s0 = s[0], s1 = s[1];
            d[0] = s0;
            d[1] = s1;
        }
        return;
    }
    memset(result, 0, (size_t)(k * width) * sizeof(AG_T));
    for (ptrdiff_t p = 0; p < k; p++)
        for (ptrdiff_t j = 0; j < cols; j++) result[p * width + j] = source[p * ld + j];
}

/* result[p * AG_ROWS + i] = source[p * ld + i]: a stored transposed, cut to strips of rows. */
static void AG_NAME(ag_pack_strip_)(ptrdiff_t k, ptrdiff_t rows, const AG_T *source, ptrdiff_t ld,
                                    AG_T *result) {
    if (rows == AG_ROWS) {
        for (ptrdiff_t p = 0; p < k; p++)
            memcpy(result + p * AG_ROWS, source + p * ld, AG_ROWS * sizeof(AG_T));
        return;
    }
    for (ptrdiff_t p = 0; p < k; p++)
        for (ptrdiff_t i = 0; i < AG_ROWS; i++)
            result[p * AG_ROWS + i] = i < rows ? source[p * ld + i] : 0;
}
#endif

#if AG_ALL_ROWS
/* c[i * row_step + j * col_step] = alpha * sum_p w[i, p] x[j, p] + beta * c for 4 or 1 rows of w and
 * `few` rows of x, all contiguous along k. */
AG_FN void AG_NAME(ag_dots_)(const int rows, const int few, ptrdiff_t k, const AG_T *w,
                             ptrdiff_t ld, const AG_T *x, ptrdiff_t ldx, AG_T alpha, AG_T beta,
                             AG_T *c, ptrdiff_t row_step, ptrdiff_t col_step) {
    VEC sum[4][4];
    AG_T tail[4][4];
    ptrdiff_t p = 0;
    AG_UNROLL
    for (int i = 0; i < rows; i++)
        AG_UNROLL
        for (int j = 0; j < few; j++) {
            sum[i][j] = (VEC){0};
            tail[i][j] = 0;
        }
    for (; p + LANES <= k; p += LANES) {
        AG_UNROLL
        for (int i = 0; i < rows; i++) {
            const VEC wi = *(const VEC *)(w + i * ld + p);
            AG_UNROLL
            for (int j = 0; j < few; j++)
                sum[i][j] = FMA(wi, *(const VEC *)(x + j * ldx + p), sum[i][j]);
        }
    }
    for (; p < k; p++)
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < few; j++)
                tail[i][j] = AG_NAME(ag_fma_)(w[i * ld + p], x[j * ldx + p], tail[i][j]);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < few; j++) {
            AG_T lanes[LANES], *out = c + i * row_step + j * col_step;
            *(VEC *)lanes = sum[i][j];
            for (int half = LANES / 2; half > 0; half /= 2)
                for (int q = 0; q < half; q++) lanes[q] += lanes[q + half];
            lanes[0] += tail[i][j];
            lanes[0] *= alpha;
            *out = beta == 0 ? lanes[0] : AG_NAME(ag_fma_)(beta, *out, lanes[0]);
        }
}

static void AG_NAME(ag_dot_rows_)(ptrdiff_t rows, int few, ptrdiff_t k, const AG_T *w,
                                  ptrdiff_t ld, const AG_T *x, ptrdiff_t ldx, AG_T alpha,
                                  AG_T beta, AG_T *c, ptrdiff_t row_step, ptrdiff_t col_step) {
    ptrdiff_t i = 0;
#define AG_DOTS(R, F) \
    AG_NAME(ag_dots_)(R, F, k, w + i * ld, ld, x, ldx, alpha, beta, c + i * row_step, row_step, col_step)
#define AG_FEW(R)                 \
    if (few == 1) AG_DOTS(R, 1);  \
    else if (few == 2) AG_DOTS(R, 2); \
    else if (few == 3) AG_DOTS(R, 3); \
    else AG_DOTS(R, 4);
    for (; i + 4 <= rows; i += 4) { AG_FEW(4) }
    for (; i < rows; i++) { AG_FEW(1) }
#undef AG_FEW
#undef AG_DOTS
}

/* y[f * ldy + j] += sum_q x[f * ldx + q] * w[q * ld + j] for `rows` rows of w and `few` of x. */
AG_FN void AG_NAME(ag_add_rows_)(const int rows, const int few, ptrdiff_t n, const AG_T *w,
                                 ptrdiff_t ld, const AG_T *x, ptrdiff_t ldx, AG_T *y,
                                 ptrdiff_t ldy) {
    ptrdiff_t j = 0;
    for (; j + LANES <= n; j += LANES) {
        VEC sum[2];
        AG_UNROLL
        for (int f = 0; f < few; f++) sum[f] = *(const VEC *)(y + f * ldy + j);
        AG_UNROLL
        for (int q = 0; q < rows; q++) {
            const VEC wq = *(const VEC *)(w + q * ld + j);
            AG_UNROLL
            for (int f = 0; f < few; f++) sum[f] = FMA(ALL(x[f * ldx + q]), wq, sum[f]);
        }
        AG_UNROLL
        for (int f = 0; f < few; f++) *(VEC *)(y + f * ldy + j) = sum[f];
    }
    for (; j < n; j++)
        for (int f = 0; f < few; f++) {
            AG_T sum = y[f * ldy + j];
            AG_UNROLL
            for (int q = 0; q < rows; q++)
                sum = AG_NAME(ag_fma_)(x[f * ldx + q], w[q * ld + j], sum);
            y[f * ldy + j] = sum;
        }
}

/* y[few, n] += x[few, k] @ w[k, n] for one or two rows, several rows of w at a time. */
static void AG_NAME(ag_add_product_)(ptrdiff_t n, ptrdiff_t k, int few, const AG_T *w,
                                     ptrdiff_t ld, const AG_T *x, ptrdiff_t ldx, AG_T *y,
                                     ptrdiff_t ldy) {
    ptrdiff_t p = 0;
    if (few == 1) {
        for (; p + 8 <= k; p += 8)
            AG_NAME(ag_add_rows_)(8, 1, n, w + p * ld, ld, x + p, ldx, y, ldy);
        for (; p < k; p++) AG_NAME(ag_add_rows_)(1, 1, n, w + p * ld, ld, x + p, ldx, y, ldy);
    } else {
        for (; p + 4 <= k; p += 4)
            AG_NAME(ag_add_rows_)(4, 2, n, w + p * ld, ld, x + p, ldx, y, ldy);
        for (; p < k; p++) AG_NAME(ag_add_rows_)(1, 2, n, w + p * ld, ld, x + p, ldx, y, ldy);
    }
}

/* Complex b: the product of interleaved parts (re, im) with two rows for each k,
 *     (re, im) of b   and   (-im, re) of b,
 * is the complex product, so the real loops serve complex numbers without further arithmetic.
 * result: strips as above, twice as long; `conj` takes the conjugate of b; b is multiplied by
 * (alpha_re, alpha_im).  `cols` counts complex columns. */
static void AG_NAME(ag_pack_complex_)(ptrdiff_t k, ptrdiff_t cols, const AG_T *source,
                                      ptrdiff_t k_step, ptrdiff_t col_step, int conj,
                                      AG_T alpha_re, AG_T alpha_im, AG_T *result) {
    const ptrdiff_t width = AG_WIDTH(AG_T);
    const AG_T sign = conj ? (AG_T)-1 : (AG_T)1;
    if (2 * cols < width) memset(result, 0, (size_t)(2 * k * width) * sizeof(AG_T));
    for (ptrdiff_t p = 0; p < k; p++) {
        AG_T *even = result + 2 * p * width, *odd = even + width;
        for (ptrdiff_t j = 0; j < cols; j++) {
            const AG_T *s = source + 2 * (p * k_step + j * col_step);
            AG_T re = s[0], im = sign * s[1];
            if (alpha_im != 0 || alpha_re != 1) {
                const AG_T scaled = alpha_re * re - alpha_im * im;
                im = alpha_re * im + alpha_im * re;
                re = scaled;
            }
            even[2 * j] = re;
            even[2 * j + 1] = im;
            odd[2 * j] = -im;
            odd[2 * j + 1] = re;
        }
    }
}

/* Complex a stored transposed, to strips of rows: result[2p * AG_ROWS + i] is the real part and
 * the next AG_ROWS elements are the imaginary ones. */
static void AG_NAME(ag_strip_complex_)(ptrdiff_t k, ptrdiff_t rows, const AG_T *source,
                                       ptrdiff_t ld, int conj, AG_T *result) {
    const AG_T sign = conj ? (AG_T)-1 : (AG_T)1;
    for (ptrdiff_t p = 0; p < k; p++) {
        AG_T *re = result + 2 * p * AG_ROWS, *im = re + AG_ROWS;
        for (ptrdiff_t i = 0; i < AG_ROWS; i++) {
            re[i] = i < rows ? source[2 * (p * ld + i)] : 0;
            im[i] = i < rows ? sign * source[2 * (p * ld + i) + 1] : 0;
        }
    }
}
#endif

#undef VEC
#undef LANES
#undef FMA
#undef ALL

#undef AG_T
#undef AG_ALL_ROWS
#undef AG_T_SIZE
#undef AG_S
