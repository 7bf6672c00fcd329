# cython: language_level=3
# build: simd --param=max-unswitch-insns=200
# Optimizer steps on flat ranges, compiled once per instruction set: one pass that reads and writes
# each array once.  optimize.pyx cuts parameters into ranges.  Formulas are those that the documents
# of PyTorch's optimizers give, with the sources they name.
#
# gcc makes a loop for each combination of options only as long as it counts few instructions, and a
# fused product counts as a call: hence the parameter.

from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport uint16_t

from autograd_cy._C.dtypes cimport DT_F16, DT_F32, DT_F64
from autograd_cy._C.optimizer_loops cimport *

include "fused.pxi"

cdef extern from "halves.h" nogil:
    void ag_widen(bint is_f16, const uint16_t* p, float* out, Py_ssize_t n)
    void ag_narrow_all(bint is_f16, const float* x, uint16_t* out, Py_ssize_t n)

cdef extern from "<math.h>" nogil:
    float sqrtf(float)
    double sqrt(double)
    float fabsf(float)
    double fabs(double)

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


cdef inline real_t size_of(real_t x) noexcept nogil:
    if real_t is float:
        return fabsf(x)
    else:
        return fabs(x)


cdef inline real_t larger(real_t a, real_t b) noexcept nogil:
    """The larger one; NaN wins."""
    return a if (a > b) | (a != a) else b


cdef inline real_t decayed(real_t g, real_t p, real_t sign, real_t decay) noexcept nogil:
    """The gradient that counts: without decay an infinite parameter is no part of it."""
    return fma(decay, p, sign * g) if decay != 0 else sign * g


cdef inline real_t toward(real_t m, real_t d, real_t w, real_t rest) noexcept nogil:
    """m + w (d - m), from the end that is nearer: with w = 1 it is d, however large m is."""
    return fma(w, d - m, m) if w < 0.5 else fma(m - d, rest, d)


cdef void sgd_step(real_t* p, const real_t* g, real_t* b, Py_ssize_t n,
                   const SgdStep* s) noexcept nogil:
    cdef real_t lr = <real_t>s.lr, decay = <real_t>s.weight_decay, sign = <real_t>s.sign
    cdef real_t momentum = <real_t>s.momentum, fresh = <real_t>(1 - s.dampening)
    cdef real_t d, m
    cdef Py_ssize_t i
    if b == NULL:
        for i in range(n):
            d = decayed(g[i], p[i], sign, decay)
            p[i] = fma(-lr, d, p[i])
    elif s.first != 0:
        for i in range(n):
            d = decayed(g[i], p[i], sign, decay)
            b[i] = d
            m = fma(momentum, d, d) if s.nesterov != 0 else d
            p[i] = fma(-lr, m, p[i])
    elif s.nesterov != 0:
        for i in range(n):
            d = decayed(g[i], p[i], sign, decay)
            m = fma(momentum, b[i], fresh * d)
            b[i] = m
            p[i] = fma(-lr, fma(momentum, m, d), p[i])
    else:
        for i in range(n):
            d = decayed(g[i], p[i], sign, decay)
            m = fma(momentum, b[i], fresh * d)
            b[i] = m
            p[i] = fma(-lr, m, p[i])


cdef void adam_step(real_t* p, const real_t* g, real_t* m, real_t* v, real_t* top, Py_ssize_t n,
                    const AdamStep* s) noexcept nogil:
    cdef real_t sign = <real_t>s.sign, decay = <real_t>s.weight_decay, keep = <real_t>s.keep
    cdef real_t w1 = <real_t>(1 - s.beta1), b1 = <real_t>1 - w1
    cdef real_t b2 = <real_t>s.beta2, w2 = <real_t>(1 - s.beta2)
    cdef real_t rate = <real_t>s.rate, spread = <real_t>s.spread, eps = <real_t>s.eps
    cdef real_t d, x, y, z
    cdef Py_ssize_t i
    if top == NULL:
        for i in range(n):
            d = decayed(g[i], p[i], sign, decay)
            x = toward(m[i], d, w1, b1)
            y = fma(w2 * d, d, b2 * v[i])
            m[i] = x
            v[i] = y
            p[i] = fma(keep, p[i], -(rate * x / fma(root(y), spread, eps)))
    else:
        for i in range(n):
            d = decayed(g[i], p[i], sign, decay)
            x = toward(m[i], d, w1, b1)
            y = fma(w2 * d, d, b2 * v[i])
            z = larger(y, top[i])
            m[i] = x
            v[i] = y
            top[i] = z
            p[i] = fma(keep, p[i], -(rate * x / fma(root(z), spread, eps)))


cdef void adagrad_step(real_t* p, const real_t* g, real_t* total, Py_ssize_t n,
                       const AdagradStep* s) noexcept nogil:
    cdef real_t sign = <real_t>s.sign, decay = <real_t>s.weight_decay
    cdef real_t rate = <real_t>s.rate, eps = <real_t>s.eps
    cdef real_t d, t
    cdef Py_ssize_t i
    for i in range(n):
        d = decayed(g[i], p[i], sign, decay)
        t = fma(d, d, total[i])
        total[i] = t
        p[i] -= rate * d / (root(t) + eps)


cdef void adadelta_step(real_t* p, const real_t* g, real_t* v, real_t* moved, Py_ssize_t n,
                        const AdadeltaStep* s) noexcept nogil:
    cdef real_t sign = <real_t>s.sign, decay = <real_t>s.weight_decay
    cdef real_t lr = <real_t>s.lr, rho = <real_t>s.rho, rest = <real_t>(1 - s.rho)
    cdef real_t eps = <real_t>s.eps, d, y, x
    cdef Py_ssize_t i
    for i in range(n):
        d = decayed(g[i], p[i], sign, decay)
        y = fma(rest * d, d, rho * v[i])
        x = root(moved[i] + eps) / root(y + eps) * d
        v[i] = y
        moved[i] = fma(rest * x, x, rho * moved[i])
        p[i] = fma(-lr, x, p[i])


cdef void adamax_step(real_t* p, const real_t* g, real_t* m, real_t* top, Py_ssize_t n,
                      const AdamaxStep* s) noexcept nogil:
    cdef real_t sign = <real_t>s.sign, decay = <real_t>s.weight_decay
    cdef real_t rate = <real_t>s.rate, b2 = <real_t>s.beta2
    cdef real_t w1 = <real_t>(1 - s.beta1), b1 = <real_t>1 - w1
    cdef real_t eps = <real_t>s.eps, d, x, z
    cdef Py_ssize_t i
    for i in range(n):
        d = decayed(g[i], p[i], sign, decay)
        x = toward(m[i], d, w1, b1)
        z = larger(size_of(d) + eps, b2 * top[i])
        m[i] = x
        top[i] = z
        p[i] -= rate * x / z


cdef void rmsprop_step(real_t* p, const real_t* g, real_t* v, real_t* b, real_t* m, Py_ssize_t n,
                       const RmspropStep* s) noexcept nogil:
    cdef real_t sign = <real_t>s.sign, decay = <real_t>s.weight_decay
    cdef real_t lr = <real_t>s.lr, alpha = <real_t>s.alpha, rest = <real_t>(1 - s.alpha)
    cdef real_t eps = <real_t>s.eps, momentum = <real_t>s.momentum, d, y, x
    cdef Py_ssize_t i
    for i in range(n):
        d = decayed(g[i], p[i], sign, decay)
        y = fma(rest * d, d, alpha * v[i])
        v[i] = y
        if m != NULL:
            x = toward(m[i], d, rest, alpha)
            m[i] = x
            y = fma(-x, x, y)
        d = d / (root(y) + eps)
        if b != NULL:
            d = fma(momentum, b[i], d)
            b[i] = d
        p[i] = fma(-lr, d, p[i])


cdef void rprop_step(real_t* p, const real_t* g, real_t* last, real_t* size, Py_ssize_t n,
                     const RpropStep* s) noexcept nogil:
    cdef real_t sign = <real_t>s.sign, shrink = <real_t>s.shrink, grow = <real_t>s.grow
    cdef real_t low = <real_t>s.smallest, high = <real_t>s.largest, d, x, y
    cdef real_t bounds = 0 if low == low and high == high else low + high    # NaN stays NaN
    cdef Py_ssize_t i
    for i in range(n):
        d = sign * g[i]
        x = d * last[i]
        # NaN has no sign: such a gradient, and 0 * inf of a first one, moves nothing.
        y = size[i] * (grow if x > 0 else shrink if x < 0 else 1) + bounds
        y = low if y < low else y
        y = high if y > high else y
        d = 0 if x < 0 else d
        size[i] = y
        last[i] = d
        p[i] -= (1 if d > 0 else -1 if d < 0 else 0) * y


cdef void asgd_step(real_t* p, const real_t* g, real_t* mean, Py_ssize_t n,
                    const AsgdStep* s) noexcept nogil:
    cdef real_t sign = <real_t>s.sign, decay = <real_t>s.weight_decay
    cdef real_t eta = <real_t>s.eta, keep = <real_t>s.keep, mu = <real_t>s.mu, d, x
    cdef bint copies = s.mu == 1
    cdef Py_ssize_t i
    for i in range(n):
        d = decayed(g[i], p[i], sign, decay)
        x = fma(keep, p[i], -eta * d)
        p[i] = x
        mean[i] = x if copies else fma(x - mean[i], mu, mean[i])


cdef void nadam_step(real_t* p, const real_t* g, real_t* m, real_t* v, Py_ssize_t n,
                     const NadamStep* s) noexcept nogil:
    cdef real_t sign = <real_t>s.sign, decay = <real_t>s.weight_decay, keep = <real_t>s.keep
    cdef real_t w1 = <real_t>(1 - s.beta1), b1 = <real_t>1 - w1
    cdef real_t b2 = <real_t>s.beta2, w2 = <real_t>(1 - s.beta2)
    cdef real_t by_grad = <real_t>s.grad_rate, by_mean = <real_t>s.mean_rate
    cdef real_t spread = <real_t>s.spread, eps = <real_t>s.eps, d, x, y, z
    cdef Py_ssize_t i
    for i in range(n):
        d = decayed(g[i], p[i], sign, decay)
        x = toward(m[i], d, w1, b1)
        y = fma(w2 * d, d, b2 * v[i])
        m[i] = x
        v[i] = y
        z = fma(by_grad, d, by_mean * x) / fma(root(y), spread, eps)
        p[i] = fma(keep, p[i], -z)


cdef void radam_step(real_t* p, const real_t* g, real_t* m, real_t* v, Py_ssize_t n,
                     const RadamStep* s) noexcept nogil:
    cdef real_t sign = <real_t>s.sign, decay = <real_t>s.weight_decay, keep = <real_t>s.keep
    cdef real_t w1 = <real_t>(1 - s.beta1), b1 = <real_t>1 - w1
    cdef real_t b2 = <real_t>s.beta2, w2 = <real_t>(1 - s.beta2)
    cdef real_t rate = <real_t>s.rate, eps = <real_t>s.eps, d, x, y
    cdef bint rectified = s.rectified != 0
    cdef Py_ssize_t i
    for i in range(n):
        d = decayed(g[i], p[i], sign, decay)
        x = toward(m[i], d, w1, b1)
        y = fma(w2 * d, d, b2 * v[i])
        m[i] = x
        v[i] = y
        p[i] = fma(keep, p[i], -(rate * x / (root(y) + eps) if rectified else rate * x))


cdef inline void typed_step(int method, real_t** a, Py_ssize_t n,
                            const StepConstants* c) noexcept nogil:
    cdef real_t* p = a[0]
    cdef const real_t* g = a[1]
    if method == STEP_SGD:
        sgd_step(p, g, a[2], n, &c.sgd)
    elif method == STEP_ADAM:
        adam_step(p, g, a[2], a[3], a[4], n, &c.adam)
    elif method == STEP_ADAGRAD:
        adagrad_step(p, g, a[2], n, &c.adagrad)
    elif method == STEP_ADADELTA:
        adadelta_step(p, g, a[2], a[3], n, &c.adadelta)
    elif method == STEP_ADAMAX:
        adamax_step(p, g, a[2], a[3], n, &c.adamax)
    elif method == STEP_RMSPROP:
        rmsprop_step(p, g, a[2], a[3], a[4], n, &c.rmsprop)
    elif method == STEP_RPROP:
        rprop_step(p, g, a[2], a[3], n, &c.rprop)
    elif method == STEP_ASGD:
        asgd_step(p, g, a[2], n, &c.asgd)
    elif method == STEP_NADAM:
        nadam_step(p, g, a[2], a[3], n, &c.nadam)
    else:
        radam_step(p, g, a[2], a[3], n, &c.radam)


cdef void half_step(int method, bint is_f16, uint16_t** a, Py_ssize_t n,
                    const StepConstants* c) noexcept nogil:
    cdef float x[STEP_ARRAYS][STEP_BLOCK]
    cdef float* wide[STEP_ARRAYS]
    cdef Py_ssize_t start, some
    cdef bint fresh = method == STEP_SGD and c.sgd.first != 0    # a[2] has no values yet
    cdef int k
    for k in range(STEP_ARRAYS):
        wide[k] = x[k] if a[k] != NULL else NULL
    for start from 0 <= start < n by STEP_BLOCK:
        some = n - start if n - start < STEP_BLOCK else STEP_BLOCK
        for k in range(STEP_ARRAYS):
            if a[k] != NULL and not (fresh and k == 2):
                ag_widen(is_f16, a[k] + start, x[k], some)
        typed_step(method, wide, some, c)
        for k in range(STEP_ARRAYS):
            if a[k] != NULL and k != 1:
                ag_narrow_all(is_f16, x[k], a[k] + start, some)


cdef void step(int method, int dt, char** p, Py_ssize_t n,
               const StepConstants* c) noexcept nogil:
    if dt == DT_F32:
        typed_step(method, <float**>p, n, c)
    elif dt == DT_F64:
        typed_step(method, <double**>p, n, c)
    else:
        half_step(method, dt == DT_F16, <uint16_t**>p, n, c)


cdef OptimizerTable table
table.step = step


def table_capsule():
    """Capsule with the address of the table (see optimizer_loops.pxd)."""
    return PyCapsule_New(&table, "autograd_cy.optimizer_table", NULL)
