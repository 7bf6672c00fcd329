/* The arguments of scans: plain C, for device code, for Cython and for the host builds of the
 * tests. */
#ifndef AG_CUDA_SCAN_ARGUMENTS_H
#define AG_CUDA_SCAN_ARGUMENTS_H

#include "reduction_arguments.h"

#define AG_SCAN_OPERANDS 3

/* All operands are dense and of one shape, (outer, length, inner); a row runs along `length`. The
 * threads of a block have `1 << width` rows, with `1 << group` threads for each. Where rows are
 * long, blocks along y have parts of `chunk` elements: they leave what their part comes to in
 * `partial`, and a second launch begins each part with what all before it come to. */
typedef struct {
    void *out;
    int64_t *places;   /* of extremes */
    const void *in[AG_SCAN_OPERANDS];
    const double *sums; /* logarithms of sums, as they were before they were rounded; or NULL */
    void *partial;     /* [part][row] */
    ag_wide_divisor inner;
    uint64_t rows; /* outer * inner */
    uint64_t length, chunk;
    uint32_t parts;
    uint32_t totals;       /* this launch writes `partial` */
    uint32_t group, width; /* as logarithms */
    uint32_t by_rows;      /* inner is 1 */
    uint32_t packed;       /* and several elements of a row are read at once */
    uint32_t reversed;     /* from the end of each row */
    uint32_t turned;       /* the smallest instead of the largest */
    double unit;           /* how much of itself a sum loses when it is rounded; 0: nothing */
} ag_scan_args;

#endif
