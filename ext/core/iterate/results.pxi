# Dtype and shape of what operands give together (part of iterate.pyx).

cdef inline int combine(int higher, int lower) noexcept:
    """Result category rule of torch: a tensor with dimensions beats a 0-d one of its category."""
    if higher < 0:
        return lower
    if lower < 0:
        return higher
    if dt_is_complex(higher):
        return higher
    if dt_is_float(higher):
        if dt_is_complex(lower):
            return dt_to_complex(higher)
        return higher
    if dt_is_limited(higher) and dt_is_complex(lower):
        return lower
    if higher == DT_BOOL or lower > DT_I64:
        return dt_promote(higher, lower)
    return higher


cdef int promote_all(PyObject** args, int first, int n) noexcept:
    cdef int dim = -1, zero = -1, wrapped = -1, i, d
    cdef uint8_t dt
    for i in range(first, n):
        dt = (<Tensor>args[i]).dt
        if (<Tensor>args[i]).flags & F_WRAPPED:
            d = dt
            if dt_is_complex(d):
                d = dt_to_complex(g_default_dtype)
            elif dt_is_float(d):
                d = g_default_dtype
            wrapped = d if wrapped < 0 else dt_promote(wrapped, d)
        elif (<Tensor>args[i]).nd == 0:
            zero = dt if zero < 0 else dt_promote(zero, dt)
        else:
            dim = dt if dim < 0 else dt_promote(dim, dt)
    return combine(dim, combine(zero, wrapped))


cdef int promote_numbers(PyObject** args, int n) noexcept:
    """The dtype that numbers alone compute in: their own, not the default one. So what a formula
    makes of numbers is as exact as they are."""
    cdef int dt = -1, i
    for i in range(n):
        dt = (<Tensor>args[i]).dt if dt < 0 else dt_promote(dt, (<Tensor>args[i]).dt)
    return dt


cdef object refused_promotion(PyObject** args, int first, int n):
    """The error where promote_all gives DT_NONE: the two dtypes that don't go together."""
    cdef int[3] seen
    cdef int i, kind, dt, both
    seen[0] = seen[1] = seen[2] = -1        # with dimensions, without, numbers
    for i in range(first, n):
        dt = (<Tensor>args[i]).dt
        kind = 2 if (<Tensor>args[i]).flags & F_WRAPPED else 1 if (<Tensor>args[i]).nd == 0 else 0
        both = dt if seen[kind] < 0 else dt_promote(seen[kind], dt)
        if both == DT_NONE:
            return no_promotion(seen[kind], dt)
        seen[kind] = both
    return no_promotion(seen[0] if seen[0] >= 0 else seen[1], seen[1] if seen[0] >= 0 else seen[2])


cdef int result_dtype(tuple operands) except -1:
    cdef PyObject* args[64]
    cdef int i, dt, n = len(operands)
    if n == 0 or n > 64:
        raise ValueError("result_type: 1 to 64 operands are allowed")
    for i in range(n):
        args[i] = <PyObject*>operands[i]
    dt = promote_all(args, 0, n)
    if dt == DT_NONE:
        raise refused_promotion(args, 0, n)
    return dt


cdef int broadcast_args(PyObject** args, int n, Py_ssize_t* shape, str op) except -1:
    cdef int nd = 0, i, d, shift
    cdef Py_ssize_t s
    for i in range(n):
        if (<Tensor>args[i]).nd > nd:
            nd = (<Tensor>args[i]).nd
    for d in range(nd):
        shape[d] = 1
    for i in range(n):
        shift = nd - (<Tensor>args[i]).nd
        for d in range((<Tensor>args[i]).nd):
            s = (<Tensor>args[i]).sizes[d]
            if s == shape[shift + d] or s == 1:
                continue
            if shape[shift + d] != 1:
                raise RuntimeError(
                    f"{op}: The size of tensor a ({shape[shift + d]}) must match the size of "
                    f"tensor b ({s}) at non-singleton dimension {shift + d} (shapes "
                    f"{', '.join([str(list(sizes_of(<Tensor>args[j]))) for j in range(n)])})"
                )
            shape[shift + d] = s
    return nd


cdef int broadcast_shape(tuple operands, Py_ssize_t* shape, str op) except -1:
    cdef PyObject* args[64]
    cdef int i, n = len(operands)
    if n > 64:
        raise ValueError(f"{op}: too many operands")
    for i in range(n):
        args[i] = <PyObject*>operands[i]
    return broadcast_args(args, n, shape, op)
