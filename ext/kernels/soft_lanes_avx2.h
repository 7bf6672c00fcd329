/* Read by soft_lanes.h, which says what these functions do. Vectors of 32 bytes; exponentials with
 * the polynomials of scalar/exp_log.h, whose loops would need a buffer and three walks more.
 *
 * NaN is looked for only where it would get lost: _mm256_max passes it over, but it shows in the
 * exponentials, and so in their sum and in all that is scaled by it. */
#ifndef AG_SOFT_LANES_AVX2_H
#define AG_SOFT_LANES_AVX2_H

#include <immintrin.h>

#include "scalar/scalar.h"

/* Elements that are added in vectors before they are in double. */
#define AG_SOFT_BLOCK 256

#define AG_F(x) _mm256_set1_ps(x)
#define AG_D(x) _mm256_set1_pd(x)

AG_FN __m256 ag_soft_near_f32(__m256 r) {
    const __m256 r2 = _mm256_mul_ps(r, r);
    const __m256 a = _mm256_fmadd_ps(r, AG_F(0.16666539f), AG_F(0.49999997f));
    const __m256 b = _mm256_fmadd_ps(r, AG_F(0.00836707f), AG_F(0.0416677445f));
    const __m256 c = _mm256_fmadd_ps(r2, AG_F(0.00138390157f), b);
    return _mm256_fmadd_ps(r2, _mm256_fmadd_ps(r2, c, a), r);
}
AG_FN __m256d ag_soft_near_f64(__m256d r) {
    const __m256d r2 = _mm256_mul_pd(r, r), r4 = _mm256_mul_pd(r2, r2);
    const __m256d a = _mm256_fmadd_pd(r, AG_D(0.16666666666666677), AG_D(0.5));
    const __m256d b = _mm256_fmadd_pd(r, AG_D(0.0083333333333216082), AG_D(0.041666666666666505));
    const __m256d c = _mm256_fmadd_pd(r, AG_D(0.00019841269886207772), AG_D(0.0013888888888962906));
    const __m256d d = _mm256_fmadd_pd(r, AG_D(2.7557244104338579e-06), AG_D(2.4801587171833763e-05));
    const __m256d e = _mm256_fmadd_pd(r, AG_D(2.5109081355739706e-08), AG_D(2.7557402947651567e-07));
    const __m256d ab = _mm256_fmadd_pd(r2, b, a), cd = _mm256_fmadd_pd(r2, d, c);
    const __m256d ef = _mm256_fmadd_pd(r2, AG_D(2.087532649068639e-09), e);
    return _mm256_fmadd_pd(r2, _mm256_fmadd_pd(r4, _mm256_fmadd_pd(r4, ef, cd), ab), r);
}

AG_FN float ag_soft_fold_f32(__m256 v, const int best) {
    __m128 x = _mm256_castps256_ps128(v), y = _mm256_extractf128_ps(v, 1);
    x = best ? _mm_max_ps(x, y) : _mm_add_ps(x, y);
    y = _mm_movehl_ps(x, x);
    x = best ? _mm_max_ps(x, y) : _mm_add_ps(x, y);
    y = _mm_shuffle_ps(x, x, 1);
    return _mm_cvtss_f32(best ? _mm_max_ps(x, y) : _mm_add_ps(x, y));
}
AG_FN double ag_soft_fold_f64(__m256d v, const int best) {
    __m128d x = _mm256_castpd256_pd128(v), y = _mm256_extractf128_pd(v, 1);
    x = best ? _mm_max_pd(x, y) : _mm_add_pd(x, y);
    y = _mm_unpackhi_pd(x, x);
    return _mm_cvtsd_f64(best ? _mm_max_pd(x, y) : _mm_add_pd(x, y));
}

static const int32_t ag_soft_kept_f32[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
static const int64_t ag_soft_kept_f64[8] = {-1, -1, -1, -1};

/* T, ending of intrinsics, vector, elements in it, bits and first bit of the exponent; arguments
 * below which exponentials are 0, power that keeps subnormal ones exact until the last product,
 * arguments above which they are inf, and below which the power is needed */
#define AG_SOFT(T, S, V, W, E, MANTISSA, LEAST, LIFT, LOWER, MOST, SMALL)                          \
    /* exp(x) for x <= 0 or NaN */                                                               \
    AG_FN V ag_soft_exp_##T(V x) {                                                               \
        const V shift = _mm256_set1_##S(AG_SHIFT_##E);                                           \
        const V t = _mm256_max_##S(_mm256_set1_##S(LEAST), x);                                   \
        const V z = _mm256_fmadd_##S(t, _mm256_set1_##S(AG_SOFT_LOG2E_##E), shift);              \
        const V n = _mm256_sub_##S(z, shift);                                                    \
        const V r = _mm256_fnmadd_##S(n, _mm256_set1_##S(AG_LN2_LO_##E),                         \
                                      _mm256_fnmadd_##S(n, _mm256_set1_##S(AG_LN2_HI_##E), t));  \
        const V s = AG_SOFT_POWER_##E(_mm256_add_##S(z, _mm256_set1_##S(LIFT)), MANTISSA);       \
        return _mm256_mul_##S(_mm256_fmadd_##S(ag_soft_near_##T(r), s, s),                       \
                              _mm256_set1_##S(LOWER));                                           \
    }                                                                                            \
    /* exp(x) for any x; what is large takes half of its power at the end */                     \
    AG_FN V ag_soft_exp_any_##T(V x) {                                                           \
        const V shift = _mm256_set1_##S(AG_SHIFT_##E);                                           \
        const V t = _mm256_min_##S(_mm256_set1_##S(MOST), _mm256_max_##S(_mm256_set1_##S(LEAST), x));\
        const V z = _mm256_fmadd_##S(t, _mm256_set1_##S(AG_SOFT_LOG2E_##E), shift);              \
        const V n = _mm256_sub_##S(z, shift);                                                    \
        const V r = _mm256_fnmadd_##S(n, _mm256_set1_##S(AG_LN2_LO_##E),                         \
                                      _mm256_fnmadd_##S(n, _mm256_set1_##S(AG_LN2_HI_##E), t));  \
        const V small = _mm256_cmp_##S(t, _mm256_set1_##S(SMALL), _CMP_LT_OQ);                   \
        const V lift = _mm256_blendv_##S(_mm256_set1_##S(-1), _mm256_set1_##S(LIFT), small);     \
        const V lower = _mm256_blendv_##S(_mm256_set1_##S(2), _mm256_set1_##S(LOWER), small);    \
        const V s = AG_SOFT_POWER_##E(_mm256_add_##S(z, lift), MANTISSA);                        \
        return _mm256_mul_##S(_mm256_fmadd_##S(ag_soft_near_##T(r), s, s), lower);               \
    }                                                                                            \
    AG_FN __m256i ag_soft_mask_##T(ptrdiff_t n) {                                                \
        return _mm256_loadu_si256((const __m256i *)(ag_soft_kept_##T + W - n));                  \
    }                                                                                            \
    AG_FN V ag_soft_rest_##T(const ag_##T *p, __m256i mask, V other) {                           \
        return _mm256_blendv_##S(other, _mm256_maskload_##S(p, mask), _mm256_castsi256_##S(mask));\
    }                                                                                            \
    AG_FN_COLD void ag_soft_row_##T(int kind, const ag_##T *p, ptrdiff_t n, ag_##T *out) {       \
        const ptrdiff_t whole = n & -W;                                                          \
        const __m256i mask = ag_soft_mask_##T(n - whole);                                        \
        const V low = _mm256_set1_##S(-(ag_##T)INFINITY), none = _mm256_setzero_##S();           \
        V a = low, b = low, m, f;                                                                \
        double s = 0;                                                                            \
        ag_##T top;                                                                              \
        ptrdiff_t i = 0;                                                                         \
        for (; i + 2 * W <= n; i += 2 * W) {                                                     \
            a = _mm256_max_##S(_mm256_loadu_##S(p + i), a);                                      \
            b = _mm256_max_##S(_mm256_loadu_##S(p + i + W), b);                                  \
        }                                                                                        \
        if (i < whole) a = _mm256_max_##S(_mm256_loadu_##S(p + i), a);                           \
        if (whole < n) b = _mm256_max_##S(ag_soft_rest_##T(p + whole, mask, low), b);            \
        top = ag_soft_fold_##T(_mm256_max_##S(a, b), 1);                                         \
        if (kind == 2 && isinf(top)) {                                                           \
            for (i = 0; i < n; i++)                                                              \
                if (isnan(p[i])) top = (ag_##T)NAN;                                              \
            *out = top;                                                                          \
            return;                                                                              \
        }                                                                                        \
        m = _mm256_set1_##S(top);                                                                \
        for (i = 0; i < n;) {                                                                    \
            const ptrdiff_t stop = i + AG_SOFT_BLOCK < whole ? i + AG_SOFT_BLOCK : whole;        \
            a = b = none;                                                                        \
            for (; i + 2 * W <= stop; i += 2 * W) {                                              \
                const V x = ag_soft_exp_##T(_mm256_sub_##S(_mm256_loadu_##S(p + i), m));         \
                const V y = ag_soft_exp_##T(_mm256_sub_##S(_mm256_loadu_##S(p + i + W), m));     \
                if (kind == 0) {                                                                 \
                    _mm256_storeu_##S(out + i, x);                                               \
                    _mm256_storeu_##S(out + i + W, y);                                           \
                }                                                                                \
                a = _mm256_add_##S(a, x);                                                        \
                b = _mm256_add_##S(b, y);                                                        \
            }                                                                                    \
            if (i < stop) {                                                                      \
                const V x = ag_soft_exp_##T(_mm256_sub_##S(_mm256_loadu_##S(p + i), m));         \
                if (kind == 0) _mm256_storeu_##S(out + i, x);                                    \
                a = _mm256_add_##S(a, x);                                                        \
                i += W;                                                                          \
            }                                                                                    \
            if (i == whole) {                                                                    \
                if (whole < n) {                                                                 \
                    const V x = ag_soft_exp_##T(                                                 \
                        _mm256_sub_##S(_mm256_maskload_##S(p + i, mask), m));                    \
                    if (kind == 0) _mm256_maskstore_##S(out + i, mask, x);                       \
                    b = _mm256_add_##S(b, _mm256_and_##S(x, _mm256_castsi256_##S(mask)));        \
                }                                                                                \
                i = n;                                                                           \
            }                                                                                    \
            s += ag_soft_fold_##T(_mm256_add_##S(a, b), 0);                                      \
        }                                                                                        \
        if (kind == 0) {                                                                         \
            f = _mm256_set1_##S((ag_##T)(1 / s));                                                \
            for (i = 0; i < whole; i += W)                                                       \
                _mm256_storeu_##S(out + i, _mm256_mul_##S(_mm256_loadu_##S(out + i), f));        \
            if (whole < n)                                                                       \
                _mm256_maskstore_##S(                                                            \
                    out + i, mask, _mm256_mul_##S(_mm256_maskload_##S(out + i, mask), f));       \
            return;                                                                              \
        }                                                                                        \
        s = ag_log_##T((ag_##T)s);                                                               \
        if (kind == 2) {                                                                         \
            *out = top + (ag_##T)s;                                                              \
            return;                                                                              \
        }                                                                                        \
        f = _mm256_set1_##S((ag_##T)s);                                                          \
        for (i = 0; i < whole; i += W)                                                           \
            _mm256_storeu_##S(                                                                   \
                out + i, _mm256_sub_##S(_mm256_sub_##S(_mm256_loadu_##S(p + i), m), f));         \
        if (whole < n) {                                                                         \
            const V x = _mm256_sub_##S(_mm256_maskload_##S(p + i, mask), m);                     \
            _mm256_maskstore_##S(out + i, mask, _mm256_sub_##S(x, f));                           \
        }                                                                                        \
    }                                                                                            \
    AG_FN_COLD void ag_soft_back_row_##T(int kind, const ag_##T *g, const ag_##T *y,             \
                                         ptrdiff_t n, ag_##T *out) {                             \
        const ptrdiff_t whole = n & -W;                                                          \
        const __m256i mask = ag_soft_mask_##T(n - whole);                                        \
        V last = _mm256_setzero_##S(), factor = last, a, b, f;                                   \
        double s = 0;                                                                            \
        ptrdiff_t i = 0;                                                                         \
        if (whole < n) {                                                                         \
            last = _mm256_maskload_##S(g + whole, mask);                                         \
            factor = _mm256_maskload_##S(y + whole, mask);                                       \
        }                                                                                        \
        while (i < whole) {                                                                      \
            const ptrdiff_t stop = i + AG_SOFT_BLOCK < whole ? i + AG_SOFT_BLOCK : whole;        \
            a = b = _mm256_setzero_##S();                                                        \
            for (; i + 2 * W <= stop; i += 2 * W) {                                              \
                const V u = _mm256_loadu_##S(g + i), v = _mm256_loadu_##S(g + i + W);            \
                if (kind == 0) {                                                                 \
                    a = _mm256_fmadd_##S(u, _mm256_loadu_##S(y + i), a);                         \
                    b = _mm256_fmadd_##S(v, _mm256_loadu_##S(y + i + W), b);                     \
                } else {                                                                         \
                    a = _mm256_add_##S(a, u);                                                    \
                    b = _mm256_add_##S(b, v);                                                    \
                }                                                                                \
            }                                                                                    \
            if (i < stop) {                                                                      \
                const V u = _mm256_loadu_##S(g + i);                                             \
                a = kind == 0 ? _mm256_fmadd_##S(u, _mm256_loadu_##S(y + i), a)                  \
                              : _mm256_add_##S(a, u);                                            \
                i += W;                                                                          \
            }                                                                                    \
            s += ag_soft_fold_##T(_mm256_add_##S(a, b), 0);                                      \
        }                                                                                        \
        if (whole < n)                                                                           \
            s += ag_soft_fold_##T(kind == 0 ? _mm256_mul_##S(last, factor) : last, 0);           \
        f = _mm256_set1_##S((ag_##T)s);                                                          \
        if (kind == 0) {                                                                         \
            for (i = 0; i < whole; i += W) {                                                     \
                const V d = _mm256_sub_##S(_mm256_loadu_##S(g + i), f);                          \
                _mm256_storeu_##S(out + i, _mm256_mul_##S(_mm256_loadu_##S(y + i), d));          \
            }                                                                                    \
            if (whole < n)                                                                       \
                _mm256_maskstore_##S(out + i, mask,                                              \
                                     _mm256_mul_##S(factor, _mm256_sub_##S(last, f)));           \
            return;                                                                              \
        }                                                                                        \
        for (i = 0; i < whole; i += W) {                                                         \
            const V e = ag_soft_exp_any_##T(_mm256_loadu_##S(y + i));                            \
            _mm256_storeu_##S(out + i, _mm256_fnmadd_##S(e, f, _mm256_loadu_##S(g + i)));        \
        }                                                                                        \
        if (whole < n)                                                                           \
            _mm256_maskstore_##S(out + i, mask,                                                  \
                                 _mm256_fnmadd_##S(ag_soft_exp_any_##T(factor), f, last));       \
    }                                                                                            \
    /* One line of columns: s += exp(q - m), which goes to `out`, too, where there is one. m and  \
       s hold whole vectors. */                                                                  \
    AG_FN_COLD void ag_soft_line_##T(const ag_##T *q, const ag_##T *m, ag_##T *s, ag_##T *out,   \
                                     ptrdiff_t n) {                                              \
        ptrdiff_t i = 0;                                                                         \
        for (; i + W <= n; i += W) {                                                             \
            const V x = ag_soft_exp_##T(                                                         \
                _mm256_sub_##S(_mm256_loadu_##S(q + i), _mm256_loadu_##S(m + i)));               \
            _mm256_storeu_##S(s + i, _mm256_add_##S(_mm256_loadu_##S(s + i), x));                \
            if (out) _mm256_storeu_##S(out + i, x);                                              \
        }                                                                                        \
        if (i < n) {                                                                             \
            const __m256i mask = ag_soft_mask_##T(n - i);                                        \
            const V x = ag_soft_exp_##T(                                                         \
                _mm256_sub_##S(_mm256_maskload_##S(q + i, mask), _mm256_loadu_##S(m + i)));      \
            _mm256_maskstore_##S(s + i, mask, _mm256_add_##S(_mm256_loadu_##S(s + i), x));       \
            if (out) _mm256_maskstore_##S(out + i, mask, x);                                     \
        }                                                                                        \
    }                                                                                            \
    /* out = g - exp(y) s */                                                                     \
    AG_FN_COLD void ag_soft_back_line_##T(const ag_##T *g, const ag_##T *y, const ag_##T *s,     \
                                          ag_##T *out, ptrdiff_t n) {                            \
        ptrdiff_t i = 0;                                                                         \
        for (; i + W <= n; i += W) {                                                             \
            const V e = ag_soft_exp_any_##T(_mm256_loadu_##S(y + i));                            \
            _mm256_storeu_##S(out + i, _mm256_fnmadd_##S(e, _mm256_loadu_##S(s + i),             \
                                                         _mm256_loadu_##S(g + i)));              \
        }                                                                                        \
        if (i < n) {                                                                             \
            const __m256i mask = ag_soft_mask_##T(n - i);                                        \
            const V e = ag_soft_exp_any_##T(_mm256_maskload_##S(y + i, mask));                   \
            _mm256_maskstore_##S(out + i, mask,                                                  \
                                 _mm256_fnmadd_##S(e, _mm256_loadu_##S(s + i),                   \
                                                   _mm256_maskload_##S(g + i, mask)));           \
        }                                                                                        \
    }

#define AG_SOFT_LOG2E_F32 0x1.715476p+0f
#define AG_SOFT_LOG2E_F64 0x1.71547652b82fep+0
#define AG_SOFT_POWER_F32(z, bits)                                                               \
    _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(z), bits))
#define AG_SOFT_POWER_F64(z, bits)                                                               \
    _mm256_castsi256_pd(_mm256_slli_epi64(_mm256_castpd_si256(z), bits))
AG_SOFT(f32, ps, __m256, 8, F32, 23, -104.0f, 64.0f, 0x1p-64f, 89.0f, -80.0f)
AG_SOFT(f64, pd, __m256d, 4, F64, 52, -746.0, 128.0, 0x1p-128, 710.0, -700.0)
#undef AG_SOFT_LOG2E_F32
#undef AG_SOFT_LOG2E_F64
#undef AG_SOFT_POWER_F32
#undef AG_SOFT_POWER_F64
#undef AG_SOFT
#undef AG_F
#undef AG_D

#endif
