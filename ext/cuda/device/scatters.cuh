// Writes by index that give the same bits in each run: rows are sorted by where they go, so that
// those of one place are neighbours. A thread goes through a chunk of sorted slots, for one column,
// and writes the runs that begin and end there. Of a run that reaches into other chunks it leaves
// what it has found, and a second kernel joins that. Which slots make a chunk depends on shapes
// alone.
#pragma once
#include "gathers.cuh"
#include "reduction_operations.cuh"
#include "scatter_arguments.h"

enum { AG_MOVE_ADD, AG_MOVE_PROD, AG_MOVE_MAX, AG_MOVE_MIN, AG_MOVE_LAST };

// --- elements that come together ----------------------------------------------------------------

AG_R double ag_together(uint32_t move, double x, double y) {
    switch (move) {
    case AG_MOVE_ADD: return x + y;
    case AG_MOVE_PROD: return x * y;
    case AG_MOVE_MAX: return y != y || y > x ? y : x;
    default: return y != y || y < x ? y : x;
    }
}
AG_R int64_t ag_together(uint32_t move, int64_t x, int64_t y) {
    switch (move) {
    case AG_MOVE_ADD: return ag_plus(x, y);
    case AG_MOVE_PROD: return ag_times(x, y);
    case AG_MOVE_MAX: return y > x ? y : x;
    default: return y < x ? y : x;
    }
}
AG_R ag_c128 ag_together(uint32_t move, ag_c128 x, ag_c128 y) {
    return move == AG_MOVE_ADD ? ag_plus(x, y) : ag_times(x, y);
}

AG_R double ag_share(double x, uint64_t count) { return x / (double)count; }
AG_R ag_c128 ag_share(ag_c128 x, uint64_t count) {
    return ag_make_c128(x.re / (double)count, x.im / (double)count);
}
// Rounded down.
AG_R int64_t ag_share(int64_t x, uint64_t count) {
    const int64_t n = (int64_t)count;
    return x >= 0 ? x / n : -1 - (-1 - x) / n;
}

AG_R void ag_load(const char *p, int dt, double *x) {
    switch (dt) {
    case AG_DT_F16: *x = ag_f16_to_f32(*(const ag_f16 *)p); break;
    case AG_DT_BF16: *x = ag_bf16_to_f32(*(const ag_bf16 *)p); break;
    case AG_DT_F32: *x = *(const float *)p; break;
    default: *x = *(const double *)p;
    }
}
AG_R void ag_load(const char *p, int dt, int64_t *x) {
    switch (dt) {
    case AG_DT_BOOL:
    case AG_DT_U8: *x = *(const uint8_t *)p; break;
    case AG_DT_I8: *x = *(const int8_t *)p; break;
    case AG_DT_I16: *x = *(const int16_t *)p; break;
    case AG_DT_I32: *x = *(const int32_t *)p; break;
    default: *x = *(const int64_t *)p;
    }
}
AG_R void ag_load(const char *p, int dt, ag_c128 *x) {
    if (dt == AG_DT_C64)
        *x = ag_widened(*(const ag_c64 *)p);
    else
        *x = *(const ag_c128 *)p;
}

// Integers have wrapped before they are divided.
AG_R int64_t ag_wrapped(int64_t x, int dt) {
    switch (dt) {
    case AG_DT_BOOL:
    case AG_DT_U8: return (uint8_t)x;
    case AG_DT_I8: return (int8_t)x;
    case AG_DT_I16: return (int16_t)x;
    case AG_DT_I32: return (int32_t)x;
    default: return x;
    }
}
AG_R double ag_wrapped(double x, int) { return x; }
AG_R ag_c128 ag_wrapped(ag_c128 x, int) { return x; }

// --- slots -------------------------------------------------------------------------------------

AG_R uint64_t ag_slot_key(const ag_scatter_args &a, uint64_t slot) {
    return a.wide ? ((const uint64_t *)a.keys)[slot] : ((const uint32_t *)a.keys)[slot];
}
AG_R int64_t ag_slot_place(const ag_scatter_args &a, uint64_t slot) {
    const uint64_t place =
        a.far ? ((const uint64_t *)a.places)[slot] : ((const uint32_t *)a.places)[slot];
    return ag_place(place, a.place_nd, a.place_size, a.place_stride);
}
AG_R bool ag_left_out(const ag_scatter_args &a, uint64_t key) {
    return key >= a.bound || key == a.padding;
}

template <class A>
AG_R void ag_write_run(const ag_scatter_args &a, uint64_t key, uint64_t column, A acc,
                       uint64_t count) {
    char *out = (char *)a.out + ag_place(key, a.key_nd, a.key_size, a.key_stride)
              + ag_place(column, a.column_nd, a.column_size, a.column_out);
    if (a.with_self) {
        A own;
        ag_load(out, a.dt, &own);
        acc = ag_together(a.move, own, acc);
        count++;
    }
    if (a.mean && count > 1) acc = ag_share(ag_wrapped(acc, a.dt), count);
    ag_store(out, a.dt, acc);
}

template <class M> AG_R void ag_scatter_runs(const ag_scatter_args &a) {
    typedef decltype(ag_widened(ag_plain(M()))) A;
    const uint64_t columns = a.columns.size;
    AG_EACH(i, a.chunks * columns) {
        const uint64_t chunk = ag_quotient(i, a.columns), column = i - chunk * columns;
        const uint64_t first = chunk * a.chunk;
        const uint64_t stop = a.n - first < a.chunk ? a.n : first + a.chunk;
        const char *in = (const char *)a.in
                       + ag_place(column, a.column_nd, a.column_size, a.column_in);
        uint64_t slot = first, key = ag_slot_key(a, first);
        bool begun = first == 0 || ag_slot_key(a, first - 1) != key;
        AG_ROLLED
        while (slot < stop) {
            const uint64_t start = slot, own = key;
            A acc = ag_widened(ag_plain(*(const M *)(in + ag_slot_place(a, slot))));
            AG_ROLLED
            while (++slot < stop && (key = ag_slot_key(a, slot)) == own)
                acc = ag_together(
                    a.move, acc,
                    ag_widened(ag_plain(*(const M *)(in + ag_slot_place(a, slot)))));
            const bool ended = slot < stop || slot == a.n || ag_slot_key(a, slot) != own;
            if (!ag_left_out(a, own)) {
                if (begun && ended)
                    ag_write_run(a, own, column, acc, slot - start);
                else
                    ((A *)a.partial)[(2 * chunk + begun) * columns + column] = acc;
            }
            begun = true;
        }
    }
}

// The first slot from `low` on whose key is larger.
AG_R uint64_t ag_end_of_run(const ag_scatter_args &a, uint64_t low, uint64_t key) {
    uint64_t high = a.n;
    AG_ROLLED
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (ag_slot_key(a, middle) > key)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

// A block looks whether a run begins in its chunk that goes on in the next one, and joins its
// parts.
template <class A> AG_R void ag_scatter_join(const ag_scatter_args &a) {
    __shared__ A shared[AG_SCATTER_THREADS];
    const uint64_t columns = a.columns.size, tiles = ((columns - 1) >> a.width) + 1;
    const uint32_t width = 1u << a.width, group = 1u << a.group, t = threadIdx.x;
    const uint32_t lane = t >> a.width;
    AG_ROLLED
    for (uint64_t tile = blockIdx.x; tile < a.chunks * tiles; tile += gridDim.x) {
        const uint64_t chunk = tile / tiles, first = chunk * a.chunk, stop = first + a.chunk;
        if (stop >= a.n) continue;
        const uint64_t key = ag_slot_key(a, stop);
        if (ag_slot_key(a, stop - 1) != key || ag_left_out(a, key)) continue;
        if (first > 0 && ag_slot_key(a, first - 1) == key) continue;
        const uint64_t column = ((tile - chunk * tiles) << a.width) + (t & (width - 1));
        const uint64_t end = ag_end_of_run(a, stop, key), parts = (end - 1) / a.chunk - chunk;
        const A *partial = (const A *)a.partial + column;
        A acc = A();
        bool any_found = false;
        AG_ROLLED
        for (uint64_t k = lane; k < parts && column < columns; k += group) {
            const A other = partial[2 * (chunk + 1 + k) * columns];
            acc = any_found ? ag_together(a.move, acc, other) : other;
            any_found = true;
        }
        shared[t] = acc;
        __syncthreads();
        AG_ROLLED
        for (uint32_t half = group >> 1; half; half >>= 1) {
            if (lane < half && lane + half < parts) {
                acc = ag_together(a.move, acc, shared[t + (half << a.width)]);
                shared[t] = acc;
            }
            __syncthreads();
        }
        if (lane == 0 && column < columns) {
            uint64_t start = stop - 1;
            while (start > first && ag_slot_key(a, start - 1) == key) start--;
            acc = ag_together(a.move, partial[(2 * chunk + 1) * columns], acc);
            ag_write_run(a, key, column, acc, end - start);
        }
    }
}

// The last row of those that go to one place is the one that stays.
template <class W> AG_R void ag_scatter_last(const ag_scatter_args &a) {
    AG_EACH(i, a.n * a.columns.size) {
        const uint64_t slot = ag_quotient(i, a.columns), column = i - slot * a.columns.size;
        const uint64_t key = ag_slot_key(a, slot);
        if (key >= a.bound || (slot + 1 < a.n && ag_slot_key(a, slot + 1) == key)) continue;
        const int64_t out = ag_place(key, a.key_nd, a.key_size, a.key_stride)
                          + ag_place(column, a.column_nd, a.column_size, a.column_out);
        const int64_t in = ag_slot_place(a, slot)
                         + ag_place(column, a.column_nd, a.column_size, a.column_in);
        *(W *)((char *)a.out + out) = *(const W *)((const char *)a.in + in);
    }
}

// --- short indices ------------------------------------------------------------------------------

template <class M> AG_R void ag_short_scatter(const ag_short_scatter_args &a) {
    typedef decltype(ag_widened(ag_plain(M()))) A;
    AG_EACH(i, a.n) {
        int64_t out = 0, in = 0, at = 0, own = 0;
        uint64_t rest = i, count = a.with_self, terms = 0;
        bool inside = true;
        AG_ROLLED
        for (uint32_t d = 0; d < a.nd; d++) {
            const uint64_t q = d + 1 < a.nd ? ag_quotient(rest, a.size[d]) : 0;
            const int64_t c = (int64_t)(rest - q * a.size[d].size);
            rest = q;
            out += c * a.out_stride[d];
            in += c * a.in_stride[d];
            at += c * a.index.stride[0][d];
            inside = inside && c < a.limit[d];
            if (d == a.dim) own = c;
        }
        if (!inside) continue;
        M *const p = (M *)((char *)a.out + out);
        M last = *p;
        A acc = ag_widened(ag_plain(last));
        AG_ROLLED
        for (int64_t j = 0; j < a.length; j++) {
            const int64_t k = ag_load_index(a.index, 0, at + j * a.index_step);
            if (own == 0 && (uint64_t)k >= (uint64_t)a.index.size[0])
                ag_note_fault(a.index.fault, a.index.kind, a.op, k, a.index.size[0],
                              a.index.dim[0]);
            if (k != own) continue;
            last = *(const M *)((const char *)a.in + in + j * a.in_step);
            const A x = ag_widened(ag_plain(last));
            acc = count ? ag_together(a.move, acc, x) : x;
            count++;
            terms++;
        }
        if (terms == 0) continue;
        if (a.move == AG_MOVE_LAST) {
            *p = last;
        } else {
            if (a.mean && count > 1) acc = ag_share(ag_wrapped(acc, a.dt), count);
            ag_store((char *)p, a.dt, acc);
        }
    }
}

// --- rows that were taken -----------------------------------------------------------------------

template <class M> AG_R void ag_row_shares(const ag_row_shares_args &a) {
    AG_EACH(i, a.n) {
        const int64_t k = a.index[ag_quotient(i, a.columns)];
        M *p = (M *)a.out + i;
        if (k == a.padding)
            *p = ag_narrowed(M(), 0);
        else if (a.counts && (uint64_t)k < (uint64_t)a.rows && a.counts[k] > 1)
            *p = ag_narrowed(M(), ag_plain(*p) / (decltype(ag_plain(M())))a.counts[k]);
    }
}
