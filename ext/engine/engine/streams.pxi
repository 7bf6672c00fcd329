# Streams of backward, and where gradients arrive (part of engine.pyx).

# Note [Streams of backward]
# A node with results on a device remembers the stream that was current when its operation ran, and
# runs on it. What is in a node's buffers may be read on that stream: a gradient that was made on
# another one is waited for when it is put there, and gradients that meet are added on the node's
# own. What users gave, and what ran on the CPU, counts as made on the stream that is current. In
# the end the caller's streams wait for all that the task has used. Memory that another stream made
# stays until the work on it is done (`note_use`). Graphs of the CPU see of all this one flag,
# N_ON_DEVICE.

cdef inline int deposit(GraphTask g, PyObject* target, int nr, PyObject* grad) except -1:
    """Add a gradient (takes the reference) to the buffer of output `nr` of a node."""
    if (<Node>target).flags & N_ON_DEVICE:
        return deposit_on_device(g, target, nr, grad)
    return add_deposit(g, target, nr, grad)


cdef int add_deposit(GraphTask g, PyObject* target, int nr, PyObject* grad) except -1:
    cdef Node n = <Node>target
    cdef NodeState s
    if n.owner != g.id:
        s = foreign_state(g, target)
        if s.buffers[nr] is None:
            s.buffers[nr] = <object>grad
        else:
            s.buffers[nr] = T.add(s.buffers[nr], <Tensor>grad)
        Py_DECREF(<object>grad)
        return 0
    if n.buffers[nr] == NULL:
        n.buffers[nr] = grad
        return 0
    return add_gradients(&n.buffers[nr], grad, g.create_graph)


cdef inline bint is_accelerator(int device) noexcept nogil:
    """Tell whether a code is that of a device with streams."""
    return device > ON_META


cdef Stand stand_of(Node n, int device) noexcept:
    """The stream of a node on a device."""
    cdef Stand s
    s.device = device
    s.stream = NULL
    if n.extra is not None and n.extra.streams is not None:
        place = n.extra.streams.get(device)
        if place is not None:
            s.stream = <stream_t><size_t>place[0]
    return s


cdef object owner_of(Node n, Stand s):
    """The Stream object that keeps the stream `s` alive; None for a default stream."""
    return None if s.stream == NULL else n.extra.streams[s.device][1]


cdef int note_stream(GraphTask g, Node n, Stand s) except -1:
    """Remember that the task has put work on the stream `s`."""
    if g.on_device:
        if g.newest.stream == s.stream and g.newest.device == s.device:
            return 0
        if g.streams is None:
            g.streams = {(g.newest.device, <size_t>g.newest.stream): g.newest_owner}
        g.streams[s.device, <size_t>s.stream] = owner_of(n, s)
    g.on_device = True
    g.newest = s
    g.newest_owner = owner_of(n, s)
    return 0


cdef object current_owner(int device):
    cdef PyObject* owner = current_stream_owner(device)
    return None if owner == NULL else <object>owner


cdef int let_wait(int device, stream_t waiting, stream_t awaited) except -1:
    """Let what is put on one stream of a device from now on wait for what is on another."""
    cdef Services* s = &services[device_type(device)]
    cdef int index = device_index(device)
    cdef void* event = NULL
    s.event_record(index, awaited, False, &event)
    try:
        s.event_wait(index, waiting, event)
    finally:
        s.event_free(index, event)
    return 0


cdef int keep_for(Tensor t, int device, stream_t stream, object owner) except -1:
    """A stream uses a tensor: its memory doesn't go before that has been done."""
    cdef StorageImpl* s
    t = below_vmaps(t)
    s = storage_root(t.mem)
    if s.kind == STORAGE_DEVICE:
        note_use(<ServiceBlock*>s, device, stream, NULL if owner is None else <PyObject*>owner)
    return 0


cdef list take_streams(GraphTask g, Node n):
    """
    Make the streams of a node's operation the current ones.

    Returns what put_streams_back() is to put back, or None if they were current.
    """
    cdef list before = None
    cdef Stand s
    cdef int i
    try:
        for i in range(n.n_out):
            if not n.metas[i].defined or not is_accelerator(n.metas[i].device):
                continue
            s = stand_of(n, n.metas[i].device)
            note_stream(g, n, s)
            if s.stream != current_stream(s.device):
                if before is None:
                    before = []
                before.append((s.device, <size_t>current_stream(s.device),
                               current_owner(s.device)))
                set_current_stream(s.device, s.stream, owner_of(n, s))
    except BaseException:
        if before is not None:
            put_streams_back(before)
        raise
    return before


cdef list put_streams_back(list before):
    """Let the streams of before be the current ones again; there are none then."""
    for device, address, owner in reversed(before):
        set_current_stream(device, <stream_t><size_t>address, owner)
    return None


cdef list leave_streams(GraphTask g, Node n, list before):
    """Leave the streams after a node has run; None after one that failed."""
    if n is not None and n.flags & N_ACCUMULATE:
        note_leaf(g, n)
    return put_streams_back(before)


cdef int note_leaf(GraphTask g, Node n) except -1:
    """Remember the gradient of a leaf: the caller will use it on another stream."""
    cdef Tensor variable = accumulated_variable(n)
    if variable is not None and variable.gradient != NULL:
        if g.leaves is None:
            g.leaves = []
        g.leaves.append(<object>variable.gradient)
    return 0


cdef int deposit_on_device(GraphTask g, PyObject* target, int nr, PyObject* grad) except -1:
    """deposit() for a node with streams: the gradient is there for the node's own."""
    cdef Node n = <Node>target
    cdef int device = (<Tensor>grad).mem.device
    cdef Stand s
    cdef stream_t here
    if not is_accelerator(device):
        return add_deposit(g, target, nr, grad)
    s = stand_of(n, device)
    here = current_stream(device)
    if s.stream == here:
        return add_deposit(g, target, nr, grad)
    owner = owner_of(n, s)
    before = current_owner(device)
    let_wait(device, s.stream, here)
    keep_for(<Tensor>grad, device, s.stream, owner)
    set_current_stream(device, s.stream, owner)
    try:
        return add_deposit(g, target, nr, grad)
    finally:
        set_current_stream(device, here, before)


cdef int let_caller_wait(GraphTask g) except -1:
    """Let the caller's current streams wait for all that the task has used, and use its results."""
    cdef int device = g.newest.device
    cdef stream_t here
    cdef dict streams = g.streams
    g.on_device = False
    g.streams = None
    if streams is None:
        here = current_stream(device)
        if here != g.newest.stream:
            let_wait(device, here, g.newest.stream)
    else:
        for (code, address), owner in streams.items():
            device = code
            here = current_stream(device)
            if here != <stream_t><size_t>address:
                let_wait(device, here, <stream_t><size_t>address)
    keep_for_caller(g.results)
    keep_for_caller(g.leaves)
    return 0


cdef int keep_for_caller(list tensors) except -1:
    """The caller's current streams use these; some may be None."""
    cdef int device
    if tensors is None:
        return 0
    for t in tensors:
        if t is not None and is_accelerator((<Tensor>t).mem.device):
            device = (<Tensor>t).mem.device
            keep_for(<Tensor>t, device, current_stream(device), current_owner(device))
    return 0


cdef int join_streams(GraphTask g, bint failed) except -1:
    """Join the streams; where backward has failed, its error hides that of the device."""
    try:
        let_caller_wait(g)
    except Exception:
        if not failed:
            raise
    return 0


# By pointers: inlined, all this would make the loop over nodes of the CPU a slower one.
cdef list (*g_take_streams)(GraphTask, Node)
cdef list (*g_leave_streams)(GraphTask, Node, list)
cdef int (*g_join_streams)(GraphTask, bint) except -1
g_take_streams = take_streams
g_leave_streams = leave_streams
g_join_streams = join_streams
