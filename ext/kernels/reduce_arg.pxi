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
    """Piece of a long row; values and index have one entry per piece."""
    cdef ArgPlan* plan = <ArgPlan*>ctx
    cdef Py_ssize_t row = tile // plan.chunks, start = tile % plan.chunks * plan.chunk
    cdef Py_ssize_t n = plan.size - start if plan.size - start < plan.chunk else plan.chunk
    call_arg(plan, False, plan.p + (row * plan.size + start) * plan.item, 1, 0, n,
             plan.values + tile * plan.item, plan.index + tile)
    plan.index[tile] += start


cdef void arg_cols_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef ArgPlan* plan = <ArgPlan*>ctx
    cdef Py_ssize_t outer = tile // plan.blocks, first = tile % plan.blocks * plan.block
    cdef Py_ssize_t n = plan.inner - first if plan.inner - first < plan.block else plan.block
    cdef Py_ssize_t at = outer * plan.inner + first
    call_arg(plan, True, plan.p + (outer * plan.size * plan.inner + first) * plan.item, plan.size,
             plan.inner * plan.item, n, plan.values + at * plan.item, plan.index + at)


cdef int arg_long_rows(ArgPlan* plan) except -1:
    """Rows too long for one tile: positions of the pieces, then the best of those."""
    cdef Py_ssize_t n = plan.outer * plan.chunks, row, best
    cdef char* values = plan.values
    cdef int64_t* index = plan.index
    cdef int64_t place
    plan.values = <char*>malloc(n * (plan.item + sizeof(int64_t)) + 16)
    if plan.values == NULL:
        raise MemoryError()
    plan.index = <int64_t*>(plan.values + (n * plan.item + 15) // 16 * 16)
    run_tiles(arg_chunk_tile, plan, n, <double>plan.outer * plan.size)
    for row in range(plan.outer):
        # The first of equal pieces wins, and inside a piece the first element: so does a NaN.
        call_arg(plan, False, plan.values + row * plan.chunks * plan.item, 1, 0, plan.chunks,
                 values + row * plan.item, &place)
        best = row * plan.chunks + place
        index[row] = plan.index[best]
    free(plan.values)
    return 0


cdef int arg_into(int op, Tensor a, int dim, Tensor values, Tensor index) except -1:
    cdef ArgPlan plan
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
    for d in range(dim):
        plan.outer *= a.sizes[d]
    for d in range(dim + 1, a.nd):
        plan.inner *= a.sizes[d]
    if plan.inner > 1 and plan.size < 1 << 31:
        plan.block = even_block(plan.inner, COLS)
        plan.blocks = (plan.inner + plan.block - 1) // plan.block
        run_tiles(arg_cols_tile, &plan, plan.outer * plan.blocks, a.count)
        return 0
    if plan.inner > 1:
        raise RuntimeError("a dimension of more than 2**31 elements must be the last one here")
    if plan.size > TILE_WORK:
        plan.chunk = TILE_WORK
        plan.chunks = (plan.size + plan.chunk - 1) // plan.chunk
        return arg_long_rows(&plan)
    plan.block = clip(TILE_WORK // plan.size, 1, plan.outer)
    run_tiles(arg_rows_tile, &plan, (plan.outer + plan.block - 1) // plan.block, a.count)
    return 0


cdef tuple extreme_dim(int op, str name, Tensor a, int dim, bint keepdim):
    cdef char[MAX_DIMS + 1] mask
    cdef Tensor values, index
    if dt_is_complex(a.dt):
        raise RuntimeError(f"{name}(): does not support complex input")
    dim = normal_dim(dim, a.nd)
    dims_mask(dim, a.nd, mask)
    check_nonempty(name, a, dim, mask)
    values = empty_result(a, mask, keepdim, a.dt)
    index = empty_result(a, mask, keepdim, DT_I64)
    if a.count:
        arg_into(op, a, dim, values, index)
    return (values, index)


cdef tuple max_dim_plain(Tensor a, int dim, bint keepdim):
    return extreme_dim(R_MAX, "max", a, dim, keepdim)


cdef tuple min_dim_plain(Tensor a, int dim, bint keepdim):
    return extreme_dim(R_MIN, "min", a, dim, keepdim)


cdef Tensor place_of_extreme(int op, str name, Tensor a, object dim, bint keepdim):
    cdef Py_ssize_t[MAX_DIMS] ones
    cdef Tensor flat, values, index
    cdef int d
    if dt_is_complex(a.dt):
        raise RuntimeError(f"{name}(): does not support complex input")
    if a.dt == DT_BOOL:
        raise RuntimeError(f"{name}(): does not support bool input")
    if dim is not None:
        return extreme_dim(op, name, a, normal_dim(dim, a.nd), keepdim)[1]
    if a.count == 0:
        raise IndexError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
    flat = contiguous(a)
    ones[0] = a.count
    flat = tensor_window(flat, 1, ones, NULL, 0)
    values = tensor_empty(a.dt, 0, NULL)
    for d in range(a.nd):
        ones[d] = 1
    index = tensor_empty(DT_I64, a.nd if keepdim else 0, ones)
    arg_into(op, flat, 0, values, index)
    return index


cdef Tensor argmax_plain(Tensor a, object dim, bint keepdim):
    return place_of_extreme(R_MAX, "argmax", a, dim, keepdim)


cdef Tensor argmin_plain(Tensor a, object dim, bint keepdim):
    return place_of_extreme(R_MIN, "argmin", a, dim, keepdim)
