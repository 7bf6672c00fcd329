# logsumexp, variance and running sums (part of reduce.pyx).

# --- logsumexp ------------------------------------------------------------------------------

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


cdef Tensor complex_logsumexp(Tensor a, object dims, bint keepdim):
    """From the largest real part, as for real numbers; an infinite one is left where it is."""
    cdef Tensor top = amax_plain(real_window(a, 0), dims, True), total
    cdef Tensor finite = ew1(K_ISFINITE, top, P_BOOL, None, "logsumexp")
    top = ew3(K_WHERE, finite, top, wrap_double(0.0), P_SKIP_FIRST, None, "logsumexp")
    total = sum_plain(ew1(K_EXP, ew2(K_SUB, a, top, P_SAME, None, "logsumexp"), P_SAME, None,
                          "logsumexp"), dims, True, -1)
    total = ew2(K_ADD, ew1(K_LOG, total, P_SAME, None, "logsumexp"), top, P_SAME, None, "logsumexp")
    return total if keepdim else sum_plain(total, dims, False, -1)


cdef Tensor logsumexp_plain(Tensor a, object dims, bint keepdim):
    cdef char[MAX_DIMS + 1] mask
    cdef SoftPlan plan
    cdef Tensor out, moved
    cdef int d, n_marked = 0, dim = 0
    if dt_is_complex(a.dt) and a.count:
        return complex_logsumexp(a, dims, keepdim)
    if a.dt <= DT_I64:
        a = cast(a, g_default_dtype)
    if a.dt == DT_F16 or a.dt == DT_BF16:
        return cast(logsumexp_plain(cast(a, DT_F32), dims, keepdim), a.dt)
    dims_mask(dims, a.nd, mask)
    out = empty_result(a, mask, keepdim, a.dt)
    if a.count == 0:
        fill_with(out, -float("inf"))
        return out
    for d in range(a.nd):
        if mask[d]:
            n_marked += 1
            dim = d
    plan.outer = plan.inner = 1
    if n_marked == 1 and not (a.flags & F_STRIDED):
        moved = a
        for d in range(dim):
            plan.outer *= a.sizes[d]
        for d in range(dim + 1, a.nd):
            plan.inner *= a.sizes[d]
        plan.size = a.sizes[dim]
    else:
        moved = contiguous_moved(a, mask)
        plan.outer = out.count
        plan.size = a.count // out.count
    plan.item = DT_SIZE[a.dt]
    plan.rows = T.soft_rows[<int>a.dt]
    plan.cols = T.soft_cols[<int>a.dt]
    plan.p = moved.ptr
    plan.out = out.ptr
    if plan.inner == 1:
        plan.block = clip(TILE_WORK // 8 // plan.size, 1, plan.outer)
        plan.blocks = (plan.outer + plan.block - 1) // plan.block
        run_tiles(lse_rows_tile, &plan, plan.blocks, 8.0 * a.count)
    else:
        plan.block = even_block(plan.inner, COLS)
        plan.blocks = (plan.inner + plan.block - 1) // plan.block
        run_tiles(lse_cols_tile, &plan, plan.outer * plan.blocks, 8.0 * a.count)
    return out


# --- variance -------------------------------------------------------------------------------

cdef struct VarPlan:
    int dt
    const char* p
    Py_ssize_t size
    Py_ssize_t item
    Py_ssize_t chunk
    Py_ssize_t chunks
    double* partial        # one entry per row and chunk
    const double* mean     # NULL in the first pass


cdef void var_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef VarPlan* plan = <VarPlan*>ctx
    cdef Py_ssize_t row = tile // plan.chunks, start = tile % plan.chunks * plan.chunk
    cdef Py_ssize_t n = plan.size - start if plan.size - start < plan.chunk else plan.chunk
    cdef const char* p = plan.p + (row * plan.size + start) * plan.item
    cdef char* acc = <char*>(plan.partial + tile)
    cdef bint half = plan.dt == DT_F16 or plan.dt == DT_BF16
    if plan.mean == NULL and half:
        T.half_rows(R_SUM, plan.dt, p, 1, 0, n, acc)
    elif plan.mean == NULL:
        T.rows[<int>R_SUM][plan.dt](p, 1, 0, n, acc)
    elif half:
        T.half_deviation(plan.dt, p, 1, 0, n, plan.mean + row, <double*>acc)
    else:
        T.deviation[plan.dt](p, 1, 0, n, plan.mean + row, <double*>acc)


cdef Tensor real_window(Tensor a, int part):
    """Real (0) or imaginary (1) part of a complex tensor, as a view."""
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef int d
    for d in range(a.nd):
        strides[d] = 2 * a.strides[d]
    return tensor_on(a.mem, a.ptr + part * DT_SIZE[dt_real(a.dt)], dt_real(a.dt), a.nd, a.sizes,
                     strides)


cdef int var_rows(Tensor a, Tensor out, double divisor, bint root) except -1:
    """
    Variances of the rows of a dense tensor, one for each element of `out`, or their roots: these
    are numbers of the dtype where the variance may be none.
    """
    cdef VarPlan plan
    cdef Py_ssize_t rows = out.count, r, c
    cdef double* space
    cdef double* mean
    cdef double s
    plan.dt = a.dt
    plan.p = a.ptr
    plan.size = a.count // rows
    plan.item = DT_SIZE[a.dt]
    plan.chunk = TILE_WORK
    plan.chunks = (plan.size + plan.chunk - 1) // plan.chunk
    space = <double*>malloc(rows * (plan.chunks + 1) * sizeof(double))
    if space == NULL:
        raise MemoryError()
    plan.partial = space
    mean = space + rows * plan.chunks
    plan.mean = NULL
    run_tiles(var_tile, &plan, rows * plan.chunks, a.count)
    for r in range(rows):
        s = 0
        for c in range(plan.chunks):
            s += space[r * plan.chunks + c]
        mean[r] = s / plan.size
    plan.mean = mean
    run_tiles(var_tile, &plan, rows * plan.chunks, 2.0 * a.count)
    for r in range(rows):
        s = 0
        for c in range(plan.chunks):
            s += space[r * plan.chunks + c]
        mean[r] = sqrt(s / divisor) if root else s / divisor
    T.finish[<int>ACC_F64][<int>out.dt](<char*>mean, out.ptr, rows, 1, 1)
    free(space)
    return 0


cdef Tensor var_plain(Tensor a, object dims, double correction, bint keepdim):
    return spread(a, dims, correction, keepdim, False, dt_real(a.dt))


cdef Tensor std_plain(Tensor a, object dims, double correction, bint keepdim):
    cdef int dt = dt_real(a.dt)
    if not dt_is_complex(a.dt):
        return spread(a, dims, correction, keepdim, True, dt)
    # The sum of two variances may be out of the range of its root's dtype.
    return cast(ew1(K_SQRT, spread(a, dims, correction, keepdim, False, DT_F64), P_SAME, None,
                    "std"), dt)


cdef Tensor spread(Tensor a, object dims, double correction, bint keepdim, bint root, int dt):
    """The variance, or its root, as numbers of the dtype `dt`."""
    cdef char[MAX_DIMS + 1] mask
    cdef Tensor out
    cdef double divisor
    if a.dt <= DT_I64:
        raise RuntimeError("std and var only support floating point and complex dtypes")
    if dt_is_complex(a.dt):
        out = spread(real_window(a, 0), dims, correction, keepdim, root, dt)
        add_into(out, spread(real_window(a, 1), dims, correction, keepdim, root, dt))
        return out
    dims_mask(dims, a.nd, mask)
    out = empty_result(a, mask, keepdim, dt)
    if a.count == 0:
        fill_with(out, NAN)
        return out
    divisor = reduced_count(a, mask) - correction
    # Without enough elements the result is 0 / 0 or inf, never negative.
    var_rows(contiguous_moved(a, mask), out, divisor if divisor > 0 else 0, root)
    if a.dt == DT_F32 and (root or dt == DT_F64) and has_infinity(out):
        # Squares are summed in float32: they may overflow where the root doesn't.
        return cast(spread(cast(a, DT_F64), dims, correction, keepdim, root, DT_F64), dt)
    return out


cdef bint has_infinity(Tensor a) noexcept:
    """Of a dense tensor of float32 or float64."""
    cdef Py_ssize_t i
    for i in range(a.count):
        if isinf((<float*>a.ptr)[i] if a.dt == DT_F32 else (<double*>a.ptr)[i]):
            return True
    return False


cdef tuple var_mean_plain(Tensor a, object dims, double correction, bint keepdim):
    return (var_plain(a, dims, correction, keepdim),
            mean_plain(a, dims, keepdim, -1))


cdef tuple std_mean_plain(Tensor a, object dims, double correction, bint keepdim):
    return std_plain(a, dims, correction, keepdim), mean_plain(a, dims, keepdim, -1)


# --- running sums ---------------------------------------------------------------------------

ctypedef fused scan_t:
    float
    double
    int64_t
    int32_t
    int16_t
    int8_t
    uint8_t
    double complex

cdef struct ScanPlan:
    Py_ssize_t size
    Py_ssize_t inner
    char* p
    int dt


cdef inline void scan_one(scan_t* p, Py_ssize_t size, Py_ssize_t inner) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef double s = 0
    if inner == 1:
        if scan_t is float:
            for i in range(size):
                s += p[i]
                p[i] = <float>s
        else:
            for i in range(1, size):
                p[i] += p[i - 1]
        return
    for i in range(1, size):
        for j in range(inner):
            p[i * inner + j] += p[(i - 1) * inner + j]


cdef void scan_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef ScanPlan* plan = <ScanPlan*>ctx
    cdef char* p = plan.p + tile * plan.size * plan.inner * DT_SIZE[plan.dt]
    if plan.dt == DT_F32:
        scan_one(<float*>p, plan.size, plan.inner)
    elif plan.dt == DT_F64:
        scan_one(<double*>p, plan.size, plan.inner)
    elif plan.dt == DT_I64:
        scan_one(<int64_t*>p, plan.size, plan.inner)
    elif plan.dt == DT_I64 - 1:
        scan_one(<int32_t*>p, plan.size, plan.inner)
    elif plan.dt == DT_I64 - 2:
        scan_one(<int16_t*>p, plan.size, plan.inner)
    elif plan.dt == DT_I64 - 3:
        scan_one(<int8_t*>p, plan.size, plan.inner)
    elif plan.dt == DT_I64 - 4:
        scan_one(<uint8_t*>p, plan.size, plan.inner)
    else:
        scan_one(<double complex*>p, plan.size, plan.inner)


cdef Tensor cumsum_plain(Tensor a, int dim, int dt):
    cdef ScanPlan plan
    cdef Tensor out
    cdef Py_ssize_t outer = 1
    cdef int d, compute
    dim = normal_dim(dim, a.nd)
    dt = sum_dtype(a.dt, dt)
    compute = dt
    if dt == DT_F16 or dt == DT_BF16:
        compute = DT_F32
    elif dt == DT_C64:
        compute = DT_C64 + 1
    elif dt == DT_BOOL:
        compute = DT_I64
    a = cast(cast(a, dt), compute)
    out = tensor_empty(compute, a.nd, a.sizes)
    copy_into(out, a, "cumsum")
    if out.count and out.nd:
        plan.size = out.sizes[dim]
        plan.inner = 1
        for d in range(dim):
            outer *= out.sizes[d]
        for d in range(dim + 1, out.nd):
            plan.inner *= out.sizes[d]
        plan.p = out.ptr
        plan.dt = compute
        run_tiles(scan_tile, &plan, outer, 4.0 * out.count)
    return cast(out, dt)
