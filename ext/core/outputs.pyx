# cython: language_level=3
# build: plain hot
"""Memory for results: fresh, or that of ``out=`` and of what an in-place form changes."""
from autograd_cy._C.dtypes cimport dt_category, dt_scalar_name, DT_BOOL, DT_U8
from autograd_cy._C.iterate cimport check_writable, copy_into, ranges_meet, resize_out
from autograd_cy._C.launch cimport no_launch
from autograd_cy._C.out_forms cimport need_exact_out, no_cast
from autograd_cy._C.out_places cimport check_capacity, of_sizes, other_device, take_order
from autograd_cy._C.tensor cimport (
    F_LAZY, F_STRIDED, Tensor, preserved_strides, sizes_of)


cdef int sized_by_values(str op) except -1:
    return no_launch(op, "how many elements there are depends on values")


cdef int result_like(Result* r, Tensor a, int dt) noexcept:
    result_dense(r, dt, a.nd, a.sizes)
    if a.flags & F_STRIDED:
        r.strided = True
        preserved_strides(a, r.strides)
    return 0


cdef bint has_shape(Tensor t, const Result* r) noexcept:
    return of_sizes(t, r.nd, r.sizes)


cdef bint touches(Tensor t, tuple read) noexcept:
    """Return whether writing t may change what is read."""
    for other in read:
        if other is None:
            continue
        if isinstance(other, tuple):
            if touches(t, <tuple>other):
                return True
        elif (<Tensor>other).mem == t.mem or ranges_meet(t, <Tensor>other):
            return True
    return False


cdef int check_outs(tuple out, const Result* r, str op) except -1:
    cdef Py_ssize_t i
    for i in range(len(out)):
        need_exact_out(<Tensor>out[i], r[i].dt, op)
        check_target(<Tensor>out[i], &r[i], op)
    return 0


cdef int check_target(Tensor out, const Result* r, str op) except -1:
    """Refuse what can't be written before anything is computed, resized or written."""
    if out.mem.readonly or has_shape(out, r):
        return check_writable(out, op)
    return check_capacity(out, r.nd, r.sizes, op)


cdef Tensor out_target(Tensor out, const Result* r, tuple read, int device, int kind, str op):
    if out.mem.device != device:
        raise other_device(out, device, op)
    if kind == OUT_TRUTH and out.dt != DT_BOOL and out.dt != DT_U8:
        raise RuntimeError(
            f"{op} only supports bool tensor for result, got: {dt_scalar_name(out.dt)}; uint8 is "
            "taken, too")
    if kind == OUT_EXACT:
        need_exact_out(out, r.dt, op)
    if dt_category(r.dt) > dt_category(out.dt):
        if kind == OUT_JOINED:
            raise TypeError(
                f"{op}: input types can't be cast to the desired output type "
                f"{dt_scalar_name(out.dt)}")
        raise no_cast(r.dt, out, op)
    check_target(out, r, op)
    if out.dt != r.dt or out.flags & F_LAZY or touches(out, read):
        return fresh(r, device)
    if has_shape(out, r):
        return fresh(r, device) if out.flags & F_STRIDED else out
    if r.strided:
        return fresh(r, device)
    resize_out(out, r.nd, r.sizes, op)
    return fresh(r, device) if touches(out, read) else out


cdef Tensor inplace_target(Tensor self, const Result* r, tuple others, int device, int over,
                           str op):
    if not has_shape(self, r):
        raise RuntimeError(
            f"{op}: output with shape {list(sizes_of(self))} doesn't match the broadcast shape "
            f"{[r.sizes[i] for i in range(r.nd)]}")
    if dt_category(r.dt) > dt_category(self.dt):
        raise RuntimeError(
            f"{op}: result type {dt_scalar_name(r.dt)} can't be cast to the desired output type "
            f"{dt_scalar_name(self.dt)}")
    check_writable(self, op)
    if over == OVER_NONE or self.dt != r.dt or self.flags & F_LAZY:
        return fresh(r, device)
    if over == OVER_DENSE and (self.flags & F_STRIDED or touches(self, others)):
        return fresh(r, device)
    return self


cdef int settle(Tensor out, Tensor target, str op) except -1:
    """Bring the values of `target` to `out`."""
    if target is out:
        return 0
    cdef bint same = of_sizes(out, target.nd, target.sizes)
    resize_out(out, target.nd, target.sizes, op)
    if not same:
        take_order(out, target)
    return copy_into(out, target, op)
