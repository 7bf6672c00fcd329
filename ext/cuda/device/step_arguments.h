/* The arguments of optimizer steps and of what training does to lists of gradients: plain C, for device
 * code, for Cython and for the host builds of the tests. */
#ifndef AG_CUDA_STEP_ARGUMENTS_H
#define AG_CUDA_STEP_ARGUMENTS_H

#include "arguments.h"

#define AG_STEP_THREADS 256
#define AG_STEP_TILE 4096   /* elements of a parameter for a block */
#define AG_STEP_ARRAYS 5    /* parameter, gradient and state: STEP_ARRAYS of the CPU's loops */
#define AG_STEP_PLACES 3    /* numbers of a state: STEP_NUMBERS */
#define AG_STEP_DOUBLES 20  /* the most that a loop has as numbers */
#define AG_STEP_WORDS 480   /* of one launch: all arguments take less than 4096 bytes */
#define AG_LIST_WORDS 480   /* the same, of a list of tensors */

/* A number of one element in memory; `dt` says whether it is float32 or float64. */
typedef struct { void *p; uint64_t dt; } ag_number;

/* A parameter, in memory of the device: the first launches of a step write it, the last one reads it. */
typedef struct {
    void *array[AG_STEP_ARRAYS];
    void *number[AG_STEP_PLACES];
    double numbers[AG_STEP_DOUBLES];
    uint64_t start, n; /* tiles of its dtype before this parameter, and its elements */
    uint64_t dts;      /* of `number`, two bits each */
} ag_step_entry;

/* `stop` says that a number of steps is none: nothing is stepped. */
typedef struct {
    uint64_t stop, unused;
    ag_step_entry entry[1];
} ag_step_table;

/* The beginning of a step, for some of the parameters. Of each there are in `words` the arrays and
 * numbers whose bits are set, its size with its place in the table above 40 bits, and its
 * first tile among those of its dtype with the dtypes of numbers above 56 bits. */
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

/* Tensors of one dtype, by address and number of elements: what is done to all elements of a list. */
typedef struct {
    ag_number factor; /* what they are multiplied by, or the norm that is bounded */
    void *found;      /* float32: becomes 1 if an element isn't finite; may be NULL */
    double bound;     /* of the norm */
    double *partial;  /* of norms: for each tile */
    uint64_t tiles, tile; /* and elements of a tile; a tile lies in one tensor */
    double order;
    uint32_t count, unused;
    uint64_t words[AG_LIST_WORDS]; /* address, number of elements, tiles before it */
} ag_list_args;

typedef struct {
    const double *partial;
    uint64_t tiles;
    void *out;
    double order;
    const uint64_t *firsts; /* tiles before each tensor, in memory of the device */
    uint32_t count;
    int32_t dt;
} ag_norm_of_list_args;

#endif
