// Kernels that test the emulated driver itself, right ones and wrong ones.
#include "kernel.cuh"

#include "small.h"

static __device__ uint64_t first() { return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; }
static __device__ uint64_t stride() { return (uint64_t)gridDim.x * blockDim.x; }

AG_KERNEL(add, small_args) {
    for (uint64_t i = first(); i < a.n; i += stride()) a.out[i] = a.a[i] + (a.b ? a.b[i] : 1.0f);
}

// Sums of whole blocks by shuffles, shared memory and a barrier.
AG_KERNEL_TOGETHER(sum_of_blocks, small_args, 256) {
    __shared__ float of_warp[8];
    float x = 0;
    for (uint64_t i = first(); i < a.n; i += stride()) x += a.a[i];
    for (int d = 16; d; d >>= 1) x += __shfl_down_sync(~0u, x, d);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = x;
    __syncthreads();
    if (threadIdx.x < 32) {
        x = threadIdx.x < blockDim.x / 32 ? of_warp[threadIdx.x] : 0;
        for (int d = 16; d; d >>= 1) x += __shfl_xor_sync(~0u, x, d);
        if (threadIdx.x == 0) a.out[blockIdx.x] = x;
    }
}

// Turns the elements of each block around, through dynamic shared memory.
AG_KERNEL_TOGETHER(turn, small_args, 1024) {
    AG_DYNAMIC_SHARED(float, kept);
    kept[threadIdx.x] = a.a[first()];
    __syncthreads();
    a.out[first()] = kept[blockDim.x - 1 - threadIdx.x];
}

AG_KERNEL_TOGETHER(turn_without_a_barrier, small_args, 1024) {
    AG_DYNAMIC_SHARED(float, kept);
    kept[threadIdx.x] = a.a[first()];
    a.out[first()] = kept[blockDim.x - 1 - threadIdx.x];
}

AG_KERNEL_TOGETHER(turn_out_of_bounds, small_args, 1024) {
    AG_DYNAMIC_SHARED(float, kept);
    kept[threadIdx.x + 1] = a.a[first()];
    __syncthreads();
    a.out[first()] = kept[1];
}

AG_KERNEL_TOGETHER(half_of_a_barrier, small_args, 1024) {
    if (threadIdx.x == 0) __syncthreads();
    else __syncwarp();
    a.out[first()] = 1;
}

AG_KERNEL(barrier_in_a_plain_kernel, small_args) {
    __syncthreads();
    a.out[first()] = 1;
}

// Votes and the other shuffles: what each lane of a warp of `n` threads gets, 8 numbers a lane.
AG_KERNEL_TOGETHER(votes, small_args, 64) {
    const unsigned lane = threadIdx.x;
    const unsigned mask = a.n == 32 ? ~0u : (1u << a.n) - 1;
    float *out = a.out + 8 * lane;
    out[0] = (float)__popc(__ballot_sync(mask, lane % 3 == 0));
    out[1] = (float)__any_sync(mask, lane == 5);
    out[2] = (float)__all_sync(mask, lane < 4);
    out[3] = __shfl_up_sync(mask, (float)lane, 1);
    out[4] = __shfl_sync(mask, (float)lane, 3, 8);
    out[5] = (float)__shfl_xor_sync(mask, (double)lane, 1);
    out[6] = (float)__syncthreads_count(lane % 2);
    out[7] = (float)__reduce_max_sync(mask, lane);
}

// The last block, told by a counter, adds up what the others have left.
AG_KERNEL_TOGETHER(last_block, small_args, 256) {
    __shared__ int last;
    unsigned *counter = (unsigned *)a.b;
    if (threadIdx.x == 0) {
        a.out[1 + blockIdx.x] = (float)blockIdx.x;
        __threadfence();
        last = atomicAdd(counter, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float total = 0;
        for (unsigned i = 0; i < gridDim.x; i++) total += a.out[1 + i];
        a.out[0] = total;
    }
}

AG_KERNEL(order_of_threads, small_args) {
    unsigned *counter = (unsigned *)a.b;
    a.out[first()] = (float)atomicAdd(counter, 1u);
}

AG_KERNEL(write_at_an_odd_address, small_args) { *(float2 *)(a.out + 1) = make_float2(1.0f, 2.0f); }

AG_KERNEL(index_outside, small_args) {
    float kept[4] = {1, 2, 3, 4};
    a.out[0] = kept[a.n];
}

AG_KERNEL(write_at_null, small_args) { *(volatile float *)(a.n * 4) = 1; }
