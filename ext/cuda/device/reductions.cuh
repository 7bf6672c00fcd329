// How reductions go through memory: one body for rows, for columns, for everything and for any
// strides. A result has a group of threads; each reads batches of elements and keeps an accumulator,
// a tree joins those of the group, and blocks that share a result leave theirs for a second pass.
// Who adds what depends on shapes alone, so the bits are the same in each run.
// What is done with the elements is in reduction_operations.cuh.
#pragma once
#include "kernel.cuh"
#include "reduction_arguments.h"
#include "scalar/complex.h"
#include "scalar/types.h"

#define AG_R static __device__ __forceinline__
#ifdef AG_ON_HOST
#define AG_UNROLL
#define AG_ROLLED
#else
#define AG_UNROLL _Pragma("unroll")
#define AG_ROLLED _Pragma("unroll 1")
#endif

// A loop over n elements, which the threads of all blocks share.
#define AG_EACH(i, n)                                                                              \
    AG_ROLLED                                                                                      \
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < (n);                    \
         i += (uint64_t)gridDim.x * blockDim.x)

// --- elements in memory, and as they are computed with -----------------------------------------

struct ag_stored_f16 { ag_f16 bits; };
struct ag_stored_bf16 { ag_bf16 bits; };

AG_R int32_t ag_plain(uint8_t x) { return x; }
AG_R int32_t ag_plain(int8_t x) { return x; }
AG_R int32_t ag_plain(int16_t x) { return x; }
AG_R int32_t ag_plain(int32_t x) { return x; }
AG_R int64_t ag_plain(int64_t x) { return x; }
AG_R float ag_plain(float x) { return x; }
AG_R double ag_plain(double x) { return x; }
AG_R ag_c64 ag_plain(ag_c64 x) { return x; }
AG_R ag_c128 ag_plain(ag_c128 x) { return x; }
AG_R float ag_plain(ag_stored_f16 x) { return ag_f16_to_f32(x.bits); }
AG_R float ag_plain(ag_stored_bf16 x) { return ag_bf16_to_f32(x.bits); }

// The same back again; the first argument says to what.
AG_R ag_stored_f16 ag_narrowed(ag_stored_f16, float x) { return ag_stored_f16{ag_f32_to_f16(x)}; }
AG_R ag_stored_bf16 ag_narrowed(ag_stored_bf16, float x) {
    return ag_stored_bf16{ag_f32_to_bf16(x)};
}
AG_R float ag_narrowed(float, float x) { return x; }
AG_R double ag_narrowed(double, double x) { return x; }

// Dtype codes, as in _C/dtypes.pxd.
enum {
    AG_DT_BOOL, AG_DT_U8, AG_DT_U16, AG_DT_U32, AG_DT_U64, AG_DT_I8, AG_DT_I16, AG_DT_I32,
    AG_DT_I64, AG_DT_F16, AG_DT_BF16, AG_DT_F32, AG_DT_F64, AG_DT_C64, AG_DT_C128
};

AG_R void ag_store(char *p, int dt, double x) {
    switch (dt) {
    case AG_DT_F16: *(ag_f16 *)p = ag_f32_to_f16((float)x); break;
    case AG_DT_BF16: *(ag_bf16 *)p = ag_f32_to_bf16((float)x); break;
    case AG_DT_F32: *(float *)p = (float)x; break;
    default: *(double *)p = x;
    }
}
AG_R void ag_store(char *p, int dt, float x) {
    switch (dt) {
    case AG_DT_F16: *(ag_f16 *)p = ag_f32_to_f16(x); break;
    case AG_DT_BF16: *(ag_bf16 *)p = ag_f32_to_bf16(x); break;
    default: *(float *)p = x;
    }
}
AG_R void ag_store(char *p, int dt, int64_t x) {
    switch (dt) {
    case AG_DT_BOOL: *(uint8_t *)p = x != 0; break;
    case AG_DT_U8:
    case AG_DT_I8: *(int8_t *)p = (int8_t)x; break;
    case AG_DT_I16: *(int16_t *)p = (int16_t)x; break;
    case AG_DT_I32: *(int32_t *)p = (int32_t)x; break;
    default: *(int64_t *)p = x;
    }
}
AG_R void ag_store(char *p, int dt, int32_t x) { ag_store(p, dt, (int64_t)x); }
AG_R void ag_store(char *p, int dt, ag_c128 x) {
    if (dt == AG_DT_C64)
        *(ag_c64 *)p = ag_make_c64((float)x.re, (float)x.im);
    else
        *(ag_c128 *)p = x;
}

// --- places ------------------------------------------------------------------------------------

AG_R uint64_t ag_high_half(uint64_t a, uint64_t b) {
#ifdef __CUDA_ARCH__
    return __umul64hi(a, b);
#else
    return (uint64_t)(((unsigned __int128)a * b) >> 64);
#endif
}

AG_R uint64_t ag_quotient(uint64_t n, const ag_wide_divisor &d) {
    return (ag_high_half(n, d.mul) + n) >> d.shift;
}

// Where the n-th element of some dimensions lies, in bytes. The outermost needs no division.
AG_R int64_t ag_place(uint64_t n, uint32_t nd, const ag_wide_divisor *size,
                      const int64_t *stride) {
    int64_t at = 0;
    uint32_t d = 0;
    AG_ROLLED
    for (; d + 1 < nd; d++) {
        const uint64_t q = ag_quotient(n, size[d]);
        at += (int64_t)(n - q * size[d].size) * stride[d];
        n = q;
    }
    return nd ? at + (int64_t)n * stride[d] : at;
}

AG_R uint64_t ag_smaller(uint64_t x, uint64_t y) { return x < y ? x : y; }

template <class M, int V> struct alignas(sizeof(M) * V) ag_pack { M at[V]; };

// Numbers of the elements of a batch, among those of the result; they rise.
struct ag_numbers {
    bool packed;
    uint64_t first;       // this thread's first pack, or element that is read alone
    uint64_t begin, skip; // of the first element, and how many are in packs
    uint64_t line;        // of the first element of the line
    uint32_t head;        // how many come before those
    uint32_t log_group, log_lanes;
    const char *some;     // an element of the result, for all threads the same one

    __device__ __forceinline__ uint64_t of(uint32_t j) const {
        if (packed)
            return line + begin + head + (first + ((uint64_t)(j >> log_lanes) << log_group) << log_lanes)
                 + (j & ((1u << log_lanes) - 1));
        const uint64_t i = first + ((uint64_t)j << log_group);
        return line + begin + i + (i < head ? 0 : skip);
    }
};

// How many steps of `group` there are from `first` on, at most `most`.
AG_R uint32_t ag_steps(uint64_t n, uint64_t first, uint32_t log_group, uint32_t most) {
    const uint64_t left = n > first ? n - first + ((1u << log_group) - 1) >> log_group : 0;
    return left < most ? (uint32_t)left : most;
}

// Takes the elements begin to end - 1 of a line, or this thread's share of them. `at` says which line.
template <class Op>
AG_R void ag_accumulate(const ag_reduce_args &a, ag_numbers &at, const char *p, uint64_t begin,
                        uint64_t end, uint32_t lane, typename Op::Accumulator &acc) {
    typedef typename Op::Element M;
    constexpr int N = Op::BATCH, FIT = sizeof(M) < 16 ? 16 / (int)sizeof(M) : 1;
    constexpr int V = FIT < N ? FIT : N;
    constexpr int LOG_V = V == 1 ? 0 : V == 2 ? 1 : V == 4 ? 2 : V == 8 ? 3 : 4;
    constexpr int LOG_N = N == 4 ? 2 : N == 8 ? 3 : 4;
    static_assert(1 << LOG_N == N && 1 << LOG_V == V, "batches have a power of two");
    const uint64_t n = end - begin;
    uint64_t packs = 0, alone = n; // a pack is V elements that are read at once
    at.begin = begin;
    at.log_group = a.group;
    at.log_lanes = LOG_V;
    at.head = 0;
    if (V > 1 && a.dense) {
        const uint64_t address = (uint64_t)(p + begin * sizeof(M));
        const uint32_t past = (uint32_t)(address % (sizeof(M) * V) / sizeof(M));
        const uint32_t head = past ? V - past : 0;
        packs = n > head ? (n - head) >> LOG_V : 0;
        at.head = head;
        alone = n - (packs << LOG_V);
    }
    at.skip = packs << LOG_V;
    const uint32_t log_packs = LOG_N - LOG_V + a.group, log_alone = LOG_N + a.group;
    const uint64_t rounds = packs + (((uint64_t)1 << log_packs) - 1) >> log_packs;
    const uint64_t all = rounds + (alone + (((uint64_t)1 << log_alone) - 1) >> log_alone);
    AG_ROLLED
    for (uint64_t k = 0; k < all; k++) {
        M x[N];
        uint32_t count;
        AG_UNROLL
        for (int j = 0; j < N; j++) x[j] = Op::neutral(a);
        at.packed = V > 1 && k < rounds;
        if (at.packed) {
            at.first = (k << log_packs) + lane;
            count = ag_steps(packs, at.first, a.group, N / V);
            const char *q = p + (begin + at.head + (at.first << LOG_V)) * sizeof(M);
            AG_UNROLL
            for (int i = 0; i < N / V; i++) {
                if (i < (int)count) {
                    const ag_pack<M, V> pack = *(const ag_pack<M, V> *)q;
                    AG_UNROLL
                    for (int j = 0; j < V; j++) x[i * V + j] = pack.at[j];
                }
                q += (V * sizeof(M)) << a.group;
            }
            count <<= LOG_V;
        } else {
            at.first = ((k - rounds) << log_alone) + lane;
            count = ag_steps(alone, at.first, a.group, N);
            if (a.n_reduced == 1 && !a.dense) {
                const char *q = p + (int64_t)(begin + at.first) * a.reduced_stride[0];
                const int64_t step = a.reduced_stride[0] * ((int64_t)1 << a.group);
                AG_UNROLL
                for (int j = 0; j < N; j++) {
                    if (j < (int)count) x[j] = *(const M *)q;
                    q += step;
                }
            } else {
                AG_UNROLL
                for (int j = 0; j < N; j++)
                    if (j < (int)count)
                        x[j] = *(const M *)(p + ag_place(at.of(j) - at.line, a.n_reduced, a.reduced,
                                                         a.reduced_stride));
            }
        }
        if (count) Op::take(acc, x, count, at, a);
    }
}

template <class Op> AG_R void ag_reduce(const ag_reduce_args &a) {
    typedef typename Op::Accumulator Accumulator;
    __shared__ Accumulator shared[AG_REDUCE_THREADS];
    const uint32_t t = threadIdx.x, group = 1u << a.group, width = 1u << a.width;
    const uint32_t lane = a.by_rows ? t & (group - 1) : t >> a.width;
    const uint32_t column = a.by_rows ? t >> a.group : t & (width - 1);
    const uint32_t apart = a.by_rows ? 1 : width; // threads of a group
    const uint64_t begin = ag_smaller(blockIdx.y % a.split * a.chunk, a.length);
    const uint64_t end = ag_smaller(begin + a.chunk, a.length);
    const uint64_t first_line = ag_smaller(blockIdx.y / a.split * a.chunk_lines, a.lines);
    const uint64_t last_line = ag_smaller(first_line + a.chunk_lines, a.lines);
    AG_ROLLED
    for (uint64_t tile = blockIdx.x; tile << a.width < a.results; tile += gridDim.x) {
        const uint64_t result = (tile << a.width) + column;
        Accumulator acc = Op::start(a);
        if (result < a.results) {
            ag_numbers at;
            at.some = (const char *)a.in + ag_place(result, a.n_kept, a.kept_axes, a.kept_stride);
            AG_ROLLED
            for (uint64_t line = first_line; line < last_line; line++) {
                at.line = line * a.length;
                ag_accumulate<Op>(a, at,
                                  at.some
                                      + ag_place(line, a.n_outer, a.reduced + a.n_reduced,
                                                 a.reduced_stride + a.n_reduced),
                                  begin, end, lane, acc);
            }
        }
        if (group > 1) {
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
        }
        if (lane == 0 && result < a.results) {
            if (a.partial)
                ((Accumulator *)a.partial)[blockIdx.y * a.results + result] = acc;
            else
                Op::finish(a, acc,
                           (char *)a.out[0]
                               + ag_place(result, a.n_kept, a.kept_axes, a.out_stride[0]),
                           (char *)a.out[1]
                               + ag_place(result, a.n_kept, a.kept_axes, a.out_stride[1]));
        }
    }
}

// The second pass: its elements are accumulators.
template <class Op> struct ag_joined {
    typedef typename Op::Accumulator Element;
    typedef typename Op::Accumulator Accumulator;
    enum { BATCH = 4 };
    AG_R Accumulator start(const ag_reduce_args &a) { return Op::start(a); }
    AG_R Element neutral(const ag_reduce_args &a) { return Op::start(a); }
    template <int N>
    AG_R void take(Accumulator &acc, const Element (&x)[N], uint32_t, const ag_numbers &,
                   const ag_reduce_args &) {
        AG_UNROLL
        for (int j = 0; j < N; j++) acc = Op::join(acc, x[j]);
    }
    AG_R Accumulator join(Accumulator x, Accumulator y) { return Op::join(x, y); }
    AG_R void finish(const ag_reduce_args &a, Accumulator acc, char *out, char *second) {
        Op::finish(a, acc, out, second);
    }
};
