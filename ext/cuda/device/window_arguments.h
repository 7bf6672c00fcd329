/* The arguments of kernels for windows of images: plain C, for device code, for Cython and for
 * the host builds of the tests. */
#ifndef AG_CUDA_WINDOW_ARGUMENTS_H
#define AG_CUDA_WINDOW_ARGUMENTS_H

#include "reduction_arguments.h"

/* Which element of a source each place of a grid takes, for each tap of a window; all have three
 * dimensions, those that aren't there of size 1. The element is at (place * step + begin + tap
 * index * tap) / apart, and there is none where that isn't whole or lies outside of `size`.
 * Strides of elements in the source are in bytes. */
typedef struct {
    int64_t step[3], begin[3], tap[3], apart[3];
    int64_t size[3], stride[3];
    uint64_t taps[3];
    ag_wide_divisor rows, columns; /* places along the second dimension and the third */
    uint32_t divided;              /* some `apart` isn't 1 */
} ag_windows;

/* Windows as columns: of `images` images the places `first` to `first + places.size - 1`. A
 * thread takes all taps of one channel at one place. */
typedef struct {
    void *out;
    const void *in;
    ag_windows w;
    ag_wide_divisor places, channels;
    ag_wide_divisor each; /* channels of a group */
    uint64_t n, first;
    int64_t in_image, in_channel;                                  /* strides in bytes */
    int64_t out_image, out_place, out_channel, out_tap, out_group;
    uint32_t channels_inner; /* neighbouring threads take neighbouring channels */
} ag_columns_args;

/* The way back: each element of an image is the sum of the columns that have it. `w` leads from
 * elements to places. */
typedef struct {
    void *out;
    const void *in, *bias; /* of each channel, of the dtype; may be NULL */
    ag_windows w;          /* stride: of places in `in` */
    ag_wide_divisor area, channels;
    uint64_t n;
    int64_t out_image, out_channel, out_stride[3];
    int64_t in_image, in_channel, in_tap, bias_step;
    uint32_t channels_inner;
} ag_fold_args;

/* Convolutions whose results take one channel each, or for gradients of images `many`. */
typedef struct {
    void *out;
    const void *in, *weight, *bias;
    ag_windows w;
    ag_wide_divisor area, channels;
    ag_wide_divisor share; /* results of a channel of the source */
    uint64_t n, many;
    int64_t in_image, in_channel;
    int64_t out_image, out_channel, out_stride[3];
    int64_t weight_channel, weight_stride[3], bias_step;
    uint32_t by_source;    /* weights are those of channels of the source */
    uint32_t channels_inner;
} ag_depthwise_args;

/* Gradients of such weights: a result for each channel and tap, summed over images and places. */
typedef struct {
    void *out;
    double *partial;       /* not NULL: [part][channel][tap] */
    const void *in, *grad;
    ag_windows w;
    ag_wide_divisor places, share, taps;
    uint64_t channels, count, chunk; /* `count`: images * places */
    int64_t in_image, in_channel;
    int64_t grad_image, grad_channel, grad_stride[3];
    uint32_t width, group; /* as logarithms: threads side by side, and those of a result */
    int32_t dt;
} ag_depthwise_weight_args;

#endif
