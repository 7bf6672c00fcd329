/* The arguments of optimizer steps and of what training does to lists of gradients: plain C, for
 * device code, for Cython and for the host builds of the tests. */
#ifndef AG_CUDA_STEP_ARGUMENTS_H
#define AG_CUDA_STEP_ARGUMENTS_H

#include "arguments.h"

#define AG_STEP_THREADS 256
#define AG_STEP_TILE 4096   /* elements of a parameter, or of a tensor in a list, for a block */
#define AG_STEP_ARRAYS 5    /* parameter, gradient and state: STEP_ARRAYS of the CPU's loops */
#define AG_STEP_PLACES 3    /* numbers of a state: STEP_NUMBERS */
#define AG_STEP_DOUBLES 20  /* the most that a loop has as numbers */
#define AG_STEP_WORDS 480   /* of one launch: all arguments take less than 4096 bytes */
#define AG_LIST_WORDS 480   /* the same, of a list of tensors */

/* A number of one element in memory; `dt`: 1 if it is float64, 0 if it is float32. */
typedef struct { void *p; uint64_t dt; } ag_number;

/* A parameter, in memory of the device: the first launches of a step write it, the last one
 * reads it. */
typedef struct {
    void *array[AG_STEP_ARRAYS];
    void *number[AG_STEP_PLACES];
    double numbers[AG_STEP_DOUBLES];
    uint64_t start, n; /* tiles of its dtype before this parameter, and its elements */
    uint64_t dts;      /* bit k: number k is float64, else float32 */
} ag_step_entry;

/* `stop` says that a number of steps is none: nothing is stepped. */
typedef struct {
    uint64_t stop, unused;
    ag_step_entry entry[1];
} ag_step_table;

/* The beginning of a step, for some of the parameters. Of each there are in `words` the arrays and
 * numbers whose bits are set, its size with its place in the table above 48 bits, and its first
 * tile among those of its dtype, with the rest of the place above 40 and the dtypes of numbers
 * above 56 bits. */
typedef struct {
    ag_step_table *table;
    ag_number lr;
    ag_fault *fault;
    const char *op;
    double numbers[AG_STEP_DOUBLES];
    int64_t listed; /* the number of the first of them in the lists of the call */
    uint32_t first, count, arrays, places;
    uint64_t words[AG_STEP_WORDS];
} ag_begin_args;

typedef struct {
    ag_step_table *table;
    ag_number grad_scale, found_inf; /* may be NULL */
    uint32_t first, count; /* the parameters of the dtype that the kernel steps */
} ag_step_args;

/* Tensors of one dtype, by address and number of elements: what is done to all elements of a list.
 * In `words` there are for each its address, its elements, and the tiles before it. */
typedef struct {
    ag_number factor; /* by which they are multiplied, or the norm that `bound` limits */
    void *found_inf;      /* float32: becomes 1 if an element isn't finite; may be NULL */
    double *partial;  /* of norms: the sum of each tile */
    double bound;
    uint32_t count, bounded;
    uint64_t words[AG_LIST_WORDS];
} ag_list_args;

/* The root of the sum of `n` numbers. */
typedef struct {
    const double *partial;
    void *out;
    uint64_t n;
    int64_t dt; /* of the result */
} ag_root_args;

/* The scale of losses: a float32, a count (int32), and whether the last step overflowed, as a
 * float32. */
typedef struct {
    void *scale, *tracker;
    const void *found_inf;
    double growth, backoff;
    int64_t interval;
} ag_scale_args;

#endif
