# Logarithms of sums of exponentials (part of reduce.pyx).

cdef struct SoftPlan:
    soft_rows_fn rows
    soft_cols_fn cols
    const char* p
    char* out
    Py_ssize_t outer       # the tensor is (outer, size, inner), dense
    Py_ssize_t size
    Py_ssize_t inner
    Py_ssize_t item
    Py_ssize_t block
    Py_ssize_t blocks


cdef void lse_rows_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef SoftPlan* plan = <SoftPlan*>ctx
    cdef Py_ssize_t first = tile * plan.block
    cdef Py_ssize_t rows = plan.outer - first if plan.outer - first < plan.block else plan.block
    plan.rows(S_LOGSUMEXP, plan.p + first * plan.size * plan.item, rows, plan.size,
              plan.out + first * plan.item)


cdef void lse_cols_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef SoftPlan* plan = <SoftPlan*>ctx
    cdef Py_ssize_t outer = tile // plan.blocks, first = tile % plan.blocks * plan.block
    cdef Py_ssize_t n = plan.inner - first if plan.inner - first < plan.block else plan.block
    plan.cols(S_LOGSUMEXP, plan.p + (outer * plan.size * plan.inner + first) * plan.item,
              plan.size, plan.inner * plan.item, n,
              plan.out + (outer * plan.inner + first) * plan.item)


cdef int complex_logsumexp(Tensor out, Tensor a, object dims) except -1:
    """From the largest real part, as for real numbers; an infinite one is left where it is."""
    cdef Tensor top = kept_extreme(real_window(a, 0), dims), total, finite
    finite = ew1(K_ISFINITE, top, P_BOOL, None, "logsumexp")
    top = ew3(K_WHERE, finite, top, wrap_double(0.0), P_SKIP_FIRST, None, "logsumexp")
    total = sum_plain(ew1(K_EXP, ew2(K_SUB, a, top, P_SAME, None, "logsumexp"), P_SAME, None,
                          "logsumexp"), dims, True, -1)
    total = ew1(K_LOG, total, P_SAME, total, "logsumexp")
    ew2(K_ADD, total, top, P_SAME, tensor_window(out, total.nd, total.sizes, total.strides, 0),
        "logsumexp")
    return 0


cdef Tensor kept_extreme(Tensor a, object dims):
    """The largest elements, reduced dimensions kept."""
    cdef Result result
    cdef Tensor out
    extreme(&result, a, dims, True, "logsumexp")
    out = fresh(&result, ON_CPU)
    extreme_into(R_MAX, out, a, dims)
    return out


cdef int logsumexp_into(Tensor out, Tensor a, object dims, bint keepdim) except -1:
    cdef char[MAX_DIMS + 1] mask
    cdef SoftPlan plan
    cdef Launch work
    cdef Tensor source, wide
    cdef int d, n_marked = 0, dim = 0
    if dt_is_complex(a.dt) and a.count:
        return complex_logsumexp(out, a, dims)
    if out.dt == DT_F16 or out.dt == DT_BF16:
        wide = tensor_empty(DT_F32, out.nd, out.sizes)
        logsumexp_into(wide, cast(a, DT_F32), dims, keepdim)
        return copy_into(out, wide, "logsumexp")
    a = cast(a, out.dt)
    dims_mask(dims, a.nd, mask)
    if a.count == 0:
        return fill_dense(out, -float("inf"))
    for d in range(a.nd):
        if mask[d]:
            n_marked += 1
            dim = d
    plan.outer = plan.inner = 1
    if n_marked == 1 and not (a.flags & F_STRIDED):
        source = a
        for d in range(dim):
            plan.outer *= a.sizes[d]
        for d in range(dim + 1, a.nd):
            plan.inner *= a.sizes[d]
        plan.size = a.sizes[dim]
    else:
        source = reduced_dims_last(a, mask)
        plan.outer = out.count
        plan.size = a.count // out.count
    plan.item = DT_SIZE[a.dt]
    plan.rows = T.soft_rows[<int>a.dt]
    plan.cols = T.soft_cols[<int>a.dt]
    plan.p = source.ptr
    plan.out = out.ptr
    begin(&work, "logsumexp", &plan, sizeof(plan), KIND_REDUCE)
    operand(&work, &plan.p, source, READS)
    operand(&work, &plan.out, out, WRITES)
    if plan.inner == 1:
        plan.block = clip(TILE_WORK // 8 // plan.size, 1, plan.outer)
        plan.blocks = parts(plan.outer, plan.block)
        return launch_tiles(&work, lse_rows_tile, plan.blocks, 8.0 * a.count)
    plan.block = even_block(plan.inner, COLS)
    plan.blocks = parts(plan.inner, plan.block)
    return launch_tiles(&work, lse_cols_tile, plan.outer * plan.blocks, 8.0 * a.count)
