# cython: language_level=3
# build: plain -O3
# Reductions of plain tensors.  The loops are in row_loops.pyx; here dimensions are sorted and
# joined, the work is cut into tiles, and partial results are put together.  Positions of extremes,
# variance, logsumexp and running sums are in reduce/.

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.math cimport NAN, isfinite, sqrt
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint16_t, uint32_t, uint8_t
from libc.string cimport memcpy, memset

from autograd_cy._C.dtypes cimport (
    DT_BOOL, DT_C64, DT_C128, DT_F16, DT_BF16, DT_F32, DT_F64, DT_I16, DT_I32, DT_I64, DT_I8,
    DT_SIZE, DT_U8, dt_from_numpy, dt_is_complex, dt_is_limited, dt_real)
from autograd_cy._C.iterate cimport (
    add_into, cast, contiguous, copy_into, ew1, ew2, ew3, fill_dense, fill_with, one_memory, P_BOOL,
    P_SAME, P_SKIP_FIRST)
from autograd_cy._C.kernel_table cimport kernel_number
from autograd_cy._C.launch cimport (
    KIND_REDUCE, KIND_SCAN, READS, SCRATCH, UPDATES, WRITES, Launch, add_launch, begin, capturing,
    launch, launch_tiles, operand)
from autograd_cy._C.outputs cimport Result, fresh
from autograd_cy._C.parallel cimport parallel_for, team_size
from autograd_cy._C.row_loops cimport *
from autograd_cy._C.rules_common cimport dims_mask
from autograd_cy._C.rules_reduction cimport extreme, summed
from autograd_cy._C.sizes cimport parts
from autograd_cy._C.storage cimport ON_CPU, StorageImpl, storage_borrow, storage_decref
from autograd_cy._C.tensor cimport (
    F_LAZY, F_STRIDED, MAX_DIMS, Tensor, normal_dim, sizes_of, tensor_empty, tensor_on,
    tensor_window, wrap_double)
from autograd_cy._C.tiles cimport even_block

from autograd_cy._C._warned import warn as _warn

from autograd_cy._C import cpu as _cpu

cdef int K_ADD = kernel_number("add")
cdef int K_EXP = kernel_number("exp")
cdef int K_ISFINITE = kernel_number("isfinite")
cdef int K_LOG = kernel_number("log")
cdef int K_SQRT = kernel_number("sqrt")
cdef int K_SUB = kernel_number("sub")
cdef int K_WHERE = kernel_number("where")

cdef object _rows = _cpu.load("row_loops")
cdef const RowTable* T = <const RowTable*>PyCapsule_GetPointer(
    _rows.table_capsule(), "autograd_cy.row_table")

cdef enum:
    TILE_WORK = 32768    # elements of one tile
    ROWS_MAX = COLS      # results that one tile may have
    WIDE = 128           # elements to which rows of few columns are put side by side
    SPREAD = 64          # fewer tiles than this: the reduced range is cut as well

cdef const RowTable* row_table() noexcept nogil:
    return T


# --- dimensions -----------------------------------------------------------------------------

cdef Py_ssize_t reduced_count(Tensor a, const char* mask) noexcept:
    cdef Py_ssize_t n = 1
    cdef int d
    for d in range(a.nd):
        if mask[d]:
            n *= a.sizes[d]
    return n


cdef Tensor reduced_dims_last(Tensor a, const char* mask):
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef int d, want, n = 0
    cdef bint reordered = False
    for want in range(2):
        for d in range(a.nd):
            if (mask[d] != 0) == want:
                reordered = reordered or d != n
                shape[n] = a.sizes[d]
                strides[n] = a.strides[d]
                n += 1
    return contiguous(tensor_window(a, n, shape, strides, 0) if reordered else a)


# --- the engine -----------------------------------------------------------------------------

cdef struct Axis:
    Py_ssize_t size
    Py_ssize_t step        # bytes of the input
    Py_ssize_t out         # elements of the result; 0 for a reduced one
    bint reduced

cdef struct Plan:
    int op
    int dt
    int acc                # ACC_*
    bint cols              # the innermost axis is kept: loops run down the columns
    Py_ssize_t acc_size
    rows_fn fn             # NULL for halves
    combine_fn combine
    finish_fn finish
    double scale
    const char* p
    char* out
    Py_ssize_t out_item
    Axis x                 # kept axis along which a tile has its results
    Axis y                 # reduced axis that a loop runs over
    Axis kept_axes[64]     # the other kept axes
    Axis rest[64]          # the other reduced axes
    int n_kept
    int n_rest
    Py_ssize_t block       # results of a tile
    Py_ssize_t x_blocks
    Py_ssize_t chunk       # elements of y in one call of the loop
    Py_ssize_t y_chunks
    Py_ssize_t units       # calls of the loop per tile, before it is cut
    Py_ssize_t parts       # tiles that share the same results
    Py_ssize_t places
    double work
    char* partial


cdef inline void call_cols(Plan* plan, const char* p, Py_ssize_t rows, Py_ssize_t step,
                           Py_ssize_t n, char* acc) noexcept nogil:
    if plan.fn != NULL:
        plan.fn(p, rows, step, n, acc)
    else:
        T.half_cols(plan.op, plan.dt, p, rows, step, n, acc)


cdef void few_columns(Plan* plan, const char* p, Py_ssize_t m, Py_ssize_t n,
                      char* acc) noexcept nogil:
    """call_cols() for dense rows of a few columns: k rows are taken as one, the k results of each
    column are joined at the end."""
    cdef double wide[2 * WIDE]
    cdef Py_ssize_t k = WIDE // m, g
    cdef Py_ssize_t step = plan.y.step, size = m * plan.acc_size
    call_cols(plan, p, n // k, k * step, k * m, <char*>wide)
    for g in range(1, k):
        plan.combine(<char*>wide, <char*>wide + g * size, m)
    memcpy(acc, wide, size)
    if n % k:
        call_cols(plan, p + n // k * k * step, 1, 0, n % k * m, <char*>wide)
        for g in range(n % k):
            plan.combine(acc, <char*>wide + g * size, m)


cdef inline void call_loop(Plan* plan, const char* p, Py_ssize_t m, Py_ssize_t n,
                           char* acc) noexcept nogil:
    """Reduce n steps along y for m results along x."""
    if plan.cols:
        if 2 * m <= WIDE and plan.y.step == m * DT_SIZE[plan.dt] and n * m >= WIDE:
            few_columns(plan, p, m, n, acc)
        else:
            call_cols(plan, p, n, plan.y.step, m, acc)
    elif plan.fn != NULL:
        plan.fn(p, m, plan.x.step, n, acc)
    else:
        T.half_rows(plan.op, plan.dt, p, m, plan.x.step, n, acc)


cdef inline const char* walk(const Axis* axes, int n, Py_ssize_t index, const char* p,
                             Py_ssize_t* out) noexcept nogil:
    """Move p (and the place in the result) to the index-th element of the axes."""
    cdef Py_ssize_t i
    cdef int d
    for d in range(n - 1, -1, -1):
        i = index % axes[d].size
        index = index // axes[d].size
        p += i * axes[d].step
        out[0] += i * axes[d].out
    return p


cdef void reduce_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef Plan* plan = <Plan*>ctx
    cdef double acc[2 * ROWS_MAX]
    cdef double other[2 * ROWS_MAX]
    cdef Py_ssize_t part = tile % plan.parts, place = tile // plan.parts
    cdef Py_ssize_t first = place % plan.x_blocks * plan.block
    cdef Py_ssize_t m = plan.x.size - first if plan.x.size - first < plan.block else plan.block
    cdef Py_ssize_t unit = plan.units * part // plan.parts
    cdef Py_ssize_t stop = plan.units * (part + 1) // plan.parts
    cdef Py_ssize_t out = first * plan.x.out, unused = 0, start, n
    cdef const char* p = walk(plan.kept_axes, plan.n_kept, place // plan.x_blocks,
                              plan.p + first * plan.x.step, &out)
    cdef const char* q
    cdef bint begun = False
    for unit in range(unit, stop):
        q = p
        if plan.n_rest:
            q = walk(plan.rest, plan.n_rest, unit // plan.y_chunks, p, &unused)
        start = unit % plan.y_chunks * plan.chunk
        n = plan.y.size - start if plan.y.size - start < plan.chunk else plan.chunk
        q += start * plan.y.step
        call_loop(plan, q, m, n, <char*>other if begun else <char*>acc)
        if begun:
            plan.combine(<char*>acc, <char*>other, m)
        begun = True
    if plan.parts == 1:
        plan.finish(<char*>acc, plan.out + out * plan.out_item, m, plan.x.out, plan.scale)
    else:
        memcpy(plan.partial + tile * plan.block * plan.acc_size, acc, m * plan.acc_size)


cdef void reduce_parts(void* ctx) noexcept nogil:
    """All tiles, then their joint results."""
    cdef Plan* plan = <Plan*>ctx
    cdef Py_ssize_t place, part, first, m, out
    cdef Py_ssize_t size = plan.block * plan.acc_size
    cdef char* acc
    parallel_for(reduce_tile, plan, plan.places * plan.parts, team_size(plan.work))
    for place in range(plan.places):
        first = place % plan.x_blocks * plan.block
        m = plan.x.size - first if plan.x.size - first < plan.block else plan.block
        out = first * plan.x.out
        walk(plan.kept_axes, plan.n_kept, place // plan.x_blocks, NULL, &out)
        acc = plan.partial + place * plan.parts * size
        for part in range(1, plan.parts):
            plan.combine(acc, acc + part * size, m)
        plan.finish(acc, plan.out + out * plan.out_item, m, plan.x.out, plan.scale)


cdef int sort_axes(Tensor a, const char* mask, Axis* axes) noexcept:
    """Axes from the largest stride to the smallest, neighbours joined; size 1 is left out."""
    cdef Py_ssize_t item = DT_SIZE[a.dt], out = 1
    cdef Axis axis
    cdef int d, j, n = 0, joined = 0
    for d in range(a.nd - 1, -1, -1):
        if a.sizes[d] == 1:
            continue
        axis.size = a.sizes[d]
        axis.step = a.strides[d] * item
        axis.reduced = mask[d]
        axis.out = 0 if mask[d] else out
        if not mask[d]:
            out *= a.sizes[d]
        # Repeated elements (step 0) count as the slowest axis.
        j = n
        while j > 0 and axes[j - 1].step > axis.step and axis.step != 0 or (
                j > 0 and axes[j - 1].step == 0 and axis.step != 0):
            axes[j] = axes[j - 1]
            j -= 1
        axes[j] = axis
        n += 1
    # So far fastest first; turn round while joining.
    for d in range(n // 2):
        axis = axes[d]
        axes[d] = axes[n - 1 - d]
        axes[n - 1 - d] = axis
    for d in range(n):
        if joined > 0 and (axes[joined - 1].reduced == axes[d].reduced
                           and axes[joined - 1].step == axes[d].size * axes[d].step
                           and axes[joined - 1].out == axes[d].size * axes[d].out):
            axes[joined - 1].size *= axes[d].size
            axes[joined - 1].step = axes[d].step
            axes[joined - 1].out = axes[d].out
        else:
            axes[joined] = axes[d]
            joined += 1
    return joined


cdef void place_axes(Plan* plan, Axis* axes, int n) noexcept:
    cdef int d, x = -1, y = -1
    for d in range(n - 1, -1, -1):
        if axes[d].reduced:
            y = d if y < 0 else y
        else:
            x = d if x < 0 else x
    plan.cols = n > 0 and not axes[n - 1].reduced
    plan.x.size = plan.y.size = 1
    plan.x.step = plan.y.step = 0
    plan.x.out = 1
    plan.y.out = 0
    plan.n_kept = plan.n_rest = 0
    for d in range(n):
        if d == x:
            plan.x = axes[d]
        elif d == y:
            plan.y = axes[d]
        elif axes[d].reduced:
            plan.rest[plan.n_rest] = axes[d]
            plan.n_rest += 1
        else:
            plan.kept_axes[plan.n_kept] = axes[d]
            plan.n_kept += 1


cdef inline Py_ssize_t clip(Py_ssize_t x, Py_ssize_t lo, Py_ssize_t hi) noexcept nogil:
    return lo if x < lo else (hi if x > hi else x)


cdef Py_ssize_t choose_tiles(Plan* plan) noexcept:
    """Choose tiles, from shapes alone; returns how many places the results have."""
    cdef Py_ssize_t places = 1, others = 1
    cdef int d
    for d in range(plan.n_kept):
        places *= plan.kept_axes[d].size
    for d in range(plan.n_rest):
        others *= plan.rest[d].size
    if plan.cols:
        plan.block = even_block(plan.x.size, COLS)
        plan.chunk = clip(TILE_WORK // plan.block, 128, TILE_WORK)
    else:
        plan.block = clip(TILE_WORK // plan.y.size, 1, ROWS_MAX)
        plan.chunk = TILE_WORK
    if plan.block > plan.x.size:
        plan.block = plan.x.size
    plan.x_blocks = parts(plan.x.size, plan.block)
    plan.y_chunks = parts(plan.y.size, plan.chunk)
    plan.units = others * plan.y_chunks
    places *= plan.x_blocks
    plan.parts = 1
    # Cutting the reduced range costs memory for partial results: only where tiles are few and long.
    if plan.units * plan.block * plan.y.size > TILE_WORK:
        plan.parts = min(parts(SPREAD, places), plan.units)
    return places


cdef inline int accumulator(int dt) noexcept nogil:
    return ACC_I64 if dt <= DT_I64 else (ACC_F64 if dt <= DT_F64 else ACC_C128)


cdef int reduce_into(int op, Tensor a, const char* mask, Tensor out, double scale) except -1:
    """out = reduction of a over the marked dimensions; `out` is dense, in the order of the kept."""
    cdef Axis axes[64]
    cdef Plan plan
    cdef Launch work
    cdef Tensor partial
    cdef Py_ssize_t doubles
    cdef int n
    n = sort_axes(a, mask, axes)
    if n > 0 and axes[n - 1].step != DT_SIZE[a.dt]:
        a = contiguous(a)
        n = sort_axes(a, mask, axes)
    place_axes(&plan, axes, n)
    plan.op = op
    plan.dt = a.dt
    plan.acc = accumulator(a.dt)
    plan.acc_size = 16 if plan.acc == ACC_C128 else 8
    plan.fn = T.cols[op][plan.dt] if plan.cols else T.rows[op][plan.dt]
    plan.combine = T.combine[op][plan.acc]
    plan.finish = T.finish[plan.acc][<int>out.dt]
    plan.scale = scale
    plan.p = a.ptr
    plan.out = out.ptr
    plan.out_item = DT_SIZE[out.dt]
    plan.places = choose_tiles(&plan)
    begin(&work, "reduce", &plan, sizeof(plan), KIND_REDUCE)
    operand(&work, &plan.p, a, READS)
    operand(&work, &plan.out, out, WRITES)
    if plan.parts == 1:
        return launch_tiles(&work, reduce_tile, plan.places, a.count)
    doubles = plan.places * plan.parts * plan.block * plan.acc_size // 8
    partial = tensor_empty(DT_F64, 1, &doubles)
    plan.partial = partial.ptr
    plan.work = a.count
    operand(&work, &plan.partial, partial, SCRATCH)
    return launch(&work, reduce_parts, a.count)


cdef struct Small:
    rows_fn rows
    finish_fn finish
    const char* p
    char* out
    Py_ssize_t n
    double scale


cdef void small_whole(void* ctx) noexcept nogil:
    cdef Small* plan = <Small*>ctx
    cdef double[2] acc
    plan.rows(plan.p, 1, 0, plan.n, <char*>acc)
    plan.finish(<char*>acc, plan.out, 1, 1, plan.scale)


cdef int capture_small(Small* plan, Tensor a, Tensor out) except -1:
    cdef Launch work
    begin(&work, "reduce", plan, sizeof(Small), KIND_REDUCE)
    operand(&work, &plan.p, a, READS)
    operand(&work, &plan.out, out, WRITES)
    work.run = small_whole
    work.work = plan.n
    return add_launch(&work)


cdef int reduce_small(int op, Tensor a, Tensor out, double scale) except -1:
    """One row that a single call of the loop takes."""
    cdef Small plan
    plan.rows = T.rows[op][<int>a.dt]
    plan.finish = T.finish[accumulator(a.dt)][<int>out.dt]
    plan.p = a.ptr
    plan.out = out.ptr
    plan.n = a.count
    plan.scale = scale
    if capturing():
        capture_small(&plan, a, out)
    small_whole(&plan)
    return 0


cdef inline bint is_small(Tensor a, object dims) noexcept:
    return (dims is None and 0 < a.count <= 2048
            and not (a.flags & F_STRIDED) and a.dt != DT_F16 and a.dt != DT_BF16)


# --- sums and products ----------------------------------------------------------------------

cdef Tensor as_summand(Tensor a, int dt):
    """The operand in a dtype whose accumulator rounds to dt."""
    if a.dt == dt or (dt == DT_I64 and a.dt < DT_I64 and not dt_is_limited(a.dt)):
        return a
    return cast(a, dt)


cdef int add_or_multiply(int op, Tensor out, Tensor a, object dims) except -1:
    cdef char[MAX_DIMS + 1] mask
    a = as_summand(a, out.dt)
    if is_small(a, dims):
        return reduce_small(op, a, out, 1)
    dims_mask(dims, a.nd, mask)
    if a.count == 0:
        return fill_dense(out, 0 if op == R_SUM else 1)
    return reduce_into(op, a, mask, out, 1)


cdef int sum_into(Tensor out, Tensor a, object dims, bint keepdim, int dt) except -1:
    return add_or_multiply(R_SUM, out, a, dims)


cdef int squares_into(Tensor out, Tensor a, object dims, bint keepdim) except -1:
    cdef char[MAX_DIMS + 1] mask
    dims_mask(dims, a.nd, mask)
    return reduce_into(R_SQUARES, a, mask, out, 1) if a.count else fill_dense(out, 0)


cdef int prod_into(Tensor out, Tensor a, object dims, bint keepdim, int dt) except -1:
    return add_or_multiply(R_PROD, out, a, dims)


cdef int prod_dim_into(Tensor out, Tensor a, Py_ssize_t dim, bint keepdim, int dt) except -1:
    return add_or_multiply(R_PROD, out, a, dim)


cdef int mean_into(Tensor out, Tensor a, object dims, bint keepdim, int dt) except -1:
    cdef char[MAX_DIMS + 1] mask
    a = cast(a, out.dt)
    if is_small(a, dims):
        return reduce_small(R_SUM, a, out, 1.0 / a.count)
    dims_mask(dims, a.nd, mask)
    if a.count == 0:
        return fill_with(out, complex(NAN, NAN) if dt_is_complex(out.dt) else NAN)
    return reduce_into(R_SUM, a, mask, out, 1.0 / reduced_count(a, mask))


cdef Tensor sum_plain(Tensor a, object dims, bint keepdim, int dt):
    cdef Result result
    cdef Tensor out
    summed(&result, a, dims, keepdim, dt, "sum")
    out = fresh(&result, ON_CPU)
    sum_into(out, a, dims, keepdim, dt)
    return out


cdef Tensor sum_to_shape_fast(Tensor a, int ndim, const Py_ssize_t* shape):
    cdef char[MAX_DIMS + 1] mask
    cdef Tensor out
    cdef int d, lead = a.nd - ndim
    cdef bint any_reduced = False, leads = lead > 0
    for d in range(lead):
        mask[d] = 1
        any_reduced = any_reduced or a.sizes[d] != 1
    for d in range(ndim):
        mask[lead + d] = shape[d] == 1 and a.sizes[lead + d] != 1
        any_reduced = any_reduced or mask[lead + d]
        if shape[d] != 1 and shape[d] != a.sizes[lead + d]:
            raise RuntimeError(
                f"a tensor of shape {list(sizes_of(a))} can't be summed to shape "
                f"{[shape[i] for i in range(ndim)]}")
    if lead < 0:
        raise RuntimeError(
            f"a tensor of shape {list(sizes_of(a))} can't be summed to {ndim} dimensions")
    if not any_reduced:
        # Of one element each, leading dimensions go without a sum: the same memory.
        return tensor_window(a, ndim, a.sizes + lead, a.strides + lead, 0) if leads else a
    out = tensor_empty(a.dt, ndim, shape)
    if a.count == 0:
        fill_with(out, 0)
    elif a.dt == DT_BOOL:
        reduce_into(R_MAX, a, mask, out, 1)
    else:
        reduce_into(R_SUM, a, mask, out, 1)
    return out


# --- largest, smallest, all, any ------------------------------------------------------------

cdef int extreme_into(int op, Tensor out, Tensor a, object dims) except -1:
    cdef char[MAX_DIMS + 1] mask
    if is_small(a, dims):
        return reduce_small(op, a, out, 1)
    dims_mask(dims, a.nd, mask)
    return reduce_into(op, a, mask, out, 1) if a.count else 0


cdef int amax_into(Tensor out, Tensor a, object dims, bint keepdim) except -1:
    return extreme_into(R_MAX, out, a, dims)


cdef int amin_into(Tensor out, Tensor a, object dims, bint keepdim) except -1:
    return extreme_into(R_MIN, out, a, dims)


cdef int max_into(Tensor out, Tensor a) except -1:
    return extreme_into(R_MAX, out, a, None)


cdef int min_into(Tensor out, Tensor a) except -1:
    return extreme_into(R_MIN, out, a, None)


cdef int aminmax_into(Tensor low, Tensor high, Tensor a, object dim, bint keepdim) except -1:
    extreme_into(R_MIN, low, a, dim)
    return extreme_into(R_MAX, high, a, dim)


cdef int truth_into(int op, Tensor out, Tensor a, object dims) except -1:
    cdef char[MAX_DIMS + 1] mask
    if a.count == 0:
        return fill_dense(out, op == R_MIN)
    dims_mask(dims, a.nd, mask)
    if isinstance(dims, (tuple, list)) and len(dims) == 0:
        memset(mask, 0, a.nd)
    return reduce_into(op, cast(a, DT_BOOL), mask, out, 1)


cdef int all_into(Tensor out, Tensor a, object dims, bint keepdim) except -1:
    return truth_into(R_MIN, out, a, dims)


cdef int any_into(Tensor out, Tensor a, object dims, bint keepdim) except -1:
    return truth_into(R_MAX, out, a, dims)


include "reduce/positions.pxi"
include "reduce/logsumexp.pxi"
include "reduce/variance.pxi"
include "reduce/running_sums.pxi"
include "reduce/recurrences.pxi"


# --- entry points of the tests --------------------------------------------------------------

def _from_array(array):
    """A tensor on the memory of a NumPy array, for tests."""
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef int dt = dt_from_numpy(array.dtype), d
    cdef StorageImpl* s
    cdef size_t address = array.ctypes.data
    for d in range(array.ndim):
        shape[d] = array.shape[d]
        strides[d] = array.strides[d] // DT_SIZE[dt]
    s = storage_borrow(<char*>address, array.nbytes, array, False)
    try:
        return tensor_on(s, <char*>address, dt, array.ndim, shape, strides)
    finally:
        storage_decref(s)


def _sum_to_shape(Tensor a not None, tuple shape not None):
    """Undo broadcasting, for tests."""
    cdef Py_ssize_t[MAX_DIMS] sizes
    for i, size in enumerate(shape):
        sizes[i] = size
    return sum_to_shape_fast(a, <int>len(shape), sizes)
