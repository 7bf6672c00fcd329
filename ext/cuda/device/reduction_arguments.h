/* The arguments of reductions and of losses: plain C, for device code, for Cython and for the host
 * builds of the tests. */
#ifndef AG_CUDA_REDUCTION_ARGUMENTS_H
#define AG_CUDA_REDUCTION_ARGUMENTS_H

#include "arguments.h"

#define AG_REDUCE_THREADS 256 /* the most that a block has */

/* Division by a size that the host knows: q = (high half of n * mul + n) >> shift, for n < 2^63. */
typedef struct { uint64_t size, mul, shift; } ag_wide_divisor;

/* Kept dimensions say where a result is, reduced ones what goes into it; strides are in bytes, the
 * innermost dimension comes first. Of the reduced ones, the first `n_reduced` make lines of `length`
 * elements, the other `n_outer` say where lines are. The threads of a block make `1 << width`
 * results, with `1 << group` threads for each; blocks along y share the elements of a result. */
typedef struct {
    const void *in;
    void *out[2];   /* the second one: indices of extremes, means beside variances; may be NULL */
    void *partial;  /* not NULL: each block leaves its accumulators there, [part][result] */
    double number[2]; /* of the operation: a scale, a divisor and whether a root is taken */
    int64_t kept_stride[AG_CUDA_DIMS];
    int64_t out_stride[2][AG_CUDA_DIMS];
    int64_t reduced_stride[AG_CUDA_DIMS];
    ag_wide_divisor kept_axes[AG_CUDA_DIMS];
    ag_wide_divisor reduced[AG_CUDA_DIMS];
    uint64_t results;
    uint64_t length, chunk;      /* elements of a line, and of these for a block */
    uint64_t lines, chunk_lines; /* of a result, and for a block */
    uint32_t n_kept, n_reduced, n_outer;
    uint32_t split; /* blocks along y that share lines; others have other lines */
    uint32_t group, width; /* as logarithms */
    uint32_t by_rows;      /* threads side by side read the same result, or else neighbouring ones */
    uint32_t dense;        /* the elements of a result lie side by side */
    uint32_t turned;       /* the smallest instead of the largest, all instead of any */
    int32_t dt[2];         /* of the results */
} ag_reduce_args;

#define AG_LOSS_OPERANDS 5

/* A loss: the results (of each element, if they are asked for), input, target, weight and the weight
 * of positive targets. An operand that isn't in memory is a number. */
typedef struct {
    void *out;      /* of each element; NULL: they are added */
    const void *in[AG_LOSS_OPERANDS - 1];
    double number[AG_LOSS_OPERANDS - 1];
    double parameter; /* beta of smooth_l1, delta of huber */
    double scale;
    void *total;    /* the sum, written by the only block */
    double *partial; /* or the sum of each block */
    int64_t stride[AG_LOSS_OPERANDS][AG_CUDA_DIMS];
    ag_wide_divisor size[AG_CUDA_DIMS];
    uint64_t n;
    ag_fault *fault;
    const char *op;
    uint32_t nd; /* 0: all operands lie densely in one order */
    uint32_t packed; /* and at addresses from which several are read at once */
    uint32_t weighted;
    int32_t dt;  /* of the sum */
} ag_loss_args;

#endif
