/* The arguments of gathers, joins, padding and triangles: plain C, for device code, for Cython and
 * for the host builds of the tests. Dimensions come innermost first, strides are in bytes. */
#ifndef AG_CUDA_INDEX_ARGUMENTS_H
#define AG_CUDA_INDEX_ARGUMENTS_H

#include "reduction_arguments.h"

#define AG_INDICES 8 /* index tensors of a launch */
#define AG_JOINED 64 /* pieces of a launch */
#define AG_INDEX_THREADS 256

/* Index tensors, as strides over the elements of a launch. What they say is checked: an index that
 * lies outside is noted, and its element left out. */
typedef struct {
    const void *at[AG_INDICES];
    int64_t size[AG_INDICES]; /* of the dimension that it indexes */
    int64_t step[AG_INDICES]; /* from one index to the next: bytes, or places of a key */
    int64_t stride[AG_INDICES][AG_CUDA_DIMS];
    int32_t dim[AG_INDICES]; /* for the message */
    uint32_t n;
    uint32_t narrow; /* bit k: int32 elements */
    uint32_t wraps;  /* negative ones count from the end */
    int32_t kind;    /* of the fault */
    ag_fault *fault;
} ag_index_args;

/* out[i] = in[place that indices say]; without indices a copy of any strides. */
typedef struct {
    void *out;
    const void *in;
    ag_index_args index;
    int64_t out_stride[AG_CUDA_DIMS], in_stride[AG_CUDA_DIMS];
    ag_wide_divisor size[AG_CUDA_DIMS];
    uint64_t n;
    uint32_t nd;
    const char *op;
} ag_take_args;

/* Keys of places: the sum of indices times their steps, and of coordinates times `own`. */
typedef struct {
    void *keys; /* uint32_t, or uint64_t if `wide`; NULL: indices are only checked */
    ag_index_args index;
    int64_t own[AG_CUDA_DIMS];
    ag_wide_divisor size[AG_CUDA_DIMS];
    uint64_t n, bad; /* how many; the key of those whose index lies outside */
    int64_t base;    /* added to each key */
    uint32_t nd, wide;
    const char *op;
} ag_key_args;

/* Pieces side by side in each row of the result; all are dense. Counted in words. */
typedef struct {
    void *out;
    const void *in[AG_JOINED];
    uint64_t first[AG_JOINED + 1]; /* where pieces begin in a row, and the last one ends */
    ag_wide_divisor width;         /* first[pieces] - first[0] */
    uint64_t total, n;             /* words of a whole row; words of the launch */
    uint32_t pieces;
} ag_join_args;

/* Padding: where an element comes from is said dimension by dimension. `size` are those of the
 * padded tensor, which a forward pass writes and a backward pass reads. */
typedef struct {
    void *out;
    const void *in;
    uint64_t value[2];
    int64_t out_stride[AG_CUDA_DIMS], in_stride[AG_CUDA_DIMS];
    ag_wide_divisor size[AG_CUDA_DIMS]; /* of the result */
    int64_t other[AG_CUDA_DIMS];        /* of the operand */
    int64_t left[AG_CUDA_DIMS];
    uint64_t n;
    uint32_t nd, padded; /* the first `padded` dimensions are, backward */
    uint32_t mode;
} ag_pad_args;

/* A triangle of matrices, dense. */
typedef struct {
    void *out;
    const void *in;
    ag_wide_divisor rows, cols;
    uint64_t n;
    int64_t diagonal;
    uint32_t lower;
} ag_triangle_args;

/* first + i * step, added up as int64 or in double. */
typedef struct {
    void *out;
    int64_t first, step;
    double start, by;
    uint64_t n;
    uint32_t whole;
    int32_t dt;
} ag_range_args;

#endif
