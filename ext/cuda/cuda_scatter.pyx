# cython: language_level=3
# build: plain hot
"""Writes by index on CUDA devices, with the same bits in each run.

Each element of the index has a key, the place that it says, and those are sorted with their
positions (cuda_sort). So what comes together at one place lies side by side; it is joined in order,
in double or int64, and rounded once. Kernels are in ext/cuda/device/scatters.cuh.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memset

from autograd_cy._C.cuda_calls cimport called
from autograd_cy._C.cuda_gather cimport (
    add_places, begin_index, check_only, check_places, join_places, set_places, take_rows,
    write_keys)
from autograd_cy._C.cuda_launch cimport kernel_id, launch
from autograd_cy._C.cuda_masks cimport Places, resolve_indices
from autograd_cy._C.cuda_memory cimport Scratch, scratch
from autograd_cy._C.cuda_reduce cimport blocks_of, log_ceil, quotient_up, set_divisor
from autograd_cy._C.cuda_sort cimport SortedPairs, bits_below, pairs_of, sort_pairs
from autograd_cy._C.cuda_walks cimport (
    Walk, add_dim, begin_walk, index_on, join_walk, kernel_of_words, launch_each, put_sizes,
    put_steps, set_index, sort_walk, take_words, walk_count)
from autograd_cy._C.devices cimport current_stream
from autograd_cy._C.dtypes cimport (
    DTYPES, DT_BF16, DT_BOOL, DT_C64, DT_C128, DT_F16, DT_F32, DT_F64, DT_I64, DT_I8, DT_I16,
    DT_I32, DT_SIZE, DT_U8, DT_U16, DT_U64, dt_is_float, dt_real)
from autograd_cy._C.faults cimport (
    FAULT_EMBEDDING, FAULT_PLACE, FAULT_REDUCED_INDEX)
from autograd_cy._C.iterate cimport (
    cast, contiguous, copy_into, expand_plain, fill_dense, fill_with, resolved,
    to_device, zeros_on)
from autograd_cy._C.shapes cimport permute_plain
from autograd_cy._C.storage cimport device_index
from autograd_cy._C.tensor cimport MAX_DIMS, Tensor, normal_dim, tensor_empty_on, tensor_window

cdef extern from "device/scatter_arguments.h" nogil:
    enum:
        AG_CUDA_DIMS
        AG_SCATTER_THREADS
    ctypedef struct ag_wide_divisor:
        uint64_t size
    ctypedef struct ag_index_args:
        const void* at[8]
        int64_t stride[8][8]
    ctypedef struct ag_scatter_args:
        void* out
        const void* in_ "in"
        const void* keys
        const void* places
        ag_wide_divisor key_size[8]
        ag_wide_divisor place_size[8]
        ag_wide_divisor column_size[8]
        int64_t key_stride[8]
        int64_t place_stride[8]
        int64_t column_out[8]
        int64_t column_in[8]
        ag_wide_divisor columns
        uint64_t n, bound, padding, chunk, chunks
        void* partial
        uint32_t key_nd, place_nd, column_nd, wide, far, move, with_self, mean, group, width
        int32_t dt
    ctypedef struct ag_short_scatter_args:
        void* out
        const void* in_ "in"
        ag_index_args index
        ag_wide_divisor size[8]
        int64_t out_stride[8]
        int64_t in_stride[8]
        int64_t limit[8]
        int64_t length, index_step, in_step
        uint64_t n
        uint32_t nd, dim, move, with_self, mean
        int32_t dt
        const char* op
    ctypedef struct ag_row_shares_args:
        void* out
        const int64_t* index
        const int64_t* counts
        ag_wide_divisor columns
        uint64_t n
        int64_t padding, rows

cdef enum:                 # what is done with elements that come together
    ADD = 0
    PROD = 1
    MAX = 2
    MIN = 3
    LAST = 4               # the last one stays

cdef enum:
    CHUNK = 32             # slots of a thread,
    SMALL_CHUNK = 8        # and where there are few
    LITTLE = 1 << 16       # elements up to which there are few
    LOG_COLUMNS = 5        # of a block that joins parts, at most
    LOG_THREADS = 8
# Indices that each element of the result looks through, or so many looks in all.
cdef int64_t _short = 8
cdef int64_t _short_work = 1 << 20


def _look_through(few=8, work=1 << 20):
    """Set from which size on scatters sort, for tests; return what held before."""
    global _short, _short_work
    before = _short, _short_work
    _short, _short_work = few, work
    return before


cdef const char* BACKWARD = "embedding_dense_backward"

cdef dict NAMES = {
    DT_BOOL: "u8", DT_U8: "u8", DT_I8: "i8", DT_I16: "i16", DT_I32: "i32", DT_I64: "i64",
    DT_F16: "f16", DT_BF16: "bf16", DT_F32: "f32", DT_F64: "f64", DT_C64: "c64", DT_C128: "c128"}
cdef int[DTYPES] running   # kernels by dtype, and those that join parts of runs
cdef int[DTYPES] joining
cdef int[DTYPES] shortly
cdef int[DTYPES] sharing


cdef int name_kernels() except -1:
    for dt, name in NAMES.items():
        running[<int>dt] = kernel_id("scatter", f"scatter_runs_{name}")
        shortly[<int>dt] = kernel_id("scatter", f"scatter_short_{name}")
        joining[<int>dt] = kernel_id("scatter", "scatter_join_" + (
            "i64" if dt <= DT_I64 else "f64" if dt < DT_C64 else "c128"))
        if dt_is_float(<int>dt):
            sharing[<int>dt] = kernel_id("scatter", f"row_shares_{name}")
    return 0


name_kernels()


# --- the parts of all scatters ------------------------------------------------------------------

# What a scatter moves: the source along places (the dimensions of the index, in order), the result
# along keys, both along columns. Index tensors follow the track of `places`, which is the key's.
cdef struct Scatter:
    int move
    bint with_self, mean
    int64_t padding            # a key that is left out, or -1
    const char* op             # in messages
    Walk places                # tracks: part of the key, index tensors
    Walk source                # the same dimensions; track: the source
    Walk keys                  # track: the result
    Walk columns               # tracks: the result, the source
    ag_index_args index


cdef int run_scatter(Scatter* s, Tensor out, Tensor source) except -1:
    """Sort and write; returns 0 if there are too many dimensions."""
    cdef ag_scatter_args args
    cdef SortedPairs pairs
    cdef int device = out.mem.device, index = device_index(device), bits
    cdef uint64_t n = walk_count(&s.places), bound = walk_count(&s.keys)
    cdef bint wide
    if n == 0 or walk_count(&s.columns) == 0:
        return 1
    join_walk(&s.source)
    join_walk(&s.keys)
    sort_walk(&s.columns)
    if s.source.nd > AG_CUDA_DIMS or s.keys.nd > AG_CUDA_DIMS:
        return 0
    bits = bits_below(bound + 1)
    wide = bits > 32
    pairs = pairs_of(index, n, 8 if wide else 4, current_stream(device))
    memset(&args, 0, sizeof(args))
    args.out, args.in_ = out.ptr, source.ptr
    args.n, args.bound, args.padding = n, bound, s.padding
    args.wide, args.far = wide, pairs.far
    args.move, args.with_self, args.mean, args.dt = s.move, s.with_self, s.mean, out.dt
    if not (set_last(s, &args) if s.move == LAST else set_columns(s, &args)):
        return 0
    write_keys(&s.places, &s.index, pairs.keys, wide, bound, s.op, device)
    sort_pairs(pairs, 0, bits)
    args.keys, args.places = pairs.keys, pairs.places
    args.key_nd, args.place_nd = s.keys.nd, s.source.nd
    put_sizes(&s.keys, args.key_size)
    put_steps(&s.keys, 0, args.key_stride)
    put_sizes(&s.source, args.place_size)
    put_steps(&s.source, 0, args.place_stride)
    if s.move == LAST:
        launch_each(kernel_of_words("scatter", "scatter_last", <int>args.chunk), device,
                    n * args.columns.size, &args, sizeof(args))
    else:
        join_runs(&args, device)
    return 1


cdef int set_columns(Scatter* s, ag_scatter_args* args) noexcept:
    join_walk(&s.columns)
    if s.columns.nd > AG_CUDA_DIMS:
        return 0
    args.column_nd = s.columns.nd
    set_divisor(&args.columns, walk_count(&s.columns))
    put_sizes(&s.columns, args.column_size)
    put_steps(&s.columns, 0, args.column_out)
    put_steps(&s.columns, 1, args.column_in)
    return 1


cdef int set_last(Scatter* s, ag_scatter_args* args) noexcept:
    """Columns of words, whose bytes `chunk` says until the launch."""
    cdef Walk* w = &s.columns
    cdef int64_t steps = 0
    cdef int d = add_dim(w, DT_SIZE[args.dt])
    w.step[0][d] = w.step[1][d] = 1
    join_walk(w)
    if w.nd == 0 or w.step[0][w.nd - 1] != 1 or w.step[1][w.nd - 1] != 1:
        add_dim(w, 1)
    for d in range(s.keys.nd):
        steps |= s.keys.step[0][d]
    for d in range(s.source.nd):
        steps |= s.source.step[0][d]
    args.chunk = take_words(w, args.out, args.in_, steps)
    return set_columns(s, args)


cdef int join_runs(ag_scatter_args* args, int device) except -1:
    cdef Scratch partial
    cdef uint64_t columns = args.columns.size, tiles
    cdef int index = device_index(device)
    args.chunk = SMALL_CHUNK if args.n * columns <= LITTLE else CHUNK
    args.chunks = quotient_up(args.n, args.chunk)
    if args.chunks > 1:
        partial = scratch(index, 2 * args.chunks * columns * (16 if args.dt >= DT_C64 else 8),
                          current_stream(device))
        args.partial = partial.data
    launch_each(running[args.dt], device, args.chunks * columns, args, sizeof(args[0]))
    if args.chunks == 1:
        return 0
    args.width = min(log_ceil(columns), <uint32_t>LOG_COLUMNS)
    args.group = LOG_THREADS - args.width
    tiles = quotient_up(columns, <uint64_t>1 << args.width)
    return launch(joining[args.dt], index, current_stream(device),
                  blocks_of(args.chunks * tiles, 0), 1, 1, AG_SCATTER_THREADS, 1, 1, 0, args,
                  sizeof(args[0]))


cdef void set_move(Scatter* s, int move, int dt) noexcept:
    """Truth values are joined by `or` and `and`."""
    memset(s, 0, sizeof(s[0]))
    s.move = move
    s.padding = -1
    if dt == DT_BOOL and move == ADD:
        s.move = MAX
    elif dt == DT_BOOL and move == PROD:
        s.move = MIN


cdef Tensor with_copy(Tensor out, Tensor a):
    """`out`, which holds the elements of `a`."""
    if out is not a:
        copy_into(out, a, "scatter")
    return out


# --- along a dimension --------------------------------------------------------------------------

cdef int scatter_along(Tensor out, Tensor a, int dim, Tensor index, Tensor source, int move,
                       bint with_self, bint mean, int kind, const char* op) except -1:
    """
    `out` may be `a`, and have any strides; the index has the dimensions of the source.

    Dimensions but `dim` along which the index repeats itself are columns.
    """
    cdef Scatter s
    cdef Tensor wide
    cdef int64_t item = DT_SIZE[a.dt], key = 1
    cdef int64_t keys[64]
    cdef int d, at, device = out.mem.device
    cdef bint column
    index = index_on(index, device)
    source = resolved(to_device(source, device))
    with_copy(out, a)
    if index.count == 0:
        return 0
    if index.nd == 0 and a.nd:
        index, source = as_vector(index), as_vector(source)
    set_move(&s, move, a.dt)
    s.with_self, s.mean, s.op = with_self, mean, op
    begin_index(&s.index, kind, False, device)
    if is_short(out, dim, index):
        set_index(&s.index, index, out.sizes[dim], 0, dim)
        return scatter_short(&s, out, dim, index, source)
    begin_walk(&s.places, 2)
    begin_walk(&s.source, 1)
    begin_walk(&s.keys, 1)
    begin_walk(&s.columns, 2)
    for d in range(a.nd - 1, -1, -1):
        keys[d] = key
        if d == dim or index.strides[d] != 0 or index.sizes[d] == 1:
            key *= a.sizes[d]
    if out.count == 0:
        return check_only(index, a.sizes[dim], kind, op, dim, device)
    set_index(&s.index, index, a.sizes[dim] if a.nd else 1, keys[dim] if a.nd else 0, dim)
    for d in range(index.nd if a.nd else 0):
        column = d != dim and index.strides[d] == 0 and index.sizes[d] != 1
        if column:
            at = add_dim(&s.columns, index.sizes[d])
            s.columns.step[0][at] = out.strides[d] * item
            s.columns.step[1][at] = source.strides[d] * item
            continue
        at = add_dim(&s.places, index.sizes[d])
        s.places.step[0][at] = 0 if d == dim else keys[d]
        s.places.step[1][at] = index.strides[d] * DT_SIZE[index.dt]
        at = add_dim(&s.source, index.sizes[d])
        s.source.step[0][at] = source.strides[d] * item
        at = add_dim(&s.keys, a.sizes[d])
        s.keys.step[0][at] = out.strides[d] * item
    if a.nd == 0:
        at = add_dim(&s.places, index.count)
        add_dim(&s.source, index.count)
        if index.nd:
            s.places.step[1][at] = index.strides[0] * DT_SIZE[index.dt]
        if source.nd:
            s.source.step[0][at] = source.strides[0] * item
    if run_scatter(&s, out, source):
        return 0
    # Too many dimensions: in dense memory, and with a key for each element, there are few.
    wide = tensor_empty_on(device, out.dt, out.nd, out.sizes, NULL)
    copy_into(wide, out, "scatter")
    source = contiguous(tensor_window(source, index.nd, index.sizes, source.strides, 0))
    scatter_along(wide, wide, dim, contiguous(index), source, move, with_self, mean, kind, op)
    return copy_into(out, wide, "scatter")


cdef bint is_short(Tensor out, int dim, Tensor index) noexcept:
    """Tell if it is cheaper that each element of the result looks through the index."""
    if not 0 < out.nd <= AG_CUDA_DIMS or index.nd != out.nd or out.count == 0:
        return False
    if DT_U16 <= out.dt <= DT_U64:
        return False
    return index.sizes[dim] <= _short or index.sizes[dim] <= _short_work // out.count


cdef int scatter_short(Scatter* s, Tensor out, int dim, Tensor index, Tensor source) except -1:
    cdef ag_short_scatter_args args
    cdef int64_t item = DT_SIZE[out.dt]
    cdef int d, k
    memset(&args, 0, sizeof(args))
    args.out, args.in_ = out.ptr, source.ptr
    args.index = s.index
    args.op = called(device_index(out.mem.device), s.op)
    args.n, args.nd, args.dt = out.count, out.nd, out.dt
    args.move, args.with_self, args.mean = s.move, s.with_self, s.mean
    args.length = index.sizes[dim]
    args.index_step = index.strides[dim] * DT_SIZE[index.dt]
    args.in_step = source.strides[dim] * item
    args.dim = out.nd - 1 - dim
    for d in range(out.nd):
        k = out.nd - 1 - d
        set_divisor(&args.size[k], out.sizes[d])
        args.out_stride[k] = out.strides[d] * item
        args.limit[k] = out.sizes[d] if d == dim else index.sizes[d]
        if d != dim:
            args.in_stride[k] = source.strides[d] * item
            args.index.stride[0][k] = index.strides[d] * DT_SIZE[index.dt]
    return launch_each(shortly[out.dt], out.mem.device, args.n, &args, sizeof(args))


cdef Tensor as_vector(Tensor a):
    """A number as a vector of one; a vector stays."""
    cdef Py_ssize_t[1] one
    one[0] = 1
    return tensor_window(a, 1, one, one, 0) if a.nd == 0 else a


cdef Tensor along(Tensor index, int dim, Tensor source):
    """A vector of indices as one for each element of the source."""
    cdef Py_ssize_t strides[MAX_DIMS]
    cdef int d
    for d in range(source.nd):
        strides[d] = 0
    if source.nd and index.nd:
        strides[dim] = index.strides[0]
    return tensor_window(index, source.nd, source.sizes, strides, 0)


cdef int slices_along(Tensor out, Tensor a, int dim, Tensor index, Tensor source, int move,
                      bint with_self, bint mean, int kind, const char* op) except -1:
    cdef int device = out.mem.device
    if source.count == 0:       # the indices are looked at all the same
        check_only(index_on(index, device), a.sizes[dim] if a.nd else 1, kind, op, dim, device)
    return scatter_along(out, a, dim, along(index, dim, source), source, move, with_self, mean,
                         kind, op)


cdef int scatter(Tensor out, Tensor a, Py_ssize_t dim, Tensor index, Tensor src) except -1:
    return scatter_along(out, a, <int>normal_dim(dim, a.nd), index, src, LAST, False, False,
                         FAULT_PLACE, "scatter")


cdef int scatter_add(Tensor out, Tensor a, Py_ssize_t dim, Tensor index, Tensor src) except -1:
    return scatter_along(out, a, <int>normal_dim(dim, a.nd), index, src, ADD, True, False,
                         FAULT_PLACE, "scatter_add")


cdef int index_add(Tensor out, Tensor a, Py_ssize_t dim, Tensor index, Tensor source) except -1:
    return slices_along(out, a, <int>normal_dim(dim, a.nd), index, source, ADD, True, False,
                        FAULT_PLACE, "index_add")


cdef dict MOVES = {"sum": ADD, "mean": ADD, "prod": PROD, "amax": MAX, "amin": MIN}


cdef int scatter_reduce(Tensor out, Tensor a, Py_ssize_t dim, Tensor index, Tensor src, str reduce,
                        bint include_self) except -1:
    return scatter_along(out, a, <int>normal_dim(dim, a.nd), index, src, <int>MOVES[reduce],
                         include_self, reduce == "mean", FAULT_PLACE, "scatter_reduce")


cdef int index_reduce(Tensor out, Tensor a, Py_ssize_t dim, Tensor index, Tensor source,
                      str reduce, bint include_self) except -1:
    return slices_along(out, a, <int>normal_dim(dim, a.nd), index, source, <int>MOVES[reduce],
                        include_self, reduce == "mean", FAULT_REDUCED_INDEX,
                        "index_reduce")


# --- x[i, j, ...] = values ------------------------------------------------------------------------

cdef Tensor fitted(Tensor values, int nd, const Py_ssize_t* shape):
    """The values in the shape of what is selected."""
    while values.nd > nd:
        values = tensor_window(values, values.nd - 1, values.sizes + 1, values.strides + 1, 0)
    return expand_plain(values, nd, shape, "index_put_")


cdef int put_elements(Tensor out, Tensor a, object indices, Tensor values, bint accumulate,
                      list masks) except -1:
    """Write or add values at indices; `out` may be `a`, and have any strides."""
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef Places places
    cdef int device = out.mem.device
    values = resolved(cast(to_device(values, device), a.dt))
    with_copy(out, a)
    places = resolve_indices(out, <tuple>indices, masks)
    if places.n == 0:
        return copy_into(out, values, "index_put_")
    values = fitted(values, selected_shape(places, shape), shape)
    if put_places(places, values, accumulate):
        return 0
    return put_places_in_dense(places, values, accumulate)


cdef int selected_shape(Places places, Py_ssize_t* shape) noexcept:
    """The shape of what is selected; returns its number of dimensions."""
    cdef Tensor x = places.source
    cdef int d, k, nd = 0
    for d in range(x.nd):
        if d == places.before:
            for k in range(places.nd):
                shape[nd] = places.shape[k]
                nd += 1
        if not places.taken[d]:
            shape[nd] = x.sizes[d]
            nd += 1
    return nd


cdef int put_places(Places places, Tensor values, bint accumulate) except -1:
    """Returns 0 if there are too many dimensions, and nothing has happened."""
    cdef Scatter s
    cdef Tensor x = places.source
    cdef int64_t item = DT_SIZE[x.dt], key = 1
    cdef int64_t steps[64]
    cdef int d, k, at, nd = 0, device = x.mem.device
    set_move(&s, ADD if accumulate else LAST, x.dt)
    s.with_self = True
    s.op = "index_put"
    begin_walk(&s.keys, 1)
    begin_walk(&s.columns, 2)
    begin_walk(&s.source, 1)
    for k in range(places.n - 1, -1, -1):
        steps[k] = key
        key *= x.sizes[places.dim[k]]
    for k in range(places.n):
        at = add_dim(&s.keys, x.sizes[places.dim[k]])
        s.keys.step[0][at] = x.strides[places.dim[k]] * item
    for d in range(x.nd):
        if d == places.before:
            for k in range(places.nd):
                at = add_dim(&s.source, places.shape[k])
                s.source.step[0][at] = values.strides[nd] * item
                nd += 1
        if not places.taken[d]:
            at = add_dim(&s.columns, x.sizes[d])
            s.columns.step[0][at] = x.strides[d] * item
            s.columns.step[1][at] = values.strides[nd] * item
            nd += 1
    join_walk(&s.keys)
    join_walk(&s.source)
    join_walk(&s.columns)
    if max(s.keys.nd, s.source.nd, s.columns.nd + 1) > AG_CUDA_DIMS:
        return 0
    if x.count == 0 or walk_count(&s.columns) == 0:
        check_places(places, s.op, device)
        return 1
    join_places(places, steps, s.op, device)
    set_places(&s.index, places, steps, device)
    begin_walk(&s.places, 1 + places.n)
    add_places(places, &s.places, 1)
    return run_scatter(&s, x, values)


cdef int put_places_in_dense(Places places, Tensor values, bint accumulate) except -1:
    """Write to a copy in which dimensions can be joined: the indexed ones come first."""
    cdef Tensor x = places.source, turned
    cdef list order = [d for d in range(x.nd) if places.taken[d]]
    cdef list shown = list(range(places.before, places.before + places.nd))
    cdef int k
    order += [d for d in range(x.nd) if not places.taken[d]]
    turned = permute_plain(x, tuple(order))
    places.source = contiguous(turned)
    for k in range(x.nd):
        places.taken[k] = k < places.n
    for k in range(places.n):
        places.dim[k] = k
    places.before = 0
    shown += [d for d in range(values.nd) if d not in shown]
    values = permute_plain(values, tuple(shown))
    put_places(places, contiguous(values), accumulate)
    return 0 if places.source is turned else copy_into(turned, places.source, "index_put_")


# --- embeddings -----------------------------------------------------------------------------------

cdef int embedding_backward(Tensor out, Tensor grad, Tensor indices, Py_ssize_t rows,
                            Py_ssize_t padding, bint scale) except -1:
    cdef Scatter s
    cdef int64_t item = DT_SIZE[out.dt]
    cdef int d, device = out.mem.device, last = grad.nd - 1
    indices = index_on(indices, device)
    if out.count == 0:
        return check_only(indices, rows, FAULT_EMBEDDING, BACKWARD, 0, device)
    fill_with(out, 0)
    set_move(&s, ADD, out.dt)
    s.mean = scale
    s.padding = padding             # none below 0
    s.op = BACKWARD
    begin_index(&s.index, FAULT_EMBEDDING, False, device)
    set_index(&s.index, indices, rows, 1, 0)
    grad = resolved(cast(grad, out.dt))
    if indices.nd >= AG_CUDA_DIMS:
        indices, grad = contiguous(indices), contiguous(grad)
        s.index.at[0] = indices.ptr
    begin_walk(&s.places, 2)
    begin_walk(&s.source, 1)
    begin_walk(&s.keys, 1)
    begin_walk(&s.columns, 2)
    for d in range(indices.nd):
        add_dim(&s.places, indices.sizes[d])
        s.places.step[1][d] = indices.strides[d] * DT_SIZE[indices.dt]
        add_dim(&s.source, indices.sizes[d])
        s.source.step[0][d] = grad.strides[d] * item
    add_dim(&s.keys, rows)
    s.keys.step[0][0] = out.strides[0] * item
    add_dim(&s.columns, out.sizes[1])
    s.columns.step[0][0], s.columns.step[1][0] = out.strides[1] * item, grad.strides[last] * item
    return run_scatter(&s, out, grad) - 1


cdef int embedding_rows(Tensor out, Tensor grad, Tensor indices, Py_ssize_t padding,
                        bint scale) except -1:
    """The adjoint: rows by index, zeros for the padding, divided by how often they occur."""
    cdef ag_row_shares_args args
    cdef Tensor counts, ones
    cdef Py_ssize_t rows = grad.sizes[0]
    cdef Py_ssize_t steps[1]
    cdef int device = out.mem.device, dt = dt_real(out.dt)
    indices = contiguous(cast(to_device(indices, device), DT_I64))
    grad = cast(grad, out.dt)
    take_rows(out, grad, indices, BACKWARD)
    if out.count == 0 or (padding < 0 and not scale):
        return 0
    memset(&args, 0, sizeof(args))
    args.out = out.ptr
    args.index = <const int64_t*>indices.ptr
    args.padding = padding
    args.rows = rows
    args.n = out.count * (DT_SIZE[out.dt] // DT_SIZE[dt])
    set_divisor(&args.columns, args.n // indices.count)
    if scale:
        counts = zeros_on(device, DT_I64, 1, &rows)
        ones = tensor_empty_on(device, DT_I64, 0, NULL, NULL)
        fill_dense(ones, 1)
        steps[0] = 0
        rows = indices.count
        ones = tensor_window(ones, 1, &rows, steps, 0)
        steps[0] = 1
        scatter_along(counts, counts, 0, tensor_window(indices, 1, &rows, steps, 0), ones, ADD,
                      True, False, FAULT_EMBEDDING, BACKWARD)
        args.counts = <const int64_t*>counts.ptr
    return launch_each(sharing[dt], device, args.n, &args, sizeof(args))


# --- the column of the device -----------------------------------------------------------------

cdef const char* ONTO = "int (Tensor, Tensor, Py_ssize_t, Tensor, Tensor)"
cdef const char* REDUCED = "int (Tensor, Tensor, Py_ssize_t, Tensor, Tensor, str, bint)"

KERNELS = {
    "index_add": PyCapsule_New(<void*>index_add, ONTO, NULL),
    "scatter_add": PyCapsule_New(<void*>scatter_add, ONTO, NULL),
    "scatter_src": PyCapsule_New(<void*>scatter, ONTO, NULL),
    "scatter_reduce": PyCapsule_New(<void*>scatter_reduce, REDUCED, NULL),
    "index_reduce": PyCapsule_New(<void*>index_reduce, REDUCED, NULL),
    "_index_put": PyCapsule_New(
        <void*>put_elements, "int (Tensor, Tensor, object, Tensor, bint, list)", NULL),
    "embedding_dense_backward": PyCapsule_New(
        <void*>embedding_backward, "int (Tensor, Tensor, Tensor, Py_ssize_t, Py_ssize_t, bint)",
        NULL),
    "_embedding_rows": PyCapsule_New(
        <void*>embedding_rows, "int (Tensor, Tensor, Tensor, Py_ssize_t, bint)", NULL),
}
