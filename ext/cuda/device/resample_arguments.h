/* The arguments of interpolation, of filters and of sampling at points: plain C, for device
 * code, for Cython and for the host builds of the tests. */
#ifndef AG_CUDA_RESAMPLE_ARGUMENTS_H
#define AG_CUDA_RESAMPLE_ARGUMENTS_H

#include "pool_arguments.h"

/* Planes of the sizes `size` become such of `to`, along three dimensions. A thread makes an element
 * of the result, or for gradients one of the gradient of the input. */
typedef struct {
    void *out;
    const void *in;
    ag_pool_places from, to_places; /* of what is read and of what is written */
    ag_wide_divisor area, channels, rows, columns;
    int64_t size[3], to[3];
    double step[3];                 /* from one to the next, in the type that is computed in */
    uint64_t n;
    uint32_t missing; /* dimensions that aren't there, of the three */
    uint32_t align, exact, channels_inner;
} ag_resample_args;

/* Sums of neighbours along a dimension of dense tensors (outer, size or to, inner): of elements
 * bounds[2 o] to bounds[2 o + 1] - 1, times weight[o][0], weight[o][1], ... Bounds rise with o. */
typedef struct {
    void *out;
    const void *in, *weight;
    const int64_t *bounds;
    ag_wide_divisor inner, own; /* own: of what is written, size or to */
    int64_t size, to, taps;
    uint64_t n;
    uint32_t bits; /* whole weights are 2^bits times as large */
} ag_filter_args;

#endif
