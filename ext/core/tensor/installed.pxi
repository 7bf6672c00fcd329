# What modules above put into the tensor: constructor, printing, methods (part of tensor.pyx).

cdef dict _own = {}             # see Note [Methods that programs set]
cdef dict _exchanged = {}


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


# Note [Methods that programs set]
# Programs set, replace and delete methods of the class (`torch.Tensor.cuda = identity`). Python
# allows that once the class isn't marked as immutable, and calls see it as they see what the
# package installs. So there are three dicts: what the class has, what the package has installed,
# and what it shows while there is a mode (function_modes.pxi). A name with another value than these
# is the program's: neither modes nor later modules of the package touch it. Behind the class, in
# its order of look-up, is a class with the package's own methods, which a deletion uncovers; torch
# has TensorBase there.


class TensorBase:
    """The methods of Tensor as they are without what programs have set."""

    __slots__ = ()


cdef inline dict class_dict():
    return <dict>(<GCType*>Tensor).tp_dict


cdef bint is_replaced(str name) except -1:
    """Return whether a program has set, or deleted, an attribute of the class."""
    value = class_dict().get(name, _MISSING)
    return value is not _own.get(name, _MISSING) and value is not _exchanged.get(name, _MISSING)


def _is_replaced(str name not None):
    return is_replaced(name)


def _own_attributes():
    """The attributes of the class without those that programs have set: {name: value}."""
    return _own


cdef int install(type cls, str name, object value) except -1:
    # Not by setattr, which would also change slots.
    if cls is Tensor:
        replaced = name in _own and is_replaced(name)
        own_attribute(name, value)
        if replaced:
            return 0
    (<dict>(<GCType*>cls).tp_dict)[name] = value
    PyType_Modified(<PyTypeObject*>cls)
    return 0


cdef int own_attribute(str name, object value) except -1:
    _own[name] = value
    if not name.startswith("__"):
        setattr(TensorBase, name, value)
    return 0


def _exchange(list forms not None, bint dispatching):
    """Install (dispatching) or take away the forms that methods and attributes, (name, plain, form)
    each, have in a mode; those that programs have set stay."""
    cdef dict attributes = class_dict()
    for name, plain, form in forms:
        if dispatching:
            if attributes.get(name) is plain:
                attributes[name] = _exchanged[name] = form
        elif attributes.get(name) is form:
            attributes[name] = plain
    if not dispatching:
        _exchanged.clear()
    PyType_Modified(<PyTypeObject*>Tensor)


cdef int let_programs_set() except -1:
    cdef tuple order = (Tensor, TensorBase, object)
    cdef PyObject* before = (<GCType*>Tensor).tp_mro
    for name, value in class_dict().items():
        own_attribute(name, value)
    Py_INCREF(order)
    (<GCType*>Tensor).tp_mro = <PyObject*>order
    Py_XDECREF(before)
    (<GCType*>Tensor).tp_flags &= ~Py_TPFLAGS_IMMUTABLETYPE
    PyType_Modified(<PyTypeObject*>Tensor)
    return 0

let_programs_set()
