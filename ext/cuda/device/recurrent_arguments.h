/* The arguments of kernels of recurrent layers: plain C, for device code, for Cython and for the
 * host builds of the tests. */
#ifndef AG_CUDA_RECURRENT_ARGUMENTS_H
#define AG_CUDA_RECURRENT_ARGUMENTS_H

#include "reduction_arguments.h"

#define AG_RECURRENT_THREADS 256

/* One step of a cell. Row j belongs to sequence j; rows lie one after the other, except for those
 * of `sums`, which are `ld` elements apart, and become the gates. */
typedef struct {
    void *sums;         /* the input's part, and but for GRU that of the state */
    const void *others; /* GRU: that of the state */
    const void *b_ih, *b_hh;
    const void *before; /* the cell before (LSTM), or the state (GRU) */
    void *cell;         /* LSTM: the cell */
    void *h;            /* the state, or what is projected to it */
    void *state;        /* the same again, or NULL */
    ag_wide_divisor n;  /* elements of a gate */
    uint64_t rows, ld;
    uint32_t relu;      /* instead of tanh */
} ag_cell_args;

/* Rows that lie in two places: the first `count` at `first`, `apart` elements from one to the next,
 * the others at `rest`, where row j has its place too; NULL is 0. */
typedef struct {
    const void *first;
    const void *rest;
    uint64_t count, apart;
} ag_two_places;

/* One step back. */
typedef struct {
    const void *gates; /* of this step, `ld` apart; of an Elman network its states */
    ag_two_places grad;   /* of the state, from the steps behind */
    const void *grad_out; /* its gradient as a result, which is added; may be NULL */
    ag_two_places grad_cell;
    ag_two_places before; /* the cell before */
    ag_two_places state;  /* the state before */
    void *grad_sums, *grad_others; /* of the sums, and of the state's part of them (GRU) */
    void *grad_before; /* of the cell before (LSTM), of the state without its product (GRU) */
    void *h;    /* LSTM: the state before a projection; may be NULL */
    void *last; /* the state before, for the gradient of its weight; may be NULL */
    ag_wide_divisor n;
    uint64_t rows, ld;
    uint32_t relu;
} ag_cell_back_args;

/* out = a + b, and a copy. */
typedef struct {
    void *out;
    ag_two_places a;
    const void *b; /* may be NULL */
    void *last;    /* may be NULL */
    ag_two_places state;
    ag_wide_divisor n;
    uint64_t rows;
} ag_state_rows_args;

#endif
