# cython: language_level=3
"""Backward: walks the graph from the roots, newest node first, and hands out gradients.

A graph task owns all of its work: the heap of ready nodes, the captures, the list of what it
claimed. A node's dependency count and buffers are fields of the node, claimed by one task at a
time; a node that another live task holds (a second thread, an outer backward) gets a record in the
task's own map.
"""
cimport cython
from cpython.mem cimport PyMem_Malloc, PyMem_Realloc, PyMem_Free
from cpython.ref cimport PyObject, Py_INCREF, Py_DECREF, Py_XDECREF, Py_REFCNT
from libc.stdint cimport uint32_t, uint64_t, int32_t
from autograd_cy._C.dtypes cimport dt_is_complex, dt_differentiable, dt_object
from autograd_cy._C.formulas cimport observe_begin, observe_end
from autograd_cy._C.iterate cimport ew2, copy_into
from autograd_cy._C.kernel_ids cimport K_ADD
from autograd_cy._C.node cimport *
from autograd_cy._C.optable cimport T
from autograd_cy._C.reduce cimport sum_to_shape_fast
from autograd_cy._C.shapes cimport ones_like_plain
from autograd_cy._C.tensor cimport *

from _thread import allocate_lock as _allocate_lock
from os import register_at_fork as _register_at_fork

cdef enum:
    ADDED_IN_ONE_GO = 4096           # gradients below this size are added without releasing the GIL


# --- the state of one backward call ---------------------------------------------------------

cdef class NodeState:
    """Count and buffers of a node that another task has claimed."""
    cdef int32_t deps
    cdef uint32_t flags
    cdef list buffers


@cython.final
cdef class GraphTask:
    cdef uint64_t id
    cdef bint keep_graph
    cdef bint create_graph
    cdef bint accumulate
    cdef bint selective              # only what leads to `inputs` is run
    cdef PyObject** heap             # ready nodes (owned), newest first
    cdef Py_ssize_t heap_count
    cdef Py_ssize_t heap_room
    cdef PyObject** claimed          # borrowed: alive through the roots or the heap
    cdef Py_ssize_t claimed_count
    cdef Py_ssize_t claimed_room
    cdef dict foreign                # id(node) -> NodeState
    cdef dict captures               # id(node) -> list of (output number, position in results)
    cdef list results
    cdef list callbacks
    cdef list keep                   # keeps roots and inputs alive

    def __dealloc__(self):
        cdef Py_ssize_t i
        for i in range(self.heap_count):
            Py_XDECREF(self.heap[i])
        for i in range(self.claimed_count):
            Py_XDECREF(self.claimed[i])
        PyMem_Free(self.heap)
        PyMem_Free(self.claimed)


cdef uint64_t g_task_ids = 0
cdef dict g_running = {}             # thread id -> list of the tasks of that thread


cdef extern from "Python.h":
    unsigned long PyThread_get_thread_ident()


cdef int push(GraphTask g, PyObject* n) except -1:
    """Add a ready node; takes over the reference."""
    cdef PyObject** room
    cdef Py_ssize_t i, up
    cdef uint64_t seq = (<Node>n).seq
    if g.heap_count == g.heap_room:
        room = <PyObject**>PyMem_Realloc(g.heap, (2 * g.heap_room + 32) * sizeof(PyObject*))
        if room == NULL:
            raise MemoryError()
        g.heap = room
        g.heap_room = 2 * g.heap_room + 32
    i = g.heap_count
    g.heap_count += 1
    while i:
        up = (i - 1) >> 1
        if (<Node>g.heap[up]).seq >= seq:
            break
        g.heap[i] = g.heap[up]
        i = up
    g.heap[i] = n
    return 0


cdef PyObject* pop(GraphTask g) noexcept:
    cdef PyObject* top = g.heap[0]
    cdef PyObject* last
    cdef Py_ssize_t i = 0, child, n
    cdef uint64_t seq
    g.heap_count -= 1
    n = g.heap_count
    if n:
        last = g.heap[n]
        seq = (<Node>last).seq
        while True:
            child = 2 * i + 1
            if child >= n:
                break
            if child + 1 < n and (<Node>g.heap[child + 1]).seq > (<Node>g.heap[child]).seq:
                child += 1
            if (<Node>g.heap[child]).seq <= seq:
                break
            g.heap[i] = g.heap[child]
            i = child
        g.heap[i] = last
    return top


cdef int note_claim(GraphTask g, PyObject* n) except -1:
    cdef PyObject** room
    if g.claimed_count == g.claimed_room:
        room = <PyObject**>PyMem_Realloc(g.claimed, (2 * g.claimed_room + 64) * sizeof(PyObject*))
        if room == NULL:
            raise MemoryError()
        g.claimed = room
        g.claimed_room = 2 * g.claimed_room + 64
    Py_INCREF(<object>n)
    g.claimed[g.claimed_count] = n
    g.claimed_count += 1
    return 0


cdef inline NodeState foreign_state(GraphTask g, PyObject* n):
    return <NodeState>g.foreign[<size_t>n]


cdef int reach(GraphTask g, PyObject* n) except -1:
    """
    Claim a node on the first visit: 1 if it is new to this task, 0 if it was visited before.
    """
    cdef Node node = <Node>n
    cdef NodeState s
    if node.task == g.id:
        return 0
    if node.task == 0:
        node.task = g.id
        node.deps = 0
        node.flags &= ~<uint32_t>(N_SKIP | N_CAPTURE)
        note_claim(g, n)
        return 1
    if g.foreign is None:
        g.foreign = {}
    if <size_t>n in g.foreign:
        return 0
    s = NodeState.__new__(NodeState)
    s.buffers = [None] * node.n_out
    g.foreign[<size_t>n] = s
    note_claim(g, n)
    return 1


cdef inline int add_dep(GraphTask g, PyObject* n) except -1:
    cdef NodeState s
    if (<Node>n).task == g.id:
        (<Node>n).deps += 1
        return 0
    s = foreign_state(g, n)
    s.deps += 1
    return 0


cdef int unclaim(GraphTask g) except -1:
    """Give all nodes back, and drop gradients that a failure left behind."""
    cdef Py_ssize_t i
    cdef int k
    cdef Node n
    for i in range(g.claimed_count):
        n = <Node>g.claimed[i]
        if n.task == g.id:
            n.task = 0
            n.flags &= ~<uint32_t>(N_SKIP | N_CAPTURE)
            for k in range(n.n_out):
                if n.buffers[k] != NULL:
                    Py_DECREF(<object>n.buffers[k])
                    n.buffers[k] = NULL
    g.foreign = None
    return 0


# --- dependency counts ----------------------------------------------------------------------

cdef int count_dependencies(GraphTask g, list roots) except -1:
    """Visit everything below the roots once; each edge counts one for its target."""
    cdef PyObject** stack = NULL
    cdef PyObject** more
    cdef Py_ssize_t top = 0, room = 0
    cdef PyObject* p
    cdef Node n
    cdef int i
    try:
        for root in roots:
            if reach(g, <PyObject*>root):
                if top == room:
                    more = <PyObject**>PyMem_Realloc(stack, (2 * room + 64) * sizeof(PyObject*))
                    if more == NULL:
                        raise MemoryError()
                    stack = more
                    room = 2 * room + 64
                stack[top] = <PyObject*>root
                top += 1
            while top:
                top -= 1
                n = <Node>stack[top]
                for i in range(n.n_edges):
                    p = n.edges[i].node
                    if p == NULL:
                        continue
                    if reach(g, p):
                        if top == room:
                            more = <PyObject**>PyMem_Realloc(stack,
                                                             (2 * room + 64) * sizeof(PyObject*))
                            if more == NULL:
                                raise MemoryError()
                            stack = more
                            room = 2 * room + 64
                        stack[top] = p
                        top += 1
                    add_dep(g, p)
    finally:
        PyMem_Free(stack)
    return 0


cdef int mark_needed(GraphTask g) except -1:
    """
    Mark with N_SKIP what doesn't lead to a captured node. Claimed nodes are in an order in which a
    parent may come before its children, so walk by sequence: children are always older.
    """
    cdef Py_ssize_t i
    cdef int k
    cdef Node n
    cdef PyObject* p
    cdef bint needed
    order = sorted([(<Node>g.claimed[i]).seq if not (<Node>g.claimed[i]).flags & N_ACCUMULATE
                    else 0, i]
                   for i in range(g.claimed_count))
    for _, i in order:
        n = <Node>g.claimed[i]
        needed = g.captures is not None and <size_t>g.claimed[i] in g.captures
        if not needed:
            for k in range(n.n_edges):
                p = n.edges[k].node
                if p != NULL and not is_skipped(g, p):
                    needed = True
                    break
        set_skipped(g, g.claimed[i], not needed)
    return 0


cdef inline bint is_skipped(GraphTask g, PyObject* p) except -1:
    if (<Node>p).task == g.id:
        return ((<Node>p).flags & N_SKIP) != 0
    return foreign_state(g, p).flags & N_SKIP != 0


cdef int set_skipped(GraphTask g, PyObject* p, bint skip) except -1:
    cdef NodeState s
    if (<Node>p).task == g.id:
        if skip:
            (<Node>p).flags |= N_SKIP
        return 0
    if skip:
        s = foreign_state(g, p)
        s.flags |= N_SKIP
    return 0


# --- gradients ------------------------------------------------------------------------------

cdef Tensor fit_gradient(Node target, int nr, Tensor grad, Node source, int index):
    """A gradient in the shape and dtype of what it belongs to; errors name both nodes."""
    cdef OutMeta* m = &target.metas[nr]
    cdef int i
    cdef bint same = grad.nd == m.ndim
    if same:
        for i in range(m.ndim):
            if grad.sizes[i] != m.shape[i]:
                same = False
                break
    if not same:
        if not expandable(m, grad):
            raise RuntimeError(
                f"Function {source.node_name() if source is not None else 'backward'} returned an "
                f"invalid gradient at index {index} - got {list(sizes_of(grad))} but expected "
                f"shape compatible with {list(size_object(m.ndim, m.shape))}")
        if grad.flags & (F_GRAD_PATH | F_SLOW):
            grad = T.sum_to_size(grad, tuple(size_object(m.ndim, m.shape)))
        else:
            grad = sum_to_shape_fast(grad, m.ndim, m.shape)
    if grad.dt != m.dt:
        if dt_is_complex(grad.dt) and not dt_is_complex(m.dt):
            grad = T.real(grad)
        if grad.dt != m.dt:
            if not dt_differentiable(grad.dt) and source is not None and source.flags & N_PYTHON:
                raise RuntimeError(
                    f"Function {source.node_name()} returned an invalid gradient at index {index} "
                    f"- expected a floating or complex gradient but got {dt_object(grad.dt).name}")
            grad = T._to_dtype(grad, m.dt)
    return grad


cdef bint expandable(OutMeta* m, Tensor grad) noexcept:
    cdef int shift = grad.nd - m.ndim, i
    if shift < 0:
        return False
    for i in range(m.ndim):
        if m.shape[i] != grad.sizes[shift + i] and m.shape[i] != 1:
            return False
    return True


cdef inline bint owns(Tensor t) noexcept:
    """Nobody else sees this tensor or its memory."""
    return (Py_REFCNT(t) == 1 and t.mem.refcount == 1 and t.base == NULL
            and not (t.flags & (F_SLOW | F_REQUIRES_GRAD | F_STRIDED)) and t.extra is None)


cdef int deposit(GraphTask g, PyObject* target, int nr, PyObject* grad) except -1:
    """Add a gradient (takes the reference) to the buffer of output `nr` of a node."""
    cdef Node n = <Node>target
    cdef PyObject** slot
    cdef PyObject* old
    cdef Tensor total
    cdef NodeState s
    if n.task != g.id:
        s = foreign_state(g, target)
        if s.buffers[nr] is None:
            s.buffers[nr] = <object>grad
        else:
            s.buffers[nr] = T.add(s.buffers[nr], <Tensor>grad)
        Py_DECREF(<object>grad)
        return 0
    slot = &n.buffers[nr]
    if slot[0] == NULL:
        slot[0] = grad
        return 0
    old = slot[0]
    if (
        not g.create_graph and same_shape(<Tensor>old, <Tensor>grad)
        and (<Tensor>old).dt == (<Tensor>grad).dt
    ):
        if owned_by_buffer(old) and not ((<Tensor>grad).flags & F_SLOW):
            ew2(K_ADD, <Tensor>old, <Tensor>grad, 0, <Tensor>old, "add_")
            Py_DECREF(<object>grad)
            return 0
        if owned_by_buffer(grad) and not ((<Tensor>old).flags & F_SLOW):
            ew2(K_ADD, <Tensor>grad, <Tensor>old, 0, <Tensor>grad, "add_")
            slot[0] = grad
            Py_DECREF(<object>old)
            return 0
    total = T.add(<Tensor>old, <Tensor>grad)
    Py_INCREF(total)
    slot[0] = <PyObject*>total
    Py_DECREF(<object>old)
    Py_DECREF(<object>grad)
    return 0


cdef inline bint owned_by_buffer(PyObject* p) noexcept:
    return (Py_REFCNT(<object>p) == 1 and (<Tensor>p).mem.refcount == 1 and (<Tensor>p).base == NULL
            and not ((<Tensor>p).flags & (F_SLOW | F_REQUIRES_GRAD | F_STRIDED))
            and (<Tensor>p).extra is None)


# Note [Several threads at one leaf]
# Adding a long gradient releases the GIL, and another thread may come to the same leaf meanwhile.
# So a thread holds the leaf while it adds, and the others wait for its lock. Short gradients are
# added in one go. A thread that comes back to a leaf that it holds goes on at once.
cdef dict g_held_leaves = {}         # id of the leaf -> (thread, lock)
_register_at_fork(after_in_child=g_held_leaves.clear)      # the child hasn't got those threads


cdef object hold_leaf(Tensor variable):
    """The lock of a leaf that this thread holds from now on; None if it did before."""
    key = <size_t><PyObject*>variable
    thread = PyThread_get_thread_ident()
    holder = g_held_leaves.get(key)
    while holder is not None:
        if holder[0] == thread:
            return None
        with holder[1]:              # waits
            pass
        holder = g_held_leaves.get(key)
    lock = _allocate_lock()
    lock.acquire()
    g_held_leaves[key] = (thread, lock)
    return lock


cdef int accumulate_into(Tensor variable, PyObject* grad, bint create_graph) except -1:
    """Add a gradient to `variable.grad`; takes the reference."""
    cdef object lock
    if (<Tensor>grad).count < ADDED_IN_ONE_GO:
        return add_to_grad(variable, grad, create_graph)
    try:
        lock = hold_leaf(variable)
    except BaseException:            # interrupted
        Py_DECREF(<object>grad)
        raise
    if lock is None:
        return add_to_grad(variable, grad, create_graph)
    try:
        add_to_grad(variable, grad, create_graph)
    finally:
        del g_held_leaves[<size_t><PyObject*>variable]
        lock.release()
    return 0


cdef int add_to_grad(Tensor variable, PyObject* grad, bint create_graph) except -1:
    cdef Tensor g = <Tensor>grad
    cdef Tensor old, total
    cdef PyObject* before
    cdef bint own = False
    Py_DECREF(g)                                # `g` holds it now
    # Recorded additions may run hooks, which may change .grad: then look again.
    while True:
        before = variable.gradient
        if before == NULL:
            # The buffer becomes .grad if nobody else has it and it lies in memory as the variable
            # does. References: the local name, and nobody else.
            if not own and not (
                    not create_graph and Py_REFCNT(g) == 1 and g.mem.refcount == 1
                    and g.base == NULL and layout_fits(g, variable)):
                if create_graph or g.flags & F_SLOW:
                    g = T.clone(g, -1)
                else:
                    g = copy_in_layout(g, variable)
                own = True
                continue
            Py_INCREF(g)
            variable.gradient = <PyObject*>g
            return 0
        old = <Tensor>before
        if not (create_graph or (old.flags | g.flags) & F_SLOW):
            ew2(K_ADD, old, g, 0, old, "add_")
            bump_version(old)
            return 0
        total = T.add(old, g)
        if variable.gradient == before:
            Py_INCREF(total)
            variable.gradient = <PyObject*>total
            Py_DECREF(<object>before)
            return 0


cdef bint layout_fits(Tensor g, Tensor variable) noexcept:
    cdef int i
    if not tensor_is_dense(variable):
        return not (g.flags & F_STRIDED)
    for i in range(variable.nd):
        if variable.sizes[i] != 1 and g.strides[i] != variable.strides[i]:
            return False
    return True


cdef Tensor copy_in_layout(Tensor g, Tensor variable):
    """A copy with the strides of a dense variable, otherwise C-contiguous."""
    cdef Tensor r
    if tensor_is_dense(variable):
        r = tensor_empty_strided(g.dt, variable.nd, variable.sizes, variable.strides)
    else:
        r = tensor_empty(g.dt, g.nd, g.sizes)
    copy_into(r, g, "accumulate")
    return r


# --- hooks ----------------------------------------------------------------------------------

cdef int check_hook_result(Tensor before, object after, object where) except -1:
    cdef Tensor t
    if not isinstance(after, Tensor):
        raise TypeError(f"{where}: expected Tensor, but hook returned '{type(after).__name__}'")
    t = <Tensor>after
    if not same_shape(before, t):
        raise RuntimeError(f"{where}: hook has changed the size of value (from "
                           f"{list(sizes_of(before))} to {list(sizes_of(t))})")
    if t.dt != before.dt:
        raise RuntimeError(f"{where}: hook has changed the type of value (from {type_name(before)} "
                           f"to {type_name(t)})")
    return 0


cdef int run_tensor_hooks(object hooks, PyObject** slot) except -1:
    """Hooks on a tensor's gradient; each sees the result of the one before."""
    cdef object r
    cdef PyObject* old
    for hook in list(hooks.values()):
        r = hook(<object>slot[0])
        if r is None:
            continue
        check_hook_result(<Tensor>slot[0], r, "tensor hook")
        old = slot[0]
        Py_INCREF(r)
        slot[0] = <PyObject*>r
        Py_DECREF(<object>old)
    return 0


cdef tuple gradients_as_tuple(PyObject** p, int n):
    cdef int i
    return tuple([<object>p[i] if p[i] != NULL else None for i in range(n)])


cdef int put_back(object r, PyObject** p, int n, object where) except -1:
    """Write the gradients that a node hook returned."""
    cdef int i
    cdef PyObject* old
    if isinstance(r, Tensor):
        r = (r,)
    if not isinstance(r, tuple) or len(r) != n:
        raise RuntimeError(f"{where}: hook must return None or a tuple of {n} gradients, not {r!r}")
    for i in range(n):
        if r[i] is None:
            continue
        if p[i] != NULL:
            check_hook_result(<Tensor>p[i], r[i], where)
        old = p[i]
        Py_INCREF(r[i])
        p[i] = <PyObject*>r[i]
        Py_XDECREF(old)
    return 0


cdef int before_node(Node n, PyObject** gin) except -1:
    cdef NodeExtra x = n.extra
    cdef int i
    if x is None:
        return 0
    if x.tensor_hooks:
        for i in range(n.n_out):
            if gin[i] != NULL and i in x.tensor_hooks:
                run_tensor_hooks(x.tensor_hooks[i], &gin[i])
    if x.retain_hooks:
        for i in range(n.n_out):
            if gin[i] != NULL and i in x.retain_hooks:
                x.retain_hooks[i](<object>gin[i])
    if x.pre_hooks:
        for hook in list(x.pre_hooks.values()):
            r = hook(gradients_as_tuple(gin, n.n_out))
            if r is not None:
                put_back(r, gin, n.n_out, n.node_name() + " pre-hook")
    return 0


cdef int after_node(Node n, PyObject** gin, PyObject** gout) except -1:
    cdef NodeExtra x = n.extra
    if x is None or not x.post_hooks:
        return 0
    for hook in list(x.post_hooks.values()):
        r = hook(gradients_as_tuple(gout, n.n_edges), gradients_as_tuple(gin, n.n_out))
        if r is not None:
            put_back(r, gout, n.n_edges, n.node_name() + " hook")
    return 0


# --- running --------------------------------------------------------------------------------

cdef int run_accumulate(GraphTask g, Node n, PyObject** gin) except -1:
    cdef Tensor variable = accumulated_variable(n)
    cdef TensorExtra x = variable.extra
    cdef PyObject* grad
    if gin[0] == NULL:
        return 0
    if x is not None and x.hooks:
        run_tensor_hooks(x.hooks, gin)
    if n.extra is not None and n.extra.pre_hooks:
        for hook in list(n.extra.pre_hooks.values()):
            r = hook(gradients_as_tuple(gin, 1))
            if r is not None:
                put_back(r, gin, 1, "AccumulateGrad pre-hook")
    if g.captures is not None and <size_t><PyObject*>n in g.captures:
        capture(g, n, gin)
    if not g.accumulate:
        return 0
    grad = gin[0]
    gin[0] = NULL
    accumulate_into(variable, grad, g.create_graph)
    if x is not None and x.post_hooks:
        for hook in list(x.post_hooks.values()):
            if hook(variable) is not None:
                raise RuntimeError("hooks registered by register_post_accumulate_grad_hook should "
                                   "return None")
    if n.extra is not None and n.extra.post_hooks:
        for hook in list(n.extra.post_hooks.values()):
            hook((), (<object>variable.gradient,))
    return 0


cdef int capture(GraphTask g, Node n, PyObject** gin) except -1:
    for nr, position in g.captures[<size_t><PyObject*>n]:
        if gin[<int>nr] != NULL:
            g.results[position] = <object>gin[<int>nr]
    return 0


# Note [Gradients that nobody wants]
# A selective task sets `skip` on those edges of the node that it runs whose gradients lead to none
# of its inputs; the node's code asks needs(). The edges are the node's, and another task (of a hook
# or a second thread) may run the same node meanwhile. So only the task that has claimed the node
# sets them, a task that hasn't clears them, and while it runs the node nobody sets them again: at
# worst a gradient is computed that nobody wants.
cdef dict g_guests = {}              # id of a node -> how many tasks run it that haven't claimed it


cdef int run_apply(GraphTask g, Node n, PyObject** gin, PyObject** gout) except -1:
    cdef int i
    cdef object key
    if n.task != g.id:
        key = <size_t><PyObject*>n
        for i in range(n.n_edges):
            n.edges[i].skip = 0
        g_guests[key] = g_guests.get(key, 0) + 1
        try:
            n.apply(gin, gout)
        finally:
            g_guests[key] -= 1
            if not g_guests[key]:
                del g_guests[key]
        return 0
    if not g.selective or (g_guests and <size_t><PyObject*>n in g_guests):
        return n.apply(gin, gout)
    for i in range(n.n_edges):
        if n.edges[i].node != NULL:
            n.edges[i].skip = is_skipped(g, n.edges[i].node)
    try:
        n.apply(gin, gout)
    finally:
        for i in range(n.n_edges):
            n.edges[i].skip = 0
    return 0


cdef int run_node(GraphTask g, Node n) except -1:
    """Run one ready node and pass its gradients on."""
    cdef PyObject* few[8]
    cdef PyObject* arrived[4]
    cdef PyObject** gout = few
    cdef PyObject** gin = arrived
    cdef PyObject* p
    cdef int i, n_edges = n.n_edges, n_out = n.n_out
    cdef bint foreign = n.task != g.id
    cdef NodeState s
    cdef Tensor fitted
    if n_edges > 8:
        gout = <PyObject**>PyMem_Malloc(n_edges * sizeof(PyObject*))
        if gout == NULL:
            raise MemoryError()
    if n_out > 4:
        gin = <PyObject**>PyMem_Malloc(n_out * sizeof(PyObject*))
        if gin == NULL:
            if gout != few:
                PyMem_Free(gout)
            raise MemoryError()
    for i in range(n_edges):
        gout[i] = NULL
    if foreign:
        s = foreign_state(g, <PyObject*>n)
        for i in range(n_out):
            if s.buffers[i] is None:
                gin[i] = NULL
            else:
                Py_INCREF(s.buffers[i])
                gin[i] = <PyObject*>s.buffers[i]
                s.buffers[i] = None
    else:
        for i in range(n_out):
            gin[i] = n.buffers[i]
            n.buffers[i] = NULL
    try:
        if n.flags & N_ACCUMULATE:
            run_accumulate(g, n, gin)
        else:
            if n.extra is not None:
                before_node(n, gin)
            if g.captures is not None and <size_t><PyObject*>n in g.captures:
                capture(g, n, gin)
            if g.selective and is_skipped(g, <PyObject*>n):
                pass
            elif not g.selective or leads_on(g, n):
                if g_modes & G_PROFILE:
                    observe_begin(n.node_name())
                run_apply(g, n, gin, gout)
                if g_modes & G_PROFILE:
                    observe_end()
                if n.extra is not None:
                    after_node(n, gin, gout)
                if g_modes & G_ANOMALY:
                    check_anomaly(n, gout)
                if not g.keep_graph:
                    release_saved(n)
        for i in range(n_edges):
            p = n.edges[i].node
            if p == NULL:
                continue
            if gout[i] != NULL:
                if gradient_fits(<Node>p, n.edges[i].nr, <Tensor>gout[i]):
                    deposit(g, p, n.edges[i].nr, gout[i])
                    gout[i] = NULL
                else:
                    fitted = fit_gradient(<Node>p, n.edges[i].nr, <Tensor>gout[i], n, i)
                    Py_DECREF(<object>gout[i])
                    gout[i] = NULL
                    Py_INCREF(fitted)
                    deposit(g, p, n.edges[i].nr, <PyObject*>fitted)
                    fitted = None
            arrive(g, p)
    finally:
        for i in range(n_edges):
            Py_XDECREF(gout[i])
        for i in range(n_out):
            Py_XDECREF(gin[i])
        if gout != few:
            PyMem_Free(gout)
        if gin != arrived:
            PyMem_Free(gin)
    return 0


cdef bint leads_on(GraphTask g, Node n) except -1:
    """Whether some edge of a node leads to what the task wants."""
    cdef int i
    for i in range(n.n_edges):
        if n.edges[i].node != NULL and not is_skipped(g, n.edges[i].node):
            return True
    return False


cdef inline bint gradient_fits(Node target, int nr, Tensor grad) noexcept:
    cdef OutMeta* m = &target.metas[nr]
    cdef int i
    if grad.dt != m.dt or grad.nd != m.ndim:
        return False
    for i in range(m.ndim):
        if grad.sizes[i] != m.shape[i]:
            return False
    return True


cdef inline int arrive(GraphTask g, PyObject* p) except -1:
    cdef Node n = <Node>p
    cdef NodeState s
    if n.task == g.id:
        n.deps -= 1
        if n.deps == 0:
            Py_INCREF(n)
            push(g, p)
        return 0
    s = foreign_state(g, p)
    s.deps -= 1
    if s.deps == 0:
        Py_INCREF(n)
        push(g, p)
    return 0


cdef object _anomaly_check = None


cdef int check_anomaly(Node n, PyObject** gout) except -1:
    if _anomaly_check is not None:
        _anomaly_check(n, gradients_as_tuple(gout, n.n_edges))
    return 0


def _set_anomaly_check(f):
    """Called with (node, gradients) after each node while anomaly mode is on."""
    global _anomaly_check
    _anomaly_check = f


cdef object run_task(GraphTask g, list roots):
    cdef PyObject* p
    cdef unsigned int modes = tls_modes()
    cdef unsigned long thread = PyThread_get_thread_ident()
    cdef list stack = g_running.setdefault(thread, [])
    cdef Py_ssize_t i
    stack.append(g)
    tls_set_modes((modes & ~<unsigned int>M_NO_GRAD | M_IN_BACKWARD) if g.create_graph
                  else (modes | M_NO_GRAD | M_IN_BACKWARD))
    try:
        while g.heap_count:
            p = pop(g)
            try:
                run_node(g, <Node>p)
            finally:
                release_node(p)
        if g.callbacks is not None:
            i = 0
            while i < len(g.callbacks):
                g.callbacks[i]()
                i += 1
    finally:
        tls_set_modes(modes)
        stack.pop()
        if not stack:
            del g_running[thread]
        unclaim(g)
    return g.results


cdef PyObject* root_node(Tensor t) except NULL:
    if not requires_grad(t):
        raise RuntimeError(
            "element 0 of tensors does not require grad and does not have a grad_fn "
            f"({describe(t)}); set requires_grad=True on what it is computed from")
    return gradient_node(t)


def run_backward(tuple tensors, tuple grads, bint keep_graph, bint create_graph, tuple inputs,
                 bint allow_unreachable, bint accumulate):
    """
    Backward from `tensors` with initial gradients `grads`.

    `tensors` and `inputs` hold tensors or pairs (node, output number). With `accumulate` gradients
    go to the ``grad`` of leaves (of `inputs`, if given); without, those of `inputs` are returned,
    None where an input wasn't reached.
    """
    global g_task_ids
    cdef GraphTask g = GraphTask.__new__(GraphTask)
    cdef list roots = []
    cdef list seeds = []
    cdef PyObject* p
    cdef Tensor t, grad
    cdef Node n
    cdef int nr
    cdef Py_ssize_t i
    g_task_ids += 1
    g.id = g_task_ids
    g.keep_graph = keep_graph
    g.create_graph = create_graph
    g.accumulate = accumulate
    g.keep = []
    for i in range(len(tensors)):
        if isinstance(tensors[i], Tensor):
            t = <Tensor>tensors[i]
            if not requires_grad(t):
                raise RuntimeError(
                    f"element {i} of tensors does not require grad and does not have a grad_fn "
                    f"({describe(t)}); set requires_grad=True on what it is computed from")
            p = gradient_node(t)
            n = <Node>p
            Py_DECREF(n)
            nr = t.out_nr if not (n.flags & N_ACCUMULATE) else 0
        else:
            n, nr = tensors[i]
        roots.append(n)
        grad = <Tensor>grads[i]
        seeds.append((n, nr, grad))
    g.keep.append(roots)
    if inputs:
        g.selective = True
        g.captures = {}
        g.results = [None] * len(inputs)
        for i in range(len(inputs)):
            if isinstance(inputs[i], Tensor):
                t = <Tensor>inputs[i]
                if not requires_grad(t):
                    raise RuntimeError("One of the differentiated Tensors does not require grad")
                p = gradient_node(t)
                n = <Node>p
                Py_DECREF(n)
                nr = t.out_nr if not (n.flags & N_ACCUMULATE) else 0
            else:
                n, nr = inputs[i]
            g.keep.append(n)
            g.captures.setdefault(<size_t><PyObject*>n, []).append((nr, i))
    try:
        count_dependencies(g, roots)
        if g.selective:
            mark_needed(g)
            if accumulate:
                # backward(inputs=...): what is captured is accumulated afterwards.
                g.accumulate = False
        for n, nr, grad in seeds:
            if not gradient_fits(n, nr, grad):
                grad = fit_gradient(n, nr, grad, None, 0)
            Py_INCREF(grad)
            deposit(g, <PyObject*>n, nr, <PyObject*>grad)
        grad = None
        seeds = None
        for n in dict.fromkeys(roots):
            if (n.deps if n.task == g.id else foreign_state(g, <PyObject*>n).deps) == 0:
                Py_INCREF(n)
                push(g, <PyObject*>n)
    except BaseException:
        unclaim(g)
        raise
    n = None
    results = run_task(g, roots)
    if inputs and accumulate:
        for i in range(len(inputs)):
            if results[i] is not None and isinstance(inputs[i], Tensor):
                if (<Tensor>inputs[i]).fn != NULL and (<Tensor>inputs[i]).flags & F_RETAINS_GRAD:
                    continue
                grad = <Tensor>results[i]
                results[i] = None
                Py_INCREF(grad)
                p = <PyObject*>grad
                grad = None
                accumulate_into(<Tensor>inputs[i], p, create_graph)
        return None
    return None if results is None else tuple(results)


cdef object _backward = None


def _set_backward(f):
    """The function behind Tensor.backward for all but its plainest call."""
    global _backward
    _backward = f


def tensor_backward(Tensor self not None, gradient=None, retain_graph=None, create_graph=False,
                    inputs=None):
    """
    Accumulate the gradients of this tensor with respect to the leaves of its graph.

    Parameters
    ----------
    gradient : Tensor, optional
        The vector of the vector-Jacobian product; may be left out for a real tensor of one element.
    retain_graph, create_graph : bool
    inputs : Tensor or sequence of Tensors, optional
        See :func:`autograd_cy.autograd.backward`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.tensor(3.0, requires_grad=True)
    >>> (x * x).backward()
    >>> x.grad
    tensor(6.)
    """
    cdef Tensor one
    if (gradient is None and inputs is None and not create_graph and self.count == 1
            and not (self.flags & F_SLOW) and dt_differentiable(self.dt)
            and not dt_is_complex(self.dt)):
        one = ones_like_plain(self)
        run_backward((self,), (one,), retain_graph is not None and retain_graph, False, (), True,
                     True)
        return
    _backward(self, gradient, retain_graph, create_graph, inputs=inputs)


def queue_callback(callback):
    """Run `callback()` at the end of the backward that is running in this thread."""
    stack = g_running.get(PyThread_get_thread_ident())
    if not stack:
        raise RuntimeError("Final callbacks can only be installed during backward pass.")
    task = <GraphTask>stack[len(stack) - 1]
    if (<GraphTask>task).callbacks is None:
        (<GraphTask>task).callbacks = []
    (<GraphTask>task).callbacks.append(callback)


def current_task_id():
    """Number of the backward that runs in this thread, or -1."""
    stack = g_running.get(PyThread_get_thread_ident())
    return -1 if not stack else (<GraphTask>stack[len(stack) - 1]).id


def _tensor_hooks(Tensor t not None):
    """The dictionary that hooks on this tensor's gradient live in."""
    cdef PyObject* p
    cdef Node n
    cdef TensorExtra x
    if not requires_grad(t):
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    p = gradient_node(t)
    n = <Node>p
    Py_DECREF(n)
    if n.flags & N_ACCUMULATE:
        x = need_extra(t)
        if x.hooks is None:
            x.hooks = {}
        track(t)
        return x.hooks
    need_node_extra(n)
    if n.extra.tensor_hooks is None:
        n.extra.tensor_hooks = {}
    node_track(n)
    track(t)
    return n.extra.tensor_hooks.setdefault(t.out_nr, {})


cdef int need_node_extra(Node n) except -1:
    if n.extra is None:
        n.extra = NodeExtra.__new__(NodeExtra)
    return 0


def _node_hooks(Node n not None, bint before):
    """The dictionary of a node's hooks that run before or after it."""
    need_node_extra(n)
    node_track(n)
    if before:
        if n.extra.pre_hooks is None:
            n.extra.pre_hooks = {}
        return n.extra.pre_hooks
    if n.extra.post_hooks is None:
        n.extra.post_hooks = {}
    return n.extra.post_hooks


def _post_accumulate_hooks(Tensor t not None):
    cdef TensorExtra x
    if not requires_grad(t):
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if t.fn != NULL:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    x = need_extra(t)
    if x.post_hooks is None:
        x.post_hooks = {}
    track(t)
    return x.post_hooks


cdef class RetainGrad:
    """Puts the gradient that arrives at a non-leaf into its ``grad``."""
    cdef object tensor

    def __init__(self, tensor):
        import weakref
        self.tensor = weakref.ref(tensor)

    def __call__(self, Tensor grad not None):
        cdef Tensor t = self.tensor()
        cdef Tensor old, total
        cdef PyObject* before
        if t is None:
            return
        while True:
            before = t.gradient
            if before == NULL:
                Py_INCREF(grad)
                t.gradient = <PyObject*>grad
                return
            old = <Tensor>before
            total = T.add(old, grad)
            if t.gradient == before:     # no other thread has added meanwhile
                Py_INCREF(total)
                t.gradient = <PyObject*>total
                Py_DECREF(<object>before)
                return


def retain_grad(Tensor self not None):
    """
    Let ``backward`` fill the ``grad`` of this non-leaf tensor too.

    Raises
    ------
    RuntimeError
        If the tensor doesn't require grad.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.ones(2, requires_grad=True)
    >>> y = x * 2
    >>> y.retain_grad()
    >>> y.sum().backward()
    >>> y.grad
    tensor([1., 1.])
    """
    cdef Node n
    if not requires_grad(self):
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    n = current_fn(self)
    if n is None or self.flags & F_RETAINS_GRAD:
        return
    need_node_extra(n)
    if n.extra.retain_hooks is None:
        n.extra.retain_hooks = {}
    n.extra.retain_hooks[self.out_nr] = RetainGrad(self)
    self.flags |= F_RETAINS_GRAD


install(Tensor, "backward", tensor_backward)
install(Tensor, "retain_grad", retain_grad)
