# cython: language_level=3
# build: plain cold
"""Images at the points of a grid on CUDA devices, and the gradients of both.

Kernels are in device/grid.cuh. For the gradient of images the elements around all points are sorted
(cuda_sort.pyx), as many examples at a time as fit into memory, and gathered.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memset

from autograd_cy._C.cuda_launch cimport blocks_for, kernel_id, launch
from autograd_cy._C.cuda_memory cimport Scratch, dense_like, scratch
from autograd_cy._C.cuda_reduce cimport quotient_up, set_divisor
from autograd_cy._C.cuda_sort cimport SortedPairs, bits_below, pairs_of, sort_pairs
from autograd_cy._C.devices cimport current_stream, stream_t
from autograd_cy._C.dtypes cimport DTYPES, DT_F64, DT_SIZE
from autograd_cy._C.grid_loops cimport BILINEAR, NEAREST
from autograd_cy._C.iterate cimport cast, contiguous, copy_into, zeros_on
from autograd_cy._C.storage cimport device_index
from autograd_cy._C.tensor cimport F_STRIDED, Tensor

__all__ = ["KERNELS"]

cdef extern from "device/grid_arguments.h" nogil:
    ctypedef struct ag_wide_divisor:
        uint64_t size
    ctypedef struct ag_pool_places:
        int64_t image, channel
        int64_t stride[3]
    ctypedef struct ag_grid_args:
        void* out
        const void* image
        const void* grad
        const void* grid
        ag_pool_places places
        ag_wide_divisor points, chunks
        int64_t size[3]
        uint64_t n, channels, examples
        uint32_t rank, padding, align
    ctypedef struct ag_grid_keys_args:
        ag_grid_args grid
        void* keys
        void* weights
        uint64_t none
        uint32_t wide_keys
    ctypedef struct ag_grid_gather_args:
        ag_grid_args grid
        const void* keys
        const void* places
        const void* weights
        uint64_t pairs
        ag_wide_divisor corners, rows, columns, plane
        uint32_t wide_keys, wide_places

cdef enum:
    THREADS = 256
    CHANNELS = 8               # AG_GRID_CHANNELS

cdef Py_ssize_t most_pairs = 1 << 24      # elements around points that are sorted at a time


def _set_most_pairs(Py_ssize_t n):
    """Let fewer be sorted at a time, so that a test needs no large images; gives what it was."""
    global most_pairs
    before, most_pairs = most_pairs, n
    return before


include "cuda_types.pxi"

cdef tuple NAMES = ("grid_sample", "grid_points", "grid_keys", "grid_gather")
cdef tuple MODES = ("linear", "nearest", "cubic")
cdef int[4][3][DTYPES] kernels      # one more than the number, 0: unknown
memset(kernels, 0, sizeof(kernels))

cdef enum:                          # places in NAMES
    SAMPLE = 0
    POINTS = 1
    KEYS = 2
    GATHER = 3


cdef int grid_kernel(int op, Py_ssize_t mode, int dt) except -1:
    cdef str how = "" if op == GATHER else f"_{MODES[mode]}"
    if not kernels[op][mode][dt]:
        kernels[op][mode][dt] = kernel_id("grid", f"{NAMES[op]}{how}_{SUFFIXES[dt]}") + 1
    return kernels[op][mode][dt] - 1


cdef int launch_grid(int op, Py_ssize_t mode, int dt, int device, uint64_t n, const void* args,
                     Py_ssize_t nbytes) except -1:
    cdef int index = device_index(device)
    return launch(grid_kernel(op, mode, dt), index, current_stream(device),
                  blocks_for(index, <Py_ssize_t>n, THREADS), 1, 1, THREADS, 1, 1, 0, args, nbytes)


# --- examples -------------------------------------------------------------------------------

cdef Tensor as_examples(Tensor t, int lead):
    """A tensor that one dimension, or none, leads through the examples of."""
    return contiguous(t) if lead != 1 and t.flags & F_STRIDED else t


cdef int begin_grid(ag_grid_args* args, Tensor image, Tensor grid, Py_ssize_t padding,
                    bint align) except -1:
    """`image` is as as_examples() gives it, and `grid` dense."""
    cdef int rank = <int>grid.sizes[grid.nd - 1], lead = grid.nd - 1 - rank, d, at
    cdef Py_ssize_t item = DT_SIZE[image.dt], points = 1, inside = 1
    memset(args, 0, sizeof(ag_grid_args))
    args.examples = 1
    for d in range(lead):
        args.examples *= grid.sizes[d]
    for d in range(3):
        args.size[d] = 1
    for d in range(rank):
        at = 3 - rank + d
        args.size[at] = image.sizes[lead + 1 + d]
        args.places.stride[at] = image.strides[lead + 1 + d] * item
        points *= grid.sizes[lead + d]
        inside *= args.size[at]
    args.channels = image.sizes[lead]
    args.places.channel = image.strides[lead] * item
    args.places.image = (image.strides[0] if lead == 1 else image.sizes[lead] * inside) * item
    set_divisor(&args.points, points)
    set_divisor(&args.chunks, quotient_up(args.channels, CHANNELS))
    args.rank, args.padding, args.align = rank, <uint32_t>padding, align
    args.grid = grid.ptr
    return 0


cdef inline int lead_of(Tensor grid) noexcept:
    return grid.nd - 1 - <int>grid.sizes[grid.nd - 1]


# --- the operators --------------------------------------------------------------------------

cdef int grid_sample(Tensor out, Tensor image, Tensor grid, Py_ssize_t mode, Py_ssize_t padding,
                     bint align) except -1:
    cdef ag_grid_args args
    cdef Tensor target = dense_like(out) if out.flags & F_STRIDED else out
    if out.count == 0:
        return 0
    image = as_examples(cast(image, out.dt), lead_of(grid))
    grid = contiguous(cast(grid, out.dt))
    begin_grid(&args, image, grid, padding, align)
    args.image, args.out = image.ptr, target.ptr
    args.n = args.examples * args.chunks.size * args.points.size
    launch_grid(SAMPLE, mode, out.dt, out.mem.device, args.n, &args, sizeof(args))
    return 0 if target is out else copy_into(out, target, "grid_sample")


cdef int grid_sample_grid(Tensor out, Tensor grad, Tensor image, Tensor grid, Py_ssize_t mode,
                          Py_ssize_t padding, bint align) except -1:
    cdef ag_grid_args args
    cdef Tensor target = dense_like(out) if out.flags & F_STRIDED else out
    if out.count == 0:
        return 0
    if mode == NEAREST or image.count == 0:
        return copy_into(out, zeros_on(out.mem.device, out.dt, out.nd, out.sizes), "grid_sample")
    image = as_examples(cast(image, out.dt), lead_of(grid))
    grid, grad = contiguous(cast(grid, out.dt)), contiguous(cast(grad, out.dt))
    begin_grid(&args, image, grid, padding, align)
    args.image, args.grad, args.out = image.ptr, grad.ptr, target.ptr
    args.n = args.examples * args.points.size
    launch_grid(POINTS, mode, out.dt, out.mem.device, args.n, &args, sizeof(args))
    return 0 if target is out else copy_into(out, target, "grid_sample")


cdef int grid_sample_input(Tensor out, Tensor grad, Tensor grid, tuple size, Py_ssize_t mode,
                           Py_ssize_t padding, bint align) except -1:
    cdef ag_grid_args args
    cdef Tensor target = out
    cdef Py_ssize_t corners, rank = grid.sizes[grid.nd - 1], item = DT_SIZE[out.dt]
    cdef uint64_t first, examples, some
    if out.count == 0:
        return 0
    if grad.count == 0:
        return copy_into(out, zeros_on(out.mem.device, out.dt, out.nd, out.sizes), "grid_sample")
    if lead_of(grid) != 1 and out.flags & F_STRIDED:
        target = dense_like(out)
    grid, grad = contiguous(cast(grid, out.dt)), contiguous(cast(grad, out.dt))
    begin_grid(&args, target, grid, padding, align)
    corners = 1
    for _ in range(rank):
        corners *= 1 if mode == NEAREST else 2 if mode == BILINEAR else 4
    examples = args.examples
    some = max(<uint64_t>most_pairs // (args.points.size * corners), <uint64_t>1)
    for first in range(0, examples, some):
        args.examples = min(some, examples - first)
        args.out = target.ptr + <Py_ssize_t>first * args.places.image
        args.grad = grad.ptr + first * args.channels * args.points.size * item
        args.grid = grid.ptr + first * args.points.size * rank * item
        gather_images(&args, mode, out.dt, out.mem.device, corners)
    return 0 if target is out else copy_into(out, target, "grid_sample")


cdef int gather_images(const ag_grid_args* args, Py_ssize_t mode, int dt, int device,
                       Py_ssize_t corners) except -1:
    """The gradient of some images."""
    cdef ag_grid_keys_args keys
    cdef ag_grid_gather_args sums
    cdef int index = device_index(device)
    cdef stream_t stream = current_stream(device)
    cdef uint64_t plane = args.size[0] * args.size[1] * args.size[2]
    cdef uint64_t pairs = args.examples * args.points.size * corners, none = args.examples * plane
    cdef SortedPairs sorted_pairs = pairs_of(index, pairs, 4 if none < 0xFFFFFFFF else 8, stream)
    cdef Scratch weights = scratch(index, pairs * (8 if dt == DT_F64 else 4), stream)
    memset(&keys, 0, sizeof(keys))
    keys.grid = args[0]
    keys.grid.n = args.examples * args.points.size
    keys.keys, keys.weights, keys.none = sorted_pairs.keys, weights.data, none
    keys.wide_keys = sorted_pairs.key_size == 8
    launch_grid(KEYS, mode, dt, device, keys.grid.n, &keys, sizeof(keys))
    sort_pairs(sorted_pairs, 0, bits_below(none + 1))
    memset(&sums, 0, sizeof(sums))
    sums.grid = args[0]
    sums.keys, sums.places, sums.weights = sorted_pairs.keys, sorted_pairs.places, weights.data
    sums.wide_keys = keys.wide_keys
    sums.wide_places = sorted_pairs.far
    sums.pairs = pairs
    set_divisor(&sums.corners, corners)
    set_divisor(&sums.plane, args.points.size)
    set_divisor(&sums.columns, args.size[2])
    set_divisor(&sums.rows, args.size[1])
    set_divisor(&sums.grid.points, plane)
    sums.grid.n = args.examples * args.chunks.size * plane
    return launch_grid(GATHER, BILINEAR, dt, device, sums.grid.n, &sums, sizeof(sums))


KERNELS = {
    "_grid_sample": PyCapsule_New(
        <void*>grid_sample, "int (Tensor, Tensor, Tensor, Py_ssize_t, Py_ssize_t, bint)", NULL),
    "_grid_sample_input": PyCapsule_New(
        <void*>grid_sample_input,
        "int (Tensor, Tensor, Tensor, tuple, Py_ssize_t, Py_ssize_t, bint)", NULL),
    "_grid_sample_grid": PyCapsule_New(
        <void*>grid_sample_grid,
        "int (Tensor, Tensor, Tensor, Tensor, Py_ssize_t, Py_ssize_t, bint)", NULL),
}
