# cython: language_level=3
# What the compiled copies of optimizer_loops.pyx offer, handed over as one table in a capsule.

# Constants of one parameter's step.  The gradient that counts is sign * g + weight_decay * p.
ctypedef struct SgdStep:
    double lr
    double momentum
    double dampening
    double weight_decay
    double sign
    bint nesterov
    bint first              # the momentum buffer has no value yet

ctypedef struct AdamStep:
    double beta1
    double beta2
    double eps
    double weight_decay
    double sign
    double keep             # factor of the parameter: 1 - lr * weight_decay when decoupled
    double rate             # lr, corrected for the bias of the first moment
    double spread           # factor of the root of the second moment: its bias correction

# b is NULL without momentum, top without amsgrad.  dtypes: the real ones.
ctypedef void (*sgd_fn)(
    int dt, char* p, const char* g, char* b, Py_ssize_t n, const SgdStep* s) noexcept nogil
ctypedef void (*adam_fn)(
    int dt, char* p, const char* g, char* m, char* v, char* top, Py_ssize_t n,
    const AdamStep* s) noexcept nogil

ctypedef struct OptimizerTable:
    sgd_fn sgd
    adam_fn adam
