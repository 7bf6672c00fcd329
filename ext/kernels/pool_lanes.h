/* Pooling in channels last: channels are the lanes, and the elements of a window, whose places
 * are listed, go by in registers. */
#ifndef AG_POOL_LANES_H
#define AG_POOL_LANES_H

#include <math.h>

#include "scalar/scalar.h"

#if defined(__AVX512F__)
#define AG_POOL_BYTES 64
#elif defined(__AVX2__)
#define AG_POOL_BYTES 32
#else
#define AG_POOL_BYTES 16
#endif

/* For the n channels from p and out on:
 * ag_average: their sum over places, divided by count.
 * ag_largest: the first of the largest elements, or the last NaN, and its place; -inf has that of
 * place[0]. With `more` it goes on from what out and index hold. I is as wide as T. */
#define AG_POOL(T, I, W)                                                                         \
    typedef ag_##T ag_pool_##T __attribute__((vector_size(AG_POOL_BYTES), aligned(sizeof(ag_##T)), \
                                              may_alias));                                       \
    typedef I ag_pool_at_##T __attribute__((vector_size(AG_POOL_BYTES)));                        \
    typedef int64_t ag_pool_index_##T                                                            \
        __attribute__((vector_size(8 * W), aligned(8), may_alias));                              \
    AG_FN void ag_average_##T(const ag_##T *p, ptrdiff_t c, const int64_t *place,                \
                              ptrdiff_t places, ag_##T count, ag_##T *out, ptrdiff_t n) {        \
        ptrdiff_t i = 0;                                                                         \
        for (; i + 4 * W <= n; i += 4 * W) {                                                     \
            ag_pool_##T s = {0}, t = s, u = s, v = s;                                            \
            for (ptrdiff_t k = 0; k < places; k++) {                                             \
                const ag_pool_##T *q = (const ag_pool_##T *)(p + place[k] * c + i);              \
                s += q[0];                                                                       \
                t += q[1];                                                                       \
                u += q[2];                                                                       \
                v += q[3];                                                                       \
            }                                                                                    \
            ((ag_pool_##T *)(out + i))[0] = s / count;                                           \
            ((ag_pool_##T *)(out + i))[1] = t / count;                                           \
            ((ag_pool_##T *)(out + i))[2] = u / count;                                           \
            ((ag_pool_##T *)(out + i))[3] = v / count;                                           \
        }                                                                                        \
        for (; i + W <= n; i += W) {                                                             \
            ag_pool_##T s = {0};                                                                 \
            for (ptrdiff_t k = 0; k < places; k++)                                               \
                s += *(const ag_pool_##T *)(p + place[k] * c + i);                               \
            *(ag_pool_##T *)(out + i) = s / count;                                               \
        }                                                                                        \
        for (; i < n; i++) {                                                                     \
            ag_##T s = 0;                                                                        \
            for (ptrdiff_t k = 0; k < places; k++) s += p[place[k] * c + i];                     \
            out[i] = s / count;                                                                  \
        }                                                                                        \
    }                                                                                            \
    AG_FN void ag_largest_place_##T(const ag_##T *p, ptrdiff_t c, const int64_t *place,          \
                                    ptrdiff_t places, int more, ag_##T *out, int64_t *index,     \
                                    ptrdiff_t n) {                                               \
        ptrdiff_t i = 0;                                                                         \
        for (; i + W <= n; i += W) {                                                             \
            ag_pool_##T best = (ag_pool_##T){0} - (ag_##T)INFINITY;                              \
            ag_pool_at_##T at = (ag_pool_at_##T){0} + (I)place[0];                               \
            if (more) {                                                                          \
                best = *(ag_pool_##T *)(out + i);                                                \
                at = __builtin_convertvector(*(ag_pool_index_##T *)(index + i),                  \
                                             ag_pool_at_##T);                                    \
            }                                                                                    \
            for (ptrdiff_t k = 0; k < places; k++) {                                             \
                const ag_pool_##T x = *(const ag_pool_##T *)(p + place[k] * c + i);              \
                const ag_pool_at_##T wins = (x > best) | (x != x);                               \
                best = (ag_pool_##T)((wins & (ag_pool_at_##T)x) |                                \
                                     (~wins & (ag_pool_at_##T)best));                            \
                at = (wins & (I)place[k]) | (~wins & at);                                        \
            }                                                                                    \
            *(ag_pool_##T *)(out + i) = best;                                                    \
            *(ag_pool_index_##T *)(index + i) = __builtin_convertvector(at, ag_pool_index_##T);  \
        }                                                                                        \
        for (; i < n; i++) {                                                                     \
            ag_##T best = more ? out[i] : -(ag_##T)INFINITY;                                     \
            int64_t at = more ? index[i] : place[0];                                             \
            for (ptrdiff_t k = 0; k < places; k++) {                                             \
                const ag_##T x = p[place[k] * c + i];                                            \
                if ((x > best) | (x != x)) {                                                     \
                    best = x;                                                                    \
                    at = place[k];                                                               \
                }                                                                                \
            }                                                                                    \
            out[i] = best;                                                                       \
            index[i] = at;                                                                       \
        }                                                                                        \
    }
AG_POOL(f32, int32_t, (AG_POOL_BYTES / 4))
AG_POOL(f64, int64_t, (AG_POOL_BYTES / 8))
#undef AG_POOL

#endif
