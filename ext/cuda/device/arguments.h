/* The arguments of kernels, for device code, for Cython, and for the host builds of the tests: plain C.
 * Each kernel takes one of these structs by value. Addresses are 8-byte words at multiples of 8. */
#ifndef AG_CUDA_ARGUMENTS_H
#define AG_CUDA_ARGUMENTS_H

#include <stdint.h>

#define AG_CUDA_DIMS 8     /* of strided operands, after joining what can be joined */
#define AG_CUDA_OPERANDS 5 /* of an elementwise kernel, the result first */

/* A number in the arguments, of the type that the formula computes in. */
typedef struct { uint64_t word[2]; } ag_cell;

/* Division by a size that the host knows: q = (umulhi(n, mul) + n) >> shift, for n < 2^31. */
typedef struct { uint32_t size, mul, shift; } ag_divisor;

/* The first bad value, in pinned memory of the host; the layout of Fault in _C/launch.pxd. */
typedef struct ag_fault ag_fault;

/* Operands that lie densely in one order, or are one element: `in[k]` NULL is the number in
 * `number[k]`; else bit k of `dense` is set, or all read the element at in[k]. The first `vectors` vectors
 * of the kernel are loaded whole, the host has seen that all operands are aligned; the rest isn't. */
typedef struct {
    void *out;
    const void *in[AG_CUDA_OPERANDS - 1];
    ag_cell number[AG_CUDA_OPERANDS - 1];
    uint64_t n;
    ag_fault *fault;
    const char *op; /* the name in a message: an address of the host that the device only passes on */
    uint64_t vectors;
    uint32_t dense;
} ag_flat_args;

/* Any strides, in bytes; fewer than 2^31 elements, the rest is another launch. */
typedef struct {
    void *out;
    const void *in[AG_CUDA_OPERANDS - 1];
    ag_cell number[AG_CUDA_OPERANDS - 1];
    int64_t stride[AG_CUDA_OPERANDS][AG_CUDA_DIMS]; /* the last dimension, which is the innermost, first */
    ag_divisor size[AG_CUDA_DIMS];
    uint32_t n, nd;
    ag_fault *fault;
    const char *op;
} ag_strided_args;

/* A copy that changes which dimension is dense. A tile is cut out of two dimensions: along a row of `in`
 * its elements are dense, along a column of `out`; other dimensions come behind the tiles of both. */
typedef struct {
    void *out;
    const void *in;
    int64_t out_step, in_step; /* bytes from an element to the next where the other one is dense */
    int64_t out_stride[AG_CUDA_DIMS], in_stride[AG_CUDA_DIMS]; /* of the other dimensions */
    ag_divisor size[AG_CUDA_DIMS]; /* of these, the innermost first */
    ag_divisor out_tiles, in_tiles; /* tiles along each of both */
    uint32_t out_size, in_size;     /* elements along each of both */
    uint32_t tiles, nd;             /* tiles in all, and number of other dimensions */
} ag_turned_args;

#endif
