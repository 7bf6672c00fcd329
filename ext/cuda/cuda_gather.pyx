# cython: language_level=3
# build: plain hot
"""Reads by index on CUDA devices: index_select, gather, embedding, x[i]. One launch each.

The kernel is ag_take of ext/cuda/device/gathers.cuh. An index that lies outside is noted for the
next synchronisation, and its element left out. More than AG_INDICES index tensors become offsets
first, and more than AG_CUDA_DIMS dimensions a launch for each element of the outermost.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memset

from autograd_cy._C.cuda_calls cimport called
from autograd_cy._C.cuda_launch cimport kernel_id
from autograd_cy._C.cuda_masks cimport Places, resolve_indices
from autograd_cy._C.cuda_streams cimport fault_of
from autograd_cy._C.cuda_walks cimport (
    Walk, add_dim, begin_walk, index_on, join_walk, kernel_of_words, launch_each, put_index_steps,
    put_sizes, put_steps, set_index, sort_walk, take_words, walk_count)
from autograd_cy._C.dtypes cimport DT_I64, DT_SIZE
from autograd_cy._C.faults cimport FAULT_EMBEDDING, FAULT_INDEX, FAULT_PLACE
from autograd_cy._C.iterate cimport copy_into, resolved
from autograd_cy._C.storage cimport device_index
from autograd_cy._C.tensor cimport Tensor, normal_dim, tensor_empty_on

cdef extern from "device/index_arguments.h" nogil:
    enum:
        AG_CUDA_DIMS
        AG_INDICES
    ctypedef struct ag_wide_divisor:
        pass
    ctypedef struct ag_index_args:
        const void* at[8]
        int64_t step[8]
        uint32_t n, wraps
        int kind
        void* fault
    ctypedef struct ag_take_args:
        void* out
        const void* in_ "in"
        ag_index_args index
        int64_t out_stride[8]
        int64_t in_stride[8]
        ag_wide_divisor size[8]
        uint64_t n
        uint32_t nd
        const char* op
    ctypedef struct ag_key_args:
        void* keys
        ag_index_args index
        int64_t own[8]
        ag_wide_divisor size[8]
        uint64_t n, bad
        int64_t base
        uint32_t nd, wide
        const char* op

cdef int making_keys = kernel_id("gather", "index_keys")


# --- launches -------------------------------------------------------------------------------

cdef int run_take(Walk* w, ag_take_args* args, int64_t item, int device) except -1:
    """Tracks of the walk are the result, the operand and index tensors; elements have `item`
    bytes."""
    cdef int64_t steps = 0
    cdef int d, k, word
    cdef bint dense
    d = add_dim(w, item)
    w.step[0][d] = w.step[1][d] = 1
    if walk_count(w) == 0:
        return 0
    sort_walk(w)
    join_walk(w)
    dense = w.nd > 0 and w.step[0][w.nd - 1] == 1 and w.step[1][w.nd - 1] == 1
    for k in range(<int>args.index.n):
        steps |= args.index.step[k]
        dense = dense and w.step[2 + k][w.nd - 1] == 0
    if not dense:                       # elements of one byte, which the join has left out
        add_dim(w, 1)
    word = take_words(w, args.out, args.in_, steps)
    return take_pieces(w, 0, args, kernel_of_words(
        "gather", "take_one" if args.index.n < 2 else "take", word), device)


cdef void rest_of(const Walk* w, int first, Walk* rest) noexcept:
    """The dimensions from `first` on."""
    cdef int d, k
    begin_walk(rest, w.tracks)
    for d in range(first, w.nd):
        add_dim(rest, w.size[d])
        for k in range(w.tracks):
            rest.step[k][d - first] = w.step[k][d]


cdef int take_pieces(Walk* w, int first, ag_take_args* args, int kernel, int device) except -1:
    cdef ag_take_args piece = args[0]
    cdef Walk rest
    cdef int64_t _
    cdef int k
    if w.nd - first > AG_CUDA_DIMS:
        for _ in range(w.size[first]):
            take_pieces(w, first + 1, &piece, kernel, device)
            piece.out = <char*>piece.out + w.step[0][first]
            piece.in_ = <const char*>piece.in_ + w.step[1][first]
            for k in range(<int>piece.index.n):
                piece.index.at[k] = <const char*>piece.index.at[k] + w.step[2 + k][first]
        return 0
    rest_of(w, first, &rest)
    piece.nd = rest.nd
    piece.n = walk_count(&rest)
    put_sizes(&rest, piece.size)
    put_steps(&rest, 0, piece.out_stride)
    put_steps(&rest, 1, piece.in_stride)
    put_index_steps(&piece.index, &rest, 2)
    return launch_each(kernel, device, piece.n, &piece, sizeof(piece))


cdef int copy_strided(Walk* w, char* out, const char* a, int64_t item, int device) except -1:
    cdef ag_take_args args
    memset(&args, 0, sizeof(args))
    args.out, args.in_ = out, a
    return run_take(w, &args, item, device)


cdef int write_keys(Walk* w, const void* index, void* keys, bint wide, uint64_t bad,
                    const char* op, int device) except -1:
    cdef ag_key_args args
    memset(&args, 0, sizeof(args))
    args.keys = keys
    args.wide = wide
    args.bad = bad
    args.index = (<const ag_index_args*>index)[0]
    args.op = called(device_index(device), op)
    join_walk(w)
    return 0 if walk_count(w) == 0 else key_pieces(w, 0, &args, device)


cdef int key_pieces(Walk* w, int first, ag_key_args* args, int device) except -1:
    cdef ag_key_args piece = args[0]
    cdef Walk rest
    cdef int64_t inner, _
    cdef int k
    rest_of(w, first, &rest)
    piece.n = walk_count(&rest)
    if rest.nd > AG_CUDA_DIMS:
        inner = piece.n // w.size[first] * (8 if args.wide else 4)
        for _ in range(w.size[first]):
            key_pieces(w, first + 1, &piece, device)
            piece.base += w.step[0][first]
            if piece.keys != NULL:
                piece.keys = <char*>piece.keys + inner
            for k in range(<int>piece.index.n):
                piece.index.at[k] = <const char*>piece.index.at[k] + w.step[1 + k][first]
        return 0
    piece.nd = rest.nd
    put_sizes(&rest, piece.size)
    put_steps(&rest, 0, piece.own)
    put_index_steps(&piece.index, &rest, 1)
    return launch_each(making_keys, device, piece.n, &piece, sizeof(piece))


cdef void begin_index(void* to, int kind, bint wraps, int device) except *:
    cdef ag_index_args* args = <ag_index_args*>to
    memset(args, 0, sizeof(args[0]))
    args.kind = kind
    args.wraps = wraps
    args.fault = <void*>fault_of(device_index(device))


cdef int check_only(Tensor index, int64_t size, int kind, const char* op, int dim,
                    int device) except -1:
    """Note an index that lies outside, where there is nothing else to be done."""
    cdef ag_index_args args
    cdef Walk w
    cdef int d
    if index.count == 0:
        return 0
    begin_index(&args, kind, False, device)
    set_index(&args, index, size, 0, dim)
    begin_walk(&w, 2)
    for d in range(index.nd):
        add_dim(&w, index.sizes[d])
        w.step[1][d] = index.strides[d] * DT_SIZE[index.dt]
    return write_keys(&w, &args, NULL, False, 0, op, device)


# --- operators ------------------------------------------------------------------------------

cdef int index_select(Tensor out, Tensor a, Py_ssize_t dim, Tensor index) except -1:
    cdef ag_take_args args
    cdef Walk w
    cdef int64_t item = DT_SIZE[a.dt], size
    cdef int d, device = out.mem.device
    dim = normal_dim(dim, a.nd)
    index = index_on(index, device)
    a = resolved(a)
    size = a.sizes[dim] if a.nd else 1
    if out.count == 0:
        return check_only(index, size, FAULT_INDEX, "index_select", <int>dim, device)
    memset(&args, 0, sizeof(args))
    args.out, args.in_ = out.ptr, a.ptr
    args.op = called(device_index(device), "index_select")
    begin_index(&args.index, FAULT_INDEX, False, device)
    set_index(&args.index, index, size, a.strides[dim] * item if a.nd else 0, <int>dim)
    begin_walk(&w, 3)
    for d in range(a.nd):
        add_dim(&w, out.sizes[d])
        w.step[0][d] = out.strides[d] * item
        if d != dim:
            w.step[1][d] = a.strides[d] * item
        elif index.nd:
            w.step[2][d] = index.strides[0] * DT_SIZE[index.dt]
    return run_take(&w, &args, item, device)


cdef int gather(Tensor out, Tensor a, Py_ssize_t dim, Tensor index) except -1:
    cdef ag_take_args args
    cdef Walk w
    cdef int64_t item = DT_SIZE[a.dt]
    cdef int d, device = out.mem.device
    if out.count == 0:
        return 0
    dim = normal_dim(dim, a.nd)
    index = index_on(index, device)
    a = resolved(a)
    memset(&args, 0, sizeof(args))
    args.out, args.in_ = out.ptr, a.ptr
    args.op = called(device_index(device), "gather")
    begin_index(&args.index, FAULT_PLACE, False, device)
    set_index(&args.index, index, a.sizes[dim] if a.nd else 1, a.strides[dim] * item if a.nd else 0,
              <int>dim)
    begin_walk(&w, 3)
    for d in range(out.nd):
        add_dim(&w, out.sizes[d])
        w.step[0][d] = out.strides[d] * item
        w.step[1][d] = a.strides[d] * item if d != dim and d < a.nd else 0
        w.step[2][d] = index.strides[d] * DT_SIZE[index.dt]
    return run_take(&w, &args, item, device)


cdef int embedding(Tensor out, Tensor weight, Tensor indices) except -1:
    return take_rows(out, weight, indices, "embedding")


cdef int take_rows(Tensor out, Tensor weight, Tensor indices, const char* op) except -1:
    cdef ag_take_args args
    cdef Walk w
    cdef int64_t item = DT_SIZE[weight.dt]
    cdef int d, device = out.mem.device
    indices = index_on(indices, device)
    weight = resolved(weight)
    if out.count == 0:
        return check_only(indices, weight.sizes[0], FAULT_EMBEDDING, op, 0, device)
    memset(&args, 0, sizeof(args))
    args.out, args.in_ = out.ptr, weight.ptr
    args.op = called(device_index(device), op)
    begin_index(&args.index, FAULT_EMBEDDING, False, device)
    set_index(&args.index, indices, weight.sizes[0], weight.strides[0] * item, 0)
    begin_walk(&w, 3)
    for d in range(indices.nd):
        add_dim(&w, indices.sizes[d])
        w.step[0][d] = out.strides[d] * item
        w.step[2][d] = indices.strides[d] * DT_SIZE[indices.dt]
    d = add_dim(&w, weight.sizes[1])
    w.step[0][d] = out.strides[d] * item
    w.step[1][d] = weight.strides[1] * item
    return run_take(&w, &args, item, device)


# --- x[i, j, ...] ---------------------------------------------------------------------------

cdef int add_places(Places places, Walk* w, int first_track) except -1:
    """Append the dimensions of the broadcast index tensors, with their steps from `first_track`
    on."""
    cdef Tensor t
    cdef int d, k, shift, at = w.nd
    for d in range(places.nd):
        add_dim(w, places.shape[d])
    for k in range(places.n):
        t = <Tensor>places.index[k]
        shift = places.nd - t.nd
        for d in range(t.nd):
            if t.sizes[d] != 1:
                w.step[first_track + k][at + shift + d] = t.strides[d] * DT_SIZE[t.dt]
    return 0


cdef int set_places(void* args, Places places, const int64_t* steps,
                    int device) except -1:
    """Index tensors, at most AG_INDICES, with the steps of their dimensions."""
    cdef int k
    begin_index(args, FAULT_INDEX, True, device)
    for k in range(places.n):
        set_index(args, <Tensor>places.index[k], places.size[k], steps[k], places.dim[k])
    return 0


cdef int join_places(Places places, int64_t* steps, const char* op, int device) except -1:
    """Let sums of index tensors times their steps stand for them, as long as there are too
    many."""
    cdef ag_index_args args
    cdef Walk w
    cdef Tensor sums
    cdef list index = places.index
    cdef int k, n = places.n, gone = AG_INDICES - 1
    while n > AG_INDICES:
        sums = tensor_empty_on(device, DT_I64, places.nd, places.shape, NULL)
        places.index, places.n = index[:AG_INDICES], AG_INDICES
        set_places(&args, places, steps, device)
        begin_walk(&w, 1 + AG_INDICES)
        add_places(places, &w, 1)
        # A sum that can't be stays out of bounds: the least number plus the size is negative.
        write_keys(&w, &args, sums.ptr, True, <uint64_t>1 << 63, op, device)
        index = [sums] + index[AG_INDICES:]
        n -= gone
        places.size[0], steps[0] = <int64_t>1 << 62, 1
        for k in range(1, n):
            places.size[k], steps[k] = places.size[k + gone], steps[k + gone]
            places.dim[k] = places.dim[k + gone]
        places.index, places.n = index, n
    return 0


cdef int index_elements(Tensor out, Tensor a, object indices, list masks) except -1:
    cdef ag_take_args args
    cdef Walk w
    cdef Places places
    cdef int64_t item = DT_SIZE[a.dt]
    cdef int64_t steps[64]
    cdef int d, k, at, device = out.mem.device
    places = resolve_indices(resolved(a), <tuple>indices, masks)
    a = places.source
    if places.n == 0:
        return copy_into(out, a, "index")
    for k in range(places.n):
        steps[k] = a.strides[places.dim[k]] * item
    join_places(places, steps, "index", device)
    memset(&args, 0, sizeof(args))
    args.out, args.in_ = out.ptr, a.ptr
    args.op = called(device_index(device), "index")
    set_places(&args.index, places, steps, device)
    begin_walk(&w, 2 + places.n)
    for d in range(places.before):
        at = add_dim(&w, a.sizes[d])
        w.step[1][at] = a.strides[d] * item
    add_places(places, &w, 2)
    for d in range(places.before, a.nd):
        if not places.taken[d]:
            at = add_dim(&w, a.sizes[d])
            w.step[1][at] = a.strides[d] * item
    for d in range(w.nd):
        w.step[0][d] = out.strides[d] * item
    if out.count == 0:
        return check_places(places, "index", device)
    return run_take(&w, &args, item, device)


cdef int check_places(Places places, const char* op, int device) except -1:
    """Note what lies outside where nothing is selected for another reason."""
    cdef ag_index_args args
    cdef Walk w
    cdef int64_t steps[64]
    cdef int k
    for k in range(places.n):
        steps[k] = 0
    set_places(&args, places, steps, device)
    begin_walk(&w, 1 + places.n)
    add_places(places, &w, 1)
    return write_keys(&w, &args, NULL, False, 0, op, device)


# --- the column of the device -----------------------------------------------------------------

cdef const char* ALONG = "int (Tensor, Tensor, Py_ssize_t, Tensor)"

KERNELS = {
    "index_select": PyCapsule_New(<void*>index_select, ALONG, NULL),
    "gather": PyCapsule_New(<void*>gather, ALONG, NULL),
    "embedding": PyCapsule_New(<void*>embedding, "int (Tensor, Tensor, Tensor)", NULL),
    "_index": PyCapsule_New(<void*>index_elements, "int (Tensor, Tensor, object, list)", NULL),
}
