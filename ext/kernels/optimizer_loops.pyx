# cython: language_level=3
# build: simd --param=max-unswitch-insns=200
# Optimizer steps on flat ranges, compiled once per instruction set: one pass that reads and writes
# each array once.  optimize.pyx cuts parameters into ranges.  Formulas are those that the documents
# of PyTorch's optimizers give, with the sources they name.
#
# A loop is two functions.  `x_begin` is called once for a parameter, at the beginning of its step:
# the numbers that are tensors have the values that the last step left, and get those of this one
# (which are written back when all is done), and numbers that follow from them are computed.
# `x_step` does a range of elements.  Both know all numbers by the names that they have in the
# record; what else there is of an optimizer is made from it (ext/codegen/step_kernels.py).
#
# gcc makes a loop for each combination of options only as long as it counts few instructions, and a
# fused product counts as a call: hence the parameter.

from cpython.pycapsule cimport PyCapsule_New
from libc.math cimport fmax, pow, sqrt as sqrt64
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


cdef inline double signed(double maximize) noexcept nogil:
    """The factor of gradients; loops get it as a number, of which compilers know nothing."""
    return -1 if maximize != 0 else 1


cdef void sgd_begin(SgdStep* c) noexcept nogil:
    c.sign = signed(c.maximize)
    c.first = c.is_first_step != 0 and c.begun == 0
    c.begun = 1


cdef void sgd_step(real_t* p, const real_t* g, real_t* b, Py_ssize_t n,
                   const SgdStep* c) noexcept nogil:
    cdef real_t lr = <real_t>c.lr, decay = <real_t>c.weight_decay
    cdef real_t sign = <real_t>c.sign
    cdef real_t momentum = <real_t>c.momentum, fresh = <real_t>(1 - c.dampening)
    cdef real_t d, m
    cdef Py_ssize_t i
    if b == NULL:
        for i in range(n):
            d = decayed(g[i], p[i], sign, decay)
            p[i] = fma(-lr, d, p[i])
    elif c.first != 0:
        for i in range(n):
            d = decayed(g[i], p[i], sign, decay)
            b[i] = d
            m = fma(momentum, d, d) if c.nesterov != 0 else d
            p[i] = fma(-lr, m, p[i])
    elif c.nesterov != 0:
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


cdef void adam_begin(AdamStep* c) noexcept nogil:
    c.sign = signed(c.maximize)
    c.state_steps += 1
    c.decay = 0 if c.decoupled != 0 else c.weight_decay
    c.keep = 1 - c.lr * c.weight_decay if c.decoupled != 0 else 1
    c.rate = c.lr / (1 - pow(c.beta1, c.state_steps))
    c.spread = 1 / sqrt64(1 - pow(c.beta2, c.state_steps))


cdef void adam_step(real_t* p, const real_t* g, real_t* m, real_t* v, real_t* top, Py_ssize_t n,
                    const AdamStep* c) noexcept nogil:
    cdef real_t sign = <real_t>c.sign, decay = <real_t>c.decay, keep = <real_t>c.keep
    cdef real_t w1 = <real_t>(1 - c.beta1), b1 = <real_t>1 - w1
    cdef real_t b2 = <real_t>c.beta2, w2 = <real_t>(1 - c.beta2)
    cdef real_t rate = <real_t>c.rate, spread = <real_t>c.spread, eps = <real_t>c.eps
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


cdef void adagrad_begin(AdagradStep* c) noexcept nogil:
    c.sign = signed(c.maximize)
    c.rate = c.lr / (1 + c.state_steps * c.lr_decay)
    c.state_steps += 1


cdef void adagrad_step(real_t* p, const real_t* g, real_t* total, Py_ssize_t n,
                       const AdagradStep* c) noexcept nogil:
    cdef real_t sign = <real_t>c.sign, decay = <real_t>c.weight_decay
    cdef real_t rate = <real_t>c.rate, eps = <real_t>c.eps
    cdef real_t d, t
    cdef Py_ssize_t i
    for i in range(n):
        d = decayed(g[i], p[i], sign, decay)
        t = fma(d, d, total[i])
        total[i] = t
        p[i] -= rate * d / (root(t) + eps)


cdef void adadelta_begin(AdadeltaStep* c) noexcept nogil:
    c.sign = signed(c.maximize)
    c.state_steps += 1


cdef void adadelta_step(real_t* p, const real_t* g, real_t* v, real_t* deltas, Py_ssize_t n,
                        const AdadeltaStep* c) noexcept nogil:
    cdef real_t sign = <real_t>c.sign, decay = <real_t>c.weight_decay
    cdef real_t lr = <real_t>c.lr, rho = <real_t>c.rho, rest = <real_t>(1 - c.rho)
    cdef real_t eps = <real_t>c.eps, d, y, x
    cdef Py_ssize_t i
    for i in range(n):
        d = decayed(g[i], p[i], sign, decay)
        y = fma(rest * d, d, rho * v[i])
        x = root(deltas[i] + eps) / root(y + eps) * d
        v[i] = y
        deltas[i] = fma(rest * x, x, rho * deltas[i])
        p[i] = fma(-lr, x, p[i])


cdef void adamax_begin(AdamaxStep* c) noexcept nogil:
    c.sign = signed(c.maximize)
    c.state_steps += 1
    c.rate = c.lr / (1 - pow(c.beta1, c.state_steps))


cdef void adamax_step(real_t* p, const real_t* g, real_t* m, real_t* top, Py_ssize_t n,
                      const AdamaxStep* c) noexcept nogil:
    cdef real_t sign = <real_t>c.sign, decay = <real_t>c.weight_decay
    cdef real_t rate = <real_t>c.rate, b2 = <real_t>c.beta2
    cdef real_t w1 = <real_t>(1 - c.beta1), b1 = <real_t>1 - w1
    cdef real_t eps = <real_t>c.eps, d, x, z
    cdef Py_ssize_t i
    for i in range(n):
        d = decayed(g[i], p[i], sign, decay)
        x = toward(m[i], d, w1, b1)
        z = larger(size_of(d) + eps, b2 * top[i])
        m[i] = x
        top[i] = z
        p[i] -= rate * x / z


cdef void rmsprop_begin(RmspropStep* c) noexcept nogil:
    c.sign = signed(c.maximize)
    c.state_steps += 1


cdef void rmsprop_step(real_t* p, const real_t* g, real_t* v, real_t* m, real_t* b, Py_ssize_t n,
                       const RmspropStep* c) noexcept nogil:
    cdef real_t sign = <real_t>c.sign, decay = <real_t>c.weight_decay
    cdef real_t lr = <real_t>c.lr, alpha = <real_t>c.alpha, rest = <real_t>(1 - c.alpha)
    cdef real_t eps = <real_t>c.eps, momentum = <real_t>c.momentum, d, y, x
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


cdef void rprop_begin(RpropStep* c) noexcept nogil:
    c.sign = signed(c.maximize)
    c.state_steps += 1


cdef void rprop_step(real_t* p, const real_t* g, real_t* last, real_t* size, Py_ssize_t n,
                     const RpropStep* c) noexcept nogil:
    cdef real_t sign = <real_t>c.sign
    cdef real_t shrink = <real_t>c.etaminus, grow = <real_t>c.etaplus
    cdef real_t low = <real_t>c.step_size_min, high = <real_t>c.step_size_max, d, x, y
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


cdef void asgd_begin(AsgdStep* c) noexcept nogil:
    c.sign = signed(c.maximize)
    c.state_steps += 1
    c.eta = c.etas
    c.keep = 1 - c.lambd * c.eta
    c.mu = c.mus
    # Those of the next step, as states are saved with them.
    c.etas = c.lr / pow(1 + c.lambd * c.lr * c.state_steps, c.alpha)
    c.mus = 1 / fmax(1, c.state_steps - c.t0)


cdef void asgd_step(real_t* p, const real_t* g, real_t* mean, Py_ssize_t n,
                    const AsgdStep* c) noexcept nogil:
    cdef real_t sign = <real_t>c.sign, decay = <real_t>c.weight_decay
    cdef real_t eta = <real_t>c.eta, keep = <real_t>c.keep, mu = <real_t>c.mu, d, x
    cdef bint copies = c.mu == 1
    cdef Py_ssize_t i
    for i in range(n):
        d = decayed(g[i], p[i], sign, decay)
        x = fma(keep, p[i], -eta * d)
        p[i] = x
        mean[i] = x if copies else fma(x - mean[i], mu, mean[i])


cdef void nadam_begin(NadamStep* c) noexcept nogil:
    cdef double now, after
    c.sign = signed(c.maximize)
    c.state_steps += 1
    now = c.beta1 * (1 - 0.5 * pow(0.96, c.state_steps * c.momentum_decay))
    after = c.beta1 * (1 - 0.5 * pow(0.96, (c.state_steps + 1) * c.momentum_decay))
    c.mu_products *= now
    c.decay = 0 if c.decoupled_weight_decay != 0 else c.weight_decay
    c.keep = 1 - c.lr * c.weight_decay if c.decoupled_weight_decay != 0 else 1
    c.grad_rate = c.lr * (1 - now) / (1 - c.mu_products)
    c.mean_rate = c.lr * after / (1 - c.mu_products * after)
    c.spread = 1 / sqrt64(1 - pow(c.beta2, c.state_steps))


cdef void nadam_step(real_t* p, const real_t* g, real_t* m, real_t* v, Py_ssize_t n,
                     const NadamStep* c) noexcept nogil:
    cdef real_t sign = <real_t>c.sign, decay = <real_t>c.decay, keep = <real_t>c.keep
    cdef real_t w1 = <real_t>(1 - c.beta1), b1 = <real_t>1 - w1
    cdef real_t b2 = <real_t>c.beta2, w2 = <real_t>(1 - c.beta2)
    cdef real_t by_grad = <real_t>c.grad_rate, by_mean = <real_t>c.mean_rate
    cdef real_t spread = <real_t>c.spread, eps = <real_t>c.eps, d, x, y, z
    cdef Py_ssize_t i
    for i in range(n):
        d = decayed(g[i], p[i], sign, decay)
        x = toward(m[i], d, w1, b1)
        y = fma(w2 * d, d, b2 * v[i])
        m[i] = x
        v[i] = y
        z = fma(by_grad, d, by_mean * x) / fma(root(y), spread, eps)
        p[i] = fma(keep, p[i], -z)


cdef void radam_begin(RadamStep* c) noexcept nogil:
    cdef double unbiased, longest, length, part
    c.sign = signed(c.maximize)
    c.state_steps += 1
    unbiased = 1 - pow(c.beta2, c.state_steps)
    longest = 2 / (1 - c.beta2) - 1
    length = longest - 2 * c.state_steps * pow(c.beta2, c.state_steps) / unbiased
    c.decay = 0 if c.decoupled_weight_decay != 0 else c.weight_decay
    c.keep = 1 - c.lr * c.weight_decay if c.decoupled_weight_decay != 0 else 1
    c.rate = c.lr / (1 - pow(c.beta1, c.state_steps))
    c.rectified = length > 5
    if length > 5:
        part = (length - 4) * (length - 2) * longest
        c.rate *= sqrt64(unbiased * part / ((longest - 4) * (longest - 2) * length))


cdef void radam_step(real_t* p, const real_t* g, real_t* m, real_t* v, Py_ssize_t n,
                     const RadamStep* c) noexcept nogil:
    cdef real_t sign = <real_t>c.sign, decay = <real_t>c.decay, keep = <real_t>c.keep
    cdef real_t w1 = <real_t>(1 - c.beta1), b1 = <real_t>1 - w1
    cdef real_t b2 = <real_t>c.beta2, w2 = <real_t>(1 - c.beta2)
    cdef real_t rate = <real_t>c.rate, eps = <real_t>c.eps, d, x, y
    cdef bint rectified = c.rectified != 0
    cdef Py_ssize_t i
    for i in range(n):
        d = decayed(g[i], p[i], sign, decay)
        x = toward(m[i], d, w1, b1)
        y = fma(w2 * d, d, b2 * v[i])
        m[i] = x
        v[i] = y
        p[i] = fma(keep, p[i], -(rate * x / (root(y) + eps) if rectified else rate * x))


include "optimizer_dispatch.pxi"


# --- any dtype -----------------------------------------------------------------------------------

cdef inline void real_step(int loop, real_t** a, Py_ssize_t n, double scale,
                           const StepNumbers* c) noexcept nogil:
    cdef real_t by = <real_t>scale
    cdef Py_ssize_t i
    if scale != 0:
        for i in range(n):
            a[1][i] /= by
    typed_step(loop, a, n, c)


cdef void half_step(int loop, bint is_f16, uint16_t** a, Py_ssize_t n, double scale,
                    const StepNumbers* c) noexcept nogil:
    cdef float x[STEP_ARRAYS][STEP_BLOCK]
    cdef float* wide[STEP_ARRAYS]
    cdef Py_ssize_t start, some
    cdef int k
    for k in range(STEP_ARRAYS):
        wide[k] = x[k] if a[k] != NULL else NULL
    for start from 0 <= start < n by STEP_BLOCK:
        some = n - start if n - start < STEP_BLOCK else STEP_BLOCK
        for k in range(STEP_ARRAYS):
            if a[k] != NULL:
                ag_widen(is_f16, a[k] + start, x[k], some)
        real_step(loop, wide, some, scale, c)
        for k in range(STEP_ARRAYS):
            if a[k] != NULL and (k != 1 or scale != 0):
                ag_narrow_all(is_f16, x[k], a[k] + start, some)


cdef void step(int loop, int dt, char** p, Py_ssize_t n, double scale,
               const StepNumbers* c) noexcept nogil:
    if dt == DT_F32:
        real_step(loop, <float**>p, n, scale, c)
    elif dt == DT_F64:
        real_step(loop, <double**>p, n, scale, c)
    else:
        half_step(loop, dt == DT_F16, <uint16_t**>p, n, scale, c)


cdef bint unscaled(real_t* p, Py_ssize_t n, real_t factor) noexcept nogil:
    """Tell whether all were finite: what isn't differs from itself, or leaves no 0."""
    cdef real_t x
    cdef int bad = 0
    cdef Py_ssize_t i
    for i in range(n):
        x = p[i]
        bad |= x - x != 0
        p[i] = x * factor
    return bad == 0


cdef bint half_unscaled(bint is_f16, uint16_t* p, Py_ssize_t n, float factor) noexcept nogil:
    cdef float x[STEP_BLOCK]
    cdef Py_ssize_t start, some
    cdef bint fine = True
    for start from 0 <= start < n by STEP_BLOCK:
        some = n - start if n - start < STEP_BLOCK else STEP_BLOCK
        ag_widen(is_f16, p + start, x, some)
        fine &= unscaled(<float*>x, some, factor)
        ag_narrow_all(is_f16, x, p + start, some)
    return fine


cdef bint unscale(int dt, char* p, Py_ssize_t n, double factor) noexcept nogil:
    if dt == DT_F32:
        return unscaled(<float*>p, n, <float>factor)
    if dt == DT_F64:
        return unscaled(<double*>p, n, factor)
    return half_unscaled(dt == DT_F16, <uint16_t*>p, n, <float>factor)


cdef OptimizerTable table
table.step = step
table.begin = begin
table.places = places
table.unscale = unscale


def table_capsule():
    """Capsule with the address of the table (see optimizer_loops.pxd)."""
    return PyCapsule_New(&table, "autograd_cy.optimizer_table", NULL)
