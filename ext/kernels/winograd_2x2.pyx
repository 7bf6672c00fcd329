# cython: language_level=3
# build: plain cold
"""Convolutions of 3 x 3 taps, float32, by tiles of 2 x 2 results, with 16 products for 36; most by
those of 4 x 4 (winograd_4x4.pyx).

The transforms (scalar/winograd_2x2.h) turn one convolution into 16 matrix products over channels,
one for each place of a tile. Some tiles at a time, so that what the products read stays in cache;
which tiles go together follows from the shapes alone. An infinite or NaN number would reach
neighbours in its tile that plain sums keep apart: then the caller takes those.
"""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.string cimport memcpy, memset

from autograd_cy._C.convolution_plan cimport Form
from autograd_cy._C.dtypes cimport DT_F32
from autograd_cy._C.gemm_loops cimport BY_ROWS, KIND_F32, LoopTable
from autograd_cy._C.gemm_product cimport parts, round_up
from autograd_cy._C.parallel cimport parallel_for, parallel_for_dynamic, team_size
from autograd_cy._C.scratch cimport give_scratch
from autograd_cy._C.winograd_4x4 cimport floats, run_4x4, run_4x4_weights, suits_4x4
from autograd_cy._C.winograd_loops cimport TAPS_TOGETHER, TransformTable

from autograd_cy._C import cpu as _cpu

__all__: list[str] = []

cdef TransformTable transforms = (<TransformTable*>PyCapsule_GetPointer(
    _cpu.load("winograd_loops").table_capsule(), "autograd_cy.winograd_loops"))[0]
cdef LoopTable products = (<LoopTable*>PyCapsule_GetPointer(
    _cpu.load("gemm_loops").table_capsule(), "autograd_cy.gemm_loops"))[0]

cdef enum:
    PLACES = 16
    # Fewest channels and tiles that are worth the transforms.
    CHANNELS = 16
    TILES = 16
    # Bytes of transformed images that are at work.
    CACHED = 1 << 20
    # Bounds of the tiles at work, multiples of any strip; at least twice FEWEST for MANY channels,
    # as each batch reads all weights.
    FEWEST = 128
    MANY = 192
    MOST = 512
    MOST_SUMMED = 256
    # Longest piece of the sums over channels.
    DEPTH = 256
    # Bytes of products that are at work, in blocks of so many rows.
    PRODUCTS = 3 << 18
    BLOCK = 24
    # Bytes of sums of weights.
    SUMS = 1 << 22
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
    Py_ssize_t high             # results of an image, and its tiles
    Py_ssize_t wide
    Py_ssize_t down
    Py_ssize_t across
    Py_ssize_t each
    Py_ssize_t all
    Py_ssize_t first            # tiles at work
    Py_ssize_t count
    Py_ssize_t padded           # `count`, filled up to strips
    Py_ssize_t strip
    Py_ssize_t depth
    Py_ssize_t block            # rows that a task computes
    float* v                    # transformed images: place, piece of channels, strip, channel
    Py_ssize_t v_step
    float* u                    # transformed weights, or NULL if each task makes its own
    bint turned
    Py_ssize_t origin           # gradients of weights: columns at work
    Py_ssize_t columns
    Py_ssize_t filled
    float* z                    # transformed gradients: place, strip, tile, column
    Py_ssize_t z_step
    float* sums                 # place, channel, column
    Py_ssize_t sum_step
    int failed


cdef bint suits_2x2(Form* f) noexcept nogil:
    cdef Py_ssize_t d, down = parts(f.of_y[1], 2), across = parts(f.of_y[2], 2)
    if f.dt != DT_F32 or f.unit != 1 or f.groups != 1 or f.k[0] != 1:
        return False
    if f.c < CHANNELS or f.o < CHANNELS or f.n * down * across < TILES:
        return False
    if f.of_x[0] != 1 or f.of_y[0] != 1 or f.pad[0] != 0:
        return False
    for d in range(1, 3):
        if (f.k[d] != 3 or f.stride[d] != 1 or f.dil[d] != 1 or not 0 <= f.pad[d] <= 2
                or f.of_y[d] != f.of_x[d] + 2 * f.pad[d] - 2):
            return False
    # Tiles beyond the edges are work for nothing, and the transforms aren't free.
    if PLACES * down * across * 4 > 9 * f.of_y[1] * f.of_y[2] * 3:
        return False
    return f.at_w[4] == 1 and f.at_w[3] == 3


# --- walking over tiles -------------------------------------------------------------------------

# Tiles side by side in one image: which they are, and how many.
ctypedef struct Run:
    Py_ssize_t begin            # among those at work
    Py_ssize_t count
    Py_ssize_t image
    Py_ssize_t row
    Py_ssize_t col


cdef inline bint next_run(const Tiles* t, Run* r, Py_ssize_t strip) noexcept nogil:
    """Go on to the next run, none of which crosses a strip; r.count is 0 before the first."""
    cdef Py_ssize_t tile
    r.begin += r.count
    if r.begin >= t.count:
        return False
    tile = t.first + r.begin
    r.image = tile // t.each
    r.row = tile % t.each // t.across
    r.col = tile % t.each % t.across
    r.count = min(t.across - r.col, t.count - r.begin)
    r.count = min(r.count, strip - r.begin % strip)
    return True


cdef void image_task(void* ctx, Py_ssize_t channel) noexcept nogil:
    """The tiles of one channel, with margins, to the 16 places."""
    cdef Tiles* t = <Tiles*>ctx
    cdef Py_ssize_t ld = 2 * t.across + 2, last, image = -1, top = 0, rows, i, part
    cdef Py_ssize_t most = min(t.down, parts(t.count, t.across) + 1)
    cdef Py_ssize_t start, length, depth, low, high
    cdef float* plane = floats((2 * most + 2) * ld)
    cdef float* v
    cdef Run r
    if plane == NULL:
        t.failed = 1
        return
    part = channel // t.depth
    depth = min(t.depth, t.channels - part * t.depth)
    v = t.v + part * t.depth * t.padded + channel % t.depth * t.strip
    length = min(t.of_source[2], ld - t.pad[1])
    memset(&r, 0, sizeof(r))
    while next_run(t, &r, t.strip):
        if r.image != image:
            image, top = r.image, r.row
            last = min(t.down - 1, (t.first + t.count - 1 - image * t.each) // t.across)
            rows = 2 * (last - top) + 4
            # Rows of the source, and margins of zeros.
            low = min(max(t.pad[0] - 2 * top, <Py_ssize_t>0), rows)
            high = max(min(t.of_source[1] + t.pad[0] - 2 * top, rows), low)
            start = (image * t.at_source[0] + channel * t.at_source[1]
                     + (2 * top + low - t.pad[0]) * t.at_source[3])
            memset(plane, 0, <size_t>(low * ld) * sizeof(float))
            transforms.padded_rows(
                t.source + start, t.at_source[3], t.at_source[4], high - low, length,
                plane + low * ld, ld, t.pad[1])
            memset(plane + high * ld, 0, <size_t>((rows - high) * ld) * sizeof(float))
        transforms.input_2x2(
            plane + 2 * (r.row - top) * ld + 2 * r.col, ld, r.count,
            v + r.begin // t.strip * depth * t.strip + r.begin % t.strip, t.v_step)
    if t.count < t.padded:
        # What fills the last strip is multiplied, too.
        v += t.count // t.strip * depth * t.strip + t.count % t.strip
        for i in range(PLACES):
            memset(v + i * t.v_step, 0, <size_t>(t.padded - t.count) * sizeof(float))
    give_scratch(plane)


cdef inline void choose_batches(Tiles* t, Py_ssize_t number, Py_ssize_t most) noexcept nogil:
    """Batch `number` of tiles."""
    t.first = number * most
    t.count = min(most, t.all - t.first)
    t.padded = round_up(t.count, t.strip)


# --- results ------------------------------------------------------------------------------------

cdef inline Py_ssize_t floats_of_taps(const Tiles* t) noexcept nogil:
    return PLACES * (t.block * t.channels + APART)


cdef void transform_taps(Tiles* t, Py_ssize_t block, float* u) noexcept nogil:
    """The weights of a block of rows."""
    cdef Form* f = t.f
    cdef Py_ssize_t row = block * t.block
    cdef Py_ssize_t of_row = f.at_w[1] if t.turned else f.at_w[0]
    transforms.filter_2x2(
        <const float*>f.w + row * of_row, of_row, f.at_w[0] if t.turned else f.at_w[1],
        min(t.block, t.rows - row), t.channels, t.turned, u, t.block * t.channels + APART,
        t.channels)


cdef void taps_task(void* ctx, Py_ssize_t block) noexcept nogil:
    cdef Tiles* t = <Tiles*>ctx
    transform_taps(t, block, t.u + block * floats_of_taps(t))


cdef void put_tiles(Tiles* t, Py_ssize_t row, const float* m, Py_ssize_t step) noexcept nogil:
    """One channel of the result, from the 16 places."""
    cdef Form* f = t.f
    cdef Py_ssize_t i, wide, high
    cdef float bias = 0, probe = 0
    cdef float* y
    cdef float[2 * 2 * MOST] edge
    cdef Run r
    if f.bias != NULL:
        bias = (<const float*>f.bias)[row * f.bias_step]
    memset(&r, 0, sizeof(r))
    while next_run(t, &r, MOST):
        y = t.result + (r.image * t.at_result[0] + row * t.at_result[1]
                        + 2 * r.row * t.at_result[3] + 2 * r.col)
        wide = min(2 * r.count, t.wide - 2 * r.col)
        high = min(<Py_ssize_t>2, t.high - 2 * r.row)
        if wide == 2 * r.count and high == 2:
            probe += transforms.output_2x2(m + r.begin, step, r.count, bias, y, t.at_result[3])
            continue
        probe += transforms.output_2x2(m + r.begin, step, r.count, bias, edge, 2 * MOST)
        for i in range(high):
            memcpy(y + i * t.at_result[3], edge + i * 2 * MOST, <size_t>wide * sizeof(float))
    if probe != probe:
        t.failed = 1


cdef void product_task(void* ctx, Py_ssize_t block) noexcept nogil:
    """The results of a block of rows, for the tiles at work."""
    cdef Tiles* t = <Tiles*>ctx
    cdef Py_ssize_t row = block * t.block, rows = min(t.block, t.rows - row)
    cdef Py_ssize_t step = rows * t.padded + APART, u_step = t.block * t.channels + APART
    cdef Py_ssize_t place, done, now, i
    cdef float* m = floats(PLACES * step + (floats_of_taps(t) if t.u == NULL else 0))
    cdef float* u
    if m == NULL:
        t.failed = 1
        return
    if t.u != NULL:
        u = t.u + block * floats_of_taps(t)
    else:
        u = m + PLACES * step
        transform_taps(t, block, u)
    for place in range(PLACES):
        for done from 0 <= done < t.channels by t.depth:
            now = min(t.depth, t.channels - done)
            products.multiply(
                KIND_F32, rows, round_up(t.count, t.strip // 2), now, BY_ROWS,
                u + place * u_step + done, t.channels, t.v + place * t.v_step + done * t.padded,
                1, done > 0, m + place * step, t.padded)
    for i in range(rows):
        put_tiles(t, row + i, m + i * t.padded, step)
    give_scratch(m)


cdef bint lacks_taps(Form* f, bint turned) noexcept nogil:
    """Return whether a row has a tap of zeros in all channels beside others, as masked kernels
    have.

    A tile takes differences of neighbours; where the weight of one is 0, a large one would still
    cost the result its last digits. Of other kernels the first channel says that there is none.
    """
    cdef Py_ssize_t of_row = f.at_w[1] if turned else f.at_w[0]
    cdef Py_ssize_t of_channel = f.at_w[0] if turned else f.at_w[1]
    cdef Py_ssize_t row, channel, i
    cdef const float* w
    cdef int seen
    for row in range(f.c if turned else f.o):
        seen = 0
        for channel in range(f.o if turned else f.c):
            w = <const float*>f.w + row * of_row + channel * of_channel
            for i in range(9):
                seen |= (w[i] != 0) << i
            if seen == 511:
                break
        if seen != 511 and seen != 0:
            return True
    return False


cdef int run_2x2(Form* f, bint image) noexcept nogil:
    cdef Tiles t
    cdef Py_ssize_t most, batches, i, d, blocks
    cdef int threads
    if lacks_taps(f, image):
        return 1
    if suits_4x4(f):
        return run_4x4(f, image)
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
    t.strip = products.width[KIND_F32]
    t.depth = round_up(parts(t.channels, parts(t.channels, DEPTH)), 8)
    t.depth = min(t.depth, t.channels)
    most = tiles_of_batch(&t, CACHED // (PLACES * t.channels * <Py_ssize_t>sizeof(float)), MOST)
    batches = parts(t.all, most)
    d = most + (t.channels if batches == 1 else 0)
    t.block = max(PRODUCTS // (PLACES * d * <Py_ssize_t>sizeof(float)) // BLOCK, 1) * BLOCK
    t.block = round_up(parts(t.rows, parts(t.rows, t.block)), BLOCK // 2)
    blocks = parts(t.rows, t.block)
    threads = team_size(0.125 * PLACES * t.all * t.channels * t.rows)
    t.v_step = t.channels * most + APART
    t.v = floats(PLACES * t.v_step)
    if t.v == NULL:
        return 1
    if batches > 1:
        t.u = floats(blocks * floats_of_taps(&t))
        if t.u == NULL:
            give_scratch(t.v)
            return 1
        parallel_for(taps_task, &t, blocks, threads)
    for i in range(batches):
        choose_batches(&t, i, most)
        parallel_for(image_task, &t, t.channels, threads)
        if t.failed:
            break
        parallel_for_dynamic(product_task, &t, blocks, threads)
        if t.failed:
            break
    give_scratch(t.u)
    give_scratch(t.v)
    return t.failed


cdef inline void count_tiles(Tiles* t) noexcept nogil:
    t.down, t.across = parts(t.high, 2), parts(t.wide, 2)
    t.each = t.down * t.across
    t.all = t.f.n * t.each


cdef inline Py_ssize_t tiles_of_batch(Tiles* t, Py_ssize_t wanted, Py_ssize_t most) noexcept nogil:
    """Tiles of a batch: about as many as wanted, in whole strips, and evenly dealt out."""
    wanted = min(max(wanted, <Py_ssize_t>(FEWEST if t.channels < MANY else 2 * FEWEST)), most)
    return min(round_up(parts(t.all, parts(t.all, wanted)), t.strip), most)


# --- gradients of weights -----------------------------------------------------------------------

cdef void gradient_task(void* ctx, Py_ssize_t number) noexcept nogil:
    """A strip of channels of y to the 16 places; the channels are neighbours there."""
    cdef Tiles* t = <Tiles*>ctx
    cdef Form* f = t.f
    cdef Py_ssize_t first = t.origin + number * t.strip, cols = min(t.strip, f.o - first)
    cdef Py_ssize_t line = 2 * t.across * t.strip, image = -1, row = -1, i, at
    cdef float* turned = floats(2 * line)
    cdef float* z = t.z + number * t.count * t.strip
    cdef Run r
    if turned == NULL:
        t.failed = 1
        return
    memset(turned, 0, <size_t>(2 * line) * sizeof(float))
    memset(&r, 0, sizeof(r))
    while next_run(t, &r, MOST):
        if r.image != image or r.row != row:
            image, row = r.image, r.row
            for i in range(2):
                if 2 * row + i >= t.high:
                    memset(turned + line, 0, <size_t>line * sizeof(float))
                    break
                at = image * f.at_y[0] + first * f.at_y[1] + (2 * row + i) * f.at_y[3]
                transforms.transposed(t.wide, cols, t.strip, <const float*>f.y + at, f.at_y[1],
                                      turned + i * line)
        transforms.output_gradient_2x2(turned + 2 * r.col * t.strip, line, r.count, t.strip,
                                       z + r.begin * t.strip, t.z_step)
    give_scratch(turned)


cdef void sum_task(void* ctx, Py_ssize_t number) noexcept nogil:
    """Some channels at one place, for the tiles at work."""
    cdef Tiles* t = <Tiles*>ctx
    cdef Py_ssize_t blocks = parts(t.channels, 2 * BLOCK), place = number // blocks
    cdef Py_ssize_t first = number % blocks * 2 * BLOCK
    products.multiply(
        KIND_F32, min(<Py_ssize_t>(2 * BLOCK), t.channels - first), t.filled, t.count, BY_ROWS,
        t.v + place * t.v_step + first * t.padded, t.padded, t.z + place * t.z_step, 1, t.first > 0,
        t.sums + place * t.sum_step + first * t.filled, t.filled)


cdef void weights_task(void* ctx, Py_ssize_t number) noexcept nogil:
    cdef Tiles* t = <Tiles*>ctx
    cdef Form* f = t.f
    cdef Py_ssize_t first = number * TAPS_TOGETHER
    cdef float probe
    probe = transforms.filter_gradient_2x2(
        t.sums + first * t.filled, t.sum_step, t.filled,
        min(<Py_ssize_t>TAPS_TOGETHER, t.channels - first), t.columns,
        <float*>f.w + t.origin * f.at_w[0] + first * 9, f.at_w[0])
    if probe != probe:
        t.failed = 1


cdef int run_2x2_weights(Form* f) noexcept nogil:
    cdef Tiles t
    cdef Py_ssize_t most, batches, i, d, some, origin
    cdef int threads
    if f.at_w[1] != 9:
        return 1
    if suits_4x4(f):
        return run_4x4_weights(f)
    if f.at_y[4] != 1:
        return 1
    memset(&t, 0, sizeof(t))
    t.f = f
    t.source, t.at_source, t.of_source = <const float*>f.x, f.at_x, f.of_x
    t.channels, t.high, t.wide = f.c, f.of_y[1], f.of_y[2]
    for d in range(2):
        t.pad[d] = f.pad[d + 1]
    count_tiles(&t)
    t.strip = products.width[KIND_F32]
    # More passes over few images cost less than sums that leave the second-level cache.
    some = SUMS if t.all > MOST_SUMMED else SUMS // 4
    some = max(some // (PLACES * t.channels * <Py_ssize_t>sizeof(float)) // t.strip, 1) * t.strip
    some = min(some, round_up(f.o, t.strip))
    most = tiles_of_batch(&t, CACHED // (PLACES * (t.channels + some) * <Py_ssize_t>sizeof(float)),
                          MOST_SUMMED)
    batches = parts(t.all, most)
    threads = team_size(0.125 * PLACES * t.all * t.channels * f.o)
    t.v_step = t.channels * most + APART
    t.z_step = some * most + APART
    t.sum_step = t.channels * some + APART
    t.v = floats(PLACES * t.v_step)
    t.z = floats(PLACES * t.z_step)
    t.sums = floats(PLACES * t.sum_step)
    if t.v == NULL or t.z == NULL or t.sums == NULL:
        t.failed = 1
    for origin from 0 <= origin < f.o by some:
        if t.failed:
            break
        t.origin, t.columns = origin, min(some, f.o - origin)
        t.filled = round_up(t.columns, t.strip // 2)
        for i in range(batches):
            choose_batches(&t, i, most)
            # One batch is transformed once, whatever columns it is multiplied by.
            if batches > 1 or t.origin == 0:
                d = t.strip
                t.strip, t.depth = t.padded, t.channels
                parallel_for(image_task, &t, t.channels, threads)
                t.strip = d
            parallel_for(gradient_task, &t, parts(t.columns, t.strip), threads)
            if t.failed:
                break
            parallel_for_dynamic(
                sum_task, &t, PLACES * parts(t.channels, 2 * BLOCK), threads)
        if not t.failed:
            parallel_for(weights_task, &t, parts(t.channels, TAPS_TOGETHER), threads)
    give_scratch(t.sums)
    give_scratch(t.z)
    give_scratch(t.v)
    return t.failed
