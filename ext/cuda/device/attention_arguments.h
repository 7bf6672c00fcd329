/* The arguments of attention: plain C, for device code, for Cython and for the host builds of the
 * tests. */
#ifndef AG_CUDA_ATTENTION_ARGUMENTS_H
#define AG_CUDA_ATTENTION_ARGUMENTS_H

#include "arguments.h"

#define AG_ATTENTION_THREADS 256

/* (batch, heads, places, width) with strides in elements. */
typedef struct {
    void *at;
    int64_t batch, head, row, column;
    int32_t dt;
} ag_heads;

/* A block makes a tile of rows of one head, or of columns in the gradients of keys and values;
 * blocks along y make other columns of the results. */
typedef struct {
    ag_heads q, k, v, out;
    void *exact; /* half types: the result in float32, dense; may be NULL */
    void *lse;   /* logarithms of the sums of exponentials: (batch, heads, rows) */
    const void *mask;
    int64_t mask_step[4]; /* in elements */
    const void *dropped;  /* a mask of dropout in the computing type, dense: (batch, heads, rows,
                             cols), or NULL */
    ag_heads grad, dq, dk, dv;
    void *shift; /* as lse: products of gradient and result, from the first pass for the second */
    int64_t batch, heads, shared; /* heads of query, and how many have one of key and value */
    int64_t rows, cols, width, deep;
    double scale;
    uint32_t causal;
    uint32_t truth; /* the mask has truth values, else it is added, in the computing type */
} ag_attention_args;

#endif
