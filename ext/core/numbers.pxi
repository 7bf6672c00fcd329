# Python and NumPy numbers as operands: 0-d tensors that give way in promotion (part of tensor.pyx).

cdef bint is_number(object x):
    return (isinstance(x, (float, int, complex))
            or isinstance(x, (_np.number, _np.bool_)))


cdef Tensor wrap_double(double x):
    cdef Tensor t = tensor_empty(DT_F64, 0, NULL)
    (<double*>t.ptr)[0] = x
    t.flags |= F_WRAPPED
    return t


cdef Tensor wrap_int(long long x):
    cdef Tensor t = tensor_empty(DT_I64, 0, NULL)
    (<int64_t*>t.ptr)[0] = x
    t.flags |= F_WRAPPED
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
            raise RuntimeError(
                f"value cannot be converted to type int64_t without overflow: {x}"
            ) from None
    if isinstance(x, (bool, _np.bool_)):
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
    if is_number(x):
        return wrap_number(x)
    raise TypeError(
        f"{op}(): argument '{argument}' must be Tensor or Number, not {type(x).__name__}"
    )
