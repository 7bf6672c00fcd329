# What ``out=`` gives gets the shape of the result (part of iterate.pyx).

cdef Tensor resize_out(Tensor out, int ndim, const Py_ssize_t* shape, str op):
    """
    Give an `out=` tensor the result's shape, in C order; a non-empty one of another shape is warned
    about. As with resize_() it stays where it is if that holds it, so that others see the result.
    """
    cdef Py_ssize_t[64] strides
    cdef Tensor fresh
    if tls_modes() & M_GUARD_SAVED:
        upcalls.note_write(out, op)
    if of_sizes(out, ndim, shape):
        return out
    check_capacity(out, ndim, shape, op)
    if out.count:
        _warn(
            f"{op}: An output with one or more elements was resized since it had shape "
            f"{list(sizes_of(out))}, which does not match the required output shape "
            f"{[shape[i] for i in range(ndim)]}. Resize it to zero elements first, or leave out= "
            "away.",
            UserWarning)
    if has_capacity(out, ndim, shape, op):
        format_strides(ndim, shape, MF_CONTIGUOUS, strides)
        set_geometry(out, ndim, shape, strides)
        return out
    fresh = tensor_empty_on(out.mem.device, out.dt, ndim, shape, NULL)
    fresh.flags |= out.flags & F_LAZY
    fresh.mem.version[0] = out.mem.version[0]
    leave_base(out)
    replace_storage(out, fresh)
    return out


cdef int resize_like_operands(Tensor out, Elementwise* e, PyObject** args, int nin, int device,
                              str op) except -1:
    """`resize_out` in the order of dimensions that a fresh result has."""
    cdef bint same = of_sizes(out, e.nd, e.shape)
    resize_out(out, e.nd, e.shape, op)
    return 0 if same else take_order(out, empty_for(out.dt, e.nd, e.shape, args, nin, device))
