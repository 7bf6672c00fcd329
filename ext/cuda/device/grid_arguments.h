/* The arguments of sampling at points: plain C, for device code, for Cython and for the host
 * builds of the tests. */
#ifndef AG_CUDA_GRID_ARGUMENTS_H
#define AG_CUDA_GRID_ARGUMENTS_H

#include "pool_arguments.h"

/* Images of `size` at the points of dense grids (example, point, rank); dense results, and
 * gradients of what was sampled, are (example, channel, point). Strides of images are in bytes. */
typedef struct {
    void *out;
    const void *image, *grad, *grid;
    ag_pool_places places;          /* of the image, or its gradient */
    ag_wide_divisor points, chunks; /* chunks: of channels that a thread takes together */
    int64_t size[3];
    uint64_t n, channels, examples;
    uint32_t rank, padding, align;
} ag_grid_args;

/* For the gradient of images: the elements around points as keys, the number of each among all
 * examples, with their weights in the type that is computed in. A key of `none` stands for no
 * element. */
typedef struct {
    ag_grid_args grid;
    void *keys, *weights;
    uint64_t none;
    uint32_t wide_keys;
} ag_grid_keys_args;

/* These in order: each element sums the gradients of the points that have it, in the order of
 * these. */
typedef struct {
    ag_grid_args grid;
    const void *keys, *places, *weights;
    uint64_t pairs;
    ag_wide_divisor corners, rows, columns, plane;
    uint32_t wide_keys, wide_places;
} ag_grid_gather_args;

#endif
