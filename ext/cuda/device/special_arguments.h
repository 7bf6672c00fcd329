/* The arguments of functions with loops: plain C, for device code, for Cython and for the host
 * builds of the tests. */
#ifndef AG_CUDA_SPECIAL_ARGUMENTS_H
#define AG_CUDA_SPECIAL_ARGUMENTS_H

#include "arguments.h"

/* All operands are dense, of one shape and one floating-point dtype. */
typedef struct {
    void *out;
    const void *in[2];
    uint64_t n;
    int32_t order; /* of a derivative; of incomplete gamma functions, whether it is the upper one */
    int32_t dt;
} ag_special_args;

#endif
