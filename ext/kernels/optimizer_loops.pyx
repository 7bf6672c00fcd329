# cython: language_level=3
# build: simd
# Optimizer steps on flat ranges, compiled once per instruction set: one pass that reads and writes
# each array once.  optimize.pyx cuts parameters into ranges.

from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport uint16_t

from autograd_cy._C.dtypes cimport DT_F16, DT_F32, DT_F64
from autograd_cy._C.optimizer_loops cimport *

cdef extern from "halves.h" nogil:
    void ag_widen(bint is_f16, const uint16_t* p, float* out, Py_ssize_t n)
    void ag_narrow_all(bint is_f16, const float* x, uint16_t* out, Py_ssize_t n)

cdef extern from "<math.h>" nogil:
    float sqrtf(float)
    double sqrt(double)

ctypedef fused real_t:
    float
    double

cdef enum:
    STEP_BLOCK = 512    # halves widened at once


cdef inline real_t root(real_t x) noexcept nogil:
    if real_t is float:
        return sqrtf(x)
    else:
        return sqrt(x)


cdef void sgd_step(real_t* p, const real_t* g, real_t* b, Py_ssize_t n,
                   const SgdStep* s) noexcept nogil:
    cdef real_t lr = <real_t>s.lr, decay = <real_t>s.weight_decay, sign = <real_t>s.sign
    cdef real_t momentum = <real_t>s.momentum, fresh = <real_t>(1 - s.dampening)
    cdef real_t d, m
    cdef Py_ssize_t i
    if b == NULL:
        for i in range(n):
            d = sign * g[i] + decay * p[i]
            p[i] -= lr * d
    elif s.first:
        for i in range(n):
            d = sign * g[i] + decay * p[i]
            b[i] = d
            m = d + momentum * d if s.nesterov else d
            p[i] -= lr * m
    elif s.nesterov:
        for i in range(n):
            d = sign * g[i] + decay * p[i]
            m = momentum * b[i] + fresh * d
            b[i] = m
            p[i] -= lr * (d + momentum * m)
    else:
        for i in range(n):
            d = sign * g[i] + decay * p[i]
            m = momentum * b[i] + fresh * d
            b[i] = m
            p[i] -= lr * m


cdef void adam_step(real_t* p, const real_t* g, real_t* m, real_t* v, real_t* top, Py_ssize_t n,
                    const AdamStep* s) noexcept nogil:
    cdef real_t sign = <real_t>s.sign, decay = <real_t>s.weight_decay, keep = <real_t>s.keep
    cdef real_t w1 = <real_t>(1 - s.beta1), b2 = <real_t>s.beta2, w2 = <real_t>(1 - s.beta2)
    cdef real_t rate = <real_t>s.rate, spread = <real_t>s.spread, eps = <real_t>s.eps
    cdef real_t d, x, y, z
    cdef Py_ssize_t i
    if top == NULL:
        for i in range(n):
            d = sign * g[i] + decay * p[i]
            x = m[i] + w1 * (d - m[i])
            y = b2 * v[i] + w2 * d * d
            m[i] = x
            v[i] = y
            p[i] = keep * p[i] - rate * x / (root(y) * spread + eps)
    else:
        for i in range(n):
            d = sign * g[i] + decay * p[i]
            x = m[i] + w1 * (d - m[i])
            y = b2 * v[i] + w2 * d * d
            z = y if (y > top[i]) | (y != y) else top[i]
            m[i] = x
            v[i] = y
            top[i] = z
            p[i] = keep * p[i] - rate * x / (root(z) * spread + eps)


cdef void half_sgd_step(int dt, uint16_t* p, const uint16_t* g, uint16_t* b, Py_ssize_t n,
                        const SgdStep* s) noexcept nogil:
    cdef float x[3][STEP_BLOCK]
    cdef Py_ssize_t start = 0, m
    while start < n:
        m = n - start if n - start < STEP_BLOCK else STEP_BLOCK
        ag_widen(dt == DT_F16, p + start, x[0], m)
        ag_widen(dt == DT_F16, g + start, x[1], m)
        if b != NULL and not s.first:
            ag_widen(dt == DT_F16, b + start, x[2], m)
        sgd_step(x[0], <const float*>x[1], x[2] if b != NULL else NULL, m, s)
        ag_narrow_all(dt == DT_F16, x[0], p + start, m)
        if b != NULL:
            ag_narrow_all(dt == DT_F16, x[2], b + start, m)
        start += m


cdef void half_adam_step(int dt, uint16_t* p, const uint16_t* g, uint16_t* m, uint16_t* v,
                         uint16_t* top, Py_ssize_t n, const AdamStep* s) noexcept nogil:
    cdef float x[5][STEP_BLOCK]
    cdef Py_ssize_t start = 0, some
    while start < n:
        some = n - start if n - start < STEP_BLOCK else STEP_BLOCK
        ag_widen(dt == DT_F16, p + start, x[0], some)
        ag_widen(dt == DT_F16, g + start, x[1], some)
        ag_widen(dt == DT_F16, m + start, x[2], some)
        ag_widen(dt == DT_F16, v + start, x[3], some)
        if top != NULL:
            ag_widen(dt == DT_F16, top + start, x[4], some)
        adam_step(x[0], <const float*>x[1], x[2], x[3], x[4] if top != NULL else NULL, some, s)
        ag_narrow_all(dt == DT_F16, x[0], p + start, some)
        ag_narrow_all(dt == DT_F16, x[2], m + start, some)
        ag_narrow_all(dt == DT_F16, x[3], v + start, some)
        if top != NULL:
            ag_narrow_all(dt == DT_F16, x[4], top + start, some)
        start += some


cdef void any_sgd_step(int dt, char* p, const char* g, char* b, Py_ssize_t n,
                       const SgdStep* s) noexcept nogil:
    if dt == DT_F32:
        sgd_step(<float*>p, <const float*>g, <float*>b, n, s)
    elif dt == DT_F64:
        sgd_step(<double*>p, <const double*>g, <double*>b, n, s)
    else:
        half_sgd_step(dt, <uint16_t*>p, <const uint16_t*>g, <uint16_t*>b, n, s)


cdef void any_adam_step(int dt, char* p, const char* g, char* m, char* v, char* top,
                        Py_ssize_t n, const AdamStep* s) noexcept nogil:
    if dt == DT_F32:
        adam_step(<float*>p, <const float*>g, <float*>m, <float*>v, <float*>top, n, s)
    elif dt == DT_F64:
        adam_step(<double*>p, <const double*>g, <double*>m, <double*>v, <double*>top, n, s)
    else:
        half_adam_step(dt, <uint16_t*>p, <const uint16_t*>g, <uint16_t*>m, <uint16_t*>v,
                       <uint16_t*>top, n, s)


cdef OptimizerTable table
table.sgd = any_sgd_step
table.adam = any_adam_step


def table_capsule():
    """Capsule with the address of the table (see optimizer_loops.pxd)."""
    return PyCapsule_New(&table, "autograd_cy.optimizer_table", NULL)
