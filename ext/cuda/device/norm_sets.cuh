// Batch norm and group norm, and their gradients. A set is a channel of all images, or a group of
// channels of one. Sums are made in double, in an order that depends on shapes alone; the rest is
// computed in float32, or in float64 for such numbers.
#pragma once
#include "rows.cuh"
#include "set_arguments.h"

struct ag_two_sums {
    AG_R ag_c128 join(ag_c128 x, ag_c128 y) { return ag_plus(x, y); }
};

enum { AG_NARROW_WEIGHT = 1, AG_NARROW_BIAS = 2, AG_NARROW_MEAN = 4, AG_NARROW_VAR = 8 };

// A number of a channel, in the type that is computed in, or `narrow` in that of the elements.
template <class M, class P> AG_R P ag_of_channel(const void *p, uint64_t i, bool narrow) {
    return narrow ? ag_plain(((const M *)p)[i]) : ((const P *)p)[i];
}
template <class M, class P> AG_R P ag_weight_of(const ag_set_args &a, uint64_t channel) {
    return a.weight ? ag_of_channel<M, P>(a.weight, channel, a.narrow & AG_NARROW_WEIGHT) : (P)1;
}
template <class M, class P> AG_R P ag_bias_of(const ag_set_args &a, uint64_t channel) {
    return a.bias ? ag_of_channel<M, P>(a.bias, channel, a.narrow & AG_NARROW_BIAS) : (P)0;
}

// Moves a running statistic towards a new value.
template <class M, class P>
AG_R void ag_learn(void *p, uint64_t i, double momentum, double value, bool narrow) {
    const double old = ag_of_channel<M, P>(p, i, narrow);
    const P updated = (P)(old + momentum * (value - old));
    if (narrow)
        ((M *)p)[i] = ag_narrowed(M(), updated);
    else
        ((P *)p)[i] = updated;
}

// A thread on its way through the elements of a set, from line to line without divisions.
struct ag_walk {
    uint64_t i, line, place; // number of the element, its line, and its place there
    int64_t at;
    uint64_t step, lines, places; // on from one element to the next
    int64_t on, back;             // back: from a place beyond the end of a line to the next line

    AG_R void begin(ag_walk &w, const ag_set_args &a, uint64_t first, uint64_t step) {
        w.i = first;
        w.line = ag_quotient(first, a.run);
        w.place = first - w.line * a.run.size;
        w.at = (int64_t)w.line * a.outer + (int64_t)w.place * a.inner;
        w.step = step;
        w.lines = ag_quotient(step, a.run);
        w.places = step - w.lines * a.run.size;
        w.on = (int64_t)w.lines * a.outer + (int64_t)w.places * a.inner;
        w.back = a.outer - (int64_t)a.run.size * a.inner;
    }
    __device__ __forceinline__ void next(const ag_set_args &a) {
        i += step;
        line += lines;
        place += places;
        at += on;
        if (place >= a.run.size) {
            place -= a.run.size;
            line++;
            at += back;
        }
    }
};

// Where the threads of a block are.
struct ag_seat {
    uint32_t lane, column, apart;
    AG_R ag_seat take(const ag_set_args &a) {
        const uint32_t t = threadIdx.x, group = 1u << a.group, width = 1u << a.width;
        ag_seat s;
        s.lane = a.by_rows ? t & (group - 1) : t >> a.width;
        s.column = a.by_rows ? t >> a.group : t & (width - 1);
        s.apart = a.by_rows ? 1 : width;
        return s;
    }
};

AG_R int64_t ag_first_of_set(const ag_set_args &a, uint64_t set) {
    const uint64_t k = ag_quotient(set, a.many);
    return (int64_t)k * a.sets + (int64_t)(set - k * a.many.size) * a.set;
}

// The channel of an element.
AG_R uint64_t ag_channel(const ag_set_args &a, uint64_t set, const ag_walk &w) {
    if (a.channel == AG_CHANNEL_OF_SET) return set;
    const uint64_t group = set - ag_quotient(set, a.many) * a.many.size;
    return group * a.per.size + (a.channel == AG_CHANNEL_OF_LINE ? w.line : w.place);
}

template <class M> AG_R void ag_sets_forward(const ag_set_args &a) {
    typedef decltype(ag_plain(M())) P;
    constexpr int N = sizeof(M) == 8 ? 4 : 8;
    __shared__ ag_moments shared[AG_REDUCE_THREADS];
    const uint32_t group = 1u << a.group;
    const ag_seat seat = ag_seat::take(a);
    const uint64_t begin = ag_smaller(blockIdx.y * a.chunk, a.length);
    const uint64_t end = ag_smaller(begin + a.chunk, a.length);
    AG_ROLLED
    for (uint64_t tile = blockIdx.x; tile << a.width < a.sets_all; tile += gridDim.x) {
        const uint64_t set = (tile << a.width) + seat.column;
        const bool there = set < a.sets_all;
        const int64_t base = there ? ag_first_of_set(a, set) : 0;
        const M *in = (const M *)a.in + base;
        const double pivot = sizeof(M) == 8 && there ? (double)ag_plain(in[0]) : 0;
        ag_moments acc;
        P mean = 0, spread = 0;
        acc.n = acc.mean = acc.squares = acc.sum = 0;
        if (a.stage == AG_SETS_SUM || a.stage == AG_SETS_WHOLE) {
            ag_walk w;
            ag_walk::begin(w, a, begin + seat.lane, group);
            AG_ROLLED
            while (there && w.i < end) {
                double x[N];
                uint32_t count = 0;
                AG_UNROLL
                for (int j = 0; j < N; j++) {
                    x[j] = 0;
                    if (w.i < end) {
                        x[j] = ag_plain(in[w.at]);
                        count++;
                        w.next(a);
                    }
                }
                acc = ag_spread::join(acc, ag_moments_of(x, count, pivot));
            }
        } else if (a.stage == AG_SETS_JOIN) {
            AG_ROLLED
            for (uint64_t part = seat.lane; there && part < a.parts; part += group)
                acc = ag_spread::join(acc,
                                      ((const ag_moments *)a.partial)[part * a.sets_all + set]);
        }
        if (a.stage != AG_SETS_KNOWN)
            acc = ag_of_the_group<ag_spread>(acc, shared, seat.lane, group, seat.apart);
        const bool writes = there && seat.lane == 0 && (blockIdx.y == 0 || a.stage == AG_SETS_SUM);
        if (a.stage == AG_SETS_SUM) {
            if (writes) ((ag_moments *)a.partial)[blockIdx.y * a.sets_all + set] = acc;
            continue;
        }
        if (a.stage == AG_SETS_KNOWN && there) {
            mean = ag_of_channel<M, P>(a.running_mean, set, a.narrow & AG_NARROW_MEAN);
            spread = (P)(1 / sqrt((double)ag_of_channel<M, P>(a.running_var, set,
                                                              a.narrow & AG_NARROW_VAR)
                                  + a.eps));
        } else if (there) {
            const double n = (double)a.length, variance = acc.squares / n;
            // The mean of infinities is no sum of differences.
            const double centre = variance - variance == 0 ? acc.mean + pivot : acc.sum / n;
            mean = (P)centre;
            spread = (P)(1 / sqrt(variance + a.eps));
            if (writes && a.running_mean)
                ag_learn<M, P>(a.running_mean, set, a.momentum, centre, a.narrow & AG_NARROW_MEAN);
            if (writes && a.running_var)
                ag_learn<M, P>(a.running_var, set, a.momentum, variance * (n / (n - 1)),
                               a.narrow & AG_NARROW_VAR);
        }
        if (writes) {
            ((P *)a.mean)[set] = mean;
            ((P *)a.spread)[set] = spread;
        }
        ag_walk w;
        M *out = (M *)a.out + base;
        ag_walk::begin(w, a, begin + seat.lane, group);
        AG_ROLLED
        for (; there && w.i < end; w.next(a)) {
            const uint64_t channel = ag_channel(a, set, w);
            out[w.at] = ag_narrowed(
                M(), (ag_plain(in[w.at]) - mean) * (spread * ag_weight_of<M, P>(a, channel))
                         + ag_bias_of<M, P>(a, channel));
        }
    }
}

template <class M> AG_R void ag_sets_backward(const ag_set_args &a) {
    typedef decltype(ag_plain(M())) P;
    constexpr int N = 4;
    __shared__ ag_c128 shared[AG_REDUCE_THREADS];
    const uint32_t group = 1u << a.group;
    const ag_seat seat = ag_seat::take(a);
    const bool of_groups = a.channel != AG_CHANNEL_OF_SET;
    const uint64_t groups = a.by_line ? a.many.size / a.per.size : 0;
    const uint64_t begin = ag_smaller(blockIdx.y * a.chunk, a.length);
    const uint64_t end = ag_smaller(begin + a.chunk, a.length);
    AG_ROLLED
    for (uint64_t tile = blockIdx.x; tile << a.width < a.sets_all; tile += gridDim.x) {
        const uint64_t set = (tile << a.width) + seat.column;
        const bool there = set < a.sets_all;
        const int64_t base = there ? ag_first_of_set(a, set) : 0;
        const M *in = (const M *)a.in + base, *grad = (const M *)a.grad + base;
        // A channel has the statistics of its group in each image.
        const uint64_t own = there ? a.by_line ? ag_quotient(set, a.per) : set : 0;
        P mean = ((const P *)a.mean)[own], spread = ((const P *)a.spread)[own];
        ag_c128 acc = ag_make_c128(0, 0); // of gradients, and of them times normalised elements
        ag_walk w;
        if (a.stage == AG_SETS_SUM || a.stage == AG_SETS_WHOLE) {
            ag_walk::begin(w, a, begin + seat.lane, group);
            AG_ROLLED
            while (there && w.i < end) {
                P sums[N], products[N];
                AG_UNROLL
                for (int j = 0; j < N; j++) {
                    sums[j] = products[j] = 0;
                    if (w.i >= end) continue;
                    if (a.by_line) {
                        const uint64_t image = own + w.line * groups;
                        mean = ((const P *)a.mean)[image];
                        spread = ((const P *)a.spread)[image];
                    }
                    sums[j] = ag_plain(grad[w.at]);
                    if (of_groups) sums[j] *= ag_weight_of<M, P>(a, ag_channel(a, set, w));
                    products[j] = sums[j] * ((ag_plain(in[w.at]) - mean) * spread);
                    w.next(a);
                }
                acc.re += ag_tree_sum(sums);
                acc.im += ag_tree_sum(products);
            }
        } else if (a.stage == AG_SETS_JOIN) {
            AG_ROLLED
            for (uint64_t part = seat.lane; there && part < a.parts; part += group)
                acc = ag_plus(acc, ((const ag_c128 *)a.partial)[part * a.sets_all + set]);
        }
        if (a.stage != AG_SETS_KNOWN)
            acc = ag_of_the_group<ag_two_sums>(acc, shared, seat.lane, group, seat.apart);
        const bool writes = there && seat.lane == 0 && (blockIdx.y == 0 || a.stage == AG_SETS_SUM);
        if (a.stage == AG_SETS_SUM) {
            if (writes) ((ag_c128 *)a.partial)[blockIdx.y * a.sets_all + set] = acc;
            continue;
        }
        const int size = a.dt == AG_DT_F64 ? 8 : a.dt == AG_DT_F32 ? 4 : 2;
        if (writes && a.by_weight) ag_store((char *)a.by_weight + set * size, a.dt, acc.im);
        if (writes && a.by_bias) ag_store((char *)a.by_bias + set * size, a.dt, acc.re);
        if (!a.out) continue;
        M *out = (M *)a.out + base;
        const P scale = of_groups || !there ? spread : spread * ag_weight_of<M, P>(a, set);
        const P away = (P)(acc.re / (double)a.length), along = (P)(acc.im / (double)a.length);
        ag_walk::begin(w, a, begin + seat.lane, group);
        AG_ROLLED
        for (; there && w.i < end; w.next(a)) {
            P g = ag_plain(grad[w.at]);
            if (of_groups) g *= ag_weight_of<M, P>(a, ag_channel(a, set, w));
            // Not a product of the input and zero, which isn't zero for NaN.
            if (a.training) g = g - away - (ag_plain(in[w.at]) - mean) * spread * along;
            out[w.at] = ag_narrowed(M(), g * scale);
        }
    }
}
