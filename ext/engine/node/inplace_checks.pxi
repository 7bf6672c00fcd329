# What in-place operations may not do, as autograd could not follow it (part of node.pyx).

cdef int check_inplace(Tensor t, str op, bint recording) except -1:
    """
    Refuse an in-place operation that autograd could not follow; called before anything changes.
    `recording`: some operand requires grad and grad mode is on.
    """
    if t.mem.readonly:
        raise RuntimeError(f"{op}: the tensor shows read-only memory; clone() it first")
    if t.flags & F_INFERENCE and not (tls_modes() & M_INFERENCE):
        raise RuntimeError(
            "Inplace update to inference tensor outside InferenceMode is not allowed. You can make "
            "a clone to get a normal tensor before doing inplace update."
        )
    if recording:
        check_recorded_write(t, op)
    if tls_modes() & M_GUARD_SAVED:
        check_captured(t, op, recording)
    return note_write(t, op)


cdef int note_write(Tensor t, str op) except -1:
    if g_modes & G_ANOMALY or tls_modes() & M_GUARD_SAVED:
        graph_upcalls.note_mutation(t, op)
    if t.mem.last_op != <PyObject*>op:
        t.mem.last_op = lasting(op)
    return 0


# Storages keep the name by its address only: one of each is kept for good.
cdef dict _names_of_operations = {}


cdef PyObject* lasting(str op) except? NULL:
    name = _names_of_operations.setdefault(op, op)
    return <PyObject*>name


cdef int check_recorded_write(Tensor t, str op) except -1:
    if t.flags & F_REQUIRES_GRAD and t.fn == NULL and not (
            t.flags & F_VIEW and (<Tensor>t.base).flags & F_REQUIRES_GRAD):
        raise RuntimeError(
            f"a leaf Variable that requires grad is being used in an in-place operation ({op}). "
            "Use the out-of-place form, or no_grad() if autograd needn't see the change."
        )
    if t.flags & F_VIEW:
        if t.creation != CREATED_DEFAULT:
            raise view_error(t, op)
        if requires_grad(t) and (<Tensor>t.base).fn == NULL:
            raise RuntimeError(
                f"a view of a leaf Variable that requires grad is being used in an in-place "
                f"operation ({op}). Use it under no_grad(), or clone() the leaf first."
            )
    return 0


cdef object view_error(Tensor t, str op):
    """
    The error for a view of a kind whose history can't be remade: it is being changed by `op`, or
    its base or another view was (`op` is None).
    """
    cdef str origin = ("This tensor is a view " if t.fn == NULL
                       else f"Output {t.out_nr} of {operation_name(<Node>t.fn)} is a view ")
    cdef str change = ("is being modified inplace" if op is not None else
                       "its base or another view of its base has been modified inplace")
    cdef str what = f" The operation was {op} on {describe_tensor(t)}." if op is not None else ""
    cdef str first = "A view was"
    if t.creation & CREATED_FURTHER:
        first = "Output 0 of View is a view of a view which was"
    if t.creation & ~CREATED_FURTHER == CREATED_INFERENCE:
        return RuntimeError(
            f"{first} created in inference mode and {change} in normal mode. Given that this use "
            "case is ambiguous and error-prone, it is forbidden. You can clarify your code by "
            "moving both the view and the inplace either both inside the inference_mode block (if "
            "you don't want the inplace to be tracked) or both outside (if you want the inplace to "
            f"be tracked), or by cloning the view first.{what}"
        )
    if t.creation & ~CREATED_FURTHER == CREATED_NO_GRAD:
        return RuntimeError(
            f"{first} created in no_grad mode and {change} with grad mode enabled. Given that "
            "this use case is ambiguous and error-prone, it is forbidden. You can clarify your "
            "code by moving both the view and the inplace either both inside the no_grad block (if "
            "you don't want the inplace to be tracked) or both outside (if you want the inplace to "
            f"be tracked).{what}"
        )
    if t.creation == CREATED_MULTI_OUTPUT:
        return RuntimeError(
            f"{origin}and {change}. This view is the output of a function that returns multiple "
            "views. Such functions do not allow the output views to be modified inplace. You "
            f"should replace the inplace operation by an out-of-place one.{what}"
        )
    return RuntimeError(
        f"{origin}and {change}. This view was created inside a custom Function (or because an "
        "input was returned as-is) and the autograd logic to handle view+inplace would override "
        "the custom backward associated with the custom Function, leading to incorrect gradients. "
        "This behavior is forbidden. You can fix this by cloning the output of the custom Function."
        f"{what}"
    )
