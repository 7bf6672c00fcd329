// Rows in order, unique elements and counts. Long rows are sorted as pairs of key and place
// (sort.cuh), whose keys are written here; short ones by a block in its shared memory. Both are
// stable.
#pragma once
#include "order_arguments.h"
#include "reductions.cuh"

// --- keys --------------------------------------------------------------------------------------

AG_R uint64_t ag_key_of_half(uint16_t x, uint16_t infinity) {
    if ((x & 0x7FFF) > infinity) return 0xFFFF;
    if (x == 0x8000) x = 0;
    return x & 0x8000 ? (uint16_t)~x : (uint16_t)(x | 0x8000);
}

// In the order of the elements: NaN last, -0 as 0; as in _C/sort_keys.pxd.
AG_R uint64_t ag_key_of(const void *p, uint64_t i, int dt) {
    switch (dt) {
    case AG_DT_U16: return ((const uint16_t *)p)[i];
    case AG_DT_U32: return ((const uint32_t *)p)[i];
    case AG_DT_U64: return ((const uint64_t *)p)[i];
    case AG_DT_I8: return (uint8_t)(((const uint8_t *)p)[i] ^ 0x80);
    case AG_DT_I16: return (uint16_t)(((const uint16_t *)p)[i] ^ 0x8000);
    case AG_DT_I32: return ((const uint32_t *)p)[i] ^ 0x80000000u;
    case AG_DT_I64: return ((const uint64_t *)p)[i] ^ (uint64_t)1 << 63;
    case AG_DT_F16: return ag_key_of_half(((const uint16_t *)p)[i], 0x7C00);
    case AG_DT_BF16: return ag_key_of_half(((const uint16_t *)p)[i], 0x7F80);
    case AG_DT_F32: {
        const float x = ((const float *)p)[i];
        const uint32_t bits = x == 0 ? 0 : ag_bits_f32(x);
        return x != x ? 0xFFFFFFFFu : bits ^ ((0u - (bits >> 31)) | 0x80000000u);
    }
    case AG_DT_F64: {
        const double x = ((const double *)p)[i];
        const uint64_t bits = x == 0 ? 0 : ag_bits_f64(x);
        return x != x ? ~(uint64_t)0 : bits ^ ((0 - (bits >> 63)) | (uint64_t)1 << 63);
    }
    default: return ((const uint8_t *)p)[i];
    }
}

AG_R bool ag_is_key_of_nan(uint64_t key, int dt) {
    return dt == AG_DT_F32 ? key == 0xFFFFFFFFu
         : dt == AG_DT_F64 ? key == ~(uint64_t)0
                           : (dt == AG_DT_F16 || dt == AG_DT_BF16) && key == 0xFFFF;
}

AG_R void ag_move_one(void *to, uint64_t i, const void *from, uint64_t k, uint32_t item) {
    switch (item) {
    case 1: ((uint8_t *)to)[i] = ((const uint8_t *)from)[k]; break;
    case 2: ((uint16_t *)to)[i] = ((const uint16_t *)from)[k]; break;
    case 4: ((uint32_t *)to)[i] = ((const uint32_t *)from)[k]; break;
    default: ((uint64_t *)to)[i] = ((const uint64_t *)from)[k];
    }
}

AG_R uint64_t ag_place_at(const void *places, uint32_t far, uint64_t i) {
    return !places ? i : far ? ((const uint64_t *)places)[i] : ((const uint32_t *)places)[i];
}

// Where element j of a row lies, in rows of `length`.
AG_R uint64_t ag_in_row(const ag_wide_divisor &inner, uint64_t row, uint64_t j, uint64_t length) {
    const uint64_t outer = ag_quotient(row, inner);
    return (outer * length + j) * inner.size + (row - outer * inner.size);
}

// --- rows --------------------------------------------------------------------------------------

template <class K> AG_R void ag_order_keys(const ag_order_args &a) {
    AG_EACH(i, a.n) {
        uint64_t at = i;
        if (a.inner.size > 1) {
            const uint64_t row = ag_quotient(i, a.length);
            at = ag_in_row(a.inner, row, i - row * a.length.size, a.length.size);
        }
        const uint64_t key = ag_key_of(a.in, at, a.dt) ^ a.flip;
        ((K *)a.keys)[i] = (K)key;
    }
}

// The rows that sorted elements are of.
template <class K> AG_R void ag_order_rows(const ag_order_args &a) {
    AG_EACH(i, a.n)
        ((K *)a.keys)[i] = (K)ag_quotient(ag_place_at(a.places, a.far, i), a.length);
}

AG_R void ag_order_write(const ag_order_args &a) {
    AG_EACH(i, a.n) {
        const uint64_t row = ag_quotient(i, a.take), j = i - row * a.take.size;
        const uint64_t begin = row * a.length.size;
        const uint64_t place = ag_place_at(a.places, a.far, begin + a.first + j) - begin;
        const uint64_t to = ag_in_row(a.inner, row, j, a.take.size);
        a.index[to] = (int64_t)place;
        ag_move_one(a.values, to, a.in, ag_in_row(a.inner, row, place, a.length.size), a.item);
    }
}

// Short rows, a few by each block. Behind the elements of a row are keys that come last.
template <class K> AG_R void ag_order_small(const ag_order_args &a) {
    __shared__ K keys[AG_ORDER_SLOTS];
    __shared__ uint16_t places[AG_ORDER_SLOTS];
    const uint32_t t = threadIdx.x, slots = 1u << a.slots, row_slots = slots - 1;
    const uint64_t rows = AG_ORDER_SLOTS >> a.slots;
    AG_ROLLED
    for (uint64_t first = blockIdx.x * rows; first < a.rows; first += gridDim.x * rows) {
        AG_ROLLED
        for (uint32_t s = t; s < AG_ORDER_SLOTS; s += AG_ORDER_THREADS) {
            const uint64_t row = first + (s >> a.slots), j = s & row_slots;
            const bool there = row < a.rows && j < a.length.size;
            keys[s] = there ? (K)(ag_key_of(a.in, ag_in_row(a.inner, row, j, a.length.size), a.dt)
                                  ^ a.flip)
                            : (K)~(K)0;
            places[s] = (uint16_t)j;
        }
        __syncthreads();
        AG_ROLLED
        for (uint32_t run = 2; run <= slots; run *= 2) {
            AG_ROLLED
            for (uint32_t apart = run / 2; apart; apart /= 2) {
                AG_ROLLED
                for (uint32_t p = t; p < AG_ORDER_SLOTS / 2; p += AG_ORDER_THREADS) {
                    const uint32_t i = 2 * p - (p & (apart - 1)), k = i + apart;
                    const bool rises = (i & run & row_slots) == 0;
                    const K x = keys[i], y = keys[k];
                    const uint16_t of_x = places[i], of_y = places[k];
                    if ((x > y || (x == y && of_x > of_y)) == rises) {
                        keys[i] = y;
                        keys[k] = x;
                        places[i] = of_y;
                        places[k] = of_x;
                    }
                }
                __syncthreads();
            }
        }
        AG_ROLLED
        for (uint32_t s = t; s < AG_ORDER_SLOTS; s += AG_ORDER_THREADS) {
            const uint64_t row = first + (s >> a.slots), j = s & row_slots;
            if (row >= a.rows || j < a.first || j - a.first >= a.take.size) continue;
            const uint64_t to = ag_in_row(a.inner, row, j - a.first, a.take.size);
            a.index[to] = places[s];
            ag_move_one(a.values, to, a.in, ag_in_row(a.inner, row, places[s], a.length.size),
                        a.item);
        }
        __syncthreads();
    }
}

// --- unique elements ---------------------------------------------------------------------------

AG_R void ag_unique_mark(const ag_unique_args &a) {
    AG_EACH(i, a.n) {
        bool differs = i == 0;
        if (i && a.keys) {
            const uint64_t key =
                a.wide ? ((const uint64_t *)a.keys)[i] : ((const uint32_t *)a.keys)[i];
            const uint64_t before =
                a.wide ? ((const uint64_t *)a.keys)[i - 1] : ((const uint32_t *)a.keys)[i - 1];
            differs = key != before || ag_is_key_of_nan(key, a.dt);
        } else if (i) {
            const uint64_t one = ag_place_at(a.places, a.far, i) * a.columns;
            const uint64_t other = ag_place_at(a.places, a.far, i - 1) * a.columns;
            AG_ROLLED
            for (uint64_t c = 0; c < a.columns && !differs; c++) {
                const uint64_t key = ag_key_of(a.in, one + c, a.dt);
                differs =
                    key != ag_key_of(a.in, other + c, a.dt) || ag_is_key_of_nan(key, a.dt);
            }
        }
        a.mask[i] = differs;
    }
}

// Keys of some columns of slices in their present order, the first column in the highest bits.
AG_R void ag_unique_keys(const ag_unique_args &a) {
    AG_EACH(i, a.n) {
        const uint64_t at = ag_place_at(a.places, a.far, i) * a.columns + a.column;
        uint64_t key = 0;
        AG_ROLLED
        for (uint64_t c = 0; c < a.packed; c++)
            key = (a.packed > 1 ? key << 8 * a.item : 0) | ag_key_of(a.in, at + c, a.dt);
        ((uint64_t *)a.keys)[i] = key;
    }
}

AG_R void ag_unique_write(const ag_unique_args &a) {
    AG_EACH(i, a.n) {
        const uint64_t place = ag_place_at(a.places, a.far, i);
        const int64_t rank = a.rank[i] - 1;
        if (a.inverse) a.inverse[place] = rank;
        if (i + 1 == a.n && a.starts) a.starts[a.total] = (int64_t)a.n;
        if (i && a.rank[i - 1] == rank + 1) continue;
        if (a.starts) a.starts[rank] = (int64_t)i;
        if (a.chosen) a.chosen[rank] = (int64_t)place;
        if (a.values) ag_move_one(a.values, (uint64_t)rank, a.in, place, a.item);
    }
}

AG_R void ag_unique_count(const ag_unique_args &a) {
    AG_EACH(i, a.total)
        a.counts[i] = a.starts[i + 1] - a.starts[i];
}

// The chosen slices of (outer, n, inner).
AG_R void ag_unique_slices(const ag_unique_args &a) {
    AG_EACH(i, a.total) {
        const uint64_t line = ag_quotient(i, a.inner), outer = ag_quotient(line, a.unique);
        const uint64_t from = outer * a.n + (uint64_t)a.chosen[line - outer * a.unique.size];
        ag_move_one(a.values, i, a.in, from * a.inner.size + (i - line * a.inner.size), a.item);
    }
}

// --- counts ------------------------------------------------------------------------------------

AG_R void ag_count_up(int64_t *bin, uint64_t by) { atomicAdd((unsigned long long *)bin, by); }

AG_R void ag_bins(const ag_count_args &a) {
    __shared__ uint32_t own[AG_BINS];
    const bool few = a.size <= AG_BINS;
    AG_ROLLED
    for (uint32_t b = threadIdx.x; few && b < a.size; b += AG_ORDER_THREADS) own[b] = 0;
    __syncthreads();
    AG_EACH(i, a.n) {
        const uint64_t bin = (uint64_t)a.in[i];
        if (bin >= a.size) continue;
        if (few)
            atomicAdd(&own[bin], 1u);
        else
            ag_count_up(&a.out[bin], 1);
    }
    __syncthreads();
    AG_ROLLED
    for (uint32_t b = threadIdx.x; few && b < a.size; b += AG_ORDER_THREADS)
        if (own[b]) ag_count_up(&a.out[b], own[b]);
}

// The number of the count to which each place belongs: `in` says where they end.
AG_R void ag_repeated(const ag_count_args &a) {
    AG_EACH(i, a.size) {
        uint64_t low = 0, high = a.n;
        AG_ROLLED
        while (low < high) {
            const uint64_t middle = low + (high - low) / 2;
            if ((uint64_t)a.in[middle] <= i)
                low = middle + 1;
            else
                high = middle;
        }
        a.out[i] = low < a.n ? (int64_t)low : 0;
    }
}
