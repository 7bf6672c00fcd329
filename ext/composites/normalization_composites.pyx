# cython: language_level=3
"""Composites of the family normalization: records in autograd_cy/ops/normalization.py name them.

Gradients come from a kernel. Where somebody differentiates them again, or batches them, they are
made of operators: with `hat` the normalised elements and `r` the inverse deviation, a gradient y of
`hat` is that of the input after r * (y - mean(y) - hat * mean(y * hat)), and a tangent takes the
same way, because this map is its own transpose. Without a mean in the forward pass mean(y) is left
out.
"""
from autograd_cy._C.devices cimport has_kernel
from autograd_cy._C.dtypes cimport DT_BF16, DT_C64, DT_F16, DT_F32, dt_is_complex
from autograd_cy._C.changes cimport after_change, before_change
from autograd_cy._C.iterate cimport copy_into
from autograd_cy._C.tensor cimport (
    Tensor, device_of, dims_of, g_modes, missing_dim, requires_grad, sizes_of, tls_modes,
    wrap_double, F_BATCHED, F_DUAL, F_VIEW, G_FORWARD, M_GUARD_SAVED, M_NO_GRAD)
include "operators_of_normalization_composites.pxi"

__all__: list[str] = []


cdef bint by_operators(Tensor a, Tensor b, Tensor c, str kernel) except -1:
    """Tell if more is to be known of gradients than their values, or nothing else finds these."""
    cdef Tensor t
    cdef int k
    if not has_kernel(device_of(a), kernel):
        return True
    for k in range(3):
        t = a if k == 0 else b if k == 1 else c
        if t is None:
            continue
        if t.flags & (F_DUAL | F_BATCHED) or (t.flags & F_VIEW and g_modes & G_FORWARD):
            return True
        if not tls_modes() & M_NO_GRAD and requires_grad(t):
            return True
    return False


cdef Tensor wide(Tensor t):
    if t.dt == DT_F16 or t.dt == DT_BF16:
        return T._to_dtype(t, DT_F32)
    return t


cdef Tensor cast_down(Tensor t, int dt):
    return t if t is None or t.dt == dt else T._to_dtype(t, dt)


cdef tuple last_dims(Tensor x, tuple shape):
    return tuple(range(x.nd - len(shape), x.nd))


cdef tuple first_dims(Tensor x, tuple shape):
    return tuple(range(x.nd - len(shape)))


cdef tuple other_dims(Tensor x):
    """All dimensions but that of channels."""
    return (0, *range(2, x.nd))


cdef Tensor sum_over(Tensor t, tuple dims):
    return T.sum_dim(t, dims, False, -1) if dims else t


cdef tuple normalised(Tensor x, tuple dims, double eps, bint centred):
    """The elements, and the inverse of their deviation."""
    cdef Tensor r
    if centred:
        x = T.sub(x, T.mean_dim(x, dims, True, -1))
    r = T.rsqrt(T.add(T.mean_dim(T.square(x), dims, True, -1), wrap_double(eps)))
    return T.mul(x, r), r


cdef Tensor projected(Tensor y, Tensor hat, Tensor r, tuple dims, bint centred):
    """The gradient of the input from that of the normalised elements; also a tangent."""
    cdef Tensor rest = T.sub(y, T.mul(hat, T.mean_dim(T.mul(y, hat), dims, True, -1)))
    if centred:
        rest = T.sub(rest, T.mean_dim(y, dims, True, -1))
    return T.mul(rest, r)


# --- rows -----------------------------------------------------------------------------------

cdef tuple of_rows(Tensor grad, Tensor input, tuple shape, Tensor weight, double eps,
                   bint centred, bint to_input, bint to_weight, bint to_bias):
    cdef Tensor x = wide(input), g = wide(grad), hat, r, dx = None, dw = None, db = None
    cdef tuple dims = last_dims(input, shape), rows = first_dims(input, shape)
    cdef int dt = input.dt if weight is None else weight.dt
    hat, r = normalised(x, dims, eps, centred)
    if to_input:
        dx = projected(g if weight is None else T.mul(g, wide(weight)), hat, r, dims, centred)
    if to_weight:
        dw = sum_over(T.mul(g, hat), rows)
    if to_bias:
        db = sum_over(g, rows)
    return cast_down(dx, input.dt), cast_down(dw, dt), cast_down(db, dt)


cdef tuple layer_norm_backward(Tensor grad, Tensor input, tuple shape, Tensor mean, Tensor rstd,
                               Tensor weight, double eps, bint to_input, bint to_weight,
                               bint to_bias):
    if by_operators(grad, input, weight, "_fused_layer_norm_backward"):
        return of_rows(grad, input, shape, weight, eps, True, to_input, to_weight, to_bias)
    return T._fused_layer_norm_backward(grad, input, shape, mean, rstd, weight, to_input,
                                        to_weight, to_bias)


cdef tuple rms_norm_backward(Tensor grad, Tensor input, tuple shape, Tensor rstd, Tensor weight,
                             double eps, bint to_input, bint to_weight):
    if by_operators(grad, input, weight, "_fused_rms_norm_backward"):
        return of_rows(grad, input, shape, weight, eps, False, to_input, to_weight, False)
    return T._fused_rms_norm_backward(grad, input, shape, rstd, weight, to_input, to_weight)


cdef Tensor rows_scaled(Tensor input, tuple shape, double eps, bint centred):
    cdef Tensor hat = normalised(wide(input), last_dims(input, shape), eps, centred)[0]
    return cast_down(hat, input.dt)


cdef Tensor rows_jvp(Tensor tangent, Tensor input, tuple shape, Tensor weight, double eps,
                     bint centred):
    cdef Tensor hat, r, out
    cdef tuple dims = last_dims(input, shape)
    hat, r = normalised(wide(input), dims, eps, centred)
    out = projected(wide(tangent), hat, r, dims, centred)
    return cast_down(out if weight is None else T.mul(out, wide(weight)), input.dt)


# --- groups ---------------------------------------------------------------------------------

cdef Tensor grouped(Tensor x, Py_ssize_t groups):
    cdef Py_ssize_t n = x.sizes[0] * groups
    return T.reshape(x, (x.sizes[0], groups, x.count // n if n else 0))


cdef Tensor groups_scaled(Tensor input, Py_ssize_t groups, double eps):
    cdef Tensor hat = normalised(grouped(wide(input), groups), (2,), eps, True)[0]
    return cast_down(T.reshape(hat, dims_of(input)), input.dt)


cdef Tensor groups_jvp(Tensor tangent, Tensor input, Py_ssize_t groups, Tensor weight,
                       double eps):
    cdef Tensor hat, r, out
    hat, r = normalised(grouped(wide(input), groups), (2,), eps, True)
    out = T.reshape(projected(grouped(wide(tangent), groups), hat, r, (2,), True), dims_of(input))
    if weight is not None:
        out = T.mul(out, wide(per_channel(weight, input)))
    return cast_down(out, input.dt)


cdef tuple group_norm_backward(Tensor grad, Tensor input, Py_ssize_t groups, Tensor mean,
                               Tensor rstd, Tensor weight, double eps, bint to_input,
                               bint to_weight, bint to_bias):
    cdef Tensor g, hat, r, y, dx = None, dw = None, db = None
    cdef int dt = input.dt if weight is None else weight.dt
    if not by_operators(grad, input, weight, "_fused_group_norm_backward"):
        return T._fused_group_norm_backward(grad, input, groups, mean, rstd, weight, to_input,
                                            to_weight, to_bias)
    g = wide(grad)
    hat, r = normalised(grouped(wide(input), groups), (2,), eps, True)
    if to_input:
        y = g if weight is None else T.mul(g, wide(per_channel(weight, input)))
        dx = T.reshape(projected(grouped(y, groups), hat, r, (2,), True), dims_of(input))
    if to_weight:
        dw = sum_over(T.mul(g, T.reshape(hat, dims_of(input))), other_dims(input))
    if to_bias:
        db = sum_over(g, other_dims(input))
    return cast_down(dx, input.dt), cast_down(dw, dt), db if weight is None else cast_down(db, dt)


cdef tuple batched_groups(Tensor input, Py_ssize_t groups, Tensor weight, Tensor bias,
                          double eps):
    """Examples of a batch as samples."""
    cdef tuple shape = dims_of(input), pair, results
    if len(shape) < 3:
        # What is said of one example.
        return T._native_group_norm(T.new_zeros(input, shape[1:]), groups, weight, bias, eps)
    pair = (shape[0], shape[1])
    results = T._native_group_norm(
        T.reshape(input, (shape[0] * shape[1], *shape[2:])), groups, weight, bias, eps)
    return tuple([T.reshape(<Tensor>t, pair + dims_of(<Tensor>t)[1:]) for t in results])


# --- channels -------------------------------------------------------------------------------

cdef Tensor per_channel(Tensor values, Tensor input):
    return T.reshape(values, (values.count, *(1,) * (input.nd - 2)))


cdef tuple channels(Tensor input, Tensor mean, Tensor rstd, bint training, double eps):
    if training:
        return normalised(wide(input), other_dims(input), eps, True)
    rstd = per_channel(rstd, input)
    return T.mul(T.sub(wide(input), per_channel(mean, input)), rstd), rstd


cdef Tensor channels_scaled(Tensor input, Tensor mean, Tensor rstd, bint training, double eps):
    return cast_down(<Tensor>channels(input, mean, rstd, training, eps)[0], input.dt)


cdef Tensor channels_jvp(Tensor tangent, Tensor input, Tensor weight, Tensor mean, Tensor rstd,
                         bint training, double eps):
    cdef Tensor hat, r, out
    hat, r = channels(input, mean, rstd, training, eps)
    if training:
        out = projected(wide(tangent), hat, r, other_dims(input), True)
    else:
        out = T.mul(wide(tangent), r)
    if weight is not None:
        out = T.mul(out, wide(per_channel(weight, input)))
    return cast_down(out, input.dt)


cdef tuple batch_norm_backward(Tensor grad, Tensor input, Tensor weight, Tensor mean, Tensor rstd,
                               bint training, double eps, bint to_input, bint to_weight,
                               bint to_bias):
    cdef Tensor g, y, hat, r, dx = None, dw = None, db = None
    cdef int dt = input.dt if weight is None else weight.dt
    if not by_operators(grad, input, weight, "_fused_batch_norm_backward"):
        return T._fused_batch_norm_backward(grad, input, weight, mean, rstd, training, to_input,
                                            to_weight, to_bias)
    g = wide(grad)
    hat, r = channels(input, mean, rstd, training, eps)
    if to_input:
        y = g if weight is None else T.mul(g, wide(per_channel(weight, input)))
        dx = projected(y, hat, r, other_dims(input), True) if training else T.mul(y, r)
    if to_weight:
        dw = sum_over(T.mul(g, hat), other_dims(input))
    if to_bias:
        db = sum_over(g, other_dims(input))
    return cast_down(dx, input.dt), cast_down(dw, dt), db if weight is None else cast_down(db, dt)


# --- what programs call ---------------------------------------------------------------------

cdef int refuse_gradient(Tensor t, str name) except -1:
    """Running statistics are constants."""
    if t is not None and not tls_modes() & M_NO_GRAD and requires_grad(t):
        raise RuntimeError(
            f"batch_norm: the derivative for '{name}' is not implemented; detach it")
    return 0


cdef int check_statistics(Tensor input, Tensor t, str name) except -1:
    if t is not None and input.nd > 1 and t.count != input.sizes[1]:
        raise RuntimeError(f"batch_norm: {name} should contain {input.sizes[1]} elements not "
                           f"{t.count}")
    return 0


cdef int check_both(Tensor running_mean, Tensor running_var) except -1:
    if (running_mean is None) != (running_var is None):
        raise ValueError("running_mean and running_var must either both be None or neither be None")
    return 0


cdef Tensor batch_norm(Tensor input, Tensor weight, Tensor bias, Tensor running_mean,
                       Tensor running_var, bint training, double momentum, double eps,
                       bint cudnn_enabled):
    refuse_gradient(running_mean, "running_mean")
    refuse_gradient(running_var, "running_var")
    if input.nd == 1 and input.count == 0:
        return T.clone(input, -1)       # nothing has no channels
    if training:
        if running_mean is None or running_var is None:
            check_statistics(input, running_mean, "running_mean")
            check_statistics(input, running_var, "running_var")
        check_both(running_mean, running_var)
        return <Tensor>T._batch_norm(input, weight, bias, running_mean, running_var, momentum,
                                     eps)[0]
    if running_mean is None or running_var is None:
        missing = "running_mean" if running_mean is None else "running_var"
        raise RuntimeError(
            "batch_norm: Expected running_mean and running_var to be defined when training=False; "
            f"{missing} is None")
    return <Tensor>T._batch_norm_fixed(input, weight, bias, running_mean, running_var, eps)[0]


cdef Tensor repeated(Tensor t, Py_ssize_t n):
    """One number for each channel of each sample."""
    return None if t is None else T.reshape(T.expand(t, (n, t.count)), (n * t.count,))


cdef int average_back(Tensor t, Tensor of_samples) except -1:
    cdef Tensor mean
    if t is None:
        return 0
    mean = T.mean_dim(T.reshape(of_samples, (of_samples.count // t.count, t.count)), (0,), False,
                      -1)
    if t.flags & F_BATCHED or not tls_modes() & M_GUARD_SAVED:
        T.copy_(t, mean)
        return 0
    # Functions that are transformed may move statistics, though not write captured tensors.
    before_change((t,), (t,), t.flags, "instance_norm")
    copy_into(t, mean, "instance_norm")
    return after_change((t,), "NativeBatchNormBackward0")


cdef Tensor instance_norm(Tensor input, Tensor weight, Tensor bias, Tensor running_mean,
                          Tensor running_var, bint use_input_stats, double momentum, double eps,
                          bint cudnn_enabled):
    """Channels of samples as channels of one; running statistics are the mean over samples."""
    cdef Py_ssize_t n, c
    cdef Tensor means, variances, out
    cdef object t
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError(
            "Expected running_mean and running_var to be defined when use_input_stats=False")
    if input.nd < 2:
        raise missing_dim(
            1, input.nd,
            f"instance_norm: expected at least 2 dimensions (batch, channels), got {input.nd} "
            f"(shape {list(sizes_of(input))})")
    n, c = input.sizes[0], input.sizes[1]
    for name, t in (("weight", weight), ("bias", bias), ("running_mean", running_mean),
                    ("running_var", running_var)):
        if t is not None and (<Tensor>t).count != c:
            raise RuntimeError(
                f"instance_norm: {name} should contain {c} elements not {(<Tensor>t).count}")
    check_both(running_mean, running_var)
    means, variances = repeated(running_mean, n), repeated(running_var, n)
    out = batch_norm(
        T.reshape(T._contiguous(input, -1), (1, n * c, *dims_of(input)[2:])),
        repeated(weight, n), repeated(bias, n), means, variances, use_input_stats, momentum, eps,
        cudnn_enabled)
    if use_input_stats and n:
        average_back(running_mean, means)
        average_back(running_var, variances)
    return T.view(out, dims_of(input))


cdef Tensor rms_norm(Tensor input, tuple shape, Tensor weight, object eps):
    if eps is None:
        eps = (1.1920928955078125e-07 if wide(input).dt in (DT_F32, DT_C64)
               else 2.220446049250313e-16)
    if dt_is_complex(input.dt) or not has_kernel(device_of(input), "_fused_rms_norm") or (
            weight is not None and weight.dt != input.dt and weight.dt != wide(input).dt):
        return rms_norm_of_operators(input, shape, weight, eps)
    return <Tensor>T._fused_rms_norm(input, shape, weight, eps)[0]


cdef Tensor rms_norm_of_operators(Tensor input, tuple shape, Tensor weight, double eps):
    """
    Normalize complex rows, rows with a weight of another dtype, or on a device without the kernel:
    the result is of the input's dtype in all.
    """
    cdef Tensor scaled
    cdef bint fused = has_kernel(device_of(input), "_fused_rms_norm")
    cdef tuple dims = tuple(range(input.nd - <int>len(shape), input.nd))
    if weight is not None and dims_of(weight) != shape:
        raise RuntimeError(
            "rms_norm: Expected weight to be of same shape as normalized_shape, but got weight of "
            f"shape {list(dims_of(weight))} and normalized_shape = {list(shape)}")
    if input.nd < <int>len(shape):
        raise ValueError(
            f"rms_norm: Input tensor must have at least {len(shape)} dimensions, but got "
            f"{input.nd}")
    if dt_is_complex(input.dt) or not fused:
        if not shape or dims_of(input)[input.nd - <int>len(shape):] != shape:
            raise RuntimeError(
                f"rms_norm: Given normalized_shape={list(shape)}, expected it to be the end of the "
                f"input's shape, but got input of size{list(dims_of(input))}")
    if dt_is_complex(input.dt):
        scaled = T.mul(input, T.rsqrt(T.add(
            T.mean_dim(T.mul(input, input), dims, True, -1), wrap_double(eps))))
    elif not fused:
        scaled = <Tensor>normalised(wide(input), dims, eps, False)[0]
    else:
        scaled = <Tensor>T._fused_rms_norm(input, shape, None, eps)[0]
    if weight is not None:
        scaled = T.mul(scaled, weight)
    return scaled if scaled.dt == input.dt else T._to_dtype(scaled, input.dt)
