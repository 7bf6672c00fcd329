// Products of matrices, and of a matrix and a vector, of any strides. Each result is summed by one thread,
// or by a tree whose form only shapes decide, so that the bits are the same in each run.
// ext/codegen/cuda_products.py makes a kernel of each body and dtype.
#pragma once
#include "fused.cuh"
#include "product_arguments.h"
#include "scalar/arith.h"
#include "scalar/types.h"

// --- elements: how they are stored, and what is computed in ------------------------------------

template <class S, class C> struct ag_whole_numbers {
    typedef S stored;
    typedef C computed; // unsigned: overflow wraps
    __device__ static __forceinline__ C load(S x, bool) { return (C)x; }
    __device__ static __forceinline__ S store(C x) { return (S)x; }
    __device__ static __forceinline__ C zero() { return 0; }
    __device__ static __forceinline__ C add(C x, C y) { return x + y; }
    __device__ static __forceinline__ C add_product(C sum, C x, C y) { return sum + x * y; }
    __device__ static __forceinline__ C scaled(C x, const ag_cell &factor) { return x * (C)factor.word[0]; }
};

template <class C> struct ag_real_numbers {
    typedef C computed;
    __device__ static __forceinline__ C zero() { return 0; }
    __device__ static __forceinline__ C add(C x, C y) { return x + y; }
    __device__ static __forceinline__ C add_product(C sum, C x, C y) { return ag_fused(x, y, sum); }
    __device__ static __forceinline__ C scaled(C x, const ag_cell &factor) {
        return x * (C)ag_from_bits_f64(factor.word[0]);
    }
};

template <class Z, class R> struct ag_complex_numbers {
    typedef Z stored;
    typedef Z computed;
    __device__ static __forceinline__ Z make(R re, R im) {
        Z z;
        z.re = re;
        z.im = im;
        return z;
    }
    __device__ static __forceinline__ Z load(Z x, bool conjugated) { return make(x.re, conjugated ? -x.im : x.im); }
    __device__ static __forceinline__ Z store(Z x) { return x; }
    __device__ static __forceinline__ Z zero() { return make(0, 0); }
    __device__ static __forceinline__ Z add(Z x, Z y) { return make(x.re + y.re, x.im + y.im); }
    __device__ static __forceinline__ Z add_product(Z sum, Z x, Z y) {
        return make(ag_fused(-x.im, y.im, ag_fused(x.re, y.re, sum.re)),
                    ag_fused(x.im, y.re, ag_fused(x.re, y.im, sum.im)));
    }
    // A real factor scales both parts: products with its zero would make NaN of infinities.
    __device__ static __forceinline__ Z scaled(Z x, const ag_cell &factor) {
        const R re = (R)ag_from_bits_f64(factor.word[0]), im = (R)ag_from_bits_f64(factor.word[1]);
        if (im == 0) return make(x.re * re, x.im * re);
        return make(x.re * re - x.im * im, x.re * im + x.im * re);
    }
};

struct ag_of_u8 : ag_whole_numbers<ag_u8, uint32_t> {};
struct ag_of_i8 : ag_whole_numbers<ag_i8, uint32_t> {};
struct ag_of_i16 : ag_whole_numbers<ag_i16, uint32_t> {};
struct ag_of_i32 : ag_whole_numbers<ag_i32, uint32_t> {};
struct ag_of_i64 : ag_whole_numbers<ag_i64, uint64_t> {};
struct ag_of_f32 : ag_real_numbers<float> {
    typedef float stored;
    __device__ static __forceinline__ float load(float x, bool) { return x; }
    __device__ static __forceinline__ float store(float x) { return x; }
};
struct ag_of_f64 : ag_real_numbers<double> {
    typedef double stored;
    __device__ static __forceinline__ double load(double x, bool) { return x; }
    __device__ static __forceinline__ double store(double x) { return x; }
};
struct ag_of_f16 : ag_real_numbers<float> {
    typedef ag_f16 stored;
    __device__ static __forceinline__ float load(ag_f16 x, bool) { return ag_f16_to_f32(x); }
    __device__ static __forceinline__ ag_f16 store(float x) { return ag_f32_to_f16(x); }
};
struct ag_of_bf16 : ag_real_numbers<float> {
    typedef ag_bf16 stored;
    __device__ static __forceinline__ float load(ag_bf16 x, bool) { return ag_bf16_to_f32(x); }
    __device__ static __forceinline__ ag_bf16 store(float x) { return ag_f32_to_bf16(x); }
};
struct ag_of_c64 : ag_complex_numbers<ag_c64, float> {};
struct ag_of_c128 : ag_complex_numbers<ag_c128, double> {};

// alpha * sum + beta * add, rounded once to the stored type.
template <class M, class Args>
__device__ __forceinline__ void ag_finish(const Args &a, typename M::computed sum, int64_t place,
                                          int64_t add_place) {
    sum = M::scaled(sum, a.alpha);
    if (a.add != nullptr)
        sum = M::add(sum, M::scaled(M::load(((const typename M::stored *)a.add)[add_place], false), a.beta));
    ((typename M::stored *)a.c)[place] = M::store(sum);
}

// --- matrices ----------------------------------------------------------------------------------

constexpr int AG_PRODUCT_THREADS = 256; // 16 x 16
constexpr int AG_PRODUCT_GROUP = 8;     // tiles below one another that share columns of b in the cache

// The part of an operand that a block needs next: TILE rows of a, or columns of b, and DEPTH of the inner
// dimension. Neighbouring threads take what lies side by side; each takes EACH elements, `step` apart.
template <class M, int TILE, int DEPTH> struct ag_operand_tile {
    typedef typename M::stored S;
    typedef typename M::computed C;
    static constexpr int EACH = TILE * DEPTH / AG_PRODUCT_THREADS;
    static constexpr int WIDTH = TILE + (sizeof(C) < 16 ? 16 / (int)sizeof(C) : 1); // no bank conflicts
    const S *p;
    int64_t step, on;   // elements from one to the next, and from one part of the inner dimension to the next
    int z, dz, dx, left; // places: z in the part, and `left` rows to the operand's end
    int place;          // in the tile
    bool conjugated;
    C next[EACH];

    __device__ __forceinline__ ag_operand_tile(const S *from, int64_t across, int64_t inner, int64_t first,
                                               int64_t size, bool conjugate) {
        const bool along = inner == 1;
        const int t = (int)threadIdx.x, x = along ? t / DEPTH : t % TILE;
        z = along ? t % DEPTH : t / TILE;
        dx = along ? AG_PRODUCT_THREADS / DEPTH : 0;
        dz = along ? 0 : AG_PRODUCT_THREADS / TILE;
        left = (int)(size - first < TILE ? size - first : TILE) - x;
        place = z * WIDTH + x;
        p = from + (first + x) * across + z * inner;
        step = dx * across + dz * inner;
        on = DEPTH * inner;
        conjugated = conjugate;
    }
    // `k` elements of the inner dimension are there from here on.
    __device__ __forceinline__ void load(int64_t k) {
        const int there = (int)(k < DEPTH ? k : DEPTH) - z;
#pragma unroll
        for (int i = 0; i < EACH; i++)
            next[i] = i * dx < left && i * dz < there ? M::load(p[i * step], conjugated) : M::zero();
    }
    __device__ __forceinline__ void store(C *tile) const {
        const int apart = dz * WIDTH + dx;
#pragma unroll
        for (int i = 0; i < EACH; i++) tile[place + i * apart] = next[i];
    }
};

// A block makes TILE x TILE results, a thread EACH x EACH of them, in groups of four side by side.
template <class M, int TILE, int DEPTH> __device__ __forceinline__ void ag_product(const ag_product_args &a) {
    typedef typename M::stored S;
    typedef typename M::computed C;
    typedef ag_operand_tile<M, TILE, DEPTH> Tile;
    constexpr int EACH = TILE / 16, APART = TILE / (EACH / 4);
    __align__(16) __shared__ C left[DEPTH * Tile::WIDTH];
    __align__(16) __shared__ C right[DEPTH * Tile::WIDTH];
    const int tx = (int)threadIdx.x % 16, ty = (int)threadIdx.x / 16;

    // Blocks that run at once should share rows and columns: a few tiles down, then the next column.
    const int64_t down = (a.m + TILE - 1) / TILE, across = (a.n + TILE - 1) / TILE;
    const int64_t group = blockIdx.x / (AG_PRODUCT_GROUP * across), top = group * AG_PRODUCT_GROUP;
    const int64_t rows = down - top < AG_PRODUCT_GROUP ? down - top : AG_PRODUCT_GROUP;
    const int64_t within = blockIdx.x - group * AG_PRODUCT_GROUP * across;
    const int64_t row0 = (top + within % rows) * TILE, column0 = within / rows * TILE;

    Tile next_a((const S *)a.a + blockIdx.z * a.a_batch, a.a_row, a.a_inner, row0, a.m, a.conjugated & 1);
    Tile next_b((const S *)a.b + blockIdx.z * a.b_batch, a.b_column, a.b_inner, column0, a.n, a.conjugated & 2);
    C sum[EACH][EACH];
#pragma unroll
    for (int i = 0; i < EACH; i++)
#pragma unroll
        for (int j = 0; j < EACH; j++) sum[i][j] = M::zero();

    int64_t left_k = a.k, left_outer = a.k > 0 ? a.outer : 0; // from what was loaded on
    if (left_outer > 0) {
        next_a.load(left_k);
        next_b.load(left_k);
    }
    while (left_outer > 0) {
        next_a.store(left);
        next_b.store(right);
        __syncthreads();
        left_k -= DEPTH;
        next_a.p += next_a.on;
        next_b.p += next_b.on;
        if (left_k <= 0) {
            const int64_t back = (a.k - left_k) / DEPTH;
            next_a.p += a.a_outer - back * next_a.on;
            next_b.p += a.b_outer - back * next_b.on;
            left_k = a.k;
            left_outer--;
        }
        if (left_outer > 0) { // in flight while this part is multiplied
            next_a.load(left_k);
            next_b.load(left_k);
        }
#pragma unroll 2
        for (int z = 0; z < DEPTH; z++) {
            C x[EACH], y[EACH];
#pragma unroll
            for (int i = 0; i < EACH; i++) x[i] = left[z * Tile::WIDTH + i / 4 * APART + ty * 4 + i % 4];
#pragma unroll
            for (int j = 0; j < EACH; j++) y[j] = right[z * Tile::WIDTH + j / 4 * APART + tx * 4 + j % 4];
#pragma unroll
            for (int i = 0; i < EACH; i++)
#pragma unroll
                for (int j = 0; j < EACH; j++) sum[i][j] = M::add_product(sum[i][j], x[i], y[j]);
        }
        __syncthreads();
    }

    const int64_t place = blockIdx.z * a.c_batch, add_place = blockIdx.z * a.add_batch;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        const int64_t row = row0 + i / 4 * APART + ty * 4 + i % 4;
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            const int64_t column = column0 + j / 4 * APART + tx * 4 + j % 4;
            if (row < a.m && column < a.n)
                ag_finish<M>(a, sum[i][j], place + row * a.c_row + column * a.c_column,
                             add_place + row * a.add_row + column * a.add_column);
        }
    }
}

// --- a matrix and a vector ---------------------------------------------------------------------

// The value of the lane `apart` further on, word by word, for types of any size.
template <class C> __device__ __forceinline__ C ag_lane_below(C x, int apart) {
    constexpr int WORDS = sizeof(C) / 4;
    unsigned word[WORDS];
    memcpy(word, &x, sizeof(C));
#pragma unroll
    for (int i = 0; i < WORDS; i++) word[i] = __shfl_down_sync(0xffffffffu, word[i], apart);
    memcpy(&x, word, sizeof(C));
    return x;
}

// Sum of the 32 lanes of a warp, in lane 0.
template <class M> __device__ __forceinline__ typename M::computed ag_warp_sum(typename M::computed x) {
#pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) x = M::add(x, ag_lane_below(x, apart));
    return x;
}

template <class M>
__device__ __forceinline__ void ag_keep(const ag_vector_args &a, int64_t row, typename M::computed sum) {
    if (a.parts == 1) ag_finish<M>(a, sum, row * a.c_row, row * a.add_row);
    else ((typename M::computed *)a.partial)[blockIdx.y * a.m + row] = sum;
}

// The part of one row that a thread sums: elements `first`, `first + apart`, ... below `last`. Four
// sums hide the latency of loads.
template <class M>
__device__ __forceinline__ typename M::computed ag_row_sum(const ag_vector_args &a, int64_t row, int64_t first,
                                                           int64_t last, int64_t apart) {
    typedef typename M::stored S;
    typename M::computed sum[4] = {M::zero(), M::zero(), M::zero(), M::zero()};
    const S *pa = (const S *)a.a + row * a.a_row, *pb = (const S *)a.b;
    const bool conjugate_a = a.conjugated & 1, conjugate_b = a.conjugated & 2;
    int64_t i = first;
    for (; i + 3 * apart < last; i += 4 * apart)
#pragma unroll
        for (int u = 0; u < 4; u++) {
            const int64_t z = i + u * apart;
            sum[u] = M::add_product(sum[u], M::load(pa[z * a.a_inner], conjugate_a),
                                    M::load(pb[z * a.b_inner], conjugate_b));
        }
    for (; i < last; i += apart)
        sum[0] = M::add_product(sum[0], M::load(pa[i * a.a_inner], conjugate_a),
                                M::load(pb[i * a.b_inner], conjugate_b));
    return M::add(M::add(sum[0], sum[1]), M::add(sum[2], sum[3]));
}

// Threads along the inner dimension: a warp for each row, or a whole block of one row.
template <class M> __device__ __forceinline__ void ag_vector_rows(const ag_vector_args &a) {
    typedef typename M::computed C;
    __align__(16) __shared__ C warp[AG_PRODUCT_THREADS / 32];
    const int64_t row = (int64_t)blockIdx.x * blockDim.y + threadIdx.y, first = blockIdx.y * a.chunk;
    const int64_t last = first + a.chunk < a.k ? first + a.chunk : a.k;
    C sum = M::zero();
    if (row < a.m) sum = ag_row_sum<M>(a, row, first + threadIdx.x, last, blockDim.x);
    sum = ag_warp_sum<M>(sum);
    if (blockDim.x > 32) {
        if (threadIdx.x % 32 == 0) warp[threadIdx.x / 32] = sum;
        __syncthreads();
        if (threadIdx.x == 0)
            for (unsigned i = 1; i < blockDim.x / 32; i++) sum = M::add(sum, warp[i]);
    }
    if (threadIdx.x == 0 && row < a.m) ag_keep<M>(a, row, sum);
}

// A thread for each row, where rows lie side by side.
template <class M> __device__ __forceinline__ void ag_vector_columns(const ag_vector_args &a) {
    const int64_t row = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * a.chunk;
    const int64_t last = first + a.chunk < a.k ? first + a.chunk : a.k;
    if (row < a.m) ag_keep<M>(a, row, ag_row_sum<M>(a, row, first, last, 1));
}

// The second pass: a warp for each row sums its parts.
template <class M> __device__ __forceinline__ void ag_vector_finish(const ag_vector_args &a) {
    typedef typename M::computed C;
    const int64_t row = (int64_t)blockIdx.x * blockDim.y + threadIdx.y;
    C sum = M::zero();
    if (row < a.m)
        for (int64_t part = threadIdx.x; part < a.parts; part += 32)
            sum = M::add(sum, ((const C *)a.partial)[part * a.m + row]);
    sum = ag_warp_sum<M>(sum);
    if (threadIdx.x == 0 && row < a.m) ag_finish<M>(a, sum, row * a.c_row, row * a.add_row);
}

// --- kernels -----------------------------------------------------------------------------------

#define AG_PRODUCTS(T)                                                                             \
    AG_KERNEL_TOGETHER(product_##T, ag_product_args, AG_PRODUCT_THREADS) { ag_product<ag_of_##T, 64, 16>(a); } \
    AG_KERNEL_TOGETHER(vector_rows_##T, ag_vector_args, AG_PRODUCT_THREADS) { ag_vector_rows<ag_of_##T>(a); } \
    AG_KERNEL(vector_columns_##T, ag_vector_args) { ag_vector_columns<ag_of_##T>(a); }              \
    AG_KERNEL_TOGETHER(vector_finish_##T, ag_vector_args, AG_PRODUCT_THREADS) { ag_vector_finish<ag_of_##T>(a); }
// Of what is computed in float32, there is a larger tile. Two of its blocks fit on a multiprocessor.
#ifdef AG_ON_HOST
#define AG_PRODUCT_BOUNDS AG_PRODUCT_THREADS
#else
#define AG_PRODUCT_BOUNDS AG_PRODUCT_THREADS, 2
#endif
#define AG_LARGE_PRODUCT(T)                                                                        \
    AG_KERNEL_TOGETHER(product_large_##T, ag_product_args, AG_PRODUCT_BOUNDS) { ag_product<ag_of_##T, 128, 8>(a); }
