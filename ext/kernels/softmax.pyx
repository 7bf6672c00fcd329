# cython: language_level=3
# Softmax and log-softmax of plain tensors, forward and backward.  The loops are in rows_soft.pxi:
# along rows when the dimension is the last one, else down the columns of a tile.

from autograd_cy._C.dtypes cimport (
    DT_BF16, DT_C64, DT_F16, DT_F32, DT_I64, DT_SIZE, dt_object)
from autograd_cy._C.iterate cimport cast, contiguous
from autograd_cy._C.reduce cimport row_table
from autograd_cy._C.rows cimport *
from autograd_cy._C.tensor cimport Tensor, normal_dim, same_shape, sizes_of, tensor_empty
from autograd_cy._C.tiles cimport even_block, run_tiles

cdef const RowTable* T = row_table()

cdef enum:
    TILE_WORK = 4096     # elements of a tile; an exponential costs about 8 additions
    EXP_WORK = 8


cdef struct Plan:
    int kind
    soft_rows_fn rows
    soft_cols_fn cols
    soft_back_rows_fn back_rows
    soft_back_cols_fn back_cols
    const char* g          # NULL in the forward pass
    const char* p          # operand, or result of the forward pass
    char* out
    Py_ssize_t outer       # the tensors are (outer, size, inner), dense
    Py_ssize_t size
    Py_ssize_t inner
    Py_ssize_t item
    Py_ssize_t block
    Py_ssize_t blocks


cdef void rows_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef Plan* plan = <Plan*>ctx
    cdef Py_ssize_t first = tile * plan.block
    cdef Py_ssize_t rows = plan.outer - first if plan.outer - first < plan.block else plan.block
    cdef Py_ssize_t at = first * plan.size * plan.item
    if plan.g == NULL:
        plan.rows(plan.kind, plan.p + at, rows, plan.size, plan.out + at)
    else:
        plan.back_rows(plan.kind, plan.g + at, plan.p + at, rows, plan.size, plan.out + at)


cdef void cols_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef Plan* plan = <Plan*>ctx
    cdef Py_ssize_t outer = tile // plan.blocks, first = tile % plan.blocks * plan.block
    cdef Py_ssize_t n = plan.inner - first if plan.inner - first < plan.block else plan.block
    cdef Py_ssize_t at = (outer * plan.size * plan.inner + first) * plan.item
    cdef Py_ssize_t step = plan.inner * plan.item
    if plan.g == NULL:
        plan.cols(plan.kind, plan.p + at, plan.size, step, n, plan.out + at)
    else:
        plan.back_cols(plan.kind, plan.g + at, plan.p + at, plan.size, step, n, plan.out + at)


cdef Tensor run(int kind, Tensor g, Tensor a, int dim):
    """Forward (g is None) or backward; float32 or float64, dense operands."""
    cdef Plan plan
    cdef Tensor out = tensor_empty(a.dt, a.nd, a.sizes)
    cdef int d
    if a.count == 0:
        return out
    plan.kind = kind
    plan.rows = T.soft_rows[<int>a.dt]
    plan.cols = T.soft_cols[<int>a.dt]
    plan.back_rows = T.soft_back_rows[<int>a.dt]
    plan.back_cols = T.soft_back_cols[<int>a.dt]
    plan.g = NULL if g is None else g.ptr
    plan.p = a.ptr
    plan.out = out.ptr
    plan.item = DT_SIZE[a.dt]
    plan.size = a.sizes[dim] if a.nd else 1
    plan.outer = plan.inner = 1
    for d in range(dim):
        plan.outer *= a.sizes[d]
    for d in range(dim + 1, a.nd):
        plan.inner *= a.sizes[d]
    if plan.inner == 1:
        plan.block = TILE_WORK // plan.size
        if plan.block < 1:
            plan.block = 1
        if plan.block > plan.outer:
            plan.block = plan.outer
        plan.blocks = (plan.outer + plan.block - 1) // plan.block
        run_tiles(rows_tile, &plan, plan.blocks, <double>EXP_WORK * a.count)
    else:
        plan.block = even_block(plan.inner, COLS)
        plan.blocks = (plan.inner + plan.block - 1) // plan.block
        run_tiles(cols_tile, &plan, plan.outer * plan.blocks, <double>EXP_WORK * a.count)
    return out


cdef Tensor forward(int kind, str op, Tensor a, int dim, int dt):
    dim = normal_dim(dim, a.nd)
    if dt >= 0:
        a = cast(a, dt)
    if a.dt <= DT_I64 or a.dt >= DT_C64:
        raise NotImplementedError(
            f'"{op}" not implemented for \'{dt_object(a.dt).name}\'; pass a floating dtype')
    if a.dt == DT_F16 or a.dt == DT_BF16:
        return cast(run(kind, None, contiguous(cast(a, DT_F32)), dim), a.dt)
    return run(kind, None, contiguous(a), dim)


cdef Tensor backward(int kind, str op, Tensor grad, Tensor result, int dim):
    cdef int dt = result.dt
    dim = normal_dim(dim, result.nd)
    if not same_shape(grad, result):
        raise RuntimeError(
            f"{op}: grad of shape {list(sizes_of(grad))} doesn't match the result of shape "
            f"{list(sizes_of(result))}")
    if dt == DT_F16 or dt == DT_BF16:
        grad = contiguous(cast(grad, DT_F32))
        return cast(run(kind, grad, contiguous(cast(result, DT_F32)), dim), dt)
    return run(kind, contiguous(cast(grad, dt)), contiguous(result), dim)


cdef Tensor softmax_plain(Tensor a, int dim, int dt):
    return forward(S_SOFTMAX, "softmax", a, dim, dt)


cdef Tensor log_softmax_plain(Tensor a, int dim, int dt):
    return forward(S_LOG_SOFTMAX, "log_softmax", a, dim, dt)


cdef Tensor softmax_backward_plain(Tensor grad, Tensor result, int dim):
    return backward(S_SOFTMAX, "softmax_backward", grad, result, dim)


cdef Tensor log_softmax_backward_plain(Tensor grad, Tensor result, int dim):
    return backward(S_LOG_SOFTMAX, "log_softmax_backward", grad, result, dim)


def _call(str name, Tensor a not None, *args):
    """Diagnostic: call a C function of this module by name (without its suffix "_plain")."""
    if name == "softmax":
        return softmax_plain(a, args[0], args[1])
    if name == "log_softmax":
        return log_softmax_plain(a, args[0], args[1])
    if name == "softmax_backward":
        return softmax_backward_plain(a, args[0], args[1])
    if name == "log_softmax_backward":
        return log_softmax_backward_plain(a, args[0], args[1])
    raise ValueError(f"_call: no function {name!r} here")
