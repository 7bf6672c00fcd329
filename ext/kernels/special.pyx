# cython: language_level=3
# build: plain cold
"""Functions of plain tensors that SciPy computes, and those that a choice between two is."""
import numpy as _np

from autograd_cy._C.rules_common cimport real_number
from autograd_cy._C.devices cimport device_among
from autograd_cy._C.dtypes cimport DT_BF16, DT_F16, DT_F32
from autograd_cy._C.exchange cimport array_of
from autograd_cy._C.indexing cimport fill_true, only_mask, tensor_from_array, values_of
from autograd_cy._C.iterate cimport (
    broadcast_shape, cast, check_writable, clear, clone_plain, copy_into, ew1, ew2, ew3,
    expand_plain, one_memory, P_BOOL, P_SAME, P_SKIP_FIRST, to_device)
from autograd_cy._C.kernel_table cimport kernel_number
from autograd_cy._C.launch cimport no_launch
from autograd_cy._C.outputs cimport Result, fresh, result_like
from autograd_cy._C.storage cimport ON_CPU
from autograd_cy._C.tensor cimport (
    F_STRIDED, M_NO_GRAD, Tensor, check_fits, requires_grad, tensor_empty, tensor_empty_on,
    tensor_window, tls_modes)

from autograd_cy._C._warned import warn as _warn

cdef int K_DIGAMMA = kernel_number("digamma")
cdef int K_LE = kernel_number("le")
cdef int K_TRIGAMMA = kernel_number("trigamma")
cdef int K_WHERE = kernel_number("where")


cdef object scipy_special(str op):
    from scipy import special
    no_launch(op, "SciPy computes it")
    return special


cdef int store_values(Tensor out, object values) except -1:
    """Values that NumPy has, converted."""
    if out.dt == DT_BF16:
        return copy_into(out, tensor_from_array(values, DT_F32), "to")
    array_of(out)[...] = values         # a half type may not hold them
    return 0


cdef int apply2(Tensor out, str op, str name, Tensor a, Tensor b) except -1:
    function = getattr(scipy_special(op), name)
    with _np.errstate(all="ignore"):
        values = function(values_of(cast(a, out.dt)), values_of(cast(b, out.dt)))
        return store_values(out, _np.asarray(values))


cdef int polygamma(Tensor out, Tensor a, Py_ssize_t n) except -1:
    if n < 2:
        ew1(K_TRIGAMMA if n else K_DIGAMMA, cast(a, out.dt), P_SAME, out, "polygamma")
        return 0
    special = scipy_special("polygamma")
    x = values_of(cast(a, out.dt)).astype(_np.float64)
    with _np.errstate(all="ignore"):
        values = _np.asarray(special.polygamma(n, x))
        if n > 170:
            values = beyond_factorials(special, values, x, n)
        return store_values(out, values)


cdef object beyond_factorials(object special, object values, object x, Py_ssize_t n):
    """Put infinities and zeros where a product of n!, which is infinite, and a zeta function that
    is 0 has given NaN: the logarithm of the result lies between these two."""
    least = special.gammaln(n + 1.0) - (n + 1.0) * _np.log(x)
    most = least + _np.log1p(x / n)
    sign = 1.0 if n % 2 else -1.0
    lost = _np.isnan(values) & (x > 0) & _np.isfinite(x)
    values = _np.where(x > 0, sign * _np.abs(values), values)   # 2**62 + 1 is no double
    values = _np.where(lost & (least > 710.0), sign * _np.inf, values)
    return _np.where(lost & (most < -746.0), sign * 0.0, values)


cdef int igamma(Tensor out, Tensor a, Tensor x) except -1:
    return apply2(out, "igamma", "gammainc", a, x)


cdef int igammac(Tensor out, Tensor a, Tensor x) except -1:
    return apply2(out, "igammac", "gammaincc", a, x)


# --- thresholds ------------------------------------------------------------------------------

cdef Tensor at_most(Tensor a, Tensor threshold, str op):
    """Half types are compared in float32: rounded to them, the number would be another."""
    cdef int dt = DT_F32 if a.dt == DT_F16 or a.dt == DT_BF16 else a.dt
    check_fits(threshold, dt)
    return ew2(K_LE, cast(a, dt), cast(threshold, dt), P_BOOL, None, op)


cdef Tensor threshold_plain(Tensor a, Tensor threshold, Tensor value, Tensor out):
    real_number(threshold, a.dt, "threshold")
    real_number(value, a.dt, "threshold")
    check_fits(value, a.dt)
    cdef int d
    if out is a and out is not None:
        d = shared_dim(out, value)
        if d >= 0:              # what is written twice is the same both times
            threshold_plain(select_one(out, d, 0), threshold, value, select_one(out, d, 0))
            return out
    return ew3(K_WHERE, at_most(a, threshold, "threshold"), cast(value, a.dt), a, P_SKIP_FIRST,
               out, "threshold")


cdef int shared_dim(Tensor out, Tensor value) noexcept:
    """A dimension that shows the same elements again and again; -1 if none, or if recorded."""
    cdef int d
    if out.count == 0 or not tls_modes() & M_NO_GRAD and (
            requires_grad(out) or requires_grad(value)):
        return -1
    for d in range(out.nd):
        if out.strides[d] == 0 and out.sizes[d] > 1:
            return d
    return -1


cdef Tensor select_one(Tensor a, int d, Py_ssize_t i):
    """A dimension cut to one element."""
    cdef Py_ssize_t[64] sizes
    cdef int k
    for k in range(a.nd):
        sizes[k] = a.sizes[k]
    sizes[d] = 1
    return tensor_window(a, a.nd, sizes, a.strides, i * a.strides[d])


cdef Tensor masked_fill(Tensor a, Tensor mask, Tensor value, Tensor out):
    """Return `a` with a value where the mask is true, by rows in any memory format."""
    cdef Py_ssize_t[64] sizes
    cdef int nd, device
    cdef int d
    if out is a and out is not None:
        d = shared_dim(out, value)
        if d >= 0:
            return fill_shared(out, d, mask, value, "masked_fill_", "tensor[mask] = scalar")
    if out is None and (a.flags | mask.flags) & F_STRIDED:
        nd = broadcast_shape((a, mask), sizes, "masked_fill")
        device = device_among((a, mask, value), "masked_fill")
        out = tensor_empty_on(device, a.dt, nd, sizes, NULL)
    return fill_where(a, mask, value, out)


cdef Tensor fill_shared(Tensor a, int d, Tensor mask, Tensor value, str op, str example):
    """Fill an expanded tensor: an element is written if the mask says so at one of its places."""
    cdef Tensor part
    cdef Py_ssize_t i
    if example:
        _warn(
            f"Use of {op} on expanded tensors is deprecated. Please clone() the tensor before "
            f"performing this operation. This also applies to advanced indexing e.g. {example}",
            UserWarning)
    mask = expand_plain(mask, a.nd, a.sizes, op)
    part = select_one(a, d, 0)
    for i in range(a.sizes[d]):
        if shared_dim(part, value) >= 0:
            fill_shared(part, shared_dim(part, value), select_one(mask, d, i), value, op, "")
        else:
            fill_where(part, select_one(mask, d, i), value, part)
    return a


cdef Tensor fill_where(Tensor a, Tensor mask, Tensor value, Tensor out):
    cdef int d
    if out is a and out is not None:
        d = shared_dim(out, value)
        if d >= 0:
            return fill_shared(out, d, mask, value, "index_fill_", "tensor[mask] = scalar")
    check_fits(value, a.dt)
    value = cast(value, a.dt)
    if out is not None and one_memory(value, out):
        value = clone_plain(value)      # one number, read before anything is written
    return ew3(K_WHERE, mask, value, a, P_SKIP_FIRST, out, "masked_fill")


# --- x[mask] = value ---------------------------------------------------------------------------

cdef Tensor put_number(Tensor a, object indices, Tensor values, bint accumulate, Tensor out):
    """Write one value where the only index, a mask, is true, on any device; else return None."""
    cdef int place = -1 if accumulate or values.count != 1 else only_mask(<tuple>indices)
    cdef Tensor mask, value
    cdef Result result
    if place < 0:
        return None
    mask = <Tensor>(<tuple>indices)[place]
    if mask.mem.device != a.mem.device:
        mask = to_device(mask, a.mem.device)        # index tensors may be on the CPU
    value = tensor_window(values, 0, NULL, NULL, 0) if values.nd else values
    value = cast(value, a.dt)
    if out is None:
        result_like(&result, a, a.dt)
        out = fresh(&result, device_among((a, values), "index_put"))
        return ew3(K_WHERE, along_dims(mask, a, place), value, a, P_SKIP_FIRST, out, "index_put")
    if one_memory(value, out):
        value = clone_plain(value)      # one number, read before anything is written
    check_writable(out, "index_put_")
    if mask.nd and mask.count < out.count and out.mem.device == ON_CPU:
        fill_true(out, mask, place, value)      # what isn't selected isn't even read
        return out
    return ew3(K_WHERE, along_dims(mask, a, place), value, a, P_SKIP_FIRST, out, "index_put_")


cdef Tensor along_dims(Tensor mask, Tensor a, int place):
    """A mask over some dimensions of `a`, the same along all others."""
    cdef Py_ssize_t[64] sizes
    cdef Py_ssize_t[64] strides
    cdef int d
    for d in range(a.nd):
        sizes[d], strides[d] = 1, 0
        if place <= d < place + mask.nd:
            sizes[d], strides[d] = mask.sizes[d - place], mask.strides[d - place]
    return tensor_window(mask, a.nd, sizes, strides, 0)


cdef Tensor threshold_backward_plain(Tensor grad, Tensor a, Tensor threshold):
    cdef Tensor zero = tensor_empty(grad.dt, 0, NULL)
    clear(zero)
    return ew3(K_WHERE, at_most(a, threshold, "threshold_backward"), zero, grad, P_SKIP_FIRST, None,
               "threshold_backward")
