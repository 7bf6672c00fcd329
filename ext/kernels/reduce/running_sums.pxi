# Running sums and products (part of reduce.pyx).

ctypedef fused real_scan_t:
    float
    double

ctypedef fused scan_t:
    float
    double
    int64_t
    int32_t
    int16_t
    int8_t
    uint8_t
    double complex

cdef struct Sums:           # what is done, chosen while compiling
    int unused

cdef struct Products:
    int unused

ctypedef fused way_t:
    Sums
    Products

cdef enum:
    AT_ONCE = 8      # rows that are summed side by side: each addition waits for the one before
    ABREAST = 16     # columns whose sums stay in registers
    CLOSE = 1 << 15  # elements that are gone through by strips: more of them go row by row

cdef struct ScanPlan:
    Py_ssize_t size
    Py_ssize_t inner
    Py_ssize_t outer
    char* p                # the results
    const char* source     # the elements; p itself, unless rows lie one after the other
    int dt
    bint products


cdef inline void scan_strip(scan_t* p, Py_ssize_t size, Py_ssize_t inner,
                            way_t* way) noexcept nogil:
    """ABREAST columns: what was just written isn't read again, which takes as long as the rest."""
    cdef scan_t[ABREAST] sums
    cdef Py_ssize_t i, j
    for j in range(ABREAST):
        sums[j] = p[j]
    for i in range(1, size):
        p += inner
        for j in range(ABREAST):
            if way_t is Sums:
                sums[j] += p[j]
            else:
                sums[j] *= p[j]
            p[j] = sums[j]


cdef inline void scan_one(scan_t* p, const scan_t* from_here, Py_ssize_t size, Py_ssize_t inner,
                          way_t* way) noexcept nogil:
    """`from_here` are the elements, if rows lie one after the other; else `p` has them."""
    cdef Py_ssize_t i, j, first = 0
    cdef double s = 0 if way_t is Sums else 1
    cdef scan_t total
    if inner == 1:
        if scan_t is float:
            for i in range(size):
                if way_t is Sums:
                    s += from_here[i]
                else:
                    s *= from_here[i]
                p[i] = <float>s
        else:
            p[0] = total = from_here[0]     # read again from memory, each would wait for its store
            for i in range(1, size):
                if way_t is Sums:
                    total += from_here[i]
                else:
                    total *= from_here[i]
                p[i] = total
        return
    if sizeof(scan_t) <= 8 and size * inner <= CLOSE:
        for first from 0 <= first <= inner - ABREAST by ABREAST:
            scan_strip(p + first, size, inner, way)
    for i in range(1, size):
        for j in range(first, inner):
            if way_t is Sums:
                p[i * inner + j] += p[(i - 1) * inner + j]
            else:
                p[i * inner + j] *= p[(i - 1) * inner + j]


cdef inline void scan_rows(real_scan_t* p, Py_ssize_t size, way_t* way) noexcept nogil:
    """scan_one() of AT_ONCE rows."""
    cdef double s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0
    cdef Py_ssize_t i
    if way_t is Products:
        s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 1
    elif real_scan_t is double:
        # Not 0 + p[0], which has no sign if p[0] is -0.
        s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = -0.0
    for i in range(size):
        if way_t is Sums:
            s0 += p[i]
            s1 += p[i + size]
            s2 += p[i + 2 * size]
            s3 += p[i + 3 * size]
            s4 += p[i + 4 * size]
            s5 += p[i + 5 * size]
            s6 += p[i + 6 * size]
            s7 += p[i + 7 * size]
        else:
            s0 *= p[i]
            s1 *= p[i + size]
            s2 *= p[i + 2 * size]
            s3 *= p[i + 3 * size]
            s4 *= p[i + 4 * size]
            s5 *= p[i + 5 * size]
            s6 *= p[i + 6 * size]
            s7 *= p[i + 7 * size]
        p[i] = <real_scan_t>s0
        p[i + size] = <real_scan_t>s1
        p[i + 2 * size] = <real_scan_t>s2
        p[i + 3 * size] = <real_scan_t>s3
        p[i + 4 * size] = <real_scan_t>s4
        p[i + 5 * size] = <real_scan_t>s5
        p[i + 6 * size] = <real_scan_t>s6
        p[i + 7 * size] = <real_scan_t>s7


cdef inline bint side_by_side(const ScanPlan* plan, Py_ssize_t row, Py_ssize_t stop) noexcept nogil:
    return plan.inner == 1 and stop - row == AT_ONCE and (plan.dt == DT_F32 or plan.dt == DT_F64)


cdef void scan_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef ScanPlan* plan = <ScanPlan*>ctx
    cdef Py_ssize_t row = tile * AT_ONCE, stop = min(row + AT_ONCE, plan.outer)
    cdef Py_ssize_t at = row * plan.size * DT_SIZE[plan.dt]
    # Rows side by side are too many places to read ahead of: they come here first.
    if plan.source != plan.p and side_by_side(plan, row, stop):
        memcpy(plan.p + at, plan.source + at, (stop - row) * plan.size * DT_SIZE[plan.dt])
    if plan.products:
        scan_group(plan, row, stop, <Products*>NULL)
    else:
        scan_group(plan, row, stop, <Sums*>NULL)


cdef void scan_group(ScanPlan* plan, Py_ssize_t row, Py_ssize_t stop, way_t* way) noexcept nogil:
    cdef char* p = plan.p + row * plan.size * plan.inner * DT_SIZE[plan.dt]
    if side_by_side(plan, row, stop):
        if plan.dt == DT_F32:
            scan_rows(<float*>p, plan.size, way)
        else:
            scan_rows(<double*>p, plan.size, way)
        return
    for row in range(row, stop):
        scan_row(plan, row, way)


cdef void scan_row(ScanPlan* plan, Py_ssize_t row, way_t* way) noexcept nogil:
    cdef char* p = plan.p + row * plan.size * plan.inner * DT_SIZE[plan.dt]
    cdef const char* a = plan.source + row * plan.size * plan.inner * DT_SIZE[plan.dt]
    if plan.dt == DT_F32:
        scan_one(<float*>p, <const float*>a, plan.size, plan.inner, way)
    elif plan.dt == DT_F64:
        scan_one(<double*>p, <const double*>a, plan.size, plan.inner, way)
    elif plan.dt == DT_I64:
        scan_one(<int64_t*>p, <const int64_t*>a, plan.size, plan.inner, way)
    elif plan.dt == DT_I64 - 1:
        scan_one(<int32_t*>p, <const int32_t*>a, plan.size, plan.inner, way)
    elif plan.dt == DT_I64 - 2:
        scan_one(<int16_t*>p, <const int16_t*>a, plan.size, plan.inner, way)
    elif plan.dt == DT_I64 - 3:
        scan_one(<int8_t*>p, <const int8_t*>a, plan.size, plan.inner, way)
    elif plan.dt == DT_I64 - 4:
        scan_one(<uint8_t*>p, <const uint8_t*>a, plan.size, plan.inner, way)
    elif (way_t is Sums and 2 * plan.inner >= ABREAST
            and 2 * plan.size * plan.inner <= CLOSE):
        scan_one(<double*>p, <const double*>a, plan.size, 2 * plan.inner, way)  # both parts side by side
    else:
        scan_one(<double complex*>p, <const double complex*>a, plan.size, plan.inner, way)


cdef int cumsum_into(Tensor out, Tensor a, Py_ssize_t dim) except -1:
    """`out` may be `a` itself."""
    return scan_into(out, a, dim, False, "cumsum")


cdef int cumprod_into(Tensor out, Tensor a, Py_ssize_t dim) except -1:
    """`out` may be `a` itself."""
    return scan_into(out, a, dim, True, "cumprod")


cdef int scan_into(Tensor out, Tensor a, Py_ssize_t dim, bint products, str op) except -1:
    cdef ScanPlan plan
    cdef Launch work
    cdef Tensor sums = out
    cdef Py_ssize_t outer = 1
    cdef int d, compute = out.dt
    dim = normal_dim(dim, a.nd)
    if out.dt == DT_F16 or out.dt == DT_BF16:
        compute = DT_F32
    elif out.dt == DT_C64:
        compute = DT_C64 + 1
    elif out.dt == DT_BOOL:
        compute = DT_I64
    # Partial products may overflow, or vanish, and still be factors of a number that doesn't: rows
    # multiply in double anyway.
    if products and compute == DT_F32 and a.nd and dim != a.nd - 1:
        compute = DT_F64
    if out.count == 0:
        return 0
    if compute != out.dt:
        sums = tensor_empty(compute, a.nd, a.sizes)
    if sums is not a:
        a = cast(a, out.dt)
        if (a.nd == 0 or dim != a.nd - 1 or a.dt != compute or a.flags & (F_STRIDED | F_LAZY)
                or (one_memory(a, sums) and a.ptr != sums.ptr)):
            copy_into(sums, a, op)
            a = sums
    if sums.nd:
        plan.size = sums.sizes[dim]
        plan.inner = 1
        for d in range(dim):
            outer *= sums.sizes[d]
        for d in range(<int>dim + 1, sums.nd):
            plan.inner *= sums.sizes[d]
        plan.p = sums.ptr
        plan.source = a.ptr
        plan.dt = compute
        plan.products = products
        begin(&work, "cumprod" if products else "cumsum", &plan, sizeof(plan), KIND_SCAN)
        operand(&work, &plan.p, sums, WRITES if a is not sums else UPDATES)
        operand(&work, &plan.source, a, READS)
        plan.outer = outer
        launch_tiles(&work, scan_tile, parts(outer, AT_ONCE), 4.0 * sums.count)
    return copy_into(out, sums, op) if sums is not out else 0
