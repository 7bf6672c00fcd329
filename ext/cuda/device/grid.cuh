// Images at points, and the gradients of both. The gradient of images is gathered: elements around
// points were sorted, and each element of an image sums what points give it, in their order.
#pragma once
#include "pooling.cuh"
#include "grid_arguments.h"
#include "scalar/grid.h"

enum { AG_GRID_CHANNELS = 8 }; // that a thread takes together

#define AG_GRID_CALL(name, T, P)                                                                   \
    AG_R void ag_grid_##name(const ag_grid_axis &a, P x, int64_t *at, P *w, P *dw) {               \
        ag_grid_##name##_##T(&a, x, at, w, dw);                                                    \
    }
AG_GRID_CALL(nearest, f32, float)
AG_GRID_CALL(nearest, f64, double)
AG_GRID_CALL(linear, f32, float)
AG_GRID_CALL(linear, f64, double)
AG_GRID_CALL(cubic, f32, float)
AG_GRID_CALL(cubic, f64, double)

// The elements around a point: of each dimension their numbers, weights, and the derivatives of
// these. Volumes have no cubic interpolation.
template <class P, int TAPS> struct ag_around {
    enum { LAYERS = TAPS == 2 ? 2 : 1, CORNERS = LAYERS * TAPS * TAPS };
    int64_t at[3][TAPS];
    P w[3][TAPS], dw[3][TAPS];
    bool shows_nan;

    template <class M> AG_R void find(ag_around &r, const ag_grid_args &a, const M *point) {
        r.shows_nan = TAPS == 2 && a.rank == 2 && a.padding == AG_GRID_ZEROS;
        AG_UNROLL
        for (int d = 0; d < 3; d++) {
            if (d < 3 - (int)a.rank) {
                AG_UNROLL
                for (int k = 0; k < TAPS; k++) {
                    r.at[d][k] = 0;
                    r.w[d][k] = 1;
                    r.dw[d][k] = 0;
                }
                continue;
            }
            ag_grid_axis axis;
            axis.size = a.size[d];
            axis.align = (int)a.align;
            axis.padding = (int)a.padding;
            axis.shows_nan = r.shows_nan;
            // The first coordinate is that of the last dimension.
            const P x = ag_plain(point[2 - d]);
            if (TAPS == 1)
                ag_grid_nearest(axis, x, r.at[d], r.w[d], r.dw[d]);
            else if (TAPS == 2)
                ag_grid_linear(axis, x, r.at[d], r.w[d], r.dw[d]);
            else
                ag_grid_cubic(axis, x, r.at[d], r.w[d], r.dw[d]);
        }
    }
    // The taps of corner m.
    static __device__ __forceinline__ int tap(int m, int d) {
        return d == 2 ? m % TAPS : d == 1 ? m / TAPS % TAPS : m / (TAPS * TAPS);
    }
    // Whether there is a corner m at all: images have one layer.
    static __device__ __forceinline__ bool exists(const ag_grid_args &a, int m) {
        return a.rank == 3 || m < TAPS * TAPS;
    }
    // Weight and place of corner m; false if there is no element.
    __device__ __forceinline__ bool corner(int m, int64_t (&place)[3], P &weight) const {
        bool there = true;
        weight = w[0][tap(m, 0)] * w[1][tap(m, 1)] * w[2][tap(m, 2)];
        AG_UNROLL
        for (int d = 0; d < 3; d++) {
            const int64_t i = at[d][tap(m, d)];
            there = there && i >= 0;
            place[d] = i < 0 ? 0 : i;
        }
        return there || (shows_nan && weight != weight);
    }
};

AG_R int64_t ag_element_at(const ag_pool_places &p, const int64_t (&place)[3]) {
    return place[0] * p.stride[0] + place[1] * p.stride[1] + place[2] * p.stride[2];
}

struct ag_grid_seat {
    uint64_t example, point, first, last; // channels first to last - 1
    AG_R ag_grid_seat take(const ag_grid_args &a, uint64_t i) {
        ag_grid_seat s;
        const uint64_t q = ag_quotient(i, a.points);
        s.point = i - q * a.points.size;
        s.example = ag_quotient(q, a.chunks);
        s.first = (q - s.example * a.chunks.size) * AG_GRID_CHANNELS;
        s.last = ag_smaller(s.first + AG_GRID_CHANNELS, a.channels);
        return s;
    }
};

template <class M>
AG_R const M *ag_point_of(const ag_grid_args &a, uint64_t example, uint64_t point) {
    return (const M *)a.grid + (example * a.points.size + point) * a.rank;
}

template <class M, int TAPS> AG_R void ag_grid_sample(const ag_grid_args &a) {
    typedef decltype(ag_plain(M())) P;
    AG_EACH(i, a.n) {
        const ag_grid_seat s = ag_grid_seat::take(a, i);
        ag_around<P, TAPS> around;
        ag_around<P, TAPS>::find(around, a, ag_point_of<M>(a, s.example, s.point));
        AG_ROLLED
        for (uint64_t c = s.first; c < s.last; c++) {
            const char *plane = (const char *)a.image + (int64_t)s.example * a.places.image
                              + (int64_t)c * a.places.channel;
            P sum = (P)-0.0; // a zero keeps its sign
            AG_UNROLL
            for (int m = 0; m < ag_around<P, TAPS>::CORNERS; m++) {
                int64_t place[3];
                P weight;
                if (!around.exists(a, m) || !around.corner(m, place, weight)) continue;
                sum += ag_plain(*(const M *)(plane + ag_element_at(a.places, place))) * weight;
            }
            ((M *)a.out)[(s.example * a.channels + c) * a.points.size + s.point] =
                ag_narrowed(M(), sum);
        }
    }
}

template <class M, int TAPS> AG_R void ag_grid_points(const ag_grid_args &a) {
    typedef decltype(ag_plain(M())) P;
    typedef ag_around<P, TAPS> Around;
    AG_EACH(i, a.n) {
        const uint64_t example = ag_quotient(i, a.points), point = i - example * a.points.size;
        Around around;
        P sums[Around::CORNERS];
        Around::find(around, a, ag_point_of<M>(a, example, point));
        AG_UNROLL
        for (int m = 0; m < Around::CORNERS; m++) sums[m] = 0;
        AG_ROLLED
        for (uint64_t c = 0; c < a.channels; c++) {
            const char *plane = (const char *)a.image + (int64_t)example * a.places.image
                              + (int64_t)c * a.places.channel;
            const P g =
                ag_plain(((const M *)a.grad)[(example * a.channels + c) * a.points.size + point]);
            AG_UNROLL
            for (int m = 0; m < Around::CORNERS; m++) {
                int64_t place[3];
                P weight;
                if (!around.exists(a, m) || !around.corner(m, place, weight)) continue;
                sums[m] += ag_plain(*(const M *)(plane + ag_element_at(a.places, place))) * g;
            }
        }
        AG_UNROLL
        for (int d = 0; d < 3; d++) {
            P total = 0;
            if (d < 3 - (int)a.rank) continue;
            AG_UNROLL
            for (int m = 0; m < Around::CORNERS; m++) {
                const int k = Around::tap(m, d);
                // Cubic derivatives may be no numbers.
                if (!around.exists(a, m) || (TAPS == 2 && around.at[d][k] < 0)) continue;
                P y = around.dw[d][k] * sums[m];
                AG_UNROLL
                for (int e = 0; e < 3; e++)
                    if (e != d) y *= around.w[e][Around::tap(m, e)];
                total += y;
            }
            ((M *)a.out)[i * a.rank + (2 - d)] = ag_narrowed(M(), total);
        }
    }
}

template <class M, int TAPS> AG_R void ag_grid_keys(const ag_grid_keys_args &args) {
    typedef decltype(ag_plain(M())) P;
    typedef ag_around<P, TAPS> Around;
    const ag_grid_args &a = args.grid;
    const uint64_t corners = a.rank == 3 ? Around::CORNERS : TAPS * TAPS;
    AG_EACH(i, a.n) {
        const uint64_t example = ag_quotient(i, a.points);
        Around around;
        Around::find(around, a, ag_point_of<M>(a, example, i - example * a.points.size));
        AG_UNROLL
        for (int m = 0; m < Around::CORNERS; m++) {
            int64_t place[3];
            P weight;
            if (!around.exists(a, m)) continue;
            const bool there = around.corner(m, place, weight);
            const int64_t row = ((int64_t)example * a.size[0] + place[0]) * a.size[1] + place[1];
            const uint64_t key = there ? (uint64_t)(row * a.size[2] + place[2]) : args.none;
            ((P *)args.weights)[i * corners + m] = weight;
            if (args.wide_keys)
                ((uint64_t *)args.keys)[i * corners + m] = key;
            else
                ((uint32_t *)args.keys)[i * corners + m] = (uint32_t)key;
        }
    }
}

AG_R uint64_t ag_word(const void *p, uint64_t i, bool wide) {
    return wide ? ((const uint64_t *)p)[i] : ((const uint32_t *)p)[i];
}

template <class M> AG_R void ag_grid_gather(const ag_grid_gather_args &args) {
    typedef decltype(ag_plain(M())) P;
    const ag_grid_args &a = args.grid;
    // Here `points` are the elements of a plane.
    AG_EACH(i, a.n) {
        const ag_grid_seat s = ag_grid_seat::take(a, i);
        const uint64_t key = s.example * a.points.size + s.point;
        const uint64_t row = ag_quotient(s.point, args.columns);
        const uint64_t layer = ag_quotient(row, args.rows);
        const int64_t place[3] = {(int64_t)layer, (int64_t)(row - layer * args.rows.size),
                                  (int64_t)(s.point - row * args.columns.size)};
        uint64_t lo = 0, hi = args.pairs;
        P sums[AG_GRID_CHANNELS];
        AG_UNROLL
        for (int c = 0; c < AG_GRID_CHANNELS; c++) sums[c] = 0;
        AG_ROLLED
        while (lo < hi) {
            const uint64_t middle = lo + (hi - lo) / 2;
            if (ag_word(args.keys, middle, args.wide_keys) < key)
                lo = middle + 1;
            else
                hi = middle;
        }
        AG_ROLLED
        for (; lo < args.pairs && ag_word(args.keys, lo, args.wide_keys) == key; lo++) {
            const uint64_t pair = ag_word(args.places, lo, args.wide_places);
            const P weight = ((const P *)args.weights)[pair];
            const uint64_t point =
                ag_quotient(pair, args.corners) - s.example * args.plane.size;
            const M *grad = (const M *)a.grad
                          + (s.example * a.channels + s.first) * args.plane.size + point;
            AG_UNROLL
            for (int c = 0; c < AG_GRID_CHANNELS; c++)
                if (s.first + c < s.last)
                    sums[c] += weight * ag_plain(grad[(int64_t)c * (int64_t)args.plane.size]);
        }
        AG_UNROLL
        for (int c = 0; c < AG_GRID_CHANNELS; c++)
            if (s.first + c < s.last)
                *(M *)((char *)a.out + (int64_t)s.example * a.places.image
                       + (int64_t)(s.first + c) * a.places.channel
                       + ag_element_at(a.places, place)) = ag_narrowed(M(), sums[c]);
    }
}
