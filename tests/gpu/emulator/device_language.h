// The language of kernels on the host: what a .cu file of ext/cuda/device needs when g++ compiles
// it with -DAG_ON_HOST. The emulated driver runs the threads and says where each one is
// (kernel_entry.h).
//
// There are no atomics of floating-point numbers, on purpose: their sums would depend on the order.
#pragma once

#include <cmath>
#include <math.h>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernel_entry.h"

// ---- kernels -----------------------------------------------------------------------------------

namespace emu_language {

// Where a struct of arguments has the name of an operator, an address of the host that is passed
// on.
template <class Args, class = void> struct host_word {
    static constexpr int offset = -1;
};
template <class Args> struct host_word<Args, std::void_t<decltype(Args::op)>> {
    static constexpr int offset = offsetof(Args, op);
};

} // namespace emu_language

#define EMU_KERNEL(name, Args, threads, together)                                                  \
    static void name(const Args &a);                                                               \
    extern "C" __attribute__((visibility("default"))) const emu_kernel emu_kernel_##name = {       \
        #name,                                                                                     \
        sizeof(Args),                                                                              \
        threads,                                                                                   \
        together,                                                                                  \
        emu_language::host_word<Args>::offset,                                                     \
        [](const void *a) { name(*static_cast<const Args *>(a)); },                                \
        0,                                                                                         \
        nullptr,                                                                                   \
        nullptr};                                                                                  \
    static void name(const Args &a)
#define AG_KERNEL(name, Args) EMU_KERNEL(name, Args, 1024, 0)
#define AG_KERNEL_TOGETHER(name, Args, threads) EMU_KERNEL(name, Args, threads, 1)
#define AG_DYNAMIC_SHARED(T, name) T *const name = static_cast<T *>(emu_dynamic_shared())

#define __global__
#define __device__
#define __host__
#define __constant__ static
#define __shared__ static
#define __managed__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(n) alignas(n)
#ifndef __restrict__
#define __restrict__ __restrict
#endif

#define threadIdx (emu_here.thread)
#define blockIdx (emu_here.block)
#define blockDim (emu_here.block_size)
#define gridDim (emu_here.grid_size)
static constexpr int warpSize = EMU_WARP;

// ---- meeting -----------------------------------------------------------------------------------

static inline void __syncthreads() { emu_barrier(0, 0, nullptr); }
static inline int __syncthreads_and(int p) {
    int r;
    emu_barrier(1, p, &r);
    return r;
}
static inline int __syncthreads_or(int p) {
    int r;
    emu_barrier(2, p, &r);
    return r;
}
static inline int __syncthreads_count(int p) {
    int r;
    emu_barrier(3, p, &r);
    return r;
}
static inline void __syncwarp(unsigned mask = ~0u) { emu_exchange(EMU_SYNC, mask, 0, 0); }
static inline unsigned __activemask() { return emu_active_lanes(); }
static inline unsigned __ballot_sync(unsigned mask, int p) {
    return (unsigned)emu_exchange(EMU_BALLOT, mask, p != 0, 0);
}
static inline int __any_sync(unsigned mask, int p) { return __ballot_sync(mask, p) != 0; }
static inline int __all_sync(unsigned mask, int p) { return __ballot_sync(mask, !p) == 0; }
static inline void __threadfence() {}
static inline void __threadfence_block() {}
static inline void __threadfence_system() {}
static inline void __nanosleep(unsigned) {}
static inline void __trap() { emu_trap("it trapped"); }
#ifndef assert
#define assert(e) ((e) ? (void)0 : emu_trap("assertion failed: " #e))
#endif

namespace emu_language {

static inline unsigned flat_thread() {
    const emu_place &here = emu_here;
    return here.thread.x + here.block_size.x * (here.thread.y + here.block_size.y * here.thread.z);
}

// The value of lane `source`, or one's own where that is outside of the segment.
template <class T> T shuffle(unsigned mask, T value, int source, bool inside) {
    static_assert(sizeof(T) <= 8, "shuffles take up to 8 bytes");
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    bits =
        emu_exchange(EMU_SHUFFLE, mask, bits, inside ? (unsigned)source : flat_thread() % EMU_WARP);
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

} // namespace emu_language

template <class T> T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
    int lane = emu_language::flat_thread() % 32, first = lane & ~(width - 1);
    return emu_language::shuffle(mask, value, first + (source & (width - 1)), true);
}
template <class T> T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
    int lane = emu_language::flat_thread() % 32, first = lane & ~(width - 1);
    return emu_language::shuffle(mask, value, lane + (int)delta, lane + (int)delta < first + width);
}
template <class T> T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
    int lane = emu_language::flat_thread() % 32, first = lane & ~(width - 1);
    return emu_language::shuffle(mask, value, lane - (int)delta, lane - (int)delta >= first);
}
template <class T> T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32) {
    int lane = emu_language::flat_thread() % 32, first = lane & ~(width - 1), source = lane ^ lanes;
    return emu_language::shuffle(mask, value, source, source < first + width);
}
#define EMU_REDUCE(name, T, start, step)                                                           \
    static inline T name(unsigned mask, T value) {                                                 \
        T result = start;                                                                          \
        for (int lane = 0; lane < 32; lane++) {                                                    \
            T x = __shfl_sync(mask, value, lane);                                                  \
            if (mask >> lane & 1) result = step;                                                   \
        }                                                                                          \
        return result;                                                                             \
    }
EMU_REDUCE(__reduce_add_sync, unsigned, 0, result + x)
EMU_REDUCE(__reduce_max_sync, unsigned, 0, x > result ? x : result)
EMU_REDUCE(__reduce_min_sync, unsigned, ~0u, x < result ? x : result)
#undef EMU_REDUCE

// ---- atomics: one thread runs at a time --------------------------------------------------------

#define EMU_ATOMIC(name, step)                                                                     \
    template <class T> T name(T *p, std::common_type_t<T> v) {                                     \
        static_assert(std::is_integral_v<T> && (sizeof(T) == 4 || sizeof(T) == 8),                 \
                      "of 32 or 64 bits");                                                         \
        T old = *p;                                                                                \
        *p = step;                                                                                 \
        return old;                                                                                \
    }                                                                                              \
    template <class T> T name##_block(T *p, std::common_type_t<T> v) { return name(p, v); }        \
    template <class T> T name##_system(T *p, std::common_type_t<T> v) { return name(p, v); }
EMU_ATOMIC(atomicAdd, old + v)
EMU_ATOMIC(atomicSub, old - v)
EMU_ATOMIC(atomicMax, old > v ? old : v)
EMU_ATOMIC(atomicMin, old < v ? old : v)
EMU_ATOMIC(atomicAnd, old &v)
EMU_ATOMIC(atomicOr, old | v)
EMU_ATOMIC(atomicXor, old ^ v)
EMU_ATOMIC(atomicExch, v)
EMU_ATOMIC(atomicInc, old >= v ? 0 : old + 1)
EMU_ATOMIC(atomicDec, old == 0 || old > v ? v : old - 1)
#undef EMU_ATOMIC
template <class T> T atomicCAS(T *p, std::common_type_t<T> expected, std::common_type_t<T> v) {
    static_assert(std::is_integral_v<T>, "of integers");
    T old = *p;
    if (old == expected) *p = v;
    return old;
}
template <class T> T atomicCAS_block(T *p, std::common_type_t<T> e, std::common_type_t<T> v) {
    return atomicCAS(p, e, v);
}
template <class T> T atomicCAS_system(T *p, std::common_type_t<T> e, std::common_type_t<T> v) {
    return atomicCAS(p, e, v);
}

// ---- reads and writes with a hint --------------------------------------------------------------

#define EMU_READ(name)                                                                             \
    template <class T> T name(const T *p) { return *p; }
EMU_READ(__ldg)
EMU_READ(__ldcg)
EMU_READ(__ldca)
EMU_READ(__ldcs)
EMU_READ(__ldlu)
EMU_READ(__ldcv)
#undef EMU_READ
#define EMU_WRITE(name)                                                                            \
    template <class T> void name(T *p, std::common_type_t<T> v) { *p = v; }
    EMU_WRITE(__stwb) EMU_WRITE(__stcg) EMU_WRITE(__stcs) EMU_WRITE(__stwt)
#undef EMU_WRITE

    // ---- bits
    // ----------------------------------------------------------------------------------------

    static inline unsigned __umulhi(unsigned a, unsigned b) {
    return (unsigned)((uint64_t)a * b >> 32);
}
static inline int __mulhi(int a, int b) { return (int)((int64_t)a * b >> 32); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
static inline long long __mul64hi(long long a, long long b) {
    return (long long)((__int128)a * b >> 64);
}
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
static inline unsigned __brev(unsigned x) {
    unsigned r = 0;
    for (int i = 0; i < 32; i++) r |= (x >> i & 1) << (31 - i);
    return r;
}
static inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned n) {
    return (unsigned)((((uint64_t)hi << 32 | lo) << (n & 31)) >> 32);
}
static inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n) {
    return (unsigned)(((uint64_t)hi << 32 | lo) >> (n & 31));
}
static inline unsigned __byte_perm(unsigned x, unsigned y, unsigned s) {
    uint64_t whole = (uint64_t)y << 32 | x;
    unsigned r = 0;
    for (int i = 0; i < 4; i++) r |= (unsigned)(whole >> (8 * (s >> 4 * i & 7)) & 255) << 8 * i;
    return r;
}

namespace emu_language {
template <class To, class From> To same_bits(From from) {
    static_assert(sizeof(To) == sizeof(From), "of one size");
    To to;
    std::memcpy(&to, &from, sizeof to);
    return to;
}
} // namespace emu_language
static inline int __float_as_int(float x) { return emu_language::same_bits<int>(x); }
static inline unsigned __float_as_uint(float x) { return emu_language::same_bits<unsigned>(x); }
static inline float __int_as_float(int x) { return emu_language::same_bits<float>(x); }
static inline float __uint_as_float(unsigned x) { return emu_language::same_bits<float>(x); }
static inline long long __double_as_longlong(double x) {
    return emu_language::same_bits<long long>(x);
}
static inline double __longlong_as_double(long long x) {
    return emu_language::same_bits<double>(x);
}

// ---- arithmetic --------------------------------------------------------------------------------

static inline float __fmul_rn(float a, float b) { return a * b; }
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fsub_rn(float a, float b) { return a - b; }
static inline float __fdiv_rn(float a, float b) { return a / b; }
static inline float __fsqrt_rn(float a) { return std::sqrt(a); }
static inline float __frcp_rn(float a) { return 1 / a; }
static inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline double __dadd_rn(double a, double b) { return a + b; }
static inline double __dsub_rn(double a, double b) { return a - b; }
static inline double __ddiv_rn(double a, double b) { return a / b; }
static inline double __dsqrt_rn(double a) { return std::sqrt(a); }
static inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
static inline float __fdividef(float a, float b) { return a / b; }
// The C library has functions of these names, which it keeps to itself.
namespace emu_language {
static inline float fast_expf(float x) { return std::exp(x); }
static inline float fast_exp10f(float x) { return std::pow(10.0f, x); }
static inline float fast_logf(float x) { return std::log(x); }
static inline float fast_log2f(float x) { return std::log2(x); }
static inline float fast_log10f(float x) { return std::log10(x); }
static inline float fast_powf(float x, float y) { return std::pow(x, y); }
static inline float fast_sinf(float x) { return std::sin(x); }
static inline float fast_cosf(float x) { return std::cos(x); }
static inline float fast_tanf(float x) { return std::tan(x); }
static inline void fast_sincosf(float x, float *s, float *c) { *s = std::sin(x), *c = std::cos(x); }
} // namespace emu_language
#define __expf emu_language::fast_expf
#define __exp10f emu_language::fast_exp10f
#define __logf emu_language::fast_logf
#define __log2f emu_language::fast_log2f
#define __log10f emu_language::fast_log10f
#define __powf emu_language::fast_powf
#define __sinf emu_language::fast_sinf
#define __cosf emu_language::fast_cosf
#define __tanf emu_language::fast_tanf
#define __sincosf emu_language::fast_sincosf
static inline void sincos(float x, float *s, float *c) { *s = std::sin(x), *c = std::cos(x); }
static inline float __saturatef(float x) { return x > 0 ? x < 1 ? x : 1 : 0; }
static inline float rsqrtf(float x) { return 1 / std::sqrt(x); }
static inline double rsqrt(double x) { return 1 / std::sqrt(x); }
static inline float normcdff(float x) { return 0.5f * std::erfc(x * -0.70710678f); }
static inline double normcdf(double x) { return 0.5 * std::erfc(x * -0.70710678118654752440); }
static inline int __float2int_rn(float x) { return (int)std::nearbyint(x); }
static inline int __float2int_rz(float x) { return (int)x; }
static inline unsigned __float2uint_rn(float x) { return (unsigned)std::nearbyint(x); }
static inline float __int2float_rn(int x) { return (float)x; }
static inline float __uint2float_rn(unsigned x) { return (float)x; }
static inline float __double2float_rn(double x) { return (float)x; }

#define EMU_LEAST_AND_MOST(T)                                                                      \
    static inline T min(T a, T b) { return b < a ? b : a; }                                        \
    static inline T max(T a, T b) { return a < b ? b : a; }
EMU_LEAST_AND_MOST(int)
EMU_LEAST_AND_MOST(unsigned)
EMU_LEAST_AND_MOST(long)
EMU_LEAST_AND_MOST(unsigned long)
EMU_LEAST_AND_MOST(long long)
EMU_LEAST_AND_MOST(unsigned long long)
#undef EMU_LEAST_AND_MOST
    static inline float min(float a, float b) {
    return std::fmin(a, b);
}
static inline float max(float a, float b) { return std::fmax(a, b); }
static inline double min(double a, double b) { return std::fmin(a, b); }
static inline double max(double a, double b) { return std::fmax(a, b); }

// ---- short vectors -----------------------------------------------------------------------------

#define EMU_VECTORS(T, name)                                                                       \
    struct alignas(2 * sizeof(T)) name##2 { T x, y; };                                             \
    struct name##3 { T x, y, z; };                                                                 \
    struct alignas(4 * sizeof(T) < 16 ? 4 * sizeof(T) : 16) name##4 { T x, y, z, w; };             \
    static inline name##2 make_##name##2(T x, T y) { return {x, y}; }                              \
    static inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }                      \
    static inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
EMU_VECTORS(signed char, char)
EMU_VECTORS(unsigned char, uchar)
EMU_VECTORS(short, short)
EMU_VECTORS(unsigned short, ushort)
EMU_VECTORS(int, int)
EMU_VECTORS(unsigned, uint) EMU_VECTORS(long long, longlong)
    EMU_VECTORS(unsigned long long, ulonglong) EMU_VECTORS(float, float) EMU_VECTORS(double, double)
#undef EMU_VECTORS
        struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
