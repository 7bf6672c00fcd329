# The fused product, for loops in Cython; those in C have it from scalar/config.h.
# No compiler makes one by itself (ext/build/flags.py).

cdef extern from "scalar/config.h" nogil:
    float ag_fma_f32(float, float, float)
    double ag_fma_f64(double, double, double)

ctypedef fused fused_real_t:
    float
    double


cdef inline fused_real_t fma(fused_real_t a, fused_real_t b, fused_real_t c) noexcept nogil:
    """a * b + c, rounded once where the instruction set has it and twice elsewhere."""
    if fused_real_t is float:
        return ag_fma_f32(a, b, c)
    else:
        return ag_fma_f64(a, b, c)
