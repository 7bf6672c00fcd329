/* Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw (2011): a key and a
 * 128-bit counter give four random words, with no state in between. Known answers are in
 * tests/tensor/test_random.py; what is made of the words is in random.h. */
#ifndef AG_SCALAR_PHILOX_H
#define AG_SCALAR_PHILOX_H

#include "config.h"

#define AG_PHILOX_M0 0xD2511F53u
#define AG_PHILOX_M1 0xCD9E8D57u
#define AG_PHILOX_W0 0x9E3779B9u
#define AG_PHILOX_W1 0xBB67AE85u

typedef struct { uint32_t w0, w1, w2, w3; } ag_philox_words;

/* Written out: a loop over the rounds would keep the loop over blocks from being vectorised. */
#define AG_PHILOX_ROUND(r) { \
    const uint64_t p0 = (uint64_t)c0 * AG_PHILOX_M0; \
    const uint64_t p1 = (uint64_t)c2 * AG_PHILOX_M1; \
    c0 = (uint32_t)(p1 >> 32) ^ c1 ^ (k0 + (r) * AG_PHILOX_W0); \
    c1 = (uint32_t)p1; \
    c2 = (uint32_t)(p0 >> 32) ^ c3 ^ (k1 + (r) * AG_PHILOX_W1); \
    c3 = (uint32_t)p0; }

AG_FN ag_philox_words ag_philox(uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3,
                                uint32_t k0, uint32_t k1) {
    ag_philox_words r;
    AG_PHILOX_ROUND(0u)
    AG_PHILOX_ROUND(1u)
    AG_PHILOX_ROUND(2u)
    AG_PHILOX_ROUND(3u)
    AG_PHILOX_ROUND(4u)
    AG_PHILOX_ROUND(5u)
    AG_PHILOX_ROUND(6u)
    AG_PHILOX_ROUND(7u)
    AG_PHILOX_ROUND(8u)
    AG_PHILOX_ROUND(9u)
    r.w0 = c0; r.w1 = c1; r.w2 = c2; r.w3 = c3;
    return r;
}

#endif
