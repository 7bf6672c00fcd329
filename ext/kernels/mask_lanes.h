/* How many bytes of a mask aren't 0, and where they are, by vectors of sixteen.
 *
 * Compilers do not find that bytes are counted in bytes, nor that a few bits are a row of a table. */
#ifndef AG_MASK_LANES_H
#define AG_MASK_LANES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

typedef uint8_t ag_bytes __attribute__((vector_size(16)));
typedef uint16_t ag_places __attribute__((vector_size(16)));

/* The positions of the bits of a byte, and how many there are; filled once. */
static uint16_t ag_bit_places[256][8];
static uint8_t ag_bit_count[256];

static void ag_fill_bits(void) {
    int byte, i;
    memset(ag_bit_places, 0, sizeof(ag_bit_places));
    memset(ag_bit_count, 0, sizeof(ag_bit_count));
    for (byte = 0; byte < 256; byte++)
        for (i = 0; i < 8; i++)
            if (byte >> i & 1) ag_bit_places[byte][ag_bit_count[byte]++] = (uint16_t)i;
}

static inline ptrdiff_t ag_count_true(const uint8_t *p, ptrdiff_t n) {
    ptrdiff_t i = 0, count = 0;
    while (i + 32 <= n) {
        ag_bytes a = {0}, b = {0}, x, y;
        ptrdiff_t some = (n - i) / 32;
        int j;
        if (some > 255) some = 255;
        for (; some; some--, i += 32) {
            memcpy(&x, p + i, 16);
            memcpy(&y, p + i + 16, 16);
            a -= (ag_bytes)(x != 0); /* what is true is -1 there */
            b -= (ag_bytes)(y != 0);
        }
        for (j = 0; j < 16; j++) count += a[j] + b[j];
    }
    for (; i < n; i++) count += p[i] != 0;
    return count;
}

/* Bit i: whether p[i] isn't 0, of sixteen. */
static inline unsigned ag_true_bits(const uint8_t *p) {
#if defined(__SSE2__)
    const __m128i x = _mm_loadu_si128((const __m128i *)p);
    return 0xFFFFu & ~(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_setzero_si128()));
#else
    unsigned bits = 0;
    int i;
    for (i = 0; i < 16; i++) bits |= (unsigned)(p[i] != 0) << i;
    return bits;
#endif
}

/* The positions of what is true among n < 65536 bytes, but for the last n % 16; returns how many there
 * are. `k` can hold eight more than n. No more than `most` are wanted: then it may end early. */
static inline ptrdiff_t ag_true_places(const uint8_t *p, ptrdiff_t n, uint16_t *k, ptrdiff_t most) {
    ptrdiff_t i, count = 0;
    for (i = 0; i + 16 <= n && count < most; i += 16) {
        const unsigned bits = ag_true_bits(p + i);
        const unsigned low = bits & 255, high = bits >> 8;
        ag_places at;
        if (!bits) continue;
        memcpy(&at, ag_bit_places[low], 16);
        at += (uint16_t)i;
        memcpy(k + count, &at, 16);
        count += ag_bit_count[low];
        memcpy(&at, ag_bit_places[high], 16);
        at += (uint16_t)(i + 8);
        memcpy(k + count, &at, 16);
        count += ag_bit_count[high];
    }
    return count;
}

#endif
