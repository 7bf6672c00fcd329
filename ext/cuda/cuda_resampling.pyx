# cython: language_level=3
# build: plain cold
"""Interpolation and filters along a dimension on CUDA devices, and their gradients.

Kernels are in device/resample.cuh; images are read and written as they lie. Integers are computed
in float32, as on the CPU.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memset

from autograd_cy._C.cuda_launch cimport blocks_for, kernel_id, launch
from autograd_cy._C.cuda_memory cimport dense_like
from autograd_cy._C.cuda_reduce cimport set_divisor
from autograd_cy._C.devices cimport current_stream
from autograd_cy._C.dtypes cimport DTYPES, DT_F16, DT_F32, DT_F64, DT_SIZE
from autograd_cy._C.iterate cimport cast, contiguous, copy_into, zeros_on
from autograd_cy._C.resample_loops cimport CUBIC, LINEAR, NEAREST, NEAREST_EXACT
from autograd_cy._C.storage cimport device_index
from autograd_cy._C.tensor cimport F_STRIDED, Tensor, tensor_empty_like

__all__ = ["KERNELS"]

cdef extern from "device/resample_arguments.h" nogil:
    ctypedef struct ag_wide_divisor:
        uint64_t size
    ctypedef struct ag_pool_places:
        int64_t image, channel
        int64_t stride[3]
    ctypedef struct ag_resample_args:
        void* out
        const void* in_ "in"
        ag_pool_places from_ "from"
        ag_pool_places to_places
        ag_wide_divisor area, channels, rows, columns
        int64_t size[3]
        int64_t to[3]
        double step[3]
        uint64_t n
        uint32_t missing, align, exact, channels_inner
    ctypedef struct ag_filter_args:
        void* out
        const void* in_ "in"
        const void* weight
        const int64_t* bounds
        ag_wide_divisor inner, own
        int64_t size, to, taps
        uint64_t n
        uint32_t bits

cdef enum:
    THREADS = 256

include "cuda_types.pxi"

cdef tuple NAMES = ("nearest", "linear", "cubic", "nearest_backward", "linear_backward",
                    "cubic_backward", "filter", "filter_backward")
cdef int[8][DTYPES] kernels      # one more than the number, 0: unknown
memset(kernels, 0, sizeof(kernels))

cdef enum:                 # places in NAMES
    BACKWARD = 3           # from a kernel of interpolation on
    FILTER = 6
    FILTER_BACKWARD = 7


cdef int kernel_of(int op, int dt) except -1:
    if not kernels[op][dt]:
        kernels[op][dt] = kernel_id("resample", f"{NAMES[op]}_{SUFFIXES[dt]}") + 1
    return kernels[op][dt] - 1


# --- interpolation --------------------------------------------------------------------------

cdef bint has_planes(Tensor t, int rank) noexcept:
    """Tell if there are few enough dimensions before those of planes, or they are dense."""
    return t.nd - rank <= 2 or not t.flags & F_STRIDED


cdef void set_places(ag_pool_places* p, Tensor t, int rank) noexcept:
    """Strides of images and channels; more dimensions are dense and count as channels."""
    cdef Py_ssize_t item = DT_SIZE[t.dt], lead = t.nd - rank
    cdef int d
    p.image = t.strides[lead - 2] * item if lead == 2 else 0
    p.channel = t.strides[lead - 1] * item if lead > 0 else 0
    for d in range(3):
        p.stride[d] = t.strides[t.nd - 3 + d] * item if d >= 3 - rank else 0


cdef double step_of(int mode, bint align, double scale, Py_ssize_t size, Py_ssize_t to,
                    int dt) noexcept:
    """From one element of the result to the next, in elements of the input, as rounded as on the
    CPU."""
    if dt == DT_F64 and mode > NEAREST_EXACT:
        if align:
            return <double>(size - 1) / <double>(to - 1) if to > 1 else 0
        return 1.0 / scale if scale > 0 else <double>size / <double>to
    if align and mode > NEAREST_EXACT:
        return <float>(size - 1) / <float>(to - 1) if to > 1 else 0
    return <float>(1.0 / scale) if scale > 0 else <float>size / <float>to


cdef int interpolate(Tensor out, Tensor a, int rank, double scale_d, double scale_h,
                     double scale_w, Py_ssize_t mode, bint align, bint back) except -1:
    """With `back`, out has the shape of the input, and `a` that of the result."""
    cdef ag_resample_args args
    cdef Tensor small = out if back else a, large = a if back else out, target = out
    cdef Py_ssize_t channels = 1, lead = out.nd - rank
    cdef double[3] scale
    cdef int d, kernel, index = device_index(out.mem.device)
    # Elements that stay where they are keep their gradients, even beside infinite ones.
    cdef bint same = back and mode == CUBIC
    for d in range(<int>lead, out.nd):
        same = same and small.sizes[d] == large.sizes[d]
    if same and (align or scale_d <= 0 and scale_h <= 0 and scale_w <= 0):
        mode = NEAREST
    if not has_planes(out, rank):
        target = dense_like(out)
    a = cast(a, out.dt)
    if not has_planes(a, rank):
        a = contiguous(a)
    memset(&args, 0, sizeof(args))
    scale[0], scale[1], scale[2] = scale_d, scale_h, scale_w
    for d in range(3):
        args.size[d] = small.sizes[small.nd - 3 + d] if d >= 3 - rank else 1
        args.to[d] = large.sizes[large.nd - 3 + d] if d >= 3 - rank else 1
        # Images of the same size stay as they are, as in torch.
        if d < 3 - rank or rank == 2 and (mode == NEAREST or mode == LINEAR) and (
                args.size[d] == args.to[d]):
            scale[d] = 0
        args.step[d] = step_of(<int>mode, align, scale[d], args.size[d], args.to[d], out.dt)
    for d in range(1 if lead == 2 else 0, <int>lead):
        channels *= out.sizes[d]
    set_places(&args.from_, a, rank)
    set_places(&args.to_places, target, rank)
    set_divisor(&args.channels, channels)
    args.channels_inner = lead == 2 and target.strides[1] == 1 and channels > 1
    set_divisor(&args.columns, args.size[2] if back else args.to[2])
    set_divisor(&args.rows, args.size[1] if back else args.to[1])
    set_divisor(&args.area, args.size[0] * args.size[1] * args.size[2] if back
                else args.to[0] * args.to[1] * args.to[2])
    args.n = out.count
    args.missing = 3 - rank
    args.align, args.exact = align, mode == NEAREST_EXACT
    args.out, args.in_ = target.ptr, a.ptr
    kernel = (0 if mode <= NEAREST_EXACT else 1 if mode == LINEAR else 2) + BACKWARD * back
    launch(kernel_of(kernel, out.dt), index, current_stream(out.mem.device),
           blocks_for(index, out.count, THREADS), 1, 1, THREADS, 1, 1, 0, &args, sizeof(args))
    return 0 if target is out else copy_into(out, target, "interpolate")


cdef int resample(Tensor out, Tensor a, tuple size, double scale_d, double scale_h, double scale_w,
                  Py_ssize_t mode, bint align) except -1:
    cdef Tensor wide
    if out.count == 0:
        return 0
    if a.dt < DT_F16:
        wide = tensor_empty_like(out, DT_F32)
        resample(wide, cast(a, DT_F32), size, scale_d, scale_h, scale_w, mode, align)
        return copy_into(out, wide, "interpolate")
    return interpolate(out, a, <int>len(size), scale_d, scale_h, scale_w, mode, align, False)


cdef int resample_backward(Tensor out, Tensor grad, tuple size, tuple to, double scale_d,
                           double scale_h, double scale_w, Py_ssize_t mode, bint align) except -1:
    if out.count == 0:
        return 0
    if grad.count == 0:
        return copy_into(out, zeros_on(out.mem.device, out.dt, out.nd, out.sizes), "interpolate")
    return interpolate(out, grad, <int>len(to), scale_d, scale_h, scale_w, mode, align, True)


# --- filters --------------------------------------------------------------------------------

cdef int filter_planes(Tensor out, Tensor a, Tensor bounds, Tensor weight, Py_ssize_t behind,
                       int bits, bint back) except -1:
    cdef ag_filter_args args
    cdef Tensor target = out
    cdef Py_ssize_t inner = 1
    cdef int d, dim = out.nd - 1 - <int>behind, index = device_index(out.mem.device)
    if out.count == 0:
        return 0
    if out.flags & F_STRIDED:
        target = dense_like(out)
    a, bounds, weight = contiguous(a), contiguous(bounds), contiguous(weight)
    memset(&args, 0, sizeof(args))
    for d in range(dim + 1, out.nd):
        inner *= out.sizes[d]
    args.size = (out if back else a).sizes[dim]
    args.to = bounds.sizes[0]
    args.taps = weight.sizes[1]
    args.bits = bits
    args.n = out.count
    args.out, args.in_, args.weight = target.ptr, a.ptr, weight.ptr
    args.bounds = <const int64_t*>bounds.ptr
    set_divisor(&args.inner, inner)
    set_divisor(&args.own, out.sizes[dim])
    launch(kernel_of(FILTER_BACKWARD if back else FILTER, out.dt), index,
           current_stream(out.mem.device), blocks_for(index, out.count, THREADS), 1, 1, THREADS, 1,
           1, 0, &args, sizeof(args))
    return 0 if target is out else copy_into(out, target, "interpolate")


cdef int filtered(Tensor out, Tensor a, Tensor bounds, Tensor weight,
                  Py_ssize_t behind) except -1:
    return filter_planes(out, a, bounds, weight, behind, 0, False)


cdef int filtered_backward(Tensor out, Tensor grad, Tensor bounds, Tensor weight,
                           Py_ssize_t behind, Py_ssize_t size) except -1:
    return filter_planes(out, grad, bounds, weight, behind, 0, True)


cdef int filtered_bytes(Tensor out, Tensor a, Tensor bounds, Tensor weight, Py_ssize_t behind,
                        Py_ssize_t bits) except -1:
    return filter_planes(out, a, bounds, weight, behind, <int>bits, False)


KERNELS = {
    "_resample": PyCapsule_New(
        <void*>resample, "int (Tensor, Tensor, tuple, double, double, double, Py_ssize_t, bint)",
        NULL),
    "_resample_backward": PyCapsule_New(
        <void*>resample_backward,
        "int (Tensor, Tensor, tuple, tuple, double, double, double, Py_ssize_t, bint)", NULL),
    "_filter": PyCapsule_New(
        <void*>filtered, "int (Tensor, Tensor, Tensor, Tensor, Py_ssize_t)", NULL),
    "_filter_backward": PyCapsule_New(
        <void*>filtered_backward, "int (Tensor, Tensor, Tensor, Tensor, Py_ssize_t, Py_ssize_t)",
        NULL),
    "_filter_bytes": PyCapsule_New(
        <void*>filtered_bytes, "int (Tensor, Tensor, Tensor, Tensor, Py_ssize_t, Py_ssize_t)",
        NULL),
}
