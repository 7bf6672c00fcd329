// Interpolation by 1, 2 or 4 elements along each dimension, and its gradients by gathering: an
// element of a gradient asks the results that it is in, in rising order.
#pragma once
#include "fused.cuh"
#include "pooling.cuh"
#include "resample_arguments.h"
#include "scalar/resample.h"

AG_R void ag_linear_taps(int align, float step, int64_t size, int64_t to, int64_t o, int64_t *index,
                         float *weight) {
    ag_linear_taps_f32(align, step, size, to, o, index, weight);
}
AG_R void ag_linear_taps(int align, double step, int64_t size, int64_t to, int64_t o,
                         int64_t *index, double *weight) {
    ag_linear_taps_f64(align, step, size, to, o, index, weight);
}
AG_R void ag_cubic_taps(int align, float step, int64_t size, int64_t o, int64_t *index,
                        float *weight) {
    ag_cubic_taps_f32(align, step, size, o, index, weight);
}
AG_R void ag_cubic_taps(int align, double step, int64_t size, int64_t o, int64_t *index,
                        double *weight) {
    ag_cubic_taps_f64(align, step, size, o, index, weight);
}

// The elements that make one of a result along a dimension; one that isn't there has its only
// element.
template <class P, int TAPS> struct ag_taps {
    int64_t index[TAPS];
    P weight[TAPS];
    AG_R void find(ag_taps &t, const ag_resample_args &a, int d, int64_t o) {
        if (TAPS == 1) {
            t.index[0] = ag_nearest_tap(a.exact, (float)a.step[d], a.size[d], o);
            t.weight[0] = 1;
        } else if (d < (int)a.missing) {
            AG_UNROLL
            for (int k = 0; k < TAPS; k++) {
                t.index[k] = 0;
                t.weight[k] = k == 0;
            }
        } else if (TAPS == 2)
            ag_linear_taps(a.align, (P)a.step[d], a.size[d], a.to[d], o, t.index, t.weight);
        else
            ag_cubic_taps(a.align, (P)a.step[d], a.size[d], o, t.index, t.weight);
    }
};

// One more element of a sum; the first one is not added to zero.
template <class P> AG_R P ag_weighted(P weight, P x, P sum, bool first) {
    return first ? weight * x : ag_fused(weight, x, sum);
}

template <class M, int TAPS> AG_R void ag_resample(const ag_resample_args &a) {
    typedef decltype(ag_plain(M())) P;
    constexpr int LAYERS = TAPS == 2 ? 2 : 1; // volumes have no cubic interpolation
    AG_EACH(i, a.n) {
        const ag_pool_seat s = ag_pool_seat::take(a, i);
        const char *plane = (const char *)a.in + s.plane(a.from);
        ag_taps<P, TAPS> x, y;
        ag_taps<P, LAYERS> z;
        P line[TAPS], sum = 0;
        if (LAYERS == 2 || TAPS == 1)
            ag_taps<P, LAYERS>::find(z, a, 0, s.x[0]);
        else
            z.index[0] = 0, z.weight[0] = 1;
        ag_taps<P, TAPS>::find(y, a, 1, s.x[1]);
        ag_taps<P, TAPS>::find(x, a, 2, s.x[2]);
        AG_UNROLL
        for (int j = 0; j < TAPS; j++) {
            line[j] = 0;
            AG_UNROLL
            for (int k = 0; k < LAYERS * TAPS; k++) {
                const int l = k / TAPS, m = k % TAPS;
                if ((l && a.missing > 0) || (m && a.missing > 1)) continue;
                const P v = ag_plain(*(const M *)(plane + z.index[l] * a.from.stride[0]
                                                  + y.index[m] * a.from.stride[1]
                                                  + x.index[j] * a.from.stride[2]));
                const P w = z.weight[l] * y.weight[m];
                line[j] = TAPS == 1 ? v : ag_weighted(w, v, line[j], k == 0);
            }
        }
        if (TAPS == 1)
            sum = line[0];
        else if (TAPS == 2)
            sum = ag_fused(x.weight[0], line[0], x.weight[TAPS - 1] * line[TAPS - 1]);
        else {
            AG_UNROLL
            for (int j = 0; j < TAPS; j++) sum = ag_weighted(x.weight[j], line[j], sum, j == 0);
        }
        *(M *)((char *)a.out + s.at(a.to_places)) = ag_narrowed(M(), sum);
    }
}

// The first element of a result whose last tap reaches `x`: a guess, and steps from there.
template <class P, int TAPS>
AG_R int64_t ag_first_with(const ag_resample_args &a, int d, int64_t x) {
    ag_taps<P, TAPS> t;
    int64_t o = 0;
    if (a.step[d] > 0) {
        const double guess = ((double)x - TAPS / 2) / a.step[d] - 1;
        o = guess < 0 ? 0 : guess < (double)a.to[d] ? (int64_t)guess : a.to[d] - 1;
    }
    AG_ROLLED
    while (o > 0) {
        ag_taps<P, TAPS>::find(t, a, d, o - 1);
        if (t.index[TAPS - 1] < x) break;
        o--;
    }
    AG_ROLLED
    while (o < a.to[d]) {
        ag_taps<P, TAPS>::find(t, a, d, o);
        if (t.index[TAPS - 1] >= x) break;
        o++;
    }
    return o;
}

// The weight of element `x` in element `o` of a result; false where all that follow are without it.
template <class P, int TAPS>
AG_R bool ag_weight_in(const ag_resample_args &a, int d, int64_t o, int64_t x, P &weight) {
    ag_taps<P, TAPS> t;
    if (o >= a.to[d]) return false;
    ag_taps<P, TAPS>::find(t, a, d, o);
    weight = 0;
    AG_UNROLL
    for (int k = 0; k < TAPS; k++) weight += t.index[k] == x ? t.weight[k] : (P)0;
    return t.index[0] <= x;
}

template <class M, int TAPS> AG_R void ag_resample_backward(const ag_resample_args &a) {
    typedef decltype(ag_plain(M())) P;
    constexpr int LAYERS = TAPS == 2 ? 2 : 1;
    AG_EACH(i, a.n) {
        const ag_pool_seat s = ag_pool_seat::take(a, i);
        const char *plane = (const char *)a.in + s.plane(a.from);
        const bool flat = TAPS == 4 || a.missing > 0;
        const int64_t z0 = flat ? 0 : ag_first_with<P, LAYERS>(a, 0, s.x[0]);
        const int64_t y0 = a.missing > 1 ? 0 : ag_first_with<P, TAPS>(a, 1, s.x[1]);
        const int64_t x0 = ag_first_with<P, TAPS>(a, 2, s.x[2]);
        P sum = 0, of_z = 1, of_y = 1, of_x = 1;
        AG_ROLLED
        for (int64_t z = z0; flat ? z == 0 : ag_weight_in<P, LAYERS>(a, 0, z, s.x[0], of_z); z++)
            AG_ROLLED
            for (int64_t y = y0;
                 a.missing > 1 ? y == 0 : ag_weight_in<P, TAPS>(a, 1, y, s.x[1], of_y); y++) {
                const char *row = plane + z * a.from.stride[0] + y * a.from.stride[1];
                P line = 0;
                AG_ROLLED
                for (int64_t x = x0; ag_weight_in<P, TAPS>(a, 2, x, s.x[2], of_x); x++)
                    line = ag_fused(of_x, ag_plain(*(const M *)(row + x * a.from.stride[2])),
                                    line);
                sum = ag_fused(of_z * of_y, line, sum);
            }
        *(M *)((char *)a.out + s.at(a.to_places)) = ag_narrowed(M(), sum);
    }
}

// --- filters -----------------------------------------------------------------------------------

// The elements that make one of a result; whatever the bounds are, none lies outside.
AG_R ag_span ag_filtered(const ag_filter_args &a, int64_t o) {
    ag_span s;
    s.lo = ag_at_least(a.bounds[2 * o], 0);
    s.hi = ag_at_most(ag_at_most(a.bounds[2 * o + 1], a.size), s.lo + a.taps);
    return s;
}

// The outer and inner place of a thread's element, and its number along the dimension.
struct ag_filter_seat {
    int64_t outer, own, inner;
    AG_R ag_filter_seat take(const ag_filter_args &a, uint64_t i) {
        ag_filter_seat s;
        const uint64_t q = ag_quotient(i, a.inner), r = ag_quotient(q, a.own);
        s.inner = (int64_t)(i - q * a.inner.size);
        s.own = (int64_t)(q - r * a.own.size);
        s.outer = (int64_t)r;
        return s;
    }
};

template <class M> AG_R void ag_filter(const ag_filter_args &a) {
    AG_EACH(i, a.n) {
        const ag_filter_seat s = ag_filter_seat::take(a, i);
        const ag_span span = ag_filtered(a, s.own);
        const int64_t step = (int64_t)a.inner.size;
        const M *p = (const M *)a.in + (s.outer * a.size + span.lo) * step + s.inner;
        const M *w = (const M *)a.weight + s.own * a.taps;
        M sum = 0;
        AG_ROLLED
        for (int64_t k = 0; k < span.hi - span.lo; k++) sum = ag_fused(w[k], p[k * step], sum);
        ((M *)a.out)[i] = sum;
    }
}

AG_R void ag_filter_bytes(const ag_filter_args &a) {
    AG_EACH(i, a.n) {
        const ag_filter_seat s = ag_filter_seat::take(a, i);
        const ag_span span = ag_filtered(a, s.own);
        const int64_t step = (int64_t)a.inner.size;
        const uint8_t *p = (const uint8_t *)a.in + (s.outer * a.size + span.lo) * step + s.inner;
        const int16_t *w = (const int16_t *)a.weight + s.own * a.taps;
        int32_t sum = 1 << a.bits >> 1;
        AG_ROLLED
        for (int64_t k = 0; k < span.hi - span.lo; k++) sum += (int32_t)w[k] * (int32_t)p[k * step];
        sum >>= a.bits;
        ((uint8_t *)a.out)[i] = (uint8_t)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
    }
}

template <class M> AG_R void ag_filter_backward(const ag_filter_args &a) {
    AG_EACH(i, a.n) {
        const ag_filter_seat s = ag_filter_seat::take(a, i);
        const int64_t step = (int64_t)a.inner.size;
        const M *p = (const M *)a.in + s.outer * a.to * step + s.inner;
        const M *w = (const M *)a.weight;
        int64_t lo = 0, hi = a.to; // the first result that goes beyond the element
        M sum = 0;
        AG_ROLLED
        while (lo < hi) {
            const int64_t middle = (lo + hi) / 2;
            if (a.bounds[2 * middle + 1] > s.own)
                hi = middle;
            else
                lo = middle + 1;
        }
        AG_ROLLED
        for (; lo < a.to && a.bounds[2 * lo] <= s.own; lo++) {
            const ag_span span = ag_filtered(a, lo);
            if (s.own >= span.lo && s.own < span.hi)
                sum = ag_fused(w[lo * a.taps + s.own - span.lo], p[lo * step], sum);
        }
        ((M *)a.out)[i] = sum;
    }
}
