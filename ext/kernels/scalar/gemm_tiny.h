/* Batches of matrices of at most AG_TINIEST rows and columns, for which choosing a kernel takes
 * longer than the product: one loop over all of them. What isn't there of a vector is masked, so
 * nothing is packed. Sums run in the order of k, as those of larger products do. */
#ifndef AG_GEMM_TINY_H
#define AG_GEMM_TINY_H

#include "gemm_micro.h"

enum { AG_TINIEST = 16 };   /* and k n is at most its square */

#if defined(AG_MASKS)
#define AG_HAS_TINY 1
#define AG_TINY(S, U)                                                                            \
    /* At most two vectors of columns; `rows` and `vecs` are constants where this is inlined. */ \
    AG_FN void ag_tiny_block_##S(const int rows, const int vecs, ptrdiff_t k, const ag_##S *a,   \
                                 ptrdiff_t row, ptrdiff_t column, const ag_##S *b,               \
                                 ptrdiff_t ldb, int n, ag_##S alpha, ag_##S beta, ag_##S *c,     \
                                 ptrdiff_t ldc) {                                                \
        const int lanes = AG_VECTOR_BYTES / (int)sizeof(ag_##S);                                 \
        const ag_mask_##S mask = ag_mask_of_##S(n - (vecs - 1) * lanes);                         \
        ag_vec_##S sum[AG_ROWS][2];                                                              \
        AG_UNROLL                                                                                \
        for (int i = 0; i < rows; i++) sum[i][0] = sum[i][1] = (ag_vec_##S){0};                  \
        for (ptrdiff_t q = 0; q < k; q++) {                                                      \
            ag_vec_##S b0, b1 = {0};                                                             \
            if (vecs == 2) {                                                                     \
                b0 = *(const ag_vec_##S *)b;                                                     \
                b1 = ag_masked_##S(b + lanes, mask);                                             \
            } else {                                                                             \
                b0 = ag_masked_##S(b, mask);                                                     \
            }                                                                                    \
            AG_UNROLL                                                                            \
            for (int i = 0; i < rows; i++) {                                                     \
                const ag_vec_##S x = AG_ALL(ag_vec_##S, a[i * row]);                             \
                sum[i][0] = AG_FMA(S, AG_VECTOR_BYTES)(x, b0, sum[i][0]);                        \
                if (vecs == 2) sum[i][1] = AG_FMA(S, AG_VECTOR_BYTES)(x, b1, sum[i][1]);         \
            }                                                                                    \
            a += column;                                                                         \
            b += ldb;                                                                            \
        }                                                                                        \
        AG_UNROLL                                                                                \
        for (int i = 0; i < rows; i++) {                                                         \
            ag_##S *out = c + i * ldc;                                                           \
            ag_vec_##S x0 = alpha * sum[i][0], x1 = alpha * sum[i][1];                           \
            if (vecs == 2) {                                                                     \
                if (beta != 0) {                                                                 \
                    x0 = AG_FMA(S, AG_VECTOR_BYTES)(AG_ALL(ag_vec_##S, beta),                    \
                                                    *(const ag_vec_##S *)out, x0);               \
                    x1 = AG_FMA(S, AG_VECTOR_BYTES)(AG_ALL(ag_vec_##S, beta),                    \
                                                    ag_masked_##S(out + lanes, mask), x1);       \
                }                                                                                \
                *(ag_vec_##S *)out = x0;                                                         \
                ag_put_masked_##S(out + lanes, mask, x1);                                        \
            } else {                                                                             \
                if (beta != 0)                                                                   \
                    x0 = AG_FMA(S, AG_VECTOR_BYTES)(AG_ALL(ag_vec_##S, beta),                    \
                                                    ag_masked_##S(out, mask), x0);               \
                ag_put_masked_##S(out, mask, x0);                                                \
            }                                                                                    \
        }                                                                                        \
    }                                                                                            \
    AG_FN void ag_tiny_rows_##S(const int vecs, int rows, ptrdiff_t k, const ag_##S *a,          \
                                ptrdiff_t row, ptrdiff_t column, const ag_##S *b, ptrdiff_t ldb, \
                                int n, ag_##S alpha, ag_##S beta, ag_##S *c, ptrdiff_t ldc) {    \
        switch (rows) { AG_TINY_CASES(S) }                                                       \
    }                                                                                            \
    /* Rows of a lie `row` apart and its columns `column`; likewise for matrices, by `step_`. */ \
    static void ag_tiny_products_##S(                                                            \
        ptrdiff_t count, int m, int n, int k, const ag_##S *a, ptrdiff_t step_a, ptrdiff_t row,  \
        ptrdiff_t column, int trans_b, const ag_##S *b, ptrdiff_t step_b, ptrdiff_t ldb,         \
        ag_##S alpha, ag_##S beta, ag_##S *c, ptrdiff_t step_c, ptrdiff_t ldc) {                 \
        const int lanes = AG_VECTOR_BYTES / (int)sizeof(ag_##S);                                 \
        const int groups = (m + AG_ROWS - 1) / AG_ROWS, most = (m + groups - 1) / groups;        \
        ag_##S turned[AG_TINIEST * AG_TINIEST];                                                  \
        for (ptrdiff_t index = 0; index < count; index++) {                                      \
            const ag_##S *right = b;                                                             \
            ptrdiff_t ld = ldb;                                                                  \
            if (trans_b) {                                                                       \
                ag_pack_transposed_##U(k, n, n, (const ag_##U *)b, ldb, (ag_##U *)turned);       \
                right = turned;                                                                  \
                ld = n;                                                                          \
            }                                                                                    \
            for (int i = 0; i < m; i += most) {                                                  \
                const int rows = m - i < most ? m - i : most;                                    \
                for (int j = 0; j < n; j += 2 * lanes) {                                         \
                    if (n - j > lanes)                                                           \
                        ag_tiny_rows_##S(2, rows, k, a + i * row, row, column, right + j, ld,    \
                                         n - j, alpha, beta, c + i * ldc + j, ldc);              \
                    else                                                                         \
                        ag_tiny_rows_##S(1, rows, k, a + i * row, row, column, right + j, ld,    \
                                         n - j, alpha, beta, c + i * ldc + j, ldc);              \
                }                                                                                \
            }                                                                                    \
            a += step_a;                                                                         \
            b += step_b;                                                                         \
            c += step_c;                                                                         \
        }                                                                                        \
    }
#define AG_TINY_CASE(S, R)                                                                       \
    case R:                                                                                      \
        ag_tiny_block_##S(R, vecs, k, a, row, column, b, ldb, n, alpha, beta, c, ldc);           \
        break;
#define AG_TINY_SIX(S)                                                                           \
    AG_TINY_CASE(S, 1) AG_TINY_CASE(S, 2) AG_TINY_CASE(S, 3)                                     \
    AG_TINY_CASE(S, 4) AG_TINY_CASE(S, 5) AG_TINY_CASE(S, 6)
#if AG_ROWS == 12
#define AG_TINY_CASES(S)                                                                         \
    AG_TINY_SIX(S) AG_TINY_CASE(S, 7) AG_TINY_CASE(S, 8) AG_TINY_CASE(S, 9)                      \
    AG_TINY_CASE(S, 10) AG_TINY_CASE(S, 11) AG_TINY_CASE(S, 12)
#else
#define AG_TINY_CASES(S) AG_TINY_SIX(S)
#endif
AG_TINY(f32, u32)
AG_TINY(f64, u64)
#undef AG_TINY
#undef AG_TINY_CASE
#undef AG_TINY_CASES
#undef AG_TINY_SIX
#else
#define AG_HAS_TINY 0
#define AG_TINY(S)                                                                               \
    AG_FN void ag_tiny_products_##S(                                                             \
        ptrdiff_t count, int m, int n, int k, const ag_##S *a, ptrdiff_t step_a, ptrdiff_t row,  \
        ptrdiff_t column, int trans_b, const ag_##S *b, ptrdiff_t step_b, ptrdiff_t ldb,         \
        ag_##S alpha, ag_##S beta, ag_##S *c, ptrdiff_t step_c, ptrdiff_t ldc) {                 \
        const ptrdiff_t down = trans_b ? 1 : ldb, right = trans_b ? ldb : 1;                     \
        for (ptrdiff_t index = 0; index < count; index++) {                                      \
            for (int i = 0; i < m; i++)                                                          \
                for (int j = 0; j < n; j++) {                                                    \
                    ag_##S sum = 0, *out = c + i * ldc + j;                                      \
                    for (int q = 0; q < k; q++)                                                  \
                        sum = ag_fma_##S(a[i * row + q * column], b[q * down + j * right], sum); \
                    *out = beta == 0 ? alpha * sum : ag_fma_##S(beta, *out, alpha * sum);        \
                }                                                                                \
            a += step_a;                                                                         \
            b += step_b;                                                                         \
            c += step_c;                                                                         \
        }                                                                                        \
    }
AG_TINY(f32)
AG_TINY(f64)
#undef AG_TINY
#endif

#endif
