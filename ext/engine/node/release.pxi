# Nodes let go: saved tensors, long chains, garbage collection (part of node.pyx).

cdef int release_saved(Node n) except -1:
    cdef int i
    cdef PyObject* p
    cdef Node inner
    if n.flags & N_ACCUMULATE:
        return 0
    if n.flags & N_PYTHON:
        n.flags |= N_FREED              # a Function's, also if it had saved nothing
    for i in range(n.n_saved):
        p = n.saved[i].obj
        if p != NULL:
            n.flags |= N_FREED
            n.saved[i].obj = NULL
            Py_XDECREF(p)
    if n.flags & N_COPY_SLICES and n.args != NULL:
        inner = <Node>(<tuple>n.args)[0]
        # A gradient with a graph may lead to the inner node itself, which then runs and is
        # released on its own: the tuple and `inner` are two references.
        if Py_REFCNT(inner) == 2:
            release_saved(inner)
    return 0


# Nodes that wait for release: a chain of millions must not recurse.
cdef PyObject** g_pending = NULL
cdef Py_ssize_t g_pending_count = 0
cdef Py_ssize_t g_pending_capacity = 0
cdef bint g_releasing = False


cdef void release_node(PyObject* n) noexcept:
    """Drop a reference to a node; dying nodes are queued, so that chains release in a loop."""
    global g_pending, g_pending_count, g_pending_capacity, g_releasing
    cdef PyObject** more
    if Py_REFCNT(<object>n) > 1:
        Py_DECREF(<object>n)
        return
    if g_releasing:
        if g_pending_count == g_pending_capacity:
            more = <PyObject**>PyMem_Realloc(
                g_pending, (2 * g_pending_capacity + 64) * sizeof(PyObject*))
            if more == NULL:
                Py_XDECREF(n)       # no memory for the list: recursion is all that is left
                return
            g_pending = more
            g_pending_capacity = 2 * g_pending_capacity + 64
        g_pending[g_pending_count] = n
        g_pending_count += 1
        return
    g_releasing = True
    Py_XDECREF(n)
    while g_pending_count:
        g_pending_count -= 1
        Py_XDECREF(g_pending[g_pending_count])
    g_releasing = False
    if g_pending_capacity > 1 << 16:
        PyMem_Free(g_pending)
        g_pending = NULL
        g_pending_capacity = 0


cdef int node_track(Node n) except -1:
    n.flags |= N_TRACKED
    if not PyObject_GC_IsTracked(<PyObject*>n):
        PyObject_GC_Track(<PyObject*>n)
    return 0


cdef object meta_shape(Node n, int nr):
    return size_object(n.metas[nr].ndim, n.metas[nr].shape)


cdef Tensor zeros_for(Node n, int nr):
    cdef OutMeta* m = &n.metas[nr]
    return zeros_on(m.device, m.dt, m.ndim, m.shape)


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
            if (<Tensor>n.args).accumulator == o:       # not one that set_() has left
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
