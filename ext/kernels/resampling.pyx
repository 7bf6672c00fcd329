# cython: language_level=3
# build: plain cold
# Interpolation of plain tensors, forward and backward, over one to three dimensions by the same
# code. The loops are in resample_loops.pyx; here places and weights of each dimension are made, and
# the work is cut into tiles of rows or planes that depend on shapes alone. Halves and integers are
# computed in float32.

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int64_t

from autograd_cy._C import cpu as _cpu
from autograd_cy._C.dtypes cimport DT_F32, DT_F64, DT_I64
from autograd_cy._C.formats cimport by_places, dense_places
from autograd_cy._C.iterate cimport cast, contiguous, copy_into
from autograd_cy._C.launch cimport (
    KIND_WINDOW, READS, SCRATCH, WRITES, Launch, begin, launch, operand)
from autograd_cy._C.parallel cimport parallel_for, team_size
from autograd_cy._C.resample_loops cimport *
from autograd_cy._C.sizes cimport parts
from autograd_cy._C.tensor cimport F_STRIDED, Tensor, tensor_empty, tensor_empty_like

__all__: list[str] = []

cdef object _loops = _cpu.load("resample_loops")
cdef const ResampleTable* L = <const ResampleTable*>PyCapsule_GetPointer(
    _loops.table_capsule(), "autograd_cy.resample_table")

cdef enum:
    TILES = 64


cdef struct Plan:
    Resampling g
    bint back
    bint wide              # float64
    bint align
    int mode
    double[3] scale
    const char* a
    char* out
    int64_t* index         # of all dimensions
    char* weight
    char* scratch          # a row for each tile
    Py_ssize_t count       # rows, or planes
    Py_ssize_t block       # of which a tile has so many
    double work


cdef void tile_of(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef Plan* plan = <Plan*>ctx
    cdef Py_ssize_t first = tile * plan.block, last = first + plan.block
    cdef Py_ssize_t item = 8 if plan.wide else 4
    cdef char* scratch = plan.scratch + tile * plan.g.size[2] * plan.g.c * item
    if last > plan.count:
        last = plan.count
    if plan.back:
        L.backward[plan.wide](&plan.g, plan.a, plan.out, scratch, first, last)
    else:
        L.forward[plan.wide](&plan.g, plan.a, plan.out, scratch, first, last)


cdef void all_tiles(void* ctx) noexcept nogil:
    cdef Plan* plan = <Plan*>ctx
    cdef Py_ssize_t at = 0, tiles = parts(plan.count, plan.block)
    cdef Py_ssize_t item = 8 if plan.wide else 4
    cdef int d
    for d in range(3):
        plan.g.index[d] = plan.index + at
        plan.g.weight[d] = plan.weight + at * item
        # A dimension that isn't there has one tap, its only element.
        L.fill[plan.wide](NEAREST if plan.g.taps[d] == 1 and plan.mode > NEAREST_EXACT
                          else plan.mode, plan.align, plan.scale[d], plan.g.size[d],
                          plan.g.to[d], plan.index + at, plan.weight + at * item)
        at += plan.g.taps[d] * plan.g.to[d]
    parallel_for(tile_of, plan, tiles, team_size(plan.work))


cdef int resample_planes(Tensor small, Tensor large, Tensor a, Tensor out, Py_ssize_t c, int rank,
                         double scale_d, double scale_h, double scale_w, Py_ssize_t mode,
                         bint align) except -1:
    """
    `small` has the shape of the input, `large` that of the result; `a` is read. Both are in C
    order, or in channels last with c channels.
    """
    cdef Plan plan
    cdef Launch work
    cdef Tensor index, weight, scratch
    cdef Py_ssize_t n = 0
    cdef int d, taps
    # Elements that stay where they are keep their gradients, even beside infinite ones.
    cdef bint same = out is small and mode == CUBIC
    for d in range(small.nd - rank, small.nd):
        same = same and small.sizes[d] == large.sizes[d]
    if same and (align or scale_d <= 0 and scale_h <= 0 and scale_w <= 0):
        mode = NEAREST
    taps = 1 if mode <= NEAREST_EXACT else 2 if mode == LINEAR else 4
    plan.back = out is small
    plan.wide = a.dt == DT_F64
    plan.mode = <int>mode
    plan.align = align
    plan.scale[0] = scale_d
    plan.scale[1] = scale_h
    plan.scale[2] = scale_w
    plan.count = 1
    plan.g.c = c
    for d in range(small.nd - rank):
        plan.count *= small.sizes[d]
    plan.count //= c
    for d in range(3):
        plan.g.taps[d] = taps if d >= 3 - rank else 1
        plan.g.size[d] = small.sizes[small.nd - 3 + d] if d >= 3 - rank else 1
        plan.g.to[d] = large.sizes[large.nd - 3 + d] if d >= 3 - rank else 1
        n += plan.g.taps[d] * plan.g.to[d]
        if rank == 2 and (mode == NEAREST or mode == LINEAR) and plan.g.size[d] == plan.g.to[d]:
            plan.scale[d] = 0        # images of the same size stay as they are, as in torch
    if not plan.back:
        plan.count *= plan.g.to[0] * plan.g.to[1]
    plan.block = parts(plan.count, TILES)
    plan.work = (3.0 * plan.g.taps[0] * plan.g.taps[1] * plan.g.size[2] / plan.g.to[2]
                 + 4.0 * taps) * large.count + n
    index = tensor_empty(DT_I64, 1, &n)
    weight = tensor_empty(a.dt, 1, &n)
    n = TILES * plan.g.size[2] * plan.g.c
    scratch = tensor_empty(a.dt, 1, &n)
    plan.a = a.ptr
    plan.out = out.ptr
    plan.index = <int64_t*>index.ptr
    plan.weight = weight.ptr
    plan.scratch = scratch.ptr
    begin(&work, "resample", &plan, sizeof(plan), KIND_WINDOW)
    operand(&work, &plan.a, a, READS)
    operand(&work, &plan.out, out, WRITES)
    operand(&work, &plan.index, index, SCRATCH)
    operand(&work, &plan.weight, weight, SCRATCH)
    operand(&work, &plan.scratch, scratch, SCRATCH)
    return launch(&work, all_tiles, plan.work)


cdef int resample(Tensor out, Tensor a, tuple size, double scale_d, double scale_h, double scale_w,
                  Py_ssize_t mode, bint align) except -1:
    cdef Tensor wide
    if out.count == 0:
        return 0
    if a.dt < DT_F32:
        wide = tensor_empty_like(out, DT_F32)
        resample(wide, cast(a, DT_F32), size, scale_d, scale_h, scale_w, mode, align)
        return copy_into(out, wide, "resample")
    if a.nd == len(size) + 2 and by_places(out, a):
        return resample_planes(a, out, dense_places(a), out, a.sizes[1], <int>len(size), scale_d,
                               scale_h,
                               scale_w, mode, align)
    if out.flags & F_STRIDED:
        wide = tensor_empty(out.dt, out.nd, out.sizes)
        resample(wide, contiguous(a), size, scale_d, scale_h, scale_w, mode, align)
        return copy_into(out, wide, "resample")
    return resample_planes(a, out, contiguous(a), out, 1, <int>len(size), scale_d, scale_h, scale_w,
                           mode,
                           align)


cdef int resample_backward(Tensor out, Tensor grad, tuple size, tuple to, double scale_d,
                           double scale_h, double scale_w, Py_ssize_t mode, bint align) except -1:
    cdef Tensor wide
    if out.count == 0:
        return 0
    if out.dt < DT_F32:
        wide = tensor_empty_like(out, DT_F32)
        resample_backward(wide, cast(grad, DT_F32), size, to, scale_d, scale_h, scale_w, mode,
                          align)
        return copy_into(out, wide, "resample_backward")
    if out.nd == len(to) + 2 and by_places(out, grad):
        return resample_planes(out, grad, dense_places(grad), out, out.sizes[1], <int>len(to),
                               scale_d,
                               scale_h, scale_w, mode, align)
    if out.flags & F_STRIDED:
        wide = tensor_empty(out.dt, out.nd, out.sizes)
        resample_backward(wide, contiguous(grad), size, to, scale_d, scale_h, scale_w, mode, align)
        return copy_into(out, wide, "resample_backward")
    return resample_planes(out, grad, contiguous(grad), out, 1, <int>len(to), scale_d, scale_h,
                           scale_w, mode,
                           align)
