# Shape and stride questions (part of tensor.pyx).

cdef object plain_dim(object dim, str op):
    """An int that counts dimensions, or torch's TypeError."""
    if type(dim) is not int and (
            isinstance(dim, (bool, _np.bool_)) or not hasattr(dim, "__index__")):
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


cdef object missing_dim(Py_ssize_t dim, Py_ssize_t ndim, str text):
    """The error of a tensor that lacks a dimension which the operator reads the size of."""
    cdef Py_ssize_t n = ndim if ndim > 0 else 1
    return IndexError(
        f"{text}: Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got "
        f"{dim})")


cdef Py_ssize_t any_dim(object dim, int ndim) except? -1:
    """Check a dimension that plain_dim lets pass, and that may be too large; a 0-d tensor has
    none."""
    cdef Py_ssize_t d
    cdef int overflow = 0
    d = PyLong_AsLongLongAndOverflow(dim, &overflow)
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


cdef bint meets(Tensor t, const int* order, const Py_ssize_t* reach, int k, Py_ssize_t target,
                bint differs, int* steps) noexcept:
    """Return whether a difference of two indices in `order[:k + 1]`, not all 0, lies `target`
    apart."""
    cdef Py_ssize_t stride, most, rest, last, d
    if k < 0:
        return differs and target == 0
    steps[0] -= 1
    if steps[0] < 0:
        return True                     # too many to try
    stride, most = t.strides[order[k]], t.sizes[order[k]] - 1
    rest = reach[k - 1] if k else 0
    last = min(most, (rest + abs(target)) // stride)
    for d in range(-last, last + 1):
        if abs(target - d * stride) <= rest and meets(
                t, order, reach, k - 1, target - d * stride, differs or d != 0, steps):
            return True
    return False


cdef bint tensor_has_overlap(Tensor t) noexcept:
    """Return whether two indices reach one element; windows too strange to tell are taken to
    overlap."""
    cdef int[MAX_DIMS] order
    cdef Py_ssize_t[MAX_DIMS] reach
    cdef Py_ssize_t extent = 0
    cdef int i, n = 0, j, steps = 10000
    cdef bint wide = True
    if not (t.flags & F_STRIDED) or t.count < 2:
        return False
    for i in range(t.nd):
        if t.sizes[i] == 1:
            continue
        if t.strides[i] <= 0:
            return True
        j = n
        while j > 0 and t.strides[order[j - 1]] > t.strides[i]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = i
        n += 1
    for i in range(n):
        wide = wide and t.strides[order[i]] > extent
        extent += (t.sizes[order[i]] - 1) * t.strides[order[i]]
        reach[i] = extent
    # Each stride beyond all that smaller ones reach; else they may interleave.
    return not wide and meets(t, order, reach, n - 1, 0, False, &steps)


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
        expected *= max(t.sizes[order[i]], <Py_ssize_t>1)
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


cdef str tensor_type_name(Tensor t):
    cdef str place = ""
    if t.flags & F_DEVICE:
        place = f"{device_of_code(t.mem.device).type}."
    return f"autograd_cy.{place}{_tensor_type_names()[t.dt]}"


cdef str describe_tensor(Tensor t):
    return f"{dt_object(t.dt).name} {list(sizes_of(t))}"
