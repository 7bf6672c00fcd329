# cython: language_level=3
# build: plain hot
"""Copies, casts and fills of CUDA devices.

On one device: dense memory goes by the driver, what changes the dense dimension by tiles, all else
by an elementwise kernel. Between a device and the host, or another device, dense bytes travel: what
isn't dense is packed before and unpacked afterwards, each on the side where it is.
"""
from libc.stdint cimport int64_t, uint32_t
from libc.string cimport memcpy, memset
from autograd_cy._C.cuda_driver cimport address_t, check_result, context_of, driver, enter
from autograd_cy._C.cuda_elementwise cimport (
    Joined, cast_entry, copy_entry, divide_by, is_flat, join_dims, run_entry)
from autograd_cy._C.cuda_launch cimport blocks_for, kernel_id, launch
from autograd_cy._C.cuda_memory cimport Scratch, scratch
from autograd_cy._C.cuda_streams cimport (
    event_free, event_record, event_wait, handle_of, wait_for)
from autograd_cy._C.cuda_timing cimport begin_timing, end_timing, timing
from autograd_cy._C.devices cimport (
    current_stream, current_stream_owner, note_use, pinning_type, stream_t)
from autograd_cy._C.dtypes cimport DT_BOOL, DT_C64, DT_SIZE, dt_real
from autograd_cy._C.iterate cimport copy_into
from autograd_cy._C.storage cimport (
    ON_PINNED, STORAGE_BORROWED, STORAGE_PINNED, ServiceBlock, device_index,
    device_type, storage_root)
from autograd_cy._C.tensor cimport (
    Tensor, tensor_empty_on, tensor_empty_strided, tensor_is_dense, tensor_on, warn_once)

cdef extern from "device/arguments.h":
    enum: AG_CUDA_DIMS
    ctypedef struct ag_divisor:
        uint32_t size, mul, shift
    ctypedef struct ag_turned_args:
        void* out
        const void* in_ "in"
        int64_t out_step, in_step
        int64_t out_stride[8]
        int64_t in_stride[8]
        ag_divisor size[8]
        ag_divisor out_tiles, in_tiles
        uint32_t out_size, in_size, tiles, nd

cdef enum:
    BLOCK = 256
    TURNED_LEAST = 16          # along both dimensions; with less the tiles would be mostly empty
    LONG_COPY = 1 << 16        # bytes of pageable memory from which on the GIL is given up
    MEMORY_TYPE = 2            # CU_POINTER_ATTRIBUTE_MEMORY_TYPE


# ---- on one device ----

cdef int copy(Tensor to, Tensor source, bint non_blocking, stream_t stream) except -1:
    cdef int target = to.mem.device, origin = source.mem.device
    if to.count == 0:
        return 0
    if target == origin:
        return copy_within(to.ptr, to.strides, source.ptr, source.strides, to.nd, to.sizes,
                           DT_SIZE[to.dt], device_index(target), stream)
    return travel(to, source, non_blocking, stream)


cdef int copy_within(char* to, const Py_ssize_t* to_strides, char* source,
                     const Py_ssize_t* source_strides, int nd, const Py_ssize_t* shape,
                     Py_ssize_t item, int index, stream_t stream) except -1:
    """Copy elements of `item` bytes; strides are in elements."""
    cdef Joined o
    cdef Py_ssize_t strides[2][64]
    cdef Py_ssize_t* rows[2]
    cdef void* began
    cdef int d, result
    for d in range(nd):
        strides[0][d] = to_strides[d] * item
        strides[1][d] = source_strides[d] * item
    rows[0], rows[1] = strides[0], strides[1]
    o.nargs = 2
    o.p[0], o.p[1] = to, source
    o.item[0] = o.item[1] = item
    join_dims(&o, nd, shape, rows)
    if o.n == 0:
        return 0
    if is_flat(&o, 0) and is_flat(&o, 1):
        if to == source:
            return 0
        enter(index)
        began = begin_timing(index, stream) if timing else NULL
        result = driver.copy_on_device(<address_t>to, <address_t>source, o.n * item,
                                       handle_of(stream))
        if began != NULL:
            end_timing("Memcpy DtoD (Device -> Device)", index, stream, began)
        return check_result(result, "copy_", index)
    d = turned_dim(&o)
    if d >= 0:
        return put_turned(&o, d, index, stream)
    take_wide_words(&o)
    return run_entry(copy_entry(o.item[0]), &o, index, stream)


cdef void take_wide_words(Joined* o) noexcept nogil:
    """Let elements that are side by side on both sides go as larger ones, of 16 bytes at most."""
    cdef int last = o.nd - 1, a, d
    cdef Py_ssize_t wide
    while o.item[0] < 16 and o.nd:
        wide = 2 * o.item[0]
        if o.shape[last] % 2:
            return
        for a in range(2):
            if o.p[a] == NULL:      # a number, which fills its cell again and again
                continue
            if o.strides[a][last] != o.item[a] or <size_t>o.p[a] % <size_t>wide:
                return
            for d in range(last):
                if o.strides[a][d] % wide:
                    return
        o.shape[last] //= 2
        o.n //= 2
        for a in range(2):
            o.item[a] = wide
            o.strides[a][last] = wide if o.p[a] != NULL else 0


cdef int turned_dim(const Joined* o) noexcept nogil:
    """The dimension along which the source is dense if the result is dense along another, or -1."""
    cdef int last = o.nd - 1, d, dim = -1
    cdef Py_ssize_t side = tile_side(o.item[0]), tiles
    if o.nd < 2 or o.nd > AG_CUDA_DIMS + 2 or o.strides[0][last] != o.item[0]:
        return -1
    for d in range(last):
        if o.strides[1][d] == o.item[1]:
            dim = d
    if dim < 0 or o.shape[dim] < TURNED_LEAST or o.shape[last] < TURNED_LEAST:
        return -1
    tiles = 1
    for d in range(o.nd):
        tiles *= (o.shape[d] + side - 1) // side if d == dim or d == last else o.shape[d]
    # The kernel's arithmetic is of 32 bits.
    if tiles > 0x7fffffff or o.shape[dim] > 0x7fffffff or o.shape[last] > 0x7fffffff:
        return -1
    return dim


cdef inline Py_ssize_t tile_side(Py_ssize_t item) noexcept nogil:
    """Return the side of a tile, as in ext/codegen/cuda_copies.py."""
    return 64 if item < 4 else 32


cdef int[5] _turning           # numbers for `launch`, and 1


cdef int put_turned(const Joined* o, int dim, int index, stream_t stream) except -1:
    cdef ag_turned_args args
    cdef int last = o.nd - 1, d, k = 0, place = 0
    cdef Py_ssize_t item = o.item[0], side = tile_side(item), tiles
    cdef Py_ssize_t along = (o.shape[dim] + side - 1) // side
    cdef Py_ssize_t across = (o.shape[last] + side - 1) // side
    memset(&args, 0, sizeof(args))
    args.out, args.in_ = o.p[0], o.p[1]
    args.out_step, args.in_step = o.strides[0][dim], o.strides[1][last]
    args.out_size, args.in_size = <uint32_t>o.shape[last], <uint32_t>o.shape[dim]
    divide_by(across, &args.out_tiles)
    divide_by(along, &args.in_tiles)
    tiles = across * along
    for d in range(last - 1, -1, -1):
        if d != dim:
            divide_by(o.shape[d], &args.size[k])
            args.out_stride[k], args.in_stride[k] = o.strides[0][d], o.strides[1][d]
            tiles *= o.shape[d]
            k += 1
    args.nd, args.tiles = k, <uint32_t>tiles
    while item > 1:
        item >>= 1
        place += 1
    if not _turning[place]:
        _turning[place] = kernel_id("copies", f"turn_w{8 << place}") + 1
    enter(index)
    return launch(_turning[place] - 1, index, stream, blocks_for(index, tiles * BLOCK, BLOCK), 1, 1,
                  BLOCK, 1, 1, 0, &args, sizeof(args))


cdef int cast(Tensor to, Tensor source, stream_t stream) except -1:
    cdef Joined o
    cdef Py_ssize_t strides[2][64]
    cdef Py_ssize_t* rows[2]
    cdef int d, read = source.dt
    if source.dt >= DT_C64 and to.dt < DT_C64 and to.dt != DT_BOOL:
        warn_once("Casting complex values to real discards the imaginary part")
        read = dt_real(source.dt)       # the real parts, at the strides of complex numbers
    for d in range(to.nd):
        strides[0][d] = to.strides[d] * DT_SIZE[to.dt]
        strides[1][d] = source.strides[d] * DT_SIZE[source.dt]
    rows[0], rows[1] = strides[0], strides[1]
    o.nargs = 2
    o.p[0], o.p[1] = to.ptr, source.ptr
    o.item[0], o.item[1] = DT_SIZE[to.dt], DT_SIZE[read]
    join_dims(&o, to.nd, to.sizes, rows)
    return run_entry(cast_entry(source.dt, to.dt), &o, device_index(to.mem.device), stream)


cdef int fill_tensor(Tensor to, const char* item, stream_t stream) except -1:
    cdef Joined o
    cdef Py_ssize_t strides[2][64]
    cdef Py_ssize_t* rows[2]
    cdef Py_ssize_t size = DT_SIZE[to.dt]
    cdef int d, result, index = device_index(to.mem.device)
    cdef void* began
    cdef bint same = True
    for d in range(to.nd):
        strides[0][d] = to.strides[d] * size
        strides[1][d] = 0
    rows[0], rows[1] = strides[0], strides[1]
    o.nargs = 2
    o.p[0], o.p[1] = to.ptr, NULL
    o.item[0] = o.item[1] = size
    join_dims(&o, to.nd, to.sizes, rows)
    for d in range(1, size):
        same = same and item[d] == item[0]
    if o.n and same and is_flat(&o, 0):
        enter(index)
        began = begin_timing(index, stream) if timing else NULL
        result = driver.set_bytes(<address_t>to.ptr, <unsigned char>item[0], o.n * size,
                                  handle_of(stream))
        if began != NULL:
            end_timing("Memset (Device)", index, stream, began)
        return check_result(result, "fill_", index)
    for d in range(16 // size):
        memcpy(<char*>&o.cell[1][0] + d * size, item, size)
    if not is_flat(&o, 0):
        take_wide_words(&o)
    return run_entry(copy_entry(o.item[0]), &o, index, stream)


# ---- between a device and the host, or another device ----

# What travels between two places: the elements of the source, in one order, without gaps. An
# expanded dimension of the source travels once, with a size of 1.
cdef struct Journey:
    int nd
    Py_ssize_t item
    Py_ssize_t nbytes
    Py_ssize_t sizes[64]
    Py_ssize_t strides[64]     # in elements
    Py_ssize_t spread[64]      # the same, 0 where the source is expanded
    bint from_source           # the source has the strides with which it travels,
    bint into_target           # and so does the target


cdef int plan_journey(Journey* j, Tensor to, Tensor source) except -1:
    cdef Tensor seen = source
    cdef Py_ssize_t step = 1
    cdef int d
    cdef bint expanded = False
    j.nd = to.nd
    j.item = DT_SIZE[to.dt]
    for d in range(j.nd):
        j.sizes[d] = source.sizes[d]
        if source.strides[d] == 0 and source.sizes[d] > 1:
            j.sizes[d] = 1
            expanded = True
    if expanded:
        seen = tensor_on(source.mem, source.ptr, source.dt, j.nd, j.sizes, source.strides)
    j.nbytes = seen.count * j.item
    if not expanded and tensor_is_dense(to):
        memcpy(j.strides, to.strides, j.nd * sizeof(Py_ssize_t))
    elif tensor_is_dense(seen):
        memcpy(j.strides, source.strides, j.nd * sizeof(Py_ssize_t))
    else:
        for d in range(j.nd - 1, -1, -1):
            j.strides[d] = step
            step *= j.sizes[d]
    j.from_source, j.into_target = True, not expanded
    for d in range(j.nd):
        if j.sizes[d] > 1:
            j.from_source = j.from_source and source.strides[d] == j.strides[d]
            j.into_target = j.into_target and to.strides[d] == j.strides[d]
        j.spread[d] = j.strides[d] if j.sizes[d] == to.sizes[d] else 0
    return 0


cdef int travel(Tensor to, Tensor source, bint non_blocking, stream_t stream) except -1:
    cdef Journey j
    plan_journey(&j, to, source)
    if not to.mem.device:
        return travel_to_host(&j, to, source, non_blocking, stream)
    if not source.mem.device:
        return travel_from_host(&j, to, source, non_blocking, stream)
    return travel_between(&j, to, source, stream)


cdef inline bint is_pinned(Tensor t) noexcept:
    return storage_root(t.mem).kind == STORAGE_PINNED


cdef bint is_registered(Tensor t) noexcept:
    """
    Return whether memory that somebody else made is known to the driver.

    Then copies read it after they were called, as they do pinned memory of ours.
    """
    cdef int kind = 0
    return (storage_root(t.mem).kind == STORAGE_BORROWED
            and driver.pointer_attribute(&kind, MEMORY_TYPE, <address_t>t.ptr) == 0 and kind != 0)


cdef int travel_from_host(Journey* j, Tensor to, Tensor source, bint non_blocking,
                          stream_t stream) except -1:
    cdef int device = to.mem.device, index = device_index(device)
    cdef Tensor host = source
    cdef Scratch staging = None
    cdef char* target = to.ptr
    cdef const char* start
    cdef void* began
    cdef int result
    cdef bint late
    enter(index)
    if not j.from_source:
        # What it says now is in the buffer, which the copy may read later.
        host = host_buffer(j, to, non_blocking and is_pinned(source)
                           and pinning_type() == device_type(device))
        copy_into(host, tensor_on(source.mem, source.ptr, source.dt, j.nd, j.sizes, source.strides),
                  "copy_")
    if not j.into_target:
        staging = scratch(index, j.nbytes, stream)
        target = staging.data
    start = host.ptr
    late = is_pinned(host)
    began = begin_timing(index, stream) if timing else NULL
    if j.nbytes < LONG_COPY or late:
        result = driver.copy_to_device(<address_t>target, start, j.nbytes, handle_of(stream))
    else:
        # The driver reads pageable memory before it returns.
        with nogil:
            result = driver.copy_to_device(<address_t>target, start, j.nbytes, handle_of(stream))
    if began != NULL:
        end_timing("Memcpy HtoD (Pinned -> Device)" if late else "Memcpy HtoD (Pageable -> Device)",
                   index, stream, began)
    check_result(result, "copy_", index)
    if late and host is not source:
        note_use(<ServiceBlock*>storage_root(host.mem), device, stream,
                 current_stream_owner(device))
    if staging is not None:
        copy_within(to.ptr, to.strides, target, j.spread, j.nd, to.sizes, j.item, index, stream)
    if host is source and (not non_blocking if late else is_registered(source)):
        # The values have been read when the call returns.
        wait_for(index, stream)
    return 0


cdef Tensor host_buffer(Journey* j, Tensor like, bint pinned):
    if pinned:
        return tensor_empty_on(ON_PINNED, like.dt, j.nd, j.sizes, j.strides)
    return tensor_empty_strided(like.dt, j.nd, j.sizes, j.strides)


cdef int travel_to_host(Journey* j, Tensor to, Tensor source, bint non_blocking,
                        stream_t stream) except -1:
    cdef int index = device_index(source.mem.device)
    cdef Tensor host = to
    cdef Scratch staging = None
    cdef char* start = source.ptr
    cdef char* target
    cdef void* began
    cdef int result
    enter(index)
    if not j.from_source:
        staging = scratch(index, j.nbytes, stream)
        start = staging.data
        copy_within(start, j.strides, source.ptr, source.strides, j.nd, j.sizes, j.item, index,
                    stream)
    if not j.into_target:
        host = host_buffer(j, to, False)
    target = host.ptr
    began = begin_timing(index, stream) if timing else NULL
    if j.nbytes < LONG_COPY or is_pinned(host):
        result = driver.copy_to_host(target, <address_t>start, j.nbytes, handle_of(stream))
    else:
        # The driver waits for the stream where the memory is pageable.
        with nogil:
            result = driver.copy_to_host(target, <address_t>start, j.nbytes, handle_of(stream))
    if began != NULL:
        end_timing("Memcpy DtoH (Device -> Pinned)" if is_pinned(host)
                   else "Memcpy DtoH (Device -> Pageable)", index, stream, began)
    check_result(result, "copy_", index)
    if host is to and non_blocking and is_pinned(to):
        return 0
    wait_for(index, stream)
    if host is not to:
        copy_into(to, tensor_on(host.mem, host.ptr, host.dt, j.nd, to.sizes, j.spread), "copy_")
    return 0


cdef int travel_between(Journey* j, Tensor to, Tensor source, stream_t stream) except -1:
    """
    To another device, on a stream of that one.

    The caller lets it wait for the source's stream, and that for the copy.
    """
    cdef int there = device_index(to.mem.device), here = device_index(source.mem.device)
    cdef stream_t own = current_stream(source.mem.device)
    cdef Scratch packed_there = None, unpacked = None
    cdef char* start = source.ptr
    cdef char* target = to.ptr
    cdef void* began
    cdef int result
    enter(here)
    if not j.from_source:
        packed_there = scratch(here, j.nbytes, own)
        start = packed_there.data
        copy_within(start, j.strides, source.ptr, source.strides, j.nd, j.sizes, j.item, here, own)
        follow(there, stream, here, own)
    enter(there)
    if not j.into_target:
        unpacked = scratch(there, j.nbytes, stream)
        target = unpacked.data
    began = begin_timing(there, stream) if timing else NULL
    result = driver.copy_between(<address_t>target, context_of(there), <address_t>start,
                                 context_of(here), j.nbytes, handle_of(stream))
    if began != NULL:
        end_timing("Memcpy PtoP (Device -> Device)", there, stream, began)
    check_result(result, "copy_", there)
    if packed_there is not None:
        # The buffer goes back on the source's stream: not before the copy is through.
        follow(here, own, there, stream)
    if unpacked is not None:
        copy_within(to.ptr, to.strides, target, j.spread, j.nd, to.sizes, j.item, there, stream)
    return 0


cdef int follow(int index, stream_t stream, int other_index, stream_t other) except -1:
    """Let what is put on a stream later wait for what another one has now."""
    cdef void* event = NULL
    event_record(other_index, other, False, &event)
    try:
        event_wait(index, stream, event)
    finally:
        event_free(other_index, event)
    return 0
