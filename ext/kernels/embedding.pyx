# cython: language_level=3
# Rows of a table by index, their gradients, and bags of rows.
#
# Gradients of one row are added in the order of the indices by one thread, so that they are the
# same for any number of threads.

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy, memset

from autograd_cy._C.dtypes cimport DT_C64, DT_C128, DT_F32, DT_F64, DT_I64, DT_SIZE
from autograd_cy._C.halves cimport is_half
from autograd_cy._C.faults cimport (
    FAULT_BAG_FIRST, FAULT_BAG_INDEX, FAULT_BAG_LAST, FAULT_BAG_ORDER,
    FAULT_EMBEDDING, FAULT_NONE, Fault, check_indices, fault_error, note_fault)
from autograd_cy._C.index_values cimport positions
from autograd_cy._C.iterate cimport cast, contiguous, copy_into
from autograd_cy._C.kernel_table cimport KT, kernel_number, loop_t
from autograd_cy._C.launch cimport (
    KIND_CHECK, KIND_GATHER, KIND_SCATTER, READS, SCRATCH, WRITES, Launch, begin, launch,
    launch_tiles, may_fault, operand)
from autograd_cy._C.parallel cimport team_size
from autograd_cy._C.sizes cimport parts
from autograd_cy._C.tensor cimport F_STRIDED, Tensor, tensor_empty

__all__: list[str] = []

cdef int K_ADD = kernel_number("add")

cdef enum:
    TILE_WORK = 16384     # elements of a tile
    SUM = 0
    MEAN = 1
    MAX = 2

ctypedef fused real_t:
    float
    double


cdef inline int real_of(int dt) noexcept nogil:
    """The dtype of the parts of a complex one."""
    return DT_F32 if dt == DT_C64 else (DT_F64 if dt == DT_C128 else dt)


# --- rows -----------------------------------------------------------------------------------

cdef struct RowPlan:
    const char* a
    char* out
    const int64_t* index
    Py_ssize_t n
    Py_ssize_t step         # bytes between rows of a
    Py_ssize_t width        # bytes of a row
    Py_ssize_t rows         # indices of a tile


cdef void rows_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef RowPlan* plan = <RowPlan*>ctx
    cdef Py_ssize_t i = tile * plan.rows, stop = min(i + plan.rows, plan.n)
    for i in range(i, stop):
        memcpy(plan.out + i * plan.width, plan.a + plan.index[i] * plan.step, plan.width)


cdef int embedding_into(Tensor out, Tensor weight, Tensor indices) except -1:
    cdef RowPlan plan
    cdef Launch work
    cdef Py_ssize_t item = DT_SIZE[weight.dt]
    indices = positions(indices)
    plan.index = <const int64_t*>indices.ptr
    check_indices(indices, weight.sizes[0], FAULT_EMBEDDING, "embedding", 0)
    if out.count == 0:
        return 0
    if weight.flags & F_STRIDED and weight.strides[1] != 1 and weight.sizes[1] != 1:
        weight = contiguous(weight)
    plan.a = weight.ptr
    plan.out = out.ptr
    plan.n = indices.count
    plan.width = weight.sizes[1] * item
    plan.step = weight.strides[0] * item
    plan.rows = TILE_WORK // weight.sizes[1] + 1
    begin(&work, "embedding", &plan, sizeof(plan), KIND_GATHER)
    operand(&work, &plan.a, weight, READS)
    operand(&work, &plan.out, out, WRITES)
    operand(&work, &plan.index, indices, READS)
    return launch_tiles(&work, rows_tile, parts(plan.n, plan.rows), out.count)


# --- gradients of rows ----------------------------------------------------------------------

cdef struct GradPlan:
    int dt
    const char* grad
    char* out
    const int64_t* index
    int64_t* counts         # NULL: no scaling
    Py_ssize_t n
    Py_ssize_t rows         # of the table
    Py_ssize_t columns
    Py_ssize_t padding
    Py_ssize_t tile         # rows of a tile
    loop_t add


cdef inline void add_part(real_t* out, const real_t* g, int64_t times,
                          Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t j
    cdef real_t part = <real_t>times
    for j in range(n):
        out[j] += g[j] / part


cdef void grad_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    """The rows of one part of the table."""
    cdef GradPlan* plan = <GradPlan*>ctx
    cdef Py_ssize_t first = tile * plan.tile, stop = min(first + plan.tile, plan.rows), i
    cdef Py_ssize_t item = DT_SIZE[plan.dt], width = plan.columns * item
    cdef uint64_t rows = stop - first
    cdef int64_t k
    cdef char* p[3]
    cdef Py_ssize_t step[3]
    step[0] = step[1] = step[2] = item
    memset(plan.out + first * width, 0, (stop - first) * width)
    if plan.counts != NULL:
        memset(plan.counts + first, 0, rows * sizeof(int64_t))
        for i in range(plan.n):
            if <uint64_t>(plan.index[i] - first) < rows:
                plan.counts[plan.index[i]] += 1
    for i in range(plan.n):
        k = plan.index[i]
        if <uint64_t>(k - first) >= rows or k == plan.padding:
            continue
        p[0] = p[1] = plan.out + k * width
        p[2] = <char*>plan.grad + i * width
        if plan.counts == NULL:
            plan.add(p, step, plan.columns)
        elif plan.dt == DT_F32:
            add_part(<float*>p[0], <const float*>p[2], plan.counts[k], plan.columns)
        else:
            add_part(<double*>p[0], <const double*>p[2], plan.counts[k], plan.columns)


cdef int check_rows(Tensor indices, Py_ssize_t rows) except -1:
    return check_indices(indices, rows, FAULT_EMBEDDING, "embedding_dense_backward", 0)


cdef int embedding_dense_backward_into(Tensor out, Tensor grad, Tensor indices, Py_ssize_t rows,
                                       Py_ssize_t padding, bint scale) except -1:
    cdef GradPlan plan
    cdef Launch work
    cdef Tensor wide, counts = None
    cdef Py_ssize_t team
    if is_half(out.dt):
        wide = tensor_empty(DT_F32, out.nd, out.sizes)
        embedding_dense_backward_into(wide, cast(grad, DT_F32), indices, rows, padding, scale)
        return copy_into(out, wide, "embedding_dense_backward")
    indices = positions(indices)
    check_rows(indices, rows)
    if out.count == 0:
        return 0
    grad = contiguous(cast(grad, out.dt))
    plan.dt = real_of(out.dt)
    plan.grad = grad.ptr
    plan.out = out.ptr
    plan.index = <const int64_t*>indices.ptr
    plan.counts = NULL
    plan.n = indices.count
    plan.rows = rows
    plan.columns = out.sizes[1] * DT_SIZE[out.dt] // DT_SIZE[plan.dt]
    plan.padding = padding
    plan.add = KT.loops[K_ADD][plan.dt]
    # Where the rows are cut doesn't change results.
    team = min(<Py_ssize_t>team_size(grad.count + out.count), rows)
    plan.tile = parts(rows, team)
    begin(&work, "embedding_dense_backward", &plan, sizeof(plan), KIND_SCATTER)
    operand(&work, &plan.grad, grad, READS)
    operand(&work, &plan.out, out, WRITES)
    operand(&work, &plan.index, indices, READS)
    if scale:
        counts = tensor_empty(DT_I64, 1, &rows)
        plan.counts = <int64_t*>counts.ptr
        operand(&work, &plan.counts, counts, SCRATCH)
    return launch_tiles(&work, grad_tile, parts(rows, plan.tile), grad.count + out.count)


# The adjoint of the above: rows by index, zeros for the padding, divided by how often they occur.

cdef struct BackPlan:
    int dt
    const char* a
    char* out
    const int64_t* index
    int64_t* counts
    Py_ssize_t n
    Py_ssize_t rows
    Py_ssize_t columns
    Py_ssize_t padding


cdef inline void divide_row(real_t* out, int64_t times, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t j
    cdef real_t part = <real_t>times
    for j in range(n):
        out[j] /= part


cdef void back_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef BackPlan* plan = <BackPlan*>ctx
    cdef Py_ssize_t width = plan.columns * DT_SIZE[plan.dt], i
    cdef int64_t k
    cdef char* out
    if plan.counts != NULL:
        memset(plan.counts, 0, plan.rows * sizeof(int64_t))
        for i in range(plan.n):
            plan.counts[plan.index[i]] += 1
    for i in range(plan.n):
        k = plan.index[i]
        out = plan.out + i * width
        if k == plan.padding:
            memset(out, 0, width)
            continue
        memcpy(out, plan.a + k * width, width)
        if plan.counts != NULL:
            if plan.dt == DT_F32:
                divide_row(<float*>out, plan.counts[k], plan.columns)
            else:
                divide_row(<double*>out, plan.counts[k], plan.columns)


cdef int embedding_rows_into(Tensor out, Tensor grad, Tensor indices, Py_ssize_t padding,
                             bint scale) except -1:
    cdef BackPlan plan
    cdef Launch work
    cdef Tensor wide, counts
    indices = positions(indices)
    check_rows(indices, grad.sizes[0])
    if out.count == 0:
        return 0
    if is_half(out.dt) and scale:
        wide = tensor_empty(DT_F32, out.nd, out.sizes)
        embedding_rows_into(wide, cast(grad, DT_F32), indices, padding, scale)
        return copy_into(out, wide, "embedding_dense_backward")
    grad = contiguous(cast(grad, out.dt))
    plan.dt = real_of(out.dt)
    plan.a = grad.ptr
    plan.out = out.ptr
    plan.index = <const int64_t*>indices.ptr
    plan.counts = NULL
    plan.n = indices.count
    plan.rows = grad.sizes[0]
    plan.columns = grad.sizes[1] * DT_SIZE[out.dt] // DT_SIZE[plan.dt]
    plan.padding = padding
    begin(&work, "embedding_rows", &plan, sizeof(plan), KIND_GATHER)
    operand(&work, &plan.a, grad, READS)
    operand(&work, &plan.out, out, WRITES)
    operand(&work, &plan.index, indices, READS)
    if scale:
        counts = tensor_empty(DT_I64, 1, &plan.rows)
        plan.counts = <int64_t*>counts.ptr
        operand(&work, &plan.counts, counts, SCRATCH)
    return launch_tiles(&work, back_tile, 1, out.count)


# --- bags -----------------------------------------------------------------------------------

cdef struct BagPlan:
    int dt
    int mode
    const char* a
    const char* samples     # NULL: all ones
    char* out
    const int64_t* index
    const int64_t* bounds   # where bags begin
    int64_t* bag_of
    int64_t* sizes
    int64_t* places         # of the maxima
    bint taken              # row i of a is that of index i
    Py_ssize_t bags
    Py_ssize_t n
    Py_ssize_t stop         # where the last bag ends
    Py_ssize_t columns
    Py_ssize_t padding
    Py_ssize_t tile


cdef inline void one_bag(const BagPlan* plan, real_t* out, Py_ssize_t bag, Py_ssize_t first,
                         Py_ssize_t stop) noexcept nogil:
    cdef Py_ssize_t i, j, n = plan.columns, used = 0
    cdef int64_t k
    cdef const real_t* row
    cdef real_t factor
    cdef int64_t* places = plan.places + bag * n
    memset(out, 0, n * sizeof(real_t))
    if plan.mode == MAX:
        memset(places, 0, n * sizeof(int64_t))
    for i in range(first, stop):
        k = plan.index[i]
        plan.bag_of[i] = bag
        if k == plan.padding:
            continue
        row = <const real_t*>plan.a + (i if plan.taken else k) * n
        if plan.mode == MAX:
            for j in range(n):
                if used == 0 or row[j] > out[j]:
                    out[j] = row[j]
                    places[j] = k
        elif plan.samples != NULL:
            factor = (<const real_t*>plan.samples)[i]
            for j in range(n):
                out[j] += factor * row[j]
        else:
            for j in range(n):
                out[j] += row[j]
        used += 1
    plan.sizes[bag] = used
    if plan.mode == MEAN and used > 1:
        factor = <real_t>used
        for j in range(n):
            out[j] /= factor


cdef void bag_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef BagPlan* plan = <BagPlan*>ctx
    cdef Py_ssize_t bag = tile * plan.tile, last = min(bag + plan.tile, plan.bags), stop
    for bag in range(bag, last):
        stop = plan.bounds[bag + 1] if bag + 1 < plan.bags else plan.stop
        if plan.dt == DT_F32:
            one_bag(plan, <float*>plan.out + bag * plan.columns, bag, plan.bounds[bag], stop)
        else:
            one_bag(plan, <double*>plan.out + bag * plan.columns, bag, plan.bounds[bag], stop)


cdef struct BoundsPlan:
    Fault fault
    const int64_t* bounds
    Py_ssize_t bags
    Py_ssize_t n            # indices


cdef void bounds_run(void* ctx) noexcept nogil:
    """Tell whether bags begin at 0, end before the indices do, and don't go backwards."""
    cdef BoundsPlan* plan = <BoundsPlan*>ctx
    cdef const int64_t* bounds = plan.bounds
    cdef int64_t end = bounds[plan.bags - 1]
    cdef Py_ssize_t i
    plan.fault.kind = FAULT_NONE
    if bounds[0] != 0:
        note_fault(&plan.fault, FAULT_BAG_FIRST, NULL, bounds[0], 0, 0)
    for i in range(1, plan.bags):
        if bounds[i] < bounds[i - 1]:
            note_fault(&plan.fault, FAULT_BAG_ORDER, NULL, bounds[i], bounds[i - 1], i)
            break
    if end > plan.n:
        note_fault(&plan.fault, FAULT_BAG_LAST, NULL, end, plan.n, 0)


cdef Py_ssize_t check_bags(Tensor indices, Tensor offsets, Py_ssize_t rows) except -1:
    """Return the end of the last bag."""
    cdef BoundsPlan plan
    cdef Launch work
    check_indices(indices, rows, FAULT_BAG_INDEX, "embedding_bag", 0)
    if offsets.count == 0:
        if indices.count:
            raise RuntimeError("embedding_bag: there are indices, but no offsets, so no bags")
        return 0
    plan.bounds = <const int64_t*>offsets.ptr
    plan.bags = offsets.count
    plan.n = indices.count
    begin(&work, "check of offsets", &plan, sizeof(plan), KIND_CHECK)
    operand(&work, &plan.bounds, offsets, READS)
    may_fault(&work, &plan.fault)
    launch(&work, bounds_run, plan.bags)
    if plan.fault.kind:
        raise fault_error(&plan.fault)
    return indices.count


cdef int embedding_bag_into(Tensor out, Tensor bag_of, Tensor sizes, Tensor places, Tensor weight,
                            Tensor indices, Tensor offsets, Tensor samples, Py_ssize_t mode,
                            Py_ssize_t padding) except -1:
    cdef BagPlan plan
    cdef Launch work
    cdef Tensor wide, taken
    cdef Py_ssize_t shape[2]
    plan.taken = False
    indices = positions(indices)
    offsets = positions(offsets)
    plan.stop = check_bags(indices, offsets, weight.sizes[0])
    wide = out
    if is_half(out.dt):         # only rows that are used become float32
        shape[0], shape[1] = indices.count, weight.sizes[1]
        taken = tensor_empty(weight.dt, 2, shape)
        embedding_into(taken, weight, indices)
        weight = cast(taken, DT_F32)
        plan.taken = True
        wide = tensor_empty(DT_F32, out.nd, out.sizes)
    weight = contiguous(weight)
    plan.dt = wide.dt
    plan.mode = <int>mode
    plan.a = weight.ptr
    plan.samples = NULL
    plan.out = wide.ptr
    plan.index = <const int64_t*>indices.ptr
    plan.bounds = <const int64_t*>offsets.ptr
    plan.bag_of = <int64_t*>bag_of.ptr
    plan.sizes = <int64_t*>sizes.ptr
    plan.places = <int64_t*>places.ptr
    plan.bags = sizes.count
    plan.n = indices.count
    plan.columns = weight.sizes[1]
    plan.padding = padding
    plan.tile = TILE_WORK * plan.bags // ((plan.n + 1) * (plan.columns + 1)) + 1
    begin(&work, "embedding_bag", &plan, sizeof(plan), KIND_GATHER)
    operand(&work, &plan.a, weight, READS)
    operand(&work, &plan.out, wide, WRITES)
    operand(&work, &plan.index, indices, READS)
    operand(&work, &plan.bounds, offsets, READS)
    operand(&work, &plan.bag_of, bag_of, WRITES)
    operand(&work, &plan.sizes, sizes, WRITES)
    operand(&work, &plan.places, places, WRITES)
    if samples is not None:
        samples = contiguous(cast(samples, wide.dt))
        plan.samples = samples.ptr
        operand(&work, &plan.samples, samples, READS)
    launch_tiles(&work, bag_tile, parts(plan.bags, plan.tile), plan.n * plan.columns)
    return 0 if wide is out else copy_into(out, wide, "embedding_bag")
