// Copies that change the order of dimensions: read along one, written along another. A tile goes through
// shared memory, so that both sides of it are whole rows. ext/codegen/cuda_copies.py writes the list
// of kernels; all other copies are elementwise kernels.
#pragma once
#include "kernel.cuh"
#include "scalar/config.h"

static __device__ __forceinline__ uint32_t ag_split(uint32_t *rest, const ag_divisor &by) {
    const uint32_t q = (__umulhi(*rest, by.mul) + *rest) >> by.shift, place = *rest - q * by.size;
    *rest = q;
    return place;
}

// 256 threads; a row more than SIDE is never read: it keeps the columns of a tile in different banks.
template <class T, int SIDE>
static __device__ __forceinline__ void ag_turn(const ag_turned_args &a, T (*tile)[SIDE + 1]) {
    const uint32_t x = threadIdx.x % SIDE, first = threadIdx.x / SIDE, step = 256 / SIDE;
    _Pragma("unroll 1") for (uint32_t number = blockIdx.x; number < a.tiles; number += gridDim.x) {
        uint32_t rest = number;
        const uint32_t i = ag_split(&rest, a.in_tiles) * SIDE, o = ag_split(&rest, a.out_tiles) * SIDE;
        const char *in = (const char *)a.in + i * (int64_t)sizeof(T) + o * a.in_step;
        char *out = (char *)a.out + o * (int64_t)sizeof(T) + i * a.out_step;
        _Pragma("unroll 1") for (uint32_t d = 0; d < a.nd; d++) {
            const uint32_t place = ag_split(&rest, a.size[d]);
            in += place * a.in_stride[d];
            out += place * a.out_stride[d];
        }
        for (uint32_t y = first; y < SIDE; y += step)
            if (i + x < a.in_size && o + y < a.out_size)
                tile[y][x] = *(const T *)(in + x * sizeof(T) + y * a.in_step);
        __syncthreads();
        for (uint32_t y = first; y < SIDE; y += step)
            if (o + x < a.out_size && i + y < a.in_size)
                *(T *)(out + x * sizeof(T) + y * a.out_step) = tile[x][y];
        __syncthreads();
    }
}

#define AG_TURN(name, T, side)                                                                     \
    AG_KERNEL_TOGETHER(name, ag_turned_args, 256) {                                                \
        __shared__ T tile[side][side + 1];                                                         \
        ag_turn<T, side>(a, tile);                                                                 \
    }
