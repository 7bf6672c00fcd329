# cython: language_level=3
# build: plain cold
# Optimizer steps: one call updates all parameters in place, in one parallel region over their
# concatenated elements, so that many small parameters cost no more than a few large ones.

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.math cimport pow, sqrt
from libc.stdlib cimport free, malloc

from autograd_cy._C import cpu as _cpu
from autograd_cy._C.dtypes cimport (
    DT_F32, DT_F64, DT_I64, DT_SIZE, dt_is_complex, dt_object, dt_real)
from autograd_cy._C.devices cimport no_kernel
from autograd_cy._C.iterate cimport check_writable, contiguous, copy_into
from autograd_cy._C.launch cimport (
    READS, UPDATES, Launch, Operand, begin, captures_here, launch_tiles, no_launch, operand,
    spread)
from autograd_cy._C.optimizer_loops cimport *
from autograd_cy._C.recorder cimport Scope, begin_call, events
from autograd_cy._C.sizes cimport parts
from autograd_cy._C.storage cimport ON_CPU, ON_META
from autograd_cy._C.tensor cimport (
    F_LAZY, F_SLOW, F_STRIDED, G_PROFILE, Tensor, g_modes,
    bump_version, same_shape, sizes_of, tensor_empty_like,
    tensor_is_dense,
    writing)

cdef object _loops = _cpu.load("optimizer_loops")
cdef const OptimizerTable* L = <const OptimizerTable*>PyCapsule_GetPointer(
    _loops.table_capsule(), "autograd_cy.optimizer_table")

cdef int E = events("aten::_fused_sgd_\naten::_fused_adam_\naten::_fused_adamw_")
cdef enum:
    TILE = 16384       # elements of a tile, counted over all parameters


cdef struct Segment:
    char* p[STEP_ARRAYS]    # NULL: not used
    int dt
    Py_ssize_t item
    Py_ssize_t start   # elements of the parameters before this one
    Py_ssize_t n
    StepConstants c


cdef struct StepPlan:
    Py_ssize_t count
    Py_ssize_t total
    Py_ssize_t method      # STEP_*
    Segment segments[1]    # `count` of them


cdef void step_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef StepPlan* plan = <StepPlan*>ctx
    cdef Py_ssize_t at = tile * TILE, stop = at + TILE, lo = 0, hi = plan.count - 1, mid, n, skip
    cdef Segment* s
    cdef char* p[STEP_ARRAYS]
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
        for k in range(STEP_ARRAYS):
            p[k] = s.p[k] + skip * s.item if s.p[k] != NULL else NULL
        L.step(<int>plan.method, s.dt, p, n, &s.c)
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


cdef Py_ssize_t span_of(Tensor t) noexcept:
    """Bytes from the first to behind the last element."""
    cdef Py_ssize_t n = 1
    cdef int d
    for d in range(t.nd):
        n += (t.sizes[d] - 1) * t.strides[d]
    return n * DT_SIZE[t.dt]


cdef class Batch:
    """The segments of one step, and what must be copied back after it."""
    cdef StepPlan* plan
    cdef Launch work
    cdef Operand* operands    # of the launch, if it is kept
    cdef list held            # tensors that the segments point into
    cdef list copies          # (segment, tensor, dense copy, whether written)
    cdef list shared          # (address, end, segment, whether written) of memory of several owners

    def __cinit__(self, Py_ssize_t capacity):
        self.held = []
        self.copies = []
        self.shared = []
        self.plan = <StepPlan*>malloc(sizeof(StepPlan) + capacity * sizeof(Segment))
        if self.plan == NULL:
            raise MemoryError()
        self.plan.count = self.plan.total = 0
        begin(&self.work, "optimizer step", self.plan, 0)
        if captures_here():
            self.operands = <Operand*>malloc((STEP_ARRAYS * capacity + 1) * sizeof(Operand))
            if self.operands == NULL:
                raise MemoryError()
            spread(&self.work, self.operands, <int>(STEP_ARRAYS * capacity))

    def __dealloc__(self):
        free(self.plan)
        free(self.operands)

    cdef Segment* add(self, str op, tuple arrays, int needed) except NULL:
        """
        A segment for (parameter, gradient, state...).

        None stands for what is not used, behind the first `needed` arrays of state.
        """
        cdef Segment* s = &self.plan.segments[self.plan.count]
        cdef Tensor p = <Tensor?>arrays[0], t, u
        cdef bint flat = tensor_is_dense(p) and not p.flags & F_LAZY
        cdef int k
        cdef Py_ssize_t start
        if p.dt <= DT_I64:
            raise RuntimeError(f"{op}: parameters must be floating point or complex, not "
                               f"{dt_object(p.dt).name}")
        check_writable(p, op)
        if p.mem.device > ON_META:
            raise no_kernel(op, p.mem.device)
        for k in range(1, len(arrays)):
            if arrays[k] is None:
                if k < 2 + needed:
                    raise RuntimeError(
                        f"{op}: array {k - 2} of the state of a parameter is missing; was the "
                        "state loaded from another optimizer?")
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
            if k > 1:
                check_writable(t, op)
            flat = flat and same_layout(p, t) and not t.flags & F_LAZY
        for k in range(STEP_ARRAYS):
            s.p[k] = NULL
            if k >= len(arrays) or arrays[k] is None:
                continue
            t = <Tensor>arrays[k]
            u = t if flat else contiguous(t)
            if u is not t:
                self.held.append(u)
                self.copies.append((self.plan.count, t, u, k != 1))
            s.p[k] = u.ptr
            if t.mem.refcount > 1 and t.count:
                start = <Py_ssize_t>t.ptr
                self.shared.append((start, start + span_of(t), self.plan.count, k != 1))
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

    cdef bint overlapping(self) except -1:
        """Whether a step writes memory that the step of another parameter uses."""
        cdef list live = []       # of those that begin before `start`
        self.shared.sort()
        for start, stop, number, writes in self.shared:
            live = [entry for entry in live if entry[0] > start]
            for _, other, written in live:
                if other != number and (written or writes):
                    return True
            live.append((stop, number, writes))
        return False

    cdef int run_in_turn(self, str op) except -1:
        """One parameter after the other, as each finds what the one before it has left."""
        cdef Segment first = self.plan.segments[0]
        cdef Py_ssize_t i, tile, count = self.plan.count
        no_launch(op, "parameters that share memory are stepped one after the other")
        for i in range(count):
            own = [entry[1:] for entry in self.copies if entry[0] == i]
            for t, copy, _ in own:
                copy_into(<Tensor>copy, <Tensor>t, "step")
            self.plan.segments[0] = self.plan.segments[i] if i else first
            self.plan.segments[0].start = 0
            self.plan.count, self.plan.total = 1, self.plan.segments[0].n
            for tile in range(parts(self.plan.total, TILE)):
                step_tile(self.plan, tile)
            for t, copy, written in own:
                if written:
                    copy_into(<Tensor>t, <Tensor>copy, "step")
        return 0

    cdef int run(self, int method, double cost, str op) except -1:
        cdef Tensor t
        cdef Py_ssize_t total = self.plan.total
        if total == 0:
            return 0
        self.plan.method = method
        self.work.size = sizeof(StepPlan) + self.plan.count * sizeof(Segment)
        if len(self.shared) > 1 and self.overlapping():
            return self.run_in_turn(op)
        launch_tiles(&self.work, step_tile, parts(total, TILE), cost * total)
        for _, t, copy, written in self.copies:
            if written:
                copy_into(<Tensor>t, <Tensor>copy, "step")
        return 0


# --- numbers of states ----------------------------------------------------------------------
# Tensors without dimensions, as in torch.  Reading and writing them as such would cost more than a
# small step.

cdef bint is_plain_number(x) noexcept:
    return (isinstance(x, Tensor) and (<Tensor>x).nd == 0 and not (<Tensor>x).flags & F_SLOW
            and ((<Tensor>x).dt == DT_F32 or (<Tensor>x).dt == DT_F64))


cdef double number_of(x) except? -1:
    cdef Tensor t
    if not is_plain_number(x):
        return x
    t = x
    return (<float*>t.ptr)[0] if t.dt == DT_F32 else (<double*>t.ptr)[0]


cdef int check_number(state, str name) except -1:
    """Refuse a step whose numbers could not be kept, before it changes anything."""
    x = state[name]
    if isinstance(x, Tensor):
        check_writable(<Tensor>x, name)
    return 0


cdef int keep_number(state, str name, value) except -1:
    """`check_number` has been asked."""
    cdef Tensor t
    x = state[name]
    if not is_plain_number(x):
        if isinstance(x, Tensor):
            x.fill_(value)
        else:
            state[name] = value
        return 0
    t = x
    if t.dt == DT_F32:
        (<float*>t.ptr)[0] = <float>value
    else:
        (<double*>t.ptr)[0] = value
    bump_version(t)
    return 0


cdef object next_step(state):
    check_number(state, "step")
    step = state["step"]
    return step + 1 if type(step) is int else int(number_of(step)) + 1


def next_steps(list states not None):
    """
    The number of the next step of each state.

    Parameters
    ----------
    states : list of dict

    Returns
    -------
    list of int

    Raises
    ------
    RuntimeError
        If the tensor that holds a number cannot be written.

    Examples
    --------
    >>> from autograd_cy._C.optimize import next_steps
    >>> next_steps([{"step": 2}])
    [3]
    """
    return [next_step(state) for state in states]


def next_states(list states not None, tuple numbers not None):
    """
    Copies of states, with the number of the next step, and with floats for their numbers.

    Parameters
    ----------
    states : list of dict
    numbers : tuple of str
        Their names.

    Returns
    -------
    list of dict

    Raises
    ------
    RuntimeError
        If a tensor that holds a number cannot be written.

    Examples
    --------
    >>> from autograd_cy._C.optimize import next_states
    >>> next_states([{"step": 2, "mu": 1}], ("step", "mu"))
    [{'step': 3, 'mu': 1.0}]
    """
    cdef dict new
    cdef list found = []
    for state in states:
        new = dict(state)
        for name in numbers:
            if name in new:
                check_number(state, name)
                new[name] = number_of(new[name])
        new["step"] = next_step(state)
        found.append(new)
    return found


def keep_numbers(list states not None, list after not None, tuple numbers not None):
    """
    Write numbers into states, into the tensors that hold them.

    Parameters
    ----------
    states, after : list of dict
    numbers : tuple of str
        Their names.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy._C.optimize import keep_numbers
    >>> states = [{"step": ag.tensor(2.0)}]
    >>> keep_numbers(states, [{"step": 3}], ("step",))
    >>> states
    [{'step': tensor(3.)}]
    """
    cdef Py_ssize_t i
    for i in range(len(states)):
        state = states[i]
        new = after[i]
        for name in numbers:
            if name in new:
                keep_number(state, name, new[name])


def keep_steps(list states not None, list steps not None):
    """
    Write the number of a step into each state.

    Parameters
    ----------
    states : list of dict
    steps : list of int

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy._C.optimize import keep_steps
    >>> states = [{"step": ag.tensor(2.0)}, {"step": 2}]
    >>> keep_steps(states, [3, 3])
    >>> states
    [{'step': tensor(3.)}, {'step': 3}]
    """
    cdef Py_ssize_t i
    for i in range(len(states)):
        keep_number(states[i], "step", steps[i])


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
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E, (params, grads, bufs, lr, momentum))
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
        s = batch.add("sgd_step", (p, grads[i], buf), 0)
        s.c.sgd.lr = lr
        s.c.sgd.momentum = momentum
        s.c.sgd.dampening = dampening
        s.c.sgd.weight_decay = weight_decay
        s.c.sgd.sign = -1 if maximize else 1
        s.c.sgd.nesterov = nesterov
        s.c.sgd.first = first
        if first:
            bufs[i] = buf
    for i in range(len(params)):
        if grads[i] is not None:
            writing(<Tensor>params[i], "sgd_step")
    batch.run(STEP_SGD, 1.5 if momentum == 0 else 2, "sgd_step")
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
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + (2 if decoupled else 1), (params, grads, exp_avgs, exp_avg_sqs, lr))
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
                                    max_exp_avg_sqs[i] if amsgrad else None),
                      3 if amsgrad else 2)
        s.c.adam.beta1 = beta1
        s.c.adam.beta2 = beta2
        s.c.adam.eps = eps
        s.c.adam.sign = -1 if maximize else 1
        s.c.adam.weight_decay = 0 if decoupled else weight_decay
        s.c.adam.keep = 1 - lr * weight_decay if decoupled else 1
        s.c.adam.rate = lr / (1 - pow(beta1, step))
        s.c.adam.spread = 1 / sqrt(1 - pow(beta2, step))
    for i in range(len(params)):
        if grads[i] is not None:
            writing(<Tensor>params[i], "adam_step")
    batch.run(STEP_ADAM, 4, "adam_step")
    for i in range(len(params)):
        if grads[i] is not None:
            bump_version(<Tensor>params[i])


# --- methods by name ------------------------------------------------------------------------

# name: (number, how many arrays of state, how many of them it can't do without, names of its
# numbers in the order of optimizer_loops.pxd, whether one changes with each step, cost of an
# element)
cdef dict METHODS = {
    "adagrad": (STEP_ADAGRAD, 1, 1, ("rate", "eps", "weight_decay", "sign"), True, 3.0),
    "adadelta": (
        STEP_ADADELTA, 2, 2, ("lr", "rho", "eps", "weight_decay", "sign"), False, 5.0),
    "adamax": (
        STEP_ADAMAX, 2, 2, ("rate", "beta1", "beta2", "eps", "weight_decay", "sign"), True, 3.0),
    "rmsprop": (
        STEP_RMSPROP, 3, 1, ("lr", "alpha", "eps", "weight_decay", "momentum", "sign"), False,
        4.0),
    "rprop": (
        STEP_RPROP, 2, 2, ("shrink", "grow", "smallest", "largest", "sign"), False, 3.0),
    "asgd": (STEP_ASGD, 1, 1, ("eta", "keep", "mu", "weight_decay", "sign"), True, 2.0),
    "nadam": (
        STEP_NADAM, 2, 2,
        ("beta1", "beta2", "eps", "weight_decay", "sign", "keep", "grad_rate", "mean_rate",
         "spread"), True, 4.0),
    "radam": (
        STEP_RADAM, 2, 2,
        ("beta1", "beta2", "eps", "weight_decay", "sign", "keep", "rate", "rectified"), True, 4.0),
}

cdef dict EVENTS = {name: events(f"autograd_cy::_fused_{name}_") for name in METHODS}
EVENTS["adagrad"] = events("aten::_fused_adagrad_")


def fused_step(str method, list params not None, list grads not None, list states not None,
               list numbers not None):
    """
    One step of a method for all parameters, in place.

    Parameters
    ----------
    method : str
        One of "adagrad", "adadelta", "adamax", "rmsprop", "rprop", "asgd", "nadam" and "radam".
    params, grads : list of Tensor
        Parameters and their gradients.
    states : list of list of (Tensor or None)
        For each array of the method's state a list with one for each parameter.
    numbers : list of dict
        For each parameter the numbers of its step; those of several may be one object.

    Raises
    ------
    ValueError
        If the method is unknown, lengths differ, or a number is missing or superfluous.
    RuntimeError
        If dtypes, shapes or devices of a parameter, its gradient and its state differ.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy._C.optimize import fused_step
    >>> p, total = ag.ones(1), ag.zeros(1)
    >>> fused_step("adagrad", [p], [ag.tensor([2.0])], [[total]],
    ...            [{"rate": 0.5, "eps": 0.0, "weight_decay": 0.0, "sign": 1.0}])
    >>> p, total
    (tensor([0.5000]), tensor([4.]))
    """
    cdef Scope _seen = NULL
    cdef Batch batch = Batch(len(params))
    cdef Segment* s
    cdef Py_ssize_t i
    cdef int k, number, needed
    cdef tuple names
    cdef dict given
    cdef str op = method + "_step"
    if method not in METHODS:
        raise ValueError(f"fused_step: no method {method!r}; there are {', '.join(METHODS)}")
    if g_modes & G_PROFILE:
        _seen = begin_call(<int>EVENTS[method], (params, grads))
    number, arrays, needed, names, changes, cost = METHODS[method]
    if changes:
        no_launch(op, "numbers of it change with each step, and a second run would take those of "
                  "this one; use SGD")
    if len(states) != arrays:
        raise ValueError(f"{op}: got {len(states)} lists of state, but the method has {arrays}")
    check_lengths(op, params, (grads, numbers, *states))
    for i in range(len(params)):
        s = batch.add(op, (params[i], grads[i], *[state[i] for state in states]), needed)
        given = <dict?>numbers[i]
        if given.keys() != set(names):
            raise ValueError(f"{op}: got the numbers {', '.join(given)} instead of "
                             f"{', '.join(names)}")
        for k in range(<int>len(names)):
            s.c.numbers[k] = given[names[k]]
    for i in range(len(params)):
        writing(<Tensor>params[i], op)
    batch.run(number, cost, op)
    for i in range(len(params)):
        bump_version(<Tensor>params[i])
