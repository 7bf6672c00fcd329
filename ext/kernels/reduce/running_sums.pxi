# Running sums (part of reduce.pyx).

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


cdef int cumsum_into(Tensor out, Tensor a, Py_ssize_t dim, int dt) except -1:
    """`out` may be `a` itself."""
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
    if out.count == 0:
        return 0
    if compute != out.dt:
        sums = tensor_empty(compute, a.nd, a.sizes)
    if sums is not a:
        copy_into(sums, cast(a, out.dt), "cumsum")
    if sums.nd:
        plan.size = sums.sizes[dim]
        plan.inner = 1
        for d in range(dim):
            outer *= sums.sizes[d]
        for d in range(<int>dim + 1, sums.nd):
            plan.inner *= sums.sizes[d]
        plan.p = sums.ptr
        plan.dt = compute
        begin(&work, "cumsum", &plan, sizeof(plan))
        operand(&work, &plan.p, sums, UPDATES)
        launch_tiles(&work, scan_tile, outer, 4.0 * sums.count)
    return copy_into(out, sums, "cumsum") if sums is not out else 0
