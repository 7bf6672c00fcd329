# cython: language_level=3
# build: plain cold
"""Batch norm, group norm and their gradients on CUDA devices.

Sets of elements, channels or groups of them, are one launch, or two where several blocks share a
set: the first one leaves sums, and the second one takes them. Running statistics are moved by the
same kernel. Elements lie in C order, or with all channels of a place side by side.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memset

from autograd_cy._C.cuda_launch cimport launch
from autograd_cy._C.cuda_memory cimport Scratch, dense_like, scratch
from autograd_cy._C.cuda_reduce cimport (
    BLOCKS, LOG_THREADS, LOG_WARP, kernel_of_floats, log_ceil, quotient_up, set_divisor)
from autograd_cy._C.devices cimport current_stream, stream_t
from autograd_cy._C.dtypes cimport DTYPES
from autograd_cy._C.formats cimport by_places
from autograd_cy._C.iterate cimport cast, clear, contiguous, copy_into
from autograd_cy._C.rules_normalization cimport (
    CHANNELS_ANYHOW, CHANNELS_APART, CHANNELS_TOGETHER, layout_of)
from autograd_cy._C.storage cimport device_index
from autograd_cy._C.tensor cimport Tensor, tensor_empty_like

__all__ = ["KERNELS"]

cdef extern from "device/set_arguments.h" nogil:
    enum:
        AG_SETS_SUM
        AG_SETS_JOIN
        AG_SETS_WHOLE
        AG_SETS_KNOWN
        AG_CHANNEL_OF_SET
        AG_CHANNEL_OF_LINE
        AG_CHANNEL_OF_PLACE
    ctypedef struct ag_wide_divisor:
        uint64_t size
    ctypedef struct ag_set_args:
        void* out
        const void* in_ "in"
        const void* grad
        const void* weight
        const void* bias
        void* mean
        void* spread
        void* running_mean
        void* running_var
        void* by_weight
        void* by_bias
        void* partial
        ag_wide_divisor run, many, per
        uint64_t sets_all, length, chunk, parts
        int64_t inner, outer, set, sets
        double momentum, eps
        uint32_t group, width, stage, channel, by_rows, training, by_line, narrow
        int32_t dt

cdef enum:
    FORWARD = 0
    BACKWARD = 1

    WEIGHT = 1             # bits of `narrow`
    BIAS = 2
    RUNNING_MEAN = 4
    RUNNING_VAR = 8

    SHARE = 32             # elements of a thread, before more blocks share a set
    OF_MOMENTS = 32        # bytes of the sums of a set that a block leaves
    OF_SUMS = 16

cdef tuple NAMES = ("norm_sets", "norm_sets_backward")
cdef int[2][DTYPES] kernels      # by operation and dtype; one more than the number, 0: unknown
memset(kernels, 0, sizeof(kernels))


cdef int kernel_of_sets(int op, int dt) except -1:
    if not kernels[op][dt]:
        kernels[op][dt] = kernel_of_floats("sets", NAMES[op], dt) + 1
    return kernels[op][dt] - 1


cdef inline void* address(Tensor t) noexcept:
    return NULL if t is None else t.ptr


cdef Tensor dense(Tensor t, int dt):
    return None if t is None else contiguous(cast(t, dt))


cdef Tensor of_channels(ag_set_args* args, Tensor t, Tensor input, Tensor spread, uint32_t bit):
    """A tensor of one number a channel, dense: in the dtype of the input or of statistics."""
    if t is None:
        return None
    if t.dt == input.dt and t.dt != spread.dt:
        args.narrow |= bit
        return contiguous(t)
    return dense(t, spread.dt)


cdef Tensor with_layout_of(Tensor t, Tensor like):
    """The values of `t` in the dtype and the memory format of `like`."""
    cdef Tensor result = cast(t, like.dt)
    cdef int layout = layout_of(like)
    if layout == CHANNELS_APART:
        return contiguous(result)
    if layout_of(result) == layout:
        return result
    result = tensor_empty_like(like, like.dt)
    copy_into(result, t, "norm")
    return result


# --- which elements are a set ---------------------------------------------------------------

cdef Py_ssize_t run_of(Tensor input) noexcept:
    cdef Py_ssize_t run = 1
    cdef int d
    for d in range(2, input.nd):
        run *= input.sizes[d]
    return run


cdef int cut_channels(ag_set_args* args, Tensor input) noexcept:
    """Sets are channels, and lines images."""
    cdef Py_ssize_t run = run_of(input), channels = input.sizes[1]
    cdef bint together = layout_of(input) == CHANNELS_TOGETHER
    memset(args, 0, sizeof(ag_set_args))
    args.sets_all = channels
    args.length = input.sizes[0] * run
    args.outer = channels * run
    args.inner = channels if together else 1
    args.set = 1 if together else run
    args.channel = AG_CHANNEL_OF_SET
    args.by_rows = run > 1 and not together
    set_divisor(&args.run, run)
    set_divisor(&args.many, channels)
    set_divisor(&args.per, 1)
    return 0


cdef int cut_groups(ag_set_args* args, Tensor input, Py_ssize_t groups) noexcept:
    """Sets are groups of images. Lines are channels, or places."""
    cdef Py_ssize_t run = run_of(input), channels = input.sizes[1], per = channels // groups
    cdef bint together = layout_of(input) == CHANNELS_TOGETHER
    memset(args, 0, sizeof(ag_set_args))
    args.sets_all = input.sizes[0] * groups
    args.length = per * run
    args.sets = channels * run
    args.set = per if together else per * run
    args.inner = 1
    args.outer = channels if together else run
    args.channel = AG_CHANNEL_OF_PLACE if together else AG_CHANNEL_OF_LINE
    args.by_rows = True
    set_divisor(&args.run, per if together else run)
    set_divisor(&args.many, groups)
    set_divisor(&args.per, per)
    return 0


# --- launches -------------------------------------------------------------------------------

cdef int run_sets(int op, ag_set_args* args, Tensor input) except -1:
    """One launch or two; with statistics that are known, one."""
    cdef int index = device_index(input.mem.device)
    cdef stream_t stream = current_stream(input.mem.device)
    cdef Scratch partial
    cdef uint64_t tiles, most = BLOCKS
    cdef uint32_t share = SHARE
    if args.by_rows:
        args.group = min(log_ceil(quotient_up(args.length, 4)), <uint32_t>LOG_THREADS)
        args.width = min(log_ceil(args.sets_all), LOG_THREADS - args.group)
        if args.group + args.width < LOG_WARP:
            args.width = LOG_WARP - args.group
    else:
        args.width = min(log_ceil(args.sets_all), <uint32_t>LOG_WARP)
        args.group = LOG_THREADS - args.width
    if args.stage == AG_SETS_KNOWN:
        share, most = 8, 8 * BLOCKS
    tiles = quotient_up(args.sets_all, <uint64_t>1 << args.width)
    args.parts = max(min(args.length // (<uint64_t>share << args.group), most // min(tiles, most)),
                     <uint64_t>1)
    args.chunk = quotient_up(args.length, args.parts)
    args.parts = quotient_up(args.length, args.chunk)
    if args.stage != AG_SETS_KNOWN and args.parts > 1:
        partial = scratch(index, args.parts * args.sets_all
                          * (OF_MOMENTS if op == FORWARD else OF_SUMS), stream)
        args.partial = partial.data
        args.stage = AG_SETS_SUM
        launch_sets(op, args, input, index, stream, tiles)
        args.stage = AG_SETS_JOIN
    return launch_sets(op, args, input, index, stream, tiles)


cdef int launch_sets(int op, const ag_set_args* args, Tensor input, int index, stream_t stream,
                     uint64_t tiles) except -1:
    return launch(kernel_of_sets(op, input.dt), index, stream,
                  <unsigned>min(tiles, <uint64_t>0x7FFFFFFF), <unsigned>args.parts, 1,
                  1 << (args.group + args.width), 1, 1, 0, args, sizeof(ag_set_args))


cdef Tensor wanted(Tensor t, Py_ssize_t n):
    """A gradient that isn't wanted has no elements."""
    return None if t is None or t.count != n else t


cdef int no_elements(Tensor to_weight, Tensor to_bias) except -1:
    for t in (to_weight, to_bias):
        if t is not None and (<Tensor>t).count:
            clear(<Tensor>t)
    return 0


# --- channels -------------------------------------------------------------------------------

cdef int batch_norm(Tensor result, Tensor mean, Tensor spread, Tensor input, Tensor weight,
                    Tensor bias, Tensor running_mean, Tensor running_var, bint training,
                    double momentum, double eps) except -1:
    cdef ag_set_args args
    cdef Tensor own_mean, own_var
    if input.count == 0:
        return 0
    input = with_layout_of(input, result)
    cut_channels(&args, input)
    weight = of_channels(&args, weight, input, spread, WEIGHT)
    bias = of_channels(&args, bias, input, spread, BIAS)
    own_mean = of_channels(&args, running_mean, input, spread, RUNNING_MEAN)
    own_var = of_channels(&args, running_var, input, spread, RUNNING_VAR)
    args.stage = AG_SETS_WHOLE if training else AG_SETS_KNOWN
    args.in_, args.out = input.ptr, result.ptr
    args.weight, args.bias = address(weight), address(bias)
    args.mean, args.spread = mean.ptr, spread.ptr
    args.running_mean, args.running_var = address(own_mean), address(own_var)
    args.momentum, args.eps = momentum, eps
    run_sets(FORWARD, &args, input)
    if training and own_mean is not running_mean:
        copy_into(running_mean, own_mean, "batch_norm")
    if training and own_var is not running_var:
        copy_into(running_var, own_var, "batch_norm")
    return 0


cdef int batch_norm_backward(Tensor to_input, Tensor to_weight, Tensor to_bias, Tensor grad,
                             Tensor input, Tensor weight, Tensor mean, Tensor spread,
                             bint training) except -1:
    cdef ag_set_args args
    cdef Py_ssize_t channels = input.sizes[1]
    cdef int dt = spread.dt
    if input.count == 0:
        return no_elements(to_weight, to_bias)
    if layout_of(input) == CHANNELS_ANYHOW:
        input = contiguous(input)
    grad = with_layout_of(grad, input)
    mean, spread = dense(mean, dt), dense(spread, dt)
    to_weight, to_bias = wanted(to_weight, channels), wanted(to_bias, channels)
    cut_channels(&args, input)
    weight = of_channels(&args, weight, input, spread, WEIGHT)
    args.stage = AG_SETS_WHOLE
    if not training and to_weight is None and to_bias is None:
        args.stage = AG_SETS_KNOWN
    args.in_, args.grad = input.ptr, grad.ptr
    args.weight, args.mean, args.spread = address(weight), mean.ptr, spread.ptr
    args.training = training
    set_gradients(&args, to_weight, to_bias)
    return into_input(&args, to_input, input)


cdef int set_gradients(ag_set_args* args, Tensor to_weight, Tensor to_bias) noexcept:
    args.by_weight, args.by_bias = address(to_weight), address(to_bias)
    args.dt = -1
    if to_weight is not None or to_bias is not None:
        args.dt = (to_bias if to_weight is None else to_weight).dt
    return 0


cdef int into_input(ag_set_args* args, Tensor to_input, Tensor input) except -1:
    """Run a backward pass; the gradient may have another memory format than the input."""
    cdef Tensor grad = wanted(to_input, input.count)
    if grad is not None and layout_of(grad) != layout_of(input):
        grad = tensor_empty_like(input, input.dt)
    args.out = address(grad)
    run_sets(BACKWARD, args, input)
    if grad is not None and grad is not to_input:
        copy_into(to_input, grad, "norm")
    return 0


# --- groups ---------------------------------------------------------------------------------

cdef int group_norm(Tensor result, Tensor mean, Tensor spread, Tensor input, Py_ssize_t groups,
                    Tensor weight, Tensor bias, double eps) except -1:
    cdef ag_set_args args
    cdef Tensor target = result
    if input.count == 0:
        return 0
    if not by_places(result, input):
        input = contiguous(input)
        if layout_of(result) != CHANNELS_APART:
            target = dense_like(result)
    elif layout_of(input) != CHANNELS_TOGETHER:
        input = with_layout_of(input, result)
    cut_groups(&args, input, groups)
    weight = of_channels(&args, weight, input, spread, WEIGHT)
    bias = of_channels(&args, bias, input, spread, BIAS)
    args.stage = AG_SETS_WHOLE
    args.in_, args.out = input.ptr, target.ptr
    args.weight, args.bias = address(weight), address(bias)
    args.mean, args.spread = mean.ptr, spread.ptr
    args.eps = eps
    run_sets(FORWARD, &args, input)
    return 0 if target is result else copy_into(result, target, "group_norm")


cdef int group_norm_backward(Tensor to_input, Tensor to_weight, Tensor to_bias, Tensor grad,
                             Tensor input, Py_ssize_t groups, Tensor mean, Tensor spread,
                             Tensor weight) except -1:
    cdef ag_set_args args
    cdef Py_ssize_t channels = input.sizes[1]
    cdef int dt = spread.dt
    if input.count == 0:
        return no_elements(to_weight, to_bias)
    if layout_of(input) != CHANNELS_TOGETHER:
        input = contiguous(input)
    grad = with_layout_of(grad, input)
    mean, spread = dense(mean, dt), dense(spread, dt)
    to_weight, to_bias = wanted(to_weight, channels), wanted(to_bias, channels)
    if wanted(to_input, input.count) is not None:
        cut_groups(&args, input, groups)
        weight = of_channels(&args, weight, input, spread, WEIGHT)
        args.stage = AG_SETS_WHOLE
        args.in_, args.grad = input.ptr, grad.ptr
        args.weight, args.mean, args.spread = address(weight), mean.ptr, spread.ptr
        args.training = True
        into_input(&args, to_input, input)
    if to_weight is None and to_bias is None:
        return 0
    # Gradients of weights are sums over images, each with its own statistics.
    cut_channels(&args, input)
    args.stage = AG_SETS_WHOLE
    args.in_, args.grad = input.ptr, grad.ptr
    args.mean, args.spread = mean.ptr, spread.ptr
    args.by_line = True
    set_divisor(&args.per, channels // groups)
    set_gradients(&args, to_weight, to_bias)
    return run_sets(BACKWARD, &args, input)


cdef const char* CHANNELS = (
    "int (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, bint, double, double)")

KERNELS = {
    "_batch_norm": PyCapsule_New(<void*>batch_norm, CHANNELS, NULL),
    "_batch_norm_fixed": PyCapsule_New(<void*>batch_norm, CHANNELS, NULL),
    "_fused_batch_norm_backward": PyCapsule_New(
        <void*>batch_norm_backward,
        "int (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, bint)", NULL),
    "_native_group_norm": PyCapsule_New(
        <void*>group_norm,
        "int (Tensor, Tensor, Tensor, Tensor, Py_ssize_t, Tensor, Tensor, double)", NULL),
    "_fused_group_norm_backward": PyCapsule_New(
        <void*>group_norm_backward,
        "int (Tensor, Tensor, Tensor, Tensor, Tensor, Py_ssize_t, Tensor, Tensor, Tensor)", NULL),
}
