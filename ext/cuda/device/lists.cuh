// What training does to lists of gradients: each block has a tile of one tensor.
#pragma once
#include "kernel.cuh"
#include "reduction_operations.cuh"
#include "step_arguments.h"

template <class M> struct ag_list_tile {
    M *p;
    int n; // how many elements
};

template <class M> AG_R ag_list_tile<M> ag_tile_of_list(const ag_list_args &a) {
    const uint64_t tile = blockIdx.x + a.words[2];
    uint32_t low = 0, high = a.count - 1;
    while (low < high) {
        const uint32_t middle = low + (high - low + 1) / 2;
        if (a.words[3 * middle + 2] <= tile) low = middle;
        else high = middle - 1;
    }
    const uint64_t *word = a.words + 3 * low;
    const uint64_t at = (tile - word[2]) * AG_STEP_TILE, rest = word[1] - at;
    return {(M *)word[0] + at, (int)(rest < AG_STEP_TILE ? rest : AG_STEP_TILE)};
}

// Times a factor; what isn't finite differs from itself, or leaves no 0.
template <class M> AG_R void ag_scale_list(const ag_list_args &a) {
    typedef decltype(ag_plain(M())) P;
    const ag_list_tile<M> t = ag_tile_of_list<M>(a);
    P factor;
    if (!a.bounded) factor = (P)*(const float *)a.factor.p;
    else if (a.factor.dt) {
        const double wide = a.bound / (*(const double *)a.factor.p + 1e-6);
        factor = (P)(wide > 1 ? 1 : wide);
    } else {
        const float narrow = (float)a.bound / (*(const float *)a.factor.p + 1e-6f);
        factor = (P)(narrow > 1 ? 1 : narrow);
    }
    bool bad = false;
    for (int i = (int)threadIdx.x; i < t.n; i += AG_STEP_THREADS) {
        const P x = ag_plain(t.p[i]);
        bad |= x - x != 0;
        t.p[i] = ag_narrowed(M(), x * factor);
    }
    if (bad && a.found_inf) *(float *)a.found_inf = 1;
}

AG_R double ag_block_sum(double x) {
    __shared__ double shared[AG_STEP_THREADS];
    shared[threadIdx.x] = x;
    __syncthreads();
    for (unsigned w = AG_STEP_THREADS / 2; w; w /= 2) {
        if (threadIdx.x < w) shared[threadIdx.x] += shared[threadIdx.x + w];
        __syncthreads();
    }
    return shared[0];
}

// The sum of the squares of a tile: four in their own type, then in double.
template <class M> AG_R void ag_squares_of_list(const ag_list_args &a) {
    typedef decltype(ag_plain(M())) P;
    const ag_list_tile<M> t = ag_tile_of_list<M>(a);
    double sum = 0;
    for (int i = (int)threadIdx.x; i < t.n; i += 4 * AG_STEP_THREADS) {
        P few = 0;
        AG_UNROLL
        for (int k = 0; k < 4; k++) {
            const int j = i + k * AG_STEP_THREADS;
            const P x = j < t.n ? ag_plain(t.p[j]) : (P)0;
            few += x * x;
        }
        sum += few;
    }
    sum = ag_block_sum(sum);
    if (threadIdx.x == 0) a.partial[blockIdx.x + a.words[2]] = sum;
}

AG_R void ag_root_of_sums(const ag_root_args &a) {
    double sum = 0;
    for (uint64_t i = threadIdx.x; i < a.n; i += AG_STEP_THREADS) sum += a.partial[i];
    sum = ag_block_sum(sum);
    if (threadIdx.x == 0) ag_store((char *)a.out, (int)a.dt, sqrt(sum));
}

// As run_scale of ext/kernels/gradient_lists.pyx.
AG_R void ag_next_scale(const ag_scale_args &a) {
    float *scale = (float *)a.scale;
    int *tracker = (int *)a.tracker;
    if (threadIdx.x != 0) return;
    if (*(const float *)a.found_inf != 0) {
        *scale = (float)(*scale * a.backoff);
        *tracker = 0;
    } else if (*tracker + 1 == a.interval) {
        const float grown = (float)(*scale * a.growth);
        if (grown - grown == 0) *scale = grown;
        *tracker = 0;
    } else {
        ++*tracker;
    }
}
