# What the garbage collector sees of a tensor, and its slot of attributes (part of tensor.pyx).

cdef traverseproc _traverse_fields = (<GCType*>Tensor).tp_traverse
cdef inquiry _clear_fields = (<GCType*>Tensor).tp_clear


cdef int tensor_traverse(PyObject* o, visitproc visit, void* arg) noexcept:
    cdef int r = _traverse_fields(o, visit, arg)
    if r:
        return r
    if (<Tensor>o).fn != NULL:
        r = visit((<Tensor>o).fn, arg)
        if r:
            return r
    if (<Tensor>o).gradient != NULL:
        r = visit((<Tensor>o).gradient, arg)
        if r:
            return r
    if (<Tensor>o).attributes != NULL:
        r = visit((<Tensor>o).attributes, arg)
        if r:
            return r
    if (<Tensor>o).base != NULL:
        r = visit((<Tensor>o).base, arg)
    return r


cdef int tensor_clear(PyObject* o) noexcept:
    cdef Tensor t = <Tensor>o
    cdef PyObject* p
    p = t.fn
    t.fn = NULL
    if p != NULL:
        upcalls.release_node(p)
    p = t.gradient
    t.gradient = NULL
    Py_XDECREF(p)
    p = t.base
    t.base = NULL
    t.flags &= ~<uint32_t>F_VIEW
    Py_XDECREF(p)
    p = t.attributes
    t.attributes = NULL
    Py_XDECREF(p)
    return _clear_fields(o)

# What Python makes by __new__ alone, or from a pickle, is an empty tensor. Cython code of this
# module doesn't go through the slot: it fills what it makes (see sealed.pyx for other classes).
cdef newfunc _raw_new = (<GCType*>Tensor).tp_new


cdef PyObject* empty_new(PyTypeObject* cls, PyObject* args, PyObject* kwargs) except NULL:
    cdef PyObject* raw = _raw_new(cls, args, kwargs)
    cdef Tensor t = <Tensor>raw
    cdef Py_ssize_t none = 0
    Py_DECREF(t)                    # the reference of `t` is enough, also if something fails
    t.dt = <uint8_t>g_default_dtype
    set_geometry(t, 1, &none, NULL)
    t.mem = storage_new(0)
    t.ptr = t.mem.data
    t.flags |= F_BLANK | (F_INFERENCE if ag_tls_modes & M_INFERENCE else 0)
    if args != NULL and len(<tuple>args) == 1:
        # A subclass may hand its data to __new__ alone.
        _fill(t, (<tuple>args)[0])
    Py_INCREF(t)
    return <PyObject*>t


cdef Py_ssize_t attributes_offset():
    cdef Tensor t = Tensor.__new__(Tensor)
    return <char*>&t.attributes - <char*><PyObject*>t

# Note [Attributes]
# `cdef dict __dict__` would make a dict with every tensor. The slot below is filled when first
# used.
(<GCType*>Tensor).tp_dictoffset = attributes_offset()
(<GCType*>Tensor).tp_new = empty_new
(<GCType*>Tensor).tp_vectorcall = NULL
(<GCType*>Tensor).tp_traverse = tensor_traverse
(<GCType*>Tensor).tp_clear = tensor_clear
install(Tensor, "__dict__", property(_attributes))
install(Tensor, "requires_grad_", requires_grad_)
install(Tensor, "_make_subclass", staticmethod(_make_subclass))
