/* The arguments of sorts of rows, of unique elements and of counts: plain C, for device code, for
 * Cython and for the host builds of the tests. */
#ifndef AG_CUDA_ORDER_ARGUMENTS_H
#define AG_CUDA_ORDER_ARGUMENTS_H

#include "reduction_arguments.h"

#define AG_ORDER_THREADS 256
#define AG_ORDER_SLOTS 2048 /* elements that a block sorts at once */
#define AG_BINS 2048        /* that a block counts for itself */

/* The operand is dense, (outer, length, inner); a row runs along `length`. Element j of row r is
 * number r * length + j, and has a key of 4 or 8 bytes, in whose order it is sorted. Results have
 * `take` elements of each row, from the `first` one on. */
typedef struct {
    const void *in;
    void *values;
    int64_t *index;
    void *keys;         /* by number, then in order */
    const void *places; /* the numbers in order; NULL: as they are */
    ag_wide_divisor length, inner, take;
    uint64_t n;    /* elements of the launch */
    uint64_t rows;
    uint64_t first;
    uint64_t flip; /* all bits turn the order */
    uint32_t far;  /* places have 8 bytes */
    uint32_t item; /* bytes of an element */
    uint32_t slots; /* for a row that a block sorts, as a logarithm */
    int32_t dt;
} ag_order_args;

/* Unique elements, or slices of `columns` elements, of `n` in order. */
typedef struct {
    const void *in;
    const void *keys;   /* in order; NULL: slices are compared */
    const void *places; /* in order; NULL: as they are */
    uint8_t *mask;      /* which differ from the one before */
    const int64_t *rank; /* how many of those there are up to each */
    void *values;
    int64_t *inverse, *starts, *counts; /* `starts` also ends the last one */
    int64_t *chosen;    /* the first of each, by place */
    ag_wide_divisor inner, unique; /* of slices: (outer, n, inner), and how many are unique */
    uint64_t n, columns, column, packed, total;
    uint32_t far, wide, item;
    int32_t dt;
} ag_unique_args;

/* How often numbers occur, and each place as often as it is said. */
typedef struct {
    const int64_t *in;
    int64_t *out;
    uint64_t n, size;
} ag_count_args;

#endif
