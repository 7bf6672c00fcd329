/* All bytes of a run put together by "or", by vectors: loops over single bytes are left as they are
 * at -O2, and a mask of NumPy's is looked through at each use. */
#ifndef AG_ALL_BYTES_H
#define AG_ALL_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint64_t ag_words __attribute__((vector_size(16)));

static inline uint8_t ag_all_bytes(const uint8_t *p, ptrdiff_t n) {
    ag_words a = {0, 0}, b = a, c = a, d = a, w[4];
    uint8_t bits = 0;
    uint64_t word;
    for (; n >= 64; n -= 64, p += 64) {
        memcpy(w, p, 64);
        a |= w[0];
        b |= w[1];
        c |= w[2];
        d |= w[3];
    }
    a = (a | b) | (c | d);
    word = a[0] | a[1];
    for (; n > 0; n--, p++) bits |= *p;
    for (int k = 0; k < 8; k++, word >>= 8) bits |= (uint8_t)word;
    return bits;
}

#endif
