/* The arguments of kernels that draw: plain C, for device code, for Cython and for the host builds
 * of the tests. */
#ifndef AG_CUDA_RANDOM_ARGUMENTS_H
#define AG_CUDA_RANDOM_ARGUMENTS_H

#include "arguments.h"

#define AG_RANDOM_THREADS 256        /* of a block that fills */
#define AG_PERMUTATION_THREADS 1024  /* the most that a block has which permutes */

/* A fill of real numbers in C order; complex ones are twice as many. */
typedef struct {
    void *out;
    uint64_t *state; /* key, position, and how many blocks of a launch have read both */
    const double *p; /* probabilities, one for each element */
    double a, b, top; /* as in RandomJob (_C/random_loops.pxd) */
    uint64_t range;
    int64_t base;
    uint64_t n;
    uint64_t chunks; /* of random words that are drawn */
    ag_fault *fault;
    const char *op;
    int32_t dt;
} ag_random_args;

typedef struct {
    int64_t *out;
    uint64_t *state;
    uint64_t *claimed; /* of each place, by which step; it has n */
    int64_t n;
    uint64_t chunks;
} ag_permutation_args;

/* Parameters of distributions that are looked at, in C order. */
typedef struct {
    const double *x;
    uint64_t rows, columns;
    ag_fault *fault;
    const char *op;
} ag_parameters_args;

#endif
