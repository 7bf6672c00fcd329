/* Interpolation: which elements make element `o` of a result, and their weights.  Cubic weights:
 * R. Keys, "Cubic convolution interpolation for digital image processing" (1981), with a = -3/4. */
#ifndef AG_SCALAR_RESAMPLE_H
#define AG_SCALAR_RESAMPLE_H

#include "config.h"

/* In float32 for all dtypes, as torch rounds. */
AG_FN int64_t ag_nearest_tap(int exact, float step, int64_t size, int64_t o) {
    const int64_t i = (int64_t)floorf(exact ? ((float)o + 0.5f) * step : (float)o * step);
    return i < size ? i : size - 1;
}

/* The place of an element of the result among those of the input. Its product is rounded before
 * the difference, so that a place on an element is there on each device. */
#define AG_RESAMPLE(T, S)                                                                          \
    AG_FN ag_##T ag_resampled_place_##T(int align, ag_##T step, int64_t o) {                       \
        const ag_##T half = (ag_##T)0.5;                                                           \
        return align ? AG_PRODUCT(T, step, (ag_##T)o)                                              \
                     : AG_PRODUCT(T, step, (ag_##T)o + half) - half;                               \
    }                                                                                              \
    /* Where sizes are the same no neighbour, even one that is infinite, is looked at. */          \
    AG_FN void ag_linear_taps_##T(int align, ag_##T step, int64_t size, int64_t to, int64_t o,     \
                                  int64_t *index, ag_##T *weight) {                                \
        ag_##T x = size == to ? (ag_##T)o : ag_resampled_place_##T(align, step, o), t;             \
        int64_t i;                                                                                 \
        x = x > 0 ? x : 0;                                                                         \
        i = (int64_t)x;                                                                            \
        i = i < size - 1 ? i : size - 1;                                                           \
        t = x - (ag_##T)i;                                                                         \
        t = t < 1 ? t : 1;                                                                         \
        index[0] = i;                                                                              \
        index[1] = i < size - 1 && size != to ? i + 1 : i;                                         \
        weight[0] = 1 - t;                                                                         \
        weight[1] = t;                                                                             \
    }                                                                                              \
    /* Weights of an element nearer than 1, and of one between 1 and 2 away. */                    \
    AG_FN ag_##T ag_cubic_near_##T(ag_##T x) {                                                     \
        const ag_##T y = ag_fma_##T((ag_##T)1.25, x, (ag_##T)-2.25) * x;                           \
        return ag_fma_##T(y, x, (ag_##T)1);                                                        \
    }                                                                                              \
    AG_FN ag_##T ag_cubic_far_##T(ag_##T x) {                                                      \
        const ag_##T y = ag_fma_##T((ag_##T)-0.75, x, (ag_##T)3.75);                               \
        return ag_fma_##T(ag_fma_##T(y, x, (ag_##T)-6), x, (ag_##T)3);                             \
    }                                                                                              \
    AG_FN void ag_cubic_taps_##T(int align, ag_##T step, int64_t size, int64_t o, int64_t *index,  \
                                 ag_##T *weight) {                                                 \
        const ag_##T x = ag_resampled_place_##T(align, step, o), below = floor##S(x);              \
        const ag_##T t = x - below;                                                                \
        const int64_t first = (int64_t)below - 1, last = size - 1;                                 \
        int k;                                                                                     \
        for (k = 0; k < 4; k++)                                                                    \
            index[k] = first + k < 0 ? 0 : first + k < last ? first + k : last;                    \
        weight[0] = ag_cubic_far_##T(t + 1);                                                       \
        weight[1] = ag_cubic_near_##T(t);                                                          \
        weight[2] = ag_cubic_near_##T(1 - t);                                                      \
        weight[3] = ag_cubic_far_##T(2 - t);                                                       \
    }
AG_FOR_FLOATS(AG_RESAMPLE)
#undef AG_RESAMPLE

#endif
