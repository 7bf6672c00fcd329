# cython: language_level=3
# build: simd
"""Loops that fill memory with random numbers; compiled once per instruction set.

Element e of a call lies in chunk e // 64 (or 32), and within it in lane e % 16. Its value depends
on seed, first chunk and e alone, so any split over threads gives the same numbers.
Formulas are in ext/kernels/scalar/random.h, those of one element alone in random_elements.h beside
it, the kernels in random_fills.pyx.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from autograd_cy._C.dtypes cimport (
    DT_BOOL, DT_U8, DT_I8, DT_I16, DT_I32, DT_I64, DT_F16, DT_BF16, DT_F32, DT_F64)
from autograd_cy._C.random_loops cimport *

cdef extern from "scalar/types.h":
    uint16_t ag_f32_to_f16(float x) nogil
    uint16_t ag_f32_to_bf16(float x) nogil

cdef extern from "philox_lanes.h":
    void ag_philox_chunk(uint64_t seed, uint64_t chunk, uint32_t* w) nogil

cdef extern from "scalar/random.h":
    ctypedef struct ag_pair_f32:
        float cos, sin
    ctypedef struct ag_pair_f64:
        double cos, sin
    float ag_uniform_f32(uint32_t w) nogil
    float ag_uniform_f16(uint32_t w) nogil
    float ag_uniform_bf16(uint32_t w) nogil
    double ag_uniform_f64(uint32_t w0, uint32_t w1) nogil
    float ag_stretch_f32(float u, float lo, float width, float top) nogil
    double ag_stretch_f64(double u, double lo, double width, double top) nogil
    float ag_exponential_f32(uint32_t w) nogil
    double ag_exponential_f64(uint32_t w0, uint32_t w1) nogil
    ag_pair_f32 ag_normal_pair_f32(uint32_t w0, uint32_t w1) nogil
    ag_pair_f64 ag_normal_pair_f64(uint32_t w0, uint32_t w1, uint32_t w2, uint32_t w3) nogil
    uint64_t ag_bounded(uint32_t w0, uint32_t w1, uint64_t range) nogil
    uint64_t ag_bounded_short(uint32_t w0, uint32_t w1, uint32_t range) nogil


cdef void words(uint64_t seed, uint64_t chunk, uint32_t* w) noexcept nogil:
    """The 64 words of a chunk: word k of lane l is w[16 * k + l]."""
    ag_philox_chunk(seed, chunk, w)


# --- one chunk of each distribution, into a buffer ------------------------------------------

cdef void uniform_f32(const RandomJob* job, const uint32_t* w, float* out) noexcept nogil:
    cdef float lo = <float>job.a, width = <float>job.b, top = <float>job.top
    cdef Py_ssize_t i
    if job.dt == DT_F16:
        for i in range(64):
            out[i] = ag_stretch_f32(ag_uniform_f16(w[i]), lo, width, top)
    elif job.dt == DT_BF16:
        for i in range(64):
            out[i] = ag_stretch_f32(ag_uniform_bf16(w[i]), lo, width, top)
    else:
        for i in range(64):
            out[i] = ag_stretch_f32(ag_uniform_f32(w[i]), lo, width, top)


cdef void uniform_f64(const RandomJob* job, const uint32_t* w, double* out) noexcept nogil:
    cdef double lo = job.a, width = job.b, top = job.top
    cdef Py_ssize_t i
    for i in range(32):
        out[i] = ag_stretch_f64(ag_uniform_f64(w[i], w[32 + i]), lo, width, top)


cdef void normal_f32(const RandomJob* job, const uint32_t* w, float* out) noexcept nogil:
    cdef float mean = <float>job.a, std = <float>job.b
    cdef ag_pair_f32 pair
    cdef Py_ssize_t i
    for i in range(32):
        pair = ag_normal_pair_f32(w[i], w[32 + i])
        out[i] = mean + std * pair.cos
        out[32 + i] = mean + std * pair.sin


cdef void normal_f64(const RandomJob* job, const uint32_t* w, double* out) noexcept nogil:
    cdef double mean = job.a, std = job.b
    cdef ag_pair_f64 pair
    cdef Py_ssize_t i
    for i in range(16):
        pair = ag_normal_pair_f64(w[i], w[16 + i], w[32 + i], w[48 + i])
        out[i] = mean + std * pair.cos
        out[16 + i] = mean + std * pair.sin


cdef void exponential_f32(const RandomJob* job, const uint32_t* w, float* out) noexcept nogil:
    cdef float scale = <float>job.a
    cdef Py_ssize_t i
    for i in range(64):
        out[i] = scale * ag_exponential_f32(w[i])


cdef void exponential_f64(const RandomJob* job, const uint32_t* w, double* out) noexcept nogil:
    cdef double scale = job.a
    cdef Py_ssize_t i
    for i in range(32):
        out[i] = scale * ag_exponential_f64(w[i], w[32 + i])


cdef void bernoulli(const RandomJob* job, const uint32_t* w, uint8_t* out) noexcept nogil:
    cdef uint32_t last
    cdef Py_ssize_t i
    if job.range == 0:
        for i in range(64):
            out[i] = 0
        return
    last = <uint32_t>(job.range - 1)      # a threshold of 2**32 would not fit
    for i in range(64):
        out[i] = w[i] <= last


cdef void bernoulli_each(const RandomJob* job, const uint32_t* w, const double* p, int n,
                         uint8_t* out) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        out[i] = <double>w[i] < p[i] * 4294967296.0


cdef void integers(const RandomJob* job, const uint32_t* w, int64_t* out) noexcept nogil:
    cdef uint64_t base = <uint64_t>job.base
    cdef uint32_t short_range = <uint32_t>job.range
    cdef Py_ssize_t i
    if job.range == short_range and short_range != 0:
        for i in range(32):
            out[i] = <int64_t>(base + ag_bounded_short(w[i], w[32 + i], short_range))
    else:
        for i in range(32):
            out[i] = <int64_t>(base + ag_bounded(w[i], w[32 + i], job.range))


# --- from the buffer to the element type ----------------------------------------------------

cdef void put_f32(int dt, const float* x, char* out, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    if dt == DT_F32:
        for i in range(n):
            (<float*>out)[i] = x[i]
    elif dt == DT_F16:
        for i in range(n):
            (<uint16_t*>out)[i] = ag_f32_to_f16(x[i])
    else:
        for i in range(n):
            (<uint16_t*>out)[i] = ag_f32_to_bf16(x[i])


cdef void put_f64(const double* x, char* out, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        (<double*>out)[i] = x[i]


cdef void put_flags(int dt, const uint8_t* x, double one, char* out,
                    Py_ssize_t n) noexcept nogil:
    """Zeros and ones, which floating dtypes may have scaled."""
    cdef float short_one = <float>one
    cdef Py_ssize_t i
    if dt <= DT_I8:
        for i in range(n):
            out[i] = x[i]
    elif dt == DT_F32:
        for i in range(n):
            (<float*>out)[i] = x[i] * short_one
    elif dt == DT_F64:
        for i in range(n):
            (<double*>out)[i] = x[i] * one
    elif dt == DT_I64:
        for i in range(n):
            (<int64_t*>out)[i] = x[i]
    elif dt == DT_I32:
        for i in range(n):
            (<int32_t*>out)[i] = x[i]
    elif dt == DT_I16:
        for i in range(n):
            (<int16_t*>out)[i] = x[i]
    elif dt == DT_F16:
        for i in range(n):
            (<uint16_t*>out)[i] = ag_f32_to_f16(x[i] * short_one)
    else:
        for i in range(n):
            (<uint16_t*>out)[i] = ag_f32_to_bf16(x[i] * short_one)


cdef void put_i64(int dt, const int64_t* x, char* out, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    if dt == DT_I64:
        for i in range(n):
            (<int64_t*>out)[i] = x[i]
    elif dt == DT_I32:
        for i in range(n):
            (<int32_t*>out)[i] = <int32_t>x[i]
    elif dt == DT_I16:
        for i in range(n):
            (<int16_t*>out)[i] = <int16_t>x[i]
    elif dt == DT_U8 or dt == DT_I8 or dt == DT_BOOL:
        for i in range(n):
            (<uint8_t*>out)[i] = <uint8_t>x[i]
    elif dt == DT_F32:
        for i in range(n):
            (<float*>out)[i] = <float>x[i]
    elif dt == DT_F64:
        for i in range(n):
            (<double*>out)[i] = <double>x[i]
    elif dt == DT_F16:
        for i in range(n):
            (<uint16_t*>out)[i] = ag_f32_to_f16(<float>x[i])
    else:
        for i in range(n):
            (<uint16_t*>out)[i] = ag_f32_to_bf16(<float>x[i])


cdef void fill_chunks(void* ctx, Py_ssize_t lo, Py_ssize_t hi) noexcept nogil:
    cdef const RandomJob* job = <const RandomJob*>ctx
    cdef int kind = job.kind, dt = job.dt
    cdef Py_ssize_t size = chunk_elements(kind, dt), item = item_bytes(dt)
    cdef Py_ssize_t c, n
    cdef uint32_t[64] w
    cdef float[64] f
    cdef double[64] d
    cdef int64_t[64] k
    cdef uint8_t[64] b
    cdef char* out
    for c in range(lo, hi):
        words(job.seed, job.chunk + <uint64_t>c, w)
        n = job.n - c * size
        if n > size:
            n = size
        out = job.out + c * size * item
        if kind == RANDOM_INTEGER:
            integers(job, w, k)
            put_i64(dt, k, out, n)
        elif kind == RANDOM_BERNOULLI:
            bernoulli(job, w, b)
            put_flags(dt, b, job.a, out, n)
        elif kind == RANDOM_BERNOULLI_EACH:
            bernoulli_each(job, w, job.p + c * size, <int>n, b)
            put_flags(dt, b, 1, out, n)
        elif dt == DT_F64:
            if kind == RANDOM_UNIFORM:
                uniform_f64(job, w, d)
            elif kind == RANDOM_NORMAL:
                normal_f64(job, w, d)
            else:
                exponential_f64(job, w, d)
            put_f64(d, out, n)
        else:
            if kind == RANDOM_UNIFORM:
                uniform_f32(job, w, f)
            elif kind == RANDOM_NORMAL:
                normal_f32(job, w, f)
            else:
                exponential_f32(job, w, f)
            put_f32(dt, f, out, n)


cdef RandomTable table
table.fill = fill_chunks
table.words = words


def table_capsule():
    """Return the functions for random_fills.pyx."""
    return PyCapsule_New(&table, "autograd_cy.random_loops", NULL)
