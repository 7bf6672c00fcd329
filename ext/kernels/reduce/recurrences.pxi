# Linear recurrences along a dimension (part of reduce.pyx): gradients of running products.

ctypedef fused number_t:
    float
    double
    float complex
    double complex

cdef enum:
    ROWS_AT_ONCE = 4

cdef struct RecurrencePlan:
    Py_ssize_t size
    Py_ssize_t inner
    Py_ssize_t outer
    char* p                 # what is added; the results
    const char* factors
    int dt
    bint reverse


cdef inline void recurrence(number_t* y, const number_t* c, Py_ssize_t size, Py_ssize_t inner,
                            bint reverse) noexcept nogil:
    """y_k += c_k y_(k-1); in reverse y_k += c_(k+1) y_(k+1), which is its transpose."""
    cdef Py_ssize_t j, k, n = size * inner
    cdef number_t last
    if inner == 1:              # read again from memory, each would wait for its store
        if reverse:
            last = y[size - 1]
            for k in range(size - 2, -1, -1):
                last = y[k] + c[k + 1] * last
                y[k] = last
        else:
            last = y[0]
            for k in range(1, size):
                last = y[k] + c[k] * last
                y[k] = last
    elif reverse:
        for k from n - 2 * inner >= k >= 0 by inner:
            for j in range(k, k + inner):
                y[j] = y[j] + c[j + inner] * y[j + inner]
    else:
        for k from inner <= k < n by inner:
            for j in range(k, k + inner):
                y[j] = y[j] + c[j] * y[j - inner]


cdef inline void recurrence_of_rows(real_scan_t* y, const real_scan_t* c, Py_ssize_t size,
                                    bint reverse) noexcept nogil:
    """ROWS_AT_ONCE rows: each step waits for the one before."""
    cdef Py_ssize_t k, step = -1 if reverse else 1, lag = 1 if reverse else 0
    cdef real_scan_t a, b, d, e
    cdef const real_scan_t* at
    if reverse:
        y += size - 1
        c += size - 1
    a, b, d, e = y[0], y[size], y[2 * size], y[3 * size]
    for k in range(1, size):
        y += step
        c += step
        at = c + lag
        a = y[0] + at[0] * a
        b = y[size] + at[size] * b
        d = y[2 * size] + at[2 * size] * d
        e = y[3 * size] + at[3 * size] * e
        y[0], y[size], y[2 * size], y[3 * size] = a, b, d, e


cdef void recurrences_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef RecurrencePlan* plan = <RecurrencePlan*>ctx
    cdef Py_ssize_t row = tile * ROWS_AT_ONCE, stop = min(row + ROWS_AT_ONCE, plan.outer)
    cdef Py_ssize_t at, n = plan.size * plan.inner
    if plan.inner == 1 and stop - row == ROWS_AT_ONCE and plan.dt == DT_F32:
        recurrence_of_rows(<float*>plan.p + row * n, <const float*>plan.factors + row * n,
                           plan.size, plan.reverse)
        return
    if plan.inner == 1 and stop - row == ROWS_AT_ONCE and plan.dt == DT_F64:
        recurrence_of_rows(<double*>plan.p + row * n, <const double*>plan.factors + row * n,
                           plan.size, plan.reverse)
        return
    for at from row * n <= at < stop * n by n:
        if plan.dt == DT_F32:
            recurrence(<float*>plan.p + at, <const float*>plan.factors + at, plan.size,
                       plan.inner, plan.reverse)
        elif plan.dt == DT_F64:
            recurrence(<double*>plan.p + at, <const double*>plan.factors + at, plan.size,
                       plan.inner, plan.reverse)
        elif plan.dt == DT_C64:
            recurrence(<float complex*>plan.p + at, <const float complex*>plan.factors + at,
                       plan.size, plan.inner, plan.reverse)
        else:
            recurrence(<double complex*>plan.p + at, <const double complex*>plan.factors + at,
                       plan.size, plan.inner, plan.reverse)


cdef int linear_scan(Tensor out, Tensor terms, Tensor factors, Py_ssize_t dim,
                     bint reverse) except -1:
    cdef RecurrencePlan plan
    cdef Launch work
    cdef int d
    if out.count == 0:
        return 0
    copy_into(out, terms, "_linear_scan")
    factors = contiguous(cast(factors, out.dt))
    plan.outer = plan.size = plan.inner = 1
    if out.nd:
        dim = normal_dim(dim, out.nd)
        plan.size = out.sizes[dim]
        for d in range(dim):
            plan.outer *= out.sizes[d]
        for d in range(<int>dim + 1, out.nd):
            plan.inner *= out.sizes[d]
    plan.p = out.ptr
    plan.factors = factors.ptr
    plan.dt = out.dt
    plan.reverse = reverse
    begin(&work, "_linear_scan", &plan, sizeof(plan), KIND_SCAN)
    operand(&work, &plan.p, out, UPDATES)
    operand(&work, &plan.factors, factors, READS)
    return launch_tiles(&work, recurrences_tile, parts(plan.outer, ROWS_AT_ONCE), 4.0 * out.count)
