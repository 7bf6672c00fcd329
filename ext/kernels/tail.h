/* The last elements of a run, fewer than a block of lanes: in a buffer that is all vectors.
 *
 * Masks move them in one piece. A copy of the bytes would be stored in small parts, and a vector
 * that is loaded over several of these waits until all have reached the cache. */
#ifndef AG_TAIL_H
#define AG_TAIL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX512BW__) || defined(__AVX2__)
#include <immintrin.h>
#endif

#if defined(__AVX512BW__)
static inline __mmask64 ag_first_bytes(ptrdiff_t bytes) {
    return bytes >= 64 ? ~(__mmask64)0 : bytes <= 0 ? 0 : ((__mmask64)1 << bytes) - 1;
}
#elif defined(__AVX2__)
/* words before `bytes` */
static inline __m256i ag_first_words(ptrdiff_t bytes) {
    const __m256i word = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)(bytes / 4)), word);
}
#endif

/* `whole` bytes (64 or more are whole multiples of 32) of which `bytes` come from `from`, the rest
 * are zeros. */
static inline void ag_load_tail(char *to, const char *from, ptrdiff_t bytes, ptrdiff_t whole) {
    ptrdiff_t k = 0;
#if defined(__AVX512BW__)
    for (; k < whole; k += 64)
        _mm512_storeu_si512(to + k, _mm512_maskz_loadu_epi8(ag_first_bytes(bytes - k), from + k));
#else
#if defined(__AVX2__)
    if (bytes % 4 == 0) {
        for (; k < whole; k += 32)
            _mm256_storeu_si256((__m256i *)(to + k),
                                _mm256_maskload_epi32((const int *)(from + k),
                                                      ag_first_words(bytes - k)));
        return;
    }
#endif
    memcpy(to, from, (size_t)bytes);
    memset(to + bytes, 0, (size_t)(whole - bytes));
#endif
}

static inline void ag_store_tail(char *to, const char *from, ptrdiff_t bytes) {
#if defined(__AVX512BW__)
    ptrdiff_t k;
    for (k = 0; k < bytes; k += 64)
        _mm512_mask_storeu_epi8(to + k, ag_first_bytes(bytes - k), _mm512_loadu_si512(from + k));
#else
#if defined(__AVX2__)
    if (bytes % 4 == 0) {
        ptrdiff_t k;
        for (k = 0; k < bytes; k += 32)
            _mm256_maskstore_epi32((int *)(to + k), ag_first_words(bytes - k),
                                   _mm256_loadu_si256((const __m256i *)(from + k)));
        return;
    }
#endif
    memcpy(to, from, (size_t)bytes);
#endif
}

#endif
