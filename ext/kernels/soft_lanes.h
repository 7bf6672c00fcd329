/* Softmax of one row and its gradient by whole vectors, the last one masked: a row of a hundred
 * elements is a handful of vectors, and buffers, padding and calls would cost as much as the
 * exponentials. AVX-512 here, AVX2 in soft_lanes_avx2.h; elsewhere AG_HAS_SOFT is 0 and
 * row_loops/softmax.pxi does it.
 *
 * `kind` is one of S_SOFTMAX, S_LOG_SOFTMAX, S_LOGSUMEXP of row_loops.pxd; n > 0; `out` may be `p`
 * (`g`, `y`). */
#ifndef AG_SOFT_LANES_H
#define AG_SOFT_LANES_H

#include "scalar/scalar.h"

#if AG_HAS_WIDE
#define AG_HAS_SOFT 1
#define AG_HAS_SOFT_LINES 0

/* Elements that are added in vectors before they are in double. */
#define AG_SOFT_BLOCK 512

#define AG_SOFT(T, S, V, W)                                                                      \
    AG_FN_COLD void ag_soft_row_##T(int kind, const ag_##T *p, ptrdiff_t n, ag_##T *out) {       \
        const ptrdiff_t whole = n & -W;                                                          \
        const unsigned rest = (1u << (n - whole)) - 1;                                           \
        const V low = _mm512_set1_##S(-(ag_##T)INFINITY);                                        \
        V a = low, b = low, m, f;                                                                \
        unsigned bad = 0;                                                                        \
        double s = 0;                                                                            \
        ptrdiff_t i = 0;                                                                         \
        for (; i + 2 * W <= n; i += 2 * W) {                                                     \
            const V x = _mm512_loadu_##S(p + i), y = _mm512_loadu_##S(p + i + W);                \
            bad |= _mm512_cmp_##S##_mask(x, y, _CMP_UNORD_Q);                                    \
            a = _mm512_max_##S(x, a);                                                            \
            b = _mm512_max_##S(y, b);                                                            \
        }                                                                                        \
        if (i < whole) {                                                                         \
            const V x = _mm512_loadu_##S(p + i);                                                 \
            bad |= _mm512_cmp_##S##_mask(x, x, _CMP_UNORD_Q);                                    \
            a = _mm512_max_##S(x, a);                                                            \
        }                                                                                        \
        if (rest) {                                                                              \
            const V x = _mm512_mask_loadu_##S(low, rest, p + whole);                             \
            bad |= _mm512_cmp_##S##_mask(x, x, _CMP_UNORD_Q);                                    \
            b = _mm512_max_##S(x, b);                                                            \
        }                                                                                        \
        m = _mm512_set1_##S(_mm512_reduce_max_##S(_mm512_max_##S(a, b)));                        \
        if (__builtin_expect(bad, 0)) m = _mm512_set1_##S((ag_##T)NAN);                          \
        if (kind == 2 && isinf(ag_first_##S(m))) {                                             \
            *out = ag_first_##S(m);                                                            \
            return;                                                                              \
        }                                                                                        \
        for (i = 0; i < n;) {                                                                    \
            const ptrdiff_t stop = i + AG_SOFT_BLOCK < whole ? i + AG_SOFT_BLOCK : whole;        \
            a = b = _mm512_setzero_##S();                                                        \
            for (; i + 2 * W <= stop; i += 2 * W) {                                              \
                const V x = ag_exp_wide_##T(_mm512_sub_##S(_mm512_loadu_##S(p + i), m));         \
                const V y = ag_exp_wide_##T(_mm512_sub_##S(_mm512_loadu_##S(p + i + W), m));     \
                if (kind == 0) {                                                                 \
                    _mm512_storeu_##S(out + i, x);                                               \
                    _mm512_storeu_##S(out + i + W, y);                                           \
                }                                                                                \
                a = _mm512_add_##S(a, x);                                                        \
                b = _mm512_add_##S(b, y);                                                        \
            }                                                                                    \
            if (i < stop) {                                                                      \
                const V x = ag_exp_wide_##T(_mm512_sub_##S(_mm512_loadu_##S(p + i), m));         \
                if (kind == 0) _mm512_storeu_##S(out + i, x);                                    \
                a = _mm512_add_##S(a, x);                                                        \
                i += W;                                                                          \
            }                                                                                    \
            if (i == whole) {                                                                    \
                if (rest) {                                                                      \
                    const V x = ag_exp_wide_##T(                                                 \
                        _mm512_sub_##S(_mm512_maskz_loadu_##S(rest, p + i), m));                 \
                    if (kind == 0) _mm512_mask_storeu_##S(out + i, rest, x);                     \
                    b = _mm512_mask_add_##S(b, rest, b, x);                                      \
                }                                                                                \
                i = n;                                                                           \
            }                                                                                    \
            s += _mm512_reduce_add_##S(_mm512_add_##S(a, b));                                    \
        }                                                                                        \
        if (kind == 0) {                                                                         \
            f = _mm512_set1_##S((ag_##T)(1 / s));                                                \
            for (i = 0; i < whole; i += W)                                                       \
                _mm512_storeu_##S(out + i, _mm512_mul_##S(_mm512_loadu_##S(out + i), f));        \
            if (rest)                                                                            \
                _mm512_mask_storeu_##S(                                                          \
                    out + i, rest, _mm512_mul_##S(_mm512_maskz_loadu_##S(rest, out + i), f));    \
            return;                                                                              \
        }                                                                                        \
        f = ag_log_wide_##T(_mm512_set1_##S((ag_##T)s));                                         \
        if (kind == 2) {                                                                         \
            *out = ag_first_##S(_mm512_add_##S(m, f));                                         \
            return;                                                                              \
        }                                                                                        \
        for (i = 0; i < whole; i += W)                                                           \
            _mm512_storeu_##S(                                                                   \
                out + i, _mm512_sub_##S(_mm512_sub_##S(_mm512_loadu_##S(p + i), m), f));         \
        if (rest) {                                                                              \
            const V x = _mm512_sub_##S(_mm512_maskz_loadu_##S(rest, p + i), m);                  \
            _mm512_mask_storeu_##S(out + i, rest, _mm512_sub_##S(x, f));                         \
        }                                                                                        \
    }                                                                                            \
    AG_FN_COLD void ag_soft_back_row_##T(int kind, const ag_##T *g, const ag_##T *y,             \
                                         ptrdiff_t n, ag_##T *out) {                             \
        const ptrdiff_t whole = n & -W;                                                          \
        const unsigned rest = (1u << (n - whole)) - 1;                                           \
        const V last = _mm512_maskz_loadu_##S(rest, g + whole);                                  \
        const V factor = _mm512_maskz_loadu_##S(rest, y + whole);                                \
        V a = _mm512_setzero_##S(), b = a, f;                                                    \
        double s = 0;                                                                            \
        ptrdiff_t i = 0;                                                                         \
        while (i < whole) {                                                                      \
            const ptrdiff_t stop = i + AG_SOFT_BLOCK < whole ? i + AG_SOFT_BLOCK : whole;        \
            a = b = _mm512_setzero_##S();                                                        \
            for (; i + 2 * W <= stop; i += 2 * W) {                                              \
                const V u = _mm512_loadu_##S(g + i), v = _mm512_loadu_##S(g + i + W);            \
                if (kind == 0) {                                                                 \
                    a = _mm512_fmadd_##S(u, _mm512_loadu_##S(y + i), a);                         \
                    b = _mm512_fmadd_##S(v, _mm512_loadu_##S(y + i + W), b);                     \
                } else {                                                                         \
                    a = _mm512_add_##S(a, u);                                                    \
                    b = _mm512_add_##S(b, v);                                                    \
                }                                                                                \
            }                                                                                    \
            if (i < stop) {                                                                      \
                const V u = _mm512_loadu_##S(g + i);                                             \
                a = kind == 0 ? _mm512_fmadd_##S(u, _mm512_loadu_##S(y + i), a)                  \
                              : _mm512_add_##S(a, u);                                            \
                i += W;                                                                          \
            }                                                                                    \
            s += _mm512_reduce_add_##S(_mm512_add_##S(a, b));                                    \
        }                                                                                        \
        if (rest)                                                                                \
            s += _mm512_reduce_add_##S(kind == 0 ? _mm512_mul_##S(last, factor) : last);         \
        f = _mm512_set1_##S((ag_##T)s);                                                          \
        if (kind == 0) {                                                                         \
            for (i = 0; i < whole; i += W) {                                                     \
                const V d = _mm512_sub_##S(_mm512_loadu_##S(g + i), f);                          \
                _mm512_storeu_##S(out + i, _mm512_mul_##S(_mm512_loadu_##S(y + i), d));          \
            }                                                                                    \
            if (rest)                                                                            \
                _mm512_mask_storeu_##S(out + i, rest,                                            \
                                       _mm512_mul_##S(factor, _mm512_sub_##S(last, f)));         \
            return;                                                                              \
        }                                                                                        \
        for (i = 0; i < whole; i += W) {                                                         \
            const V e = ag_exp_wide_##T(_mm512_loadu_##S(y + i));                                \
            _mm512_storeu_##S(out + i, _mm512_fnmadd_##S(e, f, _mm512_loadu_##S(g + i)));        \
        }                                                                                        \
        if (rest)                                                                                \
            _mm512_mask_storeu_##S(out + i, rest,                                                \
                                   _mm512_fnmadd_##S(ag_exp_wide_##T(factor), f, last));         \
    }
#define ag_first_ps _mm512_cvtss_f32
#define ag_first_pd _mm512_cvtsd_f64
AG_SOFT(f32, ps, __m512, 16)
AG_SOFT(f64, pd, __m512d, 8)
#undef ag_first_ps
#undef ag_first_pd
#undef AG_SOFT
#elif defined(__AVX2__) && AG_HAS_FMA
#define AG_HAS_SOFT 1
#define AG_HAS_SOFT_LINES 1
#include "soft_lanes_avx2.h"
#else
#define AG_HAS_SOFT 0
#define AG_HAS_SOFT_LINES 0
#define ag_soft_row_f32(kind, p, n, out)
#define ag_soft_row_f64(kind, p, n, out)
#define ag_soft_back_row_f32(kind, g, y, n, out)
#define ag_soft_back_row_f64(kind, g, y, n, out)
#endif

#if !AG_HAS_SOFT_LINES
#define ag_soft_line_f32(q, m, s, out, n)
#define ag_soft_line_f64(q, m, s, out, n)
#define ag_soft_back_line_f32(g, y, s, out, n)
#define ag_soft_back_line_f64(g, y, s, out, n)
#endif

#endif
