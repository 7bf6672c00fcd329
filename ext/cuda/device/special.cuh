// Functions with loops, computed in double for all dtypes and rounded once.
#pragma once
#include "reductions.cuh"
#include "scalar/gamma_loops.h"
#include "special_arguments.h"

AG_R double ag_load_at(const void *p, uint64_t i, int dt) {
    switch (dt) {
    case AG_DT_F16: return ag_f16_to_f32(((const ag_f16 *)p)[i]);
    case AG_DT_BF16: return ag_bf16_to_f32(((const ag_bf16 *)p)[i]);
    case AG_DT_F32: return ((const float *)p)[i];
    default: return ((const double *)p)[i];
    }
}

AG_R void ag_store_at(void *p, uint64_t i, int dt, double x) {
    ag_store((char *)p + i * (dt == AG_DT_F64 ? 8 : dt == AG_DT_F32 ? 4 : 2), dt, x);
}

AG_R void ag_incomplete_gamma(const ag_special_args &a) {
    AG_EACH(i, a.n)
        ag_store_at(a.out, i, a.dt,
                    ag_incomplete_gamma_f64(ag_load_at(a.in[0], i, a.dt),
                                            ag_load_at(a.in[1], i, a.dt), a.order));
}

AG_R void ag_polygamma(const ag_special_args &a) {
    AG_EACH(i, a.n)
        ag_store_at(a.out, i, a.dt, ag_polygamma_f64(a.order, ag_load_at(a.in[0], i, a.dt)));
}
