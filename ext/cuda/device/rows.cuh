// Operations whose results have the shape of their operands, and of which each needs a number or two
// of its whole row: softmax and its gradient. A row is read, its threads join what they found in a
// tree, and it is read again, from its end, where the last batch is still in registers.
#pragma once
#include "reduction_operations.cuh"
#include "row_arguments.h"

// --- operations --------------------------------------------------------------------------------
// Each has an Accumulator; take() adds a batch, `count` elements of which are there; join() is that of
// reductions; settle() makes of it what value() needs for an element.

template <class P> struct ag_top_and_scale { P top, scale; };

// e^(x - top) / sum, or its logarithm.
template <bool LOG> struct ag_softmax {
    enum { OPERANDS = 1 };
    typedef ag_exponentials Accumulator;
    AG_R Accumulator start() {
        Accumulator acc;
        acc.top = ag_lowest<double>::make();
        acc.sum = 0;
        return acc;
    }
    AG_R Accumulator join(Accumulator x, Accumulator y) { return ag_log_of_sum::join(x, y); }
    template <class P, int N>
    AG_R void take(Accumulator &acc, const P (&x)[2][N], uint32_t count) {
        P terms[N], top = (P)acc.top;
        AG_UNROLL
        for (int j = 0; j < N; j++) {
            terms[j] = j < (int)count ? x[0][j] : ag_lowest<P>::make();
            top = terms[j] > top ? terms[j] : top;
        }
        if (top > (P)acc.top) acc.sum *= ag_below((P)acc.top, top);
        acc.top = top;
        AG_UNROLL
        for (int j = 0; j < N; j++) terms[j] = ag_below(terms[j], top);
        acc.sum += ag_widened(ag_tree_sum(terms));
    }
    // An infinite largest element makes NaN of its row.
    template <class P> AG_R ag_top_and_scale<P> settle(Accumulator acc, P) {
        ag_top_and_scale<P> s;
        s.top = (P)acc.top;
        s.scale = (P)(LOG ? ag_log_f64(acc.sum) : 1 / acc.sum);
        if (!(acc.top - acc.top == 0)) s.scale = (P)(acc.top - acc.top);
        return s;
    }
    template <class P> AG_R P value(P x, P, ag_top_and_scale<P> s) {
        return LOG ? x - s.top - s.scale : ag_exponential(x - s.top) * s.scale;
    }
};

// From the gradient g and the result y: (g - sum(g y)) y, and g - e^y sum(g) of the logarithm.
template <bool LOG> struct ag_softmax_backward {
    enum { OPERANDS = 2 };
    typedef double Accumulator;
    AG_R double start() { return 0; }
    AG_R double join(double x, double y) { return x + y; }
    template <class P, int N> AG_R void take(double &acc, const P (&x)[2][N], uint32_t count) {
        P terms[N];
        AG_UNROLL
        for (int j = 0; j < N; j++)
            terms[j] = j >= (int)count ? (P)0 : LOG ? x[0][j] : x[0][j] * x[1][j];
        acc += ag_widened(ag_tree_sum(terms));
    }
    template <class P> AG_R P settle(double acc, P) { return (P)acc; }
    template <class P> AG_R P value(P g, P y, P sum) {
        return LOG ? g - ag_exponential(y) * sum : (g - sum) * y;
    }
};

// --- rows --------------------------------------------------------------------------------------

template <class M, int N> struct ag_row_batch {
    typedef decltype(ag_plain(M())) P;
    P x[2][N];
    uint32_t count; // how many are there
    int64_t at;     // where the first one lies, in elements of the row
    int64_t step;   // from one to the next
};

// The k-th batch of a thread.
template <int OPERANDS, class M, int N>
AG_R void ag_read_row(const ag_row_args &a, int64_t base, uint64_t k, uint32_t lane,
                      ag_row_batch<M, N> &b) {
    if (a.packed) {
        const uint64_t pack = (k << a.group) + lane;
        b.count = pack * N < a.length ? N : 0;
        b.at = (int64_t)(pack * N);
        b.step = 1;
    } else {
        const uint64_t first = k * N << a.group;
        b.count = ag_steps(a.length, first + lane, a.group, N);
        b.at = (int64_t)(first + lane);
        b.step = (int64_t)1 << a.group;
    }
    AG_UNROLL
    for (int i = 0; i < OPERANDS; i++) {
        const M *p = (const M *)a.in[i] + base + b.at * (int64_t)a.inner.size;
        if (a.packed) {
            if (b.count) {
                const ag_pack<M, N> pack = *(const ag_pack<M, N> *)p;
                AG_UNROLL
                for (int j = 0; j < N; j++) b.x[i][j] = ag_plain(pack.at[j]);
            }
        } else {
            AG_UNROLL
            for (int j = 0; j < N; j++) {
                if (j < (int)b.count) b.x[i][j] = ag_plain(*p);
                p += b.step * (int64_t)a.inner.size;
            }
        }
    }
}

template <class M, int N>
AG_R void ag_write_row(const ag_row_args &a, int64_t base, const ag_row_batch<M, N> &b) {
    M *p = (M *)a.out + base + b.at * (int64_t)a.inner.size;
    if (a.packed) {
        ag_pack<M, N> pack;
        AG_UNROLL
        for (int j = 0; j < N; j++) pack.at[j] = ag_narrowed(M(), b.x[0][j]);
        if (b.count) *(ag_pack<M, N> *)p = pack;
        return;
    }
    AG_UNROLL
    for (int j = 0; j < N; j++) {
        if (j < (int)b.count) *p = ag_narrowed(M(), b.x[0][j]);
        p += b.step * (int64_t)a.inner.size;
    }
}

// What the accumulators of each group of threads join to, by a tree, for all of its threads.
template <class Op, class T>
AG_R T ag_of_the_group(T acc, T *shared, uint32_t lane, uint32_t group, uint32_t apart) {
    const uint32_t t = threadIdx.x;
    T joined;
    shared[t] = acc;
    __syncthreads();
    AG_ROLLED
    for (uint32_t half = group >> 1; half; half >>= 1) {
        if (lane < half) {
            acc = Op::join(acc, shared[t + half * apart]);
            shared[t] = acc;
        }
        __syncthreads();
    }
    joined = shared[t - lane * apart];
    __syncthreads();
    return joined;
}

template <class Op, class M> AG_R void ag_rows(const ag_row_args &a) {
    typedef typename Op::Accumulator Accumulator;
    typedef decltype(ag_plain(M())) P;
    constexpr int N = 16 / (int)sizeof(M);
    __shared__ Accumulator shared[AG_REDUCE_THREADS];
    const uint32_t t = threadIdx.x, group = 1u << a.group, width = 1u << a.width;
    const uint32_t lane = a.by_rows ? t & (group - 1) : t >> a.width;
    const uint32_t column = a.by_rows ? t >> a.group : t & (width - 1);
    const uint32_t apart = a.by_rows ? 1 : width;
    const uint64_t share = (uint64_t)N << a.group;
    const uint64_t rounds = (a.length + share - 1) / share;
    AG_ROLLED
    for (uint64_t tile = blockIdx.x; tile << a.width < a.rows; tile += gridDim.x) {
        const uint64_t row = (tile << a.width) + column;
        const uint64_t outer = ag_quotient(row, a.inner);
        // Threads without a row read none of its elements.
        const uint64_t all = row < a.rows ? rounds : 0;
        const int64_t base = (int64_t)(outer * a.length * a.inner.size + row
                                       - outer * a.inner.size);
        ag_row_batch<M, N> b;
        Accumulator acc = Op::start();
        AG_ROLLED
        for (uint64_t k = 0; k < all; k++) {
            ag_read_row<Op::OPERANDS>(a, base, k, lane, b);
            if (b.count) Op::take(acc, b.x, b.count);
        }
        const auto joined =
            Op::settle(ag_of_the_group<Op>(acc, shared, lane, group, apart), P());
        AG_ROLLED
        for (uint64_t k = all; k-- > 0;) {
            if (k + 1 < all) ag_read_row<Op::OPERANDS>(a, base, k, lane, b);
            AG_UNROLL
            for (int j = 0; j < N; j++) b.x[0][j] = Op::value(b.x[0][j], b.x[1][j], joined);
            ag_write_row(a, base, b);
        }
    }
}
