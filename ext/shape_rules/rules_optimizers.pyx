# cython: language_level=3
"""Shape rules of operators that change lists of tensors: they check, and there are no results."""
from autograd_cy._C.dtypes cimport (
    DT_F16, DT_F32, DT_F64, DT_I32, DT_I64, dt_is_complex, dt_object)
from autograd_cy._C.iterate cimport check_writable
from autograd_cy._C.outputs cimport result_dense
from autograd_cy._C.tensor cimport F_STRIDED, F_WRAPPED, same_shape, sizes_of

__all__: list[str] = []


cdef int step(Result* r, tuple params, tuple grads, tuple arrays, tuple numbers, Tensor lr,
              Tensor grad_scale, Tensor found_inf, str op) except -1:
    """
    A step of an optimizer: gradients and lists of state have the dtype and shape of the parameters.

    `arrays` are lists of state, None for those that aren't used; `numbers` lists of tensors of one
    number, one for each parameter.
    """
    cdef Tensor p, t
    cdef tuple one
    cdef Py_ssize_t i, n = len(params)
    for one in (grads, *arrays, *numbers):
        if one is not None and len(one) != n:
            raise ValueError(
                f"{op}: got {n} parameters but {len(one)} gradients or state tensors")
    shared_number(lr, "lr", op)
    shared_number(grad_scale, "grad_scale", op)
    shared_number(found_inf, "found_inf", op)
    for i in range(n):
        p = <Tensor>params[i]
        if p.dt < DT_F16:
            raise RuntimeError(f"{op}: parameters must be floating point or complex, not "
                               f"{dt_object(p.dt).name}")
        writable(p, op)
        t = <Tensor>grads[i]
        agree(p, t, op)
        if grad_scale is not None:
            writable(t, op)
    # One list after the other, as loops over lists of lists take longer than the checks.
    for one in arrays:
        if one is not None:
            for i in range(n):
                t = <Tensor>one[i]
                agree(<Tensor>params[i], t, op)
                writable(t, op)
    for one in numbers:
        if one is not None:
            for i in range(n):
                number_of_state(<Tensor>one[i], op)
    return 0


cdef inline int writable(Tensor t, str op) except -1:
    if t.mem.readonly or t.flags & F_STRIDED:
        return check_writable(t, op)
    return 0


cdef inline int agree(Tensor p, Tensor t, str op) except -1:
    if t.dt != p.dt or not same_shape(t, p):
        raise RuntimeError(
            f"{op}: parameter, gradient and state must agree: {dt_object(p.dt).name} "
            f"{list(sizes_of(p))} and {dt_object(t.dt).name} {list(sizes_of(t))}")
    return 0


cdef inline int number_of_state(Tensor t, str op) except -1:
    if t.count != 1 or (t.dt != DT_F32 and t.dt != DT_F64):
        raise RuntimeError(
            f"{op}: numbers of a state are tensors of one float32 or float64, but got "
            f"{dt_object(t.dt).name} {list(sizes_of(t))}")
    return writable(t, op)


cdef int shared_number(Tensor t, str name, str op) except -1:
    if t is None:
        return 0
    if t.count != 1:
        raise RuntimeError(f"{op}: {name} must be a 1-element tensor, but it has the shape "
                           f"{list(sizes_of(t))}.")
    if t.dt != DT_F32 and t.dt != DT_F64 and not (t.flags & F_WRAPPED and t.dt == DT_I64):
        raise RuntimeError(f"{op}: {name} must be a float tensor, not {dt_object(t.dt).name}; "
                           "convert it first")
    return 0


cdef int unscaled(Result* r, tuple grads, Tensor found_inf, Tensor inv_scale, str op) except -1:
    """Gradients of any floating-point or complex dtype, and two numbers of float32."""
    cdef Tensor t
    for t, name in ((found_inf, "found_inf"), (inv_scale, "inv_scale")):
        if t.count != 1:
            raise RuntimeError(f"{op}: {name} must be a 1-element tensor.")
        if t.dt != DT_F32:
            raise RuntimeError(f"{op}: {name} must be a float tensor.")
    check_writable(found_inf, op)
    for t in grads:
        if t.dt < DT_F16:
            raise NotImplementedError(
                f"{op}: not implemented for tensors of dtype {dt_object(t.dt).name}")
        check_writable(t, op)
    return 0


cdef int total_norm(Result* r, tuple tensors, str op) except -1:
    """Tensors of one real floating-point dtype, which is that of the norm."""
    cdef Tensor t
    if not tensors:
        raise RuntimeError("Tensor list must have at least one tensor.")
    r.dt = (<Tensor>tensors[0]).dt
    for t in tensors:
        if t.dt < DT_F16 or dt_is_complex(t.dt) or t.dt != r.dt:
            raise RuntimeError(f"{op}: tensors must have one real floating-point dtype, but got "
                               f"{dt_object(r.dt).name} and {dt_object(t.dt).name}")
    return result_dense(r, r.dt, 0, NULL)


cdef int clipped(Result* r, tuple grads, Tensor total_norm, str op) except -1:
    """Gradients of any floating-point or complex dtype, and a real number."""
    cdef Tensor t
    if not grads:
        raise RuntimeError("Tensor list must have at least one tensor.")
    if total_norm.count != 1 or total_norm.dt < DT_F16 or dt_is_complex(total_norm.dt):
        raise RuntimeError(f"{op}: total_norm must be a 1-element tensor of a real floating-point "
                           f"dtype, but got {dt_object(total_norm.dt).name} "
                           f"{list(sizes_of(total_norm))}")
    for t in grads:
        if t.dt < DT_F16:
            raise RuntimeError(f"{op}: gradients must be floating point or complex, not "
                               f"{dt_object(t.dt).name}")
        check_writable(t, op)
    return 0


cdef int scale_updated(Result* r, Tensor scale, Tensor growth_tracker, Tensor found_inf,
                       str op) except -1:
    """Two numbers of float32 and a count of int32."""
    cdef Tensor t
    for t, name in ((scale, "current_scale"), (growth_tracker, "growth_tracker"),
                    (found_inf, "found_inf")):
        if t.count != 1:
            raise RuntimeError(f"{op}: {name} must be a 1-element tensor.")
        if t is growth_tracker:
            if t.dt != DT_I32:
                raise RuntimeError(f"{op}: growth_tracker must be an int tensor.")
        elif t.dt != DT_F32:
            raise RuntimeError(f"{op}: {name} must be a float tensor.")
    check_writable(scale, op)
    return check_writable(growth_tracker, op)
