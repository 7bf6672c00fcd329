# cython: language_level=3
# build: plain hot
"""Nodes of the backward graph: recording, saved tensors, release.

One fixed-size family of classes: those of generated operators add no fields, so all recycle their
memory from one free list. Running the graph is in engine.pyx, views and in-place history in
views.pyx.

# Note [Kinds of nodes]
A generated operator has no class in its module, but a `NodeKind`: its `apply`, and a line of text
with the name of the class and what its nodes save. The class is made with the first node, and it
differs from Node in its name only: what Node's methods do is looked up in the kind of the node.
"""
cimport cython
from cpython.mem cimport PyMem_Malloc, PyMem_Free, PyMem_Realloc
from cpython.object cimport PyTypeObject
from cpython.ref cimport PyObject, Py_INCREF, Py_DECREF, Py_XDECREF, Py_REFCNT
from libc.string cimport memset, strchr
from autograd_cy._C.checked cimport checked_count
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from autograd_cy._C.iterate cimport zeros_on
from autograd_cy._C.devices cimport current_stream, current_stream_owner, stream_t
from autograd_cy._C.dtypes cimport DT_F64, DT_I64, dt_object
from autograd_cy._C.placement cimport device_of_code
from autograd_cy._C.sealed cimport seal
from autograd_cy._C.storage cimport (
    ON_META, StorageImpl, STORAGE_ALIAS, born_since, follow_births, leave_births)
from autograd_cy._C.tensor cimport (
    Tensor, upcalls, tensor_alias, copy_special, scalar_value, stand_on, size_object, sizes_of,
    tensor_type_name, describe_tensor, requires_grad, modes_t, tls_modes, tls_set_modes,
    wrap_double, wrap_number,
    g_modes, track, F_REQUIRES_GRAD, F_VIEW, F_GRAD_PATH, F_INFERENCE, F_DUAL, F_BATCHED,
    F_WRAPPED, F_RETAINS_GRAD, F_REPLAY, M_NO_GRAD, M_INFERENCE, M_SAVED_HOOKS, M_GUARD_SAVED,
    M_VIEW_REPLAY, G_ANOMALY, CREATED_DEFAULT, CREATED_MULTI_OUTPUT, CREATED_NO_GRAD,
    CREATED_INFERENCE)

from collections import namedtuple as _namedtuple
from math import prod as _prod

cdef extern from "Python.h":
    ctypedef int (*visitproc)(PyObject*, void*) noexcept
    ctypedef int (*traverseproc)(PyObject*, visitproc, void*) noexcept
    ctypedef int (*inquiry)(PyObject*) noexcept
    unsigned long PyThread_get_thread_ident()
    void PyObject_GC_Track(void*)
    void PyObject_GC_UnTrack(void*)
    int PyObject_GC_IsTracked(PyObject*)
    ctypedef struct GCType "PyTypeObject":
        traverseproc tp_traverse
        inquiry tp_clear

memset(&graph_upcalls, 0, sizeof(graph_upcalls))

cdef enum:  # beside CREATED_NO_GRAD and CREATED_INFERENCE
    CREATED_FURTHER = 8     # in normal mode, of a view that was made so

InputMetadata = _namedtuple("InputMetadata", "shape dtype device", module=__name__)

# Newest first is the order of backward; one counter for all threads keeps it total.
cdef uint64_t g_sequence = 0


def _next_sequence_nr():
    """The number that the next node will have."""
    return g_sequence + 1


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
            if self.args != NULL and (<Tensor>self.args).accumulator == <PyObject*>self:
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
        if self.kind != NULL:
            return self.kind.apply(self, gin, gout)
        raise RuntimeError(f"{self.node_name()} has no backward")

    cdef str node_name(self):
        return type(self).__name__

    cdef tuple saved_names(self):
        return () if self.kind == NULL else saved_of(self.kind)

    def name(self):
        """Name of the operation, such as ``"MulBackward0"``."""
        return self.node_name()

    @property
    def next_functions(self):
        """Pairs (node, output number) that the computed gradients go to; node is None for none."""
        cdef int i
        cdef list r = []
        for i in range(first_edge(self), self.n_edges):
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
        return x.metadata

    def _sequence_nr(self):
        return self.seq

    def _set_sequence_nr(self, uint64_t number):
        """Set the number by which backward orders the nodes that are ready; the greatest runs
        first."""
        self.seq = number

    @property
    def _input_metadata(self):
        cdef int i
        return tuple([InputMetadata(meta_shape(self, i), dt_object(self.metas[i].dt),
                                    device_of_code(self.metas[i].device))
                      if self.metas[i].defined else None for i in range(self.n_out)])

    @property
    def requires_grad(self):
        return True

    def register_hook(self, fn):
        """
        Call `fn(grad_inputs, grad_outputs)` after this node has run; both are tuples.

        A returned tuple replaces `grad_inputs`, what the node passes on.

        Returns
        -------
        RemovableHandle

        Examples
        --------
        >>> import autograd_cy as ag
        >>> x = ag.ones(1, requires_grad=True)
        >>> y = x * 2
        >>> handle = y.grad_fn.register_hook(lambda gi, go: (gi[0] * 10, None))
        >>> y.sum().backward()
        >>> x.grad
        tensor([20.])
        """
        return _register(self, fn, False)

    def register_prehook(self, fn):
        """
        Call `fn(grad_outputs)` before this node runs; a returned tuple replaces them.

        Returns
        -------
        RemovableHandle

        Examples
        --------
        >>> import autograd_cy as ag
        >>> x = ag.ones(1, requires_grad=True)
        >>> y = x * 2
        >>> handle = y.grad_fn.register_prehook(lambda go: (go[0] * 10,))
        >>> y.sum().backward()
        >>> x.grad
        tensor([20.])
        """
        return _register(self, fn, True)

    def _register_hook_dict(self, hooks):
        """Let the functions in the dictionary `hooks` run after this node."""
        node_extra(self).post_hooks = hooks

    def __call__(self, *gradients):
        """The gradients with respect to the inputs, for given gradients of the outputs."""
        return call_node(self, gradients)

    def __getattr__(self, str name):
        if name.startswith("_saved_"):
            for key, kind, slot in self.saved_names():
                if key == name[7:]:
                    return saved_value(self, kind, slot)
        elif name.startswith("_raw_saved_"):
            for key, kind, slot in self.saved_names():
                if key == name[11:] and holds_tensor(self, kind, slot):
                    return raw_value(self, kind, slot)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __dir__(self):
        names = self.saved_names()
        return [*object.__dir__(self), *("_saved_" + k for k, _, _ in names),
                *("_raw_saved_" + k for k, kind, i in names if holds_tensor(self, kind, i))]

    def __repr__(self):
        return f"<{self.node_name()} object at {<size_t><PyObject*>self:#x}>"

    def __hash__(self):
        return <Py_ssize_t>(<size_t><PyObject*>self >> 4)


cdef object _register = None


def _set_register(f):
    """`f(node, hook, before)` registers a hook of a node; handles are made in plain Python."""
    global _register
    _register = f


include "node/kinds.pxi"
include "node/shown.pxi"


cdef NodeExtra node_extra(Node n):
    if n.extra is None:
        n.extra = NodeExtra.__new__(NodeExtra)
    return n.extra


# --- recording ------------------------------------------------------------------------------

cdef int node_init(Node n, Py_ssize_t n_edges, Py_ssize_t n_saved, Py_ssize_t n_out) except -1:
    """Allocate edges and saved tensors; called once, right after `__new__`."""
    global g_sequence
    PyObject_GC_UnTrack(<PyObject*>n)
    g_sequence += 1
    n.seq = g_sequence
    n.edges = n.edges0
    n.saved = n.saved0
    n.buffers = &n.buffer0
    n.metas = &n.meta0
    if n_edges > INLINE_EDGES:
        checked_count(n_edges, "inputs of one operation")
        n.edges = <Edge*>PyMem_Malloc(n_edges * sizeof(Edge))
        if n.edges == NULL:
            raise MemoryError()
        memset(n.edges, 0, n_edges * sizeof(Edge))
    n.n_edges = <int32_t>n_edges
    reserve_saved(n, n_saved, n_out)
    if g_modes & G_ANOMALY and graph_upcalls.note_creation != NULL:
        graph_upcalls.note_creation(n)
    return 0


cdef int set_edge(Node n, int i, Tensor t) except -1:
    cdef PyObject* p
    if not (t.flags & F_GRAD_PATH):
        return 0
    if not requires_grad(t):
        return 0
    if t.fn == NULL and not (t.flags & F_REQUIRES_GRAD) and t.attr_version == t.mem.version[0]:
        return 0            # a view made where nothing is recorded: only its base requires grad
    p = gradient_node(t)
    n.edges[i].node = p
    n.edges[i].nr = t.out_nr if t.fn != NULL else 0
    # A node above a tracked one may close a cycle through Python state: track it too.
    if (<Node>p).flags & N_TRACKED and not ((<Node>p).flags & N_ACCUMULATE):
        node_track(n)
    return 0


cdef int set_meta(Node n, int nr, Tensor t) except -1:
    cdef OutMeta* m = &n.metas[nr]
    cdef const Py_ssize_t* sizes = t.sizes
    cdef int i, nd = t.nd, device = t.mem.device
    if nd > META_DIMS or device > ON_META or m.shape != NULL and m.shape != m.dims:
        return _set_other_meta(n, nr, t)
    m.shape = m.dims
    for i in range(nd):
        m.dims[i] = sizes[i]
    m.ndim = nd
    m.dt = t.dt
    m.device = device
    m.defined = 1
    return 0


cdef int set_other_meta(Node n, int nr, Tensor t) except -1:
    """set_meta() where there is more to do than to copy a few numbers."""
    cdef OutMeta* m = &n.metas[nr]
    cdef int i
    if m.shape != m.dims:
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
    m.device = t.mem.device
    m.defined = 1
    if m.device > ON_META:
        note_stream(n, m.device)
    return 0


# By a pointer: inlined it would take registers of every operator that is recorded.
cdef int (*_set_other_meta)(Node, int, Tensor) except -1
_set_other_meta = set_other_meta


cdef int note_stream(Node n, int device) except -1:
    """A result is on a device: backward goes by the stream that is current there."""
    cdef stream_t stream = current_stream(device)
    n.flags |= N_ON_DEVICE
    if stream != NULL:
        if node_extra(n).streams is None:
            n.extra.streams = {}
        n.extra.streams[device] = <size_t>stream, <object>current_stream_owner(device)
    elif n.extra is not None and n.extra.streams is not None:
        n.extra.streams.pop(device, None)
    return 0


cdef int set_history(Tensor result, Node n, int nr) except -1:
    """Make `result` output number `nr` of node `n`."""
    cdef PyObject* old = result.fn
    set_meta(n, nr, result)
    if result.flags & F_RETAINS_GRAD:
        move_retained(result, n, nr)
    Py_INCREF(n)
    result.fn = <PyObject*>n
    result.out_nr = nr
    result.flags |= F_REQUIRES_GRAD
    if n.flags & N_TRACKED:
        track(result)
    if old != NULL:
        release_node(old)
    return 0


cdef int move_retained(Tensor t, Node n, int nr) except -1:
    """retain_grad reports the last value of `t`: it follows it to its new node."""
    cdef Node old
    if t.fn == NULL:
        return 0
    old = <Node>t.fn
    if old.extra is None or not old.extra.retain_hooks:
        return 0
    hook = old.extra.retain_hooks.pop(t.out_nr, None)
    if hook is not None:
        if node_extra(n).retain_hooks is None:
            n.extra.retain_hooks = {}
        n.extra.retain_hooks[nr] = hook
    return 0


cdef int reserve_saved(Node n, Py_ssize_t n_saved, Py_ssize_t n_out) except -1:
    """Allocate saved tensors and outputs that weren't known at node_init; called once."""
    if n_saved > INLINE_SAVED:
        checked_count(n_saved, "tensors saved for backward")
        n.saved = <Saved*>PyMem_Malloc(n_saved * sizeof(Saved))
        if n.saved == NULL:
            raise MemoryError()
        memset(n.saved, 0, n_saved * sizeof(Saved))
    n.n_saved = <int32_t>n_saved
    if n_out > 1:
        checked_count(n_out, "outputs of one operation")
        n.buffers = <PyObject**>PyMem_Malloc(n_out * sizeof(PyObject*))
        if n.buffers == NULL:
            n.buffers = &n.buffer0
            raise MemoryError()
        memset(n.buffers, 0, n_out * sizeof(PyObject*))
        n.metas = <OutMeta*>PyMem_Malloc(n_out * sizeof(OutMeta))
        if n.metas == NULL:
            n.metas = &n.meta0
            raise MemoryError()
        memset(n.metas, 0, n_out * sizeof(OutMeta))
    n.n_out = <int32_t>n_out
    return 0


cdef int refuse_inference(Tensor t) except -1:
    raise RuntimeError(
        "Inference tensors cannot be saved for backward. Please do not use Tensors created in "
        "inference mode in computation tracked by autograd. To work around you can make a clone to "
        "get a normal tensor and use it in autograd."
    )


cdef int save_input(Node n, int slot, Tensor t, int edge) except -1:
    cdef Saved* s = &n.saved[slot]
    cdef object number
    if t.flags & (F_INFERENCE | F_WRAPPED):
        if t.flags & F_INFERENCE and not transformed_in_reverse():
            refuse_inference(t)
        if t.flags == F_WRAPPED and (t.dt == DT_F64 or t.dt == DT_I64):
            # As a tensor it would take ten times the memory.
            if t.dt == DT_F64 and t.nd == 0:
                number = (<double*>t.ptr)[0]
            else:
                number = scalar_value(t)
            Py_INCREF(number)
            s.obj = <PyObject*>number
            s.edge = edge
            return 0
    if tls_modes() & M_SAVED_HOOKS and not (t.flags & F_WRAPPED):
        s.edge = edge
        return graph_upcalls.pack_saved(n, slot, t)
    Py_INCREF(t)
    s.obj = <PyObject*>t
    s.version = t.mem.version[0]
    s.edge = edge
    return 0


cdef int save_old_value(Node n, int slot, Tensor copy, int edge) except -1:
    """Save a copy of an input that is about to be overwritten; it gets the input's history."""
    cdef PyObject* to
    if edge >= 0:
        to = n.edges[edge].node
        if to != NULL and not (<Node>to).flags & N_ACCUMULATE:
            attach(copy, to, n.edges[edge].nr)
    return save_input(n, slot, copy, edge)


cdef Tensor graph_free_alias(Tensor t):
    """Return an alias without history (tangents and batch levels stay)."""
    cdef Tensor r = tensor_alias(t)
    if t.flags & (F_DUAL | F_BATCHED):
        copy_special(r, t)
    return r


cdef int attach(Tensor t, PyObject* node, uint32_t nr) except -1:
    """Make a tensor without history output `nr` of a node that exists already."""
    Py_INCREF(<object>node)
    t.fn = node
    t.out_nr = nr
    t.flags |= F_REQUIRES_GRAD
    if (<Node>node).flags & N_TRACKED:
        track(t)
    return 0


cdef int save_output(Node n, int slot, Tensor t, int nr) except -1:
    # The output holds the node: saving the output itself would make a cycle.
    cdef Saved* s = &n.saved[slot]
    cdef Tensor alias
    if t.flags & F_INFERENCE:
        refuse_inference(t)
    alias = graph_free_alias(t)
    s.edge = -2 - nr
    if tls_modes() & M_SAVED_HOOKS:
        return graph_upcalls.pack_saved(n, slot, alias)
    Py_INCREF(alias)
    s.obj = <PyObject*>alias
    s.version = t.mem.version[0]
    return 0


cdef str operation_name(Node n):
    """Return the operation that errors name: ``Add`` for AddBackward0, a Function by its class."""
    cdef str name = n.node_name()
    if not n.flags & N_PYTHON:
        name = name.rstrip("0123456789")
    short = name.removesuffix("Backward")
    return short if short != name else n.node_name()


cdef object freed_error(Node n):
    return RuntimeError(
        "Trying to backward through the graph a second time (or directly access saved tensors "
        "after they have already been freed). Saved intermediate values of the graph are freed "
        "when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to "
        "backward through the graph a second time or if you need to access saved tensors after "
        f"calling backward. The node that was freed is {n.node_name()}. Usual causes: backward() "
        "was called twice on one loss; two losses share a part of the graph; or something that "
        "was computed before a loop is used in every turn (detach() it, or compute it inside)."
    )


cdef str indented(str title, object lines):
    return "" if lines is None else f"\n{title}:\n{lines}"


cdef object version_error(Node n, Saved* s, Tensor t):
    cdef str which
    cdef str changed = ""
    cdef str hint
    if s.edge <= -2:
        which = f"output {-2 - s.edge} of {operation_name(n)}"
    elif t.fn != NULL:
        which = f"output {t.out_nr} of {operation_name(<Node>t.fn)}"
    else:
        which = "a leaf tensor"
    if t.mem.last_op != NULL:
        changed = f" and last changed by {<object>t.mem.last_op}"
    if g_modes & G_ANOMALY:
        hint = "clone the tensor before the operation that changes it."
        hint += indented(f"It was saved by {n.node_name()} here",
                         graph_upcalls.lines_of_creation(n))
        hint += indented("It was last changed here", graph_upcalls.lines_of_mutation(t))
    else:
        hint = ("clone the tensor before the operation that changes it, or enable anomaly "
                "detection to find the operation that failed to compute its gradient, with "
                "autograd_cy.autograd.set_detect_anomaly(True).")
    return RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace "
        f"operation: [{tensor_type_name(t)} {list(sizes_of(t))}], which is {which}, is at version "
        f"{t.mem.version[0]}; expected version {s.version} instead. It was saved by "
        f"{n.node_name()}{changed}. Hint: {hint}"
    )


cdef Tensor unpack(Node n, int slot):
    """The saved tensor of a slot, after its checks; None if nothing was saved."""
    cdef Saved* s = &n.saved[slot]
    cdef PyObject* to
    cdef Tensor t
    if s.obj != NULL and s.edge >= -1 and isinstance(<object>s.obj, Tensor):
        # The usual case: nothing has happened to it since.
        t = <Tensor>s.obj
        if t.mem.version[0] == s.version:
            if s.edge < 0:
                return t
            to = n.edges[s.edge].node
            if to == NULL or t.fn == to or (t.fn == NULL and (<Node>to).flags & N_ACCUMULATE):
                return t
    t = peek(n, slot)
    if t is not None and t.fn == NULL and s.edge >= 0:
        to = n.edges[s.edge].node
        if to != NULL and not (<Node>to).flags & N_ACCUMULATE and <PyObject*>t == s.obj:
            raise RuntimeError(
                "Trying to use a saved tensor that has been detached in-place, i.e. with "
                ".detach_(). This is not supported, please use out-of-place `.detach()` instead "
                f"({n.node_name()} saved it, {describe_tensor(t)})")
    return t


cdef Tensor peek(Node n, int slot):
    """Like `unpack`, but the tensor may have been detached in place."""
    return remembered(n, slot, tls_modes() & M_NO_GRAD != 0)


cdef Tensor recorded(Node n, int slot):
    """The saved tensor as users see it: with its history, also where nothing is recorded."""
    return remembered(n, slot, False)


cdef Tensor remembered(Node n, int slot, bint plain):
    """The saved tensor; `plain`: what its history is doesn't matter."""
    cdef Saved* s = &n.saved[slot]
    cdef Tensor t, r
    cdef Edge* e
    if s.obj == NULL:
        if n.flags & N_FREED:
            raise freed_error(n)
        return None
    if not isinstance(<object>s.obj, Tensor):
        if type(<object>s.obj) is float:
            return wrap_double(<double><object>s.obj)
        if isinstance(<object>s.obj, int):
            return wrap_number(<object>s.obj)
        return <Tensor>graph_upcalls.unpack_saved(n, slot)
    t = <Tensor>s.obj
    if t.mem.version[0] != s.version:
        raise version_error(n, s, t)
    if s.edge <= -2:
        if plain:
            return t
        r = graph_free_alias(t)
        attach(r, <PyObject*>n, -2 - s.edge)
        return r
    if s.edge >= 0 and not plain:
        e = &n.edges[s.edge]
        if e.node != NULL and t.fn != e.node and not (
                (<Node>e.node).flags & N_ACCUMULATE and t.fn == NULL):
            # The tensor has been detached or given another history since: keep the recorded one.
            r = graph_free_alias(t)
            attach(r, e.node, e.nr)
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


cdef int n_tensors(object indices) except -1:
    cdef int n = 0
    for index in indices:
        if index is not None:
            n += 1
    return n


cdef tuple save_indices(Node n, int slot, object indices):
    """Save index tensors in slots from `slot` on; returns where each is, None for none."""
    cdef list places = []
    for index in indices:
        if index is None:
            places.append(None)
        else:
            save_input(n, slot, <Tensor>index, -1)
            places.append(slot)
            slot += 1
    return tuple(places)


cdef tuple saved_indices(Node n, tuple places):
    return tuple([None if place is None else unpack(n, <int>place) for place in places])


include "node/leaves.pxi"
include "node/captures.pxi"
include "node/inplace_checks.pxi"
include "node/release.pxi"


# --- anomaly mode: what autograd_cy.autograd.anomaly_mode has set -------------------------

cdef object _note_creation = None
cdef object _note_mutation = None
cdef object _lines_of_creation = None
cdef object _lines_of_mutation = None


cdef int note_creation(Node n) except -1:
    _note_creation(n)
    return 0


cdef int note_mutation(Tensor t, str op) except -1:
    if g_modes & G_ANOMALY and _note_mutation is not None:
        _note_mutation(t, op)
    if tls_modes() & M_GUARD_SAVED and _guard is not None:
        _guard(t)
    return 0


cdef object lines_of_creation(Node n):
    return None if _lines_of_creation is None else _lines_of_creation(n)


cdef object lines_of_mutation(Tensor t):
    return None if _lines_of_mutation is None else _lines_of_mutation(t)


def _set_anomaly(creation, mutation, created_at, mutated_at):
    """Functions of anomaly mode: two that note, and two that tell the lines (or None)."""
    global _note_creation, _note_mutation, _lines_of_creation, _lines_of_mutation
    _note_creation, _note_mutation = creation, mutation
    _lines_of_creation, _lines_of_mutation = created_at, mutated_at
    graph_upcalls.note_creation = note_creation


cdef object _guard = None


def _set_write_guard(f):
    """`f(tensor)` is called before in-place writes in threads whose mode asks for it."""
    global _guard
    _guard = f


def _unfilled():
    """Entries of `graph_upcalls` that no module has filled."""
    return [f"graph_upcalls.{name}" for name, there in (
        ("rebase_view", graph_upcalls.rebase_view != NULL),
        ("remake_view_fn", graph_upcalls.remake_view_fn != NULL),
        ("pack_saved", graph_upcalls.pack_saved != NULL),
        ("unpack_saved", graph_upcalls.unpack_saved != NULL),
        ("raw_saved", graph_upcalls.raw_saved != NULL),
        ("note_creation", graph_upcalls.note_creation != NULL),
        ("note_mutation", graph_upcalls.note_mutation != NULL),
        ("wanted", graph_upcalls.wanted != NULL),
        ("lines_of_mutation", graph_upcalls.lines_of_mutation != NULL),
        ("lines_of_creation", graph_upcalls.lines_of_creation != NULL)) if not there]


graph_upcalls.note_mutation = note_mutation
graph_upcalls.lines_of_creation = lines_of_creation
graph_upcalls.lines_of_mutation = lines_of_mutation
(<GCType*>Node).tp_traverse = node_traverse
(<GCType*>Node).tp_clear = node_clear
# This class took over Node's slots when the module was made; later modules see those above.
(<GCType*>AccumulateGrad).tp_traverse = node_traverse
(<GCType*>AccumulateGrad).tp_clear = node_clear
upcalls.note_write = note_write
upcalls.release_node = release_node
upcalls.accumulator_gone = accumulator_gone
upcalls.grad_fn = late_grad_fn
