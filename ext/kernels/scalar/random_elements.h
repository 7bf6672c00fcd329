/* One random element by itself: for kernels that give each element to a thread of its own, on any
 * device and in any geometry. Loops of the CPU draw 64 words at once (philox_lanes.h); both give the
 * same bits for the same seed.
 *
 * Which words belong to an element. A generator has a key (its seed) and a position, which counts
 * chunks. A chunk is 64 words: 16 blocks of Philox4x32-10, with the counters
 *
 *     16 * chunk + lane, lane = 0 ... 15     (64 bits; the upper half of the 128-bit counter is 0)
 *
 * and word k of lane l is word 16 * k + l of the chunk. A call that fills n elements, counted in C
 * order of the shape, begins at the position of its generator. It has `per_chunk` elements in a chunk,
 * 32 where an element takes two words (float64, integers), else 64 (AG_ELEMENTS_PER_CHUNK). Element e is
 *
 *     chunk = position + e / per_chunk,   r = e % per_chunk,
 *
 * and takes word r, or for two words, words r and 32 + r. They are of one block, as are those of a
 * normal pair: element r < per_chunk / 2 is the cosine and r + per_chunk / 2 the sine of the words r and
 * 32 + r (float32), or r, 16 + r, 32 + r and 48 + r (float64). A complex tensor is twice as many real
 * elements. Afterwards the position is that before plus (n + per_chunk - 1) / per_chunk: a kernel reads
 * key and position on the device, and moves the position on there after all its elements have read it.
 *
 * Each function takes the key, the position at the beginning and the number of the element. What the
 * numbers lo, width, top and so on are made of is in random_fills.pyx; half types are rounded from the
 * float (types.h). Nothing may be contracted to fused products: a seed gives the same bits everywhere. */
#ifndef AG_SCALAR_RANDOM_ELEMENTS_H
#define AG_SCALAR_RANDOM_ELEMENTS_H

#include "random.h"

#define AG_ELEMENTS_PER_CHUNK(two_words) ((two_words) ? 32 : 64)

/* The block of word `word` of a chunk. */
AG_FN ag_philox_words ag_chunk_block(uint64_t key, uint64_t chunk, uint32_t word) {
    return ag_philox((uint32_t)(chunk << 4) + (word & 15u), (uint32_t)(chunk >> 28), 0, 0,
                     (uint32_t)key, (uint32_t)(key >> 32));
}

/* The word of an element that takes one. */
AG_FN uint32_t ag_element_word(uint64_t key, uint64_t position, uint64_t e) {
    const uint32_t r = (uint32_t)(e & 63u);
    const ag_philox_words b = ag_chunk_block(key, position + (e >> 6), r);
    return r < 16u ? b.w0 : r < 32u ? b.w1 : r < 48u ? b.w2 : b.w3;
}

/* The words of an element that takes two. */
typedef struct { uint32_t w0, w1; } ag_word_pair;

AG_FN ag_word_pair ag_element_words(uint64_t key, uint64_t position, uint64_t e) {
    const uint32_t r = (uint32_t)(e & 31u);
    const ag_philox_words b = ag_chunk_block(key, position + (e >> 5), r);
    ag_word_pair w;
    w.w0 = r < 16u ? b.w0 : b.w1;
    w.w1 = r < 16u ? b.w2 : b.w3;
    return w;
}

/* --- uniform: lo + u * width, at most top ------------------------------------------------------ */

AG_FN float ag_element_uniform_f32(uint64_t key, uint64_t position, uint64_t e,
                                   float lo, float width, float top) {
    return ag_stretch_f32(ag_uniform_f32(ag_element_word(key, position, e)), lo, width, top);
}
AG_FN float ag_element_uniform_f16(uint64_t key, uint64_t position, uint64_t e,
                                   float lo, float width, float top) {
    return ag_stretch_f32(ag_uniform_f16(ag_element_word(key, position, e)), lo, width, top);
}
AG_FN float ag_element_uniform_bf16(uint64_t key, uint64_t position, uint64_t e,
                                    float lo, float width, float top) {
    return ag_stretch_f32(ag_uniform_bf16(ag_element_word(key, position, e)), lo, width, top);
}
AG_FN double ag_element_uniform_f64(uint64_t key, uint64_t position, uint64_t e,
                                    double lo, double width, double top) {
    const ag_word_pair w = ag_element_words(key, position, e);
    return ag_stretch_f64(ag_uniform_f64(w.w0, w.w1), lo, width, top);
}

/* --- normal; half types as float32 ------------------------------------------------------------- */

AG_FN float ag_element_normal_f32(uint64_t key, uint64_t position, uint64_t e,
                                  float mean, float std) {
    const uint32_t r = (uint32_t)(e & 31u);
    const ag_philox_words b = ag_chunk_block(key, position + (e >> 6), r);
    const ag_pair_f32 pair = ag_normal_pair_f32(r < 16u ? b.w0 : b.w1, r < 16u ? b.w2 : b.w3);
    return mean + std * ((e & 32u) ? pair.sin : pair.cos);
}
AG_FN double ag_element_normal_f64(uint64_t key, uint64_t position, uint64_t e,
                                   double mean, double std) {
    const ag_philox_words b = ag_chunk_block(key, position + (e >> 5), (uint32_t)(e & 15u));
    const ag_pair_f64 pair = ag_normal_pair_f64(b.w0, b.w1, b.w2, b.w3);
    return mean + std * ((e & 16u) ? pair.sin : pair.cos);
}

/* --- exponential: scale is 1 / rate -------------------------------------------------------------- */

AG_FN float ag_element_exponential_f32(uint64_t key, uint64_t position, uint64_t e, float scale) {
    return scale * ag_exponential_f32(ag_element_word(key, position, e));
}
AG_FN double ag_element_exponential_f64(uint64_t key, uint64_t position, uint64_t e, double scale) {
    const ag_word_pair w = ag_element_words(key, position, e);
    return scale * ag_exponential_f64(w.w0, w.w1);
}

/* --- ones with probability p --------------------------------------------------------------------- */

/* One probability for all: `threshold` is (uint64_t)(p * 2^32), from 0 to 2^32. */
AG_FN int ag_element_below(uint64_t key, uint64_t position, uint64_t e, uint64_t threshold) {
    return (uint64_t)ag_element_word(key, position, e) < threshold;
}
/* A probability of its own. */
AG_FN int ag_element_chance(uint64_t key, uint64_t position, uint64_t e, double p) {
    return (double)ag_element_word(key, position, e) < p * 4294967296.0;
}

/* --- integers from base on; a range of 0 stands for 2^64 ---------------------------------------- */

AG_FN int64_t ag_element_integer(uint64_t key, uint64_t position, uint64_t e,
                                 int64_t base, uint64_t range) {
    const ag_word_pair w = ag_element_words(key, position, e);
    return (int64_t)((uint64_t)base + ag_bounded(w.w0, w.w1, range));
}

/* --- permutations: Fisher and Yates' ------------------------------------------------------------
 * From 0, 1, ..., n - 1, element i changes places with element ag_element_place(..., n, i), for
 * i = n - 1 down to 1. They are n - 1 steps, but the position moves on by (n + 31) / 32. */

AG_FN int64_t ag_element_place(uint64_t key, uint64_t position, int64_t n, int64_t i) {
    const ag_word_pair w = ag_element_words(key, position, (uint64_t)(n - 1 - i));
    return (int64_t)ag_bounded(w.w0, w.w1, (uint64_t)i + 1);
}

#endif
