# cython: language_level=3
# What the compiled copies of optimizer_loops.pyx offer, handed over as one table in a capsule.
# The gradient that counts is sign * g + weight_decay * p.

cdef enum:
    STEP_ARRAYS = 5         # parameter, gradient and up to three of state

cdef enum:
    STEP_SGD
    STEP_ADAM
    STEP_ADAGRAD
    STEP_ADADELTA
    STEP_ADAMAX
    STEP_RMSPROP
    STEP_RPROP
    STEP_ASGD
    STEP_NADAM
    STEP_RADAM

# Arrays: momentum buffer or NULL.
ctypedef struct SgdStep:
    double lr
    double momentum
    double dampening
    double weight_decay
    double sign
    double nesterov
    double first            # the momentum buffer has no value yet

# Arrays: means of gradients and of their squares, largest mean of squares or NULL.
ctypedef struct AdamStep:
    double beta1
    double beta2
    double eps
    double weight_decay
    double sign
    double keep             # factor of the parameter: 1 - lr * weight_decay when decoupled
    double rate             # lr, corrected for the bias of the first moment
    double spread           # factor of the root of the second moment: its bias correction

# Arrays: sum of squares.
ctypedef struct AdagradStep:
    double rate
    double eps
    double weight_decay
    double sign

# Arrays: means of the squares of gradients and of steps.
ctypedef struct AdadeltaStep:
    double lr
    double rho
    double eps
    double weight_decay
    double sign

# Arrays: mean of gradients, largest gradient.
ctypedef struct AdamaxStep:
    double rate
    double beta1
    double beta2
    double eps
    double weight_decay
    double sign

# Arrays: mean of squares, momentum buffer or NULL, mean of gradients (if centered) or NULL.
ctypedef struct RmspropStep:
    double lr
    double alpha
    double eps
    double weight_decay
    double momentum
    double sign

# Arrays: gradient of the last step, sizes of steps.
ctypedef struct RpropStep:
    double shrink
    double grow
    double smallest
    double largest
    double sign

# Arrays: average of parameters.
ctypedef struct AsgdStep:
    double eta
    double keep             # factor of the parameter: 1 - lambd * eta
    double mu               # how much of the parameter goes into the average
    double weight_decay
    double sign

# Arrays: means of gradients and of their squares.
ctypedef struct NadamStep:
    double beta1
    double beta2
    double eps
    double weight_decay
    double sign
    double keep
    double grad_rate        # factors of the gradient and of its mean
    double mean_rate
    double spread           # factor of the root of the second moment: its bias correction

# Arrays: means of gradients and of their squares.
ctypedef struct RadamStep:
    double beta1
    double beta2
    double eps
    double weight_decay
    double sign
    double keep
    double rate
    double rectified        # whether the step is divided by the root of the second moment

# The numbers of a method in the order of its fields.
ctypedef union StepConstants:
    double numbers[9]
    SgdStep sgd
    AdamStep adam
    AdagradStep adagrad
    AdadeltaStep adadelta
    AdamaxStep adamax
    RmspropStep rmsprop
    RpropStep rprop
    AsgdStep asgd
    NadamStep nadam
    RadamStep radam

# method STEP_*; dt: a real dtype, which all arrays have.
ctypedef void (*step_fn)(
    int method, int dt, char** p, Py_ssize_t n, const StepConstants* c) noexcept nogil

ctypedef struct OptimizerTable:
    step_fn step
