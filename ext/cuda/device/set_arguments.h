/* The arguments of norms of channels and of groups of channels: plain C, for device code, for
 * Cython and for the host builds of the tests. */
#ifndef AG_CUDA_SET_ARGUMENTS_H
#define AG_CUDA_SET_ARGUMENTS_H

#include "reduction_arguments.h"

/* What a launch does: it leaves sums of parts, takes them, does both where one block has a whole
 * set, or takes statistics that are known. */
enum { AG_SETS_SUM = 0, AG_SETS_JOIN = 1, AG_SETS_WHOLE = 2, AG_SETS_KNOWN = 3 };
/* Which channel an element belongs to: that of its set, or one of the `per` channels of a group, of
 * which its line says the number, or its place in the line. */
enum { AG_CHANNEL_OF_SET = 0, AG_CHANNEL_OF_LINE = 1, AG_CHANNEL_OF_PLACE = 2 };

/* A set has `length` elements, in lines of `run`; element i of line j of set (k, l) lies `inner`
 * * i + `outer` * j + `set` * l + `sets` * k elements from the first, in all operands.
 * Statistics are in the type that is computed in. Threads of a block: `1 << width` sets, `1 <<
 * group` for each; blocks along y share the elements of a set. */
typedef struct {
    void *out;             /* of the elements; backward: NULL if it isn't wanted */
    const void *in, *grad;
    const void *weight, *bias; /* of channels; may be NULL */
    void *mean, *spread;
    void *running_mean, *running_var; /* may be NULL */
    void *by_weight, *by_bias;        /* gradients of sets, or NULL */
    void *partial;                    /* [part][set] */
    ag_wide_divisor run, many;        /* many: sets l of each k */
    ag_wide_divisor per;              /* channels of a group */
    uint64_t sets_all, length, chunk, parts;
    int64_t inner, outer, set, sets;
    double momentum, eps;
    uint32_t group, width;
    uint32_t stage, channel;
    uint32_t by_rows;  /* neighbouring threads take neighbouring elements, or else such sets */
    uint32_t training; /* backward: statistics depend on the elements */
    uint32_t by_line;  /* backward: a set is a channel, with the statistics of its lines' groups */
    uint32_t narrow;   /* of the elements' half type: 1 weight, 2 bias, 4 and 8 running ones */
    int32_t dt;        /* of by_weight and by_bias */
} ag_set_args;

#endif
