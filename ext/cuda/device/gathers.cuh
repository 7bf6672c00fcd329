// Elements that are taken from where indices, or the place itself, say: gathers, joins, padding,
// triangles, ranges. Moves know the size of their elements alone; the host lets elements that lie
// side by side on both sides go as words of up to 16 bytes.
#pragma once
#include "faults.cuh"
#include "index_arguments.h"
#include "reductions.cuh"

struct alignas(16) ag_long_word { uint64_t half[2]; };

// Where index k has its element.
AG_R int64_t ag_load_index(const ag_index_args &a, uint32_t k, int64_t at) {
    const char *p = (const char *)a.at[k] + at;
    return a.narrow >> k & 1 ? (int64_t)*(const int32_t *)p : *(const int64_t *)p;
}

// What index k adds, in *sum; false if it lies outside.
AG_R bool ag_add_index(const ag_index_args &a, uint32_t k, int64_t at, const char *op,
                       int64_t *sum) {
    const int64_t index = ag_load_index(a, k, at);
    const int64_t value = a.wraps && index < 0 ? index + a.size[k] : index;
    if ((uint64_t)value >= (uint64_t)a.size[k]) {
        ag_note_fault(a.fault, a.kind, op, index, a.size[k], a.dim[k]);
        return false;
    }
    *sum += value * a.step[k];
    return true;
}

// The same of all indices, of which there are at most MOST, for one element; `at` are their places.
template <int MOST>
AG_R bool ag_add_indices(const ag_index_args &a, const int64_t (&at)[MOST], const char *op,
                         int64_t *sum) {
    bool good = true;
    AG_UNROLL
    for (uint32_t k = 0; k < MOST; k++) {
        if (k >= a.n) break;
        good = ag_add_index(a, k, at[k], op, sum) && good;
    }
    return good;
}

// --- gathers -----------------------------------------------------------------------------------

template <class W, int MOST> AG_R void ag_take(const ag_take_args &a) {
    AG_EACH(i, a.n) {
        int64_t out = 0, in = 0, at[MOST] = {0};
        uint64_t rest = i;
        AG_ROLLED
        for (uint32_t d = 0; d < a.nd; d++) {
            const uint64_t q = d + 1 < a.nd ? ag_quotient(rest, a.size[d]) : 0;
            const int64_t c = (int64_t)(rest - q * a.size[d].size);
            rest = q;
            out += c * a.out_stride[d];
            in += c * a.in_stride[d];
            AG_UNROLL
            for (uint32_t k = 0; k < MOST; k++) {
                if (k >= a.index.n) break;
                at[k] += c * a.index.stride[k][d];
            }
        }
        if (ag_add_indices<MOST>(a.index, at, a.op, &in))
            *(W *)((char *)a.out + out) = *(const W *)((const char *)a.in + in);
    }
}

AG_R void ag_make_keys(const ag_key_args &a) {
    AG_EACH(i, a.n) {
        int64_t key = a.base, at[AG_INDICES] = {0};
        uint64_t rest = i;
        AG_ROLLED
        for (uint32_t d = 0; d < a.nd; d++) {
            const uint64_t q = d + 1 < a.nd ? ag_quotient(rest, a.size[d]) : 0;
            const int64_t c = (int64_t)(rest - q * a.size[d].size);
            rest = q;
            key += c * a.own[d];
            AG_UNROLL
            for (uint32_t k = 0; k < AG_INDICES; k++) {
                if (k >= a.index.n) break;
                at[k] += c * a.index.stride[k][d];
            }
        }
        if (!ag_add_indices<AG_INDICES>(a.index, at, a.op, &key)) key = (int64_t)a.bad;
        if (a.keys == 0) continue;
        if (a.wide)
            ((uint64_t *)a.keys)[i] = (uint64_t)key;
        else
            ((uint32_t *)a.keys)[i] = (uint32_t)key;
    }
}

// --- joins -------------------------------------------------------------------------------------

template <class W> AG_R void ag_join(const ag_join_args &a) {
    AG_EACH(i, a.n) {
        const uint64_t row = ag_quotient(i, a.width);
        const uint64_t column = i - row * a.width.size + a.first[0];
        uint32_t low = 0, high = a.pieces; // the last piece that begins there or before
        AG_ROLLED
        while (high - low > 1) {
            const uint32_t middle = (low + high) / 2;
            if (a.first[middle] <= column)
                low = middle;
            else
                high = middle;
        }
        const uint64_t length = a.first[low + 1] - a.first[low];
        ((W *)a.out)[row * a.total + column] =
            ((const W *)a.in[low])[row * length + column - a.first[low]];
    }
}

// --- padding -----------------------------------------------------------------------------------

enum { AG_PAD_CONSTANT, AG_PAD_REFLECT, AG_PAD_REPLICATE, AG_PAD_CIRCULAR };

// The element that stands at place i of an axis of n elements; -1 for none.
AG_R int64_t ag_pad_source(uint32_t mode, int64_t i, int64_t n) {
    if (i >= 0 && i < n) return i;
    if (mode == AG_PAD_REFLECT) return i < 0 ? -i : 2 * (n - 1) - i;
    if (mode == AG_PAD_REPLICATE) return i < 0 ? 0 : n - 1;
    if (mode == AG_PAD_CIRCULAR) return i < 0 ? i + n : i - n;
    return -1;
}

template <class W> AG_R void ag_pad(const ag_pad_args &a) {
    AG_EACH(i, a.n) {
        int64_t out = 0, in = 0;
        uint64_t rest = i;
        bool inside = true;
        AG_ROLLED
        for (uint32_t d = 0; d < a.nd; d++) {
            const uint64_t q = d + 1 < a.nd ? ag_quotient(rest, a.size[d]) : 0;
            const int64_t c = (int64_t)(rest - q * a.size[d].size);
            const int64_t from = ag_pad_source(a.mode, c - a.left[d], a.other[d]);
            rest = q;
            out += c * a.out_stride[d];
            in += from * a.in_stride[d];
            inside = inside && from >= 0;
        }
        *(W *)((char *)a.out + out) =
            inside ? *(const W *)((const char *)a.in + in) : *(const W *)a.value;
    }
}

// The places of a padded axis that show element c: `n` of them from `at` on, of up to three runs.
struct ag_shown { int64_t at[3], n[3]; };

AG_R ag_shown ag_shown_at(const ag_pad_args &a, uint32_t d, int64_t c) {
    const int64_t n = (int64_t)a.size[d].size, m = a.other[d], left = a.left[d];
    ag_shown s = {{left, c + left, left + n}, {0, 1, 0}};
    if (a.mode == AG_PAD_REFLECT) {
        s.at[0] = left - c, s.n[0] = c > 0;
        s.at[2] = left + 2 * (n - 1) - c, s.n[2] = c < n - 1;
    } else if (a.mode == AG_PAD_CIRCULAR) {
        s.at[0] = left + c - n, s.n[0] = 1;
        s.at[2] = left + c + n, s.n[2] = 1;
    } else {
        if (c == 0) s.at[0] = 0, s.n[0] = left;
        if (c == n - 1) s.n[2] = m - s.at[2];
    }
    AG_UNROLL
    for (int k = 0; k < 3; k++) {
        if (s.at[k] < 0) s.n[k] += s.at[k], s.at[k] = 0;
        if (s.n[k] > m - s.at[k]) s.n[k] = m - s.at[k];
    }
    return s;
}

// The sum of what stands for one element, over DIMS padded dimensions from d on.
template <class M, int DIMS> struct ag_pad_sum {
    AG_R double of(const ag_pad_args &a, const int64_t (&at)[3], int64_t place) {
        const uint32_t d = DIMS - 1;
        const ag_shown s = ag_shown_at(a, d, at[d]);
        double sum = 0;
        AG_ROLLED
        for (int k = 0; k < 3; k++) {
            AG_ROLLED
            for (int64_t j = 0; j < s.n[k]; j++)
                sum += ag_pad_sum<M, DIMS - 1>::of(a, at, place + (s.at[k] + j) * a.in_stride[d]);
        }
        return sum;
    }
};
template <class M> struct ag_pad_sum<M, 0> {
    AG_R double of(const ag_pad_args &a, const int64_t (&)[3], int64_t place) {
        return (double)ag_plain(*(const M *)((const char *)a.in + place));
    }
};

AG_R void ag_store_sum(float *p, double x) { *p = (float)x; }
AG_R void ag_store_sum(double *p, double x) { *p = x; }
AG_R void ag_store_sum(ag_stored_f16 *p, double x) { p->bits = ag_f32_to_f16((float)x); }
AG_R void ag_store_sum(ag_stored_bf16 *p, double x) { p->bits = ag_f32_to_bf16((float)x); }

template <class M> AG_R void ag_pad_backward(const ag_pad_args &a) {
    AG_EACH(i, a.n) {
        int64_t out = 0, in = 0, at[3] = {0};
        uint64_t rest = i;
        AG_ROLLED
        for (uint32_t d = 0; d < a.nd; d++) {
            const uint64_t q = d + 1 < a.nd ? ag_quotient(rest, a.size[d]) : 0;
            const int64_t c = (int64_t)(rest - q * a.size[d].size);
            rest = q;
            out += c * a.out_stride[d];
            if (d >= a.padded)
                in += c * a.in_stride[d];
            else if (d == 0)
                at[0] = c;
            else if (d == 1)
                at[1] = c;
            else
                at[2] = c;
        }
        const double sum = a.padded == 1   ? ag_pad_sum<M, 1>::of(a, at, in)
                           : a.padded == 2 ? ag_pad_sum<M, 2>::of(a, at, in)
                                           : ag_pad_sum<M, 3>::of(a, at, in);
        ag_store_sum((M *)((char *)a.out + out), sum);
    }
}

// --- triangles and ranges ------------------------------------------------------------------------

template <class W> AG_R void ag_triangle(const ag_triangle_args &a) {
    AG_EACH(i, a.n) {
        const uint64_t line = ag_quotient(i, a.cols);
        const int64_t column = (int64_t)(i - line * a.cols.size);
        const int64_t row = (int64_t)(line - ag_quotient(line, a.rows) * a.rows.size);
        const bool inside = a.lower ? column <= row + a.diagonal : column >= row + a.diagonal;
        W x = W();
        if (inside) x = ((const W *)a.in)[i];
        ((W *)a.out)[i] = x;
    }
}

AG_R void ag_range(const ag_range_args &a) {
    AG_EACH(i, a.n) {
        if (a.whole) {
            const int64_t x = (int64_t)((uint64_t)a.first + i * (uint64_t)a.step);
            if (a.dt == AG_DT_I64)
                ((int64_t *)a.out)[i] = x;
            else
                AG_DT_F32 == a.dt ? (void)(((float *)a.out)[i] = (float)x)
                                  : (void)(((double *)a.out)[i] = (double)x);
        } else {
#ifdef __CUDA_ARCH__
            const double x = __dadd_rn(a.start, __dmul_rn((double)i, a.by));
#else
            const double x = a.start + AG_ROUNDED((double)i * a.by);
#endif
            ag_store((char *)a.out + i * (a.dt == AG_DT_F32 ? 4 : 8), a.dt, x);
        }
    }
}
