/* The arguments of scatters: plain C, for device code, for Cython and for the host builds of the
 * tests. Dimensions come innermost first, strides are in bytes. */
#ifndef AG_CUDA_SCATTER_ARGUMENTS_H
#define AG_CUDA_SCATTER_ARGUMENTS_H

#include "index_arguments.h"

#define AG_SCATTER_THREADS 256

/* Rows of elements ("columns") that come together where their keys are equal. Sorted slots have a
 * key, which says where the row of the result is, and a place, which says where the row of the
 * source is. */
typedef struct {
    void *out;
    const void *in;
    const void *keys, *places; /* uint32_t, or uint64_t if `wide` and `far` */
    ag_wide_divisor key_size[AG_CUDA_DIMS], place_size[AG_CUDA_DIMS], column_size[AG_CUDA_DIMS];
    int64_t key_stride[AG_CUDA_DIMS], place_stride[AG_CUDA_DIMS];
    int64_t column_out[AG_CUDA_DIMS], column_in[AG_CUDA_DIMS];
    ag_wide_divisor columns;
    uint64_t n, bound, padding; /* slots; keys from `bound` on and `padding` are left out */
    uint64_t chunk, chunks;     /* slots that a thread goes through */
    void *partial; /* of runs that go on in other chunks: [chunk][begun before, or there][column] */
    uint32_t key_nd, place_nd, column_nd, wide, far;
    uint32_t move;      /* what is done with elements that come together */
    uint32_t with_self; /* the result's own element is one of them */
    uint32_t mean;      /* it is divided by their number */
    uint32_t group, width; /* threads of a run, columns of a block that joins runs: logarithms */
    int32_t dt;
} ag_scatter_args;

/* The same without sorting, where the index is short along its dimension: each element of the
 * result looks through it. Dimensions are those of the result. */
typedef struct {
    void *out;
    const void *in;
    ag_index_args index; /* one; its steps are those of all dimensions but `dim` */
    ag_wide_divisor size[AG_CUDA_DIMS];
    int64_t out_stride[AG_CUDA_DIMS], in_stride[AG_CUDA_DIMS];
    int64_t limit[AG_CUDA_DIMS];     /* what lies beyond it isn't written */
    int64_t length;                  /* of the index along `dim` */
    int64_t index_step, in_step;     /* bytes along it */
    uint64_t n;
    uint32_t nd, dim;
    uint32_t move, with_self, mean;
    int32_t dt;
    const char *op;
} ag_short_scatter_args;

/* Rows of a table that were taken by index: those of the padding become 0, others are divided by
 * how often their index occurs. */
typedef struct {
    void *out;
    const int64_t *index, *counts; /* dense; counts of each row of the table, or NULL */
    ag_wide_divisor columns;
    uint64_t n;
    int64_t padding, rows;
} ag_row_shares_args;

#endif
