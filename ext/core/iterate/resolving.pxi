# Tensors whose conjugation, negation or choice between 0 and 1 is still to be done: F_LAZY (part of
# iterate.pyx).

cdef extern from "all_bytes.h" nogil:
    uint8_t ag_all_bytes(const uint8_t*, Py_ssize_t)


cdef Tensor ew_resolved(int kernel, PyObject** args, int nin, int rule, Tensor out, str op):
    """The driver where an operand or the output has F_LAZY."""
    cdef PyObject* plain[4]
    cdef list held = []
    cdef Tensor t
    cdef int i
    cdef Tensor bare = None        # raw bools that are written without being resized
    if out is not None and out.flags & F_LAZY == F_RAW and is_of_shape(out, args, nin, op):
        bare = tensor_turned(out, F_RAW)
    for i in range(nin):
        t = <Tensor>args[i]
        if bare is not None and t is out:
            zeros_and_ones(out, op)
            t = bare
        else:
            t = resolved(t)
        held.append(t)
        plain[i] = <PyObject*>t
    if bare is not None:
        # What is written is 0 or 1. `out` keeps its bit: others may read it meanwhile.
        ew_general(kernel, plain, nin, rule, bare, op)
        return out
    if out is None or not out.flags & F_LAZY:
        # In place, `out` stays one of the operands.
        return ew_general(kernel, plain, nin, rule, out, op)
    t = ew_general(kernel, plain, nin, rule, None, op)
    if dt_category(t.dt) > dt_category(out.dt):
        raise RuntimeError(
            f"{op}: result type {dt_scalar_name(t.dt)} can't be cast to the desired output type "
            f"{dt_scalar_name(out.dt)}")
    for i in range(nin):
        if out is <Tensor>args[i] and not same_shape(out, t):
            raise RuntimeError(
                f"{op}: output with shape {list(sizes_of(out))} doesn't match the broadcast shape "
                f"{list(sizes_of(t))}")
    if not same_shape(out, t):
        resize_out(out, t.nd, t.sizes, op)
        take_order(out, t)
    copy_into(out, t, op)
    return out


cdef bint is_of_shape(Tensor out, PyObject** args, int nin, str op) except -1:
    """Return whether the shape is that of the operands broadcast."""
    cdef Py_ssize_t[64] shape
    cdef int d, nd = broadcast_args(args, nin, shape, op)
    if out.nd != nd:
        return False
    for d in range(nd):
        if out.sizes[d] != shape[d]:
            return False
    return True


cdef int zeros_and_ones(Tensor a, str op) except -1:
    """Let the memory of a tensor with F_RAW hold what it is read as."""
    if a.flags & F_DEVICE or is_raw(a):
        copy_into(tensor_turned(a, F_RAW), resolved(a), op)
    return 0


cdef Tensor resolved(Tensor a):
    cdef Tensor r
    if not a.flags & F_LAZY:
        return a
    r = tensor_turned(a, a.flags & F_LAZY)
    if a.flags & F_RAW:
        if a.flags & F_DEVICE or is_raw(a):
            r = cast(tensor_on(a.mem, a.ptr, DT_U8, a.nd, a.sizes, a.strides), DT_BOOL)
        return r
    if a.flags & F_CONJ:
        r = ew1(K_CONJ, r, P_SAME, None, "resolve_conj")
    if a.flags & F_NEG:
        r = ew1(K_NEG, r, P_SAME, None, "resolve_neg")
    return r


cdef bint is_raw(Tensor a) noexcept:
    """Return whether bytes of a tensor of bools on the CPU are other than 0 and 1."""
    return a.count != 0 and bytes_of(a, 0, <const uint8_t*>a.ptr) > 1


cdef uint8_t bytes_of(Tensor a, int d, const uint8_t* p) noexcept:
    """All bytes from dimension `d` on, put together by "or"."""
    cdef Py_ssize_t i, n, step
    cdef uint8_t bits = 0
    if a.nd == 0 or not a.flags & F_STRIDED:
        return ag_all_bytes(p, a.count)
    n, step = a.sizes[d], a.strides[d]
    if step == 0:
        n = 1                      # all at one place
    if d < a.nd - 1:
        for i in range(n):
            bits |= bytes_of(a, d + 1, p + i * step)
    elif step == 1:
        bits = ag_all_bytes(p, n)
    else:
        for i in range(n):
            bits |= p[i * step]
    return bits


cdef tuple all_resolved(tuple tensors):
    return tuple([t if t is None else resolved(<Tensor>t) for t in tensors])


cdef int apply_bits(Tensor t, uint32_t bits) except -1:
    """Conjugate or negate what is in the memory of a plain tensor, as `bits` say."""
    if bits & F_CONJ:
        ew1(K_CONJ, t, P_SAME, t, "conj_physical_")
    if bits & F_NEG:
        ew1(K_NEG, t, P_SAME, t, "neg_")
    return 0


cdef object resolved_object(Tensor t):
    return resolved(t)

upcalls.resolved = resolved_object
