# Shape and stride questions (part of tensor.pyx).

cdef object plain_dim(object dim, str op):
    """An int that counts dimensions, or torch's TypeError."""
    if type(dim) is not int and (isinstance(dim, bool) or not hasattr(dim, "__index__")):
        raise TypeError(
            f"{op}(): argument 'dim' (position 1) must be int, not {type(dim).__name__}")
    return dim


cdef Py_ssize_t normal_dim(Py_ssize_t dim, Py_ssize_t ndim) except? -1:
    """A dimension counted from the front; a 0-d tensor has one, for this purpose."""
    cdef Py_ssize_t n = ndim if ndim > 0 else 1
    if dim < -n or dim >= n:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})"
        )
    return dim + n if dim < 0 else dim


cdef Py_ssize_t any_dim(object dim, int ndim) except? -1:
    """The same for an int of Python, which may be too long; a 0-d tensor has none to tell of."""
    cdef Py_ssize_t d
    cdef int overflow = 0
    d = PyLong_AsLongLongAndOverflow(dim if type(dim) is int else dim.__index__(), &overflow)
    if overflow:
        raise ValueError(
            f"Overflow when unpacking long long: dimension {dim} does not fit in 64 bits")
    if ndim == 0:
        raise IndexError(f"Dimension specified as {d} but tensor has no dimensions")
    return normal_dim(d, ndim)


cdef bint tensor_is_contiguous(Tensor t) noexcept:
    return not (t.flags & F_STRIDED)


cdef int stride_order(Tensor t, int* order) noexcept:
    """
    Dimensions from the outermost to the innermost, in `order`: by stride, then by size. An
    expanded dimension (stride 0) says nothing about its place and keeps it.
    """
    cdef int i, j, k, d, e
    for i in range(t.nd):
        order[i] = i
    for i in range(t.nd - 2, -1, -1):
        # Move the dimension inwards past those that it should enclose less than they do.
        j = i
        for k in range(i + 1, t.nd):
            d = order[j]
            e = order[k]
            if t.strides[d] == 0 or t.strides[e] == 0:
                continue
            if t.strides[d] > t.strides[e]:
                break
            if t.strides[d] < t.strides[e] or t.sizes[d] < t.sizes[e]:
                order[j] = e
                order[k] = d
                j = k
    return 0


cdef bint tensor_is_dense(Tensor t) noexcept:
    cdef int[MAX_DIMS] order
    cdef Py_ssize_t expected = 1
    cdef int i, n = 0, j, d
    if not (t.flags & F_STRIDED) or t.count < 2:
        return True
    # Insertion sort of the dimensions that matter, by stride.
    for i in range(t.nd):
        if t.sizes[i] == 1:
            continue
        j = n
        while j > 0 and t.strides[order[j - 1]] > t.strides[i]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = i
        n += 1
    for i in range(n):
        d = order[i]
        if t.strides[d] != expected:
            return False
        expected *= t.sizes[d]
    return True


cdef bint tensor_has_overlap(Tensor t) noexcept:
    """Whether two indices reach one element (a sufficient test on strides; expand gives 0)."""
    cdef int[MAX_DIMS] order
    cdef Py_ssize_t extent = 1
    cdef int i, n = 0, j
    if not (t.flags & F_STRIDED) or t.count < 2:
        return False
    for i in range(t.nd):
        if t.sizes[i] == 1:
            continue
        if t.strides[i] == 0:
            return True
        j = n
        while j > 0 and t.strides[order[j - 1]] > t.strides[i]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = i
        n += 1
    for i in range(n):
        if t.strides[order[i]] < extent:
            return True
        extent += (t.sizes[order[i]] - 1) * t.strides[order[i]]
    return False


cdef int preserved_strides(Tensor t, Py_ssize_t* out) noexcept:
    """Strides of a dense tensor with t's order of dimensions."""
    cdef int[MAX_DIMS] order
    cdef Py_ssize_t expected = 1
    cdef int i
    if tensor_is_dense(t):
        for i in range(t.nd):
            out[i] = t.strides[i]
        return 0
    stride_order(t, order)
    for i in range(t.nd - 1, -1, -1):
        out[order[i]] = expected
        expected *= t.sizes[order[i]] if t.sizes[order[i]] > 1 else 1
    return 0


cdef int format_strides(int ndim, const Py_ssize_t* shape, int format, Py_ssize_t* out) except -1:
    cdef int[MAX_DIMS] order
    cdef Py_ssize_t expected = 1
    cdef int i
    for i in range(ndim):
        order[i] = i
    if format == MF_CHANNELS_LAST or format == MF_CHANNELS_LAST_3D:
        if ndim != (4 if format == MF_CHANNELS_LAST else 5):
            raise RuntimeError(
                f"required rank {4 if format == MF_CHANNELS_LAST else 5} tensor to use "
                f"channels_last{'' if format == MF_CHANNELS_LAST else '_3d'} format, got {ndim} "
                "dimensions"
            )
        for i in range(1, ndim - 1):
            order[i] = i + 1
        order[ndim - 1] = 1
    for i in range(ndim - 1, -1, -1):
        out[order[i]] = expected
        expected *= shape[order[i]] if shape[order[i]] > 1 else 1
    return 0


cdef bint tensor_matches_format(Tensor t, int format) noexcept:
    cdef int[MAX_DIMS] order
    cdef Py_ssize_t expected = 1
    cdef int i, d
    if format == MF_CHANNELS_LAST or format == MF_CHANNELS_LAST_3D:
        if t.nd != (4 if format == MF_CHANNELS_LAST else 5):
            return False
        order[0] = 0
        for i in range(1, t.nd - 1):
            order[i] = i + 1
        order[t.nd - 1] = 1
        for i in range(t.nd - 1, -1, -1):
            d = order[i]
            if t.sizes[d] != 1:
                if t.strides[d] != expected:
                    return False
                expected *= t.sizes[d]
        return True
    return tensor_is_contiguous(t)


cdef str type_name(Tensor t):
    return "autograd_cy." + _tensor_type_names()[t.dt]


cdef str describe(Tensor t):
    return f"{dt_object(t.dt).name} {list(sizes_of(t))}"
