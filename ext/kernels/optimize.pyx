# cython: language_level=3
# build: plain cold
# Optimizer steps: one launch updates all parameters in place, in one parallel region over their
# concatenated elements, so that many small parameters cost no more than a few large ones.  The
# kernels, one for each record, are made from the records (optimizer_kernels.pxi); what is here they
# have in common.  A launch reads at run time what changes from step to step: the learning rate, the
# scale of the gradients, whether one of them is infinite, and the numbers of states.

from cpython.pycapsule cimport PyCapsule_GetPointer
from cpython.ref cimport PyObject
from cpython.unicode cimport PyUnicode_AsUTF8
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from autograd_cy._C import cpu as _cpu
from autograd_cy._C.dtypes cimport DT_F32, DT_F64, DT_SIZE, dt_is_complex, dt_real
from autograd_cy._C.faults cimport (
    FAULT_NONE, FAULT_STEP_COUNT, Fault, fault_error, note_fault)
from autograd_cy._C.iterate cimport check_writable, contiguous, copy_into, fill_with
from autograd_cy._C.launch cimport (
    KIND_STEP, READS, UPDATES, Launch, Operand, begin, captures_here, launch, may_fault,
    note_constant, operand, spread)
from autograd_cy._C.optimizer_loops cimport *
from autograd_cy._C.parallel cimport parallel_for, team_size
from autograd_cy._C.sizes cimport parts
from autograd_cy._C.storage cimport ON_CPU, ON_META
from autograd_cy._C.tensor cimport (
    F_BATCHED, F_LAZY, F_STRIDED, Tensor, bump_version, store_element, tensor_empty_like,
    tensor_empty_on, tensor_is_dense)

cdef object _loops = _cpu.load("optimizer_loops")
cdef const OptimizerTable* L = <const OptimizerTable*>PyCapsule_GetPointer(
    _loops.table_capsule(), "autograd_cy.optimizer_table")

cdef enum:
    TILE = 16384       # elements of a tile, counted over all parameters


# --- what a launch knows ----------------------------------------------------------------------

cdef struct Number:
    char* p            # NULL: there is none
    int dt             # float32 or float64; int64 of a number of Python


cdef struct Segment:
    char* p[STEP_ARRAYS]    # NULL: not used
    Number numbers[STEP_NUMBERS]
    int dt
    Py_ssize_t item
    Py_ssize_t start   # elements of the parameters before this one
    Py_ssize_t n
    Py_ssize_t like    # the segment whose numbers are also those of this one, or itself
    StepNumbers c      # of this step, from when it begins


cdef struct StepPlan:
    Fault fault            # a number of steps that is none
    const char* op         # what the error names
    Py_ssize_t first       # the number of the first parameter, in the lists that were given
    int loop               # STEP_*
    double cost            # of an element
    double divisor         # of the gradients, or 0; known when the step begins
    Number lr
    Number grad_scale
    Number found_inf
    StepNumbers numbers    # what is the same for all parameters, and stays
    int last               # the last of the numbers of states, which counts steps, or -1
    Py_ssize_t count
    Py_ssize_t total
    Segment segments[1]    # `count` of them


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


cdef inline Number number(Tensor t) noexcept:
    cdef Number x
    x.p = NULL
    x.dt = 0
    if t is not None:
        x.p = t.ptr
        x.dt = t.dt
    return x


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
    cdef double made
    if plan.last < 0:
        return False
    for i in range(plan.count):
        made = value_of(plan.segments[i].numbers[plan.last])
        if not made >= 0:
            memcpy(&bits, &made, sizeof(bits))
            note_fault(&plan.fault, FAULT_STEP_COUNT, plan.op, bits, plan.first + i, 0)
            return True
    return False


# --- the kernels ------------------------------------------------------------------------------

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


cdef Tensor tensor_in_lists(tuple lists, tuple arrays, int k, Py_ssize_t i):
    """Return parameter i itself, its gradient or an array of its state; None if it isn't used."""
    cdef tuple one = <tuple>lists[k] if k < 2 else <tuple>arrays[k - 2]
    return None if one is None else <Tensor>one[i]


cdef inline bint is_simple(tuple tensors, Py_ssize_t i) noexcept:
    """Tell if its address is all that a step asks of a tensor; true of none."""
    return tensors is None or not (
        (<Tensor>tensors[i]).flags & (F_STRIDED | F_LAZY) or (<Tensor>tensors[i]).mem.refcount > 1)


cdef class Steps:
    """One step of several parameters: its launch, and what must be copied back after it."""
    cdef StepPlan* plan
    cdef list held            # tensors that the segments point into
    cdef list rows            # the tensors of each segment, if the thread captures
    cdef list given           # those of lr, scale and overflow
    cdef list copies          # (segment, tensor, dense copy, whether written)
    # (address, end, segment, whether written, whether it is used there and not in a copy) of
    # memory of several owners
    cdef list shared_memory

    def __cinit__(self, str op, int loop, double cost, Py_ssize_t capacity):
        self.held = []
        self.rows = [] if captures_here() else None
        self.copies = []
        self.shared_memory = []
        self.plan = <StepPlan*>malloc(sizeof(StepPlan) + capacity * sizeof(Segment))
        if self.plan == NULL:
            raise MemoryError()
        memset(self.plan, 0, sizeof(StepPlan))
        self.plan.op = PyUnicode_AsUTF8(op)     # a literal, which stays
        self.plan.loop = loop
        self.plan.cost = cost
        self.plan.last = -1

    def __dealloc__(self):
        free(self.plan)

    cdef int shared(self, Tensor lr, Tensor grad_scale, Tensor found_inf) except -1:
        """Numbers that all parameters share, read when the step runs."""
        self.given = [lr, grad_scale, found_inf]
        self.plan.lr = number(lr)
        self.plan.grad_scale = number(grad_scale)
        self.plan.found_inf = number(found_inf)
        return 0

    cdef int add(self, tuple params, tuple grads, tuple arrays, tuple numbers) except -1:
        """Segments for the parameters; what isn't used is None in `arrays`, () in `numbers`."""
        cdef StepPlan* plan = self.plan
        cdef Segment* s
        cdef Tensor p
        cdef tuple lists = (params, grads), one
        cdef bint simple
        cdef Py_ssize_t i, n = len(params)
        cdef int k
        for i in range(n):
            s = &plan.segments[i]
            memset(s, 0, sizeof(Segment) - sizeof(StepNumbers))
            p = <Tensor>params[i]
            simple = self.rows is None and is_simple(params, i) and is_simple(grads, i)
            for one in arrays:
                simple = simple and is_simple(one, i)
            if simple:
                s.p[0] = p.ptr
                s.p[1] = (<Tensor>grads[i]).ptr
                for k in range(<int>len(arrays)):
                    if arrays[k] is not None:
                        s.p[2 + k] = (<Tensor>(<tuple>arrays[k])[i]).ptr
            else:
                self.fill(s, lists, arrays, i)
            # Real and imaginary parts are stepped as parameters of their own, as in torch.
            s.dt = dt_real(p.dt)
            s.item = DT_SIZE[s.dt]
            s.n = 2 * p.count if dt_is_complex(p.dt) else p.count
            s.start = plan.total
            plan.total += s.n
            plan.count += 1
        for k in range(<int>len(numbers)):
            self.add_numbers(k, <tuple>numbers[k])
        return 0

    cdef int add_numbers(self, int k, tuple numbers) except -1:
        """The number k of all states; () has none."""
        cdef Py_ssize_t i
        for i in range(len(numbers)):
            self.plan.last = k
            self.plan.segments[i].numbers[k] = number(<Tensor>numbers[i])
            if self.rows is not None:
                (<list>self.rows[i]).append((k, numbers[i]))
        return 0

    cdef int fill(self, Segment* s, tuple lists, tuple arrays, Py_ssize_t i) except -1:
        """The addresses of a parameter, its gradient and its state, in one layout."""
        cdef Tensor p = tensor_in_lists(lists, arrays, 0, i), t, u
        cdef bint flat = tensor_is_dense(p), written
        cdef Py_ssize_t start
        cdef int k, n = 2 + <int>len(arrays)
        cdef list row = None
        if self.rows is not None:
            row = [None] * STEP_ARRAYS
            self.rows.append(row)
        for k in range(n):
            t = tensor_in_lists(lists, arrays, k, i)
            flat = flat and (t is None or (same_layout(p, t) and not t.flags & F_LAZY))
        for k in range(n):
            t = tensor_in_lists(lists, arrays, k, i)
            if t is None:
                continue
            written = k != 1 or self.plan.grad_scale.p != NULL
            u = t if flat else contiguous(t)
            if u is not t:
                self.held.append(u)
                self.copies.append((self.plan.count, t, u, written))
            s.p[k] = u.ptr
            if t.mem.refcount > 1 and t.count:
                start = <Py_ssize_t>t.ptr
                self.shared_memory.append(
                    (start, start + span_of(t), self.plan.count, written, u is t))
            if row is not None:
                row[k] = u
        return 0

    cdef bint overlapping(self) except -1:
        """
        Return whether a step writes memory that the step of another parameter uses. If it writes
        some that it reads at another place, as the gradient, the numbers would depend on the order.
        """
        cdef list live = []       # of those that begin before `start`
        cdef bint found = False
        self.shared_memory.sort()
        for start, stop, one, writes, flat in self.shared_memory:
            live = [entry for entry in live if entry[1] > start]
            for begin_, _, other, written, plain in live:
                if not (written or writes):
                    continue
                if other != one:
                    found = True
                elif flat and plain and start != begin_:
                    raise RuntimeError(
                        f"{(<bytes>self.plan.op).decode()}: unsupported operation: parameter "
                        f"{one}, its gradient and its state refer to a single memory location at "
                        "different places. Please clone() the tensor before performing the "
                        "operation.")
            live.append((start, stop, one, writes, flat))
        return found

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
        if self.given[0] is not None:
            operand(work, &self.plan.lr.p, <Tensor>self.given[0], READS)
        if self.given[1] is not None:
            operand(work, &self.plan.grad_scale.p, <Tensor>self.given[1], READS)
        if self.given[2] is not None:
            operand(work, &self.plan.found_inf.p, <Tensor>self.given[2], READS)
        return 0

    cdef int run(self) except -1:
        cdef Py_ssize_t i, count = self.plan.count
        cdef Segment* all_segments
        if note_uncountable(self.plan):
            raise fault_error(&self.plan.fault)
        if count == 0:
            return 0
        if len(self.shared_memory) < 2 or not self.overlapping():
            self.start(0)
            for _, t, copy, written in self.copies:
                if written:
                    copy_into(<Tensor>t, <Tensor>copy, "step")
            return 0
        # One parameter after the other, as each finds what the one before it has left.
        all_segments = <Segment*>malloc(count * sizeof(Segment))
        if all_segments == NULL:
            raise MemoryError()
        memcpy(all_segments, self.plan.segments, count * sizeof(Segment))
        try:
            for i in range(count):
                self.plan.segments[0] = all_segments[i]
                self.run_alone(i)
        finally:
            free(all_segments)
        return 0

    cdef int run_alone(self, Py_ssize_t i) except -1:
        """The step of one parameter, which is the only segment of the plan now."""
        own = [entry[1:] for entry in self.copies if entry[0] == i]
        for t, copy, _ in own:
            copy_into(<Tensor>copy, <Tensor>t, "step")
        self.plan.segments[0].start = 0
        self.plan.count, self.plan.total = 1, self.plan.segments[0].n
        self.start(i)
        for t, copy, written in own:
            if written:
                copy_into(<Tensor>t, <Tensor>copy, "step")
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
    >>> found, grads, on_one_device, differ = with_gradients([x, y, x])
    >>> len(found), grads, on_one_device, differ
    (2, [tensor([1.]), tensor([1.])], True, False)
    """
    cdef list found = [], grads = []
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
        found.append(t)
        grads.append(<object>t.gradient)
    return found, grads, together, all_differ(found)


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
