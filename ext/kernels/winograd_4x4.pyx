# cython: language_level=3
# build: plain cold
"""Convolutions of 3 x 3 taps, float32, by tiles of 4 x 4 results, with 36 products for 144.

As winograd_2x2.pyx, with larger tiles (scalar/winograd_4x4.h) and vectors that go over channels:
tiles are the rows of the products, channels of the result their columns. Batches of tiles,
stretches of channels and strips of columns follow from the shapes alone.
"""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.string cimport memset

from autograd_cy._C.convolution_plan cimport Form
from autograd_cy._C.gemm_loops cimport BY_COLUMNS, BY_ROWS, KIND_F32, LoopTable
from autograd_cy._C.gemm_product cimport even_grid, parts, round_up
from autograd_cy._C.parallel cimport parallel_for, parallel_for_dynamic, team_size
from autograd_cy._C.scratch cimport give_scratch
from autograd_cy._C.winograd_loops cimport TransformTable

from autograd_cy._C import cpu as _cpu

__all__: list[str] = []

cdef TransformTable transforms = (<TransformTable*>PyCapsule_GetPointer(
    _cpu.load("winograd_loops").table_capsule(), "autograd_cy.winograd_loops"))[0]
cdef LoopTable products = (<LoopTable*>PyCapsule_GetPointer(
    _cpu.load("gemm_loops").table_capsule(), "autograd_cy.gemm_loops"))[0]

cdef enum:
    PLACES = 36
    # Tiles of a batch: what their products read and write stays in the second-level cache.
    TILES = 48
    HEAVY = 1 << 14
    # The same for gradients of more weights than these.
    MANY = 128
    SUMS = 1 << 13
    # Channels that are summed at once, whose weights stay in the second-level cache.
    DEPTH = 128
    # Rows of sums of weights that go together.
    ROWS = 64
    # Tiles side by side that are transformed together, and bytes of their images.
    TOGETHER = 32
    NEAR = 1 << 15
    # The places lie this much further apart, so that they don't share sets of a cache.
    APART = 16

ctypedef struct Tiles:
    Form* f
    const float* source
    const Py_ssize_t* at_source
    const Py_ssize_t* of_source
    float* result
    const Py_ssize_t* at_result
    Py_ssize_t channels         # of the source, and of the result
    Py_ssize_t rows
    Py_ssize_t pad[2]
    bint turned
    Py_ssize_t high             # results of an image, and its tiles
    Py_ssize_t wide
    Py_ssize_t down
    Py_ssize_t across
    Py_ssize_t each
    Py_ssize_t all
    Py_ssize_t most             # tiles of a batch
    Py_ssize_t batches
    Py_ssize_t lanes
    Py_ssize_t strip            # columns that are multiplied together
    Py_ssize_t strips
    float* u                    # transformed weights, or NULL if each task makes its own
    # Inside of a batch, if tasks share it: transformed images, and gradients of results.
    Py_ssize_t batch
    float* v
    float* z
    float* sums                 # of weights, from batch to batch
    int failed


cdef bint suits_4x4(Form* f) noexcept nogil:
    cdef Py_ssize_t by_4 = 36 * parts(f.of_y[1], 4) * parts(f.of_y[2], 4)
    cdef Py_ssize_t by_2 = 16 * parts(f.of_y[1], 2) * parts(f.of_y[2], 2)
    return 100 * by_4 <= 85 * by_2


cdef inline void count_tiles(Tiles* t) noexcept nogil:
    t.down, t.across = parts(t.high, 4), parts(t.wide, 4)
    t.each = t.down * t.across
    t.all = t.f.n * t.each
    t.strip = products.width[KIND_F32]
    t.lanes = t.strip // 2


cdef inline void choose_batches(Tiles* t, Py_ssize_t wanted) noexcept nogil:
    """Batches of about so many tiles, evenly dealt out in whole blocks of the product."""
    t.most = min(round_up(parts(t.all, parts(t.all, wanted)), products.rows), t.all)
    t.batches = parts(t.all, t.most)


cdef inline Py_ssize_t of_batch(const Tiles* t, Py_ssize_t batch) noexcept nogil:
    return min(t.most, t.all - batch * t.most)


# --- walking over tiles -------------------------------------------------------------------------

# Tiles of one image: some side by side, or some whole rows of them.
ctypedef struct Run:
    Py_ssize_t begin            # among those at work
    Py_ssize_t rows
    Py_ssize_t count            # in a row
    Py_ssize_t image
    Py_ssize_t row
    Py_ssize_t col


cdef inline bint next_run(const Tiles* t, Py_ssize_t first, Py_ssize_t count, Py_ssize_t most,
                          Run* r) noexcept nogil:
    """Go on to the next run, of up to `most` rows; r is 0 before the first."""
    cdef Py_ssize_t tile
    r.begin += r.rows * r.count
    if r.begin >= count:
        return False
    tile = first + r.begin
    r.image = tile // t.each
    r.row = tile % t.each // t.across
    r.col = tile % t.each % t.across
    r.rows = 1
    r.count = min(t.across - r.col, min(count - r.begin, <Py_ssize_t>TOGETHER))
    if r.count == t.across:
        r.rows = min(min(t.down - r.row, (count - r.begin) // t.across), most)
    return True


cdef inline Py_ssize_t rows_near(const Tiles* t) noexcept nogil:
    """Rows of tiles whose images stay in the first-level cache."""
    cdef Py_ssize_t line = (4 * t.across + 2) * t.lanes * 4
    return max((NEAR // line - 2) // 4, <Py_ssize_t>1)


cdef inline void gather_part(const float* from_, const Py_ssize_t* at, const Py_ssize_t* sizes,
                             Py_ssize_t now, Py_ssize_t top, Py_ssize_t left, Py_ssize_t rows,
                             Py_ssize_t cols, Py_ssize_t lanes, float* to) noexcept nogil:
    """Some rows and columns of `now` channels of an image, with zeros where it has none."""
    cdef Py_ssize_t low = min(max(-top, <Py_ssize_t>0), rows)
    cdef Py_ssize_t high = max(min(sizes[1] - top, rows), low)
    cdef Py_ssize_t before = min(max(-left, <Py_ssize_t>0), cols)
    cdef Py_ssize_t n = max(min(sizes[2] - left, cols) - before, <Py_ssize_t>0)
    memset(to, 0, <size_t>(low * cols * lanes) * sizeof(float))
    if high > low:
        transforms.padded_channels(
            from_ + (top + low) * at[3] + (left + before) * at[4], at[1], at[3], at[4], now,
            high - low, n, before, cols, to + low * cols * lanes)
    memset(to + high * cols * lanes, 0, <size_t>((rows - high) * cols * lanes) * sizeof(float))


cdef inline Py_ssize_t floats_of_images(const Tiles* t) noexcept nogil:
    cdef Py_ssize_t cols = 4 * min(t.across, <Py_ssize_t>TOGETHER) + 2
    return (4 * rows_near(t) + 2 + 6) * cols * t.lanes


cdef void transform_images(const Tiles* t, Py_ssize_t batch, Py_ssize_t block, float* v,
                           Py_ssize_t each, Py_ssize_t step, float* scratch) noexcept nogil:
    """A vector of channels of the source to the 36 places; v is where its first tile goes."""
    cdef Py_ssize_t first = block * t.lanes, cols, i, near = rows_near(t)
    cdef const float* source = t.source + first * t.at_source[1]
    cdef float* below
    cdef Run r
    memset(&r, 0, sizeof(r))
    while next_run(t, batch * t.most, of_batch(t, batch), near, &r):
        cols = 4 * r.count + 2
        below = scratch + (4 * r.rows + 2) * cols * t.lanes
        gather_part(source + r.image * t.at_source[0], t.at_source, t.of_source,
                    min(t.lanes, t.channels - first), 4 * r.row - t.pad[0], 4 * r.col - t.pad[1],
                    4 * r.rows + 2, cols, t.lanes, scratch)
        for i in range(r.rows):
            transforms.input_4x4(scratch + 4 * i * cols * t.lanes, cols, r.count,
                                 v + (r.begin + i * r.count) * each, each, step, below)


# --- results ------------------------------------------------------------------------------------

cdef inline Py_ssize_t pitch(const Tiles* t) noexcept nogil:
    """Distance of tiles in v."""
    return round_up(t.channels, t.lanes) + (APART if t.channels % 128 == 0 else 0)


cdef inline Py_ssize_t place_of_v(const Tiles* t) noexcept nogil:
    return t.most * pitch(t) + APART


cdef inline Py_ssize_t depth_at(const Tiles* t, Py_ssize_t k) noexcept nogil:
    return min(<Py_ssize_t>DEPTH, t.channels - k)


cdef inline Py_ssize_t floats_of_taps(const Tiles* t, Py_ssize_t depth) noexcept nogil:
    return PLACES * (depth * t.strip + APART)


cdef void transform_taps(const Tiles* t, Py_ssize_t strip, Py_ssize_t k, float* u) noexcept nogil:
    """A stretch of weights for a strip of columns."""
    cdef Form* f = t.f
    cdef Py_ssize_t of_row = f.at_w[1] if t.turned else f.at_w[0]
    cdef Py_ssize_t of_channel = f.at_w[0] if t.turned else f.at_w[1]
    cdef Py_ssize_t first = strip * t.strip, depth = depth_at(t, k)
    transforms.filter_4x4(
        <const float*>f.w + first * of_row + k * of_channel, of_row, of_channel,
        min(t.strip, t.rows - first), depth, t.turned, u, t.strip, depth * t.strip + APART)


cdef inline float* taps_of(const Tiles* t, Py_ssize_t strip, Py_ssize_t k) noexcept nogil:
    """Return the address of transformed taps, if all are stored."""
    cdef Py_ssize_t whole = t.channels // DEPTH * floats_of_taps(t, DEPTH)
    if t.channels % DEPTH:
        whole += floats_of_taps(t, t.channels % DEPTH)
    return t.u + strip * whole + k // DEPTH * floats_of_taps(t, DEPTH)


cdef void taps_task(void* ctx, Py_ssize_t number) noexcept nogil:
    cdef Tiles* t = <Tiles*>ctx
    cdef Py_ssize_t strip = number % t.strips, k = number // t.strips * DEPTH
    transform_taps(t, strip, k, taps_of(t, strip, k))


cdef void put_tiles(Tiles* t, Py_ssize_t batch, Py_ssize_t strip, const float* m,
                    Py_ssize_t step) noexcept nogil:
    """Some channels of the result, from the 36 places."""
    cdef Form* f = t.f
    cdef Py_ssize_t first = strip * t.strip, i, j, row
    cdef Py_ssize_t now = min(t.strip, t.rows - first)
    cdef float probe = 0
    cdef float[64] bias
    cdef float* y
    cdef Run r
    memset(bias, 0, sizeof(bias))
    if f.bias != NULL:
        for i in range(now):
            bias[i] = (<const float*>f.bias)[(first + i) * f.bias_step]
    memset(&r, 0, sizeof(r))
    while next_run(t, batch * t.most, of_batch(t, batch), t.down, &r):
        for i in range(r.rows):
            row = r.row + i
            y = t.result + (r.image * t.at_result[0] + first * t.at_result[1]
                            + 4 * row * t.at_result[3] + 4 * r.col * t.at_result[4])
            for j from 0 <= j < now by t.lanes:
                probe += transforms.output_4x4(
                    m + (r.begin + i * r.count) * t.strip + j, t.strip, step, r.count, bias + j,
                    min(t.lanes, now - j), min(<Py_ssize_t>4, t.high - 4 * row),
                    min(4 * r.count, t.wide - 4 * r.col), y + j * t.at_result[1],
                    t.at_result[1], t.at_result[3], t.at_result[4])
    if probe != probe:
        t.failed = 1


cdef void multiply_strip(Tiles* t, Py_ssize_t batch, Py_ssize_t strip, const float* v, float* m,
                         float* own) noexcept nogil:
    """A strip of columns of the result, for the tiles of a batch."""
    cdef Py_ssize_t count = of_batch(t, batch), step = t.most * t.strip + APART, place, k, depth
    cdef Py_ssize_t cols = round_up(min(t.strip, t.rows - strip * t.strip), t.lanes)
    cdef float* u
    for k from 0 <= k < t.channels by DEPTH:
        depth = depth_at(t, k)
        if t.u != NULL:
            u = taps_of(t, strip, k)
        else:
            u = own
            transform_taps(t, strip, k, u)
        for place in range(PLACES):
            products.multiply(
                KIND_F32, count, cols, depth, BY_ROWS, v + place * place_of_v(t) + k, pitch(t),
                u + place * (depth * t.strip + APART), 1, k > 0, m + place * step, t.strip)
    put_tiles(t, batch, strip, m, step)


cdef inline Py_ssize_t floats_of_products(const Tiles* t) noexcept nogil:
    return PLACES * (t.most * t.strip + APART)


cdef void image_task(void* ctx, Py_ssize_t block) noexcept nogil:
    """A vector of channels of the tiles at work."""
    cdef Tiles* t = <Tiles*>ctx
    cdef float* scratch = floats(floats_of_images(t))
    if scratch == NULL:
        t.failed = 1
        return
    transform_images(t, t.batch, block, t.v + block * t.lanes, pitch(t), place_of_v(t), scratch)
    give_scratch(scratch)


cdef void strip_task(void* ctx, Py_ssize_t strip) noexcept nogil:
    """A strip of columns for the tiles at work."""
    cdef Tiles* t = <Tiles*>ctx
    cdef Py_ssize_t depth = min(<Py_ssize_t>DEPTH, t.channels)
    cdef float* m = floats(floats_of_products(t) + (floats_of_taps(t, depth) if t.u == NULL else 0))
    if m == NULL:
        t.failed = 1
        return
    multiply_strip(t, t.batch, strip, t.v, m, m + floats_of_products(t))
    give_scratch(m)


cdef void batch_task(void* ctx, Py_ssize_t batch) noexcept nogil:
    """All of a batch."""
    cdef Tiles* t = <Tiles*>ctx
    cdef Py_ssize_t of_v = PLACES * place_of_v(t), block, strip
    cdef float* v
    if t.failed:
        return
    v = floats(of_v + floats_of_products(t) + floats_of_images(t))
    if v == NULL:
        t.failed = 1
        return
    for block in range(parts(t.channels, t.lanes)):
        transform_images(t, batch, block, v + block * t.lanes, pitch(t), place_of_v(t),
                         v + of_v + floats_of_products(t))
    for strip in range(t.strips):
        multiply_strip(t, batch, strip, v, v + of_v, NULL)
    give_scratch(v)


cdef int run_4x4(Form* f, bint image) noexcept nogil:
    cdef Tiles t
    cdef Py_ssize_t d
    cdef int threads
    memset(&t, 0, sizeof(t))
    t.f, t.turned = f, image
    if image:
        t.source, t.at_source, t.of_source = <const float*>f.y, f.at_y, f.of_y
        t.result, t.at_result = <float*>f.x, f.at_x
        t.channels, t.rows, t.high, t.wide = f.o, f.c, f.of_x[1], f.of_x[2]
    else:
        t.source, t.at_source, t.of_source = <const float*>f.x, f.at_x, f.of_x
        t.result, t.at_result = <float*>f.y, f.at_y
        t.channels, t.rows, t.high, t.wide = f.c, f.o, f.of_y[1], f.of_y[2]
    for d in range(2):
        t.pad[d] = 2 - f.pad[d + 1] if image else f.pad[d + 1]
    count_tiles(&t)
    t.strips = parts(t.rows, t.strip)
    # Weights that leave the cache are transformed for more tiles.
    choose_batches(&t, TILES if f.c * f.o <= HEAVY else 2 * TILES)
    threads = team_size(0.125 * PLACES * t.all * t.channels * t.rows)
    if t.batches > 1:
        t.u = floats(parts(t.channels, DEPTH) * t.strips * floats_of_taps(&t, DEPTH))
        if t.u == NULL:
            return 1
        parallel_for(taps_task, &t, parts(t.channels, DEPTH) * t.strips, threads)
        if t.batches % threads == 0 or t.batches > 4 * threads:
            parallel_for_dynamic(batch_task, &t, t.batches, threads)
            give_scratch(t.u)
            return t.failed
    t.v = floats(PLACES * place_of_v(&t))
    if t.v == NULL:
        t.failed = 1
    for d in range(t.batches):
        if t.failed:
            break
        t.batch = d
        parallel_for(image_task, &t, parts(t.channels, t.lanes), threads)
        if not t.failed:
            parallel_for_dynamic(strip_task, &t, t.strips, threads)
    give_scratch(t.u)
    give_scratch(t.v)
    return t.failed


# --- gradients of weights -----------------------------------------------------------------------

cdef inline Py_ssize_t place_of_x(const Tiles* t) noexcept nogil:
    return t.strips * t.most * t.strip + APART


cdef inline Py_ssize_t pitch_of_z(const Tiles* t) noexcept nogil:
    return round_up(t.rows, t.lanes) + (APART if t.rows % 128 == 0 else 0)


cdef inline Py_ssize_t place_of_z(const Tiles* t) noexcept nogil:
    return t.most * pitch_of_z(t) + APART


cdef void transform_vector(Tiles* t, Py_ssize_t number) noexcept nogil:
    """A vector of channels of x, or of y, to the 36 places."""
    cdef Form* f = t.f
    cdef Py_ssize_t blocks = parts(t.channels, t.lanes), first = number * t.lanes, i, cols
    cdef Py_ssize_t each = pitch_of_z(t), near = rows_near(t)
    cdef float* scratch = floats(floats_of_images(t))
    cdef float* below
    cdef Run r
    if scratch == NULL:
        t.failed = 1
        return
    if number < blocks:
        transform_images(
            t, t.batch, number, t.v + first // t.strip * t.most * t.strip + first % t.strip,
            t.strip, place_of_x(t), scratch)
        give_scratch(scratch)
        return
    first -= blocks * t.lanes
    memset(&r, 0, sizeof(r))
    while next_run(t, t.batch * t.most, of_batch(t, t.batch), near, &r):
        cols = 4 * r.count
        below = scratch + 4 * r.rows * cols * t.lanes
        gather_part(<const float*>f.y + r.image * f.at_y[0] + first * f.at_y[1], f.at_y, f.of_y,
                    min(t.lanes, t.rows - first), 4 * r.row, 4 * r.col, 4 * r.rows, cols, t.lanes,
                    scratch)
        for i in range(r.rows):
            transforms.output_gradient_4x4(scratch + 4 * i * cols * t.lanes, cols, r.count,
                                           t.z + (r.begin + i * r.count) * each + first, each,
                                           place_of_z(t), below)
    give_scratch(scratch)


cdef void both_task(void* ctx, Py_ssize_t number) noexcept nogil:
    """Some vectors of x and some of y, which take less time: each thread has as many of both."""
    cdef Tiles* t = <Tiles*>ctx
    cdef Py_ssize_t of_x = parts(t.channels, t.lanes), of_y = parts(t.rows, t.lanes)
    cdef Py_ssize_t all = max(of_x, of_y), i
    for i in range(number * of_x // all, (number + 1) * of_x // all):
        transform_vector(t, i)
    for i in range(number * of_y // all, (number + 1) * of_y // all):
        transform_vector(t, of_x + i)


cdef inline Py_ssize_t floats_of_sums(const Tiles* t) noexcept nogil:
    return PLACES * (min(<Py_ssize_t>ROWS, t.rows) * t.strip + APART)


cdef void sum_task(void* ctx, Py_ssize_t number) noexcept nogil:
    """A strip of channels of x by some of y, for the tiles at work."""
    cdef Tiles* t = <Tiles*>ctx
    cdef Form* f = t.f
    cdef Py_ssize_t strip = number % t.strips, first = number // t.strips * ROWS, place
    cdef Py_ssize_t rows = min(<Py_ssize_t>ROWS, t.rows - first)
    cdef Py_ssize_t step = floats_of_sums(t) // PLACES
    cdef Py_ssize_t now = min(t.strip, t.channels - strip * t.strip)
    cdef float probe
    cdef float* sums = (floats(floats_of_sums(t)) if t.sums == NULL
                        else t.sums + number * floats_of_sums(t))
    if sums == NULL:
        t.failed = 1
        return
    for place in range(PLACES):
        products.multiply(
            KIND_F32, rows, round_up(now, t.lanes), of_batch(t, t.batch), BY_COLUMNS,
            t.z + place * place_of_z(t) + first, pitch_of_z(t),
            t.v + place * place_of_x(t) + strip * t.most * t.strip, 1, t.batch > 0,
            sums + place * step, t.strip)
    if t.batch == t.batches - 1:
        probe = transforms.filter_gradient_4x4(
            sums, t.strip, step, rows, now,
            <float*>f.w + first * f.at_w[0] + strip * t.strip * 9, f.at_w[0])
        if probe != probe:
            t.failed = 1
    if t.sums == NULL:
        give_scratch(sums)


cdef int add_weights(Form* f, Py_ssize_t wanted) noexcept nogil:
    """All of `f`, by batches of about so many tiles."""
    cdef Tiles t
    cdef Py_ssize_t d, tasks
    cdef int threads
    memset(&t, 0, sizeof(t))
    t.f = f
    t.source, t.at_source, t.of_source = <const float*>f.x, f.at_x, f.of_x
    t.channels, t.rows, t.high, t.wide = f.c, f.o, f.of_y[1], f.of_y[2]
    for d in range(2):
        t.pad[d] = f.pad[d + 1]
    count_tiles(&t)
    t.strips = parts(t.channels, t.strip)
    choose_batches(&t, wanted)
    tasks = t.strips * parts(t.rows, ROWS)
    threads = team_size(0.125 * PLACES * t.all * t.channels * t.rows)
    t.v = floats(PLACES * place_of_x(&t))
    t.z = floats(PLACES * place_of_z(&t))
    if t.batches > 1:
        t.sums = floats(tasks * floats_of_sums(&t))
    if t.v == NULL or t.z == NULL or (t.batches > 1 and t.sums == NULL):
        t.failed = 1
    for d in range(t.batches):
        if t.failed:
            break
        t.batch = d
        parallel_for(
            both_task, &t, max(parts(t.channels, t.lanes), parts(t.rows, t.lanes)), threads)
        if not t.failed:
            parallel_for_dynamic(sum_task, &t, tasks, threads)
    give_scratch(t.sums)
    give_scratch(t.z)
    give_scratch(t.v)
    return t.failed


# Few weights: some for each thread, which makes the transforms that it needs. To wait for lines
# that the others have in their caches took a quarter of the time.
ctypedef struct Shares:
    Form* f
    Py_ssize_t channels         # of x and of y in a share
    Py_ssize_t rows
    Py_ssize_t across
    int failed


cdef bint suits_shares(Shares* t, int threads) noexcept nogil:
    even_grid(t.f.c, products.width[KIND_F32], t.f.o, ROWS, threads, &t.channels, &t.rows)
    t.across = parts(t.f.c, t.channels)
    return t.across * parts(t.f.o, t.rows) == threads


cdef void share_task(void* ctx, Py_ssize_t index) noexcept nogil:
    cdef Shares* t = <Shares*>ctx
    cdef Form f = t.f[0]
    cdef Py_ssize_t c = index % t.across * t.channels, o = index // t.across * t.rows
    f.c, f.o = min(t.channels, f.c - c), min(t.rows, f.o - o)
    f.x += c * f.at_x[1] * <Py_ssize_t>sizeof(float)
    f.y += o * f.at_y[1] * <Py_ssize_t>sizeof(float)
    f.w += (o * f.at_w[0] + c * f.at_w[1]) * <Py_ssize_t>sizeof(float)
    if add_weights(&f, TILES):
        t.failed = 1


cdef int run_4x4_weights(Form* f) noexcept nogil:
    cdef Shares t
    cdef int threads = team_size(
        0.125 * PLACES * f.n * parts(f.of_y[1], 4) * parts(f.of_y[2], 4) * f.c * f.o)
    t.f = f
    if f.c * f.o > SUMS:
        # What is added to sums that leave the cache had better be much.
        return add_weights(f, MANY)
    if threads == 1 or not suits_shares(&t, threads):
        return add_weights(f, TILES)
    t.failed = 0
    parallel_for(share_task, &t, threads, threads)
    return t.failed
