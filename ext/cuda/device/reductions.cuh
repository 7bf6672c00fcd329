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

// Dtype codes, as in _C/dtypes.pxd.
enum {
    AG_DT_BOOL, AG_DT_U8, AG_DT_I8, AG_DT_I16, AG_DT_I32, AG_DT_I64, AG_DT_F16, AG_DT_BF16,
    AG_DT_F32, AG_DT_F64, AG_DT_C64, AG_DT_C128
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

template <class M, int V> struct alignas(sizeof(M) * V) ag_pack { M at[V]; };

// Numbers of the elements of a batch, among those of the result; they rise.
struct ag_numbers {
    bool packed;
    uint64_t first;        // of the batch, this thread's
    uint64_t begin, skip;  // of elements that are read one by one: what lies in front, and between
    uint32_t head;         // how many come before what was skipped
    uint32_t group, lanes;
    const char *row;       // the first element of the result

    __device__ __forceinline__ uint64_t of(uint32_t j) const {
        if (packed) return first + (uint64_t)(j / lanes) * (lanes * group) + j % lanes;
        const uint64_t i = first + (uint64_t)j * group;
        return begin + i + (i < head ? 0 : skip);
    }
};

// Takes the elements begin to end - 1 of a result, or this thread's share of them.
template <class Op>
AG_R void ag_accumulate(const ag_reduce_args &a, const char *p, uint64_t begin, uint64_t end,
                        uint32_t lane, typename Op::Accumulator &acc) {
    typedef typename Op::Element M;
    constexpr int N = Op::BATCH;
    constexpr int V = 16 / sizeof(M) < 1 ? 1 : 16 / sizeof(M) > N ? N : (int)(16 / sizeof(M));
    constexpr int LOG_N = N == 2 ? 1 : N == 4 ? 2 : N == 8 ? 3 : 4;
    static_assert(1 << LOG_N == N, "batches have a power of two");
    const uint64_t n = end - begin;
    const uint32_t batch = LOG_N + a.group;
    ag_numbers at;
    uint64_t full = 0; // rounds in which all threads of the group read a whole batch, in packs
    at.begin = begin;
    at.row = p;
    at.group = 1u << a.group;
    at.lanes = V;
    at.head = 0;
    if (V > 1 && a.dense) {
        const uint64_t address = (uint64_t)(p + begin * sizeof(M));
        const uint32_t past = (uint32_t)(address % (sizeof(M) * V) / sizeof(M));
        at.head = past ? V - past : 0;
        full = n > at.head ? (n - at.head) >> batch : 0;
    }
    at.skip = full << batch;
    const uint64_t rest = n - at.skip;
    const uint64_t rounds = full + ((rest + ((uint64_t)1 << batch) - 1) >> batch);
    AG_ROLLED
    for (uint64_t k = 0; k < rounds; k++) {
        M x[N];
        uint32_t count = N;
        at.packed = k < full;
        if (V > 1 && at.packed) {
            at.first = begin + at.head + (k << batch) + lane * V;
            AG_UNROLL
            for (int i = 0; i < N / V; i++) {
                const ag_pack<M, V> pack =
                    *(const ag_pack<M, V> *)(p + (at.first + i * (V * at.group)) * sizeof(M));
                AG_UNROLL
                for (int j = 0; j < V; j++) x[i * V + j] = pack.at[j];
            }
        } else {
            at.first = ((k - full) << batch) + lane;
            count = 0;
            AG_UNROLL
            for (int j = 0; j < N; j++) {
                const uint64_t i = at.first + (uint64_t)j * at.group;
                x[j] = Op::neutral(a);
                if (i < rest) {
                    x[j] = *(const M *)(p + ag_place(at.of(j), a.n_reduced, a.reduced,
                                                     a.reduced_stride));
                    count++;
                }
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
    const uint64_t first = blockIdx.y * a.chunk;
    const uint64_t begin = first < a.length ? first : a.length;
    const uint64_t end = a.length - begin < a.chunk ? a.length : begin + a.chunk;
    AG_ROLLED
    for (uint64_t tile = blockIdx.x; tile << a.width < a.results; tile += gridDim.x) {
        const uint64_t result = (tile << a.width) + column;
        Accumulator acc = Op::start(a);
        if (result < a.results)
            ag_accumulate<Op>(a,
                              (const char *)a.in
                                  + ag_place(result, a.n_kept, a.kept, a.kept_stride),
                              begin, end, lane, acc);
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
                           (char *)a.out[0] + ag_place(result, a.n_kept, a.kept, a.out_stride[0]),
                           (char *)a.out[1] + ag_place(result, a.n_kept, a.kept, a.out_stride[1]));
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
