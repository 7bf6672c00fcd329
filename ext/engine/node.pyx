# cython: language_level=3
"""Nodes of the backward graph: recording, saved tensors, release.

One fixed-size family of classes: generated operators subclass Node without adding fields, so all
recycle their memory from one free list. Running the graph is in engine.pyx, views and in-place
history in views.pyx.
"""
cimport cython
from cpython.mem cimport PyMem_Malloc, PyMem_Free, PyMem_Realloc
from cpython.ref cimport PyObject, Py_INCREF, Py_DECREF, Py_XDECREF, Py_REFCNT
from libc.string cimport memset
from libc.stdint cimport uint8_t, uint16_t, uint64_t
from autograd_cy._C.dtypes cimport DT_SIZE, dt_object
from autograd_cy._C.tensor cimport (
    Tensor, late, tensor_alias, tensor_empty, copy_special, size_object, sizes_of,
    type_name, requires_grad, tls_modes, g_modes, track, F_REQUIRES_GRAD, F_VIEW, F_GRAD_PATH,
    F_INFERENCE, F_DUAL, F_BATCHED, F_WRAPPED, M_NO_GRAD, M_INFERENCE, M_SAVED_HOOKS, G_ANOMALY,
    CREATED_DEFAULT, CREATED_MULTI_OUTPUT, CREATED_NO_GRAD, CREATED_INFERENCE)

cdef extern from "Python.h":
    ctypedef int (*visitproc)(PyObject*, void*) noexcept
    ctypedef int (*traverseproc)(PyObject*, visitproc, void*) noexcept
    ctypedef int (*inquiry)(PyObject*) noexcept
    void PyObject_GC_Track(void*)
    void PyObject_GC_UnTrack(void*)
    int PyObject_GC_IsTracked(PyObject*)
    unsigned long PyThread_get_thread_ident()
    ctypedef struct GCType "PyTypeObject":
        traverseproc tp_traverse
        inquiry tp_clear

memset(&graph_late, 0, sizeof(graph_late))

# Newest first is the order of backward; one counter for all threads keeps it total.
cdef uint64_t g_sequence = 0


cdef class NodeExtra:
    pass


@cython.freelist(1024)
cdef class Node:
    """
    A recorded operation: what backward runs to turn gradients of outputs into gradients of inputs.

    Nodes are made by operators; ``tensor.grad_fn`` shows the one that made a tensor.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.ones(2, requires_grad=True)
    >>> (x * 2).grad_fn.name()
    'MulBackward0'
    """

    def __dealloc__(self):
        cdef int i
        cdef PyObject* p
        if self.flags & N_ACCUMULATE:
            if self.args != NULL:
                (<Tensor>self.args).accumulator = NULL
        if self.edges != NULL:
            for i in range(self.n_edges):
                p = self.edges[i].node
                self.edges[i].node = NULL
                if p != NULL:
                    release_node(p)
            if self.edges != self.edges0:
                PyMem_Free(self.edges)
        if self.saved != NULL:
            for i in range(self.n_saved):
                p = self.saved[i].obj
                self.saved[i].obj = NULL
                Py_XDECREF(p)
            if self.saved != self.saved0:
                PyMem_Free(self.saved)
        if self.buffers != NULL:
            for i in range(self.n_out):
                Py_XDECREF(self.buffers[i])
            if self.buffers != &self.buffer0:
                PyMem_Free(self.buffers)
        if self.metas != NULL:
            for i in range(self.n_out):
                if self.metas[i].shape != NULL and self.metas[i].shape != self.metas[i].dims:
                    PyMem_Free(self.metas[i].shape)
            if self.metas != &self.meta0:
                PyMem_Free(self.metas)
        p = self.args
        self.args = NULL
        Py_XDECREF(p)

    cdef int apply(self, PyObject** gin, PyObject** gout) except -1:
        raise RuntimeError(f"{self.node_name()} has no backward")

    cdef str node_name(self):
        return type(self).__name__

    cdef tuple saved_names(self):
        return ()

    def name(self):
        """Name of the operation, such as ``"MulBackward0"``."""
        return self.node_name()

    @property
    def next_functions(self):
        """Pairs (node, output number) that the computed gradients go to; node is None for none."""
        cdef int i
        cdef list r = []
        for i in range(self.n_edges):
            if self.edges[i].node == NULL:
                r.append((None, 0))
            else:
                node_track(<Node>self.edges[i].node)
                r.append((<object>self.edges[i].node, self.edges[i].nr))
        return tuple(r)

    @property
    def metadata(self):
        """A dictionary for the user's notes on this node."""
        cdef NodeExtra x = node_extra(self)
        if x.metadata is None:
            x.metadata = {}
            node_track(self)
        return x.metadata

    def _sequence_nr(self):
        return self.seq

    @property
    def _input_metadata(self):
        cdef int i
        return tuple([(meta_shape(self, i), dt_object(self.metas[i].dt))
                      for i in range(self.n_out) if self.metas[i].defined])

    def __getattr__(self, str name):
        if name.startswith("_saved_"):
            for key, kind, slot in self.saved_names():
                if key == name[7:]:
                    return saved_value(self, kind, slot)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __dir__(self):
        return [*object.__dir__(self), *("_saved_" + k for k, _, _ in self.saved_names())]

    def __repr__(self):
        return f"<{self.node_name()} object at {<size_t><PyObject*>self:#x}>"

    def __hash__(self):
        return <Py_ssize_t>(<size_t><PyObject*>self >> 4)


cdef object saved_value(Node n, str kind, int slot):
    """A `_saved_*` attribute, by the descriptor that the generator wrote."""
    if kind == "tensor":
        if n.saved[slot].obj == NULL and not (n.flags & N_FREED):
            return None
        return unpack(n, slot)
    if n.flags & N_FREED:
        raise freed_error(n)
    if kind == "int":
        return n.attrs[slot].i
    if kind == "float":
        return n.attrs[slot].d
    if kind == "bool":
        return bool(n.attrs[slot].i)
    return get_args(n)[slot]


cdef NodeExtra node_extra(Node n):
    if n.extra is None:
        n.extra = NodeExtra.__new__(NodeExtra)
    return n.extra


# --- recording ------------------------------------------------------------------------------

cdef int node_init(Node n, int n_edges, int n_saved, int n_out) except -1:
    """Make room; called once, right after `__new__`."""
    global g_sequence
    PyObject_GC_UnTrack(<PyObject*>n)
    g_sequence += 1
    n.seq = g_sequence
    n.edges = n.edges0
    n.saved = n.saved0
    n.buffers = &n.buffer0
    n.metas = &n.meta0
    if n_edges > INLINE_EDGES:
        n.edges = <Edge*>PyMem_Malloc(n_edges * sizeof(Edge))
        if n.edges == NULL:
            raise MemoryError()
        memset(n.edges, 0, n_edges * sizeof(Edge))
    n.n_edges = <uint16_t>n_edges
    if n_saved > INLINE_SAVED:
        n.saved = <Saved*>PyMem_Malloc(n_saved * sizeof(Saved))
        if n.saved == NULL:
            raise MemoryError()
        memset(n.saved, 0, n_saved * sizeof(Saved))
    n.n_saved = <uint16_t>n_saved
    if n_out > 1:
        n.buffers = <PyObject**>PyMem_Malloc(n_out * sizeof(PyObject*))
        if n.buffers == NULL:
            raise MemoryError()
        memset(n.buffers, 0, n_out * sizeof(PyObject*))
        n.metas = <OutMeta*>PyMem_Malloc(n_out * sizeof(OutMeta))
        if n.metas == NULL:
            raise MemoryError()
        memset(n.metas, 0, n_out * sizeof(OutMeta))
    n.n_out = <uint16_t>n_out
    n.thread = PyThread_get_thread_ident()
    if g_modes & G_ANOMALY and graph_late.note_creation != NULL:
        graph_late.note_creation(n)
    return 0


cdef int set_edge(Node n, int i, Tensor t) except -1:
    cdef PyObject* p
    if not (t.flags & F_GRAD_PATH):
        return 0
    if not requires_grad(t):
        return 0
    p = gradient_node(t)
    n.edges[i].node = p
    n.edges[i].nr = t.out_nr if t.fn != NULL else 0
    # A node above a tracked one may close a cycle through Python state: track it too.
    if (<Node>p).flags & N_TRACKED and not ((<Node>p).flags & N_ACCUMULATE):
        node_track(n)
    return 0


cdef int set_meta(Node n, int nr, Tensor t) except -1:
    cdef OutMeta* m = &n.metas[nr]
    cdef int i
    if m.shape != NULL and m.shape != m.dims:
        PyMem_Free(m.shape)
    m.shape = m.dims
    if t.nd > META_DIMS:
        m.shape = <Py_ssize_t*>PyMem_Malloc(t.nd * sizeof(Py_ssize_t))
        if m.shape == NULL:
            raise MemoryError()
    for i in range(t.nd):
        m.shape[i] = t.sizes[i]
    m.ndim = t.nd
    m.dt = t.dt
    m.defined = 1
    return 0


cdef int set_history(Tensor result, Node n, int nr) except -1:
    """Make `result` output number `nr` of node `n`."""
    cdef PyObject* old = result.fn
    set_meta(n, nr, result)
    Py_INCREF(n)
    result.fn = <PyObject*>n
    result.out_nr = nr
    result.flags |= F_REQUIRES_GRAD
    if n.flags & N_TRACKED:
        track(result)
    if old != NULL:
        release_node(old)
    return 0


cdef int refuse_inference(Tensor t) except -1:
    raise RuntimeError(
        "Inference tensors cannot be saved for backward. To work around you can make a clone to "
        "get a normal tensor and use it in autograd."
    )


cdef int save_input(Node n, int slot, Tensor t, int edge) except -1:
    cdef Saved* s = &n.saved[slot]
    if t.flags & F_INFERENCE:
        refuse_inference(t)
    if tls_modes() & M_SAVED_HOOKS and not (t.flags & F_WRAPPED):
        s.edge = edge
        return graph_late.pack_saved(n, slot, t)
    Py_INCREF(t)
    s.obj = <PyObject*>t
    s.version = t.mem.version
    s.edge = edge
    return 0


cdef Tensor graph_free_alias(Tensor t):
    """The same value without history (tangents and batch levels stay)."""
    cdef Tensor r = tensor_alias(t)
    if t.flags & (F_DUAL | F_BATCHED):
        copy_special(r, t)
    return r


cdef int save_output(Node n, int slot, Tensor t, int nr) except -1:
    # The output holds the node: saving the output itself would make a cycle.
    cdef Saved* s = &n.saved[slot]
    cdef Tensor alias
    if t.flags & F_INFERENCE:
        refuse_inference(t)
    alias = graph_free_alias(t)
    s.edge = -2 - nr
    if tls_modes() & M_SAVED_HOOKS:
        return graph_late.pack_saved(n, slot, alias)
    Py_INCREF(alias)
    s.obj = <PyObject*>alias
    s.version = t.mem.version
    return 0


cdef object freed_error(Node n):
    return RuntimeError(
        f"Trying to backward through the graph a second time (or directly access saved tensors "
        f"after they have already been freed): {n.node_name()} has released what it saved. Saved "
        "intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
        "Specify retain_graph=True if you need to backward through the graph a second time or if "
        "you need to access saved tensors after calling backward."
    )


cdef object version_error(Node n, Saved* s, Tensor t):
    cdef str which
    if s.edge <= -2:
        which = f"output {-2 - s.edge} of {n.node_name()}"
    elif t.fn != NULL:
        which = f"output {t.out_nr} of {(<Node>t.fn).node_name()}"
    else:
        which = "a leaf tensor"
    return RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace "
        f"operation: [{type_name(t)} {list(sizes_of(t))}], which is {which}, is at version "
        f"{t.mem.version}; expected version {s.version} instead. It was saved by {n.node_name()}. "
        "Hint: clone the tensor before the operation that changes it, or enable anomaly detection "
        "to find the operation that failed to compute its gradient, with "
        "autograd_cy.autograd.set_detect_anomaly(True)."
    )


cdef Tensor unpack(Node n, int slot):
    """The saved tensor of a slot, after the version check; None if nothing was saved."""
    cdef Saved* s = &n.saved[slot]
    cdef Tensor t, r
    cdef Edge* e
    if s.obj == NULL:
        if n.flags & N_FREED:
            raise freed_error(n)
        return None
    if not isinstance(<object>s.obj, Tensor):
        return <Tensor>graph_late.unpack_saved(n, slot)
    t = <Tensor>s.obj
    if t.mem.version != s.version:
        raise version_error(n, s, t)
    if s.edge <= -2:
        if tls_modes() & M_NO_GRAD:
            return t
        r = graph_free_alias(t)
        Py_INCREF(n)
        r.fn = <PyObject*>n
        r.out_nr = -2 - s.edge
        r.flags |= F_REQUIRES_GRAD
        return r
    if s.edge >= 0 and not (tls_modes() & M_NO_GRAD):
        e = &n.edges[s.edge]
        if e.node != NULL and t.fn != e.node and not (
                (<Node>e.node).flags & N_ACCUMULATE and t.fn == NULL):
            # The tensor has been detached or given another history since: keep the recorded one.
            r = graph_free_alias(t)
            Py_INCREF(<object>e.node)
            r.fn = e.node
            r.out_nr = e.nr
            r.flags |= F_REQUIRES_GRAD
            return r
    return t


cdef int set_args(Node n, tuple args) except -1:
    Py_INCREF(args)
    n.args = <PyObject*>args
    return 0


cdef tuple get_args(Node n):
    if n.args == NULL:
        raise freed_error(n)
    return <tuple>n.args


# --- accumulators, views --------------------------------------------------------------------

cdef class AccumulateGrad(Node):
    """Adds arriving gradients to the ``grad`` of a leaf tensor (``variable``)."""

    @property
    def variable(self):
        return <object>self.args


cdef Tensor accumulated_variable(Node n):
    return <Tensor>n.args


cdef PyObject* gradient_node(Tensor t) except NULL:
    cdef Node n
    if t.flags & F_VIEW and t.attr_version != t.mem.version:
        n = current_fn(t)
    if t.fn != NULL:
        Py_INCREF(<object>t.fn)
        return t.fn
    if t.accumulator != NULL:
        Py_INCREF(<object>t.accumulator)
        return t.accumulator
    n = AccumulateGrad.__new__(AccumulateGrad)
    node_init(n, 0, 0, 1)
    n.flags |= N_ACCUMULATE
    n.seq = <uint64_t>-1            # leaves come before everything else that is ready
    set_meta(n, 0, t)
    Py_INCREF(t)
    n.args = <PyObject*>t
    t.accumulator = <PyObject*>n    # borrowed: the node clears it when it dies
    Py_INCREF(n)
    return <PyObject*>n


cdef Node current_fn(Tensor t):
    cdef Tensor base
    if t.flags & F_VIEW and t.attr_version != t.mem.version:
        base = <Tensor>t.base
        if base.flags & F_REQUIRES_GRAD and graph_late.remake_view_fn != NULL:
            return <Node>graph_late.remake_view_fn(t)
    if t.fn == NULL:
        return None
    return <Node>t.fn


cdef object late_grad_fn(Tensor t):
    # Python code may now hang state on the node: the collector must see the way back to it.
    cdef Node n = current_fn(t)
    if n is not None:
        node_track(n)
        track(t)
    return n


cdef void accumulator_gone(PyObject* p) noexcept:
    # The leaf dies before its node only while the collector breaks a cycle.
    cdef Node n = <Node>p
    n.args = NULL


cdef int set_view(Tensor view, Tensor base, int creation) except -1:
    """Note that `view` shows the memory of `base` (or of what base is itself a view of)."""
    cdef PyObject* root = base.base if base.base != NULL else <PyObject*>base
    Py_INCREF(<object>root)
    view.base = root
    view.flags |= F_VIEW
    view.own_tangent = base.own_tangent
    view.attr_version = view.mem.version
    if creation == CREATED_DEFAULT:
        if tls_modes() & M_INFERENCE:
            creation = CREATED_INFERENCE
        elif tls_modes() & M_NO_GRAD:
            creation = CREATED_NO_GRAD
        elif base.base != NULL:
            creation = base.creation
    view.creation = <uint8_t>creation
    return 0


cdef int check_inplace(Tensor t, str op, bint recording) except -1:
    """
    Refuse an in-place operation that autograd could not follow; called before anything changes.
    `recording`: some operand requires grad and grad mode is on.
    """
    if t.mem.readonly:
        raise RuntimeError(f"{op}: the tensor shows read-only memory; clone() it first")
    if t.flags & F_INFERENCE and not (tls_modes() & M_INFERENCE):
        raise RuntimeError(
            "Inplace update to inference tensor outside InferenceMode is not allowed. You can make "
            "a clone to get a normal tensor before doing inplace update."
        )
    if not recording:
        return 0
    if t.flags & F_REQUIRES_GRAD and t.fn == NULL and not (
            t.flags & F_VIEW and (<Tensor>t.base).flags & F_REQUIRES_GRAD):
        raise RuntimeError(
            f"a leaf Variable that requires grad is being used in an in-place operation ({op}). "
            "Use the out-of-place form, or no_grad() if autograd needn't see the change."
        )
    if t.flags & F_VIEW:
        if t.creation != CREATED_DEFAULT:
            raise view_error(t, op)
        if requires_grad(t) and (<Tensor>t.base).fn == NULL:
            raise RuntimeError(
                f"a view of a leaf Variable that requires grad is being used in an in-place "
                f"operation ({op}). Use it under no_grad(), or clone() the leaf first."
            )
    return 0


cdef object view_error(Tensor t, str op):
    cdef Node fn = current_fn(t)
    cdef str made = "" if fn is None else f"Output {t.out_nr} of {fn.node_name()} "
    if t.creation == CREATED_INFERENCE:
        return RuntimeError(
            f"{made}is a view created in inference mode and is being modified inplace ({op}) in "
            "normal mode, which autograd cannot follow. Clone the view first."
        )
    if t.creation == CREATED_NO_GRAD:
        return RuntimeError(
            f"A view was created in no_grad mode and is being modified inplace ({op}) with grad "
            "mode enabled. Given that this use case is ambiguous and error-prone, it is forbidden. "
            "You can clarify your code by moving both the view and the inplace either both inside "
            "the no_grad block (if you don't want the inplace to be tracked) or both outside (if "
            "you want the inplace to be tracked)."
        )
    if t.creation == CREATED_MULTI_OUTPUT:
        return RuntimeError(
            f"{made}is a view and is being modified inplace ({op}). This view is the output of a "
            "function that returns multiple views. Such functions do not allow the output views to "
            "be modified inplace. You should replace the inplace operation by an out-of-place one."
        )
    return RuntimeError(
        f"{made}is a view and is being modified inplace ({op}). This view was created inside a "
        "custom Function (or because an input was returned as-is) and the autograd logic to handle "
        "view+inplace would override the custom backward associated with the custom Function, "
        "leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning "
        "the output of the custom Function."
    )


cdef int rebase_history(Tensor t, Node n) except -1:
    """Record that the in-place operation `n` changed t (its version is bumped already)."""
    if t.flags & F_VIEW:
        set_meta(n, 0, t)
        return graph_late.rebase_view(t, n)
    return set_history(t, n, 0)


# --- release --------------------------------------------------------------------------------

cdef int release_saved(Node n) except -1:
    cdef int i
    cdef PyObject* p
    if n.flags & N_ACCUMULATE:
        return 0
    for i in range(n.n_saved):
        p = n.saved[i].obj
        if p != NULL:
            n.flags |= N_FREED
            n.saved[i].obj = NULL
            Py_XDECREF(p)
    if n.flags & N_COPY_SLICES and n.args != NULL:
        release_saved(<Node>(<tuple>n.args)[0])
    return 0


# Nodes that wait for release: a chain of millions must not recurse.
cdef PyObject** g_pending = NULL
cdef Py_ssize_t g_pending_count = 0
cdef Py_ssize_t g_pending_room = 0
cdef bint g_releasing = False


cdef void release_node(PyObject* n) noexcept:
    """Drop a reference to a node; dying nodes are queued, so that chains release in a loop."""
    global g_pending, g_pending_count, g_pending_room, g_releasing
    cdef PyObject** more
    if Py_REFCNT(<object>n) > 1:
        Py_DECREF(<object>n)
        return
    if g_releasing:
        if g_pending_count == g_pending_room:
            more = <PyObject**>PyMem_Realloc(
                g_pending, (2 * g_pending_room + 64) * sizeof(PyObject*))
            if more == NULL:
                Py_XDECREF(n)       # no memory for the list: recursion is all that is left
                return
            g_pending = more
            g_pending_room = 2 * g_pending_room + 64
        g_pending[g_pending_count] = n
        g_pending_count += 1
        return
    g_releasing = True
    Py_XDECREF(n)
    while g_pending_count:
        g_pending_count -= 1
        Py_XDECREF(g_pending[g_pending_count])
    g_releasing = False
    if g_pending_room > 1 << 16:
        PyMem_Free(g_pending)
        g_pending = NULL
        g_pending_room = 0


cdef int node_track(Node n) except -1:
    n.flags |= N_TRACKED
    if not PyObject_GC_IsTracked(<PyObject*>n):
        PyObject_GC_Track(<PyObject*>n)
    return 0


cdef object meta_shape(Node n, int nr):
    return size_object(n.metas[nr].ndim, n.metas[nr].shape)


cdef Tensor zeros_for(Node n, int nr):
    cdef OutMeta* m = &n.metas[nr]
    cdef Tensor t = tensor_empty(m.dt, m.ndim, m.shape)
    memset(t.ptr, 0, t.count * DT_SIZE[t.dt])
    return t


cdef traverseproc _traverse_fields = (<GCType*>Node).tp_traverse
cdef inquiry _clear_fields = (<GCType*>Node).tp_clear


cdef int node_traverse(PyObject* o, visitproc visit, void* arg) noexcept:
    cdef int i, r
    r = _traverse_fields(o, visit, arg)
    if r:
        return r
    if (<Node>o).edges != NULL:
        for i in range((<Node>o).n_edges):
            if (<Node>o).edges[i].node != NULL:
                r = visit((<Node>o).edges[i].node, arg)
                if r:
                    return r
    if (<Node>o).saved != NULL:
        for i in range((<Node>o).n_saved):
            if (<Node>o).saved[i].obj != NULL:
                r = visit((<Node>o).saved[i].obj, arg)
                if r:
                    return r
    if (<Node>o).buffers != NULL:
        for i in range((<Node>o).n_out):
            if (<Node>o).buffers[i] != NULL:
                r = visit((<Node>o).buffers[i], arg)
                if r:
                    return r
    if (<Node>o).args != NULL:
        return visit((<Node>o).args, arg)
    return 0


cdef int node_clear(PyObject* o) noexcept:
    cdef Node n = <Node>o
    cdef PyObject* p
    cdef int i
    if n.edges != NULL:
        for i in range(n.n_edges):
            p = n.edges[i].node
            n.edges[i].node = NULL
            if p != NULL:
                release_node(p)
    if n.flags & N_ACCUMULATE:
        if n.args != NULL:
            (<Tensor>n.args).accumulator = NULL
            p = n.args
            n.args = NULL
            Py_XDECREF(p)
    else:
        release_saved(n)
        p = n.args
        n.args = NULL
        Py_XDECREF(p)
    return _clear_fields(o)

(<GCType*>Node).tp_traverse = node_traverse
(<GCType*>Node).tp_clear = node_clear
late.release_node = release_node
late.accumulator_gone = accumulator_gone
late.grad_fn = late_grad_fn
