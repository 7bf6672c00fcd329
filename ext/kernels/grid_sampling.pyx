# cython: language_level=3
# build: plain cold
# Images at the points of a grid, and the gradients of both. The loops are in grid_loops.pyx; here
# the work is cut into tiles, of points or of channels, that depend on shapes alone. Halves are
# computed in float32.

from cpython.pycapsule cimport PyCapsule_GetPointer

from autograd_cy._C import cpu as _cpu
from autograd_cy._C.dtypes cimport DT_F32, DT_F64
from autograd_cy._C.grid_loops cimport *
from autograd_cy._C.iterate cimport cast, contiguous, copy_into
from autograd_cy._C.launch cimport KIND_WINDOW, READS, WRITES, Launch, begin, launch_tiles, operand
from autograd_cy._C.sizes cimport parts
from autograd_cy._C.tensor cimport (
    F_STRIDED, MAX_DIMS, Tensor, tensor_empty, tensor_empty_like, tensor_window)

__all__: list[str] = []

cdef object _loops = _cpu.load("grid_loops")
cdef const GridTable* L = <const GridTable*>PyCapsule_GetPointer(
    _loops.table_capsule(), "autograd_cy.grid_table")

cdef enum:
    TILES = 64       # of all points, about
    POINTS = 64      # of which a tile has a multiple
    TILE_WORK = 20000    # of a tile, at least
    CHANNELS = 8     # of an image that go together: places of points are found once for them
    MANY_CHANNELS = 64    # likewise, channels last
    FEW = 4          # from which it is worth it if they do
    MANY = 16        # from which they get channels last,
    VECTOR = 8       # as do these, that are one vector
    LARGE = 2048     # elements of a plane, from which it is worth it for one corner

cdef enum:           # what is made
    OUTPUT = 0
    TO_IMAGE = 1
    TO_POINTS = 2


cdef struct Examples:
    char* at
    Py_ssize_t[MAX_DIMS] strides     # in bytes; 0 where all examples are the same


cdef struct Plan:
    Sampling g
    int kind
    bint wide                # float64
    bint places              # images are in channels last
    int nd
    Py_ssize_t[MAX_DIMS] sizes    # of the batch
    Examples values          # the image, or the gradient of what was sampled
    Examples points
    Examples image           # beside that gradient
    Examples out
    Py_ssize_t block         # of points or channels
    Py_ssize_t blocks        # of an example


cdef inline char* example(const Plan* plan, const Examples* of, Py_ssize_t i) noexcept nogil:
    cdef char* at = of.at
    cdef int d
    for d in range(plan.nd - 1, -1, -1):
        at += i % plan.sizes[d] * of.strides[d]
        i //= plan.sizes[d]
    return at


cdef void tile_of(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef const Plan* plan = <const Plan*>ctx
    cdef Py_ssize_t i = tile // plan.blocks, first = tile % plan.blocks * plan.block
    cdef Py_ssize_t count = plan.g.channels if plan.kind == TO_IMAGE else plan.g.count
    cdef Py_ssize_t last = first + plan.block, item = 8 if plan.wide else 4
    cdef char* values = example(plan, &plan.values, i)
    cdef char* points = example(plan, &plan.points, i)
    cdef char* out = example(plan, &plan.out, i)
    if last > count:
        last = count
    if plan.kind == OUTPUT:
        L.forward[plan.places][plan.wide](
            &plan.g, values, points, out, plan.g.channels, first, last)
    elif plan.kind == TO_IMAGE:
        L.image[plan.places][plan.wide](
            &plan.g, values + first * plan.g.count * item, points,
            out + first * (1 if plan.places else plan.g.plane) * item, last - first)
    else:
        L.points[plan.places][plan.wide](
            &plan.g, values, example(plan, &plan.image, i), points, out, plan.g.channels, first,
            last)


cdef Tensor of_examples(Tensor a, int lead, bint places):
    """
    The tensor, each example in C order, with channels as its last dimension if by places; of
    examples that are all the same there is one.
    """
    cdef Py_ssize_t[MAX_DIMS] sizes
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef Py_ssize_t step = 1
    cdef int d, source
    if not places and not a.flags & F_STRIDED:
        return a
    for d in range(a.nd):
        source = d
        if places and d >= lead:
            source = lead if d == a.nd - 1 else d + 1
        sizes[d] = 1 if d < lead and a.strides[d] == 0 else a.sizes[source]
        strides[d] = a.strides[source]
    a = tensor_window(a, a.nd, sizes, strides, 0)
    for d in range(a.nd - 1, lead - 1, -1):
        if sizes[d] != 1 and strides[d] != step:
            return contiguous(a)
        step *= sizes[d]
    return a


cdef void examples_of(Examples* of, Tensor a, int lead) noexcept:
    cdef Py_ssize_t item = 8 if a.dt == DT_F64 else 4
    cdef int d
    of.at = a.ptr
    for d in range(lead):
        of.strides[d] = 0 if a.sizes[d] == 1 else a.strides[d] * item


cdef Tensor blank_places(Tensor a, int lead):
    """A new tensor with the channels of `a` last."""
    cdef Py_ssize_t[MAX_DIMS] sizes
    cdef int d
    for d in range(a.nd):
        sizes[d] = a.sizes[d if d < lead else lead if d == a.nd - 1 else d + 1]
    return tensor_empty(a.dt, a.nd, sizes)


cdef Tensor planes_first(Tensor a, int lead):
    """Move the last dimension before those of planes."""
    cdef Py_ssize_t[MAX_DIMS] sizes
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef int d, source
    for d in range(a.nd):
        source = d if d < lead else a.nd - 1 if d == lead else d - 1
        sizes[d] = a.sizes[source]
        strides[d] = a.strides[source]
    return tensor_window(a, a.nd, sizes, strides, 0)


cdef bint goes_by_places(Tensor image, const Sampling* g, int lead, int kind) noexcept:
    """Rows of many channels are worth a copy of images, if it isn't much beside the points."""
    cdef Py_ssize_t channels = image.sizes[lead]
    cdef Py_ssize_t loads = g.count * g.taps[0] * g.taps[1] * g.taps[2]
    if image.strides[lead] == 1 and channels >= FEW:
        return True
    if channels < MANY and not (
            kind == OUTPUT and image.dt == DT_F32 and channels == VECTOR and g.mode != NEAREST):
        return False
    if g.mode == NEAREST:
        return loads >= 2 * g.plane if kind == OUTPUT else loads >= g.plane >= LARGE
    return loads >= g.plane


cdef int sample_grid(int kind, Tensor out, Tensor values, Tensor image, Tensor grid,
                     Py_ssize_t mode,
                     Py_ssize_t padding, bint align) except -1:
    """`values` are those of images or, as gradients, of points; `image` is None or an image."""
    cdef Plan plan
    cdef Launch work
    cdef Tensor wide
    cdef Tensor shaped = out if kind == TO_IMAGE else values if kind == OUTPUT else image
    cdef Tensor to = out
    cdef int rank = <int>grid.sizes[grid.nd - 1], lead = grid.nd - 1 - rank, d
    cdef int taps = 1 if mode == NEAREST else 2 if mode == BILINEAR else 4
    cdef Py_ssize_t step = 1, batch = 1
    cdef double cost        # of a point, in steps of team_size()'s unit
    if out.count == 0:
        return 0
    if out.dt < DT_F32:
        wide = tensor_empty_like(out, DT_F32)
        sample_grid(kind, wide, cast(values, DT_F32),
                    None if image is None else cast(image, DT_F32),
                    cast(grid, DT_F32), mode, padding, align)
        return copy_into(out, wide, "grid_sample")
    plan.g.mode = <int>mode
    plan.g.padding = <int>padding
    plan.g.align = align
    plan.g.rank = rank
    plan.g.count = 1
    for d in range(2, -1, -1):
        if d >= 3 - rank:
            plan.g.taps[d] = taps
            plan.g.size[d] = shaped.sizes[shaped.nd - 3 + d]
            plan.g.count *= grid.sizes[grid.nd - 4 + d]
        else:
            plan.g.taps[d] = plan.g.size[d] = 1
        plan.g.step[d] = <int32_t>step
        step *= plan.g.size[d]
    if step > 0x7FFFFFFF:
        raise RuntimeError("grid_sample: planes of 2 ** 31 elements and more have no kernel")
    plan.g.plane = step
    plan.kind = kind
    plan.wide = out.dt == DT_F64
    plan.nd = lead
    for d in range(lead):
        plan.sizes[d] = grid.sizes[d]
        batch *= grid.sizes[d]
    plan.g.channels = shaped.sizes[lead]
    plan.places = goes_by_places(shaped, &plan.g, lead, kind)
    if kind == TO_POINTS and mode == NEAREST:
        plan.places = False     # zeros
    cost = 60.0 * taps + (2.0 if plan.places else 7.0) * plan.g.channels * plan.g.taps[0] * (
        plan.g.taps[1] * plan.g.taps[2])
    if kind == TO_IMAGE:
        plan.block = MANY_CHANNELS if plan.places else CHANNELS
        plan.blocks = parts(plan.g.channels, plan.block)
        if plan.places:
            to = blank_places(out, lead)
    else:
        plan.block = POINTS * max(parts(batch * plan.g.count, TILES * POINTS),
                                  <Py_ssize_t>(TILE_WORK / (POINTS * cost)))
        plan.blocks = parts(plan.g.count, plan.block)
    cost *= batch * plan.g.count
    values = of_examples(values, lead, plan.places and kind == OUTPUT)
    grid = of_examples(grid, lead, False)
    begin(&work, "grid_sample", &plan, sizeof(plan), KIND_WINDOW)
    examples_of(&plan.values, values, lead)
    examples_of(&plan.points, grid, lead)
    examples_of(&plan.out, to, lead)
    operand(&work, &plan.values.at, values, READS)
    operand(&work, &plan.points.at, grid, READS)
    operand(&work, &plan.out.at, to, WRITES)
    if image is not None:
        image = of_examples(image, lead, plan.places)
        examples_of(&plan.image, image, lead)
        operand(&work, &plan.image.at, image, READS)
    launch_tiles(&work, tile_of, batch * plan.blocks, cost)
    if to is not out:
        copy_into(out, planes_first(to, lead), "grid_sample")
    return 0


cdef int grid_sample(Tensor out, Tensor image, Tensor grid, Py_ssize_t mode, Py_ssize_t padding,
                     bint align) except -1:
    return sample_grid(OUTPUT, out, image, None, grid, mode, padding, align)


cdef int grid_sample_input(Tensor out, Tensor grad, Tensor grid, tuple size, Py_ssize_t mode,
                           Py_ssize_t padding, bint align) except -1:
    return sample_grid(TO_IMAGE, out, grad, None, grid, mode, padding, align)


cdef int grid_sample_grid(Tensor out, Tensor grad, Tensor image, Tensor grid, Py_ssize_t mode,
                          Py_ssize_t padding, bint align) except -1:
    return sample_grid(TO_POINTS, out, grad, image, grid, mode, padding, align)
