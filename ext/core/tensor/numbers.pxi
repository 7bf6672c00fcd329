# Python and NumPy numbers as operands: 0-d tensors that give way in promotion (part of tensor.pyx).

cdef bint is_python_number(object x):
    return (isinstance(x, (float, int, complex))
            or isinstance(x, (_np.number, _np.bool_)))


# Most numbers live as long as one call. So the tensor of the last float, and of the last int, is
# taken again when nothing but the pointer here holds it.
cdef PyObject* g_last_double = NULL
cdef PyObject* g_last_int = NULL


cdef inline bint is_idle(PyObject* t, int dt) noexcept:
    """Return whether nobody holds the tensor, and nobody has changed what it is."""
    return (t != NULL and REFCNT(t) == 1 and (<Tensor>t).flags == F_WRAPPED
            and (<Tensor>t).dt == dt and (<Tensor>t).nd == 0
            and (<Tensor>t).mem.refcount == 1 and (<Tensor>t).attributes == NULL
            and (<Tensor>t).extra is None and not ag_tls_modes & M_INFERENCE)


cdef Tensor keep_number(int dt, PyObject** place):
    """The 0-d tensor for the next number."""
    cdef Tensor t = tensor_empty(dt, 0, NULL)
    cdef PyObject* old = place[0]
    t.flags |= F_WRAPPED
    Py_INCREF(t)
    place[0] = <PyObject*>t
    Py_XDECREF(old)
    return t


cdef Tensor wrap_double(double x):
    cdef Tensor t
    if is_idle(g_last_double, DT_F64):
        t = <Tensor>g_last_double
    else:
        t = keep_number(DT_F64, &g_last_double)
    (<double*>t.ptr)[0] = x
    return t


cdef Tensor wrap_int(long long x):
    cdef Tensor t
    if is_idle(g_last_int, DT_I64):
        t = <Tensor>g_last_int
    else:
        t = keep_number(DT_I64, &g_last_int)
    (<int64_t*>t.ptr)[0] = x
    return t


cdef Tensor wrap_number(object x):
    cdef Tensor t
    cdef PyTypeObject* ty = Py_TYPE(x)
    if ty == &PyFloat_Type:
        return wrap_double(x)
    if ty == &PyLong_Type:
        try:
            return wrap_int(x)
        except OverflowError:
            raise beyond_64_bits(x) from None
    if isinstance(x, _np.bool_):            # to torch no bool, but what float() makes of it
        return wrap_double(1.0 if x else 0.0)
    if isinstance(x, bool):
        t = tensor_empty(DT_BOOL, 0, NULL)
        (<uint8_t*>t.ptr)[0] = 1 if x else 0
        t.flags |= F_WRAPPED
        return t
    if isinstance(x, (int, _np.integer)):
        return wrap_number(int(x))
    if isinstance(x, (float, _np.floating)):
        return wrap_double(float(x))
    if isinstance(x, (complex, _np.complexfloating)):
        t = tensor_empty(DT_C128, 0, NULL)
        store_complex(<double*>t.ptr, x)
        t.flags |= F_WRAPPED
        return t
    raise TypeError(f"not a number: {x!r}")


cdef Tensor as_operand(object x, str op, str argument):
    """`x` as a tensor: itself, or a wrapped number."""
    if isinstance(x, Tensor):
        return <Tensor>x
    if is_python_number(x):
        return wrap_number(x)
    raise TypeError(
        f"{op}(): argument '{argument}' must be Tensor or Number, not {type(x).__name__}"
    )
