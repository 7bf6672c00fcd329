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
    if not (a.flags & F_STRIDED):
        return a if a.flags & F_RAW and not is_raw(a) else resolved(a)
    r = tensor_empty_on(a.mem.device, a.dt, a.nd, a.sizes, NULL)
    copy_into(r, a, "contiguous")
    return r


cdef Tensor to_device(Tensor a, int device):
    return to_device_by(a, device, False)


cdef Tensor to_device_by(Tensor a, int device, bint non_blocking):
    cdef Py_ssize_t[64] strides
    cdef uint32_t turned = a.flags & F_TURNED
    cdef Tensor r
    if a.mem.device == device:
        return a
    preserved_strides(a, strides)
    r = tensor_empty_on(device, a.dt, a.nd, a.sizes, strides)
    # Memory goes as it is; what is to be done to it is known there, too.
    copy_into_by(r, tensor_turned(a, turned) if turned else a, "to", non_blocking)
    r.flags |= turned
    return r


cdef tuple indices_on_device(tuple indices, int device):
    """
    Index tensors, of which those on the CPU are moved to another device, as in torch: lists and
    arrays are there, too. On meta nothing reads them.
    """
    if device == ON_CPU or device == ON_META:
        return indices
    return tuple([
        x if x is None or (<Tensor?>x).mem.device != ON_CPU else to_device(<Tensor>x, device)
        for x in indices])


cdef object host_copy(Tensor a):
    """Values of a tensor on another device, to look at; an error on meta."""
    return to_device(resolved(a), 0)

upcalls.to_host = host_copy


cdef Tensor clone_plain(Tensor a):
    cdef Tensor r
    if a.flags & F_TURNED:
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
    r = tensor_empty_on(a.mem.device, a.dt, a.nd, a.sizes, strides)
    copy_into(r, a, "clone")
    return r


cdef int copy_into_by(Tensor dst, Tensor src, str op, bint non_blocking) except -1:
    cdef Tensor target
    if not non_blocking or not (dst.flags | src.flags) & F_DEVICE:
        return copy_into(dst, src, op)
    check_writable(dst, op)
    if not (dst.flags | src.flags) & F_LAZY:
        return copy_across(dst, src, op, True)
    if dst.flags & F_DEVICE:
        # The values go into memory as they are, and are turned there.
        target = tensor_turned(dst, dst.flags & F_LAZY)
        copy_across(target, resolved(src), op, True)
        return apply_bits(target, dst.flags & F_LAZY)
    return copy_into(dst, src, op)      # the host turns them: it has to wait


cdef int copy_into(Tensor dst, Tensor src, str op) except -1:
    cdef Py_ssize_t strides[2][64]
    cdef Py_ssize_t* rows[2]
    cdef int dts[2]
    cdef char* p[2]
    cdef StorageImpl* mem[2]
    cdef loop_t loop
    cdef int d, shift
    cdef FlatPlan plan
    cdef Tensor target
    if (dst.flags | src.flags) & F_LAZY:
        # The values go into memory as they are, and are turned there.
        target = tensor_turned(dst, dst.flags & F_LAZY)
        copy_into(target, resolved(src), op)
        return apply_bits(target, dst.flags & F_LAZY)
    check_writable(dst, op)
    if (dst.flags | src.flags) & F_DEVICE:
        return copy_across(dst, src, op, False)
    loop = KT.loops[K_COPY][dst.dt] if dst.dt == src.dt else KT.casts[src.dt][dst.dt]
    if src.dt >= DT_C64 and dst.dt < DT_C64 and dst.dt != DT_BOOL:
        warn_once("Casting complex values to real discards the imaginary part")
    if not ((dst.flags | src.flags) & F_STRIDED) and same_shape(dst, src):
        if dst.ptr == src.ptr and dst.dt == src.dt:
            return 0
        if one_memory(dst, src) and ranges_meet(dst, src):
            check_partial_overlap(dst, src, op)
            return copy_into(dst, clone_plain(src), op)
        flat_plan(&plan, 2, loop, 1, dst, src, src.dt)
        if capturing():
            capture_flat(&plan, dst, src, None)
        run_flat(&plan)
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
    if src.ptr == dst.ptr and src.dt == dst.dt and same_rows(dst, rows):
        return 0
    if one_memory(dst, src) and ranges_meet(dst, src):
        check_partial_overlap(dst, src, op)
        return copy_into(dst, clone_plain(src), op)
    p[0] = dst.ptr
    p[1] = src.ptr
    mem[0] = dst.mem
    mem[1] = NULL if src.flags & F_WRAPPED else src.mem
    dts[0], dts[1] = dst.dt, src.dt
    run_loop(loop, 2, p, mem, dst.nd, dst.sizes, rows, dts, 1)
    return 0


cdef bint same_rows(Tensor dst, Py_ssize_t** strides) noexcept:
    """Return whether both go through memory alike, where there is more than one place."""
    cdef int d
    for d in range(dst.nd):
        if dst.sizes[d] != 1 and strides[0][d] != strides[1][d]:
            return False
    return True


cdef int copy_across(Tensor dst, Tensor src, str op, bint non_blocking) except -1:
    """copy_into where other devices take part: they copy tensors of one shape."""
    cdef Py_ssize_t[64] shape
    cdef int d, target = dst.mem.device, origin = src.mem.device
    cdef Tensor here = src
    check_capture(target if target != ON_CPU else origin, op)
    if src.nd > dst.nd:
        for d in range(src.nd - dst.nd):
            if src.sizes[d] != 1:
                raise_no_expand(dst, src, op)
        here = tensor_window(src, dst.nd, src.sizes + src.nd - dst.nd,
                             src.strides + src.nd - dst.nd, 0)
    for d in range(here.nd):
        if here.sizes[d] != 1 and here.sizes[d] != dst.sizes[d + dst.nd - here.nd]:
            raise_no_expand(dst, src, op)
    if origin == ON_CPU and src.count == 1:
        # A number among the arguments of a fill: nothing waits for it.
        here = cast(src, dst.dt)
        return device_fill(dst, here.ptr)
    if one_memory(dst, src) and ranges_meet(dst, src) and not same_window(dst, src):
        check_partial_overlap(dst, src, op)
        here = clone_plain(here)
    if here.dt != dst.dt and not (target == ON_META and origin):
        # Converted where it is, before the journey.
        if target != origin:
            here = cast(here, dst.dt)
        else:
            here = expand_plain(here, dst.nd, dst.sizes, op)
            return device_cast(dst, here)
    if target and origin and device_type(target) != device_type(origin) and target != ON_META:
        # Types don't know each other: by way of the host.
        here = to_device(here, ON_CPU)
    for d in range(dst.nd):
        shape[d] = dst.sizes[d]
    return device_copy(dst, expand_plain(here, dst.nd, shape, op), non_blocking)


cdef int raise_no_expand(Tensor dst, Tensor src, str op) except -1:
    raise RuntimeError(
        f"{op}: The expanded size of the tensor {list(sizes_of(dst))} must match the existing size "
        f"{list(sizes_of(src))} at every non-singleton dimension"
    )


cdef int fill_with(Tensor dst, object value) except -1:
    cdef Py_ssize_t strides[2][64]
    cdef Py_ssize_t* rows[2]
    cdef char* p[2]
    cdef StorageImpl* mem[2]
    cdef char[16] cell
    cdef Tensor one
    cdef int[2] dts
    cdef int d
    # One value for all: elements that share memory may be written twice.
    if dst.mem.readonly:
        raise RuntimeError("fill_: the output shows read-only memory; clone() it first")
    if isinstance(value, Tensor):
        return copy_into(dst, <Tensor>value, "fill_")
    check_holds(value, dst.dt)
    store_element(cell, dst.dt, value)
    if dst.flags & F_DEVICE:
        check_capture(dst.mem.device, "fill_")
    if dst.flags & F_DEVICE and not dst.flags & F_LAZY:
        return device_fill(dst, cell)
    if dst.flags & F_LAZY:
        one = tensor_empty(dst.dt, 0, NULL)
        memcpy(one.ptr, cell, DT_SIZE[dst.dt])
        apply_bits(one, dst.flags & F_LAZY)
        memcpy(cell, one.ptr, DT_SIZE[dst.dt])
        if dst.flags & F_DEVICE:
            return device_fill(dst, cell)
    rows[0] = strides[0]
    rows[1] = strides[1]
    for d in range(dst.nd):
        strides[0][d] = dst.strides[d] * DT_SIZE[dst.dt]
        strides[1][d] = 0
    p[0] = dst.ptr
    p[1] = cell
    mem[0] = dst.mem
    mem[1] = NULL
    dts[0] = dts[1] = dst.dt
    run_loop(KT.loops[K_COPY][dst.dt], 2, p, mem, dst.nd, dst.sizes, rows, dts, 1)
    return 0


cdef int add_into(Tensor dst, Tensor src) except -1:
    ew2(K_ADD, dst, src, P_SAME, dst, "add_")
    return 0
