/* Read by winograd_2x2.h with AG_L, the tiles that are transformed together. */

#if AG_L == 1
#ifndef AG_TILE_MIX_4
#if defined(__clang__) || __GNUC__ >= 12
#define AG_TILE_MIX(a, b, mask, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define AG_TILE_MIX(a, b, mask, ...) __builtin_shuffle(a, b, (mask){__VA_ARGS__})
#endif
typedef int32_t ag_tile_mask_2 __attribute__((vector_size(8)));
typedef int32_t ag_tile_mask_4 __attribute__((vector_size(16)));
typedef int32_t ag_tile_mask_8 __attribute__((vector_size(32)));
typedef int32_t ag_tile_mask_16 __attribute__((vector_size(64)));
#define AG_TILE_MIX_4(a, b, ...) AG_TILE_MIX(a, b, ag_tile_mask_4, __VA_ARGS__)
#define AG_TILE_EVEN_1(a, b) (a)
#define AG_TILE_ODD_1(a, b) (b)
#define AG_TILE_LOW_1(a, b) (a)
#define AG_TILE_HIGH_1(a, b) (b)
#define AG_TILE_EVEN_2(a, b) AG_TILE_MIX(a, b, ag_tile_mask_2, 0, 2)
#define AG_TILE_ODD_2(a, b) AG_TILE_MIX(a, b, ag_tile_mask_2, 1, 3)
#define AG_TILE_LOW_2(a, b) AG_TILE_MIX(a, b, ag_tile_mask_2, 0, 2)
#define AG_TILE_HIGH_2(a, b) AG_TILE_MIX(a, b, ag_tile_mask_2, 1, 3)
#define AG_TILE_EVEN_4(a, b) AG_TILE_MIX_4(a, b, 0, 2, 4, 6)
#define AG_TILE_ODD_4(a, b) AG_TILE_MIX_4(a, b, 1, 3, 5, 7)
#define AG_TILE_LOW_4(a, b) AG_TILE_MIX_4(a, b, 0, 4, 1, 5)
#define AG_TILE_HIGH_4(a, b) AG_TILE_MIX_4(a, b, 2, 6, 3, 7)
#define AG_TILE_EVEN_8(a, b) AG_TILE_MIX(a, b, ag_tile_mask_8, 0, 2, 4, 6, 8, 10, 12, 14)
#define AG_TILE_ODD_8(a, b) AG_TILE_MIX(a, b, ag_tile_mask_8, 1, 3, 5, 7, 9, 11, 13, 15)
#define AG_TILE_LOW_8(a, b) AG_TILE_MIX(a, b, ag_tile_mask_8, 0, 8, 1, 9, 2, 10, 3, 11)
#define AG_TILE_HIGH_8(a, b) AG_TILE_MIX(a, b, ag_tile_mask_8, 4, 12, 5, 13, 6, 14, 7, 15)
#define AG_TILE_EVEN_16(a, b) \
    AG_TILE_MIX(a, b, ag_tile_mask_16, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30)
#define AG_TILE_ODD_16(a, b) \
    AG_TILE_MIX(a, b, ag_tile_mask_16, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31)
#define AG_TILE_LOW_16(a, b) \
    AG_TILE_MIX(a, b, ag_tile_mask_16, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define AG_TILE_HIGH_16(a, b) \
    AG_TILE_MIX(a, b, ag_tile_mask_16, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#endif
typedef float ag_tile_vec_1;
#define VEC ag_tile_vec_1
#else
typedef float AG_NAME(ag_tile_vec_) __attribute__((vector_size(4 * AG_L), aligned(4), may_alias));
#define VEC AG_NAME(ag_tile_vec_)
#endif

#define LOAD(at) (*(const VEC *)(at))
#define STORE(at, x) (*(VEC *)(at) = (x))

AG_FN void AG_NAME(ag_input_2x2_)(const float *x, ptrdiff_t row, float *v, ptrdiff_t step) {
    /* Columns of each row as they lie, from the first and from the third on. */
    VEC at[4][4];
    for (int j = 0; j < 4; j++) {
        const float *s = x + (j / 2) * 2 + (j % 2) * AG_L;
        const VEC d0 = LOAD(s), d1 = LOAD(s + row), d2 = LOAD(s + 2 * row), d3 = LOAD(s + 3 * row);
        at[0][j] = d0 - d2;
        at[1][j] = d1 + d2;
        at[2][j] = d2 - d1;
        at[3][j] = d1 - d3;
    }
    for (int a = 0; a < 4; a++) {
        const VEC c0 = AG_NAME(AG_TILE_EVEN_)(at[a][0], at[a][1]);
        const VEC c1 = AG_NAME(AG_TILE_ODD_)(at[a][0], at[a][1]);
        const VEC c2 = AG_NAME(AG_TILE_EVEN_)(at[a][2], at[a][3]);
        const VEC c3 = AG_NAME(AG_TILE_ODD_)(at[a][2], at[a][3]);
        STORE(v + 4 * a * step, c0 - c2);
        STORE(v + (4 * a + 1) * step, c1 + c2);
        STORE(v + (4 * a + 2) * step, c2 - c1);
        STORE(v + (4 * a + 3) * step, c1 - c3);
    }
}

AG_FN float AG_NAME(ag_output_2x2_)(const float *m, ptrdiff_t step, float bias, float *y,
                                  ptrdiff_t row) {
    VEC top[4], low[4], probe;
    float sum = 0;
    for (int b = 0; b < 4; b++) {
        const VEC m0 = LOAD(m + b * step), m1 = LOAD(m + (4 + b) * step);
        const VEC m2 = LOAD(m + (8 + b) * step), m3 = LOAD(m + (12 + b) * step);
        top[b] = m0 + m1 + m2;
        low[b] = m1 - m2 - m3;
    }
    const VEC y00 = top[0] + top[1] + top[2] + bias, y01 = top[1] - top[2] - top[3] + bias;
    const VEC y10 = low[0] + low[1] + low[2] + bias, y11 = low[1] - low[2] - low[3] + bias;
    STORE(y, AG_NAME(AG_TILE_LOW_)(y00, y01));
    STORE(y + AG_L, AG_NAME(AG_TILE_HIGH_)(y00, y01));
    STORE(y + row, AG_NAME(AG_TILE_LOW_)(y10, y11));
    STORE(y + row + AG_L, AG_NAME(AG_TILE_HIGH_)(y10, y11));
    probe = (y00 + y01 + (y10 + y11)) * 0.0f;
#if AG_L == 1
    sum = probe;
#else
    for (int i = 0; i < AG_L; i++) sum += probe[i];
#endif
    return sum;
}

#undef LOAD
#undef STORE
#undef VEC
#undef AG_L
