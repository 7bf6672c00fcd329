/* The arguments of operations along rows: plain C, for device code, for Cython and for the host builds
 * of the tests. */
#ifndef AG_CUDA_ROW_ARGUMENTS_H
#define AG_CUDA_ROW_ARGUMENTS_H

#include "reduction_arguments.h"

/* All operands are dense and of one shape, (outer, length, inner); a row runs along `length`. The
 * threads of a block make `1 << width` rows, with `1 << group` threads for each. */
typedef struct {
    void *out;
    const void *in[2]; /* the input, or the gradient and the result of the forward pass */
    ag_wide_divisor inner;
    uint64_t rows; /* outer * inner */
    uint64_t length;
    uint32_t group, width; /* as logarithms */
    uint32_t by_rows;      /* inner is 1 */
    uint32_t packed;       /* and several elements of a row are read at once */
} ag_row_args;

/* Norms of rows: the input (and the gradient) in `row.in`, `inner` is 1. What belongs to columns or
 * rows is in the type that is computed in. */
typedef struct {
    ag_row_args row;
    const void *weight, *bias; /* of each column; may be NULL */
    void *mean, *spread;       /* of each row; without a mean nothing is subtracted */
    double eps;
} ag_norm_args;

/* Gradients of weights and biases, sums over rows; blocks along y share the rows. */
typedef struct {
    const void *in[2]; /* the input, and the gradient */
    const void *mean, *spread;
    void *out[2];
    double *partial[2]; /* not NULL: [part][column] */
    uint64_t rows, length, chunk;
    uint32_t group, width;
    int32_t dt; /* of the results */
} ag_norm_columns_args;

#endif
