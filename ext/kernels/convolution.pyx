# cython: language_level=3
"""Convolutions of plain tensors: results and gradients of images. Gradients of weights are in
convolution_weights.pyx.

Nothing is unrolled into columns. The images lie in working memory with their margins of zeros, and
the block of the product (scalar/conv_micro.h) finds the elements that one tap multiplies at a fixed
distance from those of another. With a stride, elements of the same phase lie together. The gradient
of an image is such a sum, too, for each phase of its places, but for what convolution_scatter.pyx
takes. Where rows are short, lanes are channels (convolution_channels.pyx). Windows of one element
are a product of matrices in channels last.
"""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdlib cimport free
from libc.string cimport memset

from autograd_cy._C.convolution_channels cimport run_channels, suits_channels
from autograd_cy._C.convolution_loops cimport CONV_F32, CONV_F64, CONV_U64
from autograd_cy._C.convolution_plan cimport Form, fill_channel, lay_out, loops, trim
from autograd_cy._C.convolution_scatter cimport run_scatter, suits_scatter
from autograd_cy._C.convolution_taps cimport (
    Grid, Piece, Work, cut_vectors, plan_image, plan_result, tap_image, tap_result)
from autograd_cy._C.convolution_weights cimport run_weights
from autograd_cy._C.dtypes cimport DT_F32, DT_F64, DT_SIZE, dt_is_complex, dt_is_integral, dt_real
from autograd_cy._C.formats cimport by_places, channels_last, dense_places, places_first
from autograd_cy._C.gemm_loops cimport BY_ROWS, KIND_F32, LoopTable
from autograd_cy._C.iterate cimport contiguous, copy_into
from autograd_cy._C.launch cimport KIND_WINDOW, READS, WRITES, Launch, begin, launch, operand
from autograd_cy._C.parallel cimport parallel_for, parallel_for_dynamic, team_size
from autograd_cy._C.products cimport linear, mm
from autograd_cy._C.scratch cimport allocate, give_scratch, take_scratch
from autograd_cy._C.sizes cimport parts, round_up
from autograd_cy._C.tensor cimport F_STRIDED, Tensor, tensor_empty, tensor_window
from autograd_cy._C.winograd_2x2 cimport run_2x2, suits_2x2

from autograd_cy._C import cpu as _cpu

__all__: list[str] = []

cdef LoopTable products = (<LoopTable*>PyCapsule_GetPointer(
    _cpu.load("gemm_loops").table_capsule(), "autograd_cy.gemm_loops"))[0]

cdef extern from *:
    """
    static void agc_no_memory(void) {
        PyGILState_STATE state = PyGILState_Ensure();
        PyErr_SetString(PyExc_MemoryError, "convolution: no memory for the images");
        PyGILState_Release(state);
    }
    static int agc_raise(int failed) { return failed ? -1 : 0; }
    """
    void agc_no_memory() noexcept nogil
    int agc_raise(int failed) except -1

cdef enum:
    # Bytes of images that are worked on together: they stay in the second-level cache.
    CACHED = 3 << 18
    MOST_ROWS = 16
    # Taps that are packed at once; an even number.
    STRETCH = 48
    # Bytes of packed weights, and of those that stay in the second-level cache.
    PACKED = 7 << 20
    STREAMED = 3 << 18
    # Results of a channel that make up for reading and packing more weights than that.
    MANY = 512
    # Most channels that two phases in turn are summed over: their sums wait for each other.
    FEW = 2
    # Bytes of one channel's image that make up for a task of its own.
    SLIM = 2 << 10
    # Taps of a product whose weights are read as they lie.
    DEPTH = 256


# --- the blocks -----------------------------------------------------------------------------

cdef inline char* row_address(Work* t, Py_ssize_t group, Py_ssize_t row) noexcept nogil:
    """Return the address of row `row` of the results of a group."""
    cdef Form* f = t.f
    cdef Py_ssize_t channel = group * (t.rows // f.unit) + row // f.unit
    return t.result + (channel * t.at_result[1] + row % f.unit) * f.size


cdef inline bint stored_evenly(Work* t, Grid* g, Py_ssize_t v, Py_ssize_t count,
                               Py_ssize_t images) noexcept nogil:
    """Return whether these vectors are stored as they are, at even distances."""
    cdef Py_ssize_t i, lanes = loops.lanes[t.f.kind]
    cdef Piece* piece = &g.piece[g.begins[v]]
    if g.step[2] != 1 or t.f.unit != 1 or (t.f.dt != DT_F32 and t.f.dt != DT_F64):
        return False
    for i in range(count):
        if (g.begins[v + i + 1] - g.begins[v + i] != 1 or piece[i].count != lanes
                or piece[i].image >= images):
            return False
        if i > 1 and piece[i].result - piece[i - 1].result != piece[1].result - piece[0].result:
            return False
    return True


# The pieces of a tile as runs, for the copies of convolution_loops.pyx.
ctypedef struct Runs:
    int count
    Py_ssize_t source[64]  # in the images
    Py_ssize_t lane[64]    # in the tile
    Py_ssize_t length[64]
    Py_ssize_t result[64]


cdef inline void find_runs(Grid* g, Py_ssize_t v, Py_ssize_t count, Py_ssize_t lanes,
                           Py_ssize_t images, Runs* r) noexcept nogil:
    cdef Py_ssize_t i
    cdef Piece* piece
    r.count = 0
    for i in range(g.begins[v], g.begins[v + count]):
        piece = &g.piece[i]
        if piece.image >= images:
            break
        r.source[r.count] = piece.source
        r.lane[r.count] = (piece.vector - v) * lanes + piece.lane
        r.length[r.count] = piece.count
        r.result[r.count] = piece.result
        r.count += 1


cdef bint suits_slim(Work* t, Grid* g) noexcept nogil:
    """Return whether results are rows of one channel in each group, as in depthwise
    convolutions."""
    cdef Form* f = t.f
    return (t.rows == 1 and f.unit == 1 and (f.dt == DT_F32 or f.dt == DT_F64) and g.step[2] == 1
            and not g.gathered and g.extent[2] >= loops.lanes[f.kind])


cdef void compute_slim(Work* t, Grid* g, Py_ssize_t group, Py_ssize_t images, Py_ssize_t image,
                       const char* planes) noexcept nogil:
    """Compute all results of a grid, row by row."""
    cdef Form* f = t.f
    cdef Py_ssize_t number, z
    cdef char* result
    for number in range(images):
        result = row_address(t, group, 0) + ((image + number) * t.at_result[0] + g.first) * f.size
        for z in range(g.extent[0]):
            loops.slim(
                f.kind, g.extent[1], g.extent[2], g.k, weights_of(t, g, group, 0), g.off,
                t.bias + group * f.wide,
                planes + (number * t.p.image + z * t.p.layer) * f.wide, t.p.row,
                result + z * g.step[0] * f.size, g.step[1])


cdef void compute(Work* t, Grid* g, Py_ssize_t group, Py_ssize_t images, Py_ssize_t image,
                  Py_ssize_t first, Py_ssize_t last, const char* planes,
                  char* tile) noexcept nogil:
    """Compute all results of a grid, for some blocks of rows."""
    cdef Form* f = t.f
    cdef Py_ssize_t lanes = loops.lanes[f.kind], v = 0, count, block, row, rows, i, n
    cdef Py_ssize_t most = 4 if 2 * t.block <= loops.rows else 2
    cdef const void* b[4]
    cdef const Py_ssize_t* off
    cdef char* sums
    cdef char* to
    cdef bint direct
    cdef Runs runs
    # The largest tile.
    cdef double[MOST_ROWS * 4 * 8] space
    sums = <char*>space
    n = g.vectors
    while n and g.piece[g.begins[n - 1]].image >= images:
        n -= 1
    rows = min(last * t.block, t.rows) - first * t.block
    if t.plain:
        compute_plain(t, g, group, image, images, first * t.block, rows, planes, n)
        return
    if suits_slim(t, g):
        compute_slim(t, g, group, images, image, planes)
        return
    if n > most and 2 * depth_of(t, rows) < g.k:
        compute_deep(t, g, group, images, image, first, last, planes, tile, n)
        return
    while v < n:
        count = min(most, n - v)
        if count == 3:
            count = 2
        direct = stored_evenly(t, g, v, count, images)
        if g.gathered or not direct:
            find_runs(g, v, count, lanes, images, &runs)
        if g.gathered:
            loops.collect(f.kind, g.k, g.off, runs.count, runs.source, runs.lane, runs.length,
                          planes, tile, count * lanes)
            off = t.ramp + ramp_of(count) * longest(t)
        else:
            off = g.off
        for i in range(count):
            b[i] = tile + i * lanes * f.wide if g.gathered else planes + g.source[v + i] * f.wide
        for block in range(first, last):
            row = block * t.block
            rows = min(t.block, t.rows - row)
            to = row_address(t, group, row)
            if direct:
                i = g.piece[g.begins[v]].result
                loops.gather(
                    f.kind, <int>rows, <int>count, g.k,
                    weights_of(t, g, group, row), b, off,
                    t.bias + (group * t.rows + row) * f.wide,
                    to + (image * t.at_result[0] + i) * f.size, t.at_result[1],
                    g.piece[g.begins[v + 1]].result - i if count > 1 else 0)
                continue
            loops.gather(
                f.kind, <int>rows, <int>count, g.k,
                weights_of(t, g, group, row), b, off,
                t.bias + (group * t.rows + row) * f.wide, sums, count * lanes, lanes)
            to += image * t.at_result[0] * f.size
            if f.unit == 1:
                loops.spread(f.dt, rows, runs.count, runs.lane, runs.result, runs.length, sums,
                             count * lanes, to, t.at_result[1], g.step[2])
                continue
            for i in range(rows):
                loops.spread(
                    f.dt, 1, runs.count, runs.lane, runs.result, runs.length,
                    sums + i * count * lanes * f.wide, 0,
                    row_address(t, group, row + i) + image * t.at_result[0] * f.size, 0, g.step[2])
        v += count


cdef inline Py_ssize_t depth_of(Work* t, Py_ssize_t rows) noexcept nogil:
    """Return the number of taps at a time that leave the weights of these rows in cache."""
    return max(STREAMED // (rows * t.f.wide) // 16 * 16, <Py_ssize_t>64)


cdef void compute_deep(Work* t, Grid* g, Py_ssize_t group, Py_ssize_t images, Py_ssize_t image,
                       Py_ssize_t first, Py_ssize_t last, const char* planes, char* tile,
                       Py_ssize_t n) noexcept nogil:
    """Multiply by stretches of k, so that weights are read once and not for each vector."""
    cdef Form* f = t.f
    cdef Py_ssize_t lanes = loops.lanes[f.kind], v, count, block, row, rows, i, k, now
    cdef Py_ssize_t before = first * t.block, all = min(last * t.block, t.rows) - before
    cdef Py_ssize_t most = 4 if 2 * t.block <= loops.rows else 2
    cdef Py_ssize_t depth = depth_of(t, all)
    cdef const void* b[4]
    cdef const Py_ssize_t* off
    cdef char* sums = <char*>take_scratch(<size_t>(all * n * lanes * f.wide))
    cdef char* part
    cdef Runs runs
    if sums == NULL:
        t.failed = 1
        return
    for k from 0 <= k < g.k by depth:
        now = min(depth, g.k - k)
        v = 0
        while v < n:
            count = 2 if min(most, n - v) == 3 else min(most, n - v)
            off = g.off + k
            if g.gathered:
                find_runs(g, v, count, lanes, images, &runs)
                loops.collect(f.kind, now, off, runs.count, runs.source, runs.lane, runs.length,
                              planes, tile, count * lanes)
                off = t.ramp + ramp_of(count) * longest(t)
            for i in range(count):
                b[i] = (tile + i * lanes * f.wide if g.gathered
                        else planes + g.source[v + i] * f.wide)
            for block in range(first, last):
                row = block * t.block
                rows = min(t.block, t.rows - row)
                loops.gather(
                    f.kind, <int>rows, <int>count, now,
                    weights_of(t, g, group, row) + k * rows * f.wide, b, off,
                    t.bias + (group * t.rows + row) * f.wide if k == 0 else NULL,
                    sums + (v * all + (row - before) * count) * lanes * f.wide, count * lanes,
                    lanes)
            v += count
    v = 0
    while v < n:
        count = 2 if min(most, n - v) == 3 else min(most, n - v)
        find_runs(g, v, count, lanes, images, &runs)
        for row in range(all):
            part = sums + (v * all + row * count) * lanes * f.wide
            loops.spread(
                f.dt, 1, runs.count, runs.lane, runs.result, runs.length, part, 0,
                row_address(t, group, before + row) + image * t.at_result[0] * f.size, 0, g.step[2])
        v += count
    give_scratch(sums)


cdef void compute_plain(Work* t, Grid* g, Py_ssize_t group, Py_ssize_t image, Py_ssize_t images,
                        Py_ssize_t first, Py_ssize_t rows, const char* planes,
                        Py_ssize_t n) noexcept nogil:
    """Multiply as a matrix product: rows of weights by gathered columns, a stretch of k at a time,
    so that weights are read once."""
    cdef Form* f = t.f
    cdef Py_ssize_t lanes = loops.lanes[f.kind], width = n * lanes, v, i, row, k, now
    cdef Py_ssize_t depth = min(<Py_ssize_t>DEPTH, g.k)
    cdef float* sums = <float*>take_scratch(
        <size_t>((rows * width + parts(n, 2) * 2 * lanes * depth) * f.wide))
    cdef float* tile
    cdef float* line
    cdef const float* w = <const float*>f.w + (group * f.o + first) * t.row_step
    cdef float bias
    cdef Runs runs
    if sums == NULL:
        t.failed = 1
        return
    tile = sums + rows * width
    for row in range(rows):
        line = sums + row * width
        bias = (<const float*>t.bias)[group * t.rows + first + row]
        for i in range(width):
            line[i] = bias
    for k from 0 <= k < g.k by depth:
        now = min(depth, g.k - k)
        for v in range(0, n, 2):
            find_runs(g, v, min(<Py_ssize_t>2, n - v), lanes, images, &runs)
            loops.collect(f.kind, now, g.off + k, runs.count, runs.source, runs.lane, runs.length,
                          planes, tile + v * lanes * now, 2 * lanes)
        products.multiply(KIND_F32, rows, width, now, BY_ROWS, w + k, t.row_step, tile, 1, 1, sums,
                          width)
    for v in range(0, n, 2):
        find_runs(g, v, min(<Py_ssize_t>2, n - v), lanes, images, &runs)
        loops.spread(f.dt, rows, runs.count, runs.lane, runs.result, runs.length, sums + v * lanes,
                     width, row_address(t, group, first) + image * t.at_result[0] * f.size,
                     t.at_result[1], g.step[2])
    give_scratch(sums)


cdef inline bint suits_twins(Work* t) noexcept nogil:
    """Return whether the gradient of images goes to one channel, whose rows are two phases in
    turn."""
    cdef Form* f = t.f
    return (f.dt == DT_F32 and f.unit == 1 and t.rows == 1 and t.channels <= FEW
            and f.stride[2] == 2 and t.at_result[4] == 1)


cdef void compute_twins(Work* t, Py_ssize_t group, Py_ssize_t images, Py_ssize_t image,
                        const char* planes) noexcept nogil:
    """Compute all results of a group, by two grids at a time: their sums meet in registers."""
    cdef Py_ssize_t i, number, z
    cdef Py_ssize_t[2] k
    cdef const float* w[2]
    cdef const Py_ssize_t* off[2]
    cdef float* result = <float*>row_address(t, group, 0) + image * t.at_result[0]
    cdef Grid* g
    for i in range(0, t.grids, 2):
        g = &t.grid[i]
        for z in range(2):
            k[z], off[z] = g[z].k, g[z].off
            w[z] = <const float*>weights_of(t, &g[z], group, 0)
        for number in range(images):
            for z in range(g.extent[0]):
                loops.twins(
                    g.extent[1], t.f.of_x[2], k, w, off, (<const float*>t.bias)[group],
                    <const float*>planes + number * t.p.image + z * t.p.layer, t.p.row,
                    result + number * t.at_result[0] + g.first + z * g.step[0], g.step[1])


cdef bint suits_plain(Work* t) noexcept nogil:
    """Return whether the taps of a row of weights lie in order, and two vectors of the images are a
    strip of the product."""
    cdef Grid* g = t.grid
    cdef Py_ssize_t k
    if (t.f.dt != DT_F32 or t.f.unit != 1
            or 2 * loops.lanes[t.f.kind] != products.width[KIND_F32]):
        return False
    for k in range(g.k):
        if g.woff[k] != k:
            return False
    return True


cdef inline Py_ssize_t ramp_of(Py_ssize_t count) noexcept nogil:
    return 0 if count == 1 else (1 if count == 2 else 2)


cdef inline Py_ssize_t longest(Work* t) noexcept nogil:
    cdef Py_ssize_t i, k = 0
    for i in range(t.grids):
        k = max(k, t.grid[i].k)
    return k


cdef void task(void* ctx, Py_ssize_t index) noexcept nogil:
    """Compute some images, some groups, some blocks of rows."""
    cdef Work* t = <Work*>ctx
    cdef Form* f = t.f
    cdef Py_ssize_t block_part = index % t.block_parts, rest = index // t.block_parts
    cdef Py_ssize_t group, start = rest % t.group_parts * f.groups // t.group_parts
    cdef Py_ssize_t end = (rest % t.group_parts + 1) * f.groups // t.group_parts
    cdef Py_ssize_t image = rest // t.group_parts * t.p.images
    cdef Py_ssize_t images = min(t.p.images, f.n - image), c, i
    cdef Py_ssize_t size = t.channels * t.p.channel * f.wide, tile = 0
    cdef char* planes
    for i in range(t.grids):
        if t.grid[i].gathered:
            tile = longest(t) * 4 * loops.lanes[f.kind] * f.wide
    planes = <char*>take_scratch(<size_t>(size + tile + 64))
    if planes == NULL:
        t.failed = 1
        return
    memset(planes, 0, <size_t>size)
    tile = round_up(size, 64)
    for group in range(start, end):
        for c in range(t.channels):
            fill_channel(
                f, &t.p,
                t.source + ((group * (t.channels // f.unit) + c // f.unit) * t.at_source[1]
                            + c % f.unit) * f.size,
                t.at_source, t.of_source, image, images, planes + c * t.p.channel * f.wide)
        if t.twins:
            compute_twins(t, group, images, image, planes)
        for i in range(0 if t.twins else t.grids):
            compute(
                t, &t.grid[i], group, images, image,
                t.first + block_part * (t.last - t.first) // t.block_parts,
                t.first + (block_part + 1) * (t.last - t.first) // t.block_parts, planes,
                planes + tile)
    give_scratch(planes)


# --- preparations ---------------------------------------------------------------------------

ctypedef struct Packing:
    Work* t
    Grid* g
    Py_ssize_t chunks


cdef void pack_task(void* ctx, Py_ssize_t index) noexcept nogil:
    """Pack the weights of a stretch of k for all rows of a group, in the order of reading."""
    cdef Packing* job = <Packing*>ctx
    cdef Work* t = job.t
    cdef Grid* g = job.g
    cdef Form* f = t.f
    cdef Py_ssize_t group = index // job.chunks, k = index % job.chunks * STRETCH, block, row, rows
    for block in range(t.first, t.last):
        row = block * t.block
        rows = min(t.block, t.rows - row)
        loops.pack(
            f.dt, f.unit, row, rows, min(<Py_ssize_t>STRETCH, g.k - k),
            f.w + group * f.o * f.at_w[0] * f.size, t.row_step, g.woff + k,
            weights_of(t, g, group, row) + k * rows * f.wide)


cdef inline char* weights_of(Work* t, Grid* g, Py_ssize_t group, Py_ssize_t row) noexcept nogil:
    """The packed weights of the rows from `row` on."""
    cdef Py_ssize_t before = t.first * t.block
    cdef Py_ssize_t rows = min(t.last * t.block, t.rows) - before
    return g.weights + (group * rows + row - before) * g.k * t.f.wide


cdef void pack_weights(Work* t, int threads) noexcept nogil:
    cdef Packing job
    cdef Py_ssize_t i, count
    for i in range(t.grids):
        job.t, job.g = t, &t.grid[i]
        job.chunks = parts(job.g.k, STRETCH)
        count = t.f.groups * job.chunks
        parallel_for(pack_task, &job, count,
                     min(threads, team_size(4.0 * t.f.groups * t.rows * job.g.k)))


cdef int prepare(Work* t, bint image) noexcept nogil:
    """Set up what all tasks share (memory, packed weights, grids of taps), and run them."""
    cdef Form* f = t.f
    cdef Py_ssize_t i, k, count, lanes = loops.lanes[f.kind], one, threads, some
    cdef Py_ssize_t first
    cdef double work
    cdef bint gathered = False, heavy
    if image:
        plan_image(t)
        t.grids = f.stride[0] * f.stride[1] * f.stride[2]
    else:
        plan_result(t)
        t.grids = 1
    t.grid = <Grid*>allocate(t.grids, sizeof(Grid))
    if t.grid == NULL:
        return -1
    memset(t.grid, 0, <size_t>t.grids * sizeof(Grid))
    t.blocks = parts(t.rows, loops.rows)
    t.block = parts(t.rows, t.blocks)
    t.blocks = parts(t.rows, t.block)
    work = 0.125 * f.n * f.groups * t.rows * t.channels * f.k[0] * f.k[1] * f.k[2]
    work *= f.of_y[0] * f.of_y[1] * f.of_y[2]
    threads = team_size(work)
    # Weights that don't stay in cache are shared by many results, and the threads share them.
    heavy = <double>t.rows * t.channels * f.k[0] * f.k[1] * f.k[2] * f.wide > STREAMED
    # As many images together as stay in cache, and leave a task for each thread.
    lay_out(&t.p, t.of_source, 1, lanes)
    one = t.p.phases[0] * t.p.phases[1] * t.p.phases[2] * t.channels * f.wide
    count = (CACHED - one * (t.p.phase - t.p.image)) // max(one * t.p.image, <Py_ssize_t>1)
    count = min(f.n, max(count, <Py_ssize_t>1))
    if heavy:
        one = (f.of_x[0] * f.of_x[1] * f.of_x[2] // t.grids if image
               else f.of_y[0] * f.of_y[1] * f.of_y[2])
        count = min(f.n, max(count, MANY // max(one, <Py_ssize_t>1)))
    elif threads > 1:
        count = min(count, max(f.n * f.groups // (2 * threads), <Py_ssize_t>1))
    if t.rows * t.channels == 1 and one * t.p.image >= SLIM:
        count = 1   # in the order of memory, and each in the first-level cache
    count = parts(f.n, max(parts(f.n, max(count, <Py_ssize_t>1)), <Py_ssize_t>1))
    lay_out(&t.p, t.of_source, count, lanes)
    t.batches = parts(f.n, max(count, <Py_ssize_t>1))
    t.group_parts = min(f.groups, parts(4 * threads, max(t.batches, <Py_ssize_t>1)))
    t.block_parts = 1
    if heavy or t.batches * t.group_parts < threads:
        t.block_parts = min(t.blocks, threads)
    if (tap_image(t) if image else tap_result(t)) < 0:
        return -1
    t.plain = heavy and not image and suits_plain(t)
    t.twins = image and suits_twins(t)
    k = 0
    for i in range(t.grids):
        if not t.twins and cut_vectors(t, &t.grid[i]) < 0:
            return -1
        k += t.grid[i].k
        gathered = gathered or t.grid[i].gathered
    t.plain = t.plain and gathered
    # As many blocks of weights at a time as the scratch can hold.
    some = max(min(PACKED // max(k * f.groups * t.block * f.wide, <Py_ssize_t>1), t.blocks),
               <Py_ssize_t>1)
    if t.plain:
        some = t.blocks
    if not t.plain:
        t.packed = <char*>take_scratch(<size_t>(k * f.groups * some * t.block * f.wide + 64))
        if t.packed == NULL:
            return -1
    k = 0
    for i in range(0 if t.plain else t.grids):
        t.grid[i].weights = t.packed + k * f.groups * some * t.block * f.wide
        k += t.grid[i].k
    t.bias = <char*>allocate(f.groups * t.rows, f.wide)
    if t.bias == NULL:
        return -1
    memset(t.bias, 0, <size_t>(f.groups * t.rows * f.wide))
    if f.bias != NULL:
        if f.unit == 1:
            loops.widen(f.dt, f.bias, f.bias_step, f.groups * t.rows, t.bias)
        else:
            for i in range(f.groups * t.rows // 2):
                loops.widen(f.dt, f.bias + i * f.bias_step * f.size, 1, 2, t.bias + 2 * i * f.wide)
    if gathered:
        k = longest(t)
        t.ramp = <Py_ssize_t*>allocate(3 * k, sizeof(Py_ssize_t))
        if t.ramp == NULL:
            return -1
        for i in range(k):
            t.ramp[i] = i * lanes
            t.ramp[k + i] = 2 * i * lanes
            t.ramp[2 * k + i] = 4 * i * lanes
    for first from 0 <= first < t.blocks by some:
        t.first = first
        t.last = min(t.blocks, t.first + some)
        if t.block_parts > 1:
            t.block_parts = min(t.last - t.first, threads)
        if not t.plain:
            pack_weights(t, <int>threads)
        parallel_for_dynamic(task, t, t.batches * t.group_parts * t.block_parts, <int>threads)
    return 0


cdef int run_images(Form* f, bint image) noexcept nogil:
    """Compute y from x, or with `image` x from y."""
    cdef Work t
    cdef Py_ssize_t i
    cdef int status
    trim(f)
    if suits_2x2(f) and run_2x2(f, image) == 0:
        return 0
    if image and suits_scatter(f):
        return run_scatter(f)
    if suits_channels(f, image):
        return run_channels(f, image)
    memset(&t, 0, sizeof(t))
    t.f = f
    if image:
        t.source, t.at_source, t.of_source = f.y, f.at_y, f.of_y
        t.result, t.at_result = f.x, f.at_x
        t.channels, t.rows, t.row_step = f.o * f.unit, f.c * f.unit, f.at_w[1]
    else:
        t.source, t.at_source, t.of_source = f.x, f.at_x, f.of_x
        t.result, t.at_result = f.y, f.at_y
        t.channels, t.rows, t.row_step = f.c * f.unit, f.o * f.unit, f.at_w[0]
    status = prepare(&t, image)
    if t.grid != NULL:
        for i in range(t.grids):
            free(t.grid[i].off)
            free(t.grid[i].woff)
            free(t.grid[i].source)
            free(t.grid[i].begins)
            free(t.grid[i].piece)
    free(t.grid)
    give_scratch(t.packed)
    free(t.bias)
    free(t.ramp)
    return status < 0 or t.failed


# --- launches -------------------------------------------------------------------------------

cdef void launch_result(void* plan) noexcept nogil:
    cdef Form* f = <Form*>plan
    f.failed = run_images(f, False)
    if f.failed:
        agc_no_memory()


cdef void launch_image(void* plan) noexcept nogil:
    cdef Form* f = <Form*>plan
    f.failed = run_images(f, True)
    if f.failed:
        agc_no_memory()


cdef void launch_weights(void* plan) noexcept nogil:
    cdef Form* f = <Form*>plan
    f.failed = run_weights(f)
    if f.failed:
        agc_no_memory()


cdef inline Tensor planes(Tensor t):
    """Return a channels-last tensor in C order: copies cost less than loops across rows."""
    return contiguous(t) if channels_last(t) else t


cdef int set_strides(Py_ssize_t* at, Py_ssize_t* sizes, Tensor t, int unit) except -1:
    """Strides and sizes of a tensor with one, two or three spatial dimensions."""
    cdef int d, missing = 5 - t.nd
    at[0], at[1] = t.strides[0] * unit, t.strides[1] * unit
    for d in range(3):
        at[2 + d] = 0 if d < missing else t.strides[2 + d - missing] * unit
        if sizes != NULL:
            sizes[d] = 1 if d < missing else t.sizes[2 + d - missing]
    return 0


cdef Py_ssize_t option_of(tuple values, int d, int nd, Py_ssize_t default) except? -1:
    """An option of spatial dimension d of three; one number stands for all."""
    cdef int missing = 3 - nd
    if d < missing:
        return default
    return values[0] if len(values) == 1 else values[d - missing]


cdef double plan_form(Form* f, Tensor x, Tensor y, Tensor w, tuple stride, tuple padding,
                      tuple dilation, Py_ssize_t groups) except? -1:
    """Fill in what x, y and w are; the work in steps of team_size()'s unit."""
    cdef int d, nd = w.nd - 2
    cdef double work
    f.unit = 2 if dt_is_complex(w.dt) else 1
    f.dt = dt_real(w.dt)
    f.kind = CONV_U64 if dt_is_integral(f.dt) else (CONV_F64 if f.dt == DT_F64 else CONV_F32)
    f.size = DT_SIZE[f.dt]
    f.wide = 4 if f.kind == CONV_F32 else 8
    f.x, f.y, f.w, f.bias = x.ptr, y.ptr, w.ptr, NULL
    f.bias_step = 0
    f.n, f.groups, f.c, f.o = x.sizes[0], groups, w.sizes[1], w.sizes[0] // groups
    set_strides(f.at_x, f.of_x, x, f.unit)
    set_strides(f.at_y, f.of_y, y, f.unit)
    set_strides(f.at_w, f.k, w, f.unit)
    for d in range(3):
        f.stride[d] = option_of(stride, d, nd, 1)
        f.pad[d] = option_of(padding, d, nd, 0)
        f.dil[d] = option_of(dilation, d, nd, 1)
        # Steps that nothing takes may be of any length, and some loops go over one step.
        if f.of_y[d] == 1:
            f.stride[d] = 1
        if f.k[d] == 1:
            f.dil[d] = 1
        if f.stride[d] > 1 << 31 or f.dil[d] > 1 << 47 or f.pad[d] > 1 << 47:
            raise RuntimeError(
                f"convolution: stride={list(stride)}, padding={list(padding)} or "
                f"dilation={list(dilation)} is too large")
    f.failed = 0
    work = 0.125 * f.n * groups * f.c * f.o * f.unit * f.unit
    for d in range(3):
        work *= f.of_y[d] * f.k[d]
    return work


# --- windows of one element in channels last -------------------------------------------------

cdef bint single(Tensor weight, tuple stride, tuple padding, Py_ssize_t groups) except -1:
    cdef int d
    if groups != 1 or (weight.dt != DT_F32 and weight.dt != DT_F64):
        return False
    for d in range(2, weight.nd):
        if weight.sizes[d] != 1:
            return False
    for step in stride:
        if step != 1:
            return False
    for pad in padding:
        if pad != 0:
            return False
    return True


cdef Tensor matrix(Tensor t, Py_ssize_t rows, Py_ssize_t columns, Py_ssize_t down,
                   Py_ssize_t right):
    cdef Py_ssize_t[2] sizes
    cdef Py_ssize_t[2] strides
    sizes[0], sizes[1] = rows, columns
    strides[0], strides[1] = down, right
    return tensor_window(t, 2, sizes, strides, 0)


cdef int weights_by_places(Tensor out, Tensor y, Tensor x) except -1:
    """The sum over all places of what y has there, times what x has; both in channels last."""
    cdef Py_ssize_t o = out.sizes[0], c = out.sizes[1], places = y.count // o
    y, x = dense_places(y), dense_places(x)
    return mm(matrix(out, o, c, c, 1), matrix(y, o, places, 1, o), matrix(x, places, c, c, 1))


cdef int convolve(
        Tensor out, Tensor input, Tensor weight, Tensor bias, tuple stride, tuple padding,
        tuple dilation, bint transposed, tuple output_padding, Py_ssize_t groups) except -1:
    cdef Form f
    cdef Launch work
    cdef Tensor turned
    cdef double cost
    cdef int to, by
    if out.count == 0:
        return 0
    if by_places(out, input) and single(weight, stride, padding, groups) and input.count:
        to, by = (1, 0) if transposed else (0, 1)
        return linear(
            places_first(out), places_first(dense_places(input)),
            matrix(weight, weight.sizes[to], weight.sizes[by], weight.strides[to],
                   weight.strides[by]), bias)
    if out.flags & F_STRIDED:
        turned = tensor_empty(out.dt, out.nd, out.sizes)
        convolve(turned, input, weight, bias, stride, padding, dilation, transposed,
                 output_padding, groups)
        return copy_into(out, turned, "convolution")
    input, weight = planes(input), planes(weight)
    cost = plan_form(&f, out if transposed else input, input if transposed else out, weight, stride,
                     padding, dilation, groups)
    begin(&work, "convolution", &f, sizeof(Form), KIND_WINDOW)
    if bias is not None:
        f.bias = bias.ptr
        f.bias_step = bias.strides[0] * f.unit
        operand(&work, &f.bias, bias, READS)
    operand(&work, &f.x, out if transposed else input, WRITES if transposed else READS)
    operand(&work, &f.y, input if transposed else out, READS if transposed else WRITES)
    operand(&work, &f.w, weight, READS)
    launch(&work, launch_image if transposed else launch_result, cost)
    return agc_raise(f.failed)


cdef int convolve_input(
        Tensor out, Tensor grad, Tensor weight, tuple stride, tuple padding, tuple dilation,
        bint transposed, Py_ssize_t groups) except -1:
    # The gradient of a convolution is the transposed one, and the other way round.
    return convolve(out, grad, weight, None, stride, padding, dilation, not transposed, (), groups)


cdef int convolve_weight(
        Tensor out, Tensor grad, Tensor input, tuple stride, tuple padding, tuple dilation,
        bint transposed, Py_ssize_t groups) except -1:
    cdef Form f
    cdef Launch work
    cdef Tensor x, y
    cdef double cost
    if out.count == 0:
        return 0
    if (channels_last(grad) and channels_last(input) and input.count and not out.flags & F_STRIDED
            and single(out, stride, padding, groups)):
        return weights_by_places(out, input if transposed else grad,
                                 grad if transposed else input)
    grad, input = planes(grad), planes(input)
    x = grad if transposed else input
    y = input if transposed else grad
    cost = plan_form(&f, x, y, out, stride, padding, dilation, groups)
    begin(&work, "convolution", &f, sizeof(Form), KIND_WINDOW)
    operand(&work, &f.x, x, READS)
    operand(&work, &f.y, y, READS)
    operand(&work, &f.w, out, WRITES)
    launch(&work, launch_weights, cost)
    return agc_raise(f.failed)
