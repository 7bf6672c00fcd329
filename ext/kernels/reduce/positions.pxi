# Positions of the largest and smallest elements (part of reduce.pyx).

cdef struct ArgPlan:
    int op
    int dt
    const char* p
    char* values
    int64_t* index
    Py_ssize_t outer       # the tensor is (outer, size, inner), dense
    Py_ssize_t size
    Py_ssize_t inner
    Py_ssize_t item
    Py_ssize_t block       # rows or columns of a tile
    Py_ssize_t blocks      # tiles across `inner`
    Py_ssize_t chunk       # elements of a row in one tile
    Py_ssize_t chunks
    double work
    char* part_values      # one for each piece of a row
    int64_t* part_index


cdef inline void call_arg(ArgPlan* plan, bint cols, const char* p, Py_ssize_t rows,
                          Py_ssize_t step, Py_ssize_t n, char* values,
                          int64_t* index) noexcept nogil:
    cdef bint half = plan.dt == DT_F16 or plan.dt == DT_BF16
    if half and cols:
        T.half_arg_cols(plan.op, plan.dt, p, rows, step, n, values, index)
    elif half:
        T.half_arg_rows(plan.op, plan.dt, p, rows, step, n, values, index)
    elif cols:
        T.arg_cols[plan.op][plan.dt](p, rows, step, n, values, index)
    else:
        T.arg_rows[plan.op][plan.dt](p, rows, step, n, values, index)


cdef void arg_rows_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef ArgPlan* plan = <ArgPlan*>ctx
    cdef Py_ssize_t first = tile * plan.block
    cdef Py_ssize_t rows = plan.outer - first if plan.outer - first < plan.block else plan.block
    cdef Py_ssize_t step = plan.size * plan.item
    call_arg(plan, False, plan.p + first * step, rows, step, plan.size,
             plan.values + first * plan.item, plan.index + first)


cdef void arg_chunk_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    """Piece of a long row."""
    cdef ArgPlan* plan = <ArgPlan*>ctx
    cdef Py_ssize_t row = tile // plan.chunks, start = tile % plan.chunks * plan.chunk
    cdef Py_ssize_t n = plan.size - start if plan.size - start < plan.chunk else plan.chunk
    call_arg(plan, False, plan.p + (row * plan.size + start) * plan.item, 1, 0, n,
             plan.part_values + tile * plan.item, plan.part_index + tile)
    plan.part_index[tile] += start


cdef void arg_cols_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef ArgPlan* plan = <ArgPlan*>ctx
    cdef Py_ssize_t outer = tile // plan.blocks, first = tile % plan.blocks * plan.block
    cdef Py_ssize_t n = plan.inner - first if plan.inner - first < plan.block else plan.block
    cdef Py_ssize_t at = outer * plan.inner + first
    call_arg(plan, True, plan.p + (outer * plan.size * plan.inner + first) * plan.item, plan.size,
             plan.inner * plan.item, n, plan.values + at * plan.item, plan.index + at)


cdef void arg_long_rows(void* ctx) noexcept nogil:
    """Rows too long for one tile: positions of the pieces, then the best of those."""
    cdef ArgPlan* plan = <ArgPlan*>ctx
    cdef Py_ssize_t row
    cdef int64_t at
    parallel_for(arg_chunk_tile, plan, plan.outer * plan.chunks, team_size(plan.work))
    for row in range(plan.outer):
        # The first of equal pieces wins, and inside a piece the first element: so does a NaN.
        call_arg(plan, False, plan.part_values + row * plan.chunks * plan.item, 1, 0, plan.chunks,
                 plan.values + row * plan.item, &at)
        plan.index[row] = plan.part_index[row * plan.chunks + at]


cdef int arg_into(int op, Tensor a, int dim, Tensor values, Tensor index) except -1:
    cdef ArgPlan plan
    cdef Launch work
    cdef Tensor part_values, part_index
    cdef Py_ssize_t n
    cdef int d
    a = contiguous(a)
    plan.op = op
    plan.dt = a.dt
    plan.item = DT_SIZE[a.dt]
    plan.p = a.ptr
    plan.values = values.ptr
    plan.index = <int64_t*>index.ptr
    plan.outer = plan.inner = 1
    plan.size = a.sizes[dim] if a.nd else 1
    plan.work = a.count
    for d in range(dim):
        plan.outer *= a.sizes[d]
    for d in range(dim + 1, a.nd):
        plan.inner *= a.sizes[d]
    begin(&work, "arg_extreme", &plan, sizeof(plan), KIND_REDUCE)
    operand(&work, &plan.p, a, READS)
    operand(&work, &plan.values, values, WRITES)
    operand(&work, &plan.index, index, WRITES)
    if plan.inner > 1 and plan.size < 1 << 31:
        plan.block = even_block(plan.inner, COLS)
        plan.blocks = parts(plan.inner, plan.block)
        return launch_tiles(&work, arg_cols_tile, plan.outer * plan.blocks, plan.work)
    if plan.inner > 1:
        raise RuntimeError("a dimension of more than 2**31 elements must be the last one here")
    if plan.size <= TILE_WORK:
        plan.block = clip(TILE_WORK // plan.size, 1, plan.outer)
        return launch_tiles(&work, arg_rows_tile, parts(plan.outer, plan.block),
                            plan.work)
    plan.chunk = TILE_WORK
    plan.chunks = parts(plan.size, plan.chunk)
    n = plan.outer * plan.chunks
    part_values = tensor_empty(a.dt, 1, &n)
    part_index = tensor_empty(DT_I64, 1, &n)
    plan.part_values = part_values.ptr
    plan.part_index = <int64_t*>part_index.ptr
    operand(&work, &plan.part_values, part_values, SCRATCH)
    operand(&work, &plan.part_index, part_index, SCRATCH)
    return launch(&work, arg_long_rows, plan.work)


cdef int max_dim_into(Tensor values, Tensor index, Tensor a, Py_ssize_t dim,
                      bint keepdim) except -1:
    return arg_into(R_MAX, a, <int>normal_dim(dim, a.nd), values, index) if a.count else 0


cdef int min_dim_into(Tensor values, Tensor index, Tensor a, Py_ssize_t dim,
                      bint keepdim) except -1:
    return arg_into(R_MIN, a, <int>normal_dim(dim, a.nd), values, index) if a.count else 0


cdef int place_of_extreme(int op, Tensor index, Tensor a, object dim) except -1:
    cdef Tensor values
    if a.count == 0:
        return 0
    if dim is None:
        dim = 0
        a = contiguous(a)
        a = tensor_window(a, 1, &a.count, NULL, 0)
    values = tensor_empty(a.dt, index.nd, index.sizes)
    return arg_into(op, a, <int>normal_dim(dim, a.nd), values, index)


cdef int argmax_into(Tensor out, Tensor a, object dim, bint keepdim) except -1:
    return place_of_extreme(R_MAX, out, a, dim)


cdef int argmin_into(Tensor out, Tensor a, object dim, bint keepdim) except -1:
    return place_of_extreme(R_MIN, out, a, dim)
