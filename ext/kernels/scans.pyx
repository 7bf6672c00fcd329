# cython: language_level=3
"""
Running extremes and logarithms of sums along a dimension.

The results hold what is scanned first, a copy of the operand; the loops then change them in place.
A tile is one place in the dimensions before. Half types go through float32, which holds them all.
"""
from libc.math cimport INFINITY, cos, exp, sin
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t
from autograd_cy._C.dtypes cimport (
    DT_BF16, DT_C64, DT_C128, DT_F16, DT_F32, DT_F64, DT_I16, DT_I32, DT_I64, DT_I8, DT_SIZE)
from autograd_cy._C.iterate cimport copy_into
from autograd_cy._C.launch cimport (
    KIND_SCAN, READS, UPDATES, WRITES, Launch, begin, launch_tiles, operand)
from autograd_cy._C.tensor cimport (
    normal_dim, same_shape, tensor_empty, tensor_is_contiguous)

__all__: list[str] = []

cdef extern from "scalar/log_sums.h" nogil:
    ctypedef struct ag_c128:
        double re
        double im
    double log_add "ag_log_add_f64"(double a, double b)
    ag_c128 without_angle "ag_without_angle"(ag_c128 a)
    ag_c128 complex_log_add "ag_log_add_c128"(ag_c128 a, ag_c128 b)
    double shrunk "ag_shrunk"(double low, double top)
    double what_was_rounded "ag_what_was_rounded"(double sum, double total, double unit)

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
    elif plan.dt == DT_I32:
        extremes(<int32_t*>p, at, plan)
    elif plan.dt == DT_I16:
        extremes(<int16_t*>p, at, plan)
    elif plan.dt == DT_I8:
        extremes(<int8_t*>p, at, plan)
    else:                                           # uint8, and bool that is stored as such
        extremes(<uint8_t*>p, at, plan)


cdef inline void complex_logarithms(part_t* p, Py_ssize_t inner, Py_ssize_t n) noexcept nogil:
    """The sum of each column is kept in double while it runs down."""
    cdef ag_c128 total, term
    cdef Py_ssize_t j, k
    for j in range(inner):
        total.re, total.im = p[2 * j], p[2 * j + 1]
        total = without_angle(total)
        p[2 * j + 1] = <part_t>total.im
        for k from j + inner <= k < n by inner:
            term.re, term.im = p[2 * k], p[2 * k + 1]
            total = without_angle(complex_log_add(total, term))
            p[2 * k], p[2 * k + 1] = <part_t>total.re, <part_t>total.im


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


cdef Tensor cast_to_computing(Tensor out, Tensor a, str op):
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
    values = cast_to_computing(out, a, op)
    tiles = planned(&plan, values, dim)
    plan.smallest = smallest
    plan.dt = values.dt
    plan.p = values.ptr
    plan.places = indices.ptr
    begin(&work, "cummin" if smallest else "cummax", &plan, sizeof(plan), KIND_SCAN)
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
    values = cast_to_computing(out, a, "logcumsumexp")
    tiles = planned(&plan, values, dim)
    plan.dt = values.dt
    plan.p = values.ptr
    begin(&work, "logcumsumexp", &plan, sizeof(plan), KIND_SCAN)
    operand(&work, &plan.p, values, UPDATES)
    launch_tiles(&work, logarithms_tile, tiles, 40.0 * values.count)
    return copy_into(out, values, "logcumsumexp") if values is not out else 0


# --- derivatives of logarithms of sums --------------------------------------------------------

cdef struct DerivativePlan:
    Py_ssize_t size
    Py_ssize_t inner
    char* out
    const char* vector          # the tangent of the operand, or the gradient of the result
    const char* a
    const char* total
    int dt
    double unit                 # how much of itself a sum loses when it is rounded; 0: nothing


cdef void jvp_column(part_t* out, const part_t* tangent, const part_t* a, const part_t* total,
                     Py_ssize_t step, Py_ssize_t n, double unit) noexcept nogil:
    """sum over i <= j of t_i exp(a_i - r_j): e^(top - r_j) times a sum in which no term is large.

    -inf adds nothing, unless there is nothing else: that is 0/0.
    """
    cdef Py_ssize_t k
    cdef double top = -INFINITY, scaled_sum = 0, sum = -INFINITY, r, x
    for k from 0 <= k < n by step:
        x = a[k]
        r = total[k]
        if unit != 0:
            sum = log_add(sum, x)
            r += what_was_rounded(sum, r, unit)
        if x > top:
            scaled_sum *= shrunk(top, x)
            top = x
        if x != -INFINITY:
            scaled_sum += tangent[k] * exp(x - top)
        out[k] = <part_t>(scaled_sum * exp(top - r) if top != -INFINITY
                          else tangent[k] * exp(x - r))


cdef void gradient_column(part_t* out, const part_t* grad, const part_t* a, const part_t* total,
                          Py_ssize_t step, Py_ssize_t n, double unit) noexcept nogil:
    """sum over j >= i of g_j exp(a_i - r_j), from the last one up, in the same way."""
    cdef Py_ssize_t k
    cdef double top = -INFINITY, scaled_sum = 0, sum = -INFINITY, r
    if unit != 0:
        for k from 0 <= k < n by step:
            sum = log_add(sum, a[k])
            out[k] = <part_t>what_was_rounded(sum, total[k], unit)
    for k from n > k >= 0 by step:
        r = total[k]
        if unit != 0:
            r += out[k]
        if r != INFINITY:                   # as a divisor it leaves nothing
            if -r > top:
                scaled_sum *= shrunk(top, -r)
                top = -r
            scaled_sum += grad[k] * exp(-r - top)
        out[k] = <part_t>(scaled_sum * exp(a[k] + top) if top != -INFINITY
                          else grad[k] * exp(a[k] - r))


cdef inline void add_turned(double* sums, double re, double im, double size,
                            double angle) noexcept nogil:
    """Add (re + im i) size e^(angle i)."""
    cdef double c = size * cos(angle), s = size * sin(angle)
    sums[0] += re * c - im * s
    sums[1] += re * s + im * c


cdef void complex_jvp(part_t* out, const part_t* tangent, const part_t* a, const part_t* total,
                      Py_ssize_t step, Py_ssize_t n) noexcept nogil:
    """`jvp_column` of complex numbers; places and steps count pairs."""
    cdef Py_ssize_t k
    cdef double top = -INFINITY, x, scale
    cdef double[2] sums
    cdef double[2] one
    sums[0] = sums[1] = 0
    for k from 0 <= k < n by step:
        x = a[2 * k]
        if x > top:
            scale = shrunk(top, x)
            sums[0] *= scale
            sums[1] *= scale
            top = x
        if x != -INFINITY:
            add_turned(sums, tangent[2 * k], tangent[2 * k + 1], exp(x - top), a[2 * k + 1])
        one[0] = one[1] = 0
        if top != -INFINITY:
            add_turned(one, sums[0], sums[1], exp(top - total[2 * k]), -total[2 * k + 1])
        else:
            add_turned(one, tangent[2 * k], tangent[2 * k + 1], exp(x - total[2 * k]),
                       a[2 * k + 1] - total[2 * k + 1])
        out[2 * k], out[2 * k + 1] = <part_t>one[0], <part_t>one[1]


cdef void complex_gradient(part_t* out, const part_t* grad, const part_t* a, const part_t* total,
                           Py_ssize_t step, Py_ssize_t n) noexcept nogil:
    """`gradient_column` of complex numbers: the exponentials are conjugates."""
    cdef Py_ssize_t k
    cdef double top = -INFINITY, r, scale
    cdef double[2] sums
    cdef double[2] one
    sums[0] = sums[1] = 0
    for k from n > k >= 0 by step:
        r = total[2 * k]
        if r != INFINITY:
            if -r > top:
                scale = shrunk(top, -r)
                sums[0] *= scale
                sums[1] *= scale
                top = -r
            add_turned(sums, grad[2 * k], grad[2 * k + 1], exp(-r - top), total[2 * k + 1])
        one[0] = one[1] = 0
        if top != -INFINITY:
            add_turned(one, sums[0], sums[1], exp(a[2 * k] + top), -a[2 * k + 1])
        else:
            add_turned(one, grad[2 * k], grad[2 * k + 1], exp(a[2 * k] - r),
                       total[2 * k + 1] - a[2 * k + 1])
        out[2 * k], out[2 * k + 1] = <part_t>one[0], <part_t>one[1]


ctypedef fused float_t:
    float
    double


cdef void columns(float_t* out, const float_t* vector, const float_t* a, const float_t* total,
                  DerivativePlan* plan, Py_ssize_t first, bint back) noexcept nogil:
    cdef Py_ssize_t j, k, n = plan.size * plan.inner, step = plan.inner
    cdef bint pairs = plan.dt == DT_C64 or plan.dt == DT_C128
    for j in range(step):
        k = (first + j) * (2 if pairs else 1)
        if pairs and back:
            complex_gradient(out + k, vector + k, a + k, total + k, step, n - step + 1)
        elif pairs:
            complex_jvp(out + k, vector + k, a + k, total + k, step, n)
        elif back:
            gradient_column(out + k, vector + k, a + k, total + k, step, n - step + 1, plan.unit)
        else:
            jvp_column(out + k, vector + k, a + k, total + k, step, n, plan.unit)


cdef inline void run_derivative_tile(DerivativePlan* plan, Py_ssize_t tile,
                                     bint back) noexcept nogil:
    cdef Py_ssize_t first = tile * plan.size * plan.inner
    if plan.dt == DT_F32 or plan.dt == DT_C64:
        columns(<float*>plan.out, <const float*>plan.vector, <const float*>plan.a,
                <const float*>plan.total, plan, first, back)
    else:
        columns(<double*>plan.out, <const double*>plan.vector, <const double*>plan.a,
                <const double*>plan.total, plan, first, back)


cdef void jvp_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    run_derivative_tile(<DerivativePlan*>ctx, tile, False)


cdef void gradient_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    run_derivative_tile(<DerivativePlan*>ctx, tile, True)


cdef Tensor in_c_order(Tensor t, Tensor like, str op):
    """`t` in C order, of the shape and dtype of `like`."""
    cdef Tensor result
    if t.dt == like.dt and same_shape(t, like) and tensor_is_contiguous(t):
        return t
    result = tensor_empty(like.dt, like.nd, like.sizes)
    copy_into(result, t, op)
    return result


cdef int apply_derivative(Tensor out, Tensor vector, Tensor a, Tensor total, Py_ssize_t back,
                          bint backwards, str op) except -1:
    """The dimension is counted from the end, as a negative number; 0 is that of a number."""
    cdef DerivativePlan plan
    cdef ScanPlan places
    cdef Launch work
    cdef Tensor values = out
    cdef Py_ssize_t tiles
    if out.count == 0:
        return 0
    if out.dt == DT_F16 or out.dt == DT_BF16:
        values = tensor_empty(DT_F32, out.nd, out.sizes)
    vector = in_c_order(vector, values, op)
    a = in_c_order(a, values, op)
    total = in_c_order(total, values, op)
    if back:
        tiles = planned(&places, values, back)
        plan.size, plan.inner = places.size, places.inner
    else:
        tiles, plan.size, plan.inner = 1, 1, values.count
    plan.dt = values.dt
    # Sums are kept in the dtype of the result; exp makes an error of what a large one has lost.
    plan.unit = (9.8e-4 if out.dt == DT_F16 else 7.9e-3 if out.dt == DT_BF16 else
                 2.4e-7 if out.dt == DT_F32 else 0)
    plan.out, plan.vector, plan.a, plan.total = values.ptr, vector.ptr, a.ptr, total.ptr
    begin(&work, "logcumsumexp", &plan, sizeof(plan), KIND_SCAN)
    operand(&work, &plan.out, values, WRITES)
    operand(&work, <char**>&plan.vector, vector, READS)
    operand(&work, <char**>&plan.a, a, READS)
    operand(&work, <char**>&plan.total, total, READS)
    launch_tiles(&work, gradient_tile if backwards else jvp_tile, tiles, 60.0 * values.count)
    return copy_into(out, values, op) if values is not out else 0


cdef int logcumsumexp_jvp(Tensor out, Tensor tangent, Tensor a, Tensor total,
                          Py_ssize_t back) except -1:
    return apply_derivative(out, tangent, a, total, back, False, "logcumsumexp")


cdef int logcumsumexp_backward(Tensor out, Tensor grad, Tensor a, Tensor total,
                               Py_ssize_t back) except -1:
    return apply_derivative(out, grad, a, total, back, True, "logcumsumexp")
