/* The arguments of pooling: plain C, for device code, for Cython and for the host builds of the
 * tests. */
#ifndef AG_CUDA_POOL_ARGUMENTS_H
#define AG_CUDA_POOL_ARGUMENTS_H

#include "reduction_arguments.h"

/* One of two tensors with images of three dimensions; strides in bytes. */
typedef struct {
    int64_t image, channel, stride[3];
} ag_pool_places;

/* Windows of `k` elements, `e` apart, each `s` after the one before, from -p on; or with
 * `adaptive` nearly equal parts. `large` is what has windows, `small` has one element for each.
 * A thread takes an element of `small`, or for gradients one of `large`. */
typedef struct {
    void *out;
    const void *in;
    int64_t *index;       /* of maxima: where they were in their plane, or NULL */
    const int64_t *indices; /* the same, to be read */
    ag_pool_places large, small, places; /* places: of indices */
    ag_wide_divisor area, channels, rows, columns; /* of what threads go through */
    ag_wide_divisor by_step[3], by_size[3], by_count[3]; /* by s, by the sizes of large and small */
    int64_t size[3], count[3];
    int64_t k[3], s[3], p[3], e[3];
    int64_t divisor;      /* of averages; 0: the number of elements */
    uint64_t n;
    uint32_t adaptive, with_pad, channels_inner;
} ag_pool_args;

#endif
