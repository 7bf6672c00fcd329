# cython: language_level=3
# build: plain cold
# A step of an optimizer, as lists: which memory it goes over, parameter by parameter.  That is the
# same on all devices; optimize.pyx runs it on the CPU, ext/cuda/cuda_steps.pyx on GPUs.

from cpython.unicode cimport PyUnicode_AsUTF8
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from autograd_cy._C.dtypes cimport DT_SIZE, dt_is_complex, dt_real
from autograd_cy._C.iterate cimport contiguous, copy_into
from autograd_cy._C.launch cimport captures_here
from autograd_cy._C.tensor cimport F_LAZY, F_STRIDED, Tensor, tensor_is_dense

__all__: list[str] = []


cdef inline void set_number(Number* x, Tensor t) noexcept:
    # Not its result: a build for coverage shows results to Python, and the bytes at `p`.
    x.p = NULL
    x.dt = 0
    if t is not None:
        x.p = t.ptr
        x.dt = t.dt


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


cdef class StepLists:
    """One step of several parameters: its launch, and what must be copied back after it."""

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
        self.scalars = [lr, grad_scale, found_inf]
        set_number(&self.plan.lr, lr)
        set_number(&self.plan.grad_scale, grad_scale)
        set_number(&self.plan.found_inf, found_inf)
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
            set_number(&self.plan.segments[i].numbers[k], <Tensor>numbers[i])
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
        cdef bint overlap = False
        self.shared_memory.sort()
        for start, stop, one, writes, flat in self.shared_memory:
            live = [entry for entry in live if entry[1] > start]
            for begin_, _, other, written, plain in live:
                if not (written or writes):
                    continue
                if other != one:
                    overlap = True
                elif flat and plain and start != begin_:
                    raise RuntimeError(
                        f"{(<bytes>self.plan.op).decode()}: unsupported operation: parameter "
                        f"{one}, its gradient and its state refer to a single memory location at "
                        "different places. Please clone() the tensor before performing the "
                        "operation.")
            live.append((start, stop, one, writes, flat))
        return overlap

    cdef int check(self) except -1:
        return 0

    cdef int start(self, Py_ssize_t first) except -1:
        raise RuntimeError("a subclass says how a device steps")

    cdef int run(self) except -1:
        cdef Py_ssize_t i, count = self.plan.count
        cdef Segment* all_segments
        self.check()
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
