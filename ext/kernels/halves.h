/* Runs of float16 or bfloat16 widened to float32 and narrowed, for loops that compute in it. */
#ifndef AG_HALVES_H
#define AG_HALVES_H

#include <stddef.h>

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

#endif
