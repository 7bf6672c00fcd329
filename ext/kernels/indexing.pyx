# cython: language_level=3
# Selecting, scattering and joining along one dimension.  In indexing/: advanced indexing, masks,
# sorting, triangles, members, places in sorted rows, unique elements, reductions at indices.

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from autograd_cy._C import cpu as _cpu
from autograd_cy._C.dtypes cimport (
    DT_BF16, DT_BOOL, DT_C64, DT_C128, DT_F16, DT_F32, DT_F64, DT_I8, DT_I16, DT_I32, DT_I64,
    DT_SIZE, DT_U16, DT_U32, DT_U64, DT_U8, dt_is_limited, dt_numpy, dt_twin)
from autograd_cy._C.exchange cimport array_of
from autograd_cy._C.halves cimport is_half
from autograd_cy._C.faults cimport (
    FAULT_INDEX, FAULT_PLACE, FAULT_REDUCED_INDEX, FAULT_SORTER, check_indices, check_range)
from autograd_cy._C.index_values cimport positions
from autograd_cy._C.iterate cimport (
    P_SAME, cast, contiguous, copy_into, ew2, expand_plain, fill_dense, result_dtype)
from autograd_cy._C.kernel_table cimport KT, kernel_number, loop_t
from autograd_cy._C.launch cimport (
    GIVE_UP_GIL, KIND_COPY, KIND_ELEMENTWISE, KIND_GATHER, KIND_SCATTER, KIND_SORT, READS, SCRATCH,
    UPDATES, WRITES, Launch, Operand, begin, launch, launch_tiles, memory, operand, spread)
from autograd_cy._C.parallel cimport body_t, parallel_for, team_size
from autograd_cy._C.select_loops cimport SelectTable
from autograd_cy._C.sizes cimport parts
from autograd_cy._C.sort_keys cimport key_of, key_of_nan, key_t
from autograd_cy._C.storage cimport StorageImpl, storage_decref, storage_new
from autograd_cy._C.tensor cimport (
    F_STRIDED, MAX_DIMS, Tensor, normal_dim, sizes_of, store_element, tensor_empty,
    tensor_window)

cdef int K_ADD = kernel_number("add")
cdef int K_COPY = kernel_number("copy")
cdef int K_MUL = kernel_number("mul")
cdef int K_WHERE = kernel_number("where")
cdef int K_MAXIMUM = kernel_number("maximum")
cdef int K_MINIMUM = kernel_number("minimum")

cdef const SelectTable* SELECT = <const SelectTable*>PyCapsule_GetPointer(
    _cpu.load("select_loops").table_capsule(), "autograd_cy.select_loops")

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


cdef inline Py_ssize_t least(Py_ssize_t a, Py_ssize_t b) noexcept nogil:
    return a if a < b else b


# --- index tensors --------------------------------------------------------------------------

cdef inline int check_index(Tensor index, Tensor a, int dim, int kind) except -1:
    """Refuse what isn't in dimension `dim` of `a`, before anything is written."""
    return check_indices(index, a.sizes[dim] if a.nd else 1, kind, NULL, dim)


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
    int dt
    Py_ssize_t item
    Py_ssize_t rows        # index entries of a tile
    Py_ssize_t blocks
    Py_ssize_t together    # outer blocks of a tile of index_select
    loop_t add
    Py_ssize_t columns     # elements of a row in one tile of index_add


cdef inline void gather_dense(word_t* y, const word_t* x, const int64_t* k,
                              Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(n):
        y[j] = x[k[j]]


cdef inline void select_words(word_t* out, const char* a, Py_ssize_t step, const int64_t* k,
                              Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    if step == sizeof(word_t):
        gather_dense(out, <const word_t*>a, k, n)
        return
    for i in range(n):
        out[i] = (<const word_t*>(a + k[i] * step))[0]


cdef inline void select_four(word_t* out, Py_ssize_t out_row, const word_t* a, Py_ssize_t a_row,
                             const int64_t* k, Py_ssize_t n) noexcept nogil:
    """Four rows, so that each index is loaded once for them."""
    cdef word_t w, x, y, z
    cdef const word_t* at
    cdef Py_ssize_t i
    for i in range(n):
        at = a + k[i]
        w = at[0]
        x = at[a_row]
        y = at[2 * a_row]
        z = at[3 * a_row]
        out[i] = w
        out[out_row + i] = x
        out[2 * out_row + i] = y
        out[3 * out_row + i] = z


cdef inline void copy_four(char* out, Py_ssize_t out_row, const char* a, Py_ssize_t a_row,
                           const int64_t* k, Py_ssize_t n, Py_ssize_t item) noexcept nogil:
    """copy_words() of dense rows that are so many bytes apart, of items of no more than 8."""
    out_row //= item
    a_row //= item
    if item == 4:
        select_four(<uint32_t*>out, out_row, <const uint32_t*>a, a_row, k, n)
    elif item == 8:
        select_four(<uint64_t*>out, out_row, <const uint64_t*>a, a_row, k, n)
    elif item == 1:
        select_four(<uint8_t*>out, out_row, <const uint8_t*>a, a_row, k, n)
    elif item == 2:
        select_four(<uint16_t*>out, out_row, <const uint16_t*>a, a_row, k, n)


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
    cdef Py_ssize_t outer = tile // plan.blocks * plan.together
    cdef Py_ssize_t first = tile % plan.blocks * plan.rows
    cdef Py_ssize_t n = least(plan.n - first, plan.rows), i, _
    cdef Py_ssize_t left = least(plan.together, plan.outer - outer)
    cdef const char* a = plan.a + outer * plan.a_outer
    cdef char* b = plan.b + outer * plan.b_outer + first * plan.b_row
    cdef const int64_t* k = plan.index + first
    if plan.width == plan.item == plan.a_row and plan.item <= 8:
        while left >= 4:
            copy_four(b, plan.b_outer, a, plan.a_outer, k, n, plan.item)
            a += 4 * plan.a_outer
            b += 4 * plan.b_outer
            left -= 4
    for _ in range(left):
        if plan.width == plan.item:
            copy_words(b, a, plan.a_row, k, n, plan.item)
        else:
            for i in range(n):
                memcpy(b + i * plan.b_row, a + k[i] * plan.a_row, plan.width)
        a += plan.a_outer
        b += plan.b_outer


cdef void add_rows_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    """Add rows in the order of the index; tiles differ in columns or outer blocks only."""
    cdef SelectPlan* plan = <SelectPlan*>ctx
    cdef Py_ssize_t outer = tile // plan.blocks
    cdef Py_ssize_t first = tile % plan.blocks * plan.columns
    cdef Py_ssize_t n = least(plan.width // plan.item - first, plan.columns), i
    cdef char* p[3]
    cdef Py_ssize_t step[3]
    step[0] = step[1] = step[2] = plan.item
    if plan.width == plan.item:
        add_any(plan.dt, plan.b + outer * plan.b_outer, plan.item, plan.a + outer * plan.a_outer, 0,
                plan.a_row, plan.index, plan.n)
        return
    for i in range(plan.n):
        p[0] = plan.a + outer * plan.a_outer + plan.index[i] * plan.a_row + first * plan.item
        p[1] = p[0]
        p[2] = plan.b + outer * plan.b_outer + i * plan.b_row + first * plan.item
        plan.add(p, step, n)


cdef void fill_select(SelectPlan* plan, Tensor a, Tensor b, int dim, Tensor index) noexcept:
    """a and b are dense and differ in dimension dim only."""
    cdef int d
    cdef Py_ssize_t size = a.sizes[dim] if a.nd else 1
    plan.dt = a.dt
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
    """Return whether each a.select(dim, i) of a tensor indexed in its first dimension is dense."""
    cdef Py_ssize_t expected = 1
    cdef int d
    if dim != 0:
        return False
    for d in range(a.nd - 1, 0, -1):
        if a.sizes[d] != 1 and a.strides[d] != expected:
            return False
        expected *= a.sizes[d]
    return True


cdef int index_select(Tensor out, Tensor a, Py_ssize_t dim, Tensor index) except -1:
    cdef SelectPlan plan
    cdef Launch work
    dim = normal_dim(dim, a.nd)
    index = positions(index)
    check_index(index, a, <int>dim, FAULT_INDEX)
    if out.count == 0:
        return 0
    if a.flags & F_STRIDED and not rows_are_dense(a, <int>dim):
        a = contiguous(a)
    fill_select(&plan, a, out, <int>dim, index)
    if a.flags & F_STRIDED:
        plan.a_row = a.strides[0] * plan.item
    plan.rows = TILE_WORK * plan.item // plan.width + 1
    plan.blocks = parts(plan.n, plan.rows)
    # A tile takes some time even if it is a short row.
    plan.together = 4 if plan.blocks > 1 else TILE_WORK * plan.item // (plan.n * plan.width) + 1
    begin(&work, "index_select", &plan, sizeof(plan), KIND_GATHER)
    operand(&work, &plan.a, a, READS)
    operand(&work, &plan.b, out, WRITES)
    operand(&work, &plan.index, index, READS)
    return launch_tiles(&work, select_tile, parts(plan.outer, plan.together) * plan.blocks,
                        out.count)


cdef int index_add(Tensor out, Tensor a, Py_ssize_t dim, Tensor index, Tensor source) except -1:
    cdef Tensor wide
    dim = normal_dim(dim, a.nd)
    index = positions(index)
    check_index(index, a, <int>dim, FAULT_PLACE)
    if is_half(a.dt) or out.flags & F_STRIDED:
        wide = contiguous(cast(a, DT_F32 if is_half(a.dt) else a.dt))
        add_rows(wide, <int>dim, index, contiguous(cast(source, wide.dt)))
        return copy_into(out, wide, "index_add")
    if out is not a:
        copy_into(out, a, "index_add")
    return add_rows(out, <int>dim, index, contiguous(source))


cdef int add_rows(Tensor out, int dim, Tensor index, Tensor source) except -1:
    """All are dense; halves don't come here."""
    cdef SelectPlan plan
    cdef Launch work
    cdef Py_ssize_t width
    if source.count == 0:
        return 0
    fill_select(&plan, out, source, dim, index)
    plan.add = KT.loops[K_ADD][<int>out.dt]
    width = plan.width // plan.item
    plan.columns = width
    if plan.outer == 1:
        # Columns don't meet, so where they are cut doesn't change results.
        plan.columns = parts(width, team_size(source.count))
    plan.blocks = parts(width, plan.columns)
    begin(&work, "index_add", &plan, sizeof(plan), KIND_SCATTER)
    operand(&work, &plan.a, out, UPDATES)
    operand(&work, &plan.b, source, READS)
    operand(&work, &plan.index, index, READS)
    return launch_tiles(&work, add_rows_tile, plan.outer * plan.blocks, source.count)


# --- gather and scatter ---------------------------------------------------------------------

cdef enum:
    MOVE_GATHER = 0
    MOVE_SCATTER = 1
    MOVE_ADD = 2
    MOVE_PROD = 3
    MOVE_MAX = 4
    MOVE_MIN = 5

cdef struct MovePlan:
    int move
    int dt
    int nd                  # dimensions of the index that aren't of size 1, at least 1
    Py_ssize_t shape[64]    # of the index
    Py_ssize_t skip[64]     # elements of the index to the next one; 0 where it repeats itself
    Py_ssize_t k_step       # bytes from one index to the next in the indexed tensor
    Py_ssize_t x_step[64]   # bytes there by the place of the index; 0 for the indexed dimension
    Py_ssize_t y_step[64]   # bytes in the other one
    char* x
    char* y
    const int64_t* index
    Py_ssize_t item
    Py_ssize_t rows         # rows of the index, along its last dimension
    Py_ssize_t row_block
    Py_ssize_t row_blocks
    Py_ssize_t col_block
    loop_t loop             # of rows whose elements have one index; else NULL


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
    elif dt == DT_U8 or dt == DT_I8:
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


cdef inline void move_row(const MovePlan* plan, char* y, char* x, const int64_t* k,
                          Py_ssize_t n) noexcept nogil:
    cdef int last = plan.nd - 1
    cdef Py_ssize_t along = plan.x_step[last]
    cdef char* p[3]
    cdef Py_ssize_t step[3]
    if plan.loop != NULL:
        x += k[0] * plan.k_step
        if plan.move == MOVE_GATHER:
            p[0], p[1] = y, x
            step[0], step[1] = plan.y_step[last], along
        elif plan.move == MOVE_SCATTER:
            p[0], p[1] = x, y
            step[0], step[1] = along, plan.y_step[last]
        else:
            p[0], p[1], p[2] = x, x, y
            step[0], step[1], step[2] = along, along, plan.y_step[last]
        plan.loop(p, step, n)
    elif plan.move == MOVE_ADD:
        add_any(plan.dt, y, plan.y_step[last], x, along, plan.k_step, k, n)
    elif plan.move > MOVE_ADD:
        reduce_any(plan.move, plan.dt, y, plan.y_step[last], x, along, plan.k_step, k, n)
    else:
        move_words(plan.move, plan.item, y, plan.y_step[last], x, along, plan.k_step, k, n)


cdef void move_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef MovePlan* plan = <MovePlan*>ctx
    cdef int last = plan.nd - 1, d
    cdef Py_ssize_t row = tile % plan.row_blocks * plan.row_block
    cdef Py_ssize_t stop = least(row + plan.row_block, plan.rows)
    cdef Py_ssize_t col = tile // plan.row_blocks * plan.col_block
    cdef Py_ssize_t n = least(plan.shape[last] - col, plan.col_block), rest, _
    cdef Py_ssize_t at[64]
    cdef char* x = plan.x + col * plan.x_step[last]
    cdef char* y = plan.y + col * plan.y_step[last]
    cdef const int64_t* k = plan.index + col * plan.skip[last]
    rest = row
    for d in range(last - 1, -1, -1):
        at[d] = rest % plan.shape[d]
        rest = rest // plan.shape[d]
        y += at[d] * plan.y_step[d]
        x += at[d] * plan.x_step[d]
        k += at[d] * plan.skip[d]
    for _ in range(row, stop):
        move_row(plan, y, x, k, n)
        # On to the next row.
        for d in range(last - 1, -1, -1):
            at[d] += 1
            y += plan.y_step[d]
            x += plan.x_step[d]
            k += plan.skip[d]
            if at[d] < plan.shape[d]:
                break
            y -= plan.shape[d] * plan.y_step[d]
            x -= plan.shape[d] * plan.x_step[d]
            k -= plan.shape[d] * plan.skip[d]
            at[d] = 0


cdef Tensor folded(Tensor index, int dim):
    """
    The index as dense int64. Dimensions but `dim` along which it repeats itself, as those of
    x.unsqueeze(1).expand(-1, n), are of one element.
    """
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef bint repeated = False
    cdef int d
    for d in range(index.nd):
        shape[d] = index.sizes[d]
        if d != dim and index.strides[d] == 0 and shape[d] > 1:
            shape[d] = 1
            repeated = True
    return positions(
        tensor_window(index, index.nd, shape, index.strides, 0) if repeated else index)


cdef loop_t row_loop(int move, int dt) noexcept:
    """Return the loop that moves a whole row."""
    if move == MOVE_GATHER or move == MOVE_SCATTER:
        return KT.loops[K_COPY][dt]
    if move == MOVE_ADD:
        return KT.loops[K_ADD][dt]
    if move == MOVE_PROD:
        return KT.loops[K_MUL][dt]
    return KT.loops[K_MAXIMUM if move == MOVE_MAX else K_MINIMUM][dt]


cdef int move_elements(int move, Tensor a, int dim, Tensor index, const Py_ssize_t* shape,
                       Tensor other, char* number) except -1:
    """
    a is the indexed tensor; `shape` is that of the index, which is folded. other has this shape
    (or is larger), or is a number.
    """
    cdef MovePlan plan
    cdef Launch work
    cdef Py_ssize_t columns, count = 1
    cdef Py_ssize_t strides[MAX_DIMS]
    cdef int d, place = -1        # of the indexed dimension, if its size isn't 1
    plan.move = move
    plan.dt = a.dt
    plan.item = DT_SIZE[a.dt]
    plan.k_step = (a.strides[dim] if a.nd else 1) * plan.item
    plan.nd = 0
    for d in range(index.nd):
        if shape[d] == 1:
            continue              # rows of one element would be walked one by one
        count *= shape[d]
        place = plan.nd if d == dim else place
        plan.shape[plan.nd] = shape[d]
        plan.skip[plan.nd] = 0 if index.sizes[d] == 1 else index.strides[d]
        plan.x_step[plan.nd] = 0 if d == dim or d >= a.nd else a.strides[d] * plan.item
        plan.y_step[plan.nd] = (
            0 if other is None or d >= other.nd else other.strides[d] * plan.item)
        plan.nd += 1
    if plan.nd == 0:
        plan.shape[0] = plan.nd = 1
        plan.x_step[0] = plan.y_step[0] = plan.skip[0] = 0
    plan.y = number if other is None else other.ptr
    plan.x = a.ptr
    plan.index = <const int64_t*>index.ptr
    columns = plan.shape[plan.nd - 1]
    plan.loop = NULL
    if plan.skip[plan.nd - 1] == 0 and columns > 1:
        plan.loop = row_loop(move, a.dt)
        if plan.loop == NULL:
            for d in range(index.nd):
                strides[d] = 0 if index.sizes[d] == 1 else index.strides[d]
            index = contiguous(tensor_window(index, index.nd, shape, strides, 0))
            return move_elements(move, a, dim, index, shape, other, number)
    plan.rows = count // columns
    plan.row_block = plan.rows
    plan.col_block = columns
    if move == MOVE_GATHER or place < 0 or place == plan.nd - 1:
        # Rows don't meet.
        plan.row_block = TILE_WORK // columns + 1
    else:
        # Rows may reach the same element, columns don't.
        plan.col_block = least(columns, 256)
    plan.row_blocks = parts(plan.rows, plan.row_block)
    begin(&work, "gather" if move == MOVE_GATHER else "scatter", &plan, sizeof(plan),
          KIND_GATHER if move == MOVE_GATHER else KIND_SCATTER)
    operand(&work, &plan.x, a, READS if move == MOVE_GATHER else UPDATES)
    if other is None:
        memory(&work, &plan.y, NULL, READS)
    else:
        operand(&work, &plan.y, other, WRITES if move == MOVE_GATHER else READS)
    operand(&work, &plan.index, index, READS)
    return launch_tiles(
        &work, move_tile,
        plan.row_blocks * parts(columns, plan.col_block), 2.0 * count)


cdef int gather(Tensor out, Tensor a, Py_ssize_t dim, Tensor index) except -1:
    if out.count == 0:
        return 0
    cdef Tensor places
    dim = normal_dim(dim, a.nd)
    places = folded(index, <int>dim)
    check_index(places, a, <int>dim, FAULT_PLACE)
    return move_elements(MOVE_GATHER, a, <int>dim, places, index.sizes, out, NULL)


cdef int scatter_by(int move, Tensor out, Tensor a, Py_ssize_t dim, Tensor index,
                    Tensor src) except -1:
    """`out` may be `a`, and have any strides."""
    cdef Tensor wide, places
    dim = normal_dim(dim, a.nd)
    places = folded(index, <int>dim)
    check_index(places, a, <int>dim, FAULT_PLACE)
    if move == MOVE_ADD and is_half(a.dt) and index.count:
        wide = cast(a, DT_F32)
        move_elements(move, wide, <int>dim, places, index.sizes, cast(src, DT_F32), NULL)
        return copy_into(out, wide, "scatter_add")
    if out is not a:
        copy_into(out, a, "scatter")
    if index.count == 0:
        return 0
    return move_elements(move, out, <int>dim, places, index.sizes, src, NULL)


cdef int scatter(Tensor out, Tensor a, Py_ssize_t dim, Tensor index, Tensor src) except -1:
    return scatter_by(MOVE_SCATTER, out, a, dim, index, src)


cdef int scatter_add(Tensor out, Tensor a, Py_ssize_t dim, Tensor index, Tensor src) except -1:
    return scatter_by(MOVE_ADD, out, a, dim, index, src)


# --- joining --------------------------------------------------------------------------------

cdef enum:
    MOST_PARTS = 11         # operands of a launch, less the result

cdef struct JoinPlan:
    const char* p[11]
    Py_ssize_t width[11]    # bytes of one row
    Py_ssize_t place[11]    # where it begins in a row of the result
    int n
    char* out
    Py_ssize_t total        # bytes of a row of the result
    Py_ssize_t rows
    Py_ssize_t block


cdef void join_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef JoinPlan* plan = <JoinPlan*>ctx
    cdef Py_ssize_t first = tile * plan.block, row, width, j
    cdef Py_ssize_t rows = least(plan.rows - first, plan.block)
    cdef char* out
    cdef const char* p
    cdef int i
    for i in range(plan.n):
        width = plan.width[i]
        p = plan.p[i] + first * width
        out = plan.out + first * plan.total + plan.place[i]
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


cdef int join_rows(Launch* work, JoinPlan* plan, int item) except -1:
    """Launch what is in the plan, and empty it."""
    cdef Py_ssize_t row = 0
    cdef int i
    if plan.n == 0:
        return 0
    for i in range(plan.n):
        row += plan.width[i] // item
    plan.block = TILE_WORK * item // plan.total + 1
    launch_tiles(work, join_tile, parts(plan.rows, plan.block), row * plan.rows)
    plan.n = 0
    return 0


cdef int join_pieces(Tensor out, tuple pieces, int dim, bint stacked) except -1:
    """The pieces next to each other along a dimension, which they lack if `stacked`."""
    cdef JoinPlan plan
    cdef Launch work
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef Tensor t
    cdef Py_ssize_t place = 0, inner = 1, length
    cdef int d, i, item = DT_SIZE[out.dt]
    if out.count == 0:
        return 0
    plan.n = 0
    plan.rows = 1
    for d in range(dim):
        plan.rows *= out.sizes[d]
    for d in range(dim + 1, out.nd):
        inner *= out.sizes[d]
    plan.out = out.ptr
    plan.total = out.sizes[dim] * inner * item
    for i in range(len(pieces)):
        t = <Tensor>pieces[i]
        if t.count == 0:
            continue
        length = 1 if stacked else t.sizes[dim]
        # One long piece is for a copy, which several threads share.
        if t.dt == out.dt and not t.flags & F_STRIDED and (plan.rows > 1 or t.count < TILE_WORK):
            if plan.n == MOST_PARTS:
                join_rows(&work, &plan, item)
            if plan.n == 0:
                begin(&work, "join", &plan, sizeof(plan), KIND_COPY)
                operand(&work, &plan.out, out, WRITES)
            plan.p[plan.n] = t.ptr
            operand(&work, &plan.p[plan.n], t, READS)
            plan.width[plan.n] = length * inner * item
            plan.place[plan.n] = place * inner * item
            plan.n += 1
        else:
            for d in range(t.nd):
                strides[d] = out.strides[d + (stacked and d >= dim)]
            copy_into(tensor_window(out, t.nd, t.sizes, strides, place * inner), t, "cat")
        place += length
    return join_rows(&work, &plan, item)


cdef Tensor channels_behind(Tensor a):
    cdef Py_ssize_t[MAX_DIMS] sizes
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef int d, last = a.nd - 1
    for d in range(a.nd):
        sizes[d] = a.sizes[0 if d == 0 else 1 if d == last else d + 1]
        strides[d] = a.strides[0 if d == 0 else 1 if d == last else d + 1]
    return tensor_window(a, a.nd, sizes, strides, 0)


cdef int cat(Tensor out, tuple tensors, Py_ssize_t dim) except -1:
    if out.count == 0:
        return 0
    if out.flags & F_STRIDED:       # channels last: in the order of memory
        dim = normal_dim(dim, out.nd)
        dim = out.nd - 1 if dim == 1 else max(dim - 1, 0)
        return join_pieces(channels_behind(out),
                           tuple([channels_behind(<Tensor>t) for t in tensors]),
                           <int>dim, False)
    return join_pieces(out, tensors, <int>normal_dim(dim, out.nd), False)


cdef int stack(Tensor out, tuple tensors, Py_ssize_t dim) except -1:
    return join_pieces(out, tensors, <int>normal_dim(dim, out.nd), True)


include "indexing/advanced.pxi"
include "indexing/masks.pxi"
include "indexing/order.pxi"
include "indexing/triangles.pxi"
include "indexing/search.pxi"
include "indexing/reduce.pxi"
