# cython: language_level=3
# build: plain cold
# Filters along a dimension of plain tensors, forward and backward: sums of neighbours, each element
# of the result with weights of its own. The loops are in filter_loops.pyx; here the work is cut
# into tiles that depend on shapes alone.

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int64_t

from autograd_cy._C import cpu as _cpu
from autograd_cy._C.dtypes cimport DT_F64, DT_U8
from autograd_cy._C.filter_loops cimport *
from autograd_cy._C.iterate cimport contiguous
from autograd_cy._C.launch cimport (
    KIND_WINDOW, READS, SCRATCH, WRITES, Launch, begin, launch, operand)
from autograd_cy._C.parallel cimport parallel_for, team_size
from autograd_cy._C.sizes cimport parts
from autograd_cy._C.tensor cimport Tensor, tensor_empty

__all__: list[str] = []

cdef object _loops = _cpu.load("filter_loops")
cdef const FilterTable* L = <const FilterTable*>PyCapsule_GetPointer(
    _loops.table_capsule(), "autograd_cy.filter_table")

cdef enum:
    TILES = 64


cdef struct Plan:
    Filter f
    int kind               # 0: float, 1: double, 2: bytes
    bint back
    const char* a
    char* out
    char* scratch          # of each tile
    Py_ssize_t stretch     # bytes of it
    Py_ssize_t count       # rows, or planes
    Py_ssize_t block       # of which a tile has so many
    double work


cdef void tile_of(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef Plan* plan = <Plan*>ctx
    cdef Py_ssize_t first = tile * plan.block, last = min(first + plan.block, plan.count)
    if plan.back:
        L.backward[plan.kind](&plan.f, plan.a, plan.out, first, last)
    else:
        L.forward[plan.kind](&plan.f, plan.a, plan.out, plan.scratch + tile * plan.stretch, first,
                             last)


cdef void all_tiles(void* ctx) noexcept nogil:
    cdef Plan* plan = <Plan*>ctx
    parallel_for(tile_of, plan, parts(plan.count, plan.block), team_size(plan.work))


cdef int check_bounds(Tensor bounds, Py_ssize_t size, Py_ssize_t taps) except -1:
    cdef const int64_t* at = <const int64_t*>bounds.ptr
    cdef Py_ssize_t o
    for o in range(bounds.sizes[0]):
        if not 0 <= at[2 * o] <= at[2 * o + 1] <= size or at[2 * o + 1] - at[2 * o] > taps:
            raise IndexError(
                f"_filter: elements {at[2 * o]} to {at[2 * o + 1]} for element {o}, of {size} "
                f"elements and {taps} weights")
    return 0


cdef int filter_planes(Tensor small, Tensor large, Tensor bounds, Tensor weight, Py_ssize_t behind,
                       int bits,
                       bint back) except -1:
    """`small` has the shape of the input, `large` that of the result."""
    cdef Plan plan
    cdef Launch work
    cdef Tensor scratch, out = small if back else large, a = contiguous(large if back else small)
    cdef Py_ssize_t n
    cdef bint together      # planes of bytes
    cdef int d, dim = small.nd - 1 - <int>behind
    bounds = contiguous(bounds)
    weight = contiguous(weight)
    plan.f.size = small.sizes[dim]
    plan.f.to = large.sizes[dim]
    plan.f.taps = weight.sizes[1]
    check_bounds(bounds, plan.f.size, plan.f.taps)
    if out.count == 0:
        return 0
    plan.f.bits = bits
    plan.f.inner = 1
    for d in range(dim + 1, small.nd):
        plan.f.inner *= small.sizes[d]
    plan.kind = 2 if a.dt == DT_U8 else a.dt == DT_F64
    plan.back = back
    plan.count = out.count // (out.sizes[dim] * plan.f.inner)
    together = plan.kind == 2 and plan.f.inner < LANES
    if not back and plan.f.inner > 1 and not together:
        plan.count *= plan.f.to
    plan.block = parts(plan.count, TILES)
    plan.stretch = 0
    if together:
        plan.block = parts(plan.block, LANES) * LANES
        plan.stretch = (plan.f.size + plan.f.to) * plan.f.inner * LANES
    n = parts(plan.count, plan.block) * plan.stretch
    plan.work = <double>large.count * plan.f.taps
    scratch = tensor_empty(DT_U8, 1, &n)
    plan.a = a.ptr
    plan.out = out.ptr
    plan.f.bounds = <const int64_t*>bounds.ptr
    plan.f.weight = weight.ptr
    plan.scratch = scratch.ptr
    begin(&work, "filter", &plan, sizeof(plan), KIND_WINDOW)
    operand(&work, &plan.a, a, READS)
    operand(&work, &plan.out, out, WRITES)
    operand(&work, &plan.f.bounds, bounds, READS)
    operand(&work, &plan.f.weight, weight, READS)
    operand(&work, &plan.scratch, scratch, SCRATCH)
    return launch(&work, all_tiles, plan.work)


cdef int filtered(Tensor out, Tensor a, Tensor bounds, Tensor weight,
                  Py_ssize_t behind) except -1:
    return filter_planes(a, out, bounds, weight, behind, 0, False)


cdef int filtered_backward(Tensor out, Tensor grad, Tensor bounds, Tensor weight,
                           Py_ssize_t behind, Py_ssize_t size) except -1:
    return filter_planes(out, grad, bounds, weight, behind, 0, True)


cdef int filtered_bytes(Tensor out, Tensor a, Tensor bounds, Tensor weight, Py_ssize_t behind,
                        Py_ssize_t bits) except -1:
    return filter_planes(a, out, bounds, weight, behind, <int>bits, False)
