# cython: language_level=3
# build: plain cold
"""Positions of what is true on CUDA devices, and what index tensors and masks select.

How many elements are true decides a size, so the host waits for that number. Kernels are in
ext/cuda/device/masks.cuh.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from autograd_cy._C.cuda_launch cimport kernel_id, launch
from autograd_cy._C.cuda_reduce cimport BLOCKS, quotient_up, set_divisor
from autograd_cy._C.cuda_walks cimport index_on
from autograd_cy._C.devices cimport current_stream
from autograd_cy._C.dtypes cimport DT_BOOL, DT_I64
from autograd_cy._C.iterate cimport cast, contiguous, to_device, zeros_on
from autograd_cy._C.storage cimport device_index
from autograd_cy._C.tensor cimport MAX_DIMS, Tensor, tensor_empty_on, tensor_window

cdef extern from "device/mask_arguments.h" nogil:
    enum:
        AG_MASK_ITEMS
        AG_MASK_THREADS
    ctypedef struct ag_wide_divisor:
        uint64_t size
    ctypedef struct ag_mask_args:
        const uint8_t* mask
        uint64_t* counts
        int64_t* out
        ag_wide_divisor size[64]
        uint64_t n, chunk, limit
        uint32_t blocks, nd

cdef int counting = kernel_id("masks", "mask_count")
cdef int adding = kernel_id("masks", "mask_add")
cdef int writing = kernel_id("masks", "mask_write")


# --- how many, and where ----------------------------------------------------------------------

cdef class Places:
    """A selection x[i, j, ...]."""


cdef void set_mask(ag_mask_args* args, Tensor mask) noexcept:
    cdef uint64_t tile = AG_MASK_THREADS * AG_MASK_ITEMS
    memset(args, 0, sizeof(args[0]))
    args.mask = <const uint8_t*>mask.ptr
    args.n = mask.count
    args.chunk = quotient_up(quotient_up(args.n, tile), BLOCKS) * tile
    args.blocks = <uint32_t>quotient_up(args.n, args.chunk) if args.n else 0


cdef int launch_masks(int kernel, int device, unsigned blocks, const ag_mask_args* args) except -1:
    return launch(kernel, device_index(device), current_stream(device), blocks, 1, 1,
                  AG_MASK_THREADS, 1, 1, 0, args, sizeof(ag_mask_args))


cdef int64_t count_mask(Tensor mask, list memo) except -1:
    """How many elements of a mask are true: the host waits. Appends the dense mask and how many are
    true before each block, which write_positions takes."""
    cdef ag_mask_args args
    cdef Tensor counts = None, last
    cdef Py_ssize_t n
    mask = contiguous(mask)
    set_mask(&args, mask)
    if args.n:
        n = args.blocks + 1
        counts = tensor_empty_on(mask.mem.device, DT_I64, 1, &n, NULL)
        args.counts = <uint64_t*>counts.ptr
        launch_masks(counting, mask.mem.device, args.blocks, &args)
        launch_masks(adding, mask.mem.device, 1, &args)
        last = to_device(tensor_window(counts, 0, NULL, NULL, args.blocks), 0)
        n = <Py_ssize_t>(<int64_t*>last.ptr)[0]
    else:
        n = 0
    memo.append((mask, counts, n))
    return n


cdef int write_positions(Tensor out, tuple counted, bint joined) except -1:
    """Coordinates of what is true, or positions in the memory of the mask if `joined`."""
    cdef ag_mask_args args
    cdef Tensor mask = <Tensor>counted[0]
    cdef int d
    if out.count == 0:
        return 0
    set_mask(&args, mask)
    args.counts = <uint64_t*>(<Tensor>counted[1]).ptr
    args.out = <int64_t*>out.ptr
    args.limit = out.sizes[0]
    args.nd = 1 if joined else mask.nd
    if joined:
        set_divisor(&args.size[0], args.n)
    else:
        for d in range(mask.nd):
            set_divisor(&args.size[d], mask.sizes[mask.nd - 1 - d])
    return launch_masks(writing, mask.mem.device, args.blocks, &args)


cdef int count_nonzero(Tensor a, Py_ssize_t* sizes, list memo) except -1:
    sizes[0] = count_mask(cast(a, DT_BOOL), memo)
    return 0


cdef int nonzero(Tensor out, Tensor a, list memo) except -1:
    return write_positions(out, <tuple>memo[0], False)


cdef int count_masks(Tensor a, object indices, Py_ssize_t* sizes, list memo) except -1:
    cdef int k = 0
    for entry in <tuple>indices:
        if entry is None or (<Tensor>entry).dt != DT_BOOL:
            continue
        sizes[k] = count_mask(to_device(<Tensor>entry, a.mem.device), memo)
        k += 1
    return 0


cdef int count_put(Tensor a, object indices, Tensor values, bint accumulate, Py_ssize_t* sizes,
                   list memo) except -1:
    return count_masks(a, indices, sizes, memo)


# --- from a tuple of indices to places ---------------------------------------------------------

cdef Tensor with_new_dim(Tensor a, int d):
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef Py_ssize_t strides[MAX_DIMS]
    cdef int i
    if a.nd + 1 > MAX_DIMS:
        raise ValueError(f"a tensor has at most {MAX_DIMS} dimensions")
    for i in range(a.nd + 1):
        shape[i] = 1 if i == d else a.sizes[i - (i > d)]
        strides[i] = 0 if i == d else a.strides[i - (i > d)]
    return tensor_window(a, a.nd + 1, shape, strides, 0)


cdef Tensor with_joined_dims(Tensor a, int first, int n):
    """`a` with n of its dimensions as one, or None where their memory isn't one run."""
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef Py_ssize_t strides[MAX_DIMS]
    cdef int d, gone = n - 1
    for d in range(first, first + gone):
        if a.strides[d] != a.strides[d + 1] * a.sizes[d + 1]:
            return None
    for d in range(a.nd - gone):
        shape[d] = a.sizes[d + gone if d >= first else d]
        strides[d] = a.strides[d + gone if d >= first else d]
    for d in range(first, first + gone):
        shape[first] *= a.sizes[d]
    return tensor_window(a, a.nd - gone, shape, strides, 0)


cdef int add_index(Places places, int dim, Tensor index) except -1:
    places.index.append(index)
    places.dim[places.n] = dim
    places.taken[dim] = True
    places.n += 1
    return 0


cdef int add_mask(Places places, int dim, tuple counted) except -1:
    """Positions in a mask, from dimension `dim` on; returns the number of dimensions."""
    cdef Tensor mask = <Tensor>counted[0], positions, joined
    cdef Py_ssize_t shape[2]
    cdef Py_ssize_t step = mask.nd
    cdef int d, device = places.source.mem.device
    shape[0], shape[1] = counted[2], mask.nd
    if mask.nd == 0:                    # a new dimension with one element or none
        places.source = with_new_dim(places.source, dim)
        add_index(places, dim, zeros_on(device, DT_I64, 1, shape))
        return 1
    joined = with_joined_dims(places.source, dim, mask.nd)
    if joined is not None:              # one number for each place, not one for each dimension
        places.source = joined
        shape[1] = step = 1
    positions = tensor_empty_on(device, DT_I64, 2, shape, NULL)
    write_positions(positions, counted, joined is not None)
    for d in range(shape[1]):
        add_index(places, dim + d, tensor_window(positions, 1, shape, &step, d))
    return <int>shape[1]


cdef Places resolve_indices(Tensor a, tuple indices, list masks):
    cdef Places places = Places.__new__(Places)
    cdef int dim = 0, k, seen = 0, device = a.mem.device
    cdef list counted = masks
    if masks is None:
        counted = []
        count_masks(a, indices, places.shape, counted)
    places.source = a
    places.index = []
    places.n = 0
    memset(places.taken, 0, sizeof(places.taken))
    for entry in indices:
        if entry is None:
            dim += 1
        elif (<Tensor>entry).dt == DT_BOOL:
            dim += add_mask(places, dim, <tuple>counted[seen])
            seen += 1
        else:
            add_index(places, dim, index_on(<Tensor>entry, device))
            dim += 1
    for k in range(places.n):
        places.size[k] = places.source.sizes[places.dim[k]]
    broadcast_places(places)
    return places


cdef int broadcast_places(Places places) noexcept:
    cdef Tensor t
    cdef int d, k, shift
    places.nd = 0
    for k in range(places.n):
        t = <Tensor>places.index[k]
        places.nd = max(places.nd, t.nd)
    for d in range(places.nd):
        places.shape[d] = 1
    places.before = places.dim[0] if places.n else 0
    for k in range(places.n):
        t = <Tensor>places.index[k]
        shift = places.nd - t.nd
        for d in range(t.nd):
            if t.sizes[d] != 1:
                places.shape[d + shift] = t.sizes[d]
        if k and places.dim[k] != places.dim[k - 1] + 1:
            places.before = 0           # they aren't neighbours: their shape comes first
    return 0


# --- the column of the device -----------------------------------------------------------------

cdef const char* COUNTED = "int (Tensor, Py_ssize_t*, list)"
cdef const char* WRITTEN = "int (Tensor, Tensor, list)"

KERNELS = {
    "nonzero": PyCapsule_New(<void*>nonzero, WRITTEN, NULL),
    "nonzero.sizes": PyCapsule_New(<void*>count_nonzero, COUNTED, NULL),
    "argwhere": PyCapsule_New(<void*>nonzero, WRITTEN, NULL),
    "argwhere.sizes": PyCapsule_New(<void*>count_nonzero, COUNTED, NULL),
    "_index.sizes": PyCapsule_New(
        <void*>count_masks, "int (Tensor, object, Py_ssize_t*, list)", NULL),
    "_index_put.sizes": PyCapsule_New(
        <void*>count_put, "int (Tensor, object, Tensor, bint, Py_ssize_t*, list)", NULL),
}
