# Labels that programs put around their own steps (part of recorder.pyx).

cdef extern from *:
    ctypedef object (*getter "descrgetfunc")(object, object, object)
    ctypedef struct NewType "PyTypeObject":
        void* tp_vectorcall
        void* tp_call
        Py_ssize_t tp_vectorcall_offset
        unsigned long tp_flags
        PyObject* tp_dict
        getter tp_descr_get
    NewType* TYPE_OF "Py_TYPE"(PyObject*) noexcept
    void PyType_Modified(NewType*) noexcept
    Py_ssize_t PyVectorcall_NARGS(size_t) noexcept
    void* PyVectorcall_Call
    unsigned long Py_TPFLAGS_HAVE_VECTORCALL


# Texts and numbers make no cycles that a collector had to look for.
@cython.freelist(16)
@cython.no_gc
cdef class record_function:
    """record_function(name, args=None)\n--\n
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
        If one of them is no string.

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
    cdef readonly str args
    cdef Event* event               # the span that is open, or NULL
    cdef list others                # addresses of those of earlier entries; 0: it was dropped

    def __init__(self, name, args=None):
        self.name = text_for("name", name)
        self.args = None if args is None else text_for("args", args)

    @cython.binding(False)
    def __enter__(self):
        if g_modes & G_PROFILE:
            self.open()
        return self

    cdef int open(self) except -1:
        if self.event != NULL or self.others is not None:
            if self.others is None:
                self.others = []
            self.others.append(<size_t>self.event)
        self.event = begin_event(number_of_name(self.name), S_LABEL)
        return 0

    @cython.binding(False)
    def __exit__(self, kind, error, traceback):
        self.leave(kind is not None)

    cdef void leave(self, bint failed) noexcept:
        cdef Event* e = self.event
        self.event = NULL
        if self.others is not None:
            e = self.of_this_thread(e)
        if e == NULL:
            return
        if failed:
            e.flags |= E_FAILED
        close(e)

    cdef Event* of_this_thread(self, Event* newest) noexcept:
        """The newest open span of this thread, or of all if this one has none."""
        cdef Py_ssize_t i
        cdef Event* e
        self.others.append(<size_t>newest)
        for i in range(len(self.others) - 1, -1, -1):
            e = <Event*><size_t>self.others[i]
            if e == NULL or ag_block_of(e).stream == ag_stream:
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
                if address:
                    close(<Event*><size_t>address)

    def __call__(self, function):
        """`function`, labelled in each call."""
        from autograd_cy.profiler._labels import labelled
        return labelled(function, self.name, self.args)

    def __repr__(self):
        return f"record_function({self.name!r})"


cdef str text_for(str what, object value):
    if type(value) is str:
        return <str>value
    if isinstance(value, str):
        return str.__str__(value)           # of a subclass
    raise TypeError(f"record_function: {what} is a string, not {type(value).__name__}")


cdef PyObject* new_label(PyObject* cls, PyObject** args, size_t n, PyObject* names) except NULL:
    """record_function(...), which programs write for each label anew: without a tuple."""
    cdef record_function label
    cdef Py_ssize_t count = PyVectorcall_NARGS(n), i
    cdef dict named = None
    if names == NULL and (count == 1 or (count == 2 and args[1] == <PyObject*>None)) and (
            PyUnicode_CheckExact(<object>args[0])):
        label = record_function.__new__(record_function)
        label.name = <str>args[0]
        Py_INCREF(label)
        return <PyObject*>label
    if names != NULL:
        named = {}
        for i in range(len(<tuple>names)):
            named[(<tuple>names)[i]] = <object>args[count + i]
    label = record_function.__new__(record_function)
    label.__init__(*[<object>args[i] for i in range(count)], **(named or {}))
    Py_INCREF(label)
    return <PyObject*>label


# A with statement binds both methods, for which CPython makes two objects that the collector has to
# know: they take longer than all the rest. These are lighter.
@cython.final
@cython.freelist(16)
@cython.no_gc
cdef class Bound:
    """`label.__enter__` or `label.__exit__`."""
    cdef record_function label
    cdef Binding method
    cdef void* vectorcall

    def __repr__(self):
        if self.method is None:
            return "<method of no label>"
        return f"<method {self.method.function.__name__} of {self.label!r}>"


cdef PyObject* entered(PyObject* bound, PyObject** args, size_t n, PyObject* names) except NULL:
    cdef record_function label = (<Bound>bound).label
    if names != NULL or PyVectorcall_NARGS(n):
        return called_otherwise(<Bound>bound, args, PyVectorcall_NARGS(n), names)
    if g_modes & G_PROFILE:
        label.open()
    Py_INCREF(label)
    return <PyObject*>label


cdef PyObject* left(PyObject* bound, PyObject** args, size_t n, PyObject* names) except NULL:
    cdef record_function label = (<Bound>bound).label
    if names != NULL or PyVectorcall_NARGS(n) != 3:
        return called_otherwise(<Bound>bound, args, PyVectorcall_NARGS(n), names)
    if label.event != NULL or label.others is not None:
        label.leave(<object>args[0] is not None)
    Py_INCREF(None)
    return <PyObject*>None


cdef PyObject* called_otherwise(Bound bound, PyObject** args, Py_ssize_t count,
                                PyObject* names) except NULL:
    """Arguments that have names, or are wrong: as the method takes them."""
    cdef Py_ssize_t i
    cdef dict named = {}
    if names != NULL:
        for i in range(len(<tuple>names)):
            named[(<tuple>names)[i]] = <object>args[count + i]
    result = bound.method.function(bound.label, *[<object>args[i] for i in range(count)], **named)
    Py_INCREF(result)
    return <PyObject*>result


@cython.final
cdef class Binding:
    """A descriptor that stands for a method of labels in their class."""
    cdef object function
    cdef void* call

    def __get__(self, label, cls):
        cdef Bound bound
        if label is None:
            return self
        if self.function is None:
            raise TypeError("not made by the module")
        if type(label) is not record_function:
            return TYPE_OF(<PyObject*>self.function).tp_descr_get(self.function, label, cls)
        bound = Bound.__new__(Bound)
        bound.label = <record_function>label
        bound.method = self
        bound.vectorcall = self.call
        return bound

    def __call__(self, record_function label not None, *args, **named):
        return self.function(label, *args, **named)


cdef int replace_method(str name, void* call) except -1:
    cdef NewType* cls = <NewType*>record_function
    cdef Binding binding = Binding.__new__(Binding)
    binding.function = (<dict>cls.tp_dict)[name]
    binding.call = call
    (<dict>cls.tp_dict)[name] = binding
    PyType_Modified(cls)
    return 0


cdef int let_bound_be_called() except -1:
    cdef NewType* cls = <NewType*>Bound
    cdef Bound some = Bound.__new__(Bound)
    cls.tp_vectorcall_offset = <char*>&some.vectorcall - <char*><PyObject*>some
    cls.tp_call = <void*>PyVectorcall_Call
    cls.tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL
    PyType_Modified(cls)
    return 0


let_bound_be_called()
replace_method("__enter__", <void*>entered)
replace_method("__exit__", <void*>left)
(<NewType*>record_function).tp_vectorcall = <void*>new_label
