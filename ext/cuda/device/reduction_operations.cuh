// What reductions do with elements: sums, products, extremes and their places, truth, logarithms of
// sums of exponentials, variances. Floats are added in their own type within a batch and in double
// beyond it; integers in int64. Each operation has
//   start(a)      the accumulator of nothing,
//   neutral(a)    an element that changes nothing, for places behind the end of a batch,
//   take(...)     a batch of elements, of which `count` are there, in rising order,
//   join(x, y)    two accumulators; which of them has the earlier elements doesn't matter,
//   finish(...)   the result, in its dtype.
#pragma once
#include "reductions.cuh"
#include "scalar/exp_log.h"

#define AG_TAKE                                                                                    \
    template <int N>                                                                               \
    AG_R void take(Accumulator &acc, const Element (&x)[N], uint32_t count, const ag_numbers &at,  \
                   const ag_reduce_args &a)

// As many as fill `BYTES`, at least 4 and at most 16.
template <class M, int BYTES> struct ag_batch {
    enum { FIT = BYTES / sizeof(M), SIZE = FIT < 4 ? 4 : FIT > 16 ? 16 : FIT };
};

// --- sums --------------------------------------------------------------------------------------

// The accumulator of a type that elements are computed in.
template <class P> struct ag_wide;
template <> struct ag_wide<int32_t> { typedef int64_t type; };
template <> struct ag_wide<int64_t> { typedef int64_t type; };
template <> struct ag_wide<float> { typedef double type; };
template <> struct ag_wide<double> { typedef double type; };
template <> struct ag_wide<ag_c64> { typedef ag_c128 type; };
template <> struct ag_wide<ag_c128> { typedef ag_c128 type; };

AG_R int64_t ag_widened(int32_t x) { return x; }
AG_R int64_t ag_widened(int64_t x) { return x; }
AG_R double ag_widened(float x) { return x; }
AG_R double ag_widened(double x) { return x; }
AG_R ag_c128 ag_widened(ag_c64 x) { return ag_make_c128(x.re, x.im); }
AG_R ag_c128 ag_widened(ag_c128 x) { return x; }

AG_R int32_t ag_plus(int32_t x, int32_t y) { return x + y; }
AG_R int64_t ag_plus(int64_t x, int64_t y) { return (int64_t)((uint64_t)x + (uint64_t)y); }
AG_R float ag_plus(float x, float y) { return x + y; }
AG_R double ag_plus(double x, double y) { return x + y; }
AG_R ag_c64 ag_plus(ag_c64 x, ag_c64 y) { return ag_make_c64(x.re + y.re, x.im + y.im); }
AG_R ag_c128 ag_plus(ag_c128 x, ag_c128 y) { return ag_make_c128(x.re + y.re, x.im + y.im); }

// x[0] becomes the sum of all, pairwise.
template <class T, int N> AG_R T ag_tree_sum(T (&x)[N]) {
    AG_UNROLL
    for (int w = N / 2; w; w /= 2) {
        AG_UNROLL
        for (int j = 0; j < w; j++) x[j] = ag_plus(x[j], x[j + w]);
    }
    return x[0];
}

AG_R void ag_store_scaled(char *out, int dt, int64_t x, double scale) {
    if (dt >= AG_DT_F16)
        ag_store(out, dt, (double)x * scale);
    else
        ag_store(out, dt, x);
}
AG_R void ag_store_scaled(char *out, int dt, double x, double scale) {
    ag_store(out, dt, x * scale);
}
AG_R void ag_store_scaled(char *out, int dt, ag_c128 x, double scale) {
    ag_store(out, dt, ag_make_c128(x.re * scale, x.im * scale));
}

template <class W> AG_R W ag_zero() { return W(); }

// Accumulators of sums, times number[0].
template <class W> struct ag_total {
    typedef W Accumulator;
    AG_R W start(const ag_reduce_args &) { return ag_zero<W>(); }
    AG_R W join(W x, W y) { return ag_plus(x, y); }
    AG_R void finish(const ag_reduce_args &a, W acc, char *out, char *) {
        ag_store_scaled(out, a.dt[0], acc, a.number[0]);
    }
};

template <class M>
struct ag_sum : ag_total<typename ag_wide<decltype(ag_plain(M()))>::type> {
    typedef M Element;
    typedef decltype(ag_plain(M())) Plain;
    typedef typename ag_wide<Plain>::type Accumulator;
    enum { BATCH = ag_batch<M, 32>::SIZE };
    AG_R M neutral(const ag_reduce_args &) { return M(); }
    AG_TAKE {
        Plain terms[N];
        AG_UNROLL
        for (int j = 0; j < N; j++) terms[j] = ag_plain(x[j]);
        acc = ag_plus(acc, ag_widened(ag_tree_sum(terms)));
    }
};
// Batches of int32 would overflow.
template <> struct ag_sum<int32_t> : ag_total<int64_t> {
    typedef int32_t Element;
    enum { BATCH = 8 };
    AG_R int32_t neutral(const ag_reduce_args &) { return 0; }
    AG_TAKE {
        int64_t terms[N];
        AG_UNROLL
        for (int j = 0; j < N; j++) terms[j] = x[j];
        acc = ag_plus(acc, ag_tree_sum(terms));
    }
};

template <class M> struct ag_squares : ag_total<double> {
    typedef M Element;
    enum { BATCH = ag_batch<M, 32>::SIZE };
    AG_R M neutral(const ag_reduce_args &) { return M(); }
    AG_TAKE {
        M terms[N];
        AG_UNROLL
        for (int j = 0; j < N; j++) terms[j] = x[j] * x[j];
        acc += ag_widened(ag_tree_sum(terms));
    }
};

// --- products ----------------------------------------------------------------------------------

AG_R int64_t ag_times(int64_t x, int64_t y) { return (int64_t)((uint64_t)x * (uint64_t)y); }
AG_R double ag_times(double x, double y) { return x * y; }
AG_R ag_c128 ag_times(ag_c128 x, ag_c128 y) {
#ifdef __CUDA_ARCH__
    // No product is fused with a sum: that of two conjugates is real.
    return ag_make_c128(__dadd_rn(__dmul_rn(x.re, y.re), -__dmul_rn(x.im, y.im)),
                        __dadd_rn(__dmul_rn(x.re, y.im), __dmul_rn(x.im, y.re)));
#else
    return ag_make_c128(AG_ROUNDED(x.re * y.re) - AG_ROUNDED(x.im * y.im),
                        AG_ROUNDED(x.re * y.im) + AG_ROUNDED(x.im * y.re));
#endif
}
template <class T> struct ag_one {
    AG_R T make() { return (T)1; }
};
template <> struct ag_one<ag_c128> {
    AG_R ag_c128 make() { return ag_make_c128(1, 0); }
};
template <> struct ag_one<ag_c64> {
    AG_R ag_c64 make() { return ag_make_c64(1, 0); }
};
template <> struct ag_one<ag_stored_f16> {
    AG_R ag_stored_f16 make() { return ag_stored_f16{0x3C00}; }
};
template <> struct ag_one<ag_stored_bf16> {
    AG_R ag_stored_bf16 make() { return ag_stored_bf16{0x3F80}; }
};

template <class W> struct ag_multiplied {
    typedef W Accumulator;
    AG_R W start(const ag_reduce_args &) { return ag_one<W>::make(); }
    AG_R W join(W x, W y) { return ag_times(x, y); }
    AG_R void finish(const ag_reduce_args &a, W acc, char *out, char *) {
        ag_store(out, a.dt[0], acc);
    }
};

template <class M>
struct ag_product : ag_multiplied<typename ag_wide<decltype(ag_plain(M()))>::type> {
    typedef M Element;
    typedef typename ag_wide<decltype(ag_plain(M()))>::type Accumulator;
    enum { BATCH = 4 };
    AG_R M neutral(const ag_reduce_args &) { return ag_one<M>::make(); }
    AG_TAKE {
        Accumulator f[N];
        AG_UNROLL
        for (int j = 0; j < N; j++) f[j] = ag_widened(ag_plain(x[j]));
        acc = ag_times(acc, ag_times(ag_times(f[0], f[1]), ag_times(f[2], f[3])));
    }
};

// --- extremes and their places -----------------------------------------------------------------

// The smallest is the largest of the turned: the negative of floats, the complement of integers.
AG_R int32_t ag_turned(int32_t x, uint32_t turned) { return x ^ -(int32_t)turned; }
AG_R int64_t ag_turned(int64_t x, uint32_t turned) { return x ^ -(int64_t)turned; }
AG_R float ag_turned(float x, uint32_t turned) {
    return ag_from_bits_f32(ag_bits_f32(x) ^ turned << 31);
}
AG_R double ag_turned(double x, uint32_t turned) {
    return ag_from_bits_f64(ag_bits_f64(x) ^ (uint64_t)turned << 63);
}

template <class C> struct ag_lowest;
template <> struct ag_lowest<int32_t> { AG_R int32_t make() { return INT32_MIN; } };
template <> struct ag_lowest<int64_t> { AG_R int64_t make() { return INT64_MIN; } };
template <> struct ag_lowest<float> {
    AG_R float make() { return ag_from_bits_f32(0xFF800000u); }
};
template <> struct ag_lowest<double> {
    AG_R double make() { return ag_from_bits_f64((uint64_t)0xFFF << 52); }
};

// Whether x comes before m: it is larger, or the first NaN.
template <class C> AG_R bool ag_before(C x, C m) { return (x > m) | ((x != x) & (m == m)); }

// A dtype's own least element, so that none is before it.
AG_R void ag_make_lowest(uint8_t &x, uint32_t turned) { x = turned ? 0xFF : 0; }
AG_R void ag_make_lowest(int8_t &x, uint32_t turned) { x = turned ? INT8_MAX : INT8_MIN; }
AG_R void ag_make_lowest(int16_t &x, uint32_t turned) { x = turned ? INT16_MAX : INT16_MIN; }
AG_R void ag_make_lowest(int32_t &x, uint32_t turned) { x = turned ? INT32_MAX : INT32_MIN; }
AG_R void ag_make_lowest(int64_t &x, uint32_t turned) { x = turned ? INT64_MAX : INT64_MIN; }
AG_R void ag_make_lowest(float &x, uint32_t turned) {
    x = ag_turned(ag_lowest<float>::make(), turned);
}
AG_R void ag_make_lowest(double &x, uint32_t turned) {
    x = ag_turned(ag_lowest<double>::make(), turned);
}
AG_R void ag_make_lowest(ag_stored_f16 &x, uint32_t turned) { x.bits = turned ? 0x7C00 : 0xFC00; }
AG_R void ag_make_lowest(ag_stored_bf16 &x, uint32_t turned) { x.bits = turned ? 0x7F80 : 0xFF80; }

template <class C> struct ag_placed_value {
    C value;        // turned
    uint64_t place; // all bits: nothing was found yet
};

template <class C> struct ag_best {
    typedef ag_placed_value<C> Accumulator;
    AG_R Accumulator start(const ag_reduce_args &) {
        Accumulator acc;
        acc.value = ag_lowest<C>::make();
        acc.place = ~(uint64_t)0;
        return acc;
    }
    // Of equal ones, NaN among them, the first.
    AG_R Accumulator join(Accumulator x, Accumulator y) {
        const bool same = y.value == x.value || (y.value != y.value && x.value != x.value);
        return ag_before(y.value, x.value) || (same && y.place < x.place) ? y : x;
    }
    AG_R void finish(const ag_reduce_args &a, Accumulator acc, char *out, char *second) {
        if (a.out[0]) ag_store(out, a.dt[0], ag_turned(acc.value, a.turned));
        if (a.out[1]) *(int64_t *)second = (int64_t)acc.place;
    }
};

template <class M> struct ag_extreme : ag_best<decltype(ag_plain(M()))> {
    typedef M Element;
    typedef decltype(ag_plain(M())) C;
    typedef ag_best<C> Base;
    typedef typename Base::Accumulator Accumulator;
    enum { BATCH = ag_batch<M, 16>::SIZE };
    AG_R M neutral(const ag_reduce_args &a) {
        M x;
        ag_make_lowest(x, a.turned);
        return x;
    }
    AG_TAKE {
        Accumulator best;
        uint32_t k = 0;
        best.value = ag_turned(ag_plain(x[0]), a.turned);
        AG_UNROLL
        for (int j = 1; j < N; j++) {
            const C y = ag_turned(ag_plain(x[j]), a.turned);
            const bool wins = ag_before(y, best.value);
            best.value = wins ? y : best.value;
            k = wins ? j : k;
        }
        best.place = at.of(k);
        acc = Base::join(acc, best);
    }
};

// --- truth -------------------------------------------------------------------------------------

// Words of memory that are 0 or not; -0.0 is 0, so that signs are masked away.
struct ag_word_128 { uint64_t half[2]; };

template <class M> AG_R bool ag_is_set(M x, uint64_t mask) { return (x & (M)mask) != 0; }
template <> __device__ __forceinline__ bool ag_is_set(ag_word_128 x, uint64_t mask) {
    return ((x.half[0] | x.half[1]) & mask) != 0;
}

// Whether any is set or, turned, whether any is not: then the result is turned, too.
template <class M> AG_R void ag_make_word(M &x, bool set) { x = set ? (M)~(M)0 : (M)0; }
template <> __device__ __forceinline__ void ag_make_word(ag_word_128 &x, bool set) {
    x.half[0] = x.half[1] = set ? ~(uint64_t)0 : 0;
}

struct ag_seen {
    typedef uint32_t Accumulator;
    AG_R uint32_t start(const ag_reduce_args &) { return 0; }
    AG_R uint32_t join(uint32_t x, uint32_t y) { return x | y; }
    AG_R void finish(const ag_reduce_args &a, uint32_t acc, char *out, char *) {
        *(uint8_t *)out = (uint8_t)(acc ^ a.turned);
    }
};

// number[0] is the mask, as bits.
template <class M> struct ag_truth : ag_seen {
    typedef M Element;
    enum { BATCH = ag_batch<M, 32>::SIZE };
    AG_R M neutral(const ag_reduce_args &a) {
        M x;
        ag_make_word(x, a.turned != 0);
        return x;
    }
    AG_TAKE {
        const uint64_t mask = ag_bits_f64(a.number[0]);
        AG_UNROLL
        for (int j = 0; j < N; j++) acc |= (uint32_t)ag_is_set(x[j], mask) ^ a.turned;
    }
};

// --- logarithms of sums of exponentials --------------------------------------------------------

AG_R float ag_exponential(float x) { return ag_exp_f32(x); }
AG_R double ag_exponential(double x) { return ag_exp_f64(x); }

// e^(x - top); where both are the same infinity their difference would be NaN.
template <class P> AG_R P ag_below(P x, P top) { return ag_exponential(x == top ? (P)0 : x - top); }

struct ag_exponentials { double top, sum; }; // sum times e^top

struct ag_log_of_sum {
    typedef ag_exponentials Accumulator;
    AG_R Accumulator start(const ag_reduce_args &) {
        Accumulator acc;
        acc.top = ag_lowest<double>::make();
        acc.sum = 0;
        return acc;
    }
    AG_R Accumulator join(Accumulator x, Accumulator y) {
        Accumulator acc;
        acc.top = y.top > x.top ? y.top : x.top;
        acc.sum = x.sum * ag_below(x.top, acc.top) + y.sum * ag_below(y.top, acc.top);
        return acc;
    }
    AG_R void finish(const ag_reduce_args &a, Accumulator acc, char *out, char *) {
        ag_store(out, a.dt[0], acc.top + ag_log_f64(acc.sum));
    }
};

template <class M> struct ag_logsumexp : ag_log_of_sum {
    typedef M Element;
    typedef decltype(ag_plain(M())) P;
    enum { BATCH = ag_batch<M, 16>::SIZE };
    AG_R M neutral(const ag_reduce_args &) {
        M x;
        ag_make_lowest(x, 0);
        return x;
    }
    AG_TAKE {
        P terms[N], top = (P)acc.top;
        AG_UNROLL
        for (int j = 0; j < N; j++) {
            terms[j] = ag_plain(x[j]);
            top = terms[j] > top ? terms[j] : top;
        }
        if (top > (P)acc.top) acc.sum *= ag_below((P)acc.top, top);
        acc.top = top;
        AG_UNROLL
        for (int j = 0; j < N; j++) terms[j] = ag_below(terms[j], top);
        acc.sum += ag_widened(ag_tree_sum(terms));
    }
};

// --- variances ---------------------------------------------------------------------------------

// The mean is that of the differences from a pivot. The result's goes through sums, because infinities
// would make NaN of a running one.
struct ag_moments { double n, mean, squares, sum; };

struct ag_spread {
    typedef ag_moments Accumulator;
    AG_R Accumulator start(const ag_reduce_args &) {
        Accumulator acc;
        acc.n = acc.mean = acc.squares = acc.sum = 0;
        return acc;
    }
    AG_R Accumulator join(Accumulator x, Accumulator y) {
        Accumulator acc;
        if (y.n == 0) return x;
        if (x.n == 0) return y;
        const double away = y.mean - x.mean;
        acc.n = x.n + y.n;
        acc.mean = x.mean + away * (y.n / acc.n);
        acc.squares = x.squares + y.squares + away * away * (x.n * (y.n / acc.n));
        acc.sum = x.sum + y.sum;
        return acc;
    }
    // number: the divisor, and whether the root is taken
    AG_R void finish(const ag_reduce_args &a, Accumulator acc, char *out, char *second) {
        const double spread = acc.squares / a.number[0];
        ag_store(out, a.dt[0], a.number[1] != 0 ? sqrt(spread) : spread);
        if (a.out[1]) ag_store(second, a.dt[1], acc.sum / acc.n);
    }
};

// Of a batch, of which `count` are there.
template <int N> AG_R ag_moments ag_moments_of(const double (&x)[N], uint32_t count, double pivot) {
    ag_moments own;
    double terms[N];
    own.n = count;
    AG_UNROLL
    for (int j = 0; j < N; j++) terms[j] = (uint32_t)j < count ? x[j] : 0;
    own.sum = ag_tree_sum(terms);
    AG_UNROLL
    for (int j = 0; j < N; j++) terms[j] = (uint32_t)j < count ? x[j] - pivot : 0;
    own.mean = ag_tree_sum(terms) / own.n;
    AG_UNROLL
    for (int j = 0; j < N; j++) {
        const double away = x[j] - pivot - own.mean;
        terms[j] = (uint32_t)j < count ? away * away : 0;
    }
    own.squares = ag_tree_sum(terms);
    return own;
}

template <class M> struct ag_variance : ag_spread {
    typedef M Element;
    enum { BATCH = ag_batch<M, 16>::SIZE };
    AG_R M neutral(const ag_reduce_args &) { return M(); }
    AG_TAKE {
        // Means of float64 that are far from 0 would lose the bits of small differences; float32 and
        // halves leave enough of them in double.
        const double pivot = sizeof(M) == 8 ? ag_widened(ag_plain(*(const M *)at.some)) : 0;
        double wide[N];
        AG_UNROLL
        for (int j = 0; j < N; j++) wide[j] = ag_widened(ag_plain(x[j]));
        acc = join(acc, ag_moments_of(wide, count, pivot));
    }
};
