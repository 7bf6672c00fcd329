# Reductions at indices (part of indexing.pyx).  Half types are reduced in float32 and rounded once.

cdef inline void prod_row(const real_t* y, Py_ssize_t ys, char* x, Py_ssize_t xs, Py_ssize_t ks,
                          const int64_t* k, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(n):
        (<real_t*>(x + k[j] * ks + j * xs))[0] *= (<const real_t*>(<const char*>y + j * ys))[0]


cdef inline void complex_prod_row(const real_t* y, Py_ssize_t ys, char* x, Py_ssize_t xs,
                                  Py_ssize_t ks, const int64_t* k, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t j
    cdef const real_t* v
    cdef real_t* to
    cdef real_t re
    for j in range(n):
        v = <const real_t*>(<const char*>y + j * ys)
        to = <real_t*>(x + k[j] * ks + j * xs)
        re = to[0] * v[0] - to[1] * v[1]
        to[1] = to[0] * v[1] + to[1] * v[0]
        to[0] = re


cdef inline void extreme_row(bint largest, const real_t* y, Py_ssize_t ys, char* x, Py_ssize_t xs,
                             Py_ssize_t ks, const int64_t* k, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t j
    cdef real_t v
    cdef real_t* to
    for j in range(n):
        v = (<const real_t*>(<const char*>y + j * ys))[0]
        to = <real_t*>(x + k[j] * ks + j * xs)
        if v != v or (v > to[0] if largest else v < to[0]):      # NaN stays
            to[0] = v


cdef inline void reduce_row(int move, const real_t* y, Py_ssize_t ys, char* x, Py_ssize_t xs,
                            Py_ssize_t ks, const int64_t* k, Py_ssize_t n) noexcept nogil:
    if move == MOVE_PROD:
        prod_row(y, ys, x, xs, ks, k, n)
    else:
        extreme_row(move == MOVE_MAX, y, ys, x, xs, ks, k, n)


cdef void reduce_any(int move, int dt, char* y, Py_ssize_t ys, char* x, Py_ssize_t xs,
                     Py_ssize_t ks, const int64_t* k, Py_ssize_t n) noexcept nogil:
    if dt == DT_C64:                # products only
        complex_prod_row(<const float*>y, ys, x, xs, ks, k, n)
    elif dt == DT_C128:
        complex_prod_row(<const double*>y, ys, x, xs, ks, k, n)
    elif dt == DT_F32:
        reduce_row(move, <const float*>y, ys, x, xs, ks, k, n)
    elif dt == DT_F64:
        reduce_row(move, <const double*>y, ys, x, xs, ks, k, n)
    elif dt == DT_I64:
        reduce_row(move, <const int64_t*>y, ys, x, xs, ks, k, n)
    elif dt == DT_I32:
        reduce_row(move, <const int32_t*>y, ys, x, xs, ks, k, n)
    elif dt == DT_I16:
        reduce_row(move, <const int16_t*>y, ys, x, xs, ks, k, n)
    elif dt == DT_I8:
        reduce_row(move, <const int8_t*>y, ys, x, xs, ks, k, n)
    else:
        reduce_row(move, <const uint8_t*>y, ys, x, xs, ks, k, n)


# --- means -----------------------------------------------------------------------------------

cdef struct MeanPlan:
    char* x
    const int64_t* counts
    int dt
    Py_ssize_t n

cdef enum:
    MEANS_AT_ONCE = 4096


cdef inline void divide(real_t* x, const int64_t* counts, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    cdef int64_t a
    for i in range(n):
        if counts[i] <= 1:
            continue
        if real_t is float or real_t is double:
            x[i] = <real_t>(<double>x[i] / <double>counts[i])
        else:
            a = <int64_t>x[i]       # rounded down
            x[i] = <real_t>(a // counts[i] if a >= 0 else -1 - (-1 - a) // counts[i])


cdef inline void complex_divide(real_t* x, const int64_t* counts, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        if counts[i] > 1:
            x[2 * i] = <real_t>(<double>x[2 * i] / <double>counts[i])
            x[2 * i + 1] = <real_t>(<double>x[2 * i + 1] / <double>counts[i])


cdef void mean_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef MeanPlan* plan = <MeanPlan*>ctx
    cdef Py_ssize_t first = tile * MEANS_AT_ONCE, n = least(plan.n - first, MEANS_AT_ONCE)
    cdef char* x = plan.x + first * DT_SIZE[plan.dt]
    cdef const int64_t* counts = plan.counts + first
    if plan.dt == DT_C64:
        complex_divide(<float*>x, counts, n)
    elif plan.dt == DT_C128:
        complex_divide(<double*>x, counts, n)
    elif plan.dt == DT_F32:
        divide(<float*>x, counts, n)
    elif plan.dt == DT_F64:
        divide(<double*>x, counts, n)
    elif plan.dt == DT_I64:
        divide(<int64_t*>x, counts, n)
    elif plan.dt == DT_I32:
        divide(<int32_t*>x, counts, n)
    elif plan.dt == DT_I16:
        divide(<int16_t*>x, counts, n)
    elif plan.dt == DT_I8:
        divide(<int8_t*>x, counts, n)
    else:
        divide(<uint8_t*>x, counts, n)


cdef int divide_by_counts(Tensor sums, int dim, Tensor index, const Py_ssize_t* shape,
                          bint include_self) except -1:
    """Sums, which are dense, by the number of what came together there."""
    cdef MeanPlan plan
    cdef Launch work
    cdef int64_t[2] one
    cdef Tensor counts = tensor_empty(DT_I64, sums.nd, sums.sizes)
    fill_dense(counts, 1 if include_self else 0)
    one[0] = 1
    move_elements(MOVE_ADD, counts, dim, index, shape, None, <char*>one)
    plan.x = sums.ptr
    plan.counts = <const int64_t*>counts.ptr
    plan.dt = sums.dt
    plan.n = sums.count
    begin(&work, "mean", &plan, sizeof(plan), KIND_ELEMENTWISE)
    operand(&work, &plan.x, sums, UPDATES)
    operand(&work, &plan.counts, counts, READS)
    return launch_tiles(&work, mean_tile, parts(plan.n, MEANS_AT_ONCE),
                        4.0 * plan.n)


# --- the operators ---------------------------------------------------------------------------

cdef object neutral(str reduce, int dt):
    """Return the neutral element of a reduction."""
    if reduce == "sum" or reduce == "mean":
        return 0
    if reduce == "prod":
        return 1
    if dt == DT_BOOL:
        return reduce == "amin"
    if dt <= DT_I64:
        limits = _np.iinfo(dt_numpy(dt))
        return int(limits.min if reduce == "amax" else limits.max)
    return float("-inf" if reduce == "amax" else "inf")


cdef int reduce_at(Tensor out, Tensor a, int dim, Tensor index, const Py_ssize_t* shape,
                   Tensor src, str reduce, bint include_self) except -1:
    """The index is folded, of this shape; `out` may be `a`, and have any strides."""
    cdef int64_t[2] number
    cdef Tensor target = out
    cdef int move = MOVE_ADD
    if reduce == "prod":
        move = MOVE_PROD
    elif reduce == "amax":
        move = MOVE_MAX
    elif reduce == "amin":
        move = MOVE_MIN
    if index.count == 0 or src.count == 0:
        return copy_into(out, a, "scatter_reduce") if out is not a else 0
    if is_half(a.dt):
        target = contiguous(cast(a, DT_F32))
        src = cast(src, DT_F32)
    elif reduce == "mean" and out.flags & F_STRIDED:
        target = tensor_empty(a.dt, a.nd, a.sizes)
        copy_into(target, a, "scatter_reduce")
    elif out is not a:
        copy_into(out, a, "scatter_reduce")
    if not include_self:
        store_element(<char*>number, target.dt, neutral(reduce, target.dt))
        move_elements(MOVE_SCATTER, target, dim, index, shape, None, <char*>number)
    move_elements(move, target, dim, index, shape, src, NULL)
    if reduce == "mean":
        divide_by_counts(target, dim, index, shape, include_self)
    return copy_into(out, target, "scatter_reduce_") if target is not out else 0


cdef int scatter_reduce(Tensor out, Tensor a, Py_ssize_t dim, Tensor index, Tensor src, str reduce,
                        bint include_self) except -1:
    cdef Tensor places
    dim = normal_dim(dim, a.nd)
    places = folded(index, <int>dim)
    check_index(places, a, <int>dim, FAULT_PLACE)
    return reduce_at(out, a, <int>dim, places, index.sizes, src, reduce, include_self)


cdef int index_reduce(Tensor out, Tensor a, Py_ssize_t dim, Tensor index, Tensor source,
                      str reduce, bint include_self) except -1:
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef int d
    dim = normal_dim(dim, a.nd)
    index = positions(index)
    check_index(index, a, <int>dim, FAULT_REDUCED_INDEX)
    for d in range(source.nd):
        shape[d] = index.count if d == dim else 1
        strides[d] = 1
    index = tensor_window(index, source.nd, shape, strides, 0)
    return reduce_at(out, a, <int>dim, index, source.sizes, source, reduce, include_self)
