/* Moves of many short rows: rows of a few bytes that lie apart, and elements that are repeated.
 *
 * Rows are copied by pieces of fixed sizes that may overlap, so no call and no loop over elements is
 * needed for any of them. */
#ifndef AG_SHORT_ROWS_H
#define AG_SHORT_ROWS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* Rows of `bytes` bytes, from src + r * from to dst + r * to; nothing beyond them is touched. */
static inline void ag_move_rows(const char *src, ptrdiff_t from, char *dst, ptrdiff_t to,
                                ptrdiff_t rows, ptrdiff_t bytes) {
    ptrdiff_t r, k;
    /* the first and the last `size` bytes, which overlap where the row is shorter than both */
#define AG_ENDS(size)                                                                            \
    for (r = 0; r < rows; r++, src += from, dst += to) {                                         \
        char a[size], b[size];                                                                   \
        memcpy(a, src, size);                                                                    \
        memcpy(b, src + bytes - size, size);                                                     \
        memcpy(dst, a, size);                                                                    \
        memcpy(dst + bytes - size, b, size);                                                     \
    }
    if (bytes > 32) {
        for (r = 0; r < rows; r++, src += from, dst += to) {
            char a[16], b[16];
            for (k = 0; k + 32 < bytes; k += 32) {
                memcpy(a, src + k, 16);
                memcpy(b, src + k + 16, 16);
                memcpy(dst + k, a, 16);
                memcpy(dst + k + 16, b, 16);
            }
            memcpy(a, src + bytes - 32, 16);
            memcpy(b, src + bytes - 16, 16);
            memcpy(dst + bytes - 32, a, 16);
            memcpy(dst + bytes - 16, b, 16);
        }
    } else if (bytes >= 16) {
        AG_ENDS(16)
    } else if (bytes >= 8) {
        AG_ENDS(8)
    } else if (bytes >= 4) {
        AG_ENDS(4)
    } else if (bytes >= 2) {
        AG_ENDS(2)
    } else {
        for (r = 0; r < rows; r++, src += from, dst += to) *dst = *src;
    }
#undef AG_ENDS
}

/* Elements of strided rows: element k of row r from src + r * from + k * step, to dst + r * to +
 * k * out. */
static inline void ag_move_elements(const char *src, ptrdiff_t from, ptrdiff_t step, char *dst,
                                    ptrdiff_t to, ptrdiff_t out, ptrdiff_t rows, ptrdiff_t n,
                                    ptrdiff_t item) {
    ptrdiff_t r, k;
#define AG_EACH(size)                                                                            \
    case size:                                                                                   \
        for (r = 0; r < rows; r++, src += from, dst += to)                                       \
            for (k = 0; k < n; k++) memcpy(dst + k * out, src + k * step, size);                 \
        break;
    switch (item) {
        AG_EACH(1)
        AG_EACH(2)
        AG_EACH(4)
        AG_EACH(8)
        AG_EACH(16)
    }
#undef AG_EACH
}

/* Rows of one element, repeated: row r is `bytes` bytes at dst + r * bytes. Writes up to 15 bytes
 * behind the last row. */
static inline void ag_repeat_rows(const char *src, ptrdiff_t from, char *dst, ptrdiff_t rows,
                                  ptrdiff_t bytes, ptrdiff_t item) {
    ptrdiff_t r, k;
    /* 16 bytes of the element; a row begins with a whole one, and so do its further pieces */
#define AG_REPEAT(size, T, times)                                                                \
    case size:                                                                                   \
        for (r = 0; r < rows; r++, src += from, dst += bytes) {                                  \
            T x, v[times];                                                                       \
            memcpy(&x, src, size);                                                               \
            for (k = 0; k < times; k++) v[k] = x;                                                \
            memcpy(dst, v, 16);                                                                  \
            for (k = 16; k < bytes; k += 16) memcpy(dst + k, v, 16);                             \
        }                                                                                        \
        break;
    switch (item) {
        AG_REPEAT(1, uint8_t, 16)
        AG_REPEAT(2, uint16_t, 8)
        AG_REPEAT(4, uint32_t, 4)
        AG_REPEAT(8, uint64_t, 2)
    default:
        for (r = 0; r < rows; r++, src += from, dst += bytes)
            for (k = 0; k < bytes; k += 16) memcpy(dst + k, src, 16);
    }
#undef AG_REPEAT
}

#if defined(__SSE2__)
/* Squares of elements that fill 16 bytes, turned: row j from src + j * from to column j at dst. */
static inline void ag_turn_square_4(const char *src, ptrdiff_t from, char *dst, ptrdiff_t to) {
    const __m128 a = _mm_loadu_ps((const float *)src);
    const __m128 b = _mm_loadu_ps((const float *)(src + from));
    const __m128 c = _mm_loadu_ps((const float *)(src + 2 * from));
    const __m128 d = _mm_loadu_ps((const float *)(src + 3 * from));
    const __m128 ab0 = _mm_unpacklo_ps(a, b), cd0 = _mm_unpacklo_ps(c, d);
    const __m128 ab2 = _mm_unpackhi_ps(a, b), cd2 = _mm_unpackhi_ps(c, d);
    _mm_storeu_ps((float *)dst, _mm_movelh_ps(ab0, cd0));
    _mm_storeu_ps((float *)(dst + to), _mm_movehl_ps(cd0, ab0));
    _mm_storeu_ps((float *)(dst + 2 * to), _mm_movelh_ps(ab2, cd2));
    _mm_storeu_ps((float *)(dst + 3 * to), _mm_movehl_ps(cd2, ab2));
}
static inline void ag_turn_square_8(const char *src, ptrdiff_t from, char *dst, ptrdiff_t to) {
    const __m128d a = _mm_loadu_pd((const double *)src);
    const __m128d b = _mm_loadu_pd((const double *)(src + from));
    _mm_storeu_pd((double *)dst, _mm_unpacklo_pd(a, b));
    _mm_storeu_pd((double *)(dst + to), _mm_unpackhi_pd(a, b));
}
static inline void ag_turn_square_2(const char *src, ptrdiff_t from, char *dst, ptrdiff_t to) {
    __m128i a[8], b[8];
    int k;
    for (k = 0; k < 8; k++) a[k] = _mm_loadu_si128((const __m128i *)(src + k * from));
    for (k = 0; k < 4; k++) {
        b[2 * k] = _mm_unpacklo_epi16(a[2 * k], a[2 * k + 1]);
        b[2 * k + 1] = _mm_unpackhi_epi16(a[2 * k], a[2 * k + 1]);
    }
    for (k = 0; k < 2; k++) {
        a[4 * k] = _mm_unpacklo_epi32(b[4 * k], b[4 * k + 2]);
        a[4 * k + 1] = _mm_unpackhi_epi32(b[4 * k], b[4 * k + 2]);
        a[4 * k + 2] = _mm_unpacklo_epi32(b[4 * k + 1], b[4 * k + 3]);
        a[4 * k + 3] = _mm_unpackhi_epi32(b[4 * k + 1], b[4 * k + 3]);
    }
    for (k = 0; k < 4; k++) {
        _mm_storeu_si128((__m128i *)(dst + 2 * k * to), _mm_unpacklo_epi64(a[k], a[k + 4]));
        _mm_storeu_si128((__m128i *)(dst + (2 * k + 1) * to), _mm_unpackhi_epi64(a[k], a[k + 4]));
    }
}
#endif

/* Element j of row i from src + i * item + j * step, to dst + i * to + j * item. */
static inline void ag_turn_tile(const char *src, ptrdiff_t step, char *dst, ptrdiff_t to,
                                ptrdiff_t rows, ptrdiff_t n, ptrdiff_t item) {
    ptrdiff_t i, whole = 0, along = 0;
#if defined(__SSE2__)
    ptrdiff_t j;
#define AG_SQUARES(size)                                                                         \
    case size:                                                                                   \
        whole = rows / (16 / size) * (16 / size);                                                \
        along = n / (16 / size) * (16 / size);                                                   \
        for (i = 0; i < whole; i += 16 / size)                                                   \
            for (j = 0; j < along; j += 16 / size)                                               \
                ag_turn_square_##size(src + i * size + j * step, step, dst + i * to + j * size, to); \
        break;
    switch (item) {
        AG_SQUARES(2)
        AG_SQUARES(4)
        AG_SQUARES(8)
    }
#undef AG_SQUARES
#endif
    if (along < n)
        ag_move_elements(src + along * step, item, step, dst + along * item, to, item, whole,
                         n - along, item);
    for (i = whole; i < rows; i++)
        ag_move_elements(src + i * item, 0, step, dst + i * to, 0, item, 1, n, item);
}

#endif
