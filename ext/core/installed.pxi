# What modules above put into the tensor: constructor, printing, methods (part of tensor.pyx).

def _set_constructor(f):
    """Let ``Tensor(data)`` build from lists, arrays and tensors (creation functions live above)."""
    global _construct
    _construct = f


cdef object _construct = None


def _set_repr(f):
    global _repr
    _repr = f
    late.repr = call_repr


cdef object _repr = None


cdef object call_repr(Tensor t):
    return _repr(t)


def _install(str name, value):
    """Set an attribute of the Tensor class."""
    install(Tensor, name, value)


cdef int install(type cls, str name, object value) except -1:
    # The class is a static type, so Python's setattr refuses.
    (<dict>(<GCType*>cls).tp_dict)[name] = value
    PyType_Modified(<PyTypeObject*>cls)
    return 0
