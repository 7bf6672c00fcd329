/* Sums of runs that normalisation needs, in several vectors of accumulators (see lanes.h). */
#ifndef AG_NORM_LANES_H
#define AG_NORM_LANES_H

#include <stddef.h>

#include "lanes.h"

#define AG_NORM_SUMS(T)                                                                          \
    AG_FN ag_lanes_##T ag_norm_all_##T(ag_##T x) {                                               \
        ag_lanes_##T v;                                                                          \
        for (int k = 0; k < (int)(32 / sizeof(ag_##T)); k++) v[k] = x;                           \
        return v;                                                                                \
    }                                                                                            \
    AG_FN double ag_norm_total_##T(ag_lanes_##T v) {                                             \
        double s = 0;                                                                            \
        for (int k = 0; k < (int)(32 / sizeof(ag_##T)); k++) s += v[k];                          \
        return s;                                                                                \
    }                                                                                            \
    /* Sum of n elements. */                                                                     \
    AG_FN double ag_norm_sum_##T(const ag_##T *p, ptrdiff_t n) {                                 \
        const ptrdiff_t width = 32 / sizeof(ag_##T), m = n / width;                              \
        const ag_lanes_##T *u = (const ag_lanes_##T *)p;                                         \
        ag_lanes_##T a = {0}, b = {0}, c = {0}, d = {0};                                         \
        ptrdiff_t i = 0;                                                                         \
        for (; i + 4 <= m; i += 4) {                                                             \
            a += u[i];                                                                           \
            b += u[i + 1];                                                                       \
            c += u[i + 2];                                                                       \
            d += u[i + 3];                                                                       \
        }                                                                                        \
        for (; i < m; i++) a += u[i];                                                            \
        double s = ag_norm_total_##T((a + b) + (c + d));                                         \
        for (i = m * width; i < n; i++) s += p[i];                                               \
        return s;                                                                                \
    }                                                                                            \
    /* Sum of (x - mean)**2. */                                                                  \
    AG_FN double ag_norm_deviation_##T(const ag_##T *p, ptrdiff_t n, ag_##T mean) {              \
        const ptrdiff_t width = 32 / sizeof(ag_##T), m = n / width;                              \
        const ag_lanes_##T *u = (const ag_lanes_##T *)p;                                         \
        const ag_lanes_##T centre = ag_norm_all_##T(mean);                                       \
        ag_lanes_##T a = {0}, b = {0}, c = {0}, d = {0}, x, y, z, w;                             \
        ptrdiff_t i = 0;                                                                         \
        for (; i + 4 <= m; i += 4) {                                                             \
            x = u[i] - centre;                                                                   \
            y = u[i + 1] - centre;                                                               \
            z = u[i + 2] - centre;                                                               \
            w = u[i + 3] - centre;                                                               \
            a = AG_FMA(T, 32)(x, x, a);                                                          \
            b = AG_FMA(T, 32)(y, y, b);                                                          \
            c = AG_FMA(T, 32)(z, z, c);                                                          \
            d = AG_FMA(T, 32)(w, w, d);                                                          \
        }                                                                                        \
        for (; i < m; i++) {                                                                     \
            x = u[i] - centre;                                                                   \
            a = AG_FMA(T, 32)(x, x, a);                                                          \
        }                                                                                        \
        double s = ag_norm_total_##T((a + b) + (c + d));                                         \
        for (i = m * width; i < n; i++) {                                                        \
            const double t = p[i] - mean;                                                        \
            s = ag_fma_f64(t, t, s);                                                             \
        }                                                                                        \
        return s;                                                                                \
    }                                                                                            \
    /* Sums of g w and of g w (x - mean); w may be NULL. */                                      \
    AG_FN void ag_norm_dots_##T(const ag_##T *g, const ag_##T *p, const ag_##T *w, ptrdiff_t n,  \
                                ag_##T mean, double *sums) {                                     \
        const ptrdiff_t width = 32 / sizeof(ag_##T), m = n / width;                              \
        const ag_lanes_##T *u = (const ag_lanes_##T *)p, *h = (const ag_lanes_##T *)g;           \
        const ag_lanes_##T *v = (const ag_lanes_##T *)w;                                         \
        const ag_lanes_##T centre = ag_norm_all_##T(mean);                                       \
        ag_lanes_##T a = {0}, b = {0}, c = {0}, d = {0}, x, y;                                   \
        ptrdiff_t i = 0;                                                                         \
        if (w == NULL) {                                                                         \
            for (; i + 2 <= m; i += 2) {                                                         \
                x = h[i];                                                                        \
                y = h[i + 1];                                                                    \
                a += x;                                                                          \
                b += y;                                                                          \
                c = AG_FMA(T, 32)(x, u[i] - centre, c);                                          \
                d = AG_FMA(T, 32)(y, u[i + 1] - centre, d);                                      \
            }                                                                                    \
            for (; i < m; i++) {                                                                 \
                a += h[i];                                                                       \
                c = AG_FMA(T, 32)(h[i], u[i] - centre, c);                                       \
            }                                                                                    \
        } else {                                                                                 \
            for (; i + 2 <= m; i += 2) {                                                         \
                x = h[i] * v[i];                                                                 \
                y = h[i + 1] * v[i + 1];                                                         \
                a += x;                                                                          \
                b += y;                                                                          \
                c = AG_FMA(T, 32)(x, u[i] - centre, c);                                          \
                d = AG_FMA(T, 32)(y, u[i + 1] - centre, d);                                      \
            }                                                                                    \
            for (; i < m; i++) {                                                                 \
                x = h[i] * v[i];                                                                 \
                a += x;                                                                          \
                c = AG_FMA(T, 32)(x, u[i] - centre, c);                                          \
            }                                                                                    \
        }                                                                                        \
        sums[0] = ag_norm_total_##T(a + b);                                                      \
        sums[1] = ag_norm_total_##T(c + d);                                                      \
        for (i = m * width; i < n; i++) {                                                        \
            const double t = w == NULL ? g[i] : g[i] * w[i];                                     \
            sums[0] += t;                                                                        \
            sums[1] = ag_fma_f64(t, p[i] - mean, sums[1]);                                       \
        }                                                                                        \
    }
AG_NORM_SUMS(f32)
AG_NORM_SUMS(f64)
#undef AG_NORM_SUMS

#endif
