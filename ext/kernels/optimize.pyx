# cython: language_level=3
# Optimizer steps: one call updates all parameters in place, in one parallel region over their
# concatenated elements, so that many small parameters cost no more than a few large ones.

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.math cimport sqrt
from libc.stdlib cimport free, malloc

from autograd_cy._C import cpu as _cpu
from autograd_cy._C.dtypes cimport DT_I64, DT_SIZE, dt_is_complex, dt_object, dt_real
from autograd_cy._C.devices cimport no_kernel
from autograd_cy._C.iterate cimport check_writable, contiguous, copy_into
from autograd_cy._C.launch cimport (
    READS, UPDATES, Launch, Operand, begin, kept_here, launch_tiles, no_launch, operand,
    spread)
from autograd_cy._C.optimizer_loops cimport AdamStep, OptimizerTable, SgdStep
from autograd_cy._C.storage cimport ON_CPU, ON_META
from autograd_cy._C.tensor cimport (
    F_LAZY, F_STRIDED, Tensor, bump_version, same_shape, sizes_of, tensor_empty_like,
    tensor_is_dense,
    writing)

cdef object _loops = _cpu.load("optimizer_loops")
cdef const OptimizerTable* L = <const OptimizerTable*>PyCapsule_GetPointer(
    _loops.table_capsule(), "autograd_cy.optimizer_table")

cdef enum:
    TILE = 16384       # elements of a tile, counted over all parameters
    ARRAYS = 5         # parameter, gradient and up to three of state


cdef struct Segment:
    char* p[5]         # NULL: not used
    int dt
    Py_ssize_t item
    Py_ssize_t start   # elements of the parameters before this one
    Py_ssize_t n
    SgdStep sgd
    AdamStep adam


cdef struct StepPlan:
    Py_ssize_t count
    Py_ssize_t total
    Py_ssize_t is_adam
    Segment segments[1]    # `count` of them


cdef void step_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef StepPlan* plan = <StepPlan*>ctx
    cdef Py_ssize_t at = tile * TILE, stop = at + TILE, lo = 0, hi = plan.count - 1, mid, n, skip
    cdef Segment* s
    cdef char* p[5]
    cdef int k
    if stop > plan.total:
        stop = plan.total
    # The last segment that starts at or before the tile.
    while lo < hi:
        mid = (lo + hi + 1) // 2
        if plan.segments[mid].start <= at:
            lo = mid
        else:
            hi = mid - 1
    while at < stop:
        s = &plan.segments[lo]
        skip = at - s.start
        n = s.n - skip
        if n > stop - at:
            n = stop - at
        for k in range(ARRAYS):
            p[k] = s.p[k] + skip * s.item if s.p[k] != NULL else NULL
        if plan.is_adam:
            L.adam(s.dt, p[0], p[1], p[2], p[3], p[4], n, &s.adam)
        else:
            L.sgd(s.dt, p[0], p[1], p[2], n, &s.sgd)
        at += n
        lo += 1


cdef bint same_layout(Tensor a, Tensor b) noexcept:
    cdef int d
    if not ((a.flags | b.flags) & F_STRIDED):
        return True
    for d in range(a.nd):
        if a.sizes[d] != 1 and a.strides[d] != b.strides[d]:
            return False
    return True


cdef class Batch:
    """The segments of one step, and what must be copied back after it."""
    cdef StepPlan* plan
    cdef Launch work
    cdef Operand* operands    # of the launch, if it is kept
    cdef list held            # tensors that the segments point into
    cdef list copies          # (tensor, dense copy) pairs

    def __cinit__(self, Py_ssize_t capacity):
        self.held = []
        self.copies = []
        self.plan = <StepPlan*>malloc(sizeof(StepPlan) + capacity * sizeof(Segment))
        if self.plan == NULL:
            raise MemoryError()
        self.plan.count = self.plan.total = 0
        begin(&self.work, "optimizer step", self.plan, 0)
        if kept_here():
            self.operands = <Operand*>malloc((ARRAYS * capacity + 1) * sizeof(Operand))
            if self.operands == NULL:
                raise MemoryError()
            spread(&self.work, self.operands, <int>(ARRAYS * capacity))

    def __dealloc__(self):
        free(self.plan)
        free(self.operands)

    cdef Segment* add(self, str op, tuple arrays) except NULL:
        """A segment for (parameter, gradient, state...); None stands for what is not used."""
        cdef Segment* s = &self.plan.segments[self.plan.count]
        cdef Tensor p = <Tensor?>arrays[0], t, u
        cdef bint flat = tensor_is_dense(p) and not p.flags & F_LAZY
        cdef int k
        if p.dt <= DT_I64:
            raise RuntimeError(f"{op}: parameters must be floating point or complex, not "
                               f"{dt_object(p.dt).name}")
        check_writable(p, op)
        if p.mem.device > ON_META:
            raise no_kernel(op, p.mem.device)
        for k in range(1, len(arrays)):
            if arrays[k] is None:
                continue
            t = <Tensor?>arrays[k]
            if t.mem.device != p.mem.device:
                raise RuntimeError(
                    f"{op}: Expected all tensors to be on the same device, but found a parameter "
                    f"on {p.device} and its gradient or state on {t.device}")
            if t.dt != p.dt or not same_shape(t, p):
                raise RuntimeError(
                    f"{op}: parameter, gradient and state must agree: {dt_object(p.dt).name} "
                    f"{list(sizes_of(p))} and {dt_object(t.dt).name} {list(sizes_of(t))}")
            flat = flat and same_layout(p, t) and not t.flags & F_LAZY
        for k in range(ARRAYS):
            s.p[k] = NULL
            if k >= len(arrays) or arrays[k] is None:
                continue
            t = <Tensor>arrays[k]
            u = t if flat else contiguous(t)
            if u is not t:
                self.held.append(u)
                if k != 1:
                    self.copies.append((t, u))
            s.p[k] = u.ptr
            if self.operands != NULL:
                operand(&self.work, &s.p[k], u, READS if k == 1 else UPDATES)
        # Real and imaginary parts are stepped as parameters of their own, as in torch.
        s.dt = dt_real(p.dt)
        s.item = DT_SIZE[s.dt]
        s.n = 2 * p.count if dt_is_complex(p.dt) else p.count
        if p.mem.device != ON_CPU:
            s.n = 0                 # on meta there is nothing to change
        s.start = self.plan.total
        self.plan.total += s.n
        self.plan.count += 1
        self.held.append(p)
        return s

    cdef int run(self, bint is_adam, double cost) except -1:
        cdef Tensor t
        cdef Py_ssize_t total = self.plan.total
        if total == 0:
            return 0
        self.plan.is_adam = is_adam
        self.work.size = sizeof(StepPlan) + self.plan.count * sizeof(Segment)
        launch_tiles(&self.work, step_tile, (total + TILE - 1) // TILE, cost * total)
        for t, copy in self.copies:
            copy_into(t, <Tensor>copy, "step")
        return 0


cdef int check_lengths(str op, list params, tuple others) except -1:
    for other in others:
        if other is not None and len(other) != len(params):
            raise ValueError(
                f"{op}: got {len(params)} parameters but {len(other)} gradients or state tensors")
    return 0


def sgd_step(list params not None, list grads not None, list bufs, double lr, double momentum=0,
             double dampening=0, double weight_decay=0, bint nesterov=False, bint maximize=False):
    """
    One step of stochastic gradient descent for all parameters, in place.

    Parameters
    ----------
    params, grads : list of Tensor
        A gradient of None skips its parameter.
    bufs : list or None
        Momentum buffers; an entry of None is replaced by a new buffer. Not used without momentum.
    lr, momentum, dampening, weight_decay : float
    nesterov, maximize : bool

    Examples
    --------
    >>> from autograd_cy._C.optimize import sgd_step
    >>> sgd_step([], [], None, 0.1)
    """
    cdef Batch batch = Batch(len(params))
    cdef Segment* s
    cdef Tensor p
    cdef Py_ssize_t i
    cdef bint first
    check_lengths("sgd_step", params, (grads, bufs if momentum != 0 else None))
    if momentum != 0 and bufs is None:
        raise ValueError("sgd_step: momentum needs a list of buffers")
    for i in range(len(params)):
        if grads[i] is None:
            continue
        p = <Tensor?>params[i]
        buf = bufs[i] if momentum != 0 else None
        first = momentum != 0 and buf is None
        if first:
            no_launch("sgd_step", "the first step with momentum makes the buffers, and would make "
                      "them again in a second run; take one step before")
            buf = tensor_empty_like(p, p.dt)
        s = batch.add("sgd_step", (p, grads[i], buf))
        s.sgd.lr = lr
        s.sgd.momentum = momentum
        s.sgd.dampening = dampening
        s.sgd.weight_decay = weight_decay
        s.sgd.sign = -1 if maximize else 1
        s.sgd.nesterov = nesterov
        s.sgd.first = first
        if first:
            bufs[i] = buf
    for i in range(len(params)):
        if grads[i] is not None:
            writing(<Tensor>params[i], "sgd_step")
    batch.run(False, 1.5 if momentum == 0 else 2)
    for i in range(len(params)):
        if grads[i] is not None:
            bump_version(<Tensor>params[i])


def adam_step(list params not None, list grads not None, list exp_avgs not None,
              list exp_avg_sqs not None, list max_exp_avg_sqs, list steps not None, double lr,
              double beta1, double beta2, double eps, double weight_decay=0, bint amsgrad=False,
              bint decoupled=False, bint maximize=False):
    """
    One step of Adam, or of AdamW when `decoupled`, for all parameters, in place.

    Parameters
    ----------
    params, grads : list of Tensor
        A gradient of None skips its parameter.
    exp_avgs, exp_avg_sqs : list of Tensor
        Running means of the gradient and of its square, zero before the first step.
    max_exp_avg_sqs : list of Tensor or None
        Largest mean squares so far; used with amsgrad.
    steps : list of float
        Number of this step, 1 for the first, per parameter.
    lr, beta1, beta2, eps, weight_decay : float
    amsgrad, decoupled, maximize : bool

    Examples
    --------
    >>> from autograd_cy._C.optimize import adam_step
    >>> adam_step([], [], [], [], None, [], 1e-3, 0.9, 0.999, 1e-8)
    """
    cdef Batch batch = Batch(len(params))
    cdef Segment* s
    cdef Py_ssize_t i
    cdef double step
    no_launch("adam_step", "the corrections of the bias are numbers that change with each step, "
              "and a second run would take those of this one; use SGD")
    check_lengths("adam_step", params,
                  (grads, exp_avgs, exp_avg_sqs, steps, max_exp_avg_sqs if amsgrad else None))
    if amsgrad and max_exp_avg_sqs is None:
        raise ValueError("adam_step: amsgrad needs the list of largest mean squares")
    for i in range(len(params)):
        if grads[i] is None:
            continue
        step = steps[i]
        if step < 1:
            raise ValueError(f"adam_step: steps are counted from 1, got {step}")
        s = batch.add("adam_step", (params[i], grads[i], exp_avgs[i], exp_avg_sqs[i],
                                    max_exp_avg_sqs[i] if amsgrad else None))
        s.adam.beta1 = beta1
        s.adam.beta2 = beta2
        s.adam.eps = eps
        s.adam.sign = -1 if maximize else 1
        s.adam.weight_decay = 0 if decoupled else weight_decay
        s.adam.keep = 1 - lr * weight_decay if decoupled else 1
        s.adam.rate = lr / (1 - beta1 ** step)
        s.adam.spread = 1 / sqrt(1 - beta2 ** step)
    for i in range(len(params)):
        if grads[i] is not None:
            writing(<Tensor>params[i], "adam_step")
    batch.run(True, 4)
    for i in range(len(params)):
        if grads[i] is not None:
            bump_version(<Tensor>params[i])
