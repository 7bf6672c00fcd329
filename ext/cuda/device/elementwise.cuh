// Elementwise kernels: what is around a formula. The kernels themselves are written by
// ext/codegen/cuda_elementwise.py and cuda_copies.py, a line for each: AG_ELEMENTWISE(name, lanes,
// formula, result, inputs...) makes `name`, over dense operands, and `name_strided`.
//
// A formula is called as a function. The types that follow it say how operands lie in memory and
// what the formula takes: plain types both, ag_half and ag_brain a float, ag_truth<T> whether a T is
// other than 0. Numbers in the arguments are of the type that the formula takes.
#pragma once
#include "kernel.cuh"

#include "faults.cuh"
#include "scalar/scalar.h"

#define AG_DEVICE static __device__ __forceinline__

// float16 and bfloat16 as they lie in memory: in C both are 16 bits.
struct ag_half { ag_f16 bits; };
struct ag_brain { ag_bf16 bits; };
template <class T> struct ag_truth {};
struct ag_nothing {};

// ---- how an operand lies in memory, and what the formula takes ----
template <class T> struct ag_kind {
    typedef T memory;
    typedef T inside;
    AG_DEVICE T read(T x) { return x; }
    AG_DEVICE T written(T x) { return x; }
};
template <> struct ag_kind<ag_half> {
    typedef ag_half memory;
    typedef float inside;
    AG_DEVICE float read(ag_half x) { return ag_f16_to_f32(x.bits); }
    AG_DEVICE ag_half written(float x) { return {ag_f32_to_f16(x)}; }
};
template <> struct ag_kind<ag_brain> {
    typedef ag_brain memory;
    typedef float inside;
    AG_DEVICE float read(ag_brain x) { return ag_bf16_to_f32(x.bits); }
    AG_DEVICE ag_brain written(float x) { return {ag_f32_to_bf16(x)}; }
};
AG_DEVICE bool ag_is_true(ag_c64 x) { return (x.re != 0) | (x.im != 0); }
AG_DEVICE bool ag_is_true(ag_c128 x) { return (x.re != 0) | (x.im != 0); }
AG_DEVICE bool ag_is_true(ag_half x) { return (x.bits & 0x7fff) != 0; }
AG_DEVICE bool ag_is_true(ag_brain x) { return (x.bits & 0x7fff) != 0; }
template <class T> AG_DEVICE bool ag_is_true(T x) { return x != 0; }
template <class T> struct ag_kind<ag_truth<T>> {
    typedef T memory;
    typedef ag_b1 inside;
    AG_DEVICE ag_b1 read(T x) { return ag_is_true(x); }
};
template <> struct ag_kind<ag_nothing> { // an input that the formula hasn't got
    typedef ag_nothing memory;
    typedef ag_nothing inside;
    AG_DEVICE ag_nothing read(ag_nothing x) { return x; }
};

template <class F, class A>
AG_DEVICE auto ag_call(A x, ag_nothing, ag_nothing, ag_nothing) { return F::of(x); }
template <class F, class A, class B>
AG_DEVICE auto ag_call(A x, B y, ag_nothing, ag_nothing) { return F::of(x, y); }
template <class F, class A, class B, class C>
AG_DEVICE auto ag_call(A x, B y, C z, ag_nothing) { return F::of(x, y, z); }
template <class F, class A, class B, class C, class D>
AG_DEVICE auto ag_call(A x, B y, C z, D w) { return F::of(x, y, z, w); }

template <class K> struct ag_given { static constexpr int inputs = 1; };
template <> struct ag_given<ag_nothing> { static constexpr int inputs = 0; };
template <class A, class B, class C, class D> struct ag_count {
    static constexpr int inputs = 1 + ag_given<B>::inputs + ag_given<C>::inputs + ag_given<D>::inputs;
};

// ---- elements and vectors of an operand ----
template <class T, int V> struct alignas(sizeof(T) * V) ag_vector { T at[V]; };

// One element: at an address, or the number in the arguments.
template <class K, class Args> struct ag_element {
    AG_DEVICE typename ag_kind<K>::inside of(const Args &a, int k, int64_t offset) {
        typename ag_kind<K>::inside x;
        const char *const p = (const char *)a.in[k];
        if (p) return ag_kind<K>::read(*(const typename ag_kind<K>::memory *)(p + offset));
        memcpy(&x, &a.number[k], sizeof x);
        return x;
    }
};
template <class Args> struct ag_element<ag_nothing, Args> {
    AG_DEVICE ag_nothing of(const Args &, int, int64_t) { return {}; }
};

// What an input is that is the same for all elements.
template <class K> struct ag_once {
    AG_DEVICE typename ag_kind<K>::inside of(const ag_flat_args &a, int k) {
        typename ag_kind<K>::inside x;
        memcpy(&x, &a.number[k], sizeof x);
        if (a.in[k] && !(a.dense >> k & 1))
            x = ag_kind<K>::read(*(const typename ag_kind<K>::memory *)a.in[k]);
        return x;
    }
};
template <> struct ag_once<ag_nothing> {
    AG_DEVICE ag_nothing of(const ag_flat_args &, int) { return {}; }
};

// V elements from place i on, which the formula takes one by one.
template <class K, int V> struct ag_lanes {
    typedef typename ag_kind<K>::memory memory;
    typename ag_kind<K>::inside at[V];
    __device__ __forceinline__ ag_lanes(const ag_flat_args &a, int k, typename ag_kind<K>::inside once,
                                        uint64_t i) {
        if (a.dense >> k & 1) {
            const ag_vector<memory, V> x = ((const ag_vector<memory, V> *)a.in[k])[i];
            _Pragma("unroll") for (int j = 0; j < V; j++) at[j] = ag_kind<K>::read(x.at[j]);
        } else {
            _Pragma("unroll") for (int j = 0; j < V; j++) at[j] = once;
        }
    }
};
template <int V> struct ag_lanes<ag_nothing, V> {
    ag_nothing at[V];
    __device__ __forceinline__ ag_lanes(const ag_flat_args &, int, ag_nothing, uint64_t) {}
};

// ---- loops over the whole grid ----
template <class F, class R, class A, class B, class C, class D, int V>
AG_DEVICE void ag_vectors(const ag_flat_args &a, uint64_t first, uint64_t end,
                          typename ag_kind<A>::inside x, typename ag_kind<B>::inside y,
                          typename ag_kind<C>::inside z, typename ag_kind<D>::inside w) {
    typedef typename ag_kind<R>::memory memory;
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    _Pragma("unroll 1") for (uint64_t i = first; i < end; i += step) {
        const ag_lanes<A, V> xs(a, 0, x, i);
        const ag_lanes<B, V> ys(a, 1, y, i);
        const ag_lanes<C, V> zs(a, 2, z, i);
        const ag_lanes<D, V> ws(a, 3, w, i);
        ag_vector<memory, V> out;
        _Pragma("unroll") for (int j = 0; j < V; j++)
            out.at[j] = ag_kind<R>::written(ag_call<F>(xs.at[j], ys.at[j], zs.at[j], ws.at[j]));
        ((ag_vector<memory, V> *)a.out)[i] = out;
    }
}

template <int V, class F, class R, class A, class B = ag_nothing, class C = ag_nothing,
          class D = ag_nothing>
AG_DEVICE void ag_flat(const ag_flat_args &a) {
    const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const auto x = ag_once<A>::of(a, 0);
    const auto y = ag_once<B>::of(a, 1);
    const auto z = ag_once<C>::of(a, 2);
    const auto w = ag_once<D>::of(a, 3);
    if constexpr (V > 1) ag_vectors<F, R, A, B, C, D, V>(a, i, a.vectors, x, y, z, w);
    ag_vectors<F, R, A, B, C, D, 1>(a, a.vectors * V + i, a.n, x, y, z, w);
}

// Byte offsets of elements first, first + step, ... in C order: of M at once, so that their loads
// are under way together.
template <int M, int N>
AG_DEVICE void ag_offsets(const ag_strided_args &a, uint32_t first, uint32_t step,
                          int64_t (&at)[M][N]) {
    const uint32_t last = a.nd - 1;
    uint32_t rest[M];
    _Pragma("unroll") for (int m = 0; m < M; m++) {
        rest[m] = first + m * step;
        _Pragma("unroll") for (int k = 0; k < N; k++) at[m][k] = 0;
    }
    _Pragma("unroll 1") for (uint32_t d = 0; d < last; d++) {
        const ag_divisor by = a.size[d];
        _Pragma("unroll") for (int m = 0; m < M; m++) {
            const uint32_t q = (__umulhi(rest[m], by.mul) + rest[m]) >> by.shift;
            const uint32_t place = rest[m] - q * by.size;
            rest[m] = q;
            _Pragma("unroll") for (int k = 0; k < N; k++) at[m][k] += place * a.stride[k][d];
        }
    }
    _Pragma("unroll") for (int m = 0; m < M; m++)
        _Pragma("unroll") for (int k = 0; k < N; k++) at[m][k] += rest[m] * a.stride[k][last];
}

template <int M, class F, class R, class A, class B = ag_nothing, class C = ag_nothing,
          class D = ag_nothing>
AG_DEVICE void ag_strided(const ag_strided_args &a) {
    constexpr int N = ag_count<A, B, C, D>::inputs;
    const uint32_t step = gridDim.x * blockDim.x;
    _Pragma("unroll 1") for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < a.n;
                             i += M * step) {
        int64_t at[M][N + 1];
        typename ag_kind<A>::inside x[M];
        typename ag_kind<B>::inside y[M];
        typename ag_kind<C>::inside z[M];
        typename ag_kind<D>::inside w[M];
        ag_offsets(a, i, step, at);
        _Pragma("unroll") for (int m = 0; m < M; m++)
            if (i + m * step < a.n) {
                x[m] = ag_element<A, ag_strided_args>::of(a, 0, at[m][1]);
                y[m] = ag_element<B, ag_strided_args>::of(a, 1, at[m][N < 2 ? 0 : 2]);
                z[m] = ag_element<C, ag_strided_args>::of(a, 2, at[m][N < 3 ? 0 : 3]);
                w[m] = ag_element<D, ag_strided_args>::of(a, 3, at[m][N < 4 ? 0 : 4]);
            }
        _Pragma("unroll") for (int m = 0; m < M; m++)
            if (i + m * step < a.n)
                *(typename ag_kind<R>::memory *)((char *)a.out + at[m][0]) =
                    ag_kind<R>::written(ag_call<F>(x[m], y[m], z[m], w[m]));
    }
}

#define AG_ELEMENTWISE(name, lanes, formula, ...)                                                  \
    struct of_##name {                                                                             \
        template <class... X> AG_DEVICE auto of(X... x) { return formula(x...); }                  \
    };                                                                                             \
    AG_KERNEL(name, ag_flat_args) { ag_flat<lanes, of_##name, __VA_ARGS__>(a); }                   \
    AG_KERNEL(name##_strided, ag_strided_args) {                                                   \
        ag_strided<(lanes < 4 ? lanes : 4), of_##name, __VA_ARGS__>(a);                            \
    }

// Quotients and remainders of integers. A divisor of 0 is noted, and its element is left out.
template <class F, class T, class Args>
AG_DEVICE void ag_quotient(const Args &a, int64_t out, int64_t left, int64_t right) {
    const T x = ag_element<T, Args>::of(a, 0, left), y = ag_element<T, Args>::of(a, 1, right);
    if (y == 0)
        ag_note_fault(a.fault, AG_FAULT_ZERO_DIVISION, a.op, 0, 0, 0);
    else
        *(T *)((char *)a.out + out) = F::of(x, y);
}

template <class F, class T> AG_DEVICE void ag_divide_flat(const ag_flat_args &a) {
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    const int64_t x = a.dense & 1 ? sizeof(T) : 0, y = a.dense & 2 ? sizeof(T) : 0;
    _Pragma("unroll 1") for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < a.n;
                             i += step)
        ag_quotient<F, T>(a, i * sizeof(T), i * x, i * y);
}

template <class F, class T> AG_DEVICE void ag_divide_strided(const ag_strided_args &a) {
    int64_t at[1][3];
    const uint32_t step = gridDim.x * blockDim.x;
    _Pragma("unroll 1") for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < a.n; i += step) {
        ag_offsets(a, i, step, at);
        ag_quotient<F, T>(a, at[0][0], at[0][1], at[0][2]);
    }
}

#define AG_DIVISION(name, formula, T)                                                              \
    struct of_##name {                                                                             \
        AG_DEVICE T of(T x, T y) { return formula(x, y); }                                         \
    };                                                                                             \
    AG_KERNEL(name, ag_flat_args) { ag_divide_flat<of_##name, T>(a); }                             \
    AG_KERNEL(name##_strided, ag_strided_args) { ag_divide_strided<of_##name, T>(a); }
