# cython: language_level=3
# build: plain hot
"""Backward: walks the graph from the roots, newest node first, and hands out gradients.

A graph task owns all of its work: the heap of ready nodes, the captures, the list of the nodes that
it visited. A node's dependency count and buffers are fields of the node, which belong to one task
at a time; for a node that another live task owns (a second thread, an outer backward) there is a
record in the task's own map.
"""
cimport cython
from cpython.mem cimport PyMem_Malloc, PyMem_Realloc, PyMem_Free
from cpython.ref cimport PyObject, Py_INCREF, Py_DECREF, Py_XDECREF
from libc.stdint cimport uint32_t, uint64_t, int32_t
from libc.stdlib cimport qsort
from autograd_cy._C.accumulate cimport (
    accumulate_into, add_gradients, becomes_grad, fit_gradient, gradient_fits)
from autograd_cy._C.devices cimport (
    Services, current_stream, current_stream_owner, note_use, services, set_current_stream,
    stream_t)
from autograd_cy._C.dtypes cimport dt_is_complex, dt_differentiable
from autograd_cy._C.node_io cimport give
from autograd_cy._C.events cimport begin_node, begin_outer
from autograd_cy._C.recorder cimport Scope, close
from autograd_cy._C.hooks cimport (
    after_accumulation, after_node, before_node, c_retain_grad, gradients_as_tuple,
    run_tensor_hooks, tensor_hooks_of)
from autograd_cy._C.node cimport *
from autograd_cy._C.sealed cimport seal
from autograd_cy._C.shapes cimport ones_like_plain
from autograd_cy._C.storage cimport (
    ON_META, STORAGE_DEVICE, ServiceBlock, StorageImpl, device_index, device_type, storage_root)
from autograd_cy._C.tensor cimport *
include "operators_of_engine.pxi"

from autograd_cy._C.accumulate import _note_fork
from autograd_cy._C.launch import _capture_here, _go_on_capturing
from autograd_cy._C.devices import _streams_here, _take_streams

import contextvars as _contextvars
import os as _os
import threading as _threading


# --- the state of one backward call ---------------------------------------------------------

cdef struct Stand:                   # a stream of a device
    int device
    stream_t stream


cdef class NodeState:
    """Count and buffers of a node that another task owns."""
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
    cdef Py_ssize_t heap_capacity
    cdef PyObject** visited          # nodes (owned), its own and foreign ones
    cdef Py_ssize_t visited_count
    cdef Py_ssize_t visited_capacity
    cdef dict foreign                # id(node) -> NodeState
    cdef dict captures               # id(node) -> list of (output number, position in results)
    cdef list results
    cdef list callbacks
    cdef tuple undo                  # (function, value): called in the end, see _undo_in_the_end
    cdef list keep                   # keeps roots and inputs alive
    cdef bint on_device              # some stream had work: the newest one, and those of `streams`
    cdef Stand newest
    cdef object newest_owner         # its Stream, or None
    cdef dict streams                # (device, stream) -> its Stream, or None; None: only `newest`
    cdef list leaves                 # gradients that were accumulated on other streams
    cdef PyObject* current           # borrowed: the node that is running
    cdef bint marked                 # whether it counts in g_selective

    def __dealloc__(self):
        cdef Py_ssize_t i
        for i in range(self.heap_count):
            Py_XDECREF(self.heap[i])
        for i in range(self.visited_count):
            Py_XDECREF(self.visited[i])
        PyMem_Free(self.heap)
        PyMem_Free(self.visited)


# Note [Marks on nodes]
# What a selective task doesn't need is in its own record (N_UNWANTED on nodes that it owns, its
# map for others). Formulas look at N_SKIP, which every task sees that shares the node: it says that
# some task doesn't need the node, and who reads it asks the task of its thread. So what a backward
# computes, and saves with create_graph, is the same whichever others are running, as checkpoints
# want it. A task clears the marks when no other has set any; else some stay, and are asked in vain.
cdef int g_selective = 0             # tasks that have set marks and not ended, in all threads

cdef extern from *:
    """
    #if defined(_MSC_VER)
    static __declspec(thread) PyObject *ag_running_task = NULL;
    #else
    static __thread PyObject *ag_running_task = NULL;
    #endif
    """
    PyObject* ag_running_task        # borrowed: the task that runs in this thread

cdef uint64_t g_task_ids = 0
cdef dict g_running = {}             # thread id -> list of the tasks of that thread


cdef extern from "Python.h":
    unsigned long PyThread_get_thread_ident()
    int PyErr_CheckSignals() except -1


cdef PyObject** grown(PyObject** listed, Py_ssize_t* capacity) except NULL:
    """A list of more capacity, which is noted."""
    cdef Py_ssize_t wanted = 2 * capacity[0] + 32
    cdef PyObject** more = <PyObject**>PyMem_Realloc(listed, wanted * sizeof(PyObject*))
    if more == NULL:
        raise MemoryError()
    capacity[0] = wanted
    return more


cdef int push(GraphTask g, PyObject* n) except -1:
    """Add a ready node; takes over the reference."""
    cdef Py_ssize_t i, up
    cdef uint64_t seq = (<Node>n).seq
    if g.heap_count == g.heap_capacity:
        g.heap = grown(g.heap, &g.heap_capacity)
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


cdef int note_visit(GraphTask g, PyObject* n) except -1:
    if g.visited_count == g.visited_capacity:
        g.visited = grown(g.visited, &g.visited_capacity)
    Py_INCREF(<object>n)
    g.visited[g.visited_count] = n
    g.visited_count += 1
    return 0


cdef inline NodeState foreign_state(GraphTask g, PyObject* n):
    return <NodeState>g.foreign[<size_t>n]


cdef int reach(GraphTask g, PyObject* n) except -1:
    """
    Visit a node, and own it if no task does: 1 on the first visit of this task, 0 on others.
    """
    cdef Node node = <Node>n
    cdef NodeState s
    if node.owner == g.id:
        return 0
    if node.owner == 0:
        node.owner = g.id
        node.deps = 0
        note_visit(g, n)
        return 1
    if g.foreign is None:
        g.foreign = {}
    if <size_t>n in g.foreign:
        return 0
    s = NodeState.__new__(NodeState)
    s.buffers = [None] * node.n_out
    g.foreign[<size_t>n] = s
    note_visit(g, n)
    return 1


cdef inline int add_dep(GraphTask g, PyObject* n) except -1:
    cdef NodeState s
    if (<Node>n).owner == g.id:
        (<Node>n).deps += 1
        return 0
    s = foreign_state(g, n)
    s.deps += 1
    return 0


cdef int release_nodes(GraphTask g) except -1:
    """Release the nodes that the task owns; drop gradients that a failure left behind."""
    global g_selective
    cdef Py_ssize_t i
    cdef int k
    cdef uint32_t marks = 0
    cdef Node n
    if g.marked:
        g.marked = False
        g_selective -= 1
        if g_selective == 0:
            marks = N_SKIP
    for i in range(g.visited_count):
        n = <Node>g.visited[i]
        n.flags &= ~marks
        if n.owner == g.id:
            n.owner = 0
            n.flags &= ~<uint32_t>N_UNWANTED
            for k in range(n.n_out):
                if n.buffers[k] != NULL:
                    Py_DECREF(<object>n.buffers[k])
                    n.buffers[k] = NULL
    g.foreign = None
    return 0


# --- dependency counts ----------------------------------------------------------------------

# Ctrl-C is served after so many nodes here, too: some 0.1 ms.
cdef enum:
    SIGNAL_VISITS = 1 << 13


cdef int count_dependencies(GraphTask g, list roots) except -1:
    """Visit everything below the roots once; each edge counts one for its target."""
    cdef PyObject** stack = NULL
    cdef Py_ssize_t top = 0, capacity = 0, visits = 0
    cdef PyObject* p
    cdef Node n
    cdef int i
    try:
        for root in roots:
            if reach(g, <PyObject*>root):
                if top == capacity:
                    stack = grown(stack, &capacity)
                stack[top] = <PyObject*>root
                top += 1
            while top:
                top -= 1
                n = <Node>stack[top]
                visits += 1
                if visits % SIGNAL_VISITS == 0:
                    PyErr_CheckSignals()
                for i in range(n.n_edges):
                    p = n.edges[i].node
                    if p == NULL:
                        continue
                    if reach(g, p):
                        if top == capacity:
                            stack = grown(stack, &capacity)
                        stack[top] = p
                        top += 1
                    add_dep(g, p)
    finally:
        PyMem_Free(stack)
    return 0


cdef int older_first(const void* a, const void* b) noexcept nogil:
    cdef uint64_t x = sequence_of((<PyObject**>a)[0])
    cdef uint64_t y = sequence_of((<PyObject**>b)[0])
    return (x > y) - (x < y)


cdef inline uint64_t sequence_of(PyObject* p) noexcept nogil:
    cdef uint64_t seq = (<Node>p).seq
    return 0 if seq == <uint64_t>-1 else seq       # leaves are below everything


cdef int mark_needed(GraphTask g) except -1:
    """
    Mark what doesn't lead to a captured node (Note [Marks on nodes]). Visited nodes are in an order
    in which a parent may come before its children, so walk by sequence: children are always older.
    """
    global g_selective
    cdef Py_ssize_t i
    cdef int k
    cdef Node n
    cdef PyObject* p
    cdef bint needed
    g_selective += 1
    g.marked = True
    qsort(g.visited, g.visited_count, sizeof(PyObject*), older_first)
    for i in range(g.visited_count):
        n = <Node>g.visited[i]
        needed = is_captured(g, g.visited[i])
        if not needed:
            for k in range(n.n_edges):
                p = n.edges[k].node
                if p != NULL and not is_skipped(g, p):
                    needed = True
                    break
        if not needed:
            set_skipped(g, g.visited[i])
    return 0


cdef inline bint is_captured(GraphTask g, PyObject* p) except -1:
    return <size_t>p in g.captures


cdef inline bint is_skipped(GraphTask g, PyObject* p) except -1:
    if (<Node>p).owner == g.id:
        return ((<Node>p).flags & N_UNWANTED) != 0
    return foreign_state(g, p).flags & N_UNWANTED != 0


cdef int set_skipped(GraphTask g, PyObject* p) except -1:
    cdef NodeState s
    (<Node>p).flags |= N_SKIP
    if (<Node>p).owner == g.id:
        (<Node>p).flags |= N_UNWANTED
        return 0
    s = foreign_state(g, p)
    s.flags |= N_UNWANTED
    return 0


# --- running --------------------------------------------------------------------------------

cdef int run_accumulate(GraphTask g, Node n, PyObject** gin, PyObject** gout) except -1:
    cdef Scope seen = NULL
    cdef Tensor variable
    cdef PyObject* grad
    cdef bint shown
    if n.args == NULL:
        return 0
    variable = accumulated_variable(n)
    if variable.extra is not None and variable.extra.hooks:
        run_tensor_hooks(variable.extra.hooks, gin)
    if g.results is not None:
        capture(g, n, gin)
    if not g.accumulate:
        return 0
    if n.extra is not None:
        before_node(n, gin)
    grad = gin[0]
    if grad != NULL:
        gin[0] = NULL
        shown = n.extra is not None and n.extra.post_hooks    # the node's hooks see the gradient
        if shown and not becomes_grad(variable, grad, g.create_graph):
            Py_INCREF(<object>grad)
            gin[0] = grad
        if g_modes & G_PROFILE:
            seen = begin_node(n)
        accumulate_into(variable, grad, g.create_graph)
        if seen != NULL:
            close(seen)
            seen = NULL
        if shown and gin[0] == NULL and variable.gradient != NULL:
            gin[0] = give(tensor_alias(<Tensor>variable.gradient))
    after_accumulation(variable)
    if n.extra is not None:
        after_node(n, gin, gout)
    return 0


cdef int capture(GraphTask g, Node n, PyObject** gin) except -1:
    if not is_captured(g, <PyObject*>n):
        return 0
    for nr, position in g.captures[<size_t><PyObject*>n]:
        if gin[<int>nr] != NULL:
            g.results[position] = <object>gin[<int>nr]
    return 0


cdef inline int run_node(GraphTask g, Node n) except -1:
    """Run one ready node and pass its gradients on."""
    cdef Scope _around = NULL
    cdef Scope seen = NULL
    cdef PyObject* few[8]
    cdef PyObject* arrived[4]
    cdef PyObject** gout = few
    cdef PyObject** gin = arrived
    cdef PyObject* p
    cdef int i, n_edges = n.n_edges, n_out = n.n_out
    cdef bint foreign = n.owner != g.id
    cdef NodeState s
    cdef Tensor fitted
    if g_modes & G_PROFILE:
        _around = begin_outer(n)
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
    g.current = <PyObject*>n
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
            run_accumulate(g, n, gin, gout)
        else:
            if n.extra is not None:
                tensor_hooks_of(n, gin)
            if g.results is not None:
                capture(g, n, gin)
            if not g.selective or g.accumulate or leads_on(g, n):
                if n.extra is not None:
                    before_node(n, gin)
                if g_modes & G_PROFILE:
                    seen = begin_node(n)
                run_apply(n, gin, gout)
                if seen != NULL:
                    close(seen)
                    seen = NULL
                if n.extra is not None:
                    after_node(n, gin, gout)
                if g_modes & G_ANOMALY:
                    check_anomaly(n, gout)
                if not g.keep_graph:
                    release_saved(n)
        for i in range(n_edges):
            p = n.edges[i].node
            if p == NULL or (g.selective and is_skipped(g, p)):
                continue
            if gout[i] != NULL:
                if gradient_fits(<Node>p, n.edges[i].nr, <Tensor>gout[i]):
                    deposit(g, p, n.edges[i].nr, gout[i])
                    gout[i] = NULL
                else:
                    fitted = fit_gradient(<Node>p, n.edges[i].nr, <Tensor>gout[i], n, i)
                    Py_INCREF(fitted)
                    Py_DECREF(<object>gout[i])
                    gout[i] = <PyObject*>fitted
                    fitted = None
                    deposit(g, p, n.edges[i].nr, gout[i])
                    gout[i] = NULL
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
    """Return whether some edge of a node leads to what the task wants."""
    cdef int i
    for i in range(n.n_edges):
        if n.edges[i].node != NULL and not is_skipped(g, n.edges[i].node):
            return True
    return False


cdef inline int arrive(GraphTask g, PyObject* p) except -1:
    cdef Node n = <Node>p
    cdef NodeState s
    if n.owner == g.id:
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


include "engine/anomaly.pxi"


# --- tasks ----------------------------------------------------------------------------------

include "engine/streams.pxi"
include "engine/reentrance.pxi"
_carry_thread_state(_streams_here, _take_streams)


# Ctrl-C is served between nodes: after SIGNAL_NODES small ones, or as much work in large ones.
cdef enum:
    SIGNAL_NODES = 64
    SIGNAL_ELEMENTS = 4096


cdef inline Py_ssize_t work_of(Node n) noexcept:
    """Return how much a node counts towards the next check of signals, by its gradient's size."""
    if n.buffers[0] == NULL:
        return 1
    return 1 + (<Tensor>n.buffers[0]).count // SIGNAL_ELEMENTS


cdef int run_ready(GraphTask g) except -1:
    """Run what is ready until nothing is. One `try` for all: it costs as much as a small node."""
    cdef PyObject* p = NULL
    cdef PyObject* done
    cdef Py_ssize_t work = 0
    cdef list before = None             # streams that were current before the node's own
    try:
        while g.heap_count:
            p = pop(g)
            work += work_of(<Node>p)
            if work >= SIGNAL_NODES:
                work = 0
                PyErr_CheckSignals()
            if (<Node>p).flags & N_ON_DEVICE:
                before = g_take_streams(g, <Node>p)
            run_node(g, <Node>p)
            if before is not None:
                before = g_leave_streams(g, <Node>p, before)
            done = p
            p = NULL
            release_node(done)
    except BaseException as error:
        if p != NULL and g_modes & G_ANOMALY and _anomaly_failure is not None:
            _anomaly_failure(<object>p, error)
        raise
    finally:
        if before is not None:
            g_leave_streams(g, None, before)
        if p != NULL:
            release_node(p)
    return 0


cdef object run_here(GraphTask g):
    global ag_running_task
    cdef modes_t modes = tls_modes()
    cdef unsigned long thread = PyThread_get_thread_ident()
    cdef list stack = g_running.setdefault(thread, [])
    cdef Py_ssize_t i
    cdef PyObject* outer = ag_running_task
    stack.append(g)
    ag_running_task = <PyObject*>g
    tls_set_modes((modes & ~<modes_t>M_NO_GRAD | M_IN_BACKWARD) if g.create_graph
                  else (modes | M_NO_GRAD | M_IN_BACKWARD))
    try:
        run_ready(g)
        if g.on_device:
            g_join_streams(g, False)
        g.current = NULL
        if g.callbacks is not None:
            i = 0
            while i < len(g.callbacks):
                g.callbacks[i]()
                i += 1
    finally:
        if g.on_device:
            g_join_streams(g, True)
        ag_running_task = outer
        tls_set_modes(modes)
        if g.undo is not None:
            put, value = g.undo
            put(value)
        stack.pop()
        if not stack:
            del g_running[thread]
        release_nodes(g)
    return g.results


cdef int check_output(Node n, int nr) except -1:
    if n is None or not 0 <= nr < n.n_out:
        raise RuntimeError(
            f"a gradient edge names output {nr} of {'None' if n is None else n.node_name()}, which "
            f"has {0 if n is None else n.n_out} outputs")
    return 0


cdef Node node_and_output(object x, int* nr):
    """The node of a tensor, or of a pair of node and output number, and the number."""
    cdef Node n
    cdef PyObject* p
    if isinstance(x, Tensor):
        p = gradient_node(<Tensor>x)
        n = <Node>p
        Py_DECREF(n)
        nr[0] = 0 if n.flags & N_ACCUMULATE else (<Tensor>x).out_nr
    else:
        n, nr[0] = x
        check_output(n, nr[0])
    return n


def run_backward(tuple tensors, tuple grads, bint keep_graph, bint create_graph, tuple inputs=(),
                 bint allow_unreachable=False, bint accumulate_grad=False):
    """
    Backward from `tensors` with initial gradients `grads`.

    `tensors` and `inputs` hold tensors or pairs (node, output number). With `accumulate_grad`
    gradients go to the ``grad`` of leaves (of `inputs`, if given); without, those of `inputs` are
    returned, None where an input wasn't reached, which is an error without `allow_unreachable`.
    """
    global g_task_ids
    cdef GraphTask g = GraphTask.__new__(GraphTask)
    cdef list roots = []
    cdef list seeds = []
    cdef Tensor t, grad
    cdef Node n
    cdef int nr
    cdef Py_ssize_t i
    g_task_ids += 1
    g.id = g_task_ids
    g.keep_graph = keep_graph
    g.create_graph = create_graph
    g.accumulate = accumulate_grad
    g.keep = []
    for i in range(len(tensors)):
        if isinstance(tensors[i], Tensor):
            t = <Tensor>tensors[i]
            if not requires_grad(t):
                raise RuntimeError(
                    f"element {i} of tensors does not require grad and does not have a grad_fn "
                    f"({describe_tensor(t)}); set requires_grad=True on what it is computed from")
        n = node_and_output(tensors[i], &nr)
        if isinstance(tensors[i], Tensor) and t.fn == NULL and not t.flags & F_REQUIRES_GRAD:
            raise RuntimeError(         # a view made in no_grad mode: its base requires grad
                f"element {i} of tensors does not require grad and does not have a grad_fn "
                f"({describe_tensor(t)}): it is a view that was made in no_grad mode")
        roots.append(n)
        grad = <Tensor>grads[i]
        seeds.append((n, nr, grad))
    g.keep.append(roots)
    if inputs:
        g.selective = True
        g.captures = {}
        if not accumulate_grad:
            g.results = [None] * len(inputs)
        for i in range(len(inputs)):
            t = <Tensor>inputs[i] if isinstance(inputs[i], Tensor) else None
            if t is not None:
                if not requires_grad(t):
                    raise RuntimeError(
                        f"One of the differentiated Tensors does not require grad (input {i}, "
                        f"{describe_tensor(t)})")
            n = node_and_output(inputs[i], &nr)
            if t is not None and accumulate_grad and not n.flags & N_ACCUMULATE:
                c_retain_grad(t)                # its hook fills the grad of a non-leaf
            g.keep.append(n)
            g.captures.setdefault(<size_t><PyObject*>n, []).append((nr, i))
    try:
        count_dependencies(g, roots)
        if g.selective:
            mark_needed(g)
        for n, nr, grad in seeds:
            if not gradient_fits(n, nr, grad):
                grad = fit_gradient(n, nr, grad, None, 0)
            Py_INCREF(grad)
            try:
                deposit(g, <PyObject*>n, nr, <PyObject*>grad)
            except BaseException:
                Py_DECREF(grad)
                raise
        grad = None
        seeds = None
        for n in dict.fromkeys(roots):
            if g.selective and is_skipped(g, <PyObject*>n):
                continue
            if deps_of(g, n) == 0:
                Py_INCREF(n)
                push(g, <PyObject*>n)
    except BaseException:
        release_nodes(g)
        raise
    n = None
    results = run_task(g)
    if results is None:
        return None if accumulate_grad else ()
    if not allow_unreachable:
        for i in range(len(results)):
            if results[i] is None:
                raise RuntimeError(
                    f"The differentiated Tensor at index {i} appears to not have been used in the "
                    "graph. Set allow_unused=True if this is the desired behavior.")
    return tuple(results)


cdef object _backward = None


def _set_backward(f):
    """Set the function that tensor_backward calls for all but its plainest calls."""
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
    cdef Tensor one = None
    if (inputs is None and create_graph is False and not (self.flags & F_SLOW)
            and dt_differentiable(self.dt)
            and (retain_graph is None or retain_graph is True or retain_graph is False)):
        if gradient is None:
            if self.count == 1 and not dt_is_complex(self.dt):
                one = ones_like_plain(self)
        elif (type(gradient) is Tensor and not (<Tensor>gradient).flags & F_SLOW
                and same_shape(self, <Tensor>gradient)
                and self.mem.device == (<Tensor>gradient).mem.device
                and dt_is_complex((<Tensor>gradient).dt) == dt_is_complex(self.dt)):
            one = <Tensor>gradient
        if one is not None:
            run_backward((self,), (one,), retain_graph is True, False, (), True, True)
            return
    _backward(self, gradient, retain_graph, create_graph, inputs=inputs)


include "engine/questions.pxi"


def _forget_other_threads():
    """Forget tasks of other threads, in a forked child, where only the thread that forked runs."""
    global g_running, g_selective
    thread = PyThread_get_thread_ident()
    mine = g_running.get(thread)
    g_running = {} if not mine else {thread: mine}
    g_selective = sum([(<GraphTask>g).marked for g in mine or ()])
    _note_fork()


if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(after_in_child=_forget_other_threads)


graph_upcalls.wanted = is_wanted

seal(GraphTask, "GraphTask objects cannot be made; call backward()")
seal(NodeState, "NodeState objects cannot be made; call backward()")
install(Tensor, "backward", tensor_backward)
