# cython: language_level=3
"""``out=``: what may be given, and how results get into it."""
from libc.stdint cimport uint32_t
from autograd_cy._C.arguments cimport tensor_arg
from autograd_cy._C.dtypes cimport (
    dt_category, dt_scalar_name, dt_type_name, DT_BF16, DT_BOOL, DT_F16, DT_F32, DT_F64, DT_U8)
from autograd_cy._C.iterate cimport cast, check_writable, copy_into, resize_out
from autograd_cy._C.out_places cimport check_capacity, of_sizes, other_device, take_order
from autograd_cy._C.tensor cimport (
    Tensor, bump_version, requires_grad, tls_modes, F_BATCHED, F_DUAL, F_GRAD_PATH, F_INFERENCE,
    F_REQUIRES_GRAD, M_INFERENCE, M_NO_GRAD)


cdef int check_out(Tensor out, uint32_t flags, str op) except -1:
    if (flags | out.flags) & F_GRAD_PATH and not (tls_modes() & M_NO_GRAD):
        if (flags | out.flags) & F_REQUIRES_GRAD or requires_grad(out):
            raise RuntimeError(
                f"{op}(): functions with out=... arguments don't support automatic "
                "differentiation, but one of the arguments requires grad."
            )
    if out.flags & F_INFERENCE and not (tls_modes() & M_INFERENCE):
        raise RuntimeError(
            f"{op}(): Inplace update to inference tensor outside InferenceMode is not allowed. You "
            "can make a clone to get a normal tensor before doing inplace update.")
    if (flags | out.flags) & F_DUAL:
        raise NotImplementedError(
            f"Trying to use forward AD with {op}_out that does not support it because it is an "
            "out= function; use the form without out="
        )
    if (flags | out.flags) & F_BATCHED:
        raise RuntimeError(f"vmap: {op} with out= is not possible under vmap; leave out= away")
    return 0


cdef Tensor in_wider_dtype(Tensor a, Tensor out):
    """A tensor of half precision in the dtype of `out`, if that is a wider one."""
    return cast(a, out.dt) if a.dt in (DT_F16, DT_BF16) and out.dt in (DT_F32, DT_F64) else a


cdef object no_cast(int dt, Tensor out, str op):
    return RuntimeError(
        f"{op}: result type {dt_scalar_name(dt)} can't be cast to the desired output type "
        f"{dt_scalar_name(out.dt)}")


cdef int write_out(Tensor out, Tensor value, str op) except -1:
    if dt_category(value.dt) > dt_category(out.dt):
        raise no_cast(value.dt, out, op)
    if out.mem.device != value.mem.device:
        raise other_device(out, value.mem.device, op)
    cdef bint same = of_sizes(out, value.nd, value.sizes)
    resize_out(out, value.nd, value.sizes, op)
    if not same:
        take_order(out, value)
    copy_into(out, value, op)
    return 0


cdef object bad_inplace(Tensor a, int dt):
    return RuntimeError(
        f"Bad in-place call: input tensor dtype {dt_type_name(a.dt)} and output tensor dtype "
        f"{dt_type_name(dt)} should match")


cdef object other_out(Tensor out, int dt, str op):
    return RuntimeError(
        f"{op}: Found dtype {dt_scalar_name(out.dt)} but expected {dt_scalar_name(dt)}; give an "
        "out of that dtype")


cdef int need_exact_out(Tensor out, int dt, str op) except -1:
    """For operators whose ``out`` must have the dtype of the result."""
    if out.dt != dt:
        raise RuntimeError(
            f"{op}: Expected out tensor to have dtype {dt_type_name(dt)}, but got "
            f"{dt_type_name(out.dt)} instead; give an out of that dtype")
    return 0


cdef int write_exact_out(Tensor out, Tensor value, str op) except -1:
    need_exact_out(out, value.dt, op)
    return write_out(out, value, op)


def stored(Tensor value not None, out, str name):
    """`value`, or `out` of its dtype with it; for functions that are made of others."""
    cdef Tensor target
    if out is None:
        return value
    target = tensor_arg(out, name, "out", 0)
    check_out(target, value.flags, name)
    write_exact_out(target, value, name)
    bump_version(target)
    return out


cdef tuple outs_arg(object out, Py_ssize_t n, uint32_t flags, str op):
    """``out=`` of an operator with several outputs: a tensor for each."""
    cdef tuple outs
    if not isinstance(out, (tuple, list)):
        raise TypeError(
            f"{op}(): argument 'out' must be tuple of Tensors, not {type(out).__name__}")
    outs = tuple(out)
    for i, t in enumerate(outs):
        if not isinstance(t, Tensor):
            raise TypeError(f"{op}(): expected Tensor as element {i} in argument 'out', but got "
                            f"{type(t).__name__}")
    if len(outs) != n:
        raise TypeError(
            f"{op}(): argument 'out' must be tuple of {n} Tensors, but got {len(outs)}")
    for t in outs:
        check_out(<Tensor>t, flags, op)
    return outs


def _check_results(tuple out not None, tuple values not None, str op):
    """Refuse what can't be written before the first of several results is."""
    cdef Tensor t, value
    for t, value in zip(out, values):
        if dt_category(value.dt) > dt_category(t.dt):
            raise no_cast(value.dt, t, op)
        if t.mem.device != value.mem.device:
            raise other_device(t, value.mem.device, op)
        if t.mem.readonly or of_sizes(t, value.nd, value.sizes):
            check_writable(t, op)
        check_capacity(t, value.nd, value.sizes, op)


cdef tuple write_outs(tuple out, tuple values, str op):
    cdef Py_ssize_t i
    for i in range(len(out)):
        need_exact_out(<Tensor>out[i], (<Tensor>values[i]).dt, op)
    _check_results(out, values, op)
    for i in range(len(out)):
        write_out(<Tensor>out[i], <Tensor>values[i], op)
        bump_version(<Tensor>out[i])
    return out


cdef int write_truth_out(Tensor out, Tensor value, str op) except -1:
    """For operators whose truth values go into bool, or into uint8 as they once did."""
    if out.dt != DT_BOOL and out.dt != DT_U8:
        raise RuntimeError(
            f"{op} only supports bool tensor for result, got: {dt_scalar_name(out.dt)}; uint8 is "
            "taken, too")
    return write_out(out, value, op)
