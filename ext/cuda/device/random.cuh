// Random numbers: those of the CPU for the same seed, in any geometry. A thread makes what one
// block of Philox gives, four elements or two: which ones, scalar/random_elements.h says. Their
// image is compiled without fused products (ext/codegen/cuda_random.py).
//
// Key and position are in memory of the device. Each block counts when it has read them, and the
// last one to do so moves the position on. Launches that use one generator follow each other.
#pragma once
#include "faults.cuh"
#include "random_arguments.h"
#include "reductions.cuh"
#include "scalar/random_elements.h"

struct ag_drawn_from { uint64_t key, position; };

AG_R ag_drawn_from ag_read_state(uint64_t *state, uint64_t chunks) {
    __shared__ uint64_t shared[2];
    if (threadIdx.x == 0) {
        shared[0] = state[0];
        shared[1] = state[1];
    }
    __syncthreads();
    const ag_drawn_from from = {shared[0], shared[1]};
    if (threadIdx.x == 0) {
        bool last = gridDim.x == 1;
        if (!last) {
            __threadfence();
            last = atomicAdd((unsigned long long *)state + 2, 1ull) + 1 == gridDim.x;
            if (last) state[2] = 0;
        }
        if (last) state[1] = from.position + chunks;
    }
    return from;
}

// --- distributions -------------------------------------------------------------------------------
// Each takes the words of lane `lane` of a chunk; `e` is the number of its first element.

template <class T> AG_R void ag_put(const ag_random_args &a, uint64_t e, T x) {
    if (e < a.n) {
        const uint32_t size = a.dt == AG_DT_F64 || a.dt == AG_DT_I64 ? 8
                            : a.dt == AG_DT_F32 || a.dt == AG_DT_I32 ? 4
                            : a.dt == AG_DT_F16 || a.dt == AG_DT_BF16 || a.dt == AG_DT_I16 ? 2 : 1;
        ag_store((char *)a.out + e * size, a.dt, x);
    }
}

// Elements that take one word, and those that take two.
template <class D> struct ag_of_word {
    enum { PER_CHUNK = AG_ELEMENTS_PER_CHUNK(0) };
    AG_R void put(const ag_random_args &a, uint64_t e, ag_philox_words w) {
        D::one(a, e, w.w0);
        D::one(a, e + 16, w.w1);
        D::one(a, e + 32, w.w2);
        D::one(a, e + 48, w.w3);
    }
};
template <class D> struct ag_of_words {
    enum { PER_CHUNK = AG_ELEMENTS_PER_CHUNK(1) };
    AG_R void put(const ag_random_args &a, uint64_t e, ag_philox_words w) {
        D::one(a, e, w.w0, w.w2);
        D::one(a, e + 16, w.w1, w.w3);
    }
};

struct ag_uniform_floats : ag_of_word<ag_uniform_floats> {
    AG_R void one(const ag_random_args &a, uint64_t e, uint32_t w) {
        const float u = a.dt == AG_DT_F16    ? ag_uniform_f16(w)
                        : a.dt == AG_DT_BF16 ? ag_uniform_bf16(w)
                                             : ag_uniform_f32(w);
        ag_put(a, e, ag_stretch_f32(u, (float)a.a, (float)a.b, (float)a.top));
    }
};
struct ag_uniform_doubles : ag_of_words<ag_uniform_doubles> {
    AG_R void one(const ag_random_args &a, uint64_t e, uint32_t w0, uint32_t w1) {
        ag_put(a, e, ag_stretch_f64(ag_uniform_f64(w0, w1), a.a, a.b, a.top));
    }
};

struct ag_normal_floats {
    enum { PER_CHUNK = AG_ELEMENTS_PER_CHUNK(0) };
    AG_R void pair(const ag_random_args &a, uint64_t e, uint32_t w0, uint32_t w1) {
        const ag_pair_f32 x = ag_normal_pair_f32(w0, w1);
        ag_put(a, e, (float)a.a + (float)a.b * x.cos);
        ag_put(a, e + 32, (float)a.a + (float)a.b * x.sin);
    }
    AG_R void put(const ag_random_args &a, uint64_t e, ag_philox_words w) {
        pair(a, e, w.w0, w.w2);
        pair(a, e + 16, w.w1, w.w3);
    }
};
struct ag_normal_doubles {
    enum { PER_CHUNK = AG_ELEMENTS_PER_CHUNK(1) };
    AG_R void put(const ag_random_args &a, uint64_t e, ag_philox_words w) {
        const ag_pair_f64 x = ag_normal_pair_f64(w.w0, w.w1, w.w2, w.w3);
        ag_put(a, e, a.a + a.b * x.cos);
        ag_put(a, e + 16, a.a + a.b * x.sin);
    }
};

struct ag_exponential_floats : ag_of_word<ag_exponential_floats> {
    AG_R void one(const ag_random_args &a, uint64_t e, uint32_t w) {
        ag_put(a, e, (float)a.a * ag_exponential_f32(w));
    }
};
struct ag_exponential_doubles : ag_of_words<ag_exponential_doubles> {
    AG_R void one(const ag_random_args &a, uint64_t e, uint32_t w0, uint32_t w1) {
        ag_put(a, e, a.a * ag_exponential_f64(w0, w1));
    }
};

// Zeros, and what a one is: 1, or of floating dtypes a.a.
struct ag_ones : ag_of_word<ag_ones> {
    AG_R void one(const ag_random_args &a, uint64_t e, uint32_t w) {
        const bool is = (uint64_t)w < a.range;
        if (a.dt == AG_DT_F64)
            ag_put(a, e, is ? a.a : 0.0);
        else if (a.dt >= AG_DT_F16)
            ag_put(a, e, is ? (float)a.a : 0.0f);
        else
            ag_put(a, e, (int64_t)is);
    }
};
struct ag_ones_each : ag_of_word<ag_ones_each> {
    AG_R void one(const ag_random_args &a, uint64_t e, uint32_t w) {
        if (e >= a.n) return;
        const double p = a.p[e];
        if (!(p >= 0 && p <= 1)) {
            ag_note_fault(a.fault, AG_FAULT_CHANCE, a.op, (int64_t)ag_bits_f64(p), 0, (int64_t)e);
            return;
        }
        const bool is = (double)w < p * 4294967296.0;
        if (a.dt >= AG_DT_F16)
            ag_put(a, e, is ? 1.0 : 0.0);
        else
            ag_put(a, e, (int64_t)is);
    }
};

struct ag_integers : ag_of_words<ag_integers> {
    AG_R void one(const ag_random_args &a, uint64_t e, uint32_t w0, uint32_t w1) {
        const int64_t k = (int64_t)((uint64_t)a.base + ag_bounded(w0, w1, a.range));
        if (a.dt == AG_DT_F64)
            ag_put(a, e, (double)k);
        else if (a.dt >= AG_DT_F16)
            ag_put(a, e, (float)k);
        else
            ag_put(a, e, k);
    }
};

template <class D> AG_R void ag_fill(const ag_random_args &a) {
    const ag_drawn_from from = ag_read_state(a.state, a.chunks);
    AG_EACH(i, a.chunks << 4) {
        const uint32_t lane = (uint32_t)i & 15u;
        D::put(a, (i >> 4) * D::PER_CHUNK + lane,
               ag_chunk_block(from.key, from.position + (i >> 4), lane));
    }
}

// --- permutations --------------------------------------------------------------------------------

// Fisher and Yates' n - 1 steps, with their result, by one block. Many steps at once are tried:
// each claims the two places that it exchanges, and those that no earlier step wants are done. The
// earliest of them always is, and random places are seldom wanted twice.
AG_R void ag_permute(const ag_permutation_args &a) {
    const ag_drawn_from from = ag_read_state(a.state, a.chunks);
    const int64_t threads = blockDim.x;
    AG_ROLLED
    for (int64_t i = threadIdx.x; i < a.n; i += threads) {
        a.out[i] = i;
        a.claimed[i] = 0;
    }
    __syncthreads();
    AG_ROLLED
    for (int64_t first = a.n - 1; first > 0; first -= threads) {
        const int64_t i = first - threadIdx.x;
        bool waits = i > 0;
        const int64_t j = waits ? ag_element_place(from.key, from.position, a.n, i) : 0;
        const unsigned long long claim = (unsigned long long)i;
        unsigned long long *const at_i = (unsigned long long *)a.claimed + (waits ? i : 0);
        unsigned long long *const at_j = (unsigned long long *)a.claimed + j;
        AG_ROLLED
        do {
            if (waits) {
                atomicMax(at_i, claim);
                atomicMax(at_j, claim);
            }
            __syncthreads();
            const bool mine = waits && *(volatile unsigned long long *)at_i == claim
                           && *(volatile unsigned long long *)at_j == claim;
            __syncthreads();
            if (waits) *at_i = *at_j = 0;
            if (mine) {
                const int64_t held = a.out[i];
                a.out[i] = a.out[j];
                a.out[j] = held;
                waits = false;
            }
        } while (__syncthreads_or(waits));
    }
}

// --- parameters ----------------------------------------------------------------------------------

AG_R void ag_check_widths(const ag_parameters_args &a) {
    AG_EACH(i, a.rows * a.columns)
        if (!(a.x[i] >= 0))
            ag_note_fault(a.fault, AG_FAULT_WIDTH, a.op, (int64_t)ag_bits_f64(a.x[i]), 0,
                          (int64_t)i);
}

// Weights of categories, rows of finite numbers that aren't negative, and not all zero.
AG_R void ag_check_weights(const ag_parameters_args &a) {
    AG_ROLLED
    for (uint64_t row = blockIdx.x; row < a.rows; row += gridDim.x) {
        bool bad = false, some = false;
        AG_ROLLED
        for (uint64_t k = threadIdx.x; k < a.columns; k += blockDim.x) {
            const double x = a.x[row * a.columns + k];
            some |= x > 0;
            if (x >= 0 && x - x == 0) continue;
            bad = true;
            ag_note_fault(a.fault, AG_FAULT_WEIGHT, a.op, (int64_t)ag_bits_f64(x), 0,
                          (int64_t)(row * a.columns + k));
        }
        bad = __syncthreads_or(bad);
        some = __syncthreads_or(some);
        if (!bad && !some && threadIdx.x == 0)
            ag_note_fault(a.fault, AG_FAULT_WEIGHTS, a.op, 0, 0, (int64_t)row);
    }
}
