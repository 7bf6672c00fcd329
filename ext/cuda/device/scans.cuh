// Scans: each result is what the elements up to it come to. A thread has a few neighbours; it joins
// them, the threads of a row learn from each other what comes before theirs, and then each goes
// through its elements again. Who joins what depends on shapes alone. A long row is shared by
// blocks in two launches, and no block waits for another.
//
// Each operation has
//   In, Out, INPUTS   types in memory, and how many operands there are,
//   Accumulator       start() is that of nothing, join(x, y) has the earlier elements in x,
//   ITEMS             neighbours that a thread has,
//   of(x, a)          the accumulator of one element, of which x are the operands,
//   result(acc, x, a) what is written.
#pragma once
#include "reduction_operations.cuh"
#include "scalar/log_sums.h"
#include "scan_arguments.h"

// --- operations --------------------------------------------------------------------------------

// What has loops or branches of its own is called, which costs less than the function does.
#ifdef AG_ON_HOST
#define AG_CALLED static
#else
#define AG_CALLED static __device__ __noinline__
#endif

template <class M> struct ag_neighbours {
    enum { OF_MEMORY = sizeof(M) >= 16 ? 2 : sizeof(M) == 8 ? 4 : 8, OF_FUNCTIONS = 2 };
};

template <class P> struct ag_operands { P x[AG_SCAN_OPERANDS]; double sum; uint64_t place; };

AG_R int64_t ag_as_accumulator(int64_t, int64_t x) { return x; }
AG_R uint32_t ag_as_accumulator(uint32_t, int32_t x) { return (uint32_t)x; }
AG_R float ag_as_accumulator(float, float x) { return x; }
AG_R double ag_as_accumulator(double, double x) { return x; }
AG_R double ag_as_accumulator(double, float x) { return x; }
AG_R ag_c128 ag_as_accumulator(ag_c128, ag_c64 x) { return ag_widened(x); }
AG_R ag_c128 ag_as_accumulator(ag_c128, ag_c128 x) { return x; }

AG_R int8_t ag_as_element(int8_t, uint32_t x) { return (int8_t)x; }
AG_R int16_t ag_as_element(int16_t, uint32_t x) { return (int16_t)x; }
AG_R int32_t ag_as_element(int32_t, uint32_t x) { return (int32_t)x; }
AG_R int64_t ag_as_element(int64_t, int64_t x) { return x; }
AG_R ag_stored_f16 ag_as_element(ag_stored_f16 m, double x) { return ag_narrowed(m, (float)x); }
AG_R ag_stored_bf16 ag_as_element(ag_stored_bf16 m, double x) { return ag_narrowed(m, (float)x); }
AG_R float ag_as_element(float, double x) { return (float)x; }
AG_R double ag_as_element(double, double x) { return x; }
AG_R ag_c64 ag_as_element(ag_c64, ag_c128 x) { return ag_make_c64((float)x.re, (float)x.im); }
AG_R ag_c128 ag_as_element(ag_c128, ag_c128 x) { return x; }

AG_R uint32_t ag_plus(uint32_t x, uint32_t y) { return x + y; }
AG_R uint32_t ag_times(uint32_t x, uint32_t y) { return x * y; }

// What adds nothing: -0, so that the sign of zeros is kept.
template <class W> struct ag_none { AG_R W make() { return (W)0; } };
template <> struct ag_none<float> { AG_R float make() { return -0.0f; } };
template <> struct ag_none<double> { AG_R double make() { return -0.0; } };
template <> struct ag_none<ag_c128> { AG_R ag_c128 make() { return ag_make_c128(-0.0, -0.0); } };

template <class M, class W> struct ag_running {
    typedef M In;
    typedef M Out;
    typedef W Accumulator;
    typedef decltype(ag_plain(M())) P;
    enum { INPUTS = 1, PLACES = 0, ITEMS = ag_neighbours<M>::OF_MEMORY };
    AG_R W of(const ag_operands<P> &x, const ag_scan_args &) {
        return ag_as_accumulator(W(), x.x[0]);
    }
    AG_R M result(W acc, const ag_operands<P> &, const ag_scan_args &) {
        return ag_as_element(M(), acc);
    }
};
template <class M, class W> struct ag_running_sum : ag_running<M, W> {
    AG_R W start() { return ag_none<W>::make(); }
    AG_R W join(W x, W y) { return ag_plus(x, y); }
};
template <class M, class W> struct ag_running_product : ag_running<M, W> {
    AG_R W start() { return ag_one<W>::make(); }
    AG_R W join(W x, W y) { return ag_times(x, y); }
};
// One times an infinite complex number isn't that number.
struct ag_some_factors { ag_c128 product; uint64_t any; };

template <class M> struct ag_running_product<M, ag_c128> {
    typedef M In;
    typedef M Out;
    typedef M P;
    typedef ag_some_factors Accumulator;
    enum { INPUTS = 1, PLACES = 0, ITEMS = ag_neighbours<M>::OF_MEMORY };
    AG_R Accumulator start() { return {ag_make_c128(1, 0), 0}; }
    AG_R Accumulator join(Accumulator x, Accumulator y) {
        if (!x.any) return y;
        if (y.any) x.product = ag_times(x.product, y.product);
        return x;
    }
    AG_R Accumulator of(const ag_operands<P> &x, const ag_scan_args &) {
        return {ag_widened(x.x[0]), 1};
    }
    AG_R M result(Accumulator acc, const ag_operands<P> &, const ag_scan_args &) {
        return ag_as_element(M(), acc.product);
    }
};

// The largest so far; the last of equal ones, among which NaNs are.
template <class M> struct ag_running_extreme {
    typedef M In;
    typedef M Out;
    typedef decltype(ag_plain(M())) P;
    typedef ag_placed_value<P> Accumulator;
    enum { INPUTS = 1, PLACES = 1, ITEMS = ag_neighbours<M>::OF_MEMORY };
    AG_R Accumulator start() {
        Accumulator acc;
        acc.value = ag_lowest<P>::make();
        acc.place = ~(uint64_t)0;
        return acc;
    }
    AG_R Accumulator join(Accumulator x, Accumulator y) {
        if (y.place == ~(uint64_t)0) return x;
        return y.value != y.value || (y.value >= x.value && x.value == x.value) ? y : x;
    }
    AG_R Accumulator of(const ag_operands<P> &x, const ag_scan_args &a) {
        Accumulator acc;
        acc.value = ag_turned(x.x[0], a.turned);
        acc.place = x.place;
        return acc;
    }
    AG_R M result(Accumulator acc, const ag_operands<P> &, const ag_scan_args &a) {
        return ag_as_whole(M(), ag_turned(acc.value, a.turned));
    }
    AG_R uint8_t ag_as_whole(uint8_t, int32_t x) { return (uint8_t)x; }
    AG_R int8_t ag_as_whole(int8_t, int32_t x) { return (int8_t)x; }
    AG_R int16_t ag_as_whole(int16_t, int32_t x) { return (int16_t)x; }
    AG_R int32_t ag_as_whole(int32_t, int32_t x) { return x; }
    AG_R int64_t ag_as_whole(int64_t, int64_t x) { return x; }
    template <class N> AG_R N ag_as_whole(N m, float x) { return ag_narrowed(m, x); }
    AG_R double ag_as_whole(double, double x) { return x; }
};

template <class M> struct ag_running_log {
    typedef M In;
    typedef M Out;
    typedef decltype(ag_plain(M())) P;
    typedef ag_exponentials Accumulator;
    enum { INPUTS = 1, PLACES = 0, ITEMS = ag_neighbours<M>::OF_FUNCTIONS };
    AG_R Accumulator start() {
        Accumulator acc;
        acc.top = ag_lowest<double>::make();
        acc.sum = 0;
        return acc;
    }
    // One of both is the top, and is left as it is.
    AG_CALLED Accumulator join(Accumulator x, Accumulator y) {
        const bool later = y.top > x.top || y.top != y.top;
        const double low = later ? x.top : y.top, scale = later ? x.sum : y.sum;
        Accumulator acc = later ? y : x;
        acc.sum += scale * ag_below(low, acc.top);
        return acc;
    }
    AG_R Accumulator of(const ag_operands<P> &x, const ag_scan_args &) {
        Accumulator acc;
        acc.top = x.x[0];
        acc.sum = 1;
        return acc;
    }
    AG_CALLED M result(Accumulator acc, const ag_operands<P> &, const ag_scan_args &) {
        return ag_as_element(M(), acc.top + log(acc.sum));
    }
};

template <class M> struct ag_running_complex_log {
    typedef M In;
    typedef M Out;
    typedef M P;
    typedef ag_c128 Accumulator;
    enum { INPUTS = 1, PLACES = 0, ITEMS = sizeof(M) >= 16 ? 1 : 2 };
    AG_R ag_c128 start() { return ag_make_c128(-INFINITY, 0); }
    AG_CALLED ag_c128 join(ag_c128 x, ag_c128 y) { return ag_without_angle(ag_log_add_c128(x, y)); }
    AG_R ag_c128 of(const ag_operands<P> &x, const ag_scan_args &) {
        return ag_without_angle(ag_widened(x.x[0]));
    }
    AG_CALLED M result(ag_c128 acc, const ag_operands<P> &, const ag_scan_args &) {
        return ag_as_element(M(), acc);
    }
};

// Derivatives of logarithms of sums r of exponentials of a. A vector of tangents is joined forward,
// to the sum over i <= j of t_i e^(a_i - r_j); one of gradients from the end, to the sum over
// j >= i of g_j e^(a_i - r_j). `top` is taken out of the sum that is kept, so that no term is
// large.
struct ag_scaled { double top, scaled_sum, sum; };

template <class M, bool BACK> struct ag_log_vector {
    typedef M In;
    typedef M Out;
    typedef M P;
    typedef ag_scaled Accumulator;
    enum { INPUTS = 3, PLACES = 0, ITEMS = ag_neighbours<M>::OF_FUNCTIONS }; // the vector, a, r
    AG_R Accumulator start() {
        Accumulator acc;
        acc.top = -INFINITY;
        acc.scaled_sum = acc.sum = 0;
        return acc;
    }
    AG_CALLED Accumulator join(Accumulator x, Accumulator y) {
        const bool later = y.top > x.top;
        Accumulator acc = later ? y : x;
        const Accumulator low = later ? x : y;
        if (low.top == -INFINITY) return acc;
        const double scale = ag_shrunk(low.top, acc.top);
        acc.scaled_sum += low.scaled_sum * scale;
        acc.sum += low.sum * scale;
        return acc;
    }
    AG_R double rounded_sum(const ag_operands<P> &x, double sum, const ag_scan_args &a) {
        const double r = x.x[2];
        return a.unit != 0 ? r + ag_what_was_rounded(sum, r, a.unit) : r;
    }
    AG_CALLED Accumulator of(const ag_operands<P> &x, const ag_scan_args &a) {
        Accumulator acc = start();
        if (BACK) {
            const double r = rounded_sum(x, x.sum, a);
            if (r == INFINITY) return acc; // as a divisor it leaves nothing
            acc.top = -r;
            acc.scaled_sum = r != r ? r : (double)x.x[0];
        } else {
            acc.top = x.x[1];
            if (x.x[1] == -INFINITY) return acc; // adds nothing
            acc.scaled_sum = x.x[1] != x.x[1] ? x.x[1] : x.x[0];
            acc.sum = 1;
        }
        return acc;
    }
    AG_CALLED M result(Accumulator acc, const ag_operands<P> &x, const ag_scan_args &a) {
        const double v = x.x[0], own = x.x[1];
        if (BACK) {
            if (acc.top != -INFINITY) return (M)(acc.scaled_sum * exp(own + acc.top));
            return (M)(v * exp(own - rounded_sum(x, x.sum, a)));
        }
        const double r = rounded_sum(x, acc.top + log(acc.sum), a);
        return (M)(acc.top != -INFINITY ? acc.scaled_sum * exp(acc.top - r) : v * exp(own - r));
    }
};

struct ag_scaled_complex { double top; ag_c128 scaled_sum; };

template <class M, bool BACK> struct ag_log_complex_vector {
    typedef M In;
    typedef M Out;
    typedef M P;
    typedef ag_scaled_complex Accumulator;
    enum { INPUTS = 3, PLACES = 0, ITEMS = ag_neighbours<M>::OF_FUNCTIONS };
    AG_R Accumulator start() {
        Accumulator acc;
        acc.top = -INFINITY;
        acc.scaled_sum = ag_make_c128(0, 0);
        return acc;
    }
    AG_CALLED Accumulator join(Accumulator x, Accumulator y) {
        const bool later = y.top > x.top;
        Accumulator acc = later ? y : x;
        const Accumulator low = later ? x : y;
        if (low.top == -INFINITY) return acc;
        const double scale = ag_shrunk(low.top, acc.top);
        acc.scaled_sum.re += low.scaled_sum.re * scale;
        acc.scaled_sum.im += low.scaled_sum.im * scale;
        return acc;
    }
    // x * size * e^(angle i)
    AG_R ag_c128 turned_by(ag_c128 x, double size, double angle) {
        const double c = size * cos(angle), s = size * sin(angle);
        return ag_make_c128(x.re * c - x.im * s, x.re * s + x.im * c);
    }
    AG_CALLED Accumulator of(const ag_operands<P> &x, const ag_scan_args &) {
        Accumulator acc = start();
        const ag_c128 v = ag_widened(x.x[0]), own = ag_widened(x.x[1]), r = ag_widened(x.x[2]);
        const double top = BACK ? -r.re : own.re;
        if (top == -INFINITY) return acc;
        acc.top = top;
        acc.scaled_sum = turned_by(v, top != top ? top : 1.0, BACK ? r.im : own.im);
        return acc;
    }
    AG_CALLED M result(Accumulator acc, const ag_operands<P> &x, const ag_scan_args &) {
        const ag_c128 v = ag_widened(x.x[0]), own = ag_widened(x.x[1]), r = ag_widened(x.x[2]);
        ag_c128 one;
        if (acc.top == -INFINITY)
            one = turned_by(v, exp(own.re - r.re), BACK ? r.im - own.im : own.im - r.im);
        else if (BACK)
            one = turned_by(acc.scaled_sum, exp(own.re + acc.top), -own.im);
        else
            one = turned_by(acc.scaled_sum, exp(acc.top - r.re), -r.im);
        return ag_as_element(M(), one);
    }
};

// y_k = x_k + c_k y_(k-1): maps of y to sum + factor y, one after the other. The first one has
// nothing to multiply.
template <class W> struct ag_map { W factor, sum; uint64_t any; };

template <class M, class W> struct ag_recurrence {
    typedef M In;
    typedef M Out;
    typedef M P;
    typedef ag_map<W> Accumulator;
    enum { INPUTS = 2, PLACES = 0, ITEMS = ag_neighbours<M>::OF_MEMORY };
    AG_R Accumulator start() { return {ag_one<W>::make(), ag_none<W>::make(), 0}; }
    AG_R Accumulator join(Accumulator x, Accumulator y) {
        if (!x.any) return y;
        if (!y.any) return x;
        y.sum = ag_plus(y.sum, ag_times(y.factor, x.sum));
        y.factor = ag_times(x.factor, y.factor);
        return y;
    }
    AG_R Accumulator of(const ag_operands<P> &x, const ag_scan_args &) {
        return {ag_as_accumulator(W(), x.x[1]), ag_as_accumulator(W(), x.x[0]), 1};
    }
    AG_R M result(Accumulator acc, const ag_operands<P> &, const ag_scan_args &) {
        return ag_as_element(M(), acc.sum);
    }
};

// --- what comes before each thread -------------------------------------------------------------

template <class T> AG_R T ag_shuffle_up(T x, uint32_t step) {
    uint32_t word[sizeof(T) / 4];
    static_assert(sizeof(T) % 4 == 0, "accumulators are made of words");
    memcpy(word, &x, sizeof(T));
    AG_UNROLL
    for (uint32_t i = 0; i < sizeof(T) / 4; i++) word[i] = __shfl_up_sync(~0u, word[i], step);
    memcpy(&x, word, sizeof(T));
    return x;
}
template <class T> AG_R T ag_shuffle_from(T x, uint32_t lane) {
    uint32_t word[sizeof(T) / 4];
    memcpy(word, &x, sizeof(T));
    AG_UNROLL
    for (uint32_t i = 0; i < sizeof(T) / 4; i++) word[i] = __shfl_sync(~0u, word[i], lane);
    memcpy(&x, word, sizeof(T));
    return x;
}

template <class T> struct ag_prefix { T before, total; };

// What the threads of a row before this one come to, and all of them. All threads of a block call.
template <class Op, class T = typename Op::Accumulator>
AG_R ag_prefix<T> ag_before_me(T own, T *shared, const ag_scan_args &a, uint32_t lane) {
    const uint32_t t = threadIdx.x, group = 1u << a.group, apart = a.by_rows ? 1 : 1u << a.width;
    ag_prefix<T> prefix;
    if (group == 1) {
        prefix.before = Op::start();
        prefix.total = own;
        return prefix;
    }
    if (a.by_rows) {
        const uint32_t part = group < 32 ? group : 32, place = lane & (part - 1);
        T sum = own;
        AG_ROLLED
        for (uint32_t step = 1; step < part; step *= 2) {
            const T other = ag_shuffle_up(sum, step);
            if (place >= step) sum = Op::join(other, sum);
        }
        prefix.before = ag_shuffle_up(sum, 1);
        if (place == 0) prefix.before = Op::start();
        prefix.total = ag_shuffle_from(sum, (t & 31) | (part - 1));
        if (group > 32) {
            const uint32_t first = (t - lane) >> 5, warps = group >> 5, warp = lane >> 5;
            if (place == 31) shared[t >> 5] = sum;
            __syncthreads();
            T all = shared[first];
            AG_ROLLED
            for (uint32_t w = 1; w < warps; w++) {
                if (w == warp) prefix.before = Op::join(all, prefix.before);
                all = Op::join(all, shared[first + w]);
            }
            prefix.total = all;
            __syncthreads();
        }
        return prefix;
    }
    T sum = own;
    shared[t] = sum;
    __syncthreads();
    AG_ROLLED
    for (uint32_t step = 1; step < group; step *= 2) {
        T other = Op::start();
        if (lane >= step) other = shared[t - step * apart];
        __syncthreads();
        if (lane >= step) {
            sum = Op::join(other, sum);
            shared[t] = sum;
        }
        __syncthreads();
    }
    prefix.before = lane ? shared[t - apart] : Op::start();
    prefix.total = shared[t + (group - 1 - lane) * apart];
    __syncthreads();
    return prefix;
}

// --- rows --------------------------------------------------------------------------------------

// N neighbours of a row, `count` of which are there.
template <class M, int N>
AG_R void ag_read_neighbours(const ag_scan_args &a, const M *p, uint64_t at, uint32_t count,
                             uint64_t lag, decltype(ag_plain(M())) (&x)[N]) {
    constexpr int V = sizeof(M) * N < 16 ? N : 16 / (int)sizeof(M);
    if (a.packed && count == N) {
        AG_UNROLL
        for (int i = 0; i < N / V; i++) {
            const ag_pack<M, V> pack = *(const ag_pack<M, V> *)(p + at + i * V);
            AG_UNROLL
            for (int j = 0; j < V; j++) x[i * V + j] = ag_plain(pack.at[j]);
        }
        return;
    }
    AG_UNROLL
    for (int j = 0; j < N; j++) {
        uint64_t k = a.reversed ? a.length - 1 - (at + j) + lag : at + j;
        if (k == a.length) k = 0; // the first one's is not used
        if (j < (int)count) x[j] = ag_plain(p[(int64_t)(k * a.inner.size)]);
    }
}

template <class O, int N>
AG_R void ag_write_neighbours(const ag_scan_args &a, O *p, uint64_t at, uint32_t count,
                              const O (&x)[N]) {
    constexpr int V = sizeof(O) * N < 16 ? N : 16 / (int)sizeof(O);
    if (a.packed && count == N) {
        AG_UNROLL
        for (int i = 0; i < N / V; i++) {
            ag_pack<O, V> pack;
            AG_UNROLL
            for (int j = 0; j < V; j++) pack.at[j] = x[i * V + j];
            *(ag_pack<O, V> *)(p + at + i * V) = pack;
        }
        return;
    }
    AG_UNROLL
    for (int j = 0; j < N; j++) {
        const uint64_t k = a.reversed ? a.length - 1 - (at + j) : at + j;
        if (j < (int)count) p[(int64_t)(k * a.inner.size)] = x[j];
    }
}


template <class Op> AG_R void ag_scan(const ag_scan_args &a) {
    typedef typename Op::Accumulator T;
    typedef typename Op::In M;
    typedef typename Op::Out O;
    typedef typename Op::P P;
    constexpr int N = Op::ITEMS;
    __shared__ T shared[AG_REDUCE_THREADS];
    const uint32_t t = threadIdx.x, group = 1u << a.group, width = 1u << a.width;
    const uint32_t lane = a.by_rows ? t & (group - 1) : t >> a.width;
    const uint32_t column = a.by_rows ? t >> a.group : t & (width - 1);
    const uint64_t begin = ag_smaller(blockIdx.y * a.chunk, a.length);
    const uint64_t end = ag_smaller(begin + a.chunk, a.length);
    AG_ROLLED
    for (uint64_t tile = blockIdx.x; tile << a.width < a.rows; tile += gridDim.x) {
        const uint64_t row = (tile << a.width) + column;
        const bool there = row < a.rows;
        const uint64_t outer = ag_quotient(row, a.inner);
        const int64_t base =
            (int64_t)(outer * a.length * a.inner.size + row - outer * a.inner.size);
        T carry = Op::start();
        if (a.parts > 1 && !a.totals) {
            const uint32_t each = (blockIdx.y + group - 1) >> a.group;
            const uint32_t stop =
                (lane + 1) * each < blockIdx.y ? (lane + 1) * each : blockIdx.y;
            T own = Op::start();
            AG_ROLLED
            for (uint32_t part = lane * each; there && part < stop; part++)
                own = Op::join(own, ((const T *)a.partial)[part * a.rows + row]);
            carry = ag_before_me<Op>(own, shared, a, lane).total;
        }
        AG_ROLLED
        for (uint64_t first = begin; first < end; first += (uint64_t)N << a.group) {
            const uint64_t at = first + (uint64_t)lane * N;
            const uint32_t count =
                !there || at >= end ? 0 : end - at < N ? (uint32_t)(end - at) : N;
            ag_operands<P> x[N];
            P read[N];
            T own = Op::start();
            AG_UNROLL
            for (int i = 0; i < (int)Op::INPUTS; i++) {
                // A recurrence in reverse multiplies by what belongs to the one before.
                const uint64_t lag = Op::INPUTS == 2 && i == 1 ? a.reversed : 0;
                ag_read_neighbours<M, N>(a, (const M *)a.in[i] + base, at, count, lag, read);
                AG_UNROLL
                for (int j = 0; j < N; j++) x[j].x[i] = read[j];
            }
            AG_UNROLL
            for (int j = 0; j < N; j++) {
                x[j].place = at + j;
                if (Op::INPUTS == 3 && a.sums && j < (int)count)
                    x[j].sum = a.sums[base
                                      + (int64_t)((a.reversed ? a.length - 1 - at - j : at + j)
                                                  * a.inner.size)];
                if (j < (int)count) own = Op::join(own, Op::of(x[j], a));
            }
            const ag_prefix<T> prefix = ag_before_me<Op>(own, shared, a, lane);
            if (!a.totals) {
                O out[N];
                int64_t places[N];
                T acc = Op::join(carry, prefix.before);
                AG_UNROLL
                for (int j = 0; j < N; j++) {
                    if (j >= (int)count) continue;
                    acc = Op::join(acc, Op::of(x[j], a));
                    out[j] = Op::result(acc, x[j], a);
                    if constexpr (Op::PLACES) places[j] = (int64_t)acc.place;
                }
                ag_write_neighbours<O, N>(a, (O *)a.out + base, at, count, out);
                if constexpr (Op::PLACES)
                    ag_write_neighbours<int64_t, N>(a, a.places + base, at, count, places);
            }
            carry = Op::join(carry, prefix.total);
        }
        if (a.totals && there && lane == 0) ((T *)a.partial)[blockIdx.y * a.rows + row] = carry;
    }
}
