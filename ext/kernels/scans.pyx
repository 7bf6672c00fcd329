# cython: language_level=3
"""
Running extremes and logarithms of sums along a dimension.

The results hold what is scanned first, a copy of the operand; the loops then change them in place.
A tile is one place in the dimensions before. Half types go through float32, which holds them all.
"""
from libc.math cimport INFINITY, atan2, cos, exp, hypot, log, log1p, sin
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t
from autograd_cy._C.dtypes cimport (
    DT_BF16, DT_C64, DT_C128, DT_F16, DT_F32, DT_F64, DT_I64, DT_SIZE)
from autograd_cy._C.iterate cimport copy_into
from autograd_cy._C.launch cimport Launch, begin, launch_tiles, operand, UPDATES, WRITES
from autograd_cy._C.tensor cimport normal_dim, tensor_empty

__all__: list[str] = []

ctypedef fused part_t:
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

cdef struct ScanPlan:
    Py_ssize_t size
    Py_ssize_t inner
    char* p
    char* places
    int dt
    bint smallest


cdef inline void extremes_of_row(scan_t* p, int64_t* at, Py_ssize_t n,
                                 bint smallest) noexcept nogil:
    """`extremes` along neighbours. New ones are rare: the branch is nearly always known."""
    cdef Py_ssize_t i, place = 0
    cdef bint better
    cdef scan_t x, best = p[0]
    at[0] = 0
    for i in range(1, n):
        x = p[i]
        better = x <= best if smallest else x >= best
        if scan_t is float or scan_t is double:
            better = x != x or (better and best == best)
        if better:
            best = x
            place = i
        p[i] = best
        at[i] = place


cdef inline void extremes(scan_t* p, int64_t* at, ScanPlan* plan) noexcept nogil:
    """The last of equal ones wins, and the first NaN keeps its row; each NaN counts as equal."""
    cdef Py_ssize_t i, j, k, inner = plan.inner
    cdef bint better
    cdef scan_t x, best
    if inner == 1:
        if plan.smallest:
            extremes_of_row(p, at, plan.size, True)
        else:
            extremes_of_row(p, at, plan.size, False)
        return
    for j in range(inner):
        at[j] = 0
    for i in range(1, plan.size):
        for j in range(inner):
            k = i * inner + j
            x, best = p[k], p[k - inner]
            better = x <= best if plan.smallest else x >= best
            if scan_t is float or scan_t is double:
                better = x != x or (better and best == best)
            if better:
                at[k] = i
            else:
                p[k] = best
                at[k] = at[k - inner]


cdef void extremes_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef ScanPlan* plan = <ScanPlan*>ctx
    cdef Py_ssize_t first = tile * plan.size * plan.inner
    cdef char* p = plan.p + first * DT_SIZE[plan.dt]
    cdef int64_t* at = <int64_t*>plan.places + first
    if plan.dt == DT_F32:
        extremes(<float*>p, at, plan)
    elif plan.dt == DT_F64:
        extremes(<double*>p, at, plan)
    elif plan.dt == DT_I64:
        extremes(<int64_t*>p, at, plan)
    elif plan.dt == DT_I64 - 1:
        extremes(<int32_t*>p, at, plan)
    elif plan.dt == DT_I64 - 2:
        extremes(<int16_t*>p, at, plan)
    elif plan.dt == DT_I64 - 3:
        extremes(<int8_t*>p, at, plan)
    else:                                           # uint8, and bool that is stored as such
        extremes(<uint8_t*>p, at, plan)


cdef inline double log_add(double a, double b) noexcept nogil:
    """log(e^a + e^b); also of infinities."""
    cdef double top = b if a < b else a, low = a if a < b else b
    if a != a or b != b:
        return a + b
    if low == -INFINITY or top == INFINITY:
        return top
    return top + log1p(exp(low - top))


cdef void complex_log_add(double* a, const double* b) noexcept nogil:
    """log(e^a + e^b) into `a`; what is larger is taken out of the sum."""
    cdef double re = b[0] - a[0], im = b[1] - a[1], x, y, scale
    cdef double top_re = a[0], top_im = a[1]
    if a[0] == -INFINITY and a[1] == a[1]:              # e^a is 0
        a[0], a[1] = b[0], b[1]
        return
    if b[0] == -INFINITY and b[1] == b[1]:
        return
    if re > 0:
        re, im, top_re, top_im = -re, -im, b[0], b[1]
    scale = exp(re)
    x, y = scale * cos(im), scale * sin(im)             # e^(low - top)
    a[0] = top_re + (0.5 * log1p(x * (2 + x) + y * y) if x > -0.5 else log(hypot(1 + x, y)))
    a[1] = top_im + atan2(y, 1 + x)


cdef inline void complex_logarithms(part_t* p, Py_ssize_t inner, Py_ssize_t n) noexcept nogil:
    """The sum of each column is kept in double while it runs down."""
    cdef double total[2]
    cdef double term[2]
    cdef Py_ssize_t j, k
    for j in range(inner):
        total[0], total[1] = p[2 * j], p[2 * j + 1]
        for k from j + inner <= k < n by inner:
            term[0], term[1] = p[2 * k], p[2 * k + 1]
            complex_log_add(total, term)
            p[2 * k], p[2 * k + 1] = <part_t>total[0], <part_t>total[1]


cdef void logarithms_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef ScanPlan* plan = <ScanPlan*>ctx
    cdef Py_ssize_t k, n = plan.size * plan.inner, first = tile * n
    cdef float* p
    cdef double* q
    if plan.dt == DT_C64:
        complex_logarithms(<float*>plan.p + 2 * first, plan.inner, n)
    elif plan.dt == DT_C128:
        complex_logarithms(<double*>plan.p + 2 * first, plan.inner, n)
    elif plan.dt == DT_F32:
        p = <float*>plan.p + first
        for k in range(plan.inner, n):
            p[k] = <float>log_add(p[k - plan.inner], p[k])
    else:
        q = <double*>plan.p + first
        for k in range(plan.inner, n):
            q[k] = log_add(q[k - plan.inner], q[k])


cdef Py_ssize_t planned(ScanPlan* plan, Tensor a, Py_ssize_t dim) except -1:
    """The number of tiles."""
    cdef Py_ssize_t outer = 1
    cdef int d
    plan.size = 1
    plan.inner = 1
    if a.nd:
        dim = normal_dim(dim, a.nd)
        plan.size = a.sizes[dim]
        for d in range(dim):
            outer *= a.sizes[d]
        for d in range(<int>dim + 1, a.nd):
            plan.inner *= a.sizes[d]
    return outer


cdef Tensor widened(Tensor out, Tensor a, str op):
    """Memory of the dtype that is computed in, with the values of `a`."""
    cdef Tensor values = out
    if out.dt == DT_F16 or out.dt == DT_BF16:
        values = tensor_empty(DT_F32, a.nd, a.sizes)
    if values is not a:
        copy_into(values, a, op)
    return values


cdef int running(Tensor out, Tensor indices, Tensor a, Py_ssize_t dim, bint smallest,
                 str op) except -1:
    cdef ScanPlan plan
    cdef Launch work
    cdef Tensor values
    cdef Py_ssize_t tiles
    if out.count == 0:
        return 0
    values = widened(out, a, op)
    tiles = planned(&plan, values, dim)
    plan.smallest = smallest
    plan.dt = values.dt
    plan.p = values.ptr
    plan.places = indices.ptr
    begin(&work, "cummin" if smallest else "cummax", &plan, sizeof(plan))
    operand(&work, &plan.p, values, UPDATES)
    operand(&work, &plan.places, indices, WRITES)
    launch_tiles(&work, extremes_tile, tiles, 4.0 * values.count)
    return copy_into(out, values, op) if values is not out else 0


cdef int cummax(Tensor values, Tensor indices, Tensor a, Py_ssize_t dim) except -1:
    return running(values, indices, a, dim, False, "cummax")


cdef int cummin(Tensor values, Tensor indices, Tensor a, Py_ssize_t dim) except -1:
    return running(values, indices, a, dim, True, "cummin")


cdef int logcumsumexp(Tensor out, Tensor a, Py_ssize_t dim) except -1:
    cdef ScanPlan plan
    cdef Launch work
    cdef Tensor values
    cdef Py_ssize_t tiles
    if out.count == 0:
        return 0
    values = widened(out, a, "logcumsumexp")
    tiles = planned(&plan, values, dim)
    plan.dt = values.dt
    plan.p = values.ptr
    begin(&work, "logcumsumexp", &plan, sizeof(plan))
    operand(&work, &plan.p, values, UPDATES)
    launch_tiles(&work, logarithms_tile, tiles, 40.0 * values.count)
    return copy_into(out, values, "logcumsumexp") if values is not out else 0
