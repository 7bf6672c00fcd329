# cython: language_level=3
# build: plain cold
"""Pooling on CUDA devices, forward and backward, over one to three dimensions.

Kernels are in device/pooling.cuh; tensors are read and written as they lie. Averages of whole
images are sums of the reductions.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memset

from autograd_cy._C.cuda_launch cimport blocks_for, kernel_id, launch
from autograd_cy._C.cuda_memory cimport dense_like
from autograd_cy._C.cuda_reduce cimport OP_SUM, reduce, set_divisor
from autograd_cy._C.devices cimport current_stream
from autograd_cy._C.dtypes cimport DTYPES, DT_I64, DT_SIZE
from autograd_cy._C.iterate cimport cast, contiguous, copy_into, zeros_on
from autograd_cy._C.storage cimport device_index
from autograd_cy._C.tensor cimport F_STRIDED, MAX_DIMS, Tensor, tensor_empty_like

__all__ = ["KERNELS"]

cdef extern from "device/pool_arguments.h" nogil:
    ctypedef struct ag_wide_divisor:
        uint64_t size
    ctypedef struct ag_pool_places:
        int64_t image, channel
        int64_t stride[3]
    ctypedef struct ag_pool_args:
        void* out
        const void* in_ "in"
        int64_t* index
        const int64_t* indices
        ag_pool_places large, small, places
        ag_wide_divisor area, channels, rows, columns
        ag_wide_divisor by_step[3]
        ag_wide_divisor by_size[3]
        ag_wide_divisor by_count[3]
        int64_t size[3]
        int64_t count[3]
        int64_t k[3]
        int64_t s[3]
        int64_t p[3]
        int64_t e[3]
        int64_t divisor
        uint64_t n
        uint32_t adaptive, with_pad, channels_inner

cdef enum:
    THREADS = 256

    MAX = 0                # places in NAMES
    MAX_BACKWARD = 1
    AVG = 2
    AVG_BACKWARD = 3

include "cuda_types.pxi"

cdef tuple NAMES = ("max_pool", "max_pool_backward", "avg_pool", "avg_pool_backward")
cdef int[4][DTYPES] kernels      # one more than the number, 0: unknown
memset(kernels, 0, sizeof(kernels))


cdef int kernel_of_pool(int op, int dt) except -1:
    if not kernels[op][dt]:
        kernels[op][dt] = kernel_id("pooling", f"{NAMES[op]}_{SUFFIXES[dt]}") + 1
    return kernels[op][dt] - 1


# --- windows --------------------------------------------------------------------------------

cdef bint has_planes(Tensor t, int rank) noexcept:
    """Tell if there are few enough dimensions before those of planes, or they are dense."""
    return t.nd - rank <= 2 or not t.flags & F_STRIDED


cdef Tensor planes(Tensor t, int rank):
    return t if has_planes(t, rank) else contiguous(t)


cdef void set_places(ag_pool_places* p, Tensor t, int rank) noexcept:
    """Strides of images and channels; more dimensions are dense and count as channels."""
    cdef Py_ssize_t item = DT_SIZE[t.dt], lead = t.nd - rank
    cdef int d
    p.image = t.strides[lead - 2] * item if lead == 2 else 0
    p.channel = t.strides[lead - 1] * item if lead > 0 else 0
    for d in range(3):
        p.stride[d] = t.strides[t.nd - 3 + d] * item if d >= 3 - rank else 0


cdef int begin_pool(ag_pool_args* args, Tensor large, Tensor small, int rank, bint back) except -1:
    """Windows of one element in all of three dimensions."""
    cdef Tensor own = large if back else small
    cdef Py_ssize_t channels = 1, lead = own.nd - rank
    cdef int d
    memset(args, 0, sizeof(ag_pool_args))
    for d in range(3):
        args.size[d] = large.sizes[large.nd - 3 + d] if d >= 3 - rank else 1
        args.count[d] = small.sizes[small.nd - 3 + d] if d >= 3 - rank else 1
        args.k[d] = args.s[d] = args.e[d] = 1
    for d in range(1 if lead == 2 else 0, <int>lead):
        channels *= own.sizes[d]
    set_places(&args.large, large, rank)
    set_places(&args.small, small, rank)
    set_divisor(&args.channels, channels)
    args.n = own.count
    args.channels_inner = lead == 2 and own.strides[1] == 1 and channels > 1
    return 0


cdef int regular(ag_pool_args* args, tuple kernel, tuple stride, tuple padding,
                 tuple dilation) except -1:
    cdef int d, n = <int>len(kernel), at
    for d in range(n):
        at = 3 - n + d
        args.k[at], args.p[at] = kernel[d], padding[d]
        # Steps that nothing takes may be of any length.
        if args.count[at] > 1:
            args.s[at] = stride[d]
        if dilation is not None and args.k[at] > 1:
            args.e[at] = dilation[d]
    return 0


cdef int divide_windows(ag_pool_args* args) noexcept:
    """Nearly equal parts; those that are equal are windows of one kernel."""
    cdef int d
    for d in range(3):
        if args.size[d] % args.count[d]:
            args.adaptive = True
        args.k[d] = args.s[d] = args.size[d] // args.count[d]
    return 0


cdef int run_pool(int op, ag_pool_args* args, Tensor out, Tensor a) except -1:
    cdef bint back = op == MAX_BACKWARD or op == AVG_BACKWARD
    cdef const int64_t* own = &args.size[0] if back else &args.count[0]
    cdef int index = device_index(out.mem.device), d
    for d in range(3):
        set_divisor(&args.by_step[d], max(args.s[d], <int64_t>1))
        set_divisor(&args.by_size[d], max(args.size[d], <int64_t>1))
        set_divisor(&args.by_count[d], max(args.count[d], <int64_t>1))
    set_divisor(&args.area, own[0] * own[1] * own[2])
    set_divisor(&args.rows, own[1])
    set_divisor(&args.columns, own[2])
    args.out, args.in_ = out.ptr, a.ptr
    return launch(kernel_of_pool(op, out.dt), index, current_stream(out.mem.device),
                  blocks_for(index, <Py_ssize_t>args.n, THREADS), 1, 1, THREADS, 1, 1, 0, args,
                  sizeof(ag_pool_args))


# --- largest elements -----------------------------------------------------------------------

cdef int largest(Tensor result, Tensor indices, Tensor a, int rank, tuple kernel, tuple stride,
                 tuple padding, tuple dilation) except -1:
    """Without a kernel windows are nearly equal parts; without indices there are values alone."""
    cdef ag_pool_args args
    cdef Tensor values = result, at = indices
    if result.count == 0:
        return 0
    a = planes(a, rank)
    if not has_planes(result, rank):
        values = dense_like(result)
    if indices is not None and not has_planes(indices, rank):
        at = dense_like(indices)
    begin_pool(&args, a, values, rank, False)
    if at is not None:
        set_places(&args.places, at, rank)
        args.index = <int64_t*>at.ptr
    if kernel is None:
        divide_windows(&args)
    else:
        regular(&args, kernel, stride, padding, dilation)
    run_pool(MAX, &args, values, a)
    if at is not indices:
        copy_into(indices, at, "max_pool")
    return 0 if values is result else copy_into(result, values, "max_pool")


cdef int max_pool(Tensor result, Tensor indices, Tensor a, tuple kernel, tuple stride,
                  tuple padding, tuple dilation, bint ceil_mode) except -1:
    return largest(result, indices, a, <int>len(kernel), kernel, stride, padding, dilation)


cdef int max_values(Tensor result, Tensor a, tuple kernel, tuple stride, tuple padding,
                    tuple dilation, bint ceil_mode) except -1:
    return largest(result, None, a, <int>len(kernel), kernel, stride, padding, dilation)


cdef int adaptive_max_pool(Tensor result, Tensor indices, Tensor a, tuple size) except -1:
    return largest(result, indices, a, <int>len(size), None, None, None, None)


cdef int zeros_into(Tensor out) except -1:
    return copy_into(out, zeros_on(out.mem.device, out.dt, out.nd, out.sizes), "pool")


cdef int max_pool_backward(Tensor out, Tensor grad, Tensor indices, tuple size, Py_ssize_t n,
                           tuple kernel, tuple stride, tuple padding, tuple dilation) except -1:
    cdef ag_pool_args args
    cdef Tensor target = out
    cdef int rank = <int>n
    if out.count == 0:
        return 0
    if grad.count == 0:
        return zeros_into(out)
    grad, indices = planes(cast(grad, out.dt), rank), planes(indices, rank)
    if not has_planes(out, rank):
        target = dense_like(out)
    begin_pool(&args, target, grad, rank, True)
    set_places(&args.places, indices, rank)
    args.indices = <const int64_t*>indices.ptr
    if len(kernel) == 0:
        divide_windows(&args)
    else:
        regular(&args, kernel, stride, padding, dilation)
    run_pool(MAX_BACKWARD, &args, target, grad)
    return 0 if target is out else copy_into(out, target, "max_pool")


# --- averages -------------------------------------------------------------------------------

cdef int averages(Tensor out, Tensor a, int rank, tuple kernel, tuple stride, tuple padding,
                  bint with_pad, object divisor, bint back) except -1:
    """Without a kernel windows are nearly equal parts. With `back`, out has windows, not `a`."""
    cdef ag_pool_args args
    cdef Tensor target = out
    if not back and a.dt < DT_I64:
        target = tensor_empty_like(out, DT_I64)
        averages(target, cast(a, DT_I64), rank, kernel, stride, padding, with_pad, divisor, False)
        return copy_into(out, target, "avg_pool")
    a = planes(cast(a, out.dt), rank)
    if not has_planes(out, rank):
        target = dense_like(out)
    if back:
        begin_pool(&args, target, a, rank, True)
    else:
        begin_pool(&args, a, target, rank, False)
    if kernel is None:
        divide_windows(&args)
    else:
        regular(&args, kernel, stride, padding, None)
    args.with_pad = with_pad
    args.divisor = 0 if divisor is None else divisor
    run_pool(AVG_BACKWARD if back else AVG, &args, target, a)
    return 0 if target is out else copy_into(out, target, "avg_pool")


cdef int avg_pool(Tensor out, Tensor a, tuple kernel, tuple stride, tuple padding, bint ceil_mode,
                  bint count_include_pad, object divisor) except -1:
    if out.count == 0:
        return 0
    return averages(out, a, <int>len(kernel), kernel, stride, padding, count_include_pad, divisor,
                    False)


cdef int avg_pool_backward(Tensor out, Tensor grad, tuple size, tuple kernel, tuple stride,
                           tuple padding, bint ceil_mode, bint count_include_pad,
                           object divisor) except -1:
    if out.count == 0:
        return 0
    if grad.count == 0:
        return zeros_into(out)
    return averages(out, grad, <int>len(kernel), kernel, stride, padding, count_include_pad,
                    divisor, True)


cdef int adaptive_avg_pool(Tensor out, Tensor a, tuple size) except -1:
    cdef char[MAX_DIMS + 1] mask
    cdef int d, rank = <int>len(size)
    cdef Py_ssize_t inside = 1, outside = 1
    if out.count == 0:
        return 0
    for d in range(a.nd):
        mask[d] = d >= a.nd - rank
        if mask[d]:
            inside *= a.sizes[d]
            outside *= out.sizes[d]
    if outside == 1:
        return reduce(OP_SUM, a, mask, out, None, 1.0 / inside, 0, False)
    return averages(out, a, rank, None, None, None, False, None, False)


cdef int adaptive_avg_pool_backward(Tensor out, Tensor grad, tuple size,
                                    tuple output_size) except -1:
    if out.count == 0:
        return 0
    if grad.count == 0:
        return zeros_into(out)
    return averages(out, grad, <int>len(output_size), None, None, None, False, None, True)


KERNELS = {
    "_max_pool": PyCapsule_New(
        <void*>max_pool, "int (Tensor, Tensor, Tensor, tuple, tuple, tuple, tuple, bint)", NULL),
    "_max_pool_values": PyCapsule_New(
        <void*>max_values, "int (Tensor, Tensor, tuple, tuple, tuple, tuple, bint)", NULL),
    "_max_pool_backward": PyCapsule_New(
        <void*>max_pool_backward,
        "int (Tensor, Tensor, Tensor, tuple, Py_ssize_t, tuple, tuple, tuple, tuple)", NULL),
    "_avg_pool": PyCapsule_New(
        <void*>avg_pool, "int (Tensor, Tensor, tuple, tuple, tuple, bint, bint, object)", NULL),
    "_avg_pool_backward": PyCapsule_New(
        <void*>avg_pool_backward,
        "int (Tensor, Tensor, tuple, tuple, tuple, tuple, bint, bint, object)", NULL),
    "_adaptive_max_pool": PyCapsule_New(
        <void*>adaptive_max_pool, "int (Tensor, Tensor, Tensor, tuple)", NULL),
    "_adaptive_avg_pool": PyCapsule_New(
        <void*>adaptive_avg_pool, "int (Tensor, Tensor, tuple)", NULL),
    "_adaptive_avg_pool_backward": PyCapsule_New(
        <void*>adaptive_avg_pool_backward, "int (Tensor, Tensor, tuple, tuple)", NULL),
}
