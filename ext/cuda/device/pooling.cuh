// Pooling, and its gradients by gathering: an element of a gradient asks the windows that it is
// in, in rising order, as the CPU adds them.
#pragma once
#include "kernel.cuh"
#include "pool_arguments.h"
#include "reductions.cuh"

AG_R int64_t ag_at_most(int64_t x, int64_t y) { return x < y ? x : y; }
AG_R int64_t ag_at_least(int64_t x, int64_t y) { return x > y ? x : y; }
// x / d rounded up, of x > -d.
AG_R int64_t ag_quotient_up(int64_t x, const ag_wide_divisor &d) {
    return x <= 0 ? 0 : (int64_t)ag_quotient((uint64_t)x + d.size - 1, d);
}

// The elements of window `o` that are there: from `lo` to before `hi`, in steps of e.
struct ag_span { int64_t lo, hi; };
AG_R ag_span ag_window(const ag_pool_args &a, int d, int64_t o) {
    ag_span w;
    if (a.adaptive) {
        w.lo = (int64_t)ag_quotient((uint64_t)(o * a.size[d]), a.by_count[d]);
        w.hi = ag_quotient_up((o + 1) * a.size[d], a.by_count[d]);
        return w;
    }
    w.lo = o * a.s[d] - a.p[d];
    w.hi = ag_at_most(w.lo + (a.k[d] - 1) * a.e[d] + 1, a.size[d]);
    if (w.lo < 0) w.lo += (a.e[d] == 1 ? -w.lo : (-w.lo + a.e[d] - 1) / a.e[d] * a.e[d]);
    return w;
}

// The windows that element `x` may be in: from `lo` to before `hi`.
AG_R ag_span ag_windows_of(const ag_pool_args &a, int d, int64_t x) {
    ag_span w;
    if (a.adaptive) {
        w.lo = (int64_t)ag_quotient((uint64_t)(x * a.count[d]), a.by_size[d]);
        w.hi = ag_quotient_up((x + 1) * a.count[d], a.by_size[d]);
        return w;
    }
    w.lo = ag_quotient_up(x + a.p[d] - (a.k[d] - 1) * a.e[d], a.by_step[d]);
    w.hi = ag_at_most((int64_t)ag_quotient((uint64_t)(x + a.p[d]), a.by_step[d]) + 1, a.count[d]);
    return w;
}

// How many elements a window counts along a dimension.
AG_R int64_t ag_window_count(const ag_pool_args &a, int d, int64_t o) {
    if (a.with_pad) {
        const int64_t lo = o * a.s[d] - a.p[d];
        return ag_at_most(lo + a.k[d], a.size[d] + a.p[d]) - lo;
    }
    const ag_span w = ag_window(a, d, o);
    return w.hi - w.lo;
}

AG_R double ag_divisor_of(const ag_pool_args &a, int64_t z, int64_t y, int64_t x) {
    if (a.divisor) return (double)a.divisor;
    return (double)ag_window_count(a, 0, z) * (double)ag_window_count(a, 1, y)
         * (double)ag_window_count(a, 2, x);
}
AG_R int64_t ag_divided(int64_t sum, double n) { return sum / (int64_t)n; }
AG_R float ag_divided(float sum, double n) { return sum / (float)n; }
AG_R double ag_divided(double sum, double n) { return sum / n; }

// The element of a thread: image, channel and place.
struct ag_pool_seat {
    uint64_t image, channel;
    int64_t x[3];
    template <class Args> AG_R ag_pool_seat take(const Args &a, uint64_t i) {
        ag_pool_seat s;
        uint64_t place, row, layer;
        if (a.channels_inner) {
            const uint64_t q = ag_quotient(i, a.channels);
            s.channel = i - q * a.channels.size;
            s.image = ag_quotient(q, a.area);
            place = q - s.image * a.area.size;
        } else {
            const uint64_t q = ag_quotient(i, a.area);
            place = i - q * a.area.size;
            s.image = ag_quotient(q, a.channels);
            s.channel = q - s.image * a.channels.size;
        }
        row = ag_quotient(place, a.columns);
        layer = ag_quotient(row, a.rows);
        s.x[0] = (int64_t)layer;
        s.x[1] = (int64_t)(row - layer * a.rows.size);
        s.x[2] = (int64_t)(place - row * a.columns.size);
        return s;
    }
    __device__ __forceinline__ int64_t plane(const ag_pool_places &p) const {
        return (int64_t)image * p.image + (int64_t)channel * p.channel;
    }
    __device__ __forceinline__ int64_t at(const ag_pool_places &p) const {
        return plane(p) + x[0] * p.stride[0] + x[1] * p.stride[1] + x[2] * p.stride[2];
    }
};

// What a window without elements has.
AG_R float ag_of_no_window(float) { return (float)-INFINITY; }
AG_R double ag_of_no_window(double) { return -INFINITY; }
AG_R ag_stored_f16 ag_of_no_window(ag_stored_f16) { return ag_stored_f16{0xFC00}; }
AG_R ag_stored_bf16 ag_of_no_window(ag_stored_bf16) { return ag_stored_bf16{0xFF80}; }
AG_R uint8_t ag_of_no_window(uint8_t) { return 0; }
AG_R int8_t ag_of_no_window(int8_t) { return INT8_MIN; }
AG_R int16_t ag_of_no_window(int16_t) { return INT16_MIN; }
AG_R int32_t ag_of_no_window(int32_t) { return INT32_MIN; }
AG_R int64_t ag_of_no_window(int64_t) { return INT64_MIN; }

template <class M> AG_R void ag_max_pool(const ag_pool_args &a) {
    typedef decltype(ag_plain(M())) P;
    AG_EACH(i, a.n) {
        const ag_pool_seat s = ag_pool_seat::take(a, i);
        const char *plane = (const char *)a.in + s.plane(a.large);
        const ag_span z = ag_window(a, 0, s.x[0]), y = ag_window(a, 1, s.x[1]);
        const ag_span x = ag_window(a, 2, s.x[2]);
        int64_t place = (z.lo * a.size[1] + y.lo) * a.size[2] + x.lo;
        M best = ag_of_no_window(M());
        P top = 0;
        bool any_found = false;
        AG_ROLLED
        for (int64_t d = z.lo; d < z.hi; d += a.e[0])
            AG_ROLLED
            for (int64_t h = y.lo; h < y.hi; h += a.e[1]) {
                const char *row = plane + d * a.large.stride[0] + h * a.large.stride[1];
                AG_ROLLED
                for (int64_t w = x.lo; w < x.hi; w += a.e[2]) {
                    const M own = *(const M *)(row + w * a.large.stride[2]);
                    const P v = ag_plain(own);
                    if (any_found && !(v > top || v != v)) continue;
                    any_found = true;
                    best = own;
                    top = v;
                    place = (d * a.size[1] + h) * a.size[2] + w;
                }
            }
        *(M *)((char *)a.out + s.at(a.small)) = best;
        if (a.index)
            *(int64_t *)((char *)a.index + s.at(a.places)) = place;
    }
}

template <class M> AG_R void ag_max_pool_backward(const ag_pool_args &a) {
    typedef decltype(ag_plain(M())) P;
    AG_EACH(i, a.n) {
        const ag_pool_seat s = ag_pool_seat::take(a, i);
        const char *grad = (const char *)a.in + s.plane(a.small);
        const char *indices = (const char *)a.indices + s.plane(a.places);
        const int64_t place = (s.x[0] * a.size[1] + s.x[1]) * a.size[2] + s.x[2];
        const ag_span z = ag_windows_of(a, 0, s.x[0]), y = ag_windows_of(a, 1, s.x[1]);
        const ag_span x = ag_windows_of(a, 2, s.x[2]);
        P sum = 0;
        AG_ROLLED
        for (int64_t d = z.lo; d < z.hi; d++)
            AG_ROLLED
            for (int64_t h = y.lo; h < y.hi; h++)
                AG_ROLLED
                for (int64_t w = x.lo; w < x.hi; w++)
                    if (*(const int64_t *)(indices + d * a.places.stride[0] + h * a.places.stride[1]
                                           + w * a.places.stride[2])
                        == place)
                        sum += ag_plain(
                            *(const M *)(grad + d * a.small.stride[0] + h * a.small.stride[1]
                                         + w * a.small.stride[2]));
        *(M *)((char *)a.out + s.at(a.large)) = ag_narrowed(M(), sum);
    }
}

AG_R int64_t ag_narrowed(int64_t, int64_t x) { return x; }

template <class M> AG_R void ag_avg_pool(const ag_pool_args &a) {
    typedef decltype(ag_plain(M())) P;
    AG_EACH(i, a.n) {
        const ag_pool_seat s = ag_pool_seat::take(a, i);
        const char *plane = (const char *)a.in + s.plane(a.large);
        const ag_span z = ag_window(a, 0, s.x[0]), y = ag_window(a, 1, s.x[1]);
        const ag_span x = ag_window(a, 2, s.x[2]);
        P sum = 0;
        AG_ROLLED
        for (int64_t d = z.lo; d < z.hi; d++)
            AG_ROLLED
            for (int64_t h = y.lo; h < y.hi; h++) {
                const char *row = plane + d * a.large.stride[0] + h * a.large.stride[1];
                AG_ROLLED
                for (int64_t w = x.lo; w < x.hi; w++)
                    sum += ag_plain(*(const M *)(row + w * a.large.stride[2]));
            }
        *(M *)((char *)a.out + s.at(a.small)) =
            ag_narrowed(M(), ag_divided(sum, ag_divisor_of(a, s.x[0], s.x[1], s.x[2])));
    }
}

template <class M> AG_R void ag_avg_pool_backward(const ag_pool_args &a) {
    typedef decltype(ag_plain(M())) P;
    AG_EACH(i, a.n) {
        const ag_pool_seat s = ag_pool_seat::take(a, i);
        const char *grad = (const char *)a.in + s.plane(a.small);
        const ag_span z = ag_windows_of(a, 0, s.x[0]), y = ag_windows_of(a, 1, s.x[1]);
        const ag_span x = ag_windows_of(a, 2, s.x[2]);
        P sum = 0;
        AG_ROLLED
        for (int64_t d = z.lo; d < z.hi; d++)
            AG_ROLLED
            for (int64_t h = y.lo; h < y.hi; h++)
                AG_ROLLED
                for (int64_t w = x.lo; w < x.hi; w++)
                    sum += ag_divided(
                        ag_plain(*(const M *)(grad + d * a.small.stride[0] + h * a.small.stride[1]
                                              + w * a.small.stride[2])),
                        ag_divisor_of(a, d, h, w));
        *(M *)((char *)a.out + s.at(a.large)) = ag_narrowed(M(), sum);
    }
}
