/* Runs of float16 or bfloat16 widened to float32 and narrowed, for loops that compute in it. */
#ifndef AG_HALVES_H
#define AG_HALVES_H

#include <stddef.h>

#include "each.h"
#include "scalar/scalar.h"

AG_FN void ag_widen(int is_f16, const uint16_t *p, float *out, ptrdiff_t n) {
    if (is_f16)
        ag_run_f16_f32(p, out, n);
    else
        for (ptrdiff_t i = 0; i < n; i++) out[i] = ag_bf16_to_f32(p[i]);
}

AG_FN uint16_t ag_narrow(int is_f16, float x) {
    return is_f16 ? ag_f32_to_f16(x) : ag_f32_to_bf16(x);
}

AG_FN void ag_narrow_all(int is_f16, const float *x, uint16_t *out, ptrdiff_t n) {
    if (is_f16)
        ag_run_f32_f16(x, out, n);
    else
        for (ptrdiff_t i = 0; i < n; i++) out[i] = ag_f32_to_bf16(x[i]);
}

/* p[0][i] = f(p[1][i], p[2][i]) of halves, sixteen at a time: what is between two conversions stays
 * in registers. Where the processor converts none itself, blocks of float32 are as good. */
#if defined(__F16C__) && !defined(__CUDACC__)
#define AG_WHOLE_HALVES ((ptrdiff_t)-16)
#else
#define AG_WHOLE_HALVES ((ptrdiff_t)0)
#endif
#define AG_HALVES_F16(n, p, f)                                                                   \
    for (ptrdiff_t i_ = 0; i_ < (n); i_ += 16) {                                                 \
        float x_[16], y_[16];                                                                    \
        ag_run_f16_f32((const ag_f16 *)(p)[1] + i_, x_, 16);                                     \
        ag_run_f16_f32((const ag_f16 *)(p)[2] + i_, y_, 16);                                     \
        for (int j_ = 0; j_ < 16; j_++) x_[j_] = f(x_[j_], y_[j_]);                              \
        ag_run_f32_f16(x_, (ag_f16 *)(p)[0] + i_, 16);                                           \
    }
#define AG_HALVES_BF16(n, p, f)                                                                  \
    do {                                                                                         \
        ag_bf16 *o_ = (ag_bf16 *)(p)[0];                                                         \
        const ag_bf16 *a_ = (const ag_bf16 *)(p)[1], *b_ = (const ag_bf16 *)(p)[2];              \
        const ptrdiff_t m_ = (n);                                                                \
        AG_APART for (ptrdiff_t i_ = 0; i_ < m_; i_++)                                           \
            o_[i_] = ag_f32_to_bf16(f(ag_bf16_to_f32(a_[i_]), ag_bf16_to_f32(b_[i_])));          \
    } while (0)
/* Likewise with one element for all as the second operand. */
#define AG_HALVES_F16_BY(n, p, f)                                                                \
    do {                                                                                         \
        const float by_ = ag_f16_to_f32(*(const ag_f16 *)(p)[2]);                                \
        for (ptrdiff_t i_ = 0; i_ < (n); i_ += 16) {                                             \
            float x_[16];                                                                        \
            ag_run_f16_f32((const ag_f16 *)(p)[1] + i_, x_, 16);                                 \
            for (int j_ = 0; j_ < 16; j_++) x_[j_] = f(x_[j_], by_);                             \
            ag_run_f32_f16(x_, (ag_f16 *)(p)[0] + i_, 16);                                       \
        }                                                                                        \
    } while (0)
#define AG_HALVES_BF16_BY(n, p, f)                                                               \
    do {                                                                                         \
        ag_bf16 *o_ = (ag_bf16 *)(p)[0];                                                         \
        const ag_bf16 *a_ = (const ag_bf16 *)(p)[1];                                             \
        const float by_ = ag_bf16_to_f32(*(const ag_bf16 *)(p)[2]);                              \
        const ptrdiff_t m_ = (n);                                                                \
        AG_APART for (ptrdiff_t i_ = 0; i_ < m_; i_++)                                           \
            o_[i_] = ag_f32_to_bf16(f(ag_bf16_to_f32(a_[i_]), by_));                             \
    } while (0)

#endif
