/* Sampling at points: the elements around one along a dimension, their weights, and the
 * derivatives of these by the coordinate. Products that decide about elements are not fused with
 * sums: a point halfway between two elements is as near to the same one on every processor.
 * Cubic weights: R. Keys, "Cubic convolution interpolation for digital image processing" (1981),
 * with a = -3/4. */
#ifndef AG_SCALAR_GRID_H
#define AG_SCALAR_GRID_H

#include "config.h"

enum { AG_GRID_ZEROS = 0, AG_GRID_BORDER = 1, AG_GRID_REFLECTION = 2 };

/* A dimension of `size` elements. */
typedef struct {
    int64_t size;
    int align, padding;
    int shows_nan; /* coordinates that are no number give such results, wherever the others lie */
} ag_grid_axis;

#define AG_GRID(T, S)                                                                              \
    AG_FN ag_##T ag_grid_half_##T(const ag_grid_axis *a) {                                         \
        return (ag_##T)(a->align ? a->size - 1 : a->size) / (ag_##T)2;                             \
    }                                                                                              \
    AG_FN ag_##T ag_grid_place_##T(const ag_grid_axis *a, ag_##T point) {                          \
        return AG_PRODUCT(T, point + (ag_##T)1, ag_grid_half_##T(a))                               \
             - (a->align ? (ag_##T)0 : (ag_##T)0.5);                                               \
    }                                                                                              \
    AG_FN ag_##T ag_grid_reflected_##T(const ag_grid_axis *a, ag_##T x, ag_##T *derivative) {      \
        const ag_##T low = a->align ? (ag_##T)0 : (ag_##T)-0.5;                                    \
        const ag_##T span = (ag_##T)(a->align ? a->size - 1 : a->size);                            \
        ag_##T y = x - low, times, rest;                                                           \
        int even;                                                                                  \
        if (span <= 0) return 0;                                                                   \
        *derivative = y < 0 ? -*derivative : *derivative;                                          \
        y = y < 0 ? -y : y;                                                                        \
        times = floor##S(y / span);                                                                \
        rest = y - AG_PRODUCT(T, times, span);                                                     \
        even = times - AG_PRODUCT(T, (ag_##T)2, floor##S(times / (ag_##T)2)) == 0;                 \
        *derivative = even ? *derivative : -*derivative;                                           \
        return (even ? rest : span - rest) + low;                                                  \
    }                                                                                              \
    /* A place that has an element, but for zeros; the derivative of one that stays at an end is   \
     * 0. What is no number, or was reflected from infinity, is at the first. */                   \
    AG_FN ag_##T ag_grid_inside_##T(const ag_grid_axis *a, ag_##T x, ag_##T *derivative) {         \
        const ag_##T last = (ag_##T)(a->size - 1);                                                 \
        if (a->padding == AG_GRID_ZEROS) return x;                                                 \
        if (a->padding == AG_GRID_REFLECTION) x = ag_grid_reflected_##T(a, x, derivative);         \
        *derivative = x > 0 && x < last ? *derivative : 0;                                         \
        return x > 0 ? x < last ? x : last : 0;                                                    \
    }                                                                                              \
    /* The number of the element at a place; -1 where there is none. Large sizes are rounded. */   \
    AG_FN int64_t ag_grid_found_##T(const ag_grid_axis *a, ag_##T place) {                         \
        const int64_t end = a->size - 1;                                                           \
        int64_t i;                                                                                 \
        if (!(place >= 0 && place <= (ag_##T)end)) return -1;                                      \
        i = (int64_t)place;                                                                        \
        return i < end ? i : end;                                                                  \
    }                                                                                              \
    AG_FN void ag_grid_nearest_##T(const ag_grid_axis *a, ag_##T point, int64_t *at, ag_##T *w,    \
                                   ag_##T *dw) {                                                   \
        const ag_##T x = ag_grid_inside_##T(a, ag_grid_place_##T(a, point), dw);                   \
        at[0] = ag_grid_found_##T(a, rint##S(x));                                                  \
        w[0] = at[0] < 0 ? (ag_##T)0 : (ag_##T)1;                                                  \
        dw[0] = 0;                                                                                 \
    }                                                                                              \
    AG_FN void ag_grid_linear_##T(const ag_grid_axis *a, ag_##T point, int64_t *at, ag_##T *w,     \
                                  ag_##T *dw) {                                                    \
        ag_##T derivative = ag_grid_half_##T(a);                                                   \
        const ag_##T x = ag_grid_inside_##T(a, ag_grid_place_##T(a, point), &derivative);          \
        const ag_##T first = floor##S(x), t = x - first;                                           \
        at[0] = ag_grid_found_##T(a, first);                                                       \
        at[1] = ag_grid_found_##T(a, first + (ag_##T)1);                                           \
        w[0] = at[0] >= 0 ? (ag_##T)1 - t : (ag_##T)0;                                             \
        w[1] = at[1] >= 0 ? t : (ag_##T)0;                                                         \
        dw[0] = -derivative;                                                                       \
        dw[1] = derivative;                                                                        \
        if (a->shows_nan && x != x) {                                                              \
            at[0] = at[1] = 0;                                                                     \
            w[0] = w[1] = x;                                                                       \
        }                                                                                          \
    }                                                                                              \
    AG_FN ag_##T ag_grid_near_##T(ag_##T x) {                                                      \
        return ((ag_##T)1.25 * x - (ag_##T)2.25) * x * x + (ag_##T)1;                              \
    }                                                                                              \
    AG_FN ag_##T ag_grid_far_##T(ag_##T x) {                                                       \
        return (((ag_##T)-0.75 * x + (ag_##T)3.75) * x - (ag_##T)6) * x + (ag_##T)3;               \
    }                                                                                              \
    AG_FN ag_##T ag_grid_near_derivative_##T(ag_##T x) {                                           \
        return ((ag_##T)3.75 * x - (ag_##T)4.5) * x;                                               \
    }                                                                                              \
    AG_FN ag_##T ag_grid_far_derivative_##T(ag_##T x) {                                            \
        return ((ag_##T)-2.25 * x + (ag_##T)7.5) * x - (ag_##T)6;                                  \
    }                                                                                              \
    AG_FN void ag_grid_cubic_##T(const ag_grid_axis *a, ag_##T point, int64_t *at, ag_##T *w,      \
                                 ag_##T *dw) {                                                     \
        const ag_##T x = ag_grid_place_##T(a, point), first = floor##S(x), t = x - first;          \
        const ag_##T half = ag_grid_half_##T(a);                                                   \
        int k;                                                                                     \
        w[0] = ag_grid_far_##T(t + (ag_##T)1);                                                     \
        w[1] = ag_grid_near_##T(t);                                                                \
        w[2] = ag_grid_near_##T((ag_##T)1 - t);                                                    \
        w[3] = ag_grid_far_##T((ag_##T)2 - t);                                                     \
        dw[0] = ag_grid_far_derivative_##T(t + (ag_##T)1) * half;                                  \
        dw[1] = ag_grid_near_derivative_##T(t) * half;                                             \
        dw[2] = -ag_grid_near_derivative_##T((ag_##T)1 - t) * half;                                \
        dw[3] = -ag_grid_far_derivative_##T((ag_##T)2 - t) * half;                                 \
        for (k = 0; k < 4; k++) {                                                                  \
            ag_##T unused = 0;                                                                     \
            at[k] = ag_grid_found_##T(a, ag_grid_inside_##T(a, first + (ag_##T)(k - 1), &unused)); \
            w[k] = at[k] >= 0 ? w[k] : (ag_##T)0;                                                  \
        }                                                                                          \
    }
AG_FOR_FLOATS(AG_GRID)
#undef AG_GRID

#endif
