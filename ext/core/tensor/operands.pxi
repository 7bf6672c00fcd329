# Operators of two operands, which operators further up install (part of tensor.pyx).

cdef inline object call_binary(int slot, object a, object b):
    if upcalls.binary[slot] == NULL:
        return NotImplemented
    return upcalls.binary[slot](a, b)


cdef object equal_to_array(Tensor a, object b):
    """Elements of an array are compared, too (by == alone, as torch); others are not the same."""
    if isinstance(b, _np.ndarray) and b.dtype.kind in "biufc":
        from autograd_cy._C.creation import tensor
        return call_binary(B_EQ, a, tensor(b))
    return NotImplemented
