// Layer norm, RMS norm and their gradients. Moments are taken in double; the rest is computed in
// float32, or in float64 for such numbers. Rows go through memory as in rows.cuh.
#pragma once
#include "rows.cuh"

template <class P> AG_R P ag_of_column(const void *p, int64_t column, P missing) {
    return p ? ((const P *)p)[column] : missing;
}

struct ag_pair_of_sums {
    AG_R ag_c128 join(ag_c128 x, ag_c128 y) { return ag_plus(x, y); }
};

template <class M> AG_R void ag_norm_forward(const ag_norm_args &args) {
    typedef decltype(ag_plain(M())) P;
    constexpr int N = 16 / (int)sizeof(M);
    __shared__ ag_moments shared[AG_REDUCE_THREADS];
    const ag_row_args &a = args.row;
    const uint32_t group = 1u << a.group, lane = threadIdx.x & (group - 1);
    const uint64_t share = (uint64_t)N << a.group, rounds = (a.length + share - 1) / share;
    AG_ROLLED
    for (uint64_t tile = blockIdx.x; tile << a.width < a.rows; tile += gridDim.x) {
        const uint64_t row = (tile << a.width) + (threadIdx.x >> a.group);
        const uint64_t all = row < a.rows ? rounds : 0;
        const int64_t base = (int64_t)(row * a.length);
        const double pivot = sizeof(M) == 8 && all ? (double)ag_plain(((const M *)a.in[0])[base]) : 0;
        ag_row_batch<M, N> b;
        ag_moments acc;
        acc.n = acc.mean = acc.squares = acc.sum = 0;
        AG_ROLLED
        for (uint64_t k = 0; k < all; k++) {
            double wide[N];
            ag_read_row<1>(a, base, k, lane, b);
            AG_UNROLL
            for (int j = 0; j < N; j++) wide[j] = (uint32_t)j < b.count ? (double)b.x[0][j] : 0;
            if (b.count) acc = ag_spread::join(acc, ag_moments_of(wide, b.count, pivot));
        }
        acc = ag_of_the_group<ag_spread>(acc, shared, lane, group, 1);
        const double centre = acc.mean + pivot, variance = acc.squares / (double)a.length;
        const P mean = args.mean ? (P)centre : (P)0;
        const P spread =
            (P)(1 / sqrt((args.mean ? variance : variance + centre * centre) + args.eps));
        if (all && lane == 0) {
            if (args.mean) ((P *)args.mean)[row] = mean;
            ((P *)args.spread)[row] = spread;
        }
        AG_ROLLED
        for (uint64_t k = all; k-- > 0;) {
            if (k + 1 < all) ag_read_row<1>(a, base, k, lane, b);
            AG_UNROLL
            for (int j = 0; j < N; j++) {
                if (j >= (int)b.count) continue;
                const int64_t column = b.at + j * b.step;
                b.x[0][j] = (b.x[0][j] - mean) * spread * ag_of_column(args.weight, column, (P)1)
                          + ag_of_column(args.bias, column, (P)0);
            }
            ag_write_row(a, base, b);
        }
    }
}

template <class M> AG_R void ag_norm_backward(const ag_norm_args &args) {
    typedef decltype(ag_plain(M())) P;
    constexpr int N = 16 / (int)sizeof(M);
    __shared__ ag_c128 shared[AG_REDUCE_THREADS];
    const ag_row_args &a = args.row;
    const uint32_t group = 1u << a.group, lane = threadIdx.x & (group - 1);
    const uint64_t share = (uint64_t)N << a.group, rounds = (a.length + share - 1) / share;
    AG_ROLLED
    for (uint64_t tile = blockIdx.x; tile << a.width < a.rows; tile += gridDim.x) {
        const uint64_t row = (tile << a.width) + (threadIdx.x >> a.group);
        const uint64_t all = row < a.rows ? rounds : 0;
        const int64_t base = (int64_t)(row * a.length);
        const P mean = args.mean && all ? ((const P *)args.mean)[row] : (P)0;
        const P spread = all ? ((const P *)args.spread)[row] : (P)0;
        ag_row_batch<M, N> b;
        ag_c128 acc = ag_make_c128(0, 0); // of the weighted gradient, and of it times the input
        AG_ROLLED
        for (uint64_t k = 0; k < all; k++) {
            P sums[N], products[N];
            ag_read_row<2>(a, base, k, lane, b);
            AG_UNROLL
            for (int j = 0; j < N; j++) {
                sums[j] = products[j] = 0;
                if (j >= (int)b.count) continue;
                b.x[0][j] = (b.x[0][j] - mean) * spread;
                b.x[1][j] *= ag_of_column(args.weight, b.at + j * b.step, (P)1);
                sums[j] = b.x[1][j];
                products[j] = b.x[1][j] * b.x[0][j];
            }
            acc.re += ag_tree_sum(sums);
            acc.im += ag_tree_sum(products);
        }
        acc = ag_of_the_group<ag_pair_of_sums>(acc, shared, lane, group, 1);
        const P away = args.mean ? (P)(acc.re / (double)a.length) : (P)0;
        const P along = (P)(acc.im / (double)a.length);
        AG_ROLLED
        for (uint64_t k = all; k-- > 0;) {
            const bool again = k + 1 < all;
            if (again) ag_read_row<2>(a, base, k, lane, b);
            AG_UNROLL
            for (int j = 0; j < N; j++) {
                if (j >= (int)b.count) continue;
                if (again) {
                    b.x[0][j] = (b.x[0][j] - mean) * spread;
                    b.x[1][j] *= ag_of_column(args.weight, b.at + j * b.step, (P)1);
                }
                b.x[0][j] = spread * (b.x[1][j] - away - b.x[0][j] * along);
            }
            ag_write_row(a, base, b);
        }
    }
}

template <class M> AG_R void ag_norm_columns(const ag_norm_columns_args &a) {
    typedef decltype(ag_plain(M())) P;
    constexpr int N = 4;
    __shared__ ag_c128 shared[AG_REDUCE_THREADS];
    const uint32_t group = 1u << a.group, lane = threadIdx.x >> a.width;
    const uint64_t begin = ag_smaller(blockIdx.y * a.chunk, a.rows);
    const uint64_t end = ag_smaller(begin + a.chunk, a.rows);
    AG_ROLLED
    for (uint64_t tile = blockIdx.x; tile << a.width < a.length; tile += gridDim.x) {
        const uint64_t column = (tile << a.width) + (threadIdx.x & ((1u << a.width) - 1));
        ag_c128 acc = ag_make_c128(0, 0); // of the weight, and of the bias
        AG_ROLLED
        for (uint64_t first = begin + lane; first < end; first += N * group) {
            P products[N], sums[N];
            AG_UNROLL
            for (int j = 0; j < N; j++) {
                const uint64_t row = first + j * group;
                products[j] = sums[j] = 0;
                if (row >= end || column >= a.length) continue;
                const P x = ag_plain(((const M *)a.in[0])[row * a.length + column]);
                const P mean = a.mean ? ((const P *)a.mean)[row] : (P)0;
                sums[j] = ag_plain(((const M *)a.in[1])[row * a.length + column]);
                products[j] = sums[j] * ((x - mean) * ((const P *)a.spread)[row]);
            }
            acc.re += ag_tree_sum(products);
            acc.im += ag_tree_sum(sums);
        }
        acc = ag_of_the_group<ag_pair_of_sums>(acc, shared, lane, group, 1u << a.width);
        if (lane || column >= a.length) continue;
        AG_UNROLL
        for (int k = 0; k < 2; k++) {
            const double sum = k ? acc.im : acc.re;
            if (!a.out[k]) continue;
            if (a.partial[k])
                a.partial[k][blockIdx.y * a.length + column] = sum;
            else
                ag_store((char *)a.out[k] + column * (a.dt == AG_DT_F64   ? 8
                                                      : a.dt == AG_DT_F32 ? 4
                                                                          : 2),
                         a.dt, sum);
        }
    }
}
