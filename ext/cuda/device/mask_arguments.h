/* The arguments of kernels over masks: plain C, for device code, for Cython and for the host builds
 * of the tests. */
#ifndef AG_CUDA_MASK_ARGUMENTS_H
#define AG_CUDA_MASK_ARGUMENTS_H

#include "reduction_arguments.h"

#define AG_MASK_THREADS 256
#define AG_MASK_ITEMS 8 /* neighbours of a thread */
#define AG_MASK_DIMS 64

/* Block b has bytes b * chunk to (b + 1) * chunk, which is whole tiles. */
typedef struct {
    const uint8_t *mask; /* dense; true is what isn't 0 */
    uint64_t *counts;    /* how many are true in each block; then before each block, and in all */
    int64_t *out;        /* a row of coordinates for each, the outermost first */
    ag_wide_divisor size[AG_MASK_DIMS]; /* the innermost first */
    uint64_t n, chunk, limit; /* limit: rows of `out` */
    uint32_t blocks, nd;
} ag_mask_args;

#endif
