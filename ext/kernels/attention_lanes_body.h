/* Read by attention_lanes.h, once for each type. Counts `n` are whole numbers of vectors. */

typedef AG_T AG_NAMED(ag_row_)
    __attribute__((vector_size(AG_LANE_BYTES), aligned(sizeof(AG_T)), may_alias));
typedef AG_I AG_NAMED(ag_row_bits_) __attribute__((vector_size(AG_LANE_BYTES)));

#define VEC AG_NAMED(ag_row_)
#define BITS AG_NAMED(ag_row_bits_)
#define LANES ((int)(AG_LANE_BYTES / sizeof(AG_T)))
#define FMA AG_FMA(AG_S, AG_LANE_BYTES)
#define ALL(x) AG_ALL(VEC, (AG_T)(x))

/* Elements from n up to the whole number `stop` become `value`. */
AG_FN void AG_NAMED(ag_row_fill_)(AG_T *row, ptrdiff_t n, ptrdiff_t stop, AG_T value) {
    static const AG_I places[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const VEC all = ALL(value);
    ptrdiff_t j = n - n % LANES;
    if (j < n) {
        BITS place;
        memcpy(&place, places, sizeof(place));
        const BITS mask = place < (AG_I)(n - j);
        VEC *v = (VEC *)(row + j);
        *v = (VEC)(((BITS)*v & mask) | ((BITS)all & ~mask));
        j += LANES;
    }
    for (; j < stop; j += LANES) *(VEC *)(row + j) = all;
}

/* exp(x) for x at most about 0, with the polynomial of ag_exp in scalar/exp_log.h. What would be
 * subnormal is 0: processors take a hundred times as long over such numbers, and hidden scores
 * would all pass through them. NaN stays. */
AG_FN VEC AG_NAMED(ag_row_exp_)(VEC x) {
    const VEC z = FMA(x, ALL(AG_LOG2E), ALL(AG_EXP_SHIFT));
    const VEC n = z - AG_EXP_SHIFT;
    const VEC r = FMA(n, ALL(-AG_LN2_LO), FMA(n, ALL(-AG_LN2_HI), x));
    AG_POLYNOMIAL(r)
    const VEC power = (VEC)((BITS)z << AG_FRACTION);
    const BITS gone = (BITS)(x < ALL(AG_LEAST));
    return (VEC)((BITS)FMA(less, power, power) & ~gone);
}

/* Halves of pieces of 2 * half elements change places. */
AG_FN VEC AG_NAMED(ag_row_turned_)(VEC v, const int half) {
    VEC turned;
#if defined(__clang__)
    AG_UNROLLED
    for (int i = 0; i < LANES; i++) turned[i] = v[i ^ half];
#else
    static const AG_I places[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    BITS place;
    memcpy(&place, places, sizeof(place));
    turned = __builtin_shuffle(v, place ^ half);
#endif
    return turned;
}

AG_FN AG_T AG_NAMED(ag_row_sum_)(VEC v) {
    AG_UNROLLED
    for (int half = LANES / 2; half > 0; half /= 2) v += AG_NAMED(ag_row_turned_)(v, half);
    return v[0];
}

AG_FN VEC AG_NAMED(ag_row_larger_)(VEC m, VEC x) {
    const BITS k = (BITS)(x > m);
    return (VEC)(((BITS)x & k) | ((BITS)m & ~k));
}

/* The largest; NaN counts as the smallest, and shows in the exponentials instead. */
static AG_T AG_NAMED(ag_row_largest_)(const AG_T *row, ptrdiff_t n) {
    VEC m = ALL(-INFINITY), o = m;
    ptrdiff_t j = 0;
    for (; j + 2 * LANES <= n; j += 2 * LANES) {
        m = AG_NAMED(ag_row_larger_)(m, *(const VEC *)(row + j));
        o = AG_NAMED(ag_row_larger_)(o, *(const VEC *)(row + j + LANES));
    }
    if (j < n) m = AG_NAMED(ag_row_larger_)(m, *(const VEC *)(row + j));
    m = AG_NAMED(ag_row_larger_)(m, o);
    AG_UNROLLED
    for (int half = LANES / 2; half > 0; half /= 2)
        m = AG_NAMED(ag_row_larger_)(m, AG_NAMED(ag_row_turned_)(m, half));
    return m[0];
}

/* row = exp(row - top); returns the sum. */
static AG_T AG_NAMED(ag_row_weights_)(AG_T *row, AG_T top, ptrdiff_t n) {
    VEC sum = {0}, other = {0};
    ptrdiff_t j = 0;
    for (; j + 2 * LANES <= n; j += 2 * LANES) {
        const VEC a = AG_NAMED(ag_row_exp_)(*(VEC *)(row + j) - top);
        const VEC b = AG_NAMED(ag_row_exp_)(*(VEC *)(row + j + LANES) - top);
        *(VEC *)(row + j) = a;
        *(VEC *)(row + j + LANES) = b;
        sum += a;
        other += b;
    }
    if (j < n) {
        const VEC a = AG_NAMED(ag_row_exp_)(*(VEC *)(row + j) - top);
        *(VEC *)(row + j) = a;
        sum += a;
    }
    return AG_NAMED(ag_row_sum_)(sum + other);
}

/* row = exp(row - lse); grads = row * (grads - shift). */
static void AG_NAMED(ag_row_gradients_)(AG_T *row, AG_T *grads, AG_T lse, AG_T shift,
                                        ptrdiff_t n) {
    for (ptrdiff_t j = 0; j < n; j += LANES) {
        const VEC w = AG_NAMED(ag_row_exp_)(*(VEC *)(row + j) - lse);
        *(VEC *)(row + j) = w;
        *(VEC *)(grads + j) = w * (*(VEC *)(grads + j) - shift);
    }
}

/* a . b for any n */
static AG_T AG_NAMED(ag_row_dot_)(const AG_T *a, const AG_T *b, ptrdiff_t n) {
    VEC sum = {0}, other = {0};
    AG_T rest = 0;
    ptrdiff_t j = 0;
    for (; j + 2 * LANES <= n; j += 2 * LANES) {
        sum = FMA(*(const VEC *)(a + j), *(const VEC *)(b + j), sum);
        other = FMA(*(const VEC *)(a + j + LANES), *(const VEC *)(b + j + LANES), other);
    }
    for (; j < n; j++) rest = AG_NAMED(ag_fma_)(a[j], b[j], rest);
    return AG_NAMED(ag_row_sum_)(sum + other) + rest;
}

#undef VEC
#undef BITS
#undef LANES
#undef FMA
#undef ALL
