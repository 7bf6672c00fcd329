# Variances, standard deviations and their means (part of reduce.pyx).

cdef double SMALL_DEVIATION = 1e-15   # squares of such numbers have fewer bits in float32

cdef struct VarPlan:
    int dt
    const char* p
    char* out
    finish_fn finish
    Py_ssize_t out_item
    Py_ssize_t rows
    Py_ssize_t size
    Py_ssize_t item
    Py_ssize_t chunk
    Py_ssize_t chunks
    double work
    double divisor
    bint root              # of the variance: a number of the dtype where that may be none
    bint again             # float32, bfloat16: in double where squares leave its range, not results
    bint exact             # what the tiles do now: in double
    bint second            # and the second pass, with means
    double* partial        # one entry per row and chunk, then the means


cdef void var_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef VarPlan* plan = <VarPlan*>ctx
    cdef Py_ssize_t row = tile // plan.chunks, start = tile % plan.chunks * plan.chunk
    cdef Py_ssize_t n = plan.size - start if plan.size - start < plan.chunk else plan.chunk
    cdef const char* p = plan.p + (row * plan.size + start) * plan.item
    cdef char* acc = <char*>(plan.partial + tile)
    cdef const double* mean = plan.partial + plan.rows * plan.chunks + row
    cdef bint half = plan.dt == DT_F16 or plan.dt == DT_BF16
    if plan.exact:
        if not to_repeat(plan, row):
            return
        exact_part(plan, p, n, mean, <double*>acc)
    elif not plan.second and half:
        T.half_rows(R_SUM, plan.dt, p, 1, 0, n, acc)
    elif not plan.second:
        T.rows[<int>R_SUM][plan.dt](p, 1, 0, n, acc)
    elif half:
        T.half_deviation(plan.dt, p, 1, 0, n, mean, <double*>acc)
    else:
        T.deviation[plan.dt](p, 1, 0, n, mean, <double*>acc)


cdef inline float widened_bits(uint16_t bits) noexcept nogil:
    """A bfloat16 number, which is the upper half of a float32."""
    cdef uint32_t wide = <uint32_t>bits << 16
    cdef float x
    memcpy(&x, &wide, sizeof(x))
    return x


cdef bint to_repeat(const VarPlan* plan, Py_ssize_t row) noexcept nogil:
    """Return whether the squares of a row left the range of float32, by what was found."""
    cdef double x
    if plan.out_item == 2:
        x = widened_bits((<uint16_t*>plan.out)[row])
    else:
        x = (<double*>plan.out)[row] if plan.out_item == 8 else (<float*>plan.out)[row]
    return not isfinite(x) or x < SMALL_DEVIATION


cdef void exact_part(VarPlan* plan, const char* p, Py_ssize_t n, const double* mean,
                     double* acc) noexcept nogil:
    """A tile in double, in pieces that fit on the stack."""
    cdef double[512] wide
    cdef double part
    cdef Py_ssize_t i, done, m
    acc[0] = 0
    for done from 0 <= done < n by 512:
        m = n - done if n - done < 512 else 512
        for i in range(m):
            if plan.dt == DT_BF16:
                wide[i] = widened_bits((<const uint16_t*>p)[done + i])
            else:
                wide[i] = (<const float*>p)[done + i]
        if plan.second:
            T.deviation[<int>DT_F64](<const char*>wide, 1, 0, m, mean, &part)
        else:
            T.rows[<int>R_SUM][<int>DT_F64](<const char*>wide, 1, 0, m, <char*>&part)
        acc[0] += part


cdef void var_passes(VarPlan* plan) noexcept nogil:
    """Means, then variances or their roots, at the end of `partial`."""
    cdef double* mean = plan.partial + plan.rows * plan.chunks
    cdef double divisor
    cdef double s
    cdef Py_ssize_t r, c
    cdef int turn
    for turn in range(2):
        plan.second = turn
        parallel_for(var_tile, plan, plan.rows * plan.chunks, team_size((1 + turn) * plan.work))
        for r in range(plan.rows):
            if plan.exact and not to_repeat(plan, r):
                continue
            s = 0
            for c in range(plan.chunks):
                s += plan.partial[r * plan.chunks + c]
            divisor = plan.divisor if turn else plan.size
            mean[r] = sqrt(s / divisor) if turn and plan.root else s / divisor


cdef void var_whole(void* ctx) noexcept nogil:
    cdef VarPlan* plan = <VarPlan*>ctx
    cdef char* results = <char*>(plan.partial + plan.rows * plan.chunks)
    cdef Py_ssize_t r
    plan.exact = False
    var_passes(plan)
    plan.finish(results, plan.out, plan.rows, 1, 1)
    if plan.again:
        for r in range(plan.rows):
            if to_repeat(plan, r):
                plan.exact = True
                break
    if plan.exact:
        var_passes(plan)
        plan.finish(results, plan.out, plan.rows, 1, 1)


cdef Tensor real_window(Tensor a, int part):
    """Real (0) or imaginary (1) part of a complex tensor, as a view."""
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef int d
    for d in range(a.nd):
        strides[d] = 2 * a.strides[d]
    return tensor_on(a.mem, a.ptr + part * DT_SIZE[dt_real(a.dt)], dt_real(a.dt), a.nd, a.sizes,
                     strides)


cdef int var_rows(Tensor a, Tensor out, double divisor, bint root) except -1:
    """Variances of the rows of a dense tensor, one for each element of `out`, or their roots."""
    cdef VarPlan plan
    cdef Launch work
    cdef Tensor partial
    cdef Py_ssize_t count
    plan.dt = a.dt
    plan.p = a.ptr
    plan.out = out.ptr
    plan.out_item = DT_SIZE[out.dt]
    plan.finish = T.finish[<int>ACC_F64][<int>out.dt]
    plan.rows = out.count
    plan.size = a.count // plan.rows
    plan.item = DT_SIZE[a.dt]
    plan.chunk = TILE_WORK
    plan.chunks = parts(plan.size, plan.chunk)
    plan.work = a.count
    plan.divisor = divisor
    plan.root = root
    # Squares are summed in float32: they may overflow, or be next to nothing, where the result
    # doesn't and isn't.
    plan.again = (a.dt == DT_F32 or a.dt == DT_BF16) and (
        root or out.dt == DT_F64 or divisor == 0)
    count = plan.rows * (plan.chunks + 1)
    partial = tensor_empty(DT_F64, 1, &count)
    plan.partial = <double*>partial.ptr
    begin(&work, "variance", &plan, sizeof(plan), KIND_REDUCE)
    operand(&work, &plan.p, a, READS)
    operand(&work, &plan.out, out, WRITES)
    operand(&work, &plan.partial, partial, SCRATCH)
    return launch(&work, var_whole, plan.work)


cdef int warn_of_freedom(Tensor out, Tensor a, double correction, str name) except -1:
    if <double>(a.count // max(out.count, 1)) <= correction:
        _warn(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the "
            "reduction factor (input numel divided by output numel).", UserWarning)
    return 0


cdef int var_into(Tensor out, Tensor a, object dims, double correction, bint keepdim) except -1:
    warn_of_freedom(out, a, correction, "var")
    return variance_into(out, a, dims, correction, False)


cdef int std_into(Tensor out, Tensor a, object dims, double correction, bint keepdim) except -1:
    warn_of_freedom(out, a, correction, "std")
    return std_of(out, a, dims, correction)


cdef int std_of(Tensor out, Tensor a, object dims, double correction) except -1:
    cdef Tensor wide
    if not dt_is_complex(a.dt):
        return variance_into(out, a, dims, correction, True)
    # The sum of two variances may be out of the range of its root's dtype.
    wide = out if out.dt == DT_F64 else tensor_empty(DT_F64, out.nd, out.sizes)
    variance_into(wide, a, dims, correction, False)
    ew1(K_SQRT, wide, P_SAME, wide, "std")
    return copy_into(out, wide, "std")


cdef int variance_into(Tensor out, Tensor a, object dims, double correction, bint root) except -1:
    """The variance, or its root, in the dtype of `out`."""
    cdef char[MAX_DIMS + 1] mask
    cdef Tensor other
    cdef double divisor
    if dt_is_complex(a.dt):
        other = tensor_empty(out.dt, out.nd, out.sizes)
        variance_into(out, real_window(a, 0), dims, correction, root)
        variance_into(other, real_window(a, 1), dims, correction, root)
        return add_into(out, other)
    if a.count == 0:
        return fill_dense(out, NAN)
    dims_mask(dims, a.nd, mask)
    divisor = reduced_count(a, mask) - correction
    # Without enough elements the result is 0 / 0 or inf, never negative.
    return var_rows(reduced_dims_last(a, mask), out, divisor if divisor > 0 else 0, root)


cdef int var_mean_into(Tensor var, Tensor mean, Tensor a, object dims, double correction,
                       bint keepdim) except -1:
    warn_of_freedom(var, a, correction, "var_mean")
    variance_into(var, a, dims, correction, False)
    return mean_into(mean, a, dims, keepdim, -1)


cdef int std_mean_into(Tensor std, Tensor mean, Tensor a, object dims, double correction,
                       bint keepdim) except -1:
    warn_of_freedom(std, a, correction, "std_mean")
    std_of(std, a, dims, correction)
    return mean_into(mean, a, dims, keepdim, -1)
