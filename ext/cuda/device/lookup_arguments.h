/* The arguments of losses of classes, of bags of embeddings and of checks of values: plain C, for
 * device code, for Cython and for the host builds of the tests. */
#ifndef AG_CUDA_LOOKUP_ARGUMENTS_H
#define AG_CUDA_LOOKUP_ARGUMENTS_H

#include "reduction_arguments.h"

#define AG_LOOKUP_THREADS 256

/* The negative log-likelihood of one class for each target. Input and its gradient are dense
 * (samples, classes, inner), all others are dense, too. */
typedef struct {
    const void *in;     /* log-probabilities */
    const int64_t *target;
    const void *weight; /* of each class; NULL: all are 1 */
    void *out;          /* of each target; or the sum or mean; or the gradient of the input */
    void *total;        /* sum of the weights: written forward, read backward */
    const void *grad;   /* backward */
    double *partial;    /* of each block: loss, sum of weights; NULL: there is one block */
    ag_wide_divisor inner;
    uint64_t count, parts; /* targets; blocks whose sums are there */
    int64_t classes, ignore;
    ag_fault *fault;
    const char *op;
    uint32_t reduction; /* RED_NONE, RED_MEAN, RED_SUM */
    int32_t dt;
} ag_nll_args;

/* Bags of rows of a table. */
typedef struct {
    const void *in;      /* the table */
    const void *samples; /* a factor for each index, in the type that is computed in; may be NULL */
    void *out;
    const int64_t *index, *offsets;
    int64_t *bag_of, *sizes, *places;
    int64_t row_stride, column_stride; /* of the table, in bytes */
    int64_t rows, n, padding;          /* n: indices */
    ag_wide_divisor columns;           /* at least 1: a thread each */
    uint64_t bags, bounds, width;      /* bounds: offsets; width: columns of the table */
    ag_fault *fault;
    const char *op;
    uint32_t mode;
} ag_bag_args;

/* Values that must be in a range. */
typedef struct {
    const void *in; /* dense int64, or numbers of which none is below 0 */
    uint64_t n;
    int64_t low, high, dim;
    ag_fault *fault;
    const char *op;
    int32_t kind, dt;
} ag_check_args;

#endif
