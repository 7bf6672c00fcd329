# cython: language_level=3
# Selecting, scattering and joining along one dimension.  Advanced indexing and masks are in
# indexing_advanced.pxi, triangles and sorting in indexing_order.pxi, what NumPy does in
# indexing_search.pxi.

from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from autograd_cy._C.checked cimport checked_add
from autograd_cy._C.dtypes cimport (
    DT_BF16, DT_BOOL, DT_C64, DT_F16, DT_F32, DT_F64, DT_I8, DT_I16, DT_I32, DT_I64, DT_SIZE, DT_U8,
    dt_numpy, dt_promote)
from autograd_cy._C.exchange cimport array_of
from autograd_cy._C.iterate cimport (
    broadcast_shape, cast, check_writable, clone_plain, contiguous, copy_into, expand_plain,
    result_dtype)
from autograd_cy._C.kernel_table cimport KT, kernel_number, loop_t
from autograd_cy._C.parallel cimport team_size
from autograd_cy._C.reduce cimport row_table
from autograd_cy._C.rows cimport R_SUM, RowTable
from autograd_cy._C.tensor cimport (
    normal_dim,
    F_STRIDED, MAX_DIMS, Tensor, is_tensor, same_shape, sizes_of, tensor_empty,
    tensor_window)
from autograd_cy._C.tiles cimport run_tiles

cdef int K_ADD = kernel_number("add")
cdef int K_COPY = kernel_number("copy")

cdef const RowTable* T = row_table()

cdef enum:
    TILE_WORK = 16384     # elements of a tile

ctypedef fused word_t:     # elements by size alone
    uint8_t
    uint16_t
    uint32_t
    uint64_t
    double complex

ctypedef fused add_t:
    uint8_t
    int16_t
    int32_t
    int64_t
    float
    double
    float complex
    double complex

cdef tuple SCALAR_NAMES = (
    "Bool", "Byte", "Char", "Short", "Int", "Long", "Half", "BFloat16", "Float", "Double",
    "ComplexFloat", "ComplexDouble")


cdef inline Py_ssize_t least(Py_ssize_t a, Py_ssize_t b) noexcept nogil:
    return a if a < b else b


cdef inline bint is_half(int dt) noexcept nogil:
    return dt == DT_F16 or dt == DT_BF16


# --- index tensors --------------------------------------------------------------------------

cdef Tensor checked_index(Tensor index, str op):
    """The index as dense int64."""
    if index.dt == DT_I64:
        return contiguous(index)
    if index.dt != DT_I32:
        raise RuntimeError(
            f"{op}(): Expected dtype int32/int64 for index, "
            f"but got: {SCALAR_NAMES[index.dt]}")
    return contiguous(cast(index, DT_I64))


cdef Py_ssize_t first_outside(const int64_t* k, Py_ssize_t n, Py_ssize_t size) noexcept nogil:
    """Place of the first index outside 0 <= k < size, or -1."""
    cdef Py_ssize_t i, start = 0, stop
    cdef bint bad
    while start < n:
        # The inner loop has no exit, so that it runs at the speed of memory.
        stop = least(start + 1024, n)
        bad = False
        for i in range(start, stop):
            bad |= <uint64_t>k[i] >= <uint64_t>size
        if bad:
            for i in range(start, stop):
                if <uint64_t>k[i] >= <uint64_t>size:
                    return i
        start = stop
    return -1


cdef int check_index(Tensor index, Py_ssize_t size, int dim, type error) except -1:
    cdef const int64_t* k = <const int64_t*>index.ptr
    cdef Py_ssize_t at = first_outside(k, index.count, size)
    if at >= 0:
        raise error(f"index {k[at]} is out of bounds for dimension {dim} with size {size}")
    return 0


# --- index_select and index_add -------------------------------------------------------------

cdef struct SelectPlan:
    char* a                # read by index_select, written by index_add
    char* b                # the other one: rows in the order of the index
    const int64_t* index
    Py_ssize_t n           # length of the index
    Py_ssize_t outer
    Py_ssize_t a_outer     # bytes between outer blocks, rows
    Py_ssize_t a_row
    Py_ssize_t b_outer
    Py_ssize_t b_row
    Py_ssize_t width       # bytes of a row
    Py_ssize_t item
    Py_ssize_t rows        # index entries of a tile
    Py_ssize_t blocks
    loop_t add             # NULL: index_select
    Py_ssize_t columns     # elements of a row in one tile of index_add


cdef inline void select_words(word_t* out, const char* a, Py_ssize_t step, const int64_t* k,
                              Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        out[i] = (<const word_t*>(a + k[i] * step))[0]


cdef inline void copy_words(char* out, const char* a, Py_ssize_t step, const int64_t* k,
                            Py_ssize_t n, Py_ssize_t item) noexcept nogil:
    """out[i] = element at a + k[i] * step."""
    if item == 4:
        select_words(<uint32_t*>out, a, step, k, n)
    elif item == 8:
        select_words(<uint64_t*>out, a, step, k, n)
    elif item == 1:
        select_words(<uint8_t*>out, a, step, k, n)
    elif item == 2:
        select_words(<uint16_t*>out, a, step, k, n)
    else:
        select_words(<double complex*>out, a, step, k, n)


cdef void select_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef SelectPlan* plan = <SelectPlan*>ctx
    cdef Py_ssize_t outer = tile // plan.blocks, first = tile % plan.blocks * plan.rows
    cdef Py_ssize_t n = least(plan.n - first, plan.rows), i
    cdef const char* a = plan.a + outer * plan.a_outer
    cdef char* b = plan.b + outer * plan.b_outer + first * plan.b_row
    cdef const int64_t* k = plan.index + first
    if plan.width == plan.item:
        copy_words(b, a, plan.a_row, k, n, plan.item)
        return
    for i in range(n):
        memcpy(b + i * plan.b_row, a + k[i] * plan.a_row, plan.width)


cdef void add_rows_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    """Add rows in the order of the index; tiles differ in columns or outer blocks only."""
    cdef SelectPlan* plan = <SelectPlan*>ctx
    cdef Py_ssize_t outer = tile // plan.blocks
    cdef Py_ssize_t first = tile % plan.blocks * plan.columns
    cdef Py_ssize_t n = least(plan.width // plan.item - first, plan.columns), i
    cdef char* p[3]
    cdef Py_ssize_t step[3]
    step[0] = step[1] = step[2] = plan.item
    for i in range(plan.n):
        p[0] = plan.a + outer * plan.a_outer + plan.index[i] * plan.a_row + first * plan.item
        p[1] = p[0]
        p[2] = plan.b + outer * plan.b_outer + i * plan.b_row + first * plan.item
        plan.add(p, step, n)


cdef void fill_select(SelectPlan* plan, Tensor a, Tensor b, int dim, Tensor index) noexcept:
    """a and b are dense and differ in dimension dim only."""
    cdef int d
    cdef Py_ssize_t size = a.sizes[dim] if a.nd else 1
    plan.item = DT_SIZE[a.dt]
    plan.width = plan.item
    plan.outer = 1
    for d in range(dim):
        plan.outer *= a.sizes[d]
    for d in range(dim + 1, a.nd):
        plan.width *= a.sizes[d]
    plan.a = a.ptr
    plan.b = b.ptr
    plan.index = <const int64_t*>index.ptr
    plan.n = index.count
    plan.a_row = plan.b_row = plan.width
    plan.a_outer = size * plan.width
    plan.b_outer = plan.n * plan.width


cdef bint rows_are_dense(Tensor a, int dim) noexcept:
    """Whether each a.select(dim, i) of a tensor indexed in its first dimension is dense."""
    cdef Py_ssize_t expected = 1
    cdef int d
    if dim != 0:
        return False
    for d in range(a.nd - 1, 0, -1):
        if a.sizes[d] != 1 and a.strides[d] != expected:
            return False
        expected *= a.sizes[d]
    return True


cdef int check_vector(Tensor a, Tensor index, str op) except -1:
    if index.nd > 1:
        raise IndexError(f"{op}(): Index is supposed to be a vector")
    if a.nd == 0 and index.count != 1:
        raise RuntimeError(
            f"{op}(): Index to scalar can have only 1 value, got {index.count} value(s)")
    return 0


cdef Tensor index_select_plain(Tensor a, int dim, Tensor index):
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef SelectPlan plan
    cdef Tensor out
    cdef int d
    dim = normal_dim(dim, a.nd)
    check_vector(a, index, "index_select")
    index = checked_index(index, "index_select")
    check_index(index, a.sizes[dim] if a.nd else 1, dim, IndexError)
    for d in range(a.nd):
        shape[d] = a.sizes[d]
    if a.nd:
        shape[dim] = index.count
    out = tensor_empty(a.dt, a.nd, shape)
    if out.count == 0:
        return out
    if a.flags & F_STRIDED and not rows_are_dense(a, dim):
        a = contiguous(a)
    fill_select(&plan, a, out, dim, index)
    if a.flags & F_STRIDED:
        plan.a_row = a.strides[0] * plan.item
    plan.rows = TILE_WORK * plan.item // plan.width + 1
    plan.blocks = (plan.n + plan.rows - 1) // plan.rows
    run_tiles(select_tile, &plan, plan.outer * plan.blocks, out.count)
    return out


cdef int index_add_into(Tensor dst, int dim, Tensor index, Tensor src) except -1:
    cdef SelectPlan plan
    cdef Tensor wide
    cdef Py_ssize_t width
    cdef int d
    dim = normal_dim(dim, dst.nd)
    check_vector(dst, index, "index_add")
    index = checked_index(index, "index_add")
    if src.dt != dst.dt:
        raise RuntimeError(
            f"index_add_(): self ({SCALAR_NAMES[dst.dt]}) and source ({SCALAR_NAMES[src.dt]}) must "
            "have the same scalar type")
    if (src.sizes[dim] if src.nd > dim else 1) != index.count:
        raise RuntimeError(
            f"index_add_(): Number of indices ({index.count}) should be equal to source.size(dim): "
            f"({src.sizes[dim] if src.nd > dim else 1}), for dim: {dim}")
    for d in range(dst.nd):
        if src.nd != dst.nd or (d != dim and src.sizes[d] != dst.sizes[d]):
            raise RuntimeError(
                "source tensor shape must match self tensor shape, excluding the specified "
                f"dimension. Got self.shape = {list(sizes_of(dst))} source.shape = "
                f"{list(sizes_of(src))}")
    check_writable(dst, "index_add_")
    check_index(index, dst.sizes[dim] if dst.nd else 1, dim, RuntimeError)
    if src.count == 0:
        return 0
    if is_half(dst.dt) or dst.flags & F_STRIDED:
        wide = contiguous(cast(dst, DT_F32 if is_half(dst.dt) else dst.dt))
        index_add_into(wide, dim, index, cast(src, wide.dt))
        copy_into(dst, wide, "index_add_")
        return 0
    src = contiguous(src)
    fill_select(&plan, dst, src, dim, index)
    plan.add = KT.loops[K_ADD][<int>dst.dt]
    width = plan.width // plan.item
    plan.columns = width
    if plan.outer == 1:
        # Columns don't meet, so where they are cut doesn't change results.
        plan.columns = (width + team_size(src.count) - 1) // team_size(src.count)
    plan.blocks = (width + plan.columns - 1) // plan.columns
    run_tiles(add_rows_tile, &plan, plan.outer * plan.blocks, src.count)
    return 0


cdef Tensor index_add_plain(Tensor a, int dim, Tensor index, Tensor src):
    cdef Tensor out = clone_plain(a)
    index_add_into(out, dim, index, src)
    return out


# --- gather and scatter ---------------------------------------------------------------------

cdef enum:
    MOVE_GATHER = 0
    MOVE_SCATTER = 1
    MOVE_ADD = 2

cdef struct MovePlan:
    int move
    int dt
    int nd                  # dimensions of the index, at least 1
    int dim
    Py_ssize_t shape[64]    # of the index, which is dense
    Py_ssize_t x_step[64]   # bytes in the indexed tensor
    Py_ssize_t y_step[64]   # bytes in the other one
    char* x
    char* y
    const int64_t* index
    Py_ssize_t item
    Py_ssize_t rows         # rows of the index, along its last dimension
    Py_ssize_t row_block
    Py_ssize_t row_blocks
    Py_ssize_t col_block


cdef inline void gather_dense(word_t* y, const word_t* x, const int64_t* k,
                              Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(n):
        y[j] = x[k[j]]


cdef inline void gather_row(word_t* y, Py_ssize_t y_step, const char* x, Py_ssize_t x_step,
                            Py_ssize_t k_step, const int64_t* k, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(n):
        (<word_t*>(<char*>y + j * y_step))[0] = (<const word_t*>(x + k[j] * k_step + j * x_step))[0]


cdef inline void scatter_row(const word_t* y, Py_ssize_t y_step, char* x, Py_ssize_t x_step,
                             Py_ssize_t k_step, const int64_t* k, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(n):
        (<word_t*>(x + k[j] * k_step + j * x_step))[0] = (
            <const word_t*>(<const char*>y + j * y_step))[0]


cdef inline void add_row(const add_t* y, Py_ssize_t y_step, char* x, Py_ssize_t x_step,
                         Py_ssize_t k_step, const int64_t* k, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(n):
        (<add_t*>(x + k[j] * k_step + j * x_step))[0] += (
            <const add_t*>(<const char*>y + j * y_step))[0]


cdef inline void or_row(const uint8_t* y, Py_ssize_t y_step, char* x, Py_ssize_t x_step,
                        Py_ssize_t k_step, const int64_t* k, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(n):
        (x + k[j] * k_step + j * x_step)[0] |= y[j * y_step]


cdef void add_any(int dt, char* y, Py_ssize_t ys, char* x, Py_ssize_t xs, Py_ssize_t ks,
                  const int64_t* k, Py_ssize_t n) noexcept nogil:
    """x[k[j] * ks + j * xs] += y[j * ys] in the dtype; halves don't come here."""
    if dt == DT_F32:
        add_row(<const float*>y, ys, x, xs, ks, k, n)
    elif dt == DT_F64:
        add_row(<const double*>y, ys, x, xs, ks, k, n)
    elif dt == DT_I64:
        add_row(<const int64_t*>y, ys, x, xs, ks, k, n)
    elif dt == DT_I32:
        add_row(<const int32_t*>y, ys, x, xs, ks, k, n)
    elif dt == DT_I16:
        add_row(<const int16_t*>y, ys, x, xs, ks, k, n)
    elif dt == DT_BOOL:
        or_row(<const uint8_t*>y, ys, x, xs, ks, k, n)
    elif dt <= DT_I8:
        add_row(<const uint8_t*>y, ys, x, xs, ks, k, n)
    elif dt == DT_C64:
        add_row(<const float complex*>y, ys, x, xs, ks, k, n)
    else:
        add_row(<const double complex*>y, ys, x, xs, ks, k, n)


cdef inline void gather_any(word_t* y, Py_ssize_t ys, const char* x, Py_ssize_t xs, Py_ssize_t ks,
                            const int64_t* k, Py_ssize_t n) noexcept nogil:
    # Loops with constant steps take half the instructions.
    if ys == sizeof(word_t) and xs == 0 and ks == sizeof(word_t):
        gather_dense(y, <const word_t*>x, k, n)
    else:
        gather_row(y, ys, x, xs, ks, k, n)


cdef void move_words(int move, Py_ssize_t item, char* y, Py_ssize_t ys, char* x, Py_ssize_t xs,
                     Py_ssize_t ks, const int64_t* k, Py_ssize_t n) noexcept nogil:
    if move == MOVE_GATHER:
        if item == 4:
            gather_any(<uint32_t*>y, ys, x, xs, ks, k, n)
        elif item == 8:
            gather_any(<uint64_t*>y, ys, x, xs, ks, k, n)
        elif item == 1:
            gather_any(<uint8_t*>y, ys, x, xs, ks, k, n)
        elif item == 2:
            gather_any(<uint16_t*>y, ys, x, xs, ks, k, n)
        else:
            gather_any(<double complex*>y, ys, x, xs, ks, k, n)
    elif item == 4:
        scatter_row(<const uint32_t*>y, ys, x, xs, ks, k, n)
    elif item == 8:
        scatter_row(<const uint64_t*>y, ys, x, xs, ks, k, n)
    elif item == 1:
        scatter_row(<const uint8_t*>y, ys, x, xs, ks, k, n)
    elif item == 2:
        scatter_row(<const uint16_t*>y, ys, x, xs, ks, k, n)
    else:
        scatter_row(<const double complex*>y, ys, x, xs, ks, k, n)


cdef void move_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef MovePlan* plan = <MovePlan*>ctx
    cdef int last = plan.nd - 1, d
    cdef Py_ssize_t row = tile % plan.row_blocks * plan.row_block
    cdef Py_ssize_t stop = least(row + plan.row_block, plan.rows)
    cdef Py_ssize_t col = tile // plan.row_blocks * plan.col_block
    cdef Py_ssize_t n = least(plan.shape[last] - col, plan.col_block), rest
    cdef Py_ssize_t at[64]
    cdef Py_ssize_t along = 0 if plan.dim == last else plan.x_step[last]
    cdef char* x
    cdef char* y
    cdef const int64_t* k
    x = plan.x + col * along
    y = plan.y + col * plan.y_step[last]
    rest = row
    for d in range(last - 1, -1, -1):
        at[d] = rest % plan.shape[d]
        rest = rest // plan.shape[d]
        y += at[d] * plan.y_step[d]
        if d != plan.dim:
            x += at[d] * plan.x_step[d]
    while row < stop:
        k = plan.index + row * plan.shape[last] + col
        if plan.move == MOVE_ADD:
            add_any(plan.dt, y, plan.y_step[last], x, along, plan.x_step[plan.dim], k, n)
        else:
            move_words(plan.move, plan.item, y, plan.y_step[last], x, along,
                       plan.x_step[plan.dim], k, n)
        row += 1
        # On to the next row.
        d = last - 1
        while d >= 0:
            at[d] += 1
            y += plan.y_step[d]
            if d != plan.dim:
                x += plan.x_step[d]
            if at[d] < plan.shape[d]:
                break
            y -= plan.shape[d] * plan.y_step[d]
            if d != plan.dim:
                x -= plan.shape[d] * plan.x_step[d]
            at[d] = 0
            d -= 1


cdef int check_move(str op, Tensor a, int dim, Tensor index, Tensor src) except -1:
    cdef int d, nd = a.nd if a.nd else 1
    cdef Py_ssize_t n
    if (index.nd if index.nd else 1) != nd:
        raise RuntimeError(
            "Index tensor must have the same number of dimensions as "
            f"{'input' if src is None else 'self'} tensor")
    if src is not None and (src.nd if src.nd else 1) != nd:
        raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
    for d in range(nd):
        n = index.sizes[d] if index.nd else 1
        if d != dim and n > (a.sizes[d] if a.nd else 1):
            if src is not None:
                break
            raise RuntimeError(
                f"Size does not match at dimension {d} expected index {list(sizes_of(index))} to "
                f"be no larger than self {list(sizes_of(a))} apart from dimension {dim}")
        if src is not None and n > (src.sizes[d] if src.nd else 1):
            break
    else:
        return 0
    raise RuntimeError(
        f"Expected index {list(sizes_of(index))} to be no larger than self {list(sizes_of(a))} "
        f"apart from dimension {dim} and to be no larger size than src {list(sizes_of(src))}")


cdef int move_elements(int move, Tensor a, int dim, Tensor index, Tensor other) except -1:
    """a is the indexed tensor, other has the shape of the index (or is larger)."""
    cdef MovePlan plan
    cdef Py_ssize_t columns
    cdef int d
    plan.move = move
    plan.dt = a.dt
    plan.item = DT_SIZE[a.dt]
    plan.nd = index.nd if index.nd else 1
    plan.dim = dim
    plan.shape[0] = 1
    plan.x_step[0] = plan.y_step[0] = plan.item
    for d in range(index.nd):
        plan.shape[d] = index.sizes[d]
    for d in range(a.nd):
        plan.x_step[d] = a.strides[d] * plan.item
    for d in range(other.nd):
        plan.y_step[d] = other.strides[d] * plan.item
    plan.x = a.ptr
    plan.y = other.ptr
    plan.index = <const int64_t*>index.ptr
    columns = plan.shape[plan.nd - 1]
    plan.rows = index.count // columns
    plan.row_block = plan.rows
    plan.col_block = columns
    if move == MOVE_GATHER or dim == plan.nd - 1:
        # Rows don't meet.
        plan.row_block = TILE_WORK // columns + 1
    else:
        # Rows may reach the same element, columns don't.
        plan.col_block = least(columns, 256)
    plan.row_blocks = (plan.rows + plan.row_block - 1) // plan.row_block
    run_tiles(move_tile, &plan,
              plan.row_blocks * ((columns + plan.col_block - 1) // plan.col_block),
              2.0 * index.count)
    return 0


cdef Tensor gather_plain(Tensor a, int dim, Tensor index):
    cdef Tensor out
    dim = normal_dim(dim, a.nd)
    index = checked_index(index, "gather")
    out = tensor_empty(a.dt, index.nd, index.sizes)
    if out.count == 0:
        return out
    check_move("gather", a, dim, index, None)
    check_index(index, a.sizes[dim] if a.nd else 1, dim, RuntimeError)
    move_elements(MOVE_GATHER, a, dim, index, out)
    return out


cdef int scatter_into(int move, Tensor dst, int dim, Tensor index, Tensor src) except -1:
    cdef Tensor wide
    dim = normal_dim(dim, dst.nd)
    index = checked_index(index, "scatter")
    if src.dt != dst.dt:
        raise RuntimeError(
            "scatter(): Expected self.dtype to be equal to src.dtype "
            f"(self is {SCALAR_NAMES[dst.dt]}, src is {SCALAR_NAMES[src.dt]})")
    if index.count == 0:
        return 0
    check_move("scatter", dst, dim, index, src)
    check_writable(dst, "scatter_")
    check_index(index, dst.sizes[dim] if dst.nd else 1, dim, RuntimeError)
    if move == MOVE_ADD and is_half(dst.dt):
        wide = cast(dst, DT_F32)
        move_elements(move, wide, dim, index, cast(src, DT_F32))
        copy_into(dst, wide, "scatter_add_")
        return 0
    if src.mem == dst.mem:
        src = clone_plain(src)
    return move_elements(move, dst, dim, index, src)


cdef Tensor scatter_plain(Tensor a, int dim, Tensor index, Tensor src):
    cdef Tensor out = clone_plain(a)
    scatter_into(MOVE_SCATTER, out, dim, index, src)
    return out


cdef int scatter_add_into(Tensor dst, int dim, Tensor index, Tensor src) except -1:
    return scatter_into(MOVE_ADD, dst, dim, index, src)


cdef Tensor scatter_add_plain(Tensor a, int dim, Tensor index, Tensor src):
    cdef Tensor out = clone_plain(a)
    scatter_into(MOVE_ADD, out, dim, index, src)
    return out


# --- cat ------------------------------------------------------------------------------------

cdef inline bint is_legacy_empty(Tensor t) noexcept:
    """torch lets an empty vector join anything."""
    return t.nd == 1 and t.sizes[0] == 0


cdef Tensor first_of_shape(tuple tensors):
    """The tensor that the others must match."""
    cdef Tensor t, first = None
    for i, x in enumerate(tensors):
        if not is_tensor(x):
            raise TypeError(
                f"expected Tensor as element {i} in argument 0, but got {type(x).__name__}")
        t = <Tensor>x
        if t.nd == 0:
            raise RuntimeError(
                f"zero-dimensional tensor (at position {i}) cannot be concatenated")
        if first is None or is_legacy_empty(first):
            first = t
    return first


cdef Tensor cat_plain(tuple tensors, int dim):
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Tensor t, like, out
    cdef Py_ssize_t total = 0, place = 0, inner = 1, outer = 1
    cdef int d, dt, i, n = len(tensors)
    if n == 0:
        raise ValueError("cat(): expected a non-empty list of Tensors")
    like = first_of_shape(tensors)
    dim = normal_dim(dim, like.nd)
    dt = like.dt
    for i in range(n):
        t = <Tensor>tensors[i]
        if t.dt != dt:
            # The usual promotion needs all of them: a 0-d rule doesn't matter here.
            dt = -1
        if is_legacy_empty(t):
            continue
        if t.nd != like.nd:
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {like.nd} and {t.nd}")
        for d in range(like.nd):
            if d != dim and t.sizes[d] != like.sizes[d]:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {dim}. Expected size "
                    f"{like.sizes[d]} but got size {t.sizes[d]} for tensor number {i} in the list.")
        total = checked_add(total, t.sizes[dim], "cat(): size of the result")
    if dt < 0:
        dt = result_dtype_of_many(tensors)
    for d in range(like.nd):
        shape[d] = like.sizes[d]
        if d < dim:
            outer *= shape[d]
        elif d > dim:
            inner *= shape[d]
    shape[dim] = total
    out = tensor_empty(dt, like.nd, shape)
    if out.count == 0:
        return out
    if outer > 1 and join_dense(tensors, out, dim, outer, inner):
        return out
    for i in range(n):
        t = <Tensor>tensors[i]
        if t.count == 0:
            continue
        if outer == 1 and t.dt == dt and not (t.flags & F_STRIDED) and t.count < TILE_WORK:
            memcpy(out.ptr + place * inner * DT_SIZE[dt], t.ptr, t.count * DT_SIZE[dt])
        else:
            shape[dim] = t.sizes[dim]
            copy_into(tensor_window(out, out.nd, shape, out.strides, place * inner), t, "cat")
        place += t.sizes[dim]
    return out


cdef Tensor stack_plain(tuple tensors, Py_ssize_t dim):
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef Tensor t, first
    cdef list rows = []
    cdef int d
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    first = <Tensor>tensors[0]
    if not -first.nd - 1 <= dim <= first.nd:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-first.nd - 1}, {first.nd}], "
            f"but got {dim})")
    if first.nd == MAX_DIMS:
        raise RuntimeError(f"stack: the result would have more than {MAX_DIMS} dimensions")
    if dim < 0:
        dim += first.nd + 1
    for i, x in enumerate(tensors):
        t = <Tensor>x
        if not same_shape(t, first):
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(sizes_of(first))} at "
                f"entry 0 and {list(sizes_of(t))} at entry {i}")
        for d in range(t.nd):
            shape[d + (d >= dim)] = t.sizes[d]
            strides[d + (d >= dim)] = t.strides[d]
        shape[dim] = strides[dim] = 1
        rows.append(tensor_window(t, t.nd + 1, shape, strides, 0))
    return cat_plain(tuple(rows), <int>dim)


cdef struct JoinPlan:
    const char* p[16]
    Py_ssize_t width[16]    # bytes of one row
    int n
    char* out
    Py_ssize_t total        # bytes of a row of the result
    Py_ssize_t rows
    Py_ssize_t block


cdef void join_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef JoinPlan* plan = <JoinPlan*>ctx
    cdef Py_ssize_t first = tile * plan.block, row, width, j
    cdef Py_ssize_t rows = least(plan.rows - first, plan.block)
    cdef char* out = plan.out + first * plan.total
    cdef const char* p
    cdef int i
    for i in range(plan.n):
        width = plan.width[i]
        p = plan.p[i] + first * width
        if width % 4 == 0 and width <= 64:
            # A call would cost more than these few words; copies of known size are inlined, and
            # halves may lie between words.
            for row in range(rows):
                for j in range(0, width, 4):
                    memcpy(out + row * plan.total + j, p + j, 4)
                p += width
        else:
            for row in range(rows):
                memcpy(out + row * plan.total, p + row * width, width)
        out += width


cdef bint join_dense(tuple tensors, Tensor out, int dim, Py_ssize_t outer, Py_ssize_t inner):
    """Join a few dense tensors of the result's dtype row by row; False where that doesn't apply."""
    cdef JoinPlan plan
    cdef Tensor t
    if len(tensors) > 16:
        return False
    plan.n = 0
    for x in tensors:
        t = <Tensor>x
        if t.count == 0:
            continue
        if t.dt != out.dt or t.flags & F_STRIDED:
            return False
        plan.p[plan.n] = t.ptr
        plan.width[plan.n] = t.sizes[dim] * inner * DT_SIZE[t.dt]
        plan.n += 1
    plan.out = out.ptr
    plan.rows = outer
    plan.total = out.sizes[dim] * inner * DT_SIZE[out.dt]
    plan.block = TILE_WORK * DT_SIZE[out.dt] // plan.total + 1
    run_tiles(join_tile, &plan, (outer + plan.block - 1) // plan.block, out.count)
    return True


cdef int result_dtype_of_many(tuple tensors) except -1:
    """result_dtype() takes 64 operands at most; all have dimensions here, so pairs are enough."""
    cdef int dt = result_dtype(tensors[:64]), i
    for i in range(64, len(tensors)):
        if (<Tensor>tensors[i]).dt != dt:
            dt = dt_promote(dt, (<Tensor>tensors[i]).dt)
    return dt


include "indexing_advanced.pxi"
include "indexing_order.pxi"
include "indexing_search.pxi"


def _call(str name, *args):
    """Diagnostic: call a C function of this module by name (without its suffix "_plain")."""
    if name == "index_select":
        return index_select_plain(args[0], args[1], args[2])
    if name == "gather":
        return gather_plain(args[0], args[1], args[2])
    if name == "scatter":
        return scatter_plain(args[0], args[1], args[2], args[3])
    if name == "scatter_add":
        return scatter_add_plain(args[0], args[1], args[2], args[3])
    if name == "index_add":
        return index_add_plain(args[0], args[1], args[2], args[3])
    if name == "cat":
        return cat_plain(args[0], args[1])
    if name == "take_indices":
        return take_indices(args[0], args[1])
    if name == "put_indices":
        put_indices(args[0], args[1], args[2], args[3])
        return args[0]
    if name == "nonzero":
        return nonzero_plain(args[0])
    if name == "masked_select":
        return masked_select_plain(args[0], args[1])
    if name == "tril":
        return tril_plain(args[0], args[1])
    if name == "triu":
        return triu_plain(args[0], args[1])
    if name == "sort":
        return sort_plain(args[0], args[1], args[2], args[3])
    if name == "topk":
        return topk_plain(args[0], args[1], args[2], args[3], args[4])
    raise ValueError(f"_call: no function {name!r} here")


cdef Tensor put_copy(Tensor a, object indices, Tensor values, bint accumulate):
    cdef Tensor r = clone_plain(a)
    put_indices(r, <tuple>indices, values, accumulate)
    return r
