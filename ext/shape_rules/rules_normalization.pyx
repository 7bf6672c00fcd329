# cython: language_level=3
"""Shape rules of normalisation."""
from autograd_cy._C.dtypes cimport dt_scalar_name, DT_BF16, DT_F16, DT_F32
from autograd_cy._C.outputs cimport result_dense, result_like

from autograd_cy._C.tensor cimport F_STRIDED, dims_of, sizes_of

__all__: list[str] = []


cdef int statistics_dtype(int dt) noexcept:
    """float32 for half types."""
    return DT_F32 if dt == DT_F16 or dt == DT_BF16 else dt


cdef int layout_of(Tensor t) noexcept:
    cdef Py_ssize_t step
    cdef int d
    if not t.flags & F_STRIDED:
        return CHANNELS_APART
    if t.nd < 4 or (t.strides[1] != 1 and t.sizes[1] != 1):
        return CHANNELS_ANYHOW
    step = t.sizes[1]
    for d in range(t.nd - 1, 1, -1):
        if t.sizes[d] != 1 and t.strides[d] != step:
            return CHANNELS_ANYHOW
        step *= t.sizes[d]
    if t.sizes[0] != 1 and t.strides[0] != step:
        return CHANNELS_ANYHOW
    return CHANNELS_TOGETHER


cdef int same_dtype(Tensor t, Tensor input, str name, str op) except -1:
    """The dtype of what belongs to an input: its own, or that of its statistics."""
    if t is None or t.dt == input.dt or t.dt == statistics_dtype(input.dt):
        return 0
    raise RuntimeError(
        f"{op}: expected scalar type {dt_scalar_name(input.dt)} but found {dt_scalar_name(t.dt)} "
        f"of {name}. Convert one of them with .to(dtype).")


# --- rows -----------------------------------------------------------------------------------

cdef int check_rows(Tensor input, tuple shape, Tensor weight, Tensor bias, str op) except -1:
    cdef int n = <int>len(shape), d
    cdef bint fits = input.nd >= n
    if n == 0:
        raise RuntimeError(
            f"{op}: Expected normalized_shape to be at least 1-dimensional, i.e., containing at "
            "least one element, but got normalized_shape = []")
    for name, t in (("weight", weight), ("bias", bias)):
        if t is not None and tuple(sizes_of(t)) != shape:
            raise RuntimeError(
                f"{op}: Expected {name} to be of same shape as normalized_shape, but got {name} of "
                f"shape {list(sizes_of(t))} and normalized_shape = {list(shape)}")
        same_dtype(t, input, name, op)
    for d in range(n):
        fits = fits and input.sizes[input.nd - n + d] == shape[d]
    if not fits:
        wanted = ", ".join(["*", *[str(size) for size in shape]])
        raise RuntimeError(
            f"{op}: Given normalized_shape={list(shape)}, expected input with shape [{wanted}], "
            f"but got input of size{list(sizes_of(input))}")
    return 0


cdef int statistics(Result* r, Tensor input, tuple shape) except -1:
    """One number for each row, the dimensions of a row kept."""
    cdef Py_ssize_t sizes[64]
    cdef int d
    for d in range(input.nd):
        sizes[d] = input.sizes[d] if d < input.nd - <int>len(shape) else 1
    return result_dense(r, statistics_dtype(input.dt), input.nd, sizes)


cdef int layer_norm(Result* r, Tensor input, tuple shape, Tensor weight, Tensor bias,
                    str op) except -1:
    check_rows(input, shape, weight, bias, op)
    result_dense(r, input.dt, input.nd, input.sizes)
    statistics(r + 1, input, shape)
    return statistics(r + 2, input, shape)


cdef int rms_norm(Result* r, Tensor input, tuple shape, Tensor weight, str op) except -1:
    if input.nd < <int>len(shape) and (weight is None or dims_of(weight) == shape):
        raise ValueError(
            f"{op}: Input tensor must have at least {len(shape)} dimensions, but got {input.nd}")
    check_rows(input, shape, weight, None, op)
    result_dense(r, input.dt, input.nd, input.sizes)
    return statistics(r + 1, input, shape)


cdef int gradient(Result* r, Tensor like, int dt, tuple shape, bint wanted) except -1:
    """Describe a gradient of the shape of a tensor, or of a tuple."""
    cdef Py_ssize_t sizes[64]
    cdef int d
    if not wanted:
        sizes[0] = 0
        return result_dense(r, dt, 1, sizes)
    if like is not None:
        return result_dense(r, dt, like.nd, like.sizes)
    for d in range(<int>len(shape)):
        sizes[d] = shape[d]
    return result_dense(r, dt, <int>len(shape), sizes)


cdef int of_rows_without_bias(Result* r, Tensor input, tuple shape, Tensor weight, bint to_input,
                              bint to_weight, str op) except -1:
    cdef int dt = input.dt if weight is None else weight.dt
    gradient(r, input, input.dt, None, to_input)
    return gradient(r + 1, None, dt, shape, to_weight)


cdef int of_rows(Result* r, Tensor input, tuple shape, Tensor weight, bint to_input,
                 bint to_weight, bint to_bias, str op) except -1:
    cdef int dt = input.dt if weight is None else weight.dt
    of_rows_without_bias(r, input, shape, weight, to_input, to_weight, op)
    return gradient(r + 2, None, dt, shape, to_bias)


# --- channels -------------------------------------------------------------------------------

cdef int check_channels(Tensor input, Tensor t, str name, str op) except -1:
    """One number for each channel."""
    if t is None:
        return 0
    same_dtype(t, input, name, op)
    if t.nd != 1 and name.startswith("running"):
        raise RuntimeError(f"{op}: {name} must have 1 dimension, not {t.nd}")
    if t.count != input.sizes[1]:
        raise RuntimeError(
            f"{op}: {name} should contain {input.sizes[1]} elements not {t.count}")
    return 0


cdef int batch_norm(Result* r, Tensor input, Tensor weight, Tensor bias, Tensor running_mean,
                    Tensor running_var, bint training, str op) except -1:
    cdef int dt = statistics_dtype(input.dt)
    if input.nd < 2:
        raise RuntimeError(
            f"{op}: expected at least 2 dimensions (batch, channels), got {input.nd} (shape "
            f"{list(sizes_of(input))})")
    check_channels(input, running_mean, "running_mean", op)
    check_channels(input, running_var, "running_var", op)
    check_channels(input, weight, "weight", op)
    check_channels(input, bias, "bias", op)
    if layout_of(input) == CHANNELS_TOGETHER:
        result_like(r, input, input.dt)
    else:
        result_dense(r, input.dt, input.nd, input.sizes)
    result_dense(r + 1, dt, 1, input.sizes + 1)
    return result_dense(r + 2, dt, 1, input.sizes + 1)


cdef int group_norm(Result* r, Tensor input, Py_ssize_t groups, Tensor weight, Tensor bias,
                    str op) except -1:
    cdef int dt = statistics_dtype(input.dt)
    cdef Py_ssize_t sizes[2]
    if input.nd < 2:
        raise RuntimeError(
            f"{op}: Expected at least 2 dimensions for input tensor but received {input.nd}")
    if groups <= 0:
        raise RuntimeError(f"{op}: Expected num groups to be greater than 0, got {groups}")
    if input.sizes[1] % groups != 0:
        raise RuntimeError(
            f"{op}: Expected number of channels in input to be divisible by num_groups, but got "
            f"input of shape {list(sizes_of(input))} and num_groups={groups}")
    for name, t in (("weight", weight), ("bias", bias)):
        if t is not None and ((<Tensor>t).nd != 1 or (<Tensor>t).sizes[0] != input.sizes[1]):
            raise RuntimeError(
                f"{op}: Expected {name} to be a vector of size equal to the number of channels in "
                f"input, but got {name} of shape {list(sizes_of(t))} and input of shape "
                f"{list(sizes_of(input))}")
        same_dtype(t, input, name, op)
    result_dense(r, input.dt, input.nd, input.sizes)
    sizes[0] = input.sizes[0]
    sizes[1] = groups
    result_dense(r + 1, dt, 2, sizes)
    return result_dense(r + 2, dt, 2, sizes)


cdef int of_channels(Result* r, Tensor input, Tensor weight, bint to_input, bint to_weight,
                     bint to_bias, str op) except -1:
    cdef int dt = input.dt if weight is None else weight.dt
    cdef tuple channels = (input.sizes[1],)
    gradient(r, input, input.dt, None, to_input)
    if to_input and layout_of(input) == CHANNELS_TOGETHER:
        result_like(r, input, input.dt)
    gradient(r + 1, None, dt, channels, to_weight)
    # Without a weight nothing tells the dtype of the bias, and a narrow one would round it.
    return gradient(r + 2, None, statistics_dtype(dt) if weight is None else dt, channels, to_bias)
