# Nodes of leaves, and views: what shows whose memory (part of node.pyx).

cdef class AccumulateGrad(Node):
    """
    Add arriving gradients to the ``grad`` of a leaf tensor (``variable``).

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.ones(1, requires_grad=True)
    >>> node = (x * 2).grad_fn.next_functions[0][0]
    >>> isinstance(node, ag.autograd.graph.AccumulateGrad), node.variable is x
    (True, True)
    """

    @property
    def variable(self):
        return None if self.args == NULL else <object>self.args

    def name(self):
        """``"torch::autograd::AccumulateGrad"``, as programs know it."""
        return "torch::autograd::AccumulateGrad"


cdef Tensor accumulated_variable(Node n):
    return <Tensor>n.args


cdef PyObject* gradient_node(Tensor t) except NULL:
    cdef Node n
    if t.flags & F_VIEW and t.attr_version != t.mem.version[0]:
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
    if t.extra is not None and t.extra.retain_hook is not None:     # see grad_dtype in accumulate
        value = t.extra.retain_hook[0]
        if value is not None:
            n.metas[0].dt = value.code
    Py_INCREF(t)
    n.args = <PyObject*>t
    t.accumulator = <PyObject*>n    # borrowed: the node clears it when it dies
    # It is tracked already if anomaly mode has noted where it was made.
    if PyObject_GC_IsTracked(<PyObject*>t) and not PyObject_GC_IsTracked(<PyObject*>n):
        PyObject_GC_Track(<PyObject*>n)     # a cycle through the leaf may lead through here
    Py_INCREF(n)
    return <PyObject*>n


def _name_of(Node n not None):
    """The name of a node without a namespace."""
    return n.node_name()


def _gradient_node(Tensor t not None):
    """The node that the gradient of `t` goes to: its grad_fn, or the AccumulateGrad of a leaf."""
    cdef PyObject* p
    if not requires_grad(t):
        raise RuntimeError("the tensor doesn't require grad, so no gradient goes to it")
    p = gradient_node(t)
    node_track(<Node>p)
    track(t)
    r = <object>p
    Py_DECREF(r)
    return r


cdef Node current_fn(Tensor t):
    cdef Tensor base
    if t.flags & F_VIEW and t.attr_version != t.mem.version[0]:
        base = <Tensor>t.base
        if (t.fn != NULL or base.flags & F_REQUIRES_GRAD) and graph_upcalls.remake_view_fn != NULL:
            if t.creation != CREATED_DEFAULT:
                raise view_error(t, None)
            return <Node>graph_upcalls.remake_view_fn(t)
    if t.fn == NULL:
        return None
    return <Node>t.fn


cdef object late_grad_fn(Tensor t):
    # Python code may now hang state on the node: the collector must see the way back to it.
    cdef Node n = current_fn(t)
    if n is not None and n.flags & N_ACCUMULATE:
        return None             # a leaf as a hook has unpacked it: its gradient goes to the leaf
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
    if base.flags & F_INFERENCE:
        return 0                        # nothing is tracked for these, nor for their windows
    Py_INCREF(<object>root)
    view.base = root
    view.flags |= F_VIEW
    if base.own_tangent:
        stand_on(view, base)
    view.attr_version = view.mem.version[0]
    if tls_modes() & M_INFERENCE:
        creation = CREATED_INFERENCE
    elif tls_modes() & M_NO_GRAD:
        creation = CREATED_NO_GRAD
    elif creation == CREATED_DEFAULT and base.base != NULL:
        creation = base.creation
        if creation == CREATED_NO_GRAD or creation == CREATED_INFERENCE:
            creation |= CREATED_FURTHER
    view.creation = <uint8_t>creation
    if tls_modes() & M_VIEW_REPLAY:
        view.flags |= F_REPLAY
    return 0


cdef int rebase_history(Tensor t, Node n) except -1:
    """Record that the in-place operation `n` changed t (its version is bumped already)."""
    if t.flags & F_VIEW:
        set_meta(n, 0, t)
        return graph_upcalls.rebase_view(t, n)
    return set_history(t, n, 0)
