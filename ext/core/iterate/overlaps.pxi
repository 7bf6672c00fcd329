# Which tensors may be written, and which operands share memory with them (part of iterate.pyx).

cdef bint ranges_meet(Tensor a, Tensor b) noexcept:
    """Return whether the two may share memory (a test on the spanned ranges)."""
    cdef Py_ssize_t ea = DT_SIZE[a.dt], eb = DT_SIZE[b.dt]
    cdef int i
    if a.count == 0 or b.count == 0:
        return False
    for i in range(a.nd):
        ea += (a.sizes[i] - 1) * a.strides[i] * DT_SIZE[a.dt]
    for i in range(b.nd):
        eb += (b.sizes[i] - 1) * b.strides[i] * DT_SIZE[b.dt]
    return a.ptr < b.ptr + eb and b.ptr < a.ptr + ea


cdef bint same_window(Tensor a, Tensor b) noexcept:
    return a.dt == b.dt and same_places(a, b)


cdef bint same_places(Tensor a, Tensor b) noexcept:
    """Return whether each element lies where that of the other does, as long as it."""
    cdef int i
    if a.ptr != b.ptr or DT_SIZE[a.dt] != DT_SIZE[b.dt]:
        return False
    if a.count == 1 and b.count == 1:
        return True
    if not same_shape(a, b):
        return False
    for i in range(a.nd):
        if a.sizes[i] != 1 and a.strides[i] != b.strides[i]:
            return False
    return True


cdef int check_writable(Tensor t, str op) except -1:
    if t.mem.readonly:
        raise RuntimeError(f"{op}: the output shows read-only memory; clone() it first")
    if tensor_has_overlap(t):
        raise overlaps(op)
    return 0


cdef int check_not_expanded(Tensor t, str op) except -1:
    """Refuse dimensions of stride 0; windows that overlap may be filled with one value."""
    cdef int i
    for i in range(t.nd):
        if t.strides[i] == 0 and t.sizes[i] > 1 and t.count:
            raise overlaps(op)
    return 0


cdef object overlaps(str op):
    return RuntimeError(
        f"{op}: unsupported operation: more than one element of the written-to tensor refers to a "
        "single memory location. Please clone() the tensor before performing the operation."
    )


cdef Tensor separated(Tensor dst, Tensor src, str op):
    """
    A source that may be read while `dst` is written. One that certainly shares memory is refused;
    of one that may share it, as columns of one matrix, what is read is a copy.
    """
    if not one_memory(dst, src) or not ranges_meet(dst, src):
        return src
    if src is dst or tensor_is_dense(dst) and tensor_is_dense(src):
        refuse_overlap(dst, src, op)
    return clone_plain(resolved(src))


cdef tuple all_separated(Tensor dst, object sources, str op):
    """`separated` of each, and of no tensor none."""
    return tuple([None if x is None else separated(dst, <Tensor>x, op) for x in sources])


cdef int check_partial_overlap(Tensor dst, Tensor src, str op) except -1:
    """
    Refuse a source that shares some memory with the output but isn't the same window: with
    everything dense it is certain that elements would be read after they were written.
    """
    if tensor_is_dense(dst) and tensor_is_dense(src) and not same_places(dst, src):
        refuse_overlap(dst, src, op)
    return 0


cdef int refuse_overlap(Tensor dst, Tensor src, str op) except -1:
    raise RuntimeError(
        f"{op}: unsupported operation: some elements of the input tensor and the written-to tensor "
        f"refer to a single memory location (input {list(sizes_of(src))}, output "
        f"{list(sizes_of(dst))}). Please clone() the tensor before performing the operation.")
