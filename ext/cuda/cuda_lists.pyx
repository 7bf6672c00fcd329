# cython: language_level=3
# build: plain cold
"""Lists of gradients on CUDA devices: scaling, clipping, their norm.

A list is one launch, with the addresses in its arguments; some 160 tensors fit, more take several.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memset

from autograd_cy._C.cuda_launch cimport kernel_id, launch
from autograd_cy._C.cuda_memory cimport Scratch, scratch
from autograd_cy._C.devices cimport current_stream
from autograd_cy._C.dtypes cimport (
    DTYPES, DT_BF16, DT_F16, DT_F32, DT_F64, dt_is_complex, dt_real)
from autograd_cy._C.iterate cimport cast, contiguous, copy_into
from autograd_cy._C.storage cimport device_index
from autograd_cy._C.tensor cimport F_LAZY, Tensor, tensor_is_dense

cdef extern from "device/step_arguments.h" nogil:
    enum:
        AG_LIST_WORDS
        AG_STEP_THREADS
        AG_STEP_TILE
    ctypedef struct ag_number:
        void* p
        uint64_t dt
    ctypedef struct ag_list_args:
        ag_number factor
        void* found_inf
        double* partial
        double bound
        uint32_t count, bounded
        uint64_t words[480]
    ctypedef struct ag_root_args:
        const double* partial
        void* out
        uint64_t n
        int64_t dt
    ctypedef struct ag_scale_args:
        void* scale
        void* tracker
        const void* found_inf
        double growth, backoff
        int64_t interval

cdef enum:
    SCALE = 0
    SQUARES = 1
    MOST = 160                  # tensors of a launch: AG_LIST_WORDS / 3

include "cuda_types.pxi"

cdef tuple NAMES = ("scale_list", "squares_of_list")
cdef int[2][DTYPES] kernels     # one more than the number, 0: unknown
memset(kernels, 0, sizeof(kernels))
cdef int root_kernel = -1, scale_kernel = -1


cdef int kernel_of_list(int op, int dt) except -1:
    if not kernels[op][dt]:
        kernels[op][dt] = kernel_id("lists", f"{NAMES[op]}_{SUFFIXES[dt]}") + 1
    return kernels[op][dt] - 1


cdef inline Py_ssize_t elements(Tensor t) noexcept:
    """Numbers in memory: two of a complex one."""
    return 2 * t.count if dt_is_complex(t.dt) else t.count


cdef inline Py_ssize_t tiles_of(Tensor t) noexcept:
    return (elements(t) + AG_STEP_TILE - 1) // AG_STEP_TILE


cdef int over_list(int op, list tensors, ag_list_args* args) except -1:
    """Launches over tensors that are dense, not empty, and of one device; each dtype by itself."""
    cdef Tensor t
    cdef Py_ssize_t tiles = 0, begun, n = len(tensors), i
    cdef int dt
    for dt in (DT_F16, DT_BF16, DT_F32, DT_F64):
        i = 0
        while i < n:
            args.count = 0
            begun = tiles
            while i < n and args.count < MOST:
                t = <Tensor>tensors[i]
                i += 1
                if dt_real(t.dt) != dt:
                    continue
                args.words[3 * args.count] = <uint64_t>t.ptr
                args.words[3 * args.count + 1] = elements(t)
                args.words[3 * args.count + 2] = tiles
                args.count += 1
                tiles += tiles_of(t)
            if args.count:
                launch(kernel_of_list(op, dt), device_index(t.mem.device),
                       current_stream(t.mem.device), <unsigned>(tiles - begun), 1, 1,
                       AG_STEP_THREADS, 1, 1, 0, args, sizeof(ag_list_args))
    return 0


cdef int scaled(tuple grads, Tensor found_inf, Tensor number, bint bounded, double bound,
                str name) except -1:
    """Multiply all elements of a list by one factor."""
    cdef ag_list_args args
    cdef Tensor t, u
    cdef list dense = [], copies = []
    for t in grads:
        if t.count == 0:
            continue
        u = t if tensor_is_dense(t) and not t.flags & F_LAZY else contiguous(t)
        if u is not t:
            copies.append((t, u))
        dense.append(u)
    memset(&args, 0, sizeof(args))
    args.factor.p = number.ptr
    args.factor.dt = number.dt == DT_F64
    args.found_inf = NULL if found_inf is None else found_inf.ptr
    args.bounded, args.bound = bounded, bound
    over_list(SCALE, dense, &args)
    for t, u in copies:
        copy_into(t, u, name)
    return 0


cdef int unscale(tuple grads, Tensor found_inf, Tensor inv_scale) except -1:
    return scaled(grads, found_inf, inv_scale, False, 0, "unscale")


cdef int clip(tuple grads, Tensor total_norm, double max_norm) except -1:
    if total_norm.dt != DT_F64:
        total_norm = cast(total_norm, DT_F32)
    return scaled(grads, None, total_norm, True, max_norm, "clip")


cdef int total_norm(Tensor out, tuple tensors) except -1:
    """Sums of the squares of tiles, then their sum: two launches."""
    global root_kernel
    cdef ag_list_args args
    cdef ag_root_args root
    cdef Tensor t, u
    cdef list dense = []
    cdef Py_ssize_t tiles = 0
    cdef int device = out.mem.device
    cdef Scratch partial
    for t in tensors:
        if t.count:
            u = t if tensor_is_dense(t) and not t.flags & F_LAZY else contiguous(t)
            dense.append(u)
            tiles += tiles_of(u)
    partial = scratch(device_index(device), max(tiles, 1) * sizeof(double), current_stream(device))
    memset(&args, 0, sizeof(args))
    args.partial = <double*>partial.data
    over_list(SQUARES, dense, &args)
    root.partial, root.n = <double*>partial.data, tiles
    root.out, root.dt = out.ptr, out.dt
    if root_kernel < 0:
        root_kernel = kernel_id("lists", "root_of_sums")
    return launch(root_kernel, device_index(device), current_stream(device), 1, 1, 1,
                  AG_STEP_THREADS, 1, 1, 0, &root, sizeof(root))


cdef int update_scale(Tensor scale, Tensor growth_tracker, Tensor found_inf, double growth,
                      double backoff, Py_ssize_t interval) except -1:
    global scale_kernel
    cdef ag_scale_args args
    cdef int device = scale.mem.device
    args.scale, args.tracker, args.found_inf = scale.ptr, growth_tracker.ptr, found_inf.ptr
    args.growth, args.backoff, args.interval = growth, backoff, interval
    if scale_kernel < 0:
        scale_kernel = kernel_id("lists", "next_scale")
    return launch(scale_kernel, device_index(device), current_stream(device), 1, 1, 1, 32, 1, 1, 0,
                  &args, sizeof(args))


cdef const char* UPDATE = "int (Tensor, Tensor, Tensor, double, double, Py_ssize_t)"

KERNELS = {
    "_amp_foreach_non_finite_check_and_unscale_": PyCapsule_New(
        <void*>unscale, "int (tuple, Tensor, Tensor)", NULL),
    "_amp_update_scale_": PyCapsule_New(<void*>update_scale, UPDATE, NULL),
    "_foreach_total_norm": PyCapsule_New(<void*>total_norm, "int (Tensor, tuple)", NULL),
    "_foreach_clip_": PyCapsule_New(<void*>clip, "int (tuple, Tensor, double)", NULL),
}
