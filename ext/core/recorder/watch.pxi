# Events as calls of two Python functions, for tools that show ranges (part of recorder.pyx).

cdef object watch_begin = None
cdef object watch_end = None


def _watch(begin_event, end):
    """
    Call `begin(name, seq, scope, sizes)` and `end()` around each event, in its thread.

    The number is that of the node, in backward; -1 elsewhere. Events are seen while a session
    records; sizes are None unless it records arguments. Errors of the functions are dropped.

    Parameters
    ----------
    begin, end : callable, or None
        None for both takes them away.

    Raises
    ------
    RuntimeError
        If others are set.
    """
    global watch_begin, watch_end, g_watched
    if begin_event is not None and g_watched:
        raise RuntimeError("events go to another tool already; leave its block first")
    watch_begin, watch_end = begin_event, end
    g_watched = begin_event is not None


cdef str text_of_name(int name):
    return _late_names[name - DYNAMIC] if name >= DYNAMIC else _names[name]


cdef void watch_open(Stream* s, Event* e) noexcept:
    """An event has begun; it is shown now, or when its arguments or its number are known."""
    show_waiting(s)
    s.waiting = e
    if e.scope == S_LABEL or (e.scope == S_OPERATOR and not details & D_ARGUMENTS):
        show_waiting(s)


cdef void show_waiting(Stream* s) noexcept:
    cdef Event* e = s.waiting
    cdef PyObject* kind
    cdef PyObject* error
    cdef PyObject* trace
    if e == NULL:
        return
    s.waiting = NULL
    PyErr_Fetch(&kind, &error, &trace)
    try:
        sizes = shape_row(e.shape)[0] if e.shape >= 0 else None
        watch_begin(text_of_name(e.name), e.seq if e.scope == S_BACKWARD else -1, e.scope, sizes)
        e.flags |= E_SHOWN
    except BaseException:
        pass  # what a tool does wrong is no fault of the program
    PyErr_Restore(kind, error, trace)


cdef void watch_close(Stream* s, Event* e) noexcept:
    cdef PyObject* kind
    cdef PyObject* error
    cdef PyObject* trace
    show_waiting(s)
    if not e.flags & E_SHOWN:
        return
    PyErr_Fetch(&kind, &error, &trace)
    try:
        watch_end()
    except BaseException:
        pass
    PyErr_Restore(kind, error, trace)


cdef void known(Event* e) noexcept:
    """All that a tool is to show of the event is known."""
    if g_watched:
        show_waiting(<Stream*>ag_block_of(e).stream)
