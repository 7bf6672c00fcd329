# cython: language_level=3
# Softmax and log-softmax of plain tensors, forward and backward.  The loops are in
# row_loops/softmax.pxi: along rows when the dimension is the last one, else down the columns of a
# tile.

from autograd_cy._C.dtypes cimport DT_BF16, DT_F16, DT_F32, DT_SIZE
from autograd_cy._C.iterate cimport cast, contiguous, copy_into
from autograd_cy._C.launch cimport KIND_NORM, READS, WRITES, Launch, begin, launch_tiles, operand
from autograd_cy._C.reduce cimport row_table
from autograd_cy._C.row_loops cimport *
from autograd_cy._C.sizes cimport parts
from autograd_cy._C.tensor cimport Tensor, normal_dim, tensor_empty
from autograd_cy._C.tiles cimport even_block

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


cdef int softmax_rows(int kind, Tensor out, Tensor g, Tensor a, Py_ssize_t dim) except -1:
    """Forward (g is None) or backward; halves are computed in float32."""
    cdef Plan plan
    cdef Launch work
    cdef Tensor wide
    cdef int d
    if out.count == 0:
        return 0
    dim = normal_dim(dim, a.nd)
    if out.dt == DT_F16 or out.dt == DT_BF16:
        wide = tensor_empty(DT_F32, out.nd, out.sizes)
        softmax_rows(kind, wide, g, a, dim)
        return copy_into(out, wide, "softmax")
    a = contiguous(cast(a, out.dt))
    plan.kind = kind
    plan.rows = T.soft_rows[<int>a.dt]
    plan.cols = T.soft_cols[<int>a.dt]
    plan.back_rows = T.soft_back_rows[<int>a.dt]
    plan.back_cols = T.soft_back_cols[<int>a.dt]
    plan.g = NULL
    plan.p = a.ptr
    plan.out = out.ptr
    plan.item = DT_SIZE[a.dt]
    plan.size = a.sizes[dim] if a.nd else 1
    plan.outer = plan.inner = 1
    for d in range(<int>dim):
        plan.outer *= a.sizes[d]
    for d in range(<int>dim + 1, a.nd):
        plan.inner *= a.sizes[d]
    begin(&work, "softmax", &plan, sizeof(plan), KIND_NORM)
    operand(&work, &plan.p, a, READS)
    operand(&work, &plan.out, out, WRITES)
    if g is not None:
        g = contiguous(cast(g, out.dt))
        plan.g = g.ptr
        operand(&work, &plan.g, g, READS)
    if plan.inner == 1:
        plan.block = TILE_WORK // plan.size
        if plan.block < 1:
            plan.block = 1
        plan.blocks = parts(plan.outer, plan.block)
        return launch_tiles(&work, rows_tile, plan.blocks, <double>EXP_WORK * a.count)
    plan.block = even_block(plan.inner, COLS)
    plan.blocks = parts(plan.inner, plan.block)
    return launch_tiles(&work, cols_tile, plan.outer * plan.blocks, <double>EXP_WORK * a.count)


cdef int softmax_into(Tensor out, Tensor a, Py_ssize_t dim, int dt) except -1:
    return softmax_rows(S_SOFTMAX, out, None, cast(a, out.dt), dim)


cdef int log_softmax_into(Tensor out, Tensor a, Py_ssize_t dim, int dt) except -1:
    return softmax_rows(S_LOG_SOFTMAX, out, None, cast(a, out.dt), dim)


cdef int softmax_backward_into(Tensor out, Tensor grad, Tensor result, Py_ssize_t dim) except -1:
    return softmax_rows(S_SOFTMAX, out, grad, result, dim)


cdef int log_softmax_backward_into(Tensor out, Tensor grad, Tensor result,
                                   Py_ssize_t dim) except -1:
    return softmax_rows(S_LOG_SOFTMAX, out, grad, result, dim)
