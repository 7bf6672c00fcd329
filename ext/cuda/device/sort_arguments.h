/* The arguments of sorts of pairs: plain C, for device code, for Cython and for the host builds of
 * the tests. */
#ifndef AG_CUDA_SORT_ARGUMENTS_H
#define AG_CUDA_SORT_ARGUMENTS_H

#include "arguments.h"

#define AG_SORT_THREADS 256 /* of a block; one for each digit, too */
#define AG_SORT_DIGITS 256
#define AG_SORT_ITEMS 8     /* elements of a thread in a tile */
#define AG_SORT_TILE (AG_SORT_THREADS * AG_SORT_ITEMS)

/* One pass: pairs go from one half of the memory to the other, in the order of some bits of their
 * keys. Block b has elements b * chunk to (b + 1) * chunk, which is whole tiles. A sort by one
 * block makes all passes itself, and `keys[1]`, `places[1]` are both its other half. */
typedef struct {
    void *keys[2];    /* from, to */
    void *places[2];
    uint32_t counted; /* the places that come in are 0, 1, 2, ..., and not in memory */
    uint32_t blocks;
    uint32_t shift, bits; /* of this pass (at most 8 bits), or of all */
    uint64_t n, chunk;
    uint64_t *counts; /* [digit][block], and behind these the total of each digit */
} ag_sort_args;

#endif
