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

/* Operands that lie densely in one order: `in[k]` NULL is the number in `number[k]`. */
typedef struct {
    void *out;
    const void *in[AG_CUDA_OPERANDS - 1];
    ag_cell number[AG_CUDA_OPERANDS - 1];
    uint64_t n;
    ag_fault *fault;
    const char *op; /* the name in a message: an address of the host that the device only passes on */
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

#endif
