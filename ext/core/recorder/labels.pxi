# Labels that programs put around their own steps (part of recorder.pyx).

cdef class record_function:
    """
    Label what a program does, so that it is seen in profiles.

    A context manager and a decorator. Labels may be left in any order, and entered again after
    that. Without a profiler nothing happens.

    Parameters
    ----------
    name : str
        The label.
    args : str, optional
        More about it; kept as the attribute of that name.

    Raises
    ------
    TypeError
        If the label is no string.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> with ag.autograd.profiler.record_function("normalise"):
    ...     x = ag.ones(3) / 3
    >>> @ag.autograd.profiler.record_function("square")
    ... def square(x):
    ...     return x * x
    >>> square(ag.tensor([3.0]))
    tensor([9.])
    """
    cdef readonly str name
    cdef readonly object args
    cdef Event* event               # the span that is open, or NULL
    cdef list others                # addresses of more spans that are open, of earlier entries

    def __init__(self, str name not None, args=None):
        self.name = name
        self.args = args

    def __enter__(self):
        if g_modes & G_PROFILE:
            if self.event != NULL:
                if self.others is None:
                    self.others = []
                self.others.append(<size_t>self.event)
            self.event = begin(name_of(self.name), S_LABEL)
        return self

    def __exit__(self, kind, error, traceback):
        cdef Event* e = self.event
        if e == NULL:
            return
        self.event = NULL
        if self.others is not None:
            e = self.of_this_thread(e)
        if kind is not None:
            e.flags |= E_FAILED
        close(e)

    cdef Event* of_this_thread(self, Event* newest) noexcept:
        """The newest open span of this thread, or of all if this one has none."""
        cdef Py_ssize_t i
        cdef Event* e
        self.others.append(<size_t>newest)
        for i in range(len(self.others) - 1, -1, -1):
            e = <Event*><size_t>self.others[i]
            if ag_block_of(e).stream == ag_stream:
                break
        else:
            i = len(self.others) - 1
        e = <Event*><size_t>self.others.pop(i)
        if self.others:
            self.event = <Event*><size_t>self.others.pop()
        if not self.others:
            self.others = None
        return e

    def __dealloc__(self):
        # An interrupt may come between __enter__ and the block.
        if self.event != NULL:
            close(self.event)
        if self.others is not None:
            for address in self.others:
                close(<Event*><size_t>address)

    def __call__(self, function):
        """`function`, labelled in each call."""
        from autograd_cy.profiler._labels import labelled
        return labelled(function, self.name, self.args)

    def __repr__(self):
        return f"record_function({self.name!r})"
