// A product added to a sum, rounded once.
#pragma once
#include "kernel.cuh"
#include "scalar/config.h"

static __device__ __forceinline__ float ag_fused(float x, float y, float sum) {
    return ag_fma_f32(x, y, sum);
}
static __device__ __forceinline__ double ag_fused(double x, double y, double sum) {
    return ag_fma_f64(x, y, sum);
}
