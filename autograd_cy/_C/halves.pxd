# cython: language_level=3
# float16 and bfloat16 widened to float32 and narrowed, by the loops that compute in it.  A header
# without a module: each instruction set compiles its own.

from libc.stdint cimport uint16_t
from autograd_cy._C.dtypes cimport DT_F16

cdef extern from "scalar/scalar.h" nogil:
    float ag_f16_to_f32(uint16_t)
    uint16_t ag_f32_to_f16(float)
    float ag_bf16_to_f32(uint16_t)
    uint16_t ag_f32_to_bf16(float)


cdef inline void widen(int dt, const uint16_t* p, float* out, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    if dt == DT_F16:
        for i in range(n):
            out[i] = ag_f16_to_f32(p[i])
    else:
        for i in range(n):
            out[i] = ag_bf16_to_f32(p[i])


cdef inline uint16_t narrow(int dt, float x) noexcept nogil:
    return ag_f32_to_f16(x) if dt == DT_F16 else ag_f32_to_bf16(x)


cdef inline void narrow_all(int dt, const float* x, uint16_t* out, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    if dt == DT_F16:
        for i in range(n):
            out[i] = ag_f32_to_f16(x[i])
    else:
        for i in range(n):
            out[i] = ag_f32_to_bf16(x[i])
