// Losses of pairs of elements: each one is written, or all are added, in double over blocks that
// depend on the number of elements alone. Operands have any strides, or are numbers.
#pragma once
#include "kernel.cuh"
#include "faults.cuh"
#include "reduction_operations.cuh"
#include "scalar/loss.h"

// --- formulas ----------------------------------------------------------------------------------
// Each takes the input x, the target t, the weight p of positive targets and the parameter of the
// loss. CHECKED: both must be between 0 and 1.

#define AG_FORMULA(name, checked, third, expression)                                               \
    struct ag_##name {                                                                             \
        enum { CHECKED = checked, THIRD = third };                                                 \
        AG_R float of(float x, float t, float p, float c) {                                        \
            (void)p, (void)c;                                                                      \
            return expression(f32);                                                                \
        }                                                                                          \
        AG_R double of(double x, double t, double p, double c) {                                   \
            (void)p, (void)c;                                                                      \
            return expression(f64);                                                                \
        }                                                                                          \
    };
#define AG_L1(T) ag_l1_loss_##T(x, t)
#define AG_MSE(T) (x - t) * (x - t)
#define AG_SMOOTH_L1(T) ag_smooth_l1_loss_##T(x, t, c)
#define AG_HUBER(T) ag_huber_loss_##T(x, t, c)
#define AG_CROSS_ENTROPY(T) ag_binary_cross_entropy_##T(x, t)
#define AG_LOGIT(T) ag_logit_cross_entropy_##T(x, t)
#define AG_WEIGHTED_LOGIT(T) ag_weighted_logit_cross_entropy_##T(x, t, p)
#define AG_KL_DIV(T) ag_kl_div_##T(x, t)
#define AG_KL_DIV_LOG(T) ag_kl_div_log_##T(x, t)
#define AG_SOFT_MARGIN(T) ag_soft_margin_loss_##T(x, t)
AG_FORMULA(mse_loss, 0, 0, AG_MSE)
AG_FORMULA(l1_loss, 0, 0, AG_L1)
AG_FORMULA(smooth_l1_loss, 0, 0, AG_SMOOTH_L1)
AG_FORMULA(huber_loss, 0, 0, AG_HUBER)
AG_FORMULA(binary_cross_entropy, 1, 0, AG_CROSS_ENTROPY)
AG_FORMULA(logit_cross_entropy, 0, 0, AG_LOGIT)
AG_FORMULA(weighted_logit_cross_entropy, 0, 1, AG_WEIGHTED_LOGIT)
AG_FORMULA(kl_div, 0, 0, AG_KL_DIV)
AG_FORMULA(kl_div_log, 0, 0, AG_KL_DIV_LOG)
AG_FORMULA(soft_margin_loss, 0, 0, AG_SOFT_MARGIN)

// --- memory ------------------------------------------------------------------------------------

// Where the i-th elements of all operands lie.
AG_R void ag_loss_places(const ag_loss_args &a, uint64_t i, int64_t size, int64_t *at) {
    AG_UNROLL
    for (int k = 0; k < AG_LOSS_OPERANDS; k++) at[k] = a.nd ? 0 : (int64_t)i * size;
    AG_ROLLED
    for (uint32_t d = 0; d < a.nd; d++) {
        const uint64_t q = d + 1 < a.nd ? ag_quotient(i, a.size[d]) : 0;
        const int64_t c = (int64_t)(i - q * a.size[d].size);
        i = q;
        AG_UNROLL
        for (int k = 0; k < AG_LOSS_OPERANDS; k++) at[k] += c * a.stride[k][d];
    }
}

// Elements `first` to `first` + N - 1 of the first `OPERANDS` operands; those behind the end are 0.
template <class M, int N, int OPERANDS, class T>
AG_R void ag_read_batch(const ag_loss_args &a, uint64_t first, bool packed, T (&x)[4][N]) {
    AG_UNROLL
    for (int k = 0; k < OPERANDS; k++) {
        AG_UNROLL
        for (int j = 0; j < N; j++) x[k][j] = (T)a.number[k];
        if (packed && a.in[k]) {
            const ag_pack<M, N> pack =
                *(const ag_pack<M, N> *)((const char *)a.in[k] + first * sizeof(M));
            AG_UNROLL
            for (int j = 0; j < N; j++) x[k][j] = ag_plain(pack.at[j]);
        }
    }
    if (packed) return;
    AG_UNROLL
    for (int j = 0; j < N; j++) {
        int64_t at[AG_LOSS_OPERANDS];
        if (first + j >= a.n) continue;
        ag_loss_places(a, first + j, sizeof(M), at);
        AG_UNROLL
        for (int k = 0; k < OPERANDS; k++)
            if (a.in[k]) x[k][j] = ag_plain(*(const M *)((const char *)a.in[k] + at[k + 1]));
    }
}

template <class M, int N, class T>
AG_R void ag_write_batch(const ag_loss_args &a, uint64_t first, bool packed, const T (&y)[N],
                         const bool (&there)[N]) {
    bool all = packed;
    AG_UNROLL
    for (int j = 0; j < N; j++) all = all && there[j];
    if (all) {
        ag_pack<M, N> pack;
        AG_UNROLL
        for (int j = 0; j < N; j++) pack.at[j] = ag_narrowed(M(), y[j]);
        *(ag_pack<M, N> *)((char *)a.out + first * sizeof(M)) = pack;
        return;
    }
    AG_UNROLL
    for (int j = 0; j < N; j++) {
        int64_t at[AG_LOSS_OPERANDS];
        if (!there[j]) continue;
        ag_loss_places(a, first + j, sizeof(M), at);
        *(M *)((char *)a.out + at[0]) = ag_narrowed(M(), y[j]);
    }
}

template <class F, class M> AG_R void ag_loss(const ag_loss_args &a) {
    typedef decltype(ag_plain(M())) T;
    constexpr int N = sizeof(M) == 8 ? 2 : 4;
    __shared__ double shared[AG_REDUCE_THREADS];
    const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    double total = 0;
    AG_ROLLED
    for (uint64_t k = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; k * N < a.n;
         k += threads) {
        const bool packed = a.packed && k * N + N <= a.n;
        T x[4][N]; // input, target, weight, weight of positive targets
        T y[N];
        bool there[N];
        ag_read_batch<M, N, F::THIRD ? 4 : 3>(a, k * N, packed, x);
        AG_UNROLL
        for (int j = 0; j < N; j++) {
            there[j] = k * N + j < a.n;
            if (F::CHECKED && there[j]) {
                const bool first = !(x[0][j] >= 0 && x[0][j] <= 1);
                if (first || !(x[1][j] >= 0 && x[1][j] <= 1)) {
                    ag_note_fault(a.fault, AG_FAULT_PROBABILITY, a.op, 0, 0, first ? 1 : 2);
                    there[j] = false;
                }
            }
            y[j] = F::of(x[0][j], x[1][j], F::THIRD ? x[3][j] : (T)0, (T)a.parameter);
            if (a.weighted) y[j] *= x[2][j];
        }
        if (a.out) {
            ag_write_batch<M>(a, k * N, packed, y, there);
            continue;
        }
        AG_UNROLL
        for (int j = 0; j < N; j++) y[j] = there[j] ? y[j] : (T)0;
        total += ag_tree_sum(y);
    }
    if (a.out) return;
    shared[threadIdx.x] = total;
    __syncthreads();
    AG_ROLLED
    for (uint32_t half = blockDim.x >> 1; half; half >>= 1) {
        if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x) return;
    if (a.partial)
        a.partial[blockIdx.x] = shared[0];
    else
        ag_store((char *)a.total, a.dt, shared[0] * a.scale);
}
