// A stable sort of pairs (key, place) by digits of up to 8 bits, the lowest first. A pass has three
// kernels: blocks count the digits in their part, the counts are added up, and blocks move their
// pairs, a tile at a time. The order of equal digits is that of the pairs before, so that the
// result doesn't depend on how many blocks or threads there are. ext/cuda/cuda_sort.pyx launches
// them.
#pragma once
#include "reductions.cuh"
#include "sort_arguments.h"

enum { AG_SORT_WARPS = AG_SORT_THREADS / 32 };

template <class K, class P> struct ag_sort_shared {
    K key[AG_SORT_TILE];
    P place[AG_SORT_TILE];
    uint32_t of_warp[AG_SORT_WARPS][AG_SORT_DIGITS]; // how many of a digit, then where they begin
    uint32_t first[AG_SORT_DIGITS];                  // where a digit begins in the tile
    uint64_t base[AG_SORT_DIGITS];                   // where its next pair goes
    uint64_t sums[AG_SORT_WARPS];
};

// The sum of `x` of all threads before this one.
AG_R uint64_t ag_sum_before(uint64_t x, uint64_t *sums) {
    const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    uint64_t sum = x, before = 0;
    AG_UNROLL
    for (uint32_t step = 1; step < 32; step *= 2) {
        const uint64_t other = __shfl_up_sync(~0u, sum, step);
        if (lane >= step) sum += other;
    }
    if (lane == 31) sums[warp] = sum;
    __syncthreads();
    AG_ROLLED
    for (uint32_t w = 0; w < warp; w++) before += sums[w];
    __syncthreads();
    return before + sum - x;
}

template <class K> AG_R uint32_t ag_digit(K key, uint32_t shift, uint32_t bits) {
    return (uint32_t)(key >> shift) & ((1u << bits) - 1);
}

// How many of each digit are in a part of the keys; thread t returns it for digit t.
template <class K>
AG_R uint32_t ag_count_digits(const K *keys, uint64_t n, uint32_t shift, uint32_t bits,
                              uint32_t *counts) {
    counts[threadIdx.x] = 0;
    __syncthreads();
    AG_ROLLED
    for (uint64_t i = threadIdx.x; i < n; i += AG_SORT_THREADS)
        atomicAdd(&counts[ag_digit(keys[i], shift, bits)], 1u);
    __syncthreads();
    const uint32_t count = counts[threadIdx.x];
    __syncthreads();
    return count;
}

// Move the pairs of a tile, of which `count` are there. Each warp has a row of 32 * AG_SORT_ITEMS
// elements, and looks in each step who of its lanes has the same digit.
template <class K, class P>
AG_R void ag_move_tile(const K *keys, const P *places, uint64_t start, uint32_t count, K *to_keys,
                       P *to_places, uint32_t shift, uint32_t bits, ag_sort_shared<K, P> &s) {
    const uint32_t t = threadIdx.x, lane = t & 31, warp = t >> 5;
    K key[AG_SORT_ITEMS];
    P place[AG_SORT_ITEMS];
    uint32_t rank[AG_SORT_ITEMS];
    AG_UNROLL
    for (uint32_t w = 0; w < AG_SORT_WARPS; w++) s.of_warp[w][t] = 0;
    __syncthreads();
    AG_UNROLL
    for (uint32_t j = 0; j < AG_SORT_ITEMS; j++) {
        const uint32_t i = (warp * AG_SORT_ITEMS + j) * 32 + lane;
        const bool there = i < count;
        key[j] = there ? keys[start + i] : (K)0;
        place[j] = !there ? (P)0 : places ? places[start + i] : (P)(start + i);
        const uint32_t digit = ag_digit(key[j], shift, bits);
        uint32_t same = __ballot_sync(~0u, there);
        AG_ROLLED
        for (uint32_t b = 0; b < bits; b++) {
            const uint32_t set = __ballot_sync(~0u, digit >> b & 1);
            same &= digit >> b & 1 ? set : ~set;
        }
        const uint32_t before = __popc(same & ((1u << lane) - 1));
        rank[j] = s.of_warp[warp][digit] + before;
        __syncwarp();
        if (there && before == 0) s.of_warp[warp][digit] += __popc(same);
        __syncwarp();
    }
    __syncthreads();
    uint32_t total = 0;
    AG_UNROLL
    for (uint32_t w = 0; w < AG_SORT_WARPS; w++) {
        const uint32_t own = s.of_warp[w][t];
        s.of_warp[w][t] = total;
        total += own;
    }
    s.first[t] = (uint32_t)ag_sum_before(total, s.sums);
    __syncthreads();
    AG_UNROLL
    for (uint32_t j = 0; j < AG_SORT_ITEMS; j++) {
        const uint32_t digit = ag_digit(key[j], shift, bits);
        const uint32_t at = s.first[digit] + s.of_warp[warp][digit] + rank[j];
        if ((warp * AG_SORT_ITEMS + j) * 32 + lane < count) {
            s.key[at] = key[j];
            s.place[at] = place[j];
        }
    }
    __syncthreads();
    AG_ROLLED
    for (uint32_t i = t; i < count; i += AG_SORT_THREADS) {
        const uint32_t digit = ag_digit(s.key[i], shift, bits);
        const uint64_t at = s.base[digit] + (i - s.first[digit]);
        to_keys[at] = s.key[i];
        to_places[at] = s.place[i];
    }
    __syncthreads();
    s.base[t] += total;
}

// --- kernels -----------------------------------------------------------------------------------

template <class K> AG_R void ag_sort_count(const ag_sort_args &a) {
    __shared__ uint32_t counts[AG_SORT_DIGITS];
    const uint64_t start = blockIdx.x * a.chunk;
    const uint64_t n = start >= a.n ? 0 : a.n - start < a.chunk ? a.n - start : a.chunk;
    const uint32_t count =
        ag_count_digits((const K *)a.keys[0] + start, n, a.shift, a.bits, counts);
    a.counts[(uint64_t)threadIdx.x * a.blocks + blockIdx.x] = count;
}

// Block d adds up what blocks have of digit d.
AG_R void ag_sort_add(const ag_sort_args &a) {
    __shared__ uint64_t sums[AG_SORT_WARPS];
    __shared__ uint64_t total;
    uint64_t *counts = a.counts + (uint64_t)blockIdx.x * a.blocks, before = 0;
    AG_ROLLED
    for (uint32_t first = 0; first < a.blocks; first += AG_SORT_THREADS) {
        const uint32_t b = first + threadIdx.x;
        const uint64_t own = b < a.blocks ? counts[b] : 0;
        const uint64_t at = before + ag_sum_before(own, sums);
        if (b < a.blocks) counts[b] = at;
        if (threadIdx.x == AG_SORT_THREADS - 1) total = at + own;
        __syncthreads();
        before = total;
        __syncthreads();
    }
    if (threadIdx.x == 0) a.counts[(uint64_t)AG_SORT_DIGITS * a.blocks + blockIdx.x] = before;
}

template <class K, class P> AG_R void ag_sort_move(const ag_sort_args &a) {
    __shared__ ag_sort_shared<K, P> s;
    const uint64_t *totals = a.counts + (uint64_t)AG_SORT_DIGITS * a.blocks;
    const uint64_t start = blockIdx.x * a.chunk;
    const uint64_t stop = start >= a.n ? start : a.n - start < a.chunk ? a.n : start + a.chunk;
    s.base[threadIdx.x] = ag_sum_before(totals[threadIdx.x], s.sums)
                        + a.counts[(uint64_t)threadIdx.x * a.blocks + blockIdx.x];
    AG_ROLLED
    for (uint64_t at = start; at < stop; at += AG_SORT_TILE)
        ag_move_tile((const K *)a.keys[0], a.counted ? (const P *)0 : (const P *)a.places[0], at,
                     (uint32_t)(stop - at < AG_SORT_TILE ? stop - at : AG_SORT_TILE),
                     (K *)a.keys[1], (P *)a.places[1], a.shift, a.bits, s);
}

// All passes by one block; one pass if there are no bits, which writes the places.
template <class K> AG_R void ag_sort_small(const ag_sort_args &a) {
    __shared__ ag_sort_shared<K, uint32_t> s;
    uint32_t from = 0, done = 0;
    do {
        const uint32_t bits = a.bits - done < 8 ? a.bits - done : 8, shift = a.shift + done;
        K *keys = (K *)a.keys[from], *to_keys = (K *)a.keys[from ^ 1];
        uint32_t *places = (uint32_t *)a.places[from], *to_places = (uint32_t *)a.places[from ^ 1];
        if (a.counted && done == 0) places = 0;
        const uint64_t own = ag_count_digits(keys, a.n, shift, bits, s.first);
        s.base[threadIdx.x] = ag_sum_before(own, s.sums);
        AG_ROLLED
        for (uint64_t at = 0; at < a.n; at += AG_SORT_TILE)
            ag_move_tile(keys, places, at,
                         (uint32_t)(a.n - at < AG_SORT_TILE ? a.n - at : AG_SORT_TILE), to_keys,
                         to_places, shift, bits, s);
        __syncthreads();
        done += bits;
        from ^= 1;
    } while (done < a.bits);
}
