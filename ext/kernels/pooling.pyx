# cython: language_level=3
# build: plain cold
# Pooling of plain tensors, forward and backward, over one to three dimensions by the same code. The
# loops are in pool_loops.pyx; here windows are described and the work is cut into tiles, rows of
# results or planes, which are of the same size for any number of threads. Halves are computed in
# float32.

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int64_t

from autograd_cy._C import cpu as _cpu
from autograd_cy._C.dtypes cimport DT_F32, DT_I64
from autograd_cy._C.halves cimport is_half
from autograd_cy._C.iterate cimport cast, clear, contiguous, copy_into
from autograd_cy._C.launch cimport READS, WRITES, Launch, begin, launch_tiles, operand
from autograd_cy._C.pool_loops cimport *
from autograd_cy._C.tensor cimport Tensor, tensor_empty

__all__: list[str] = []

cdef object _loops = _cpu.load("pool_loops")
cdef const PoolTable* L = <const PoolTable*>PyCapsule_GetPointer(
    _loops.table_capsule(), "autograd_cy.pool_table")

cdef enum:
    TILE_WORK = 16384     # elements that the windows of a tile have


cdef struct Plan:
    PoolShape g
    max_rows_fn largest    # one of these, the others NULL
    rows_fn rows
    planes_fn planes
    put_fn put
    const char* a
    char* out
    int64_t* index
    Py_ssize_t count       # rows, or planes
    Py_ssize_t block       # of which a tile has so many
    Py_ssize_t size        # elements of a plane, for `put`
    Py_ssize_t taken


cdef void pool_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef Plan* plan = <Plan*>ctx
    cdef Py_ssize_t first = tile * plan.block, last = first + plan.block
    if last > plan.count:
        last = plan.count
    if plan.largest != NULL:
        plan.largest(&plan.g, plan.a, plan.out, plan.index, first, last)
    elif plan.rows != NULL:
        plan.rows(&plan.g, plan.a, plan.out, first, last)
    elif plan.planes != NULL:
        plan.planes(&plan.g, plan.a, plan.out, first, last)
    else:
        plan.put(plan.a, plan.index, plan.out, plan.size, plan.taken, first, last)


# --- windows --------------------------------------------------------------------------------

cdef int blank(Plan* plan, Tensor large, Tensor small, int n) except -1:
    """Windows of one element in all of three dimensions; sizes of the last n."""
    cdef int d
    for d in range(3):
        plan.g.size[d] = large.sizes[large.nd - 3 + d] if d >= 3 - n else 1
        plan.g.out[d] = small.sizes[small.nd - 3 + d] if d >= 3 - n else 1
        plan.g.k[d] = plan.g.s[d] = plan.g.e[d] = 1
        plan.g.p[d] = 0
    plan.g.adaptive = False
    plan.g.with_pad = False
    plan.g.divisor = 0
    plan.largest = NULL
    plan.rows = NULL
    plan.planes = NULL
    plan.put = NULL
    plan.index = NULL
    return 0


cdef int regular(Plan* plan, Tensor large, Tensor small, tuple kernel, tuple stride,
                 tuple padding, tuple dilation) except -1:
    """Windows of one kernel: `small` has one element for each."""
    cdef int d, n = <int>len(kernel), at
    blank(plan, large, small, n)
    for d in range(n):
        at = 3 - n + d
        plan.g.k[at] = kernel[d]
        plan.g.s[at] = stride[d]
        plan.g.p[at] = padding[d]
        if dilation is not None:
            plan.g.e[at] = dilation[d]
    return 0


cdef int parts(Plan* plan, Tensor large, Tensor small, int n) except -1:
    """Nearly equal parts; those that are equal are windows of one kernel."""
    cdef int d
    blank(plan, large, small, n)
    for d in range(3):
        if plan.g.size[d] % plan.g.out[d]:
            plan.g.adaptive = True
        plan.g.k[d] = plan.g.s[d] = plan.g.size[d] // plan.g.out[d]
    return 0


cdef int run(Plan* plan, Launch* work, Py_ssize_t count, double elements) except -1:
    """In tiles of about TILE_WORK elements; `elements` of all."""
    plan.count = count
    plan.block = <Py_ssize_t>(TILE_WORK / (elements / count)) if elements > 0 else count
    if plan.block < 1:
        plan.block = 1
    return launch_tiles(work, pool_tile, (count + plan.block - 1) // plan.block, elements)


cdef inline double in_windows(const PoolShape* g, Tensor small) noexcept:
    """Elements of all windows, and what each costs beside an addition."""
    cdef double n = small.count
    cdef int d
    for d in range(3):
        n *= g.size[d] / <double>g.out[d] + 1 if g.adaptive else g.k[d]
    return 2 * n + small.count


# --- largest elements -----------------------------------------------------------------------

cdef int largest(Plan* plan, Tensor result, Tensor indices, Tensor a) except -1:
    cdef Launch work
    plan.largest = L.max_rows[<int>a.dt]
    plan.a = a.ptr
    plan.out = result.ptr
    plan.index = <int64_t*>indices.ptr
    begin(&work, "max_pool", plan, sizeof(Plan))
    operand(&work, &plan.a, a, READS)
    operand(&work, &plan.out, result, WRITES)
    operand(&work, &plan.index, indices, WRITES)
    return run(plan, &work, result.count // plan.g.out[2], in_windows(&plan.g, result))


cdef int max_pool(Tensor result, Tensor indices, Tensor a, tuple kernel, tuple stride,
                  tuple padding, tuple dilation, bint ceil_mode) except -1:
    cdef Plan plan
    cdef Tensor wide
    if result.count == 0:
        return 0
    if is_half(a.dt):
        wide = tensor_empty(DT_F32, result.nd, result.sizes)
        max_pool(wide, indices, cast(a, DT_F32), kernel, stride, padding, dilation, ceil_mode)
        return copy_into(result, wide, "max_pool")
    a = contiguous(a)
    regular(&plan, a, result, kernel, stride, padding, dilation)
    return largest(&plan, result, indices, a)


cdef int adaptive_max_pool(Tensor result, Tensor indices, Tensor a, tuple size) except -1:
    cdef Plan plan
    cdef Tensor wide
    if result.count == 0:
        return 0
    if is_half(a.dt):
        wide = tensor_empty(DT_F32, result.nd, result.sizes)
        adaptive_max_pool(wide, indices, cast(a, DT_F32), size)
        return copy_into(result, wide, "adaptive_max_pool")
    a = contiguous(a)
    parts(&plan, a, result, <int>len(size))
    return largest(&plan, result, indices, a)


cdef int max_pool_backward(Tensor out, Tensor grad, Tensor indices, tuple size,
                           Py_ssize_t n) except -1:
    cdef Plan plan
    cdef Launch work
    cdef Tensor wide
    cdef int d
    if out.count == 0:
        return 0
    if is_half(out.dt):
        wide = tensor_empty(DT_F32, out.nd, out.sizes)
        max_pool_backward(wide, cast(grad, DT_F32), indices, size, n)
        return copy_into(out, wide, "max_pool_backward")
    if grad.count == 0:
        return clear(out)
    grad = contiguous(grad)
    indices = contiguous(indices)
    blank(&plan, out, grad, <int>n)
    plan.put = L.put[<int>out.dt]
    plan.size = plan.taken = 1
    for d in range(3):
        plan.size *= plan.g.size[d]
        plan.taken *= plan.g.out[d]
    plan.a = grad.ptr
    plan.out = out.ptr
    plan.index = <int64_t*>indices.ptr
    begin(&work, "max_pool_backward", &plan, sizeof(plan))
    operand(&work, &plan.a, grad, READS)
    operand(&work, &plan.index, indices, READS)
    operand(&work, &plan.out, out, WRITES)
    return run(&plan, &work, out.count // plan.size, out.count + 8.0 * grad.count)


# --- averages -------------------------------------------------------------------------------

cdef int averages(Plan* plan, Tensor out, Tensor a) except -1:
    cdef Launch work
    plan.rows = L.avg_rows[<int>a.dt]
    plan.a = a.ptr
    plan.out = out.ptr
    begin(&work, "avg_pool", plan, sizeof(Plan))
    operand(&work, &plan.a, a, READS)
    operand(&work, &plan.out, out, WRITES)
    return run(plan, &work, out.count // plan.g.out[2], in_windows(&plan.g, out))


cdef int averages_back(Plan* plan, Tensor out, Tensor grad) except -1:
    cdef Launch work
    cdef Py_ssize_t count
    if L.by_rows(&plan.g):
        plan.rows = L.avg_back_rows[<int>out.dt]
        count = out.count // plan.g.size[2]
    else:
        plan.planes = L.avg_back_planes[<int>out.dt]
        count = out.count // (plan.g.size[0] * plan.g.size[1] * plan.g.size[2])
    plan.a = grad.ptr
    plan.out = out.ptr
    begin(&work, "avg_pool_backward", plan, sizeof(Plan))
    operand(&work, &plan.a, grad, READS)
    operand(&work, &plan.out, out, WRITES)
    return run(plan, &work, count, out.count + in_windows(&plan.g, grad))


cdef int avg_pool(Tensor out, Tensor a, tuple kernel, tuple stride, tuple padding, bint ceil_mode,
                  bint count_include_pad, object divisor) except -1:
    cdef Plan plan
    cdef Tensor wide
    if out.count == 0:
        return 0
    if is_half(a.dt) or a.dt < DT_I64:
        wide = tensor_empty(DT_I64 if a.dt < DT_I64 else DT_F32, out.nd, out.sizes)
        avg_pool(wide, cast(a, wide.dt), kernel, stride, padding, ceil_mode, count_include_pad,
                 divisor)
        return copy_into(out, wide, "avg_pool")
    a = contiguous(a)
    regular(&plan, a, out, kernel, stride, padding, None)
    plan.g.with_pad = count_include_pad
    plan.g.divisor = 0 if divisor is None else divisor
    return averages(&plan, out, a)


cdef int avg_pool_backward(Tensor out, Tensor grad, tuple size, tuple kernel, tuple stride,
                           tuple padding, bint ceil_mode, bint count_include_pad,
                           object divisor) except -1:
    cdef Plan plan
    cdef Tensor wide
    if out.count == 0:
        return 0
    if is_half(out.dt):
        wide = tensor_empty(DT_F32, out.nd, out.sizes)
        avg_pool_backward(wide, cast(grad, DT_F32), size, kernel, stride, padding, ceil_mode,
                          count_include_pad, divisor)
        return copy_into(out, wide, "avg_pool_backward")
    grad = contiguous(grad)
    regular(&plan, out, grad, kernel, stride, padding, None)
    plan.g.with_pad = count_include_pad
    plan.g.divisor = 0 if divisor is None else divisor
    return averages_back(&plan, out, grad)


cdef int adaptive_avg_pool(Tensor out, Tensor a, tuple size) except -1:
    cdef Plan plan
    cdef Tensor wide
    if out.count == 0:
        return 0
    if is_half(a.dt):
        wide = tensor_empty(DT_F32, out.nd, out.sizes)
        adaptive_avg_pool(wide, cast(a, DT_F32), size)
        return copy_into(out, wide, "adaptive_avg_pool")
    a = contiguous(a)
    parts(&plan, a, out, <int>len(size))
    return averages(&plan, out, a)


cdef int adaptive_avg_pool_backward(Tensor out, Tensor grad, tuple size,
                                    tuple output_size) except -1:
    cdef Plan plan
    cdef Tensor wide
    if out.count == 0:
        return 0
    if is_half(out.dt):
        wide = tensor_empty(DT_F32, out.nd, out.sizes)
        adaptive_avg_pool_backward(wide, cast(grad, DT_F32), size, output_size)
        return copy_into(out, wide, "adaptive_avg_pool_backward")
    if grad.count == 0:
        return clear(out)
    grad = contiguous(grad)
    parts(&plan, out, grad, <int>len(output_size))
    return averages_back(&plan, out, grad)
