// Steps of optimizers: what is around the loops, which ext/codegen/cuda_steps.py translates from
// the CPU's. The first launch computes the numbers of each parameter, the second one steps all
// elements.
#pragma once
#include "faults.cuh"
#include "kernel.cuh"
#include "reduction_operations.cuh"
#include "step_arguments.h"

template <class real> AG_R real ag_fma(real x, real y, real z) { return fma(x, y, z); }
AG_R double ag_most(double x, double y) { return fmax(x, y); }
template <class real> AG_R real ag_root(real x) { return sqrt(x); }
template <class real> AG_R real ag_size_of(real x) { return fabs(x); }

// --- arrays ------------------------------------------------------------------------------------

template <class T> struct ag_plain_array {
    typedef T real;
    T *p;
    __device__ __forceinline__ T &operator[](int i) const { return p[i]; }
    __device__ __forceinline__ bool operator==(decltype(nullptr)) const { return p == nullptr; }
    __device__ __forceinline__ bool operator!=(decltype(nullptr)) const { return p != nullptr; }
};

// Half types are computed in float32 and rounded when they are written.
template <class M> struct ag_narrow_array {
    typedef float real;
    struct element {
        M *p;
        __device__ __forceinline__ operator float() const { return ag_plain(*p); }
        __device__ __forceinline__ void operator=(float x) const { *p = ag_narrowed(M(), x); }
        __device__ __forceinline__ void operator-=(float x) const { *this = ag_plain(*p) - x; }
        __device__ __forceinline__ void operator/=(float x) const { *this = ag_plain(*p) / x; }
    };
    M *p;
    __device__ __forceinline__ element operator[](int i) const { return {p + i}; }
    __device__ __forceinline__ bool operator==(decltype(nullptr)) const { return p == nullptr; }
    __device__ __forceinline__ bool operator!=(decltype(nullptr)) const { return p != nullptr; }
};

// --- numbers -----------------------------------------------------------------------------------

AG_R double ag_step_number(const void *p, bool wide) {
    return wide ? *(const double *)p : (double)*(const float *)p;
}

// The beginning of a step: one block.
template <class L> AG_R void ag_begin(const ag_begin_args &a) {
    static_assert(sizeof(typename L::numbers) <= AG_STEP_DOUBLES * sizeof(double), "too many");
    if (a.first == 0) {
        if (threadIdx.x == 0) a.table->stop = 0;
        __syncthreads();
    }
    const uint32_t arrays = (uint32_t)__popc(a.arrays), places = (uint32_t)__popc(a.places);
    for (uint32_t i = threadIdx.x; i < a.count; i += blockDim.x) {
        const uint64_t *word = a.words + (uint64_t)i * (arrays + places + 2);
        const uint64_t size = word[arrays + places], rest = word[arrays + places + 1];
        ag_step_entry &e = a.table->entry[size >> 48 | (rest >> 40 & 0xffff) << 16];
        typename L::numbers c;
        for (uint32_t k = 0; k < sizeof(c) / sizeof(double); k++)
            ((double *)&c)[k] = a.numbers[k];
        for (int k = 0; k < AG_STEP_ARRAYS; k++)
            e.array[k] = a.arrays >> k & 1 ? (void *)*word++ : nullptr;
        for (int k = 0; k < AG_STEP_PLACES; k++)
            e.number[k] = a.places >> k & 1 ? (void *)*word++ : nullptr;
        e.n = size & (((uint64_t)1 << 48) - 1);
        e.start = rest & (((uint64_t)1 << 40) - 1);
        e.dts = rest >> 56;
        if (a.lr.p) c.lr = ag_step_number(a.lr.p, a.lr.dt);
        double last = 0;
        for (int k = 0; k < AG_STEP_PLACES; k++)
            if (e.number[k]) *L::place(c, k) = last = ag_step_number(e.number[k], e.dts >> k & 1);
        // The last number counts steps.
        if (!(last >= 0)) {
            a.table->stop = 1;
            int64_t bits;
            memcpy(&bits, &last, sizeof bits);
            ag_note_fault(a.fault, AG_FAULT_STEP_COUNT, a.op, bits, a.listed + i, 0);
        }
        L::begin(c);
        for (uint32_t k = 0; k < sizeof(c) / sizeof(double); k++) e.numbers[k] = ((double *)&c)[k];
    }
}

// --- the step ----------------------------------------------------------------------------------

template <class L, class A> AG_R void ag_step(const ag_step_args &a) {
    if (a.table->stop) return;
    if (a.found_inf.p && ag_step_number(a.found_inf.p, a.found_inf.dt) != 0) return;
    typedef typename A::real real;
    const real scale =
        a.grad_scale.p ? (real)ag_step_number(a.grad_scale.p, a.grad_scale.dt) : (real)0;
    ag_step_entry *const entries = a.table->entry + a.first;
    AG_EACH(i, a.count)
        for (int k = 0; k < AG_STEP_PLACES; k++) {
            ag_step_entry &e = entries[i];
            if (!e.number[k]) continue;
            const double x = *L::place(*(typename L::numbers *)e.numbers, k);
            if (e.dts >> k & 1) *(double *)e.number[k] = x;
            else *(float *)e.number[k] = (float)x;
        }
    // The last parameter that starts at or before the tile.
    uint32_t low = 0, high = a.count - 1;
    while (low < high) {
        const uint32_t middle = low + (high - low + 1) / 2;
        if (entries[middle].start <= blockIdx.x) low = middle;
        else high = middle - 1;
    }
    const ag_step_entry &e = entries[low];
    const uint64_t at = (blockIdx.x - e.start) * AG_STEP_TILE;
    if (at >= e.n) return; // of no elements
    const int n = (int)(e.n - at < AG_STEP_TILE ? e.n - at : AG_STEP_TILE);
    A arrays[AG_STEP_ARRAYS];
    for (int k = 0; k < AG_STEP_ARRAYS; k++) {
        arrays[k].p = (decltype(arrays[k].p))e.array[k];
        if (arrays[k].p) arrays[k].p += at;
    }
    if (scale != 0)
        for (int i = (int)threadIdx.x; i < n; i += AG_STEP_THREADS) arrays[1][i] /= scale;
    L::step(arrays, n, *(const typename L::numbers *)e.numbers);
}
