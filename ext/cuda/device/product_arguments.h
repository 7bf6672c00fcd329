/* The arguments of products: c = alpha * a @ b + beta * add, for device code and for Cython (plain C). */
#ifndef AG_CUDA_PRODUCT_ARGUMENTS_H
#define AG_CUDA_PRODUCT_ARGUMENTS_H

#include "arguments.h"

/* Strides are in elements. The inner dimension has two levels, so that the sum of a batch of products
 * (addbmm) is one product; `outer` is 1 for all others. A factor is the bits of two doubles, or of
 * one int64 for integers. `add` is NULL where beta is 0. */
typedef struct {
    void *c;
    const void *a, *b, *add;
    ag_cell alpha, beta;
    int64_t m, n, k, outer;
    int64_t a_row, a_inner, a_outer, a_batch;
    int64_t b_inner, b_column, b_outer, b_batch;
    int64_t c_row, c_column, c_batch;
    int64_t add_row, add_column, add_batch;
    uint64_t conjugated; /* bit 0: a, bit 1: b */
} ag_product_args;

/* A matrix and a vector. Where the inner dimension is split, `partial` has what each part of `chunk`
 * elements gives, [part][row] in the type that is computed in, and a second kernel makes c of it. */
typedef struct {
    void *c, *partial;
    const void *a, *b, *add;
    ag_cell alpha, beta;
    int64_t m, k, chunk, parts;
    int64_t a_row, a_inner, b_inner, c_row, add_row;
    uint64_t conjugated;
} ag_vector_args;

#endif
