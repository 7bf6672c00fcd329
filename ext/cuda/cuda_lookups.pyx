# cython: language_level=3
# build: plain cold
"""Losses of classes, bags of embeddings and checks of values on CUDA devices.

Kernels are in ext/cuda/device/lookups.cuh. A bad target, index or value is noted for the next
synchronisation, and left out.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memset

from autograd_cy._C.cuda_calls cimport called
from autograd_cy._C.cuda_launch cimport kernel_id, launch
from autograd_cy._C.cuda_memory cimport Scratch, scratch
from autograd_cy._C.cuda_reduce cimport BLOCKS, quotient_up, set_divisor
from autograd_cy._C.cuda_streams cimport fault_of
from autograd_cy._C.cuda_walks cimport launch_each
from autograd_cy._C.devices cimport current_stream
from autograd_cy._C.dtypes cimport (
    DT_BF16, DT_F16, DT_F32, DT_F64, DT_I64, DT_SIZE)
from autograd_cy._C.faults cimport FAULT_VARIANCE
from autograd_cy._C.halves cimport is_half
from autograd_cy._C.index_values cimport positions
from autograd_cy._C.iterate cimport cast, contiguous, copy_into, fill_with, resolved, to_device
from autograd_cy._C.storage cimport device_index
from autograd_cy._C.tensor cimport Tensor

cdef extern from "device/lookup_arguments.h" nogil:
    enum:
        AG_LOOKUP_THREADS
    ctypedef struct ag_wide_divisor:
        uint64_t size
    ctypedef struct ag_nll_args:
        const void* in_ "in"
        const int64_t* target
        const void* weight
        void* out
        void* total
        const void* grad
        double* partial
        ag_wide_divisor inner
        uint64_t count, parts
        int64_t classes, ignore
        void* fault
        const char* op
        uint32_t reduction
        int32_t dt
    ctypedef struct ag_bag_args:
        const void* in_ "in"
        const void* samples
        void* out
        const int64_t* index
        const int64_t* offsets
        int64_t* bag_of
        int64_t* sizes
        int64_t* places
        int64_t row_stride, column_stride, rows, n, padding
        ag_wide_divisor columns
        uint64_t bags, bounds, width
        void* fault
        const char* op
        uint32_t mode
    ctypedef struct ag_check_args:
        const void* in_ "in"
        uint64_t n
        int64_t low, high, dim
        void* fault
        const char* op
        int32_t kind, dt

cdef enum:
    SHARE = 8              # targets of a thread, before there are more blocks

include "cuda_types.pxi"

cdef dict FLOATS = {dt: SUFFIXES[dt] for dt in (DT_F16, DT_BF16, DT_F32, DT_F64)}
cdef dict losing = {dt: kernel_id("lookups", f"nll_{name}") for dt, name in FLOATS.items()}
cdef dict returning = {
    dt: kernel_id("lookups", f"nll_backward_{name}") for dt, name in FLOATS.items()}
cdef dict bagging = {dt: kernel_id("lookups", f"bag_{name}") for dt, name in FLOATS.items()}
cdef int adding = kernel_id("lookups", "nll_total")
cdef int checking_bags = kernel_id("lookups", "bag_check")
cdef int checking_range = kernel_id("lookups", "check_range")
cdef int checking_signs = kernel_id("lookups", "check_signs")


# --- negative log-likelihood ----------------------------------------------------------------

cdef int set_targets(ag_nll_args* args, Tensor scores, Tensor target, Tensor weight,
                     Py_ssize_t reduction, Py_ssize_t ignore_index) except -1:
    """Set arguments of both directions; `scores` has the input's shape, the others are dense."""
    cdef uint64_t inner = 1
    cdef int d
    memset(args, 0, sizeof(args[0]))
    for d in range(2, scores.nd):
        inner *= scores.sizes[d]
    set_divisor(&args.inner, inner)
    args.target = <const int64_t*>target.ptr
    args.weight = NULL if weight is None else weight.ptr
    args.count = target.count
    args.classes = scores.sizes[0 if scores.nd == 1 else 1]
    args.ignore = ignore_index
    args.reduction = <uint32_t>reduction
    args.dt = scores.dt
    args.fault = <void*>fault_of(device_index(scores.mem.device))
    args.op = called(device_index(scores.mem.device), "nll_loss")
    return 0


cdef int nll_loss(Tensor out, Tensor total_weight, Tensor input, Tensor target, Tensor weight,
                  Py_ssize_t reduction, Py_ssize_t ignore_index) except -1:
    cdef ag_nll_args args
    cdef Scratch partial
    cdef int device = out.mem.device, index = device_index(device)
    cdef uint64_t blocks
    target = contiguous(cast(target, DT_I64))
    weight = contiguous(cast(weight, input.dt)) if weight is not None else None
    input = contiguous(input)
    set_targets(&args, input, target, weight, reduction, ignore_index)
    args.in_, args.out, args.total = input.ptr, out.ptr, total_weight.ptr
    blocks = min(max(quotient_up(args.count, SHARE * AG_LOOKUP_THREADS), 1), BLOCKS)
    if blocks > 1:
        partial = scratch(index, 2 * blocks * sizeof(double), current_stream(device))
        args.partial = <double*>partial.data
    launch(<int>losing[input.dt], index, current_stream(device), <unsigned>blocks, 1, 1,
           AG_LOOKUP_THREADS, 1, 1, 0, &args, sizeof(args))
    if blocks > 1:
        args.parts = blocks
        launch(adding, index, current_stream(device), 1, 1, 1, AG_LOOKUP_THREADS, 1, 1, 0, &args,
               sizeof(args))
    return 0


cdef int nll_loss_backward(Tensor out, Tensor grad, Tensor target, Tensor weight,
                           Tensor total_weight, Py_ssize_t reduction,
                           Py_ssize_t ignore_index) except -1:
    cdef ag_nll_args args
    if out.count == 0:
        return 0
    target = contiguous(cast(target, DT_I64))
    weight = contiguous(cast(weight, out.dt)) if weight is not None else None
    grad = contiguous(cast(grad, out.dt))
    total_weight = contiguous(cast(total_weight, out.dt))
    set_targets(&args, out, target, weight, reduction, ignore_index)
    args.out, args.grad, args.total = out.ptr, grad.ptr, total_weight.ptr
    fill_with(out, 0)
    if args.count == 0:
        return 0
    return launch_each(<int>returning[out.dt], out.mem.device, args.count, &args, sizeof(args))


# --- bags -----------------------------------------------------------------------------------

cdef int embedding_bag(Tensor out, Tensor bag_of, Tensor sizes, Tensor places, Tensor weight,
                       Tensor indices, Tensor offsets, Tensor samples, Py_ssize_t mode,
                       Py_ssize_t padding) except -1:
    cdef ag_bag_args args
    cdef int device = out.mem.device
    indices = positions(to_device(indices, device))
    offsets = positions(to_device(offsets, device))
    weight = resolved(weight)
    if offsets.count == 0 and indices.count:
        raise RuntimeError("embedding_bag: there are indices, but no offsets, so no bags")
    memset(&args, 0, sizeof(args))
    args.in_, args.out = weight.ptr, out.ptr
    args.row_stride = weight.strides[0] * DT_SIZE[weight.dt]
    args.column_stride = weight.strides[1] * DT_SIZE[weight.dt]
    args.index, args.offsets = <const int64_t*>indices.ptr, <const int64_t*>offsets.ptr
    args.bag_of, args.sizes = <int64_t*>bag_of.ptr, <int64_t*>sizes.ptr
    args.places = <int64_t*>places.ptr
    args.rows, args.n, args.padding = weight.sizes[0], indices.count, padding
    args.bags, args.bounds, args.width = sizes.count, offsets.count, weight.sizes[1]
    args.mode = <uint32_t>mode
    args.fault = <void*>fault_of(device_index(device))
    args.op = called(device_index(device), "embedding_bag")
    set_divisor(&args.columns, max(args.width, 1))
    if samples is not None:
        samples = contiguous(cast(samples, DT_F32 if is_half(out.dt) else out.dt))
        args.samples = samples.ptr
    if args.bounds:
        launch_each(checking_bags, device, args.bounds, &args, sizeof(args))
    if args.bags == 0:
        return 0
    return launch_each(<int>bagging[out.dt], device, args.bags * args.columns.size, &args,
                       sizeof(args))


# --- checks ---------------------------------------------------------------------------------

cdef int checked_values(Tensor out, Tensor a, Py_ssize_t low, Py_ssize_t high,
                        Py_ssize_t fault) except -1:
    cdef ag_check_args args
    cdef Tensor t = a
    cdef int device = out.mem.device
    cdef bint signs = fault == FAULT_VARIANCE
    cdef Py_ssize_t dim = (fault >> 8) - 1 if fault >> 8 else a.count
    if a.count:
        if signs:
            if a.dt != DT_F32:
                t = cast(a, DT_F64)
            t = contiguous(t)
        else:
            t = positions(a)
        memset(&args, 0, sizeof(args))
        args.in_, args.n, args.dt = t.ptr, t.count, t.dt
        args.low, args.high, args.dim = low, high, dim
        args.kind = <int32_t>(fault & 255)
        args.fault = <void*>fault_of(device_index(device))
        args.op = called(device_index(device), "checked_values")
        launch_each(checking_signs if signs else checking_range, device, args.n, &args,
                    sizeof(args))
    return copy_into(out, a, "checked_values")


# --- the column of the device -----------------------------------------------------------------

KERNELS = {
    "nll_loss_forward": PyCapsule_New(
        <void*>nll_loss, "int (Tensor, Tensor, Tensor, Tensor, Tensor, Py_ssize_t, Py_ssize_t)",
        NULL),
    "nll_loss_backward": PyCapsule_New(
        <void*>nll_loss_backward,
        "int (Tensor, Tensor, Tensor, Tensor, Tensor, Py_ssize_t, Py_ssize_t)", NULL),
    "_embedding_bag": PyCapsule_New(
        <void*>embedding_bag,
        "int (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Py_ssize_t, "
        "Py_ssize_t)", NULL),
    "_checked_values": PyCapsule_New(
        <void*>checked_values, "int (Tensor, Tensor, Py_ssize_t, Py_ssize_t, Py_ssize_t)", NULL),
}
