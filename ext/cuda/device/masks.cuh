// Positions of what is true: blocks count their part, the counts are added up by one block, and
// blocks write the coordinates of theirs.
#pragma once
#include "mask_arguments.h"
#include "sort.cuh"

enum { AG_MASK_TILE = AG_MASK_THREADS * AG_MASK_ITEMS };

// A bit for each of a thread's bytes that is true.
AG_R uint32_t ag_true_bits(const ag_mask_args &a, uint64_t first, uint64_t stop) {
    uint32_t bits = 0;
    AG_UNROLL
    for (uint32_t j = 0; j < AG_MASK_ITEMS; j++)
        if (first + j < stop && a.mask[first + j]) bits |= 1u << j;
    return bits;
}

AG_R uint64_t ag_end_of_part(const ag_mask_args &a, uint64_t start) {
    return start >= a.n ? start : a.n - start < a.chunk ? a.n : start + a.chunk;
}

AG_R void ag_mask_count(const ag_mask_args &a) {
    __shared__ uint64_t sums[AG_SORT_WARPS];
    const uint64_t start = blockIdx.x * a.chunk, stop = ag_end_of_part(a, start);
    uint64_t own = 0;
    AG_ROLLED
    for (uint64_t at = start; at < stop; at += AG_MASK_TILE)
        own += __popc(ag_true_bits(a, at + threadIdx.x * AG_MASK_ITEMS, stop));
    const uint64_t before = ag_sum_before(own, sums);
    if (threadIdx.x == AG_MASK_THREADS - 1) a.counts[blockIdx.x] = before + own;
}

AG_R void ag_mask_add(const ag_mask_args &a) {
    __shared__ uint64_t sums[AG_SORT_WARPS];
    __shared__ uint64_t total;
    uint64_t before = 0;
    AG_ROLLED
    for (uint32_t first = 0; first < a.blocks; first += AG_MASK_THREADS) {
        const uint32_t b = first + threadIdx.x;
        const uint64_t own = b < a.blocks ? a.counts[b] : 0;
        const uint64_t at = before + ag_sum_before(own, sums);
        if (b < a.blocks) a.counts[b] = at;
        if (threadIdx.x == AG_MASK_THREADS - 1) total = at + own;
        __syncthreads();
        before = total;
        __syncthreads();
    }
    if (threadIdx.x == 0) a.counts[a.blocks] = before;
}

AG_R void ag_mask_write(const ag_mask_args &a) {
    __shared__ uint64_t sums[AG_SORT_WARPS];
    __shared__ uint64_t next;
    const uint64_t start = blockIdx.x * a.chunk, stop = ag_end_of_part(a, start);
    if (threadIdx.x == 0) next = a.counts[blockIdx.x];
    __syncthreads();
    AG_ROLLED
    for (uint64_t at = start; at < stop; at += AG_MASK_TILE) {
        const uint64_t first = at + threadIdx.x * AG_MASK_ITEMS;
        const uint32_t bits = ag_true_bits(a, first, stop), own = __popc(bits);
        uint64_t row = next + ag_sum_before(own, sums);
        const uint64_t after = row + own;
        AG_ROLLED
        for (uint32_t j = 0; j < AG_MASK_ITEMS; j++) {
            if (!(bits >> j & 1)) continue;
            uint64_t rest = first + j;
            AG_ROLLED
            for (uint32_t d = 0; d < a.nd && row < a.limit; d++) {
                const uint64_t q = d + 1 < a.nd ? ag_quotient(rest, a.size[d]) : 0;
                a.out[row * a.nd + (a.nd - 1 - d)] = (int64_t)(rest - q * a.size[d].size);
                rest = q;
            }
            row++;
        }
        __syncthreads();
        if (threadIdx.x == AG_MASK_THREADS - 1) next = after;
        __syncthreads();
    }
}
