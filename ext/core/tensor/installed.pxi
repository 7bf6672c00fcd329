# What modules above put into the tensor: constructor, printing, methods (part of tensor.pyx).

def _set_constructor(f):
    """Let ``Tensor(data)`` build from lists, arrays and tensors (creation functions live above)."""
    global _construct
    _construct = f


def _set_alias(f):
    """Let ``Tensor(tensor)`` give a view, which only operators can make."""
    global _alias
    _alias = f


cdef object _construct = None
cdef object _alias = None


def _unfilled():
    """Entries of `upcalls` that no module has filled: calling one would be a jump to nowhere."""
    cdef list names = []
    cdef int i
    for i in range(B_COUNT):
        if upcalls.binary[i] == NULL:
            names.append(f"upcalls.binary[{i}]")
    for i in range(U_COUNT):
        if upcalls.unary[i] == NULL:
            names.append(f"upcalls.unary[{i}]")
    for name, there in (
            ("getitem", upcalls.getitem != NULL), ("setitem", upcalls.setitem != NULL),
            ("grad_fn", upcalls.grad_fn != NULL), ("repr", upcalls.repr != NULL),
            ("resolved", upcalls.resolved != NULL), ("iterate", upcalls.iterate != NULL),
            ("release_node", upcalls.release_node != NULL),
            ("accumulator_gone", upcalls.accumulator_gone != NULL),
            ("note_write", upcalls.note_write != NULL)):
        if not there:
            names.append(f"upcalls.{name}")
    return names


def _set_repr(f):
    global _repr
    _repr = f
    upcalls.repr = call_repr


cdef object _repr = None


cdef object call_repr(Tensor t):
    return _repr(t)


def _set_reader(f):
    """`f(tensor, what)` reads values with an event: the truth, the number, or the list of None."""
    global _seen_reader
    _seen_reader = f


cdef object _seen_reader = None


def _list_of(Tensor t not None):
    """The elements as nested lists, without an event."""
    if t.flags & (F_LAZY | F_DEVICE):
        t = on_host(below_vmaps(t), "tolist")
    return nested_list(t, 0, t.ptr)


def _install(str name, value):
    """Set an attribute of the Tensor class."""
    if isinstance(value, FunctionType):
        if value.__name__.startswith("_"):
            value.__name__ = name
        if value.__module__ != "autograd_cy":           # not under another name already
            # Where pickle finds it, and what Python's own TypeErrors show.
            value.__module__, value.__qualname__ = "autograd_cy", f"Tensor.{name}"
    install(Tensor, name, value)


cdef int install(type cls, str name, object value) except -1:
    # The class is a static type, so Python's setattr refuses.
    (<dict>(<GCType*>cls).tp_dict)[name] = value
    PyType_Modified(<PyTypeObject*>cls)
    return 0
