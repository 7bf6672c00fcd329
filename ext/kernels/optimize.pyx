# cython: language_level=3
# build: plain cold
# Optimizer steps: one launch updates all parameters in place, in one parallel region over their
# concatenated elements, so that many small parameters cost no more than a few large ones.  The
# kernels, one for each record, are made from the records (optimizer_kernels.pxi); what is here they
# have in common.  A launch reads at run time what changes from step to step: the learning rate, the
# scale of the gradients, whether one of them is infinite, and the numbers of states.

from cpython.pycapsule cimport PyCapsule_GetPointer
from cpython.ref cimport PyObject
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from autograd_cy._C import cpu as _cpu
from autograd_cy._C.dtypes cimport DT_F32, DT_F64, DT_SIZE, dt_is_complex, dt_real
from autograd_cy._C.faults cimport FAULT_NONE, FAULT_STEP_COUNT, fault_error, note_fault
from autograd_cy._C.iterate cimport check_writable, fill_with
from autograd_cy._C.launch cimport (
    KIND_STEP, READS, UPDATES, Launch, Operand, begin, captures_here, launch, may_fault,
    note_constant, operand, spread)
from autograd_cy._C.optimizer_loops cimport *
from autograd_cy._C.parallel cimport parallel_for, team_size
from autograd_cy._C.sizes cimport parts
from autograd_cy._C.step_lists cimport Number, Segment, StepLists, StepPlan
from autograd_cy._C.storage cimport ON_CPU, ON_META
from autograd_cy._C.tensor cimport (
    F_BATCHED, F_STRIDED, Tensor, bump_version, store_element, tensor_empty_like, tensor_empty_on)

cdef object _loops = _cpu.load("optimizer_loops")
cdef const OptimizerTable* L = <const OptimizerTable*>PyCapsule_GetPointer(
    _loops.table_capsule(), "autograd_cy.optimizer_table")

cdef enum:
    TILE = 16384       # elements of a tile, counted over all parameters


# --- what a launch does -----------------------------------------------------------------------

cdef inline double value_of(Number x) noexcept nogil:
    if x.dt == DT_F32:
        return (<float*>x.p)[0]
    if x.dt == DT_F64:
        return (<double*>x.p)[0]
    return <double>(<long long*>x.p)[0]


cdef inline void set_number(Number x, double value) noexcept nogil:
    if x.dt == DT_F32:
        (<float*>x.p)[0] = <float>value
    else:
        (<double*>x.p)[0] = value


cdef inline bint same_numbers(Segment* s, Segment* before, int last) noexcept nogil:
    cdef int k
    for k in range(last + 1):
        if s.numbers[k].p != NULL and value_of(s.numbers[k]) != value_of(before.numbers[k]):
            return False
    return True


cdef void begin_steps(StepPlan* plan) noexcept nogil:
    """The numbers of this step, of each parameter; those of one before are taken if they agree."""
    cdef Segment* s
    cdef double* lr
    cdef double* numbers[STEP_NUMBERS]
    cdef Py_ssize_t i
    cdef int k, n
    for i in range(plan.count):
        s = &plan.segments[i]
        if i and same_numbers(s, &plan.segments[i - 1], plan.last):
            s.like = plan.segments[i - 1].like
            continue
        s.like = i
        s.c = plan.numbers
        n = L.places(plan.loop, &s.c, &lr, numbers)
        lr[0] = value_of(plan.lr)
        for k in range(n):
            if s.numbers[k].p != NULL:
                numbers[k][0] = value_of(s.numbers[k])
        L.begin(plan.loop, &s.c)


cdef void end_steps(StepPlan* plan) noexcept nogil:
    """The numbers of states move on."""
    cdef Segment* s
    cdef double* lr
    cdef double* numbers[STEP_NUMBERS]
    cdef Py_ssize_t i
    cdef int k
    if plan.last < 0:
        return
    for i in range(plan.count):
        s = &plan.segments[i]
        if s.like == i:
            L.places(plan.loop, &s.c, &lr, numbers)
        for k in range(plan.last + 1):
            if s.numbers[k].p != NULL:
                set_number(s.numbers[k], numbers[k][0])


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
        L.step(plan.loop, s.dt, p, n, plan.divisor, &plan.segments[s.like].c)
        at += n
        lo += 1


cdef void run_steps(void* ctx) noexcept nogil:
    cdef StepPlan* plan = <StepPlan*>ctx
    cdef Py_ssize_t tiles = parts(plan.total, TILE)
    plan.fault.kind = FAULT_NONE
    if note_uncountable(plan):              # a launch that runs again; at first `run` has looked
        return
    if plan.found_inf.p != NULL and value_of(plan.found_inf) != 0:
        return
    begin_steps(plan)
    plan.divisor = value_of(plan.grad_scale) if plan.grad_scale.p != NULL else 0
    if tiles == 1:
        step_tile(plan, 0)
    else:
        parallel_for(step_tile, plan, tiles, team_size(plan.cost * plan.total))
    end_steps(plan)


cdef bint note_uncountable(StepPlan* plan) noexcept nogil:
    """Note the first parameter whose number of steps is none: it is the last number of a loop."""
    cdef Py_ssize_t i
    cdef int64_t bits
    cdef double step
    if plan.last < 0:
        return False
    for i in range(plan.count):
        step = value_of(plan.segments[i].numbers[plan.last])
        if not step >= 0:
            memcpy(&bits, &step, sizeof(bits))
            note_fault(&plan.fault, FAULT_STEP_COUNT, plan.op, bits, plan.first + i, 0)
            return True
    return False


# --- the kernels ------------------------------------------------------------------------------

cdef class Steps(StepLists):
    """One step of several parameters on the CPU."""

    cdef int check(self) except -1:
        if note_uncountable(self.plan):
            raise fault_error(&self.plan.fault)
        return 0

    cdef int start(self, Py_ssize_t first) except -1:
        """Run the plan, whose segments are those from `first` on."""
        cdef Launch work
        cdef Operand* operands = NULL
        cdef StepPlan* plan = self.plan
        cdef int k
        plan.first = first
        begin(&work, "optimizer step", plan, sizeof(StepPlan) + plan.count * sizeof(Segment),
              KIND_STEP)
        may_fault(&work, &plan.fault)
        if self.rows is not None:
            k = 3 + <int>plan.count * (STEP_ARRAYS + STEP_NUMBERS)
            operands = <Operand*>malloc(k * sizeof(Operand))
            if operands == NULL:
                raise MemoryError()
            spread(&work, operands, k)
            self.describe(&work, first)
        try:
            launch(&work, run_steps, plan.cost * plan.total)
        finally:
            free(operands)
        return 0

    cdef int describe(self, Launch* work, Py_ssize_t first) except -1:
        """The operands of the launch."""
        cdef Segment* s
        cdef Py_ssize_t i
        cdef int k
        cdef list row
        for i in range(self.plan.count):
            s = &self.plan.segments[i]
            row = self.rows[first + i]
            for k in range(STEP_ARRAYS):
                if row[k] is not None:
                    operand(work, &s.p[k], <Tensor>row[k],
                            READS if k == 1 and self.plan.grad_scale.p == NULL else UPDATES)
            for place, t in row[STEP_ARRAYS:]:
                operand(work, &s.numbers[<int>place].p, <Tensor>t, UPDATES)
        if self.scalars[0] is not None:
            operand(work, &self.plan.lr.p, <Tensor>self.scalars[0], READS)
        if self.scalars[1] is not None:
            operand(work, &self.plan.grad_scale.p, <Tensor>self.scalars[1], READS)
        if self.scalars[2] is not None:
            operand(work, &self.plan.found_inf.p, <Tensor>self.scalars[2], READS)
        return 0


include "optimizer_kernels.pxi"


# --- state ------------------------------------------------------------------------------------
# It is made before the steps that use it, so that a launch of them that runs again must not make it
# anew: filling it is no launch, unless the whole optimizer is made anew then.

cdef int fill_now(Tensor t, double value, bint again) except -1:
    """Fill fresh memory; both parts of complex numbers. `again`: as a launch."""
    cdef Py_ssize_t i, n = t.count
    cdef int dt = dt_real(t.dt)
    cdef char[16] item
    if t.mem.device == ON_META:
        return 0
    if again or t.mem.device != ON_CPU:
        fill_with(t, complex(value, value) if dt_is_complex(t.dt) else value)
        return 0
    n *= 1 + dt_is_complex(t.dt)
    if value == 0:
        memset(t.ptr, 0, n * DT_SIZE[dt])
    else:
        store_element(item, dt, value)
        for i in range(n):
            memcpy(t.ptr + i * DT_SIZE[dt], item, DT_SIZE[dt])
    note_constant(t)
    return 0


def state_like(Tensor param not None, double value=0.0, bint again=False):
    """
    Return state of an optimizer, with the memory format of its parameter.

    Parameters
    ----------
    param : Tensor
    value : float
        What it is filled with.
    again : bool
        Whether what is captured meanwhile fills it again when it is replayed.

    Returns
    -------
    Tensor

    Raises
    ------
    RuntimeError
        If the parameter is one of examples of a vmap.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy._C.optimize import state_like
    >>> state_like(ag.ones(2), 0.5)
    tensor([0.5000, 0.5000])
    """
    cdef Tensor t
    if param.flags & F_BATCHED:
        raise RuntimeError(
            "vmap: an optimizer has no state for examples of a vmap; step outside of it, or write "
            "the step in tensor operations")
    t = tensor_empty_like(param, param.dt)
    fill_now(t, value, again)
    return t


def state_number(Tensor param not None, double value, bint wide=False, bint again=False):
    """
    A number of a state, as a tensor on the device of its parameter.

    Parameters
    ----------
    param : Tensor
    value : float
    wide : bool
        Whether it has float64, and not float32.
    again : bool
        As for `state_like`.

    Returns
    -------
    Tensor
        Without dimensions.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy._C.optimize import state_number
    >>> state_number(ag.ones(2), 3)
    tensor(3.)
    """
    cdef Tensor t = tensor_empty_on(param.mem.device, DT_F64 if wide else DT_F32, 0, NULL, NULL)
    fill_now(t, value, again)
    return t


def put_number(Tensor number not None, double value):
    """
    Write a number of a state, or a rate; captured steps find it when they are replayed.

    Parameters
    ----------
    number : Tensor
        As `state_number` gives it.
    value : float

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy._C.optimize import put_number, state_number
    >>> rate = state_number(ag.ones(2), 0.5)
    >>> put_number(rate, 0.25)
    >>> rate
    tensor(0.2500)
    """
    if number.mem.device == ON_CPU and not captures_here():
        if number.dt == DT_F32:
            (<float*>number.ptr)[0] = <float>value
        else:
            (<double*>number.ptr)[0] = value
    elif number.mem.device != ON_META:
        fill_with(number, value)
    bump_version(number)


cdef bint all_differ(list objects) except -1:
    """Tell if all are listed once."""
    cdef Py_ssize_t i, at, n = len(objects), capacity = 16
    cdef PyObject* x
    cdef PyObject** table
    while capacity < 2 * n:
        capacity *= 2
    table = <PyObject**>calloc(capacity, sizeof(PyObject*))
    if table == NULL:
        raise MemoryError()
    for i in range(n):
        x = <PyObject*>objects[i]
        at = (<size_t>x >> 4) & (capacity - 1)
        while table[at] != NULL and table[at] != x:
            at = (at + 1) & (capacity - 1)
        if table[at] == x:
            free(table)
            return False
        table[at] = x
    free(table)
    return True


def with_gradients(params not None):
    """
    Parameters that have a gradient, their gradients, and how they can be stepped.

    Parameters
    ----------
    params : iterable of Tensor

    Returns
    -------
    tuple of (list of Tensor, list of Tensor, bool, bool)
        The last two say whether all are on one device, and whether none is listed twice.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy._C.optimize import with_gradients
    >>> x, y = ag.ones(1, requires_grad=True), ag.ones(1, requires_grad=True)
    >>> x.sum().backward()
    >>> params, grads, on_one_device, differ = with_gradients([x, y, x])
    >>> len(params), grads, on_one_device, differ
    (2, [tensor([1.]), tensor([1.])], True, False)
    """
    cdef list result = [], grads = []
    cdef Tensor t, first = None
    cdef bint together = True
    for t in params:
        if t.gradient == NULL:
            if t.fn == NULL or t.grad is None:      # which warns of tensors that get none
                continue
        if first is None:
            first = t
        elif t.mem.device != first.mem.device:
            together = False
        result.append(t)
        grads.append(<object>t.gradient)
    return result, grads, together, all_differ(result)


def state_lists(states not None, list params not None, tuple arrays not None, used,
                tuple numbers not None):
    """
    Lists of what the states of parameters hold, one for each name.

    Parameters
    ----------
    states : dict
    params : list of Tensor
    arrays, used : tuple of str
        Names; arrays that are not among `used` get no list, but ``()``.
    numbers : tuple of str
        More names.

    Returns
    -------
    list

    Raises
    ------
    KeyError
        If a state has no such name.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy._C.optimize import state_lists
    >>> x = ag.ones(2)
    >>> state_lists({x: {"sum": 1, "step": 2}}, [x], ("sum", "top"), ("sum",), ("step",))
    [[1], (), [2]]
    """
    cdef list known = [states[param] for param in params], lists = []
    for name in arrays:
        lists.append([state[name] for state in known] if name in used else ())
    for name in numbers:
        lists.append([state[name] for state in known])
    return lists


def are_numbers(list numbers not None):
    """
    Return whether all are tensors as steps read and write them: of one number, float32 or float64.

    Parameters
    ----------
    numbers : list

    Returns
    -------
    bool

    Raises
    ------
    RuntimeError
        If a tensor can't be written.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy._C.optimize import are_numbers
    >>> are_numbers([ag.tensor(1.0)]), are_numbers([1.0]), are_numbers([ag.tensor(1)])
    (True, False, False)
    """
    cdef Tensor t
    cdef bint fine = True
    for x in numbers:
        if not isinstance(x, Tensor):
            fine = False
            continue
        t = <Tensor>x
        if t.mem.readonly or t.flags & F_STRIDED:
            check_writable(t, "step")
        fine &= t.nd == 0 and (t.dt == DT_F32 or t.dt == DT_F64)
    return fine
