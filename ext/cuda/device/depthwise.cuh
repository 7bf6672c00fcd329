// Convolutions in which each result takes one channel: too little for products of matrices. A
// thread sums the taps of one result; gradients of weights are summed by the threads of a block,
// in double beyond a few products, and by a second pass where several blocks share a result.
#pragma once
#include "fused.cuh"
#include "windows.cuh"

template <class M> AG_R void ag_depthwise(const ag_depthwise_args &a) {
    typedef decltype(ag_plain(M())) P;
    AG_EACH(i, a.n) {
        const ag_image_part p = ag_split_number(i, a.area, a.channels, a.channels_inner);
        int64_t place[3];
        ag_place_of(a.w, p.place, place);
        P sum = a.bias ? ag_plain(*(const M *)((const char *)a.bias
                                               + (int64_t)p.channel * a.bias_step))
                       : (P)0;
        AG_ROLLED
        for (uint64_t m = 0; m < a.many; m++) {
            const uint64_t source = ag_quotient(p.channel, a.share) * a.many + m;
            const char *in = (const char *)a.in + (int64_t)p.image * a.in_image
                           + (int64_t)source * a.in_channel;
            const char *weight = (const char *)a.weight
                               + (int64_t)(a.by_source ? source : p.channel) * a.weight_channel;
            AG_ROLLED
            for (uint64_t z = 0; z < a.w.taps[0]; z++) {
                int64_t at_z = 0, at_y = 0, at_x = 0;
                if (!ag_tap_at(a.w, 0, place[0], z, at_z)) continue;
                AG_ROLLED
                for (uint64_t y = 0; y < a.w.taps[1]; y++) {
                    if (!ag_tap_at(a.w, 1, place[1], y, at_y)) continue;
                    const char *row = weight + (int64_t)z * a.weight_stride[0]
                                    + (int64_t)y * a.weight_stride[1];
                    AG_ROLLED
                    for (uint64_t x = 0; x < a.w.taps[2]; x++)
                        if (ag_tap_at(a.w, 2, place[2], x, at_x))
                            sum = ag_fused(
                                ag_plain(*(const M *)(in + at_z + at_y + at_x)),
                                ag_plain(*(const M *)(row + (int64_t)x * a.weight_stride[2])), sum);
                }
            }
        }
        *(M *)((char *)a.out + (int64_t)p.image * a.out_image + (int64_t)p.channel * a.out_channel
               + place[0] * a.out_stride[0] + place[1] * a.out_stride[1]
               + place[2] * a.out_stride[2]) = ag_narrowed(M(), sum);
    }
}

// A block along x has `1 << width` channels of one tap, one along y a chunk of images and places.
template <class M> AG_R void ag_depthwise_weight(const ag_depthwise_weight_args &a) {
    typedef decltype(ag_plain(M())) P;
    constexpr int N = 4;
    __shared__ double shared[AG_REDUCE_THREADS];
    const uint32_t t = threadIdx.x, lane = t >> a.width, width = 1u << a.width;
    const uint64_t tiles = (a.channels + width - 1) >> a.width, all = tiles * a.taps.size;
    const uint64_t begin = ag_smaller(blockIdx.y * a.chunk, a.count);
    const uint64_t end = ag_smaller(begin + a.chunk, a.count);
    AG_ROLLED
    for (uint64_t number = blockIdx.x; number < all; number += gridDim.x) {
        const uint64_t tile = ag_quotient(number, a.taps), tap = number - tile * a.taps.size;
        const uint64_t channel = (tile << a.width) + (t & (width - 1));
        const uint64_t z = tap / (a.w.taps[1] * a.w.taps[2]);
        const uint64_t y = tap / a.w.taps[2] % a.w.taps[1], x = tap % a.w.taps[2];
        const bool there = channel < a.channels;
        const char *in = (const char *)a.in
                       + (int64_t)(there ? ag_quotient(channel, a.share) : 0) * a.in_channel;
        const char *grad = (const char *)a.grad + (int64_t)(there ? channel : 0) * a.grad_channel;
        double acc = 0;
        AG_ROLLED
        for (uint64_t first = begin + lane; there && first < end; first += (uint64_t)N << a.group) {
            P sum = 0;
            AG_UNROLL
            for (int j = 0; j < N; j++) {
                const uint64_t i = first + ((uint64_t)j << a.group);
                if (i >= end) continue;
                const uint64_t image = ag_quotient(i, a.places);
                int64_t place[3], at_z = 0, at_y = 0, at_x = 0;
                ag_place_of(a.w, i - image * a.places.size, place);
                if (!ag_tap_at(a.w, 0, place[0], z, at_z) || !ag_tap_at(a.w, 1, place[1], y, at_y)
                    || !ag_tap_at(a.w, 2, place[2], x, at_x))
                    continue;
                sum = ag_fused(
                    ag_plain(*(const M *)(in + (int64_t)image * a.in_image + at_z + at_y + at_x)),
                    ag_plain(*(const M *)(grad + (int64_t)image * a.grad_image
                                          + place[0] * a.grad_stride[0]
                                          + place[1] * a.grad_stride[1]
                                          + place[2] * a.grad_stride[2])),
                    sum);
            }
            acc += sum;
        }
        shared[t] = acc;
        __syncthreads();
        AG_ROLLED
        for (uint32_t half = 1u << a.group >> 1; half; half >>= 1) {
            if (lane < half) shared[t] += shared[t + half * width];
            __syncthreads();
        }
        acc = shared[t];
        __syncthreads();
        if (lane || !there) continue;
        const uint64_t at = channel * a.taps.size + tap;
        if (a.partial)
            a.partial[blockIdx.y * a.channels * a.taps.size + at] = acc;
        else
            ag_store((char *)a.out + at * sizeof(M), a.dt, acc);
    }
}
