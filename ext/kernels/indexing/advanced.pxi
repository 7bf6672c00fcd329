# Advanced indexing (part of indexing.pyx).

cdef enum:
    TAKE = 0
    PUT = 1
    PUT_ADD = 2
    FEW_PLACES = 64         # offsets that a plan can hold

cdef struct Span:
    Py_ssize_t size
    Py_ssize_t x            # bytes in the indexed tensor
    Py_ssize_t y            # bytes in the other one, which is dense

cdef struct TakePlan:
    int mode
    int dt
    Py_ssize_t item
    char* x
    char* y
    int64_t* offsets        # byte offsets of the selected blocks
    char* scratch           # for more than FEW_PLACES of them
    int64_t few[64]
    Py_ssize_t n            # how many there are
    int n_k                 # dimensions that are indexed
    const int64_t* k[64]    # where in each, as dense as the offsets
    Py_ssize_t size[64]
    Py_ssize_t step[64]     # bytes
    double work
    Span outer[64]          # dimensions before the indexed ones
    int n_outer
    Span inner[64]          # those after them
    int n_inner
    Py_ssize_t outers
    Py_ssize_t inners       # elements of a block
    loop_t loop
    Py_ssize_t block        # offsets of a tile
    Py_ssize_t blocks
    Py_ssize_t columns      # elements of the last inner span in one tile
    Py_ssize_t column_blocks


cdef inline int join_span(Span* spans, int n, Py_ssize_t size, Py_ssize_t x, Py_ssize_t y) noexcept:
    """Append a dimension, joined with the last one where both tensors allow it."""
    if size == 1:
        return n
    if n and spans[n - 1].x == size * x and spans[n - 1].y == size * y:
        n -= 1
        spans[n].size *= size
    else:
        spans[n].size = size
    spans[n].x = x
    spans[n].y = y
    return n + 1


cdef inline void walk_spans(const Span* spans, int n, Py_ssize_t index, char** x,
                            char** y) noexcept nogil:
    cdef Py_ssize_t i
    cdef int d
    for d in range(n - 1, -1, -1):
        i = index % spans[d].size
        index = index // spans[d].size
        x[0] += i * spans[d].x
        y[0] += i * spans[d].y


cdef inline void move_run(TakePlan* plan, char* x, char* y, Py_ssize_t n, Py_ssize_t xs,
                          Py_ssize_t ys) noexcept nogil:
    cdef char* p[3]
    cdef Py_ssize_t step[3]
    if plan.mode == TAKE:
        p[0] = y
        p[1] = x
        step[0] = ys
        step[1] = xs
    else:
        p[0] = p[1] = x
        step[0] = step[1] = xs
        p[2] = y
        step[2] = ys
        if plan.mode == PUT:
            p[1] = y
            step[1] = ys
    plan.loop(p, step, n)


cdef void take_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef TakePlan* plan = <TakePlan*>ctx
    cdef Py_ssize_t column = tile % plan.column_blocks * plan.columns
    cdef Py_ssize_t rest = tile // plan.column_blocks
    cdef Py_ssize_t first = rest % plan.blocks * plan.block
    cdef Py_ssize_t n = least(plan.n - first, plan.block), i, j, count
    cdef Py_ssize_t size = plan.inners * plan.item
    cdef char* x = plan.x
    cdef char* y = plan.y
    cdef char* u
    cdef char* v
    cdef const Span* last
    walk_spans(plan.outer, plan.n_outer, rest // plan.blocks, &x, &y)
    y += first * size
    if plan.n_inner == 0:
        if plan.mode == PUT_ADD:
            add_any(plan.dt, y, plan.item, x, 0, 1, plan.offsets + first, n)
        else:
            move_words(MOVE_GATHER if plan.mode == TAKE else MOVE_SCATTER, plan.item, y,
                       plan.item, x, 0, 1, plan.offsets + first, n)
        return
    last = &plan.inner[plan.n_inner - 1]
    count = least(last.size - column, plan.columns)
    for i in range(n):
        u = x + plan.offsets[first + i] + column * last.x
        v = y + i * size + column * last.y
        if plan.n_inner == 1:
            if plan.mode == TAKE and last.x == plan.item:
                memcpy(v, u, count * plan.item)
            else:
                move_run(plan, u, v, count, last.x, last.y)
            continue
        for j in range(plan.inners // last.size):
            u = x + plan.offsets[first + i] + column * last.x
            v = y + i * size + column * last.y
            walk_spans(plan.inner, plan.n_inner - 1, j, &u, &v)
            move_run(plan, u, v, count, last.x, last.y)


cdef void take_run(void* ctx) noexcept nogil:
    cdef TakePlan* plan = <TakePlan*>ctx
    cdef Py_ssize_t i, size, step, tiles = plan.outers * plan.blocks * plan.column_blocks
    cdef const int64_t* k
    cdef int d
    plan.offsets = &plan.few[0] if plan.n <= FEW_PLACES else <int64_t*>plan.scratch
    for d in range(plan.n_k):
        k = plan.k[d]
        size = plan.size[d]
        step = plan.step[d]
        if d == 0:
            for i in range(plan.n):
                plan.offsets[i] = (k[i] + (size if k[i] < 0 else 0)) * step
        else:
            for i in range(plan.n):
                plan.offsets[i] += (k[i] + (size if k[i] < 0 else 0)) * step
    if plan.work < GIVE_UP_GIL:
        for i in range(tiles):
            take_tile(plan, i)
    else:
        parallel_for(take_tile, plan, tiles, team_size(plan.work))


# --- from a tuple of indices to places -------------------------------------------------------

cdef class Places:
    """The resolved index: what each dimension is indexed with, and the shape of the result."""
    cdef list index             # per dimension of `source`: None or a dense int64 tensor
    cdef Tensor source          # the tensor, with a new dimension for each 0-d mask
    cdef Py_ssize_t shape[64]   # of the broadcast index tensors
    cdef int nd
    cdef Py_ssize_t n
    cdef int first              # first indexed dimension
    cdef bint together          # indexed dimensions are neighbours
    cdef uint64_t inside        # a bit for each whose positions are known to exist


cdef list mask_positions(Tensor mask):
    """One dense int64 vector per dimension of a dense mask."""
    cdef Tensor positions
    cdef Py_ssize_t[2] shape
    cdef Py_ssize_t[1] step
    cdef int d
    shape[0] = count_true(<const uint8_t*>mask.ptr, mask.count)
    shape[1] = step[0] = mask.nd
    positions = tensor_empty(DT_I64, 1 if mask.nd == 1 else 2, shape)
    nonzero(positions, mask, [])
    if mask.nd == 1:
        return [positions]
    return [contiguous(tensor_window(positions, 1, shape, step, d)) for d in range(mask.nd)]


cdef Tensor with_new_dim(Tensor a, int d):
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Py_ssize_t[MAX_DIMS] strides
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


cdef Tensor as_vector(Tensor a):
    cdef Py_ssize_t[1] shape
    cdef Py_ssize_t[1] step
    a = contiguous(a)
    shape[0], step[0] = a.count, 1
    return tensor_window(a, 1, shape, step, 0)


cdef int add_mask(Places places, Tensor mask, bint alone) except -1:
    cdef Py_ssize_t[1] one
    cdef Tensor zeros, joined
    if mask.nd > 1 and alone:
        joined = with_joined_dims(places.source, <int>len(places.index), mask.nd)
        if joined is not None:        # one number for each place, not one for each dimension
            places.source = joined
            mask = as_vector(mask)
    if mask.nd:
        for entry in mask_positions(mask):
            places.inside |= <uint64_t>1 << len(places.index)
            places.index.append(entry)
        return 0
    # A new dimension with one element or none.
    one[0] = 1 if (<const uint8_t*>mask.ptr)[0] else 0
    zeros = tensor_empty(DT_I64, 1, one)
    memset(zeros.ptr, 0, one[0] * sizeof(int64_t))
    places.source = with_new_dim(places.source, len(places.index))
    places.index.append(zeros)
    return 0


cdef int broadcast_places(Places places) except -1:
    cdef Tensor t
    cdef int d, shift, i, last = -1
    places.nd = 0
    places.first = -1
    places.together = True
    for i, entry in enumerate(places.index):
        if entry is None:
            continue
        t = <Tensor>entry
        if places.first < 0:
            places.first = i
        elif last != i - 1:
            places.together = False
        last = i
        if t.nd > places.nd:
            shift = t.nd - places.nd
            for d in range(places.nd - 1, -1, -1):
                places.shape[d + shift] = places.shape[d]
            for d in range(shift):
                places.shape[d] = 1
            places.nd = t.nd
        shift = places.nd - t.nd
        for d in range(t.nd):
            if t.sizes[d] != 1:
                places.shape[d + shift] = t.sizes[d]
    places.n = 1
    for d in range(places.nd):
        places.n *= places.shape[d]
    return 0


cdef int check_places(Places places) except -1:
    """Refuse what lies outside; nothing is asked if no place is left."""
    cdef Py_ssize_t size
    cdef int d
    if places.n == 0:
        return 0
    for d in range(len(places.index)):
        if places.index[d] is not None and not places.inside >> d & 1:
            size = places.source.sizes[d]
            check_range(<Tensor>places.index[d], -size, size, FAULT_INDEX, NULL, d)
    return 0


cdef Places resolve(Tensor a, tuple indices, list masks):
    """The shape rule has checked all but the values; `masks` are those among the indices, dense."""
    cdef Places places = Places.__new__(Places)
    cdef Tensor t
    cdef int k = 0
    cdef bint alone = len([entry for entry in indices if entry is not None]) == 1
    places.source = a
    places.index = []
    places.inside = 0
    for entry in indices:
        if entry is None:
            places.index.append(None)
            continue
        t = <Tensor>entry
        if t.dt == DT_BOOL:
            add_mask(places, contiguous(t) if masks is None else <Tensor>masks[k], alone)
            k += 1
        else:
            places.index.append(positions(t))
    broadcast_places(places)
    check_places(places)
    return places


cdef int selected_shape(Places places, Py_ssize_t* shape) noexcept:
    """Shape of the selection; returns its number of dimensions."""
    cdef Tensor a = places.source
    cdef int d, n = 0, i, length = len(places.index)
    cdef int before = places.first if places.together else 0
    for d in range(before):
        shape[n] = a.sizes[d]
        n += 1
    for i in range(places.nd):
        shape[n] = places.shape[i]
        n += 1
    for d in range(before, a.nd):
        if d >= length or places.index[d] is None:
            shape[n] = a.sizes[d]
            n += 1
    return n


cdef int run_take(int mode, Places places, Tensor other) except -1:
    """Move between places.source and `other`, a dense tensor of the selection's shape."""
    cdef TakePlan plan
    cdef Launch work
    cdef Tensor a = places.source
    cdef Operand operands[MAX_DIMS + 3]
    cdef StorageImpl* scratch = NULL
    cdef Py_ssize_t y, inner_y
    cdef int d, length = len(places.index), before = places.first if places.together else 0
    if other.count == 0:
        return 0
    plan.mode = mode
    plan.dt = a.dt
    plan.item = DT_SIZE[a.dt]
    plan.x = a.ptr
    plan.y = other.ptr
    plan.n = places.n
    plan.loop = KT.loops[K_ADD if mode == PUT_ADD else K_COPY][<int>a.dt]
    plan.n_outer = plan.n_inner = 0
    plan.outers = plan.inners = 1
    for d in range(before, a.nd):
        if d >= length or places.index[d] is None:
            plan.inners *= a.sizes[d]
    y = plan.n * plan.inners * plan.item
    for d in range(before):
        plan.outers *= a.sizes[d]
    inner_y = y * plan.outers
    for d in range(before):
        inner_y = inner_y // a.sizes[d]
        plan.n_outer = join_span(plan.outer, plan.n_outer, a.sizes[d], a.strides[d] * plan.item,
                                 inner_y)
    inner_y = plan.inners * plan.item
    for d in range(before, a.nd):
        if d >= length or places.index[d] is None:
            inner_y = inner_y // a.sizes[d]
            plan.n_inner = join_span(plan.inner, plan.n_inner, a.sizes[d],
                                     a.strides[d] * plan.item, inner_y)
    cut_take(&plan)
    begin(&work, "index" if mode == TAKE else "index_put", &plan, sizeof(plan),
          KIND_GATHER if mode == TAKE else KIND_SCATTER)
    spread(&work, operands, MAX_DIMS + 3)
    operand(&work, &plan.x, a, READS if mode == TAKE else UPDATES)
    operand(&work, &plan.y, other, WRITES if mode == TAKE else READS)
    if plan.n > FEW_PLACES:
        scratch = storage_new(plan.n * sizeof(int64_t))
        plan.scratch = scratch.data
        memory(&work, &plan.scratch, scratch, SCRATCH)
    plan.n_k = 0
    plan.work = 2.0 * other.count
    try:
        for d in range(length):
            if places.index[d] is not None:
                add_index(places, d, &plan, &work)
        return launch(&work, take_run, plan.work)
    finally:
        if scratch != NULL:
            storage_decref(scratch)


cdef int add_index(Places places, int d, TakePlan* plan, Launch* work) except -1:
    cdef Tensor t = <Tensor>places.index[d]
    cdef int i
    cdef bint spread = t.nd != places.nd
    for i in range(t.nd):
        spread = spread or t.sizes[i] != places.shape[i]
    if spread:
        t = contiguous(expand_plain(t, places.nd, places.shape, "index"))
        places.index[d] = t          # which keeps it until the launch
    plan.k[plan.n_k] = <const int64_t*>t.ptr
    plan.size[plan.n_k] = places.source.sizes[d]
    plan.step[plan.n_k] = places.source.strides[d] * plan.item
    operand(work, &plan.k[plan.n_k], t, READS)
    plan.n_k += 1
    return 0


cdef void cut_take(TakePlan* plan) noexcept:
    """Tiles: pieces of the index when reading, pieces of the blocks when writing."""
    cdef Py_ssize_t last = plan.inner[plan.n_inner - 1].size if plan.n_inner else 1
    plan.columns = last
    plan.block = plan.n
    if plan.mode == TAKE:
        plan.block = TILE_WORK // plan.inners + 1
    elif plan.outers == 1:
        plan.columns = least(last, 64)
    plan.blocks = parts(plan.n, plan.block)
    plan.column_blocks = parts(last, plan.columns)


cdef int check_count(Py_ssize_t count, Py_ssize_t n) except -1:
    if count != n:
        raise RuntimeError("index: a mask was changed by another thread while it was read")
    return 0


cdef int index_elements(Tensor out, Tensor a, object indices, list masks) except -1:
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Py_ssize_t n = 1
    cdef Places places
    cdef int d
    if masks is not None and move_by_mask(TAKE, a, <tuple>indices, masks, out):
        return 0
    places = resolve(a, <tuple>indices, masks)
    if places.first < 0:
        return copy_into(out, a, "index")
    if masks is not None:
        for d in range(selected_shape(places, shape)):
            n *= shape[d]
        check_count(out.count, n)
    return run_take(TAKE, places, out)


cdef int put_elements(Tensor out, Tensor a, object indices, Tensor values, bint accumulate,
                      list masks) except -1:
    """Write or add values at indices; `out` may be `a`, and have any strides."""
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Tensor target = out
    cdef Places places
    cdef int n
    if accumulate and is_half(a.dt):
        target = tensor_empty(DT_F32, a.nd, a.sizes)
    if masks is not None and put_by_mask(out, a, <tuple>indices, values, accumulate, masks):
        return 0
    places = resolve(target, <tuple>indices, masks)
    if target is not a:
        copy_into(target, a, "index_put")
    if places.first < 0:
        return copy_into(out, values, "index_put_")
    n = selected_shape(places, shape)
    values = fitted(cast(cast(values, a.dt), target.dt), n, shape)
    run_take(PUT_ADD if accumulate else PUT, places, values)
    return copy_into(out, target, "index_put_") if target is not out else 0


cdef Tensor fitted(Tensor values, int n, const Py_ssize_t* shape):
    """The tensor to be written, dense, in the shape of what is selected."""
    while values.nd > n:
        values = tensor_window(values, values.nd - 1, values.sizes + 1, values.strides + 1, 0)
    return contiguous(expand_plain(values, n, shape, "index_put_"))


cdef bint put_by_mask(Tensor out, Tensor a, tuple indices, Tensor values, bint accumulate,
                      list masks) except -1:
    """Write values where the only index, a mask over all of `a`, is true; False: not possible."""
    cdef Py_ssize_t[1] shape
    cdef Tensor mask = <Tensor>masks[0], before
    if len(indices) != 1 or mask.nd != a.nd or mask.count == 0 or not rows_are_long(out, mask):
        return False
    if out is not a:
        copy_into(out, a, "index_put")
    shape[0] = count_true(<const uint8_t*>mask.ptr, mask.count)
    values = fitted(cast(values, out.dt), 1, shape)
    if accumulate:              # each element is reached once
        before = tensor_empty(out.dt, 1, shape)
        move_by_mask(TAKE, out, indices, masks, before)
        values = ew2(K_ADD, before, values, P_SAME, before, "index_put")
    return move_by_mask(PUT, out, indices, masks, values)
