// Attention tile by tile, by an online softmax: no matrix of all scores is in memory, and the
// backward pass computes them again from the logarithms of their sums (arXiv 1805.02867,
// 2205.14135). Each element of a result is summed by one thread, in the order of the tiles.
//
// A block has 16 x 16 threads and tiles of 16 R x 16 R scores; thread (x, y) has those of rows y,
// y + 16, ... and of columns x, x + 16, ... It makes C columns of the result. Half types are read
// as float32.
#pragma once
#include "attention_arguments.h"
#include "reduction_operations.cuh"

// Loops over the depth of a tile: more at once would take more registers than there are.
#ifdef AG_ON_HOST
#define AG_SOME
#define AG_ATTENTION_BOUNDS AG_ATTENTION_THREADS
#else
#define AG_SOME _Pragma("unroll 4")
// One block of a multiprocessor is enough: kernels may have the registers that they want.
#define AG_ATTENTION_BOUNDS AG_ATTENTION_THREADS, 1
#endif

enum { AG_ROW_THREADS = 16, AG_DEPTH = 16, AG_PITCH = AG_DEPTH + 1 };

template <class T> AG_R T ag_fetch(const ag_heads &x, int64_t at);
template <> __device__ __forceinline__ double ag_fetch<double>(const ag_heads &x, int64_t at) {
    return ((const double *)x.at)[at];
}
template <> __device__ __forceinline__ float ag_fetch<float>(const ag_heads &x, int64_t at) {
    if (x.dt == AG_DT_F32) return ((const float *)x.at)[at];
    const ag_f16 bits = ((const ag_f16 *)x.at)[at];
    return x.dt == AG_DT_F16 ? ag_f16_to_f32(bits) : ag_bf16_to_f32(bits);
}
template <class T> AG_R void ag_leave(const ag_heads &x, int64_t at, T value) {
    const int size = x.dt == AG_DT_F64 ? 8 : x.dt == AG_DT_F32 ? 4 : 2;
    ag_store((char *)x.at + at * size, x.dt, value);
}

AG_R int64_t ag_head(const ag_heads &x, int64_t b, int64_t h) {
    return b * x.batch + h * x.head;
}

template <class T> AG_R T ag_logarithm(T x);
template <> __device__ __forceinline__ float ag_logarithm(float x) { return ag_log_f32(x); }
template <> __device__ __forceinline__ double ag_logarithm(double x) { return ag_log_f64(x); }

// Of the 16 threads that have the same rows, for all of them.
template <class T> AG_R T ag_row_sum(T x) {
    AG_UNROLL
    for (int lanes = AG_ROW_THREADS / 2; lanes; lanes >>= 1)
        x += __shfl_xor_sync(~0u, x, lanes);
    return x;
}
template <class T> AG_R T ag_row_largest(T x) {
    AG_UNROLL
    for (int lanes = AG_ROW_THREADS / 2; lanes; lanes >>= 1) {
        const T y = __shfl_xor_sync(~0u, x, lanes);
        x = y > x ? y : x;
    }
    return x;
}

// Which part of the work a block has, and where its memory is.
template <class T, int R, int C> struct ag_tile {
    enum {
        SIDE = 16 * R,
        LINE = SIDE + 1,
        OWN = C / 16,
        STAGED = 2 * SIDE * AG_PITCH > AG_DEPTH * C ? 2 * SIDE * AG_PITCH : AG_DEPTH * C
    };
    int x, y;

    __device__ __forceinline__ ag_tile() : x(threadIdx.x & 15), y(threadIdx.x >> 4) {}

    // Rows first ... of a head, and `size` columns from `column` on, to pitch AG_PITCH; 0 beyond.
    __device__ __forceinline__ void stage(T *to, const ag_heads &t, int64_t head, int64_t first,
                                          int64_t rows, int64_t column, int64_t size) const {
        AG_ROLLED
        for (int r = y; r < SIDE; r += 16) {
            const bool there = first + r < rows && column + x < size;
            to[r * AG_PITCH + x] =
                there ? ag_fetch<T>(t, head + (first + r) * t.row + (column + x) * t.column) : (T)0;
        }
    }

    // Products of rows i0 ... of one head and rows j0 ... of another.
    __device__ __forceinline__ void dots(T (&acc)[R][R], T *staged, const ag_heads &a,
                                         int64_t a_head, int64_t i0, int64_t rows,
                                         const ag_heads &b, int64_t b_head, int64_t j0,
                                         int64_t cols, int64_t size) const {
        T *const left = staged, *const right = staged + SIDE * AG_PITCH;
        AG_UNROLL
        for (int i = 0; i < R; i++) {
            AG_UNROLL
            for (int j = 0; j < R; j++) acc[i][j] = 0;
        }
        AG_ROLLED
        for (int64_t k0 = 0; k0 < size; k0 += AG_DEPTH) {
            __syncthreads();
            stage(left, a, a_head, i0, rows, k0, size);
            stage(right, b, b_head, j0, cols, k0, size);
            __syncthreads();
            AG_SOME
            for (int k = 0; k < AG_DEPTH; k++) {
                T l[R], r[R];
                AG_UNROLL
                for (int i = 0; i < R; i++) {
                    l[i] = left[(y + 16 * i) * AG_PITCH + k];
                    r[i] = right[(x + 16 * i) * AG_PITCH + k];
                }
                AG_UNROLL
                for (int i = 0; i < R; i++) {
                    AG_UNROLL
                    for (int j = 0; j < R; j++) acc[i][j] += l[i] * r[j];
                }
            }
        }
    }

    // acc += w @ b, or with TURNED w.T @ b, of a tile w and the rows j0 ... of a head, columns
    // c0 ... of `size`.
    template <bool TURNED>
    __device__ __forceinline__ void add(T (&acc)[R][OWN], const T *w, T *staged, const ag_heads &b,
                                        int64_t head, int64_t j0, int64_t rows, int64_t c0,
                                        int64_t size) const {
        AG_ROLLED
        for (int k0 = 0; k0 < SIDE && j0 + k0 < rows; k0 += AG_DEPTH) {
            __syncthreads();
            const int64_t row = j0 + k0 + y;
            AG_UNROLL
            for (int o = 0; o < OWN; o++) {
                const int64_t c = c0 + x + 16 * o;
                const bool there = row < rows && c < size;
                staged[y * C + x + 16 * o] =
                    there ? ag_fetch<T>(b, head + row * b.row + c * b.column) : (T)0;
            }
            __syncthreads();
            AG_SOME
            for (int k = 0; k < AG_DEPTH; k++) {
                T l[R];
                AG_UNROLL
                for (int i = 0; i < R; i++)
                    l[i] = w[TURNED ? (k0 + k) * LINE + y + 16 * i : (y + 16 * i) * LINE + k0 + k];
                AG_UNROLL
                for (int o = 0; o < OWN; o++) {
                    const T r = staged[k * C + x + 16 * o];
                    AG_UNROLL
                    for (int i = 0; i < R; i++) acc[i][o] += l[i] * r;
                }
            }
        }
    }

    // Scores from products: scaled, with the mask, and -infinity where nothing is seen.
    __device__ __forceinline__ void hide(T (&s)[R][R], const ag_attention_args &a, int64_t b,
                                         int64_t h, int64_t i0, int64_t j0) const {
        const int64_t base = b * a.mask_step[0] + h * a.mask_step[1];
        AG_UNROLL
        for (int i = 0; i < R; i++) {
            const int64_t row = i0 + y + 16 * i;
            AG_UNROLL
            for (int j = 0; j < R; j++) {
                const int64_t col = j0 + x + 16 * j;
                const int64_t at = base + row * a.mask_step[2] + col * a.mask_step[3];
                bool seen = row < a.rows && col < a.cols && !(a.causal && col > row);
                s[i][j] *= (T)a.scale;
                if (seen && a.mask) {
                    if (a.truth)
                        seen = ((const uint8_t *)a.mask)[at] != 0;
                    else
                        s[i][j] += ((const T *)a.mask)[at];
                }
                if (!seen) s[i][j] = ag_lowest<T>::make();
            }
        }
    }

    // Weights, or their gradients, times the mask of dropout.
    __device__ __forceinline__ void drop(T (&s)[R][R], const ag_attention_args &a, int64_t b,
                                         int64_t h, int64_t i0, int64_t j0) const {
        if (!a.dropped) return;
        const T *const factors = (const T *)a.dropped + (b * a.heads + h) * a.rows * a.cols;
        AG_UNROLL
        for (int i = 0; i < R; i++) {
            const int64_t row = i0 + y + 16 * i;
            AG_UNROLL
            for (int j = 0; j < R; j++) {
                const int64_t col = j0 + x + 16 * j;
                if (row < a.rows && col < a.cols) s[i][j] *= factors[row * a.cols + col];
            }
        }
    }

    __device__ __forceinline__ void keep(T *w, const T (&s)[R][R]) const {
        AG_UNROLL
        for (int i = 0; i < R; i++) {
            AG_UNROLL
            for (int j = 0; j < R; j++) w[(y + 16 * i) * LINE + x + 16 * j] = s[i][j];
        }
    }
};

template <class T, int N, int M> AG_R void ag_clear(T (&acc)[N][M]) {
    AG_UNROLL
    for (int i = 0; i < N; i++) {
        AG_UNROLL
        for (int j = 0; j < M; j++) acc[i][j] = 0;
    }
}

// --- forward -------------------------------------------------------------------------------------

template <class T, int R, int C> AG_R void ag_attention_forward(const ag_attention_args &a) {
    typedef ag_tile<T, R, C> Tile;
    __shared__ T staged[Tile::STAGED], weights[Tile::SIDE * Tile::LINE];
    const Tile t;
    const int64_t tiles = (a.rows + Tile::SIDE - 1) / Tile::SIDE, c0 = (int64_t)blockIdx.y * C;
    AG_ROLLED
    for (int64_t tile = blockIdx.x; tile < tiles * a.batch * a.heads; tile += gridDim.x) {
        const int64_t bh = tile / tiles, i0 = tile % tiles * Tile::SIDE;
        const int64_t b = bh / a.heads, h = bh % a.heads, shared = h / a.shared;
        const int64_t q = ag_head(a.q, b, h);
        const int64_t k = ag_head(a.k, b, shared), v = ag_head(a.v, b, shared);
        T acc[R][Tile::OWN], top[R], total[R];
        ag_clear(acc);
        AG_UNROLL
        for (int i = 0; i < R; i++) {
            top[i] = ag_lowest<T>::make();
            total[i] = 0;
        }
        AG_ROLLED
        for (int64_t j0 = 0; j0 < a.cols && !(a.causal && j0 >= i0 + Tile::SIDE);
             j0 += Tile::SIDE) {
            T s[R][R];
            t.dots(s, staged, a.q, q, i0, a.rows, a.k, k, j0, a.cols, a.width);
            t.hide(s, a, b, h, i0, j0);
            AG_UNROLL
            for (int i = 0; i < R; i++) {
                T largest = top[i], sum = 0; // a NaN is no largest one
                AG_UNROLL
                for (int j = 0; j < R; j++) largest = s[i][j] > largest ? s[i][j] : largest;
                largest = ag_row_largest(largest);
                const T before = top[i], now = largest;
                const bool nothing = now == ag_lowest<T>::make();
                AG_UNROLL
                for (int j = 0; j < R; j++) {
                    const T x = s[i][j];
                    s[i][j] = nothing ? (x == x ? (T)0 : x) : ag_exponential(x - now);
                    sum += s[i][j];
                }
                const T factor = now == before || before == ag_lowest<T>::make()
                                     ? (T)1
                                     : ag_exponential(before - now);
                total[i] = total[i] * factor + ag_row_sum(sum);
                top[i] = now;
                AG_UNROLL
                for (int o = 0; o < Tile::OWN; o++) acc[i][o] *= factor;
            }
            t.drop(s, a, b, h, i0, j0);
            __syncthreads();
            t.keep(weights, s);
            t.template add<false>(acc, weights, staged, a.v, v, j0, a.cols, c0, a.deep);
        }
        AG_UNROLL
        for (int i = 0; i < R; i++) {
            const int64_t row = i0 + t.y + 16 * i, place = bh * a.rows + row;
            const T scale = total[i] == 0 ? (T)0 : 1 / total[i];
            if (row >= a.rows) continue;
            if (t.x == 0 && c0 == 0)
                ((T *)a.lse)[place] = total[i] == 0 ? (T)0 : top[i] + ag_logarithm(total[i]);
            AG_UNROLL
            for (int o = 0; o < Tile::OWN; o++) {
                const int64_t c = c0 + t.x + 16 * o;
                // A row that saw nothing is zero.
                const T value = total[i] == 0 ? (T)0 : acc[i][o] * scale;
                if (c >= a.deep) continue;
                ag_leave(a.out, ag_head(a.out, b, h) + row * a.out.row + c * a.out.column, value);
                if (a.exact) ((T *)a.exact)[place * a.deep + c] = value;
            }
        }
    }
}

// --- backward ------------------------------------------------------------------------------------

// Products become weights p, and `d`, gradients of weights, those of the scores.
template <class T, int R>
AG_R void ag_weigh(T (&s)[R][R], T (&d)[R][R], const T (&lse)[R], const T (&shift)[R]) {
    AG_UNROLL
    for (int i = 0; i < R; i++) {
        AG_UNROLL
        for (int j = 0; j < R; j++) {
            s[i][j] = s[i][j] == ag_lowest<T>::make() ? (T)0 : ag_exponential(s[i][j] - lse[i]);
            d[i][j] = s[i][j] * (d[i][j] - shift[i]);
        }
    }
}

// Of queries. It leaves the shifts of all rows, gradient times result, for the other pass.
template <class T, int R, int C> AG_R void ag_attention_queries(const ag_attention_args &a) {
    typedef ag_tile<T, R, C> Tile;
    __shared__ T staged[Tile::STAGED], weights[Tile::SIDE * Tile::LINE];
    __shared__ T of_rows[2][Tile::SIDE]; // logarithms and shifts
    const Tile t;
    const int64_t tiles = (a.rows + Tile::SIDE - 1) / Tile::SIDE, c0 = (int64_t)blockIdx.y * C;
    AG_ROLLED
    for (int64_t tile = blockIdx.x; tile < tiles * a.batch * a.heads; tile += gridDim.x) {
        const int64_t bh = tile / tiles, i0 = tile % tiles * Tile::SIDE;
        const int64_t b = bh / a.heads, h = bh % a.heads, shared = h / a.shared;
        const int64_t q = ag_head(a.q, b, h);
        const int64_t k = ag_head(a.k, b, shared), v = ag_head(a.v, b, shared);
        const int64_t grad = ag_head(a.grad, b, h), out = ag_head(a.out, b, h);
        T acc[R][Tile::OWN];
        ag_clear(acc);
        AG_UNROLL
        for (int i = 0; i < R; i++) {
            const int64_t row = i0 + t.y + 16 * i;
            T sum = 0;
            AG_ROLLED
            for (int64_t c = t.x; row < a.rows && c < a.deep; c += 16)
                sum += ag_fetch<T>(a.grad, grad + row * a.grad.row + c * a.grad.column)
                     * ag_fetch<T>(a.out, out + row * a.out.row + c * a.out.column);
            sum = ag_row_sum(sum);
            if (t.x) continue;
            const bool there = row < a.rows;
            of_rows[0][t.y + 16 * i] = there ? ((const T *)a.lse)[bh * a.rows + row] : (T)0;
            of_rows[1][t.y + 16 * i] = sum;
            if (there && c0 == 0) ((T *)a.shift)[bh * a.rows + row] = sum;
        }
        AG_ROLLED
        for (int64_t j0 = 0; j0 < a.cols && !(a.causal && j0 >= i0 + Tile::SIDE);
             j0 += Tile::SIDE) {
            T s[R][R], d[R][R], lse[R], shift[R];
            t.dots(s, staged, a.q, q, i0, a.rows, a.k, k, j0, a.cols, a.width);
            t.dots(d, staged, a.grad, grad, i0, a.rows, a.v, v, j0, a.cols, a.deep);
            t.hide(s, a, b, h, i0, j0);
            t.drop(d, a, b, h, i0, j0);
            AG_UNROLL
            for (int i = 0; i < R; i++) {
                lse[i] = of_rows[0][t.y + 16 * i];
                shift[i] = of_rows[1][t.y + 16 * i];
            }
            ag_weigh(s, d, lse, shift);
            __syncthreads();
            t.keep(weights, d);
            t.template add<false>(acc, weights, staged, a.k, k, j0, a.cols, c0, a.width);
        }
        AG_UNROLL
        for (int i = 0; i < R; i++) {
            const int64_t row = i0 + t.y + 16 * i;
            AG_UNROLL
            for (int o = 0; o < Tile::OWN; o++) {
                const int64_t c = c0 + t.x + 16 * o;
                if (row < a.rows && c < a.width)
                    ag_leave(a.dq, ag_head(a.dq, b, h) + row * a.dq.row + c * a.dq.column,
                             acc[i][o] * (T)a.scale);
            }
        }
    }
}

// Of keys and values.
template <class T, int R, int C> AG_R void ag_attention_keys(const ag_attention_args &a) {
    typedef ag_tile<T, R, C> Tile;
    __shared__ T staged[Tile::STAGED], weights[Tile::SIDE * Tile::LINE],
        changes[Tile::SIDE * Tile::LINE];
    const Tile t;
    const int64_t tiles = (a.cols + Tile::SIDE - 1) / Tile::SIDE, c0 = (int64_t)blockIdx.y * C;
    const int64_t heads = a.heads / a.shared;
    AG_ROLLED
    for (int64_t tile = blockIdx.x; tile < tiles * a.batch * heads; tile += gridDim.x) {
        const int64_t bh = tile / tiles, j0 = tile % tiles * Tile::SIDE;
        const int64_t b = bh / heads, own = bh % heads;
        const int64_t k = ag_head(a.k, b, own), v = ag_head(a.v, b, own);
        T dk[R][Tile::OWN], dv[R][Tile::OWN];
        ag_clear(dk);
        ag_clear(dv);
        AG_ROLLED
        for (int64_t h = own * a.shared; h < (own + 1) * a.shared; h++) {
            const int64_t q = ag_head(a.q, b, h), grad = ag_head(a.grad, b, h);
            AG_ROLLED
            for (int64_t i0 = a.causal ? j0 : 0; i0 < a.rows; i0 += Tile::SIDE) {
                T s[R][R], d[R][R], lse[R], shift[R];
                t.dots(s, staged, a.q, q, i0, a.rows, a.k, k, j0, a.cols, a.width);
                t.dots(d, staged, a.grad, grad, i0, a.rows, a.v, v, j0, a.cols, a.deep);
                t.hide(s, a, b, h, i0, j0);
                t.drop(d, a, b, h, i0, j0);
                AG_UNROLL
                for (int i = 0; i < R; i++) {
                    const int64_t row = i0 + t.y + 16 * i;
                    const int64_t place = (b * a.heads + h) * a.rows + row;
                    lse[i] = row < a.rows ? ((const T *)a.lse)[place] : (T)0;
                    shift[i] = row < a.rows ? ((const T *)a.shift)[place] : (T)0;
                }
                ag_weigh(s, d, lse, shift);
                t.drop(s, a, b, h, i0, j0);
                __syncthreads();
                t.keep(weights, s);
                t.keep(changes, d);
                t.template add<true>(dv, weights, staged, a.grad, grad, i0, a.rows, c0, a.deep);
                t.template add<true>(dk, changes, staged, a.q, q, i0, a.rows, c0, a.width);
            }
        }
        AG_UNROLL
        for (int j = 0; j < R; j++) {
            const int64_t row = j0 + t.y + 16 * j;
            AG_UNROLL
            for (int o = 0; o < Tile::OWN; o++) {
                const int64_t c = c0 + t.x + 16 * o;
                if (row < a.cols && c < a.width)
                    ag_leave(a.dk, ag_head(a.dk, b, own) + row * a.dk.row + c * a.dk.column,
                             dk[j][o] * (T)a.scale);
                if (row < a.cols && c < a.deep)
                    ag_leave(a.dv, ag_head(a.dv, b, own) + row * a.dv.row + c * a.dv.column,
                             dv[j][o]);
            }
        }
    }
}
