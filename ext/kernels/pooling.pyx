# cython: language_level=3
# build: plain cold
# Pooling of plain tensors, forward and backward, over one to three dimensions by the same code. The
# loops are in pool_loops.pyx; here windows are described and the work is cut into tiles, rows of
# results or planes, which are of the same size for any number of threads. Halves are computed in
# float32. Where operands are in channels last, results are, too, place by place with all channels;
# what has no loops for that (integers) is made in C order and copied.

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int64_t

from autograd_cy._C import cpu as _cpu
from autograd_cy._C.dtypes cimport DT_F32, DT_I64
from autograd_cy._C.formats cimport by_places, dense_places
from autograd_cy._C.halves cimport is_half
from autograd_cy._C.iterate cimport cast, clear, contiguous, copy_into
from autograd_cy._C.launch cimport KIND_WINDOW, READS, WRITES, Launch, begin, launch_tiles, operand
from autograd_cy._C.pool_loops cimport *
from autograd_cy._C.sizes cimport parts
from autograd_cy._C.tensor cimport F_STRIDED, Tensor, tensor_empty, tensor_empty_like

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
    plan.g.c = 0
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


cdef int divide_windows(Plan* plan, Tensor large, Tensor small, int n) except -1:
    """Nearly equal parts; those that are equal are windows of one kernel."""
    cdef int d
    blank(plan, large, small, n)
    for d in range(3):
        if plan.g.size[d] % plan.g.out[d]:
            plan.g.adaptive = True
        plan.g.k[d] = plan.g.s[d] = plan.g.size[d] // plan.g.out[d]
    return 0


cdef int run_tiles(Plan* plan, Launch* work, Py_ssize_t count, double elements) except -1:
    """Run the plan in tiles of about TILE_WORK elements; `elements` counts all."""
    plan.count = count
    plan.block = <Py_ssize_t>(TILE_WORK / (elements / count)) if elements > 0 else count
    if plan.block < 1:
        plan.block = 1
    return launch_tiles(work, pool_tile, parts(count, plan.block), elements)


cdef inline double in_windows(const PoolShape* g, Tensor small) noexcept:
    """Elements of all windows, and what each costs beside an addition."""
    cdef double n = small.count
    cdef int d
    for d in range(3):
        n *= g.size[d] / <double>g.out[d] + 1 if g.adaptive else g.k[d]
    return 2 * n + small.count


cdef bint plan_by_places(Plan* plan, Tensor out, Tensor a, Py_ssize_t n, max_rows_fn launch_max,
                         rows_fn rows) except -1:
    """Return whether it goes by places, n dimensions and channels; then by one of these
    functions."""
    if a.nd != n + 2 or (launch_max == NULL and rows == NULL) or not by_places(out, a):
        return False
    plan.largest = launch_max
    plan.rows = rows
    plan.g.c = a.sizes[1]
    return True


# --- largest elements -----------------------------------------------------------------------

cdef bint fits_int32(Plan* plan) noexcept:
    """Return whether places in planes are int32, as loops for float32 have them."""
    return plan.g.size[0] * plan.g.size[1] * plan.g.size[2] < 1 << 31


cdef int launch_max(Plan* plan, Tensor result, Tensor indices, Tensor a) except -1:
    cdef Launch work
    cdef Py_ssize_t size = plan.g.out[2]
    if plan.g.c:
        size = plan.g.c
    else:
        plan.largest = L.max_rows[<int>a.dt]
    plan.a = a.ptr
    plan.out = result.ptr
    begin(&work, "max_pool", plan, sizeof(Plan), KIND_WINDOW)
    operand(&work, &plan.a, a, READS)
    operand(&work, &plan.out, result, WRITES)
    if indices is not None:
        plan.index = <int64_t*>indices.ptr
        operand(&work, &plan.index, indices, WRITES)
    return run_tiles(plan, &work, result.count // size, in_windows(&plan.g, result))


cdef int largest_of(Plan* plan, Tensor result, Tensor indices, Tensor a, Py_ssize_t n,
                    str op) except -1:
    """By places where all are in channels last; otherwise row by row, to results in C order."""
    cdef Tensor dense, at
    if fits_int32(plan) and by_places(indices, a) and plan_by_places(
            plan, result, a, n, L.max_places[<int>a.dt], NULL):
        return launch_max(plan, result, indices, dense_places(a))
    if not (result.flags | indices.flags) & F_STRIDED:
        return launch_max(plan, result, indices, contiguous(a))
    dense = tensor_empty(result.dt, result.nd, result.sizes)
    at = tensor_empty(DT_I64, result.nd, result.sizes)
    launch_max(plan, dense, at, contiguous(a))
    copy_into(indices, at, op)
    return copy_into(result, dense, op)


cdef int max_pool(Tensor result, Tensor indices, Tensor a, tuple kernel, tuple stride,
                  tuple padding, tuple dilation, bint ceil_mode) except -1:
    cdef Plan plan
    cdef Tensor wide, places
    if result.count == 0:
        return 0
    if result.flags & F_STRIDED and not by_places(result, a):   # one volume, the channels innermost
        wide = tensor_empty(result.dt, result.nd, result.sizes)
        places = tensor_empty(DT_I64, result.nd, result.sizes)
        max_pool(wide, places, a, kernel, stride, padding, dilation, ceil_mode)
        copy_into(result, wide, "max_pool")
        return copy_into(indices, places, "max_pool")
    if is_half(a.dt):
        wide = tensor_empty_like(result, DT_F32)
        max_pool(wide, indices, cast(a, DT_F32), kernel, stride, padding, dilation, ceil_mode)
        return copy_into(result, wide, "max_pool")
    regular(&plan, a, result, kernel, stride, padding, dilation)
    return largest_of(&plan, result, indices, a, len(kernel), "max_pool")


cdef int max_values(Tensor result, Tensor a, tuple kernel, tuple stride, tuple padding,
                    tuple dilation, bint ceil_mode) except -1:
    """Without places, for what nobody differentiates."""
    cdef Plan plan
    cdef Tensor dense
    if result.count == 0:
        return 0
    if is_half(a.dt):
        dense = tensor_empty_like(result, DT_F32)
        max_values(dense, cast(a, DT_F32), kernel, stride, padding, dilation, ceil_mode)
        return copy_into(result, dense, "max_pool")
    regular(&plan, a, result, kernel, stride, padding, dilation)
    if not result.flags & F_STRIDED:
        return launch_max(&plan, result, None, contiguous(a))
    dense = tensor_empty(result.dt, result.nd, result.sizes)
    launch_max(&plan, dense, None, contiguous(a))
    return copy_into(result, dense, "max_pool")


cdef int adaptive_max_pool(Tensor result, Tensor indices, Tensor a, tuple size) except -1:
    cdef Plan plan
    cdef Tensor wide
    if result.count == 0:
        return 0
    if is_half(a.dt):
        wide = tensor_empty_like(result, DT_F32)
        adaptive_max_pool(wide, indices, cast(a, DT_F32), size)
        return copy_into(result, wide, "adaptive_max_pool")
    divide_windows(&plan, a, result, <int>len(size))
    return largest_of(&plan, result, indices, a, len(size), "adaptive_max_pool")


cdef int max_pool_backward(Tensor out, Tensor grad, Tensor indices, tuple size, Py_ssize_t n,
                           tuple kernel, tuple stride, tuple padding, tuple dilation) except -1:
    cdef Plan plan
    cdef Launch work
    cdef Tensor wide
    cdef Py_ssize_t blocks
    cdef int d
    if out.count == 0:
        return 0
    if is_half(out.dt):
        wide = tensor_empty_like(out, DT_F32)
        max_pool_backward(wide, cast(grad, DT_F32), indices, size, n, kernel, stride, padding,
                          dilation)
        return copy_into(out, wide, "max_pool_backward")
    if grad.count == 0:
        return clear(out)
    blank(&plan, out, grad, <int>n)
    plan.size = plan.taken = 1
    for d in range(3):
        plan.size *= plan.g.size[d]
        plan.taken *= plan.g.out[d]
    blocks = out.count // plan.size
    if plan_by_places(&plan, out, grad, n, L.put_places[<int>out.dt], NULL):
        grad = dense_places(grad)
        indices = dense_places(indices)
        blocks = blocks // plan.g.c * parts(plan.g.c, PUT_BLOCK)
    elif out.flags & F_STRIDED:
        wide = tensor_empty(out.dt, out.nd, out.sizes)
        max_pool_backward(wide, contiguous(grad), indices, size, n, kernel, stride, padding,
                          dilation)
        return copy_into(out, wide, "max_pool_backward")
    else:
        grad = contiguous(grad)
        indices = contiguous(indices)
        plan.put = L.put[<int>out.dt]
    plan.a = grad.ptr
    plan.out = out.ptr
    plan.index = <int64_t*>indices.ptr
    begin(&work, "max_pool_backward", &plan, sizeof(plan), KIND_WINDOW)
    operand(&work, &plan.a, grad, READS)
    operand(&work, &plan.index, indices, READS)
    operand(&work, &plan.out, out, WRITES)
    return run_tiles(&plan, &work, blocks, out.count + 8.0 * grad.count)


# --- averages -------------------------------------------------------------------------------

cdef int averages(Plan* plan, Tensor out, Tensor a) except -1:
    cdef Launch work
    cdef Py_ssize_t size = plan.g.out[2]
    if plan.g.c:
        size = plan.g.c
    else:
        plan.rows = L.avg_rows[<int>a.dt]
    plan.a = a.ptr
    plan.out = out.ptr
    begin(&work, "avg_pool", plan, sizeof(Plan), KIND_WINDOW)
    operand(&work, &plan.a, a, READS)
    operand(&work, &plan.out, out, WRITES)
    return run_tiles(plan, &work, out.count // size, in_windows(&plan.g, out))


cdef int averages_back(Plan* plan, Tensor out, Tensor grad) except -1:
    cdef Launch work
    cdef Py_ssize_t count
    if plan.g.c:
        count = out.count // plan.g.c
    elif L.by_rows(&plan.g):
        plan.rows = L.avg_back_rows[<int>out.dt]
        count = out.count // plan.g.size[2]
    else:
        plan.planes = L.avg_back_planes[<int>out.dt]
        count = out.count // (plan.g.size[0] * plan.g.size[1] * plan.g.size[2])
    plan.a = grad.ptr
    plan.out = out.ptr
    begin(&work, "avg_pool_backward", plan, sizeof(Plan), KIND_WINDOW)
    operand(&work, &plan.a, grad, READS)
    operand(&work, &plan.out, out, WRITES)
    return run_tiles(plan, &work, count, out.count + in_windows(&plan.g, grad))


ctypedef int (*averages_fn)(Plan*, Tensor, Tensor) except -1


cdef int averages_of(Plan* plan, Tensor out, Tensor a, Py_ssize_t n, averages_fn averaged,
                     rows_fn by_place, str op) except -1:
    """By places where both are in channels last; otherwise row by row, to a result in C order."""
    cdef Tensor dense
    if plan_by_places(plan, out, a, n, NULL, by_place):
        return averaged(plan, out, dense_places(a))
    if not out.flags & F_STRIDED:
        return averaged(plan, out, contiguous(a))
    dense = tensor_empty(out.dt, out.nd, out.sizes)
    averaged(plan, dense, contiguous(a))
    return copy_into(out, dense, op)


cdef int avg_pool(Tensor out, Tensor a, tuple kernel, tuple stride, tuple padding, bint ceil_mode,
                  bint count_include_pad, object divisor) except -1:
    cdef Plan plan
    cdef Tensor wide
    if out.count == 0:
        return 0
    if is_half(a.dt) or a.dt < DT_I64:
        wide = tensor_empty_like(out, DT_I64 if a.dt < DT_I64 else DT_F32)
        avg_pool(wide, cast(a, wide.dt), kernel, stride, padding, ceil_mode, count_include_pad,
                 divisor)
        return copy_into(out, wide, "avg_pool")
    regular(&plan, a, out, kernel, stride, padding, None)
    plan.g.with_pad = count_include_pad
    plan.g.divisor = 0 if divisor is None else divisor
    return averages_of(&plan, out, a, len(kernel), averages, L.avg_places[<int>out.dt], "avg_pool")


cdef int avg_pool_backward(Tensor out, Tensor grad, tuple size, tuple kernel, tuple stride,
                           tuple padding, bint ceil_mode, bint count_include_pad,
                           object divisor) except -1:
    cdef Plan plan
    cdef Tensor wide
    if out.count == 0:
        return 0
    if is_half(out.dt):
        wide = tensor_empty_like(out, DT_F32)
        avg_pool_backward(wide, cast(grad, DT_F32), size, kernel, stride, padding, ceil_mode,
                          count_include_pad, divisor)
        return copy_into(out, wide, "avg_pool_backward")
    regular(&plan, out, grad, kernel, stride, padding, None)
    plan.g.with_pad = count_include_pad
    plan.g.divisor = 0 if divisor is None else divisor
    return averages_of(&plan, out, grad, len(kernel), averages_back,
                       L.avg_back_places[<int>out.dt], "avg_pool_backward")


cdef int adaptive_avg_pool(Tensor out, Tensor a, tuple size) except -1:
    cdef Plan plan
    cdef Tensor wide
    if out.count == 0:
        return 0
    if is_half(a.dt):
        wide = tensor_empty_like(out, DT_F32)
        adaptive_avg_pool(wide, cast(a, DT_F32), size)
        return copy_into(out, wide, "adaptive_avg_pool")
    divide_windows(&plan, a, out, <int>len(size))
    return averages_of(&plan, out, a, len(size), averages, L.avg_places[<int>out.dt],
                       "adaptive_avg_pool")


cdef int adaptive_avg_pool_backward(Tensor out, Tensor grad, tuple size,
                                    tuple output_size) except -1:
    cdef Plan plan
    cdef Tensor wide
    if out.count == 0:
        return 0
    if is_half(out.dt):
        wide = tensor_empty_like(out, DT_F32)
        adaptive_avg_pool_backward(wide, cast(grad, DT_F32), size, output_size)
        return copy_into(out, wide, "adaptive_avg_pool_backward")
    if grad.count == 0:
        return clear(out)
    divide_windows(&plan, out, grad, <int>len(output_size))
    return averages_of(&plan, out, grad, len(output_size), averages_back,
                       L.avg_back_places[<int>out.dt], "adaptive_avg_pool_backward")
