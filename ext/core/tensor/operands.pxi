# Operators of two operands, which operators further up install (part of tensor.pyx).

cdef extern from *:
    object as_result "(PyObject*)" (PyObject*)      # a new reference, or NULL with an error

ctypedef PyObject* (*binary_result)(object, object) noexcept
ctypedef PyObject* (*unary_result)(Tensor) noexcept


cdef inline object call_binary(int slot, object a, object b):
    if upcalls.binary[slot] == NULL:
        return NotImplemented
    return sure_binary(slot, a, b)


cdef inline object sure_binary(int slot, object a, object b):
    """Call a binary operator that is certainly loaded."""
    return result_of((<binary_result><void*>upcalls.binary[slot])(a, b), slot, False)


cdef inline object call_unary(int slot, Tensor a):
    return result_of((<unary_result><void*>upcalls.unary[slot])(a), slot, True)


cdef inline object result_of(PyObject* result, int slot, bint unary):
    """Return the result of an operator, or raise its error (Note [Names in errors])."""
    if result == NULL:
        upcalls.operator_failed(slot, unary)
    return as_result(result)


cdef object equal_to_array(Tensor a, object b):
    """Elements of an array are compared, too (by == alone, as torch); others are not the same."""
    if isinstance(b, _np.ndarray) and b.dtype.kind in "biufc":
        from autograd_cy._C.creation import tensor
        return call_binary(B_EQ, a, tensor(b))
    return NotImplemented
