# Casts, clones, copies and fills (part of iterate.pyx).

cdef Tensor cast(Tensor a, int dt):
    cdef Tensor r
    if a.dt == dt:
        return a
    r = tensor_empty_like(a, dt)
    copy_into(r, a, "to")
    return r


cdef Tensor contiguous(Tensor a):
    cdef Tensor r
    if not (a.flags & (F_STRIDED | F_LAZY)):
        return a
    if not (a.flags & F_STRIDED):
        return resolved(a)
    r = tensor_empty(a.dt, a.nd, a.sizes)
    copy_into(r, a, "contiguous")
    return r


cdef Tensor clone_plain(Tensor a):
    cdef Tensor r
    if a.flags & F_LAZY:
        return resolved(a)
    r = tensor_empty_like(a, a.dt)
    copy_into(r, a, "clone")
    return r


cdef Tensor clone_format(Tensor a, int format):
    cdef Py_ssize_t[64] strides
    cdef Tensor r
    if format == MF_PRESERVE:
        return clone_plain(a)
    format_strides(a.nd, a.sizes, format, strides)
    r = tensor_empty_strided(a.dt, a.nd, a.sizes, strides)
    copy_into(r, a, "clone")
    return r


cdef int copy_into(Tensor dst, Tensor src, str op) except -1:
    cdef Py_ssize_t strides[2][64]
    cdef Py_ssize_t* rows[2]
    cdef char* p[2]
    cdef loop_t loop
    cdef int d, shift
    cdef FlatPlan plan
    cdef Tensor target
    if (dst.flags | src.flags) & F_LAZY:
        # The values go into memory as they are, and are turned there.
        target = tensor_turned(dst, dst.flags & F_LAZY)
        copy_into(target, resolved(src), op)
        return turn(target, dst.flags & F_LAZY)
    check_writable(dst, op)
    loop = KT.loops[K_COPY][dst.dt] if dst.dt == src.dt else KT.casts[src.dt][dst.dt]
    if not ((dst.flags | src.flags) & F_STRIDED) and same_shape(dst, src):
        if dst.ptr == src.ptr and dst.dt == src.dt:
            return 0
        if dst.mem == src.mem and ranges_meet(dst, src):
            check_partial_overlap(dst, src, op)
            return copy_into(dst, clone_plain(src), op)
        plan.loop = loop
        plan.nargs = 2
        plan.p[0] = dst.ptr
        plan.p[1] = src.ptr
        plan.step[0] = DT_SIZE[dst.dt]
        plan.step[1] = DT_SIZE[src.dt]
        run_flat(&plan, dst.count, 1)
        return 0
    shift = dst.nd - src.nd
    if shift < 0:
        # Extra leading dimensions of size 1 are dropped, as in NumPy assignment.
        for d in range(-shift):
            if src.sizes[d] != 1:
                raise_no_expand(dst, src, op)
    rows[0] = strides[0]
    rows[1] = strides[1]
    for d in range(dst.nd):
        strides[0][d] = dst.strides[d] * DT_SIZE[dst.dt]
        if d < shift or src.sizes[d - shift] == 1:
            strides[1][d] = 0
        elif src.sizes[d - shift] == dst.sizes[d]:
            strides[1][d] = src.strides[d - shift] * DT_SIZE[src.dt]
        else:
            raise_no_expand(dst, src, op)
    if dst.mem == src.mem and not same_window(dst, src) and ranges_meet(dst, src):
        check_partial_overlap(dst, src, op)
        return copy_into(dst, clone_plain(src), op)
    p[0] = dst.ptr
    p[1] = src.ptr
    run_loop(loop, 2, p, dst.nd, dst.sizes, rows, 1)
    return 0


cdef int raise_no_expand(Tensor dst, Tensor src, str op) except -1:
    raise RuntimeError(
        f"{op}: The expanded size of the tensor {list(sizes_of(dst))} must match the existing size "
        f"{list(sizes_of(src))} at every non-singleton dimension"
    )


cdef int fill_with(Tensor dst, object value) except -1:
    cdef Py_ssize_t strides[2][64]
    cdef Py_ssize_t* rows[2]
    cdef char* p[2]
    cdef char[16] cell
    cdef Tensor one
    cdef int d
    # One value for all: elements that share memory may be written twice.
    if dst.mem.readonly:
        raise RuntimeError("fill_: the output shows read-only memory; clone() it first")
    if isinstance(value, Tensor):
        return copy_into(dst, <Tensor>value, "fill_")
    check_holds(value, dst.dt)
    store_element(cell, dst.dt, value)
    if dst.flags & F_LAZY:
        one = tensor_empty(dst.dt, 0, NULL)
        memcpy(one.ptr, cell, DT_SIZE[dst.dt])
        turn(one, dst.flags & F_LAZY)
        memcpy(cell, one.ptr, DT_SIZE[dst.dt])
    rows[0] = strides[0]
    rows[1] = strides[1]
    for d in range(dst.nd):
        strides[0][d] = dst.strides[d] * DT_SIZE[dst.dt]
        strides[1][d] = 0
    p[0] = dst.ptr
    p[1] = cell
    run_loop(KT.loops[K_COPY][dst.dt], 2, p, dst.nd, dst.sizes, rows, 1)
    return 0


cdef int add_into(Tensor dst, Tensor src) except -1:
    ew2(K_ADD, dst, src, P_SAME, dst, "add_")
    return 0
