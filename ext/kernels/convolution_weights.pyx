# cython: language_level=3
"""Gradients of the weights of convolutions.

Each is a sum over all places of the result. The channels of y are columns, side by side in vectors;
a row is a tap of a channel of x, whose elements lie in the padded images at a fixed distance from
those of another, so they are used from there. If there are few columns, vectors go along the places
instead (`dots`). Sums run over the images in their order, whatever the number of threads.
"""
from libc.stdlib cimport free
from libc.string cimport memset

from autograd_cy._C.convolution_loops cimport CONV_F64
from autograd_cy._C.convolution_plan cimport Form, Planes, fill_channel, lay_out, loops, trim
from autograd_cy._C.gemm_product cimport parts
from autograd_cy._C.parallel cimport parallel_for, parallel_for_dynamic, team_size
from autograd_cy._C.scratch cimport allocate, give_scratch, take_scratch
from autograd_cy._C.winograd_2x2 cimport run_2x2_weights, suits_2x2

__all__: list[str] = []

cdef enum:
    # Bytes of images that are worked on together.
    CACHED = 1 << 20
    MOST_TAPS = 8
    # Most results whose weights are stored together, and how many weights of each.
    SOME = 32
    LINE = 96
    # Bytes of sums that are at work.
    SUMS = 1 << 22

ctypedef struct Sums:
    Form* f
    Planes p
    Py_ssize_t volume           # taps of a channel
    Py_ssize_t channels         # real ones of a group
    Py_ssize_t origin           # the first column of those at work
    Py_ssize_t columns
    Py_ssize_t width            # columns filled up to vectors
    Py_ssize_t places           # results of an image
    Py_ssize_t bases            # first taps of neighbours; by their number of taps
    Py_ssize_t begins[9]        # of those with that many taps, and of the next
    Py_ssize_t* base            # where its elements are
    Py_ssize_t rows
    Py_ssize_t* row             # of each tap of each channel: its row among the sums
    Py_ssize_t runs             # rows of results in a batch, or as much of them as lies together
    Py_ssize_t length
    Py_ssize_t* at              # where the run's elements are, for the tap at 0
    Py_ssize_t batches
    char* sums                  # of all groups, by strips of columns
    # One group in one batch.
    char* planes
    char* values                # y, by strips of columns
    Py_ssize_t group
    Py_ssize_t image
    Py_ssize_t images
    Py_ssize_t cuts             # tasks of a block, and columns of each
    Py_ssize_t cut
    bint dots
    int threads
    int failed


cdef int find_rows(Sums* t) noexcept nogil:
    """Neighbouring taps of one row of the kernel become one base."""
    cdef Form* f = t.f
    cdef Planes* p = &t.p
    cdef Py_ssize_t i, j, q, c, taps, count, at, first, row = 0, n, pad, tap, _
    cdef Py_ssize_t most = min(loops.taps, MOST_TAPS)
    cdef Py_ssize_t* place
    cdef Py_ssize_t* next_one
    cdef Py_ssize_t* length
    # Along one row of the kernel: where each tap is, the tap beside it, how many belong together.
    place = <Py_ssize_t*>allocate(3 * f.k[2], sizeof(Py_ssize_t))
    if place == NULL:
        return -1
    next_one = place + f.k[2]
    length = next_one + f.k[2]
    for q in range(f.k[2]):
        at = q * f.dil[2]
        place[q] = at % p.step[2] * p.phase + at // p.step[2]
        length[q] = 1
    for q in range(f.k[2]):
        # The tap whose place is one further, if there is one.
        next_one[q] = -1
        for j in range(q + 1, f.k[2]):
            if place[j] == place[q] + 1:
                next_one[q] = j
                break
    for q in range(f.k[2]):
        if length[q] == 0:
            continue
        j = q
        while next_one[j] >= 0 and length[q] < most:
            j = next_one[j]
            length[j] = 0
            length[q] += 1
    # Bases are filled up to whole blocks for each number of taps.
    n = t.channels * f.k[0] * f.k[1]
    count = 0
    for q in range(f.k[2]):
        count += length[q] != 0
    t.base = <Py_ssize_t*>allocate(n * count + (MOST_TAPS + 1) * loops.rows, sizeof(Py_ssize_t))
    t.row = <Py_ssize_t*>allocate(t.channels * t.volume, sizeof(Py_ssize_t))
    if t.base == NULL or t.row == NULL:
        free(place)
        return -1
    t.bases = 0
    for taps in range(1, MOST_TAPS + 1):
        t.begins[taps - 1] = t.bases
        for c in range(t.channels):
            for i in range(f.k[0]):
                for j in range(f.k[1]):
                    first = ((i * f.dil[0] % p.step[0] * p.phases[1] + j * f.dil[1] % p.step[1])
                             * p.phases[2] * p.phase + i * f.dil[0] // p.step[0] * p.layer
                             + j * f.dil[1] // p.step[1] * p.row + c * p.channel)
                    for q in range(f.k[2]):
                        if length[q] != taps:
                            continue
                        t.base[t.bases] = first + place[q]
                        t.bases += 1
                        tap = q
                        for _ in range(taps):
                            t.row[(c * f.k[0] + i) * f.k[1] * f.k[2] + j * f.k[2] + tap] = row
                            row += 1
                            tap = next_one[tap]
        pad = parts(t.bases - t.begins[taps - 1], bases_of(taps)) * bases_of(taps)
        pad -= t.bases - t.begins[taps - 1]
        for _ in range(pad):
            t.base[t.bases] = t.base[t.bases - 1]
            t.bases += 1
            row += taps
    t.begins[MOST_TAPS] = t.bases
    t.rows = row
    free(place)
    return 0


cdef int find_dots(Sums* t) noexcept nogil:
    """Every tap is a base of its own, in the order of the weights."""
    cdef Form* f = t.f
    cdef Planes* p = &t.p
    cdef Py_ssize_t c, i, j, q, row = 0, u
    t.rows = t.channels * t.volume
    t.base = <Py_ssize_t*>allocate(t.rows, sizeof(Py_ssize_t))
    t.row = <Py_ssize_t*>allocate(t.rows, sizeof(Py_ssize_t))
    if t.base == NULL or t.row == NULL:
        return -1
    for c in range(t.channels):
        for i in range(f.k[0]):
            for j in range(f.k[1]):
                for q in range(f.k[2]):
                    u = q * f.dil[2]
                    t.base[row] = (
                        ((i * f.dil[0] % p.step[0] * p.phases[1] + j * f.dil[1] % p.step[1])
                         * p.phases[2] + u % p.step[2]) * p.phase
                        + i * f.dil[0] // p.step[0] * p.layer + j * f.dil[1] // p.step[1] * p.row
                        + u // p.step[2] + c * p.channel)
                    t.row[row] = row
                    row += 1
    return 0


cdef inline Py_ssize_t bases_of(Py_ssize_t taps) noexcept nogil:
    """Bases of a block, as in scalar/conv_micro_body.h."""
    return max(loops.rows // taps, <Py_ssize_t>1)


cdef int find_runs(Sums* t) noexcept nogil:
    cdef Form* f = t.f
    cdef Planes* p = &t.p
    cdef Py_ssize_t i, z, y, run = 0
    cdef Py_ssize_t layers = f.of_y[0], rows = f.of_y[1]
    t.length = f.of_y[2]
    if p.row == t.length or rows == 1:
        if p.row == t.length:
            t.length *= rows
            rows = 1
            if p.layer == t.length or layers == 1:
                t.length *= layers
                layers = 1
    t.at = <Py_ssize_t*>allocate(p.images * layers * rows, sizeof(Py_ssize_t))
    if t.at == NULL:
        return -1
    for i in range(p.images):
        for z in range(layers):
            for y in range(rows):
                t.at[run] = i * p.image + z * p.layer + y * p.row
                run += 1
    t.runs = layers * rows
    return 0


cdef inline Py_ssize_t strips_of(const Sums* t) noexcept nogil:
    """Strips of columns; with dots all are one."""
    return 1 if t.dots else parts(t.width, 2 * loops.lanes[t.f.kind])


cdef void fill_values(Sums* t, Py_ssize_t group, Py_ssize_t image, Py_ssize_t images,
                      Py_ssize_t one, Py_ssize_t strip, char* values) noexcept nogil:
    """A strip of y of image `one` of a batch."""
    cdef Form* f = t.f
    cdef Py_ssize_t lanes = loops.lanes[f.kind], col = strip * 2 * lanes, width, z, y, cols
    cdef Py_ssize_t layers = f.of_y[0], rows = f.of_y[1], n = f.of_y[2]
    cdef const char* s
    cdef char* r
    if rows == 1 or f.at_y[3] == n * f.at_y[4]:
        n *= rows
        rows = 1
    if rows == 1 and (layers == 1 or f.at_y[2] == n * f.at_y[4]):
        n *= layers
        layers = 1
    if t.dots:
        # Column after column, place after place.
        for col in range(t.columns):
            r = values + (col * value_step(t) + one * t.places) * f.wide
            for z in range(layers):
                for y in range(rows):
                    s = f.y + ((image + one) * f.at_y[0] + (t.origin + col) % f.unit
                               + (group * f.o + (t.origin + col) // f.unit) * f.at_y[1]
                               + z * f.at_y[2] + y * f.at_y[3]) * f.size
                    loops.widen(f.dt, s, f.at_y[4], n, r)
                    r += n * f.wide
        return
    width = min(2 * lanes, t.width - col)
    cols = min(width, t.columns - col)
    r = values + (col * images + one * width) * t.places * f.wide
    for z in range(layers):
        for y in range(rows):
            s = f.y + ((image + one) * f.at_y[0] + group * f.o * f.at_y[1]
                       + z * f.at_y[2] + y * f.at_y[3]) * f.size
            loops.columns(f.dt, f.unit, t.origin + col, cols, width, n, s, f.at_y[1],
                          f.at_y[4], r)
            r += n * width * f.wide


cdef inline Py_ssize_t value_step(Sums* t) noexcept nogil:
    """Distance of the columns of y; a vector beyond its end may be read."""
    return t.p.images * t.places + loops.lanes[t.f.kind]


cdef void dot_block(Sums* t, Py_ssize_t images, Py_ssize_t first, const char* planes,
                    const char* values) noexcept nogil:
    """Some taps, for all columns."""
    cdef Form* f = t.f
    cdef Py_ssize_t col, cols, rows = min(<Py_ssize_t>loops.rows, t.rows - first)
    for col in range(0, t.columns, 2):
        cols = min(<Py_ssize_t>2, t.columns - col)
        loops.dot(
            f.kind, <int>rows, <int>cols, images * t.runs, t.length, planes, t.at, t.base + first,
            values + col * value_step(t) * f.wide, value_step(t),
            t.sums + (t.group * t.rows * t.width + col * t.rows + first) * f.wide, t.rows)


cdef void fill_plane(Sums* t, Py_ssize_t group, Py_ssize_t image, Py_ssize_t images, Py_ssize_t c,
                     char* planes) noexcept nogil:
    cdef Form* f = t.f
    fill_channel(
        f, &t.p, f.x + ((group * f.c + c // f.unit) * f.at_x[1] + c % f.unit) * f.size, f.at_x,
        f.of_x, image, images, planes + c * t.p.channel * f.wide)


cdef void add_block(Sums* t, Py_ssize_t group, Py_ssize_t images, Py_ssize_t taps,
                    Py_ssize_t base, Py_ssize_t row, Py_ssize_t col, Py_ssize_t last,
                    const char* planes, const char* values) noexcept nogil:
    """One block of bases, for the columns from `col` on."""
    cdef Form* f = t.f
    cdef Py_ssize_t lanes = loops.lanes[f.kind], width
    for col from col <= col < last by 2 * lanes:
        width = min(2 * lanes, t.width - col)
        loops.tap(
            f.kind, <int>taps, <int>(width // lanes), images * t.runs, t.length, planes, t.at,
            t.base + base, values + col * images * t.places * f.wide,
            t.sums + (group * t.rows * t.width + col * t.rows + row * width) * f.wide, width)


cdef void fill_task(void* ctx, Py_ssize_t index) noexcept nogil:
    cdef Sums* t = <Sums*>ctx
    cdef Py_ssize_t strips = strips_of(t)
    if index < t.images * strips:
        fill_values(t, t.group, t.image, t.images, index // strips, index % strips, t.values)
    else:
        fill_plane(t, t.group, t.image, t.images, index - t.images * strips, t.planes)


cdef void block_task(void* ctx, Py_ssize_t index) noexcept nogil:
    """The block of this number, for the columns of this number."""
    cdef Sums* t = <Sums*>ctx
    cdef Py_ssize_t taps, count, row = 0, col, last
    col = index % t.cuts * t.cut
    last = min(col + t.cut, t.width)
    index //= t.cuts
    if t.dots:
        dot_block(t, t.images, index * loops.rows, t.planes, t.values)
        return
    for taps in range(1, MOST_TAPS + 1):
        count = (t.begins[taps] - t.begins[taps - 1]) // bases_of(taps)
        if index < count:
            add_block(
                t, t.group, t.images, taps, t.begins[taps - 1] + index * bases_of(taps),
                row + index * bases_of(taps) * taps, col, last, t.planes, t.values)
            return
        index -= count
        row += count * bases_of(taps) * taps


cdef inline Py_ssize_t count_blocks(Sums* t) noexcept nogil:
    cdef Py_ssize_t taps, count = 0
    if t.dots:
        return parts(t.rows, loops.rows)
    for taps in range(1, MOST_TAPS + 1):
        count += (t.begins[taps] - t.begins[taps - 1]) // bases_of(taps)
    return count


cdef inline Py_ssize_t floats_of_planes(Sums* t) noexcept nogil:
    return parts(t.channels * t.p.channel * t.f.wide, 64) * 64


cdef void run_group(Sums* t, Py_ssize_t group, int threads) noexcept nogil:
    """All batches of a group."""
    cdef Sums own = t[0]
    cdef Form* f = t.f
    cdef Py_ssize_t batch
    own.planes = <char*>take_scratch(<size_t>(
        floats_of_planes(t) + t.width * value_step(t) * f.wide + 64))
    if own.planes == NULL:
        t.failed = 1
        return
    own.values = own.planes + floats_of_planes(t)
    own.group = group
    memset(own.planes, 0, <size_t>floats_of_planes(t))
    # Few blocks don't keep threads busy: then each strip of columns is a task.
    own.cut, own.cuts = t.width, 1
    if threads > 1 and count_blocks(t) < 8 * threads and not t.dots:
        own.cut, own.cuts = 2 * loops.lanes[f.kind], strips_of(t)
    for batch in range(t.batches):
        own.image = batch * t.p.images
        own.images = min(t.p.images, f.n - own.image)
        parallel_for_dynamic(
            fill_task, &own, t.channels + own.images * strips_of(t), threads)
        parallel_for_dynamic(block_task, &own, count_blocks(t) * own.cuts, threads)
    give_scratch(own.planes)


cdef void group_task(void* ctx, Py_ssize_t index) noexcept nogil:
    run_group(<Sums*>ctx, index, 1)


ctypedef fused number:
    float
    double
    unsigned long long


cdef void join_parts(number* lines, const number* sums, Sums* t, Py_ssize_t width,
                     Py_ssize_t count, Py_ssize_t first, Py_ssize_t length) noexcept nogil:
    """Some weights of `count` results, a line for each, in the computing type."""
    cdef Py_ssize_t q, j, c, tap
    cdef Py_ssize_t row_step = 1 if t.dots else width, step = t.rows if t.dots else 1
    cdef const number* a
    cdef const number* b
    for q in range(length):
        if t.f.unit == 1:
            a = sums + t.row[first + q] * row_step
            for j in range(count):
                lines[j * LINE + q] = a[j * step]
            continue
        c, tap = (first + q) // t.volume, (first + q) % t.volume
        a = sums + t.row[2 * c * t.volume + tap] * row_step
        b = sums + t.row[(2 * c + 1) * t.volume + tap] * row_step
        for j in range(count):
            lines[j * LINE + 2 * q] = a[2 * j * step] - b[(2 * j + 1) * step]
            lines[j * LINE + 2 * q + 1] = a[(2 * j + 1) * step] + b[2 * j * step]


cdef void put_line(Form* f, const char* line, Py_ssize_t first, Py_ssize_t length,
                   char* to) noexcept nogil:
    """Weights from number `first` on of one result, which begins at `to`."""
    cdef Py_ssize_t q, row = f.k[2], volume = f.k[0] * f.k[1] * f.k[2], rest, now
    if (f.unit == 1 and f.at_w[1] == volume and (row == 1 or f.at_w[4] == 1)
            and (f.k[1] == 1 or f.at_w[3] == row)
            and (f.k[0] == 1 or f.at_w[2] == f.k[1] * row)):
        loops.narrow(f.dt, line, length, to + first * f.size, 1)
        return
    q = first
    while q < first + length:
        rest = q % volume
        now = min(row - rest % row, first + length - q)
        if f.unit == 2:
            now = 1
        loops.narrow(
            f.dt, line + (q - first) * f.unit * f.wide, now * f.unit,
            to + (q // volume * f.at_w[1] + rest // (f.k[1] * row) * f.at_w[2]
                  + rest // row % f.k[1] * f.at_w[3] + rest % row * f.at_w[4]) * f.size,
            f.at_w[4] if f.unit == 1 else 1)
        q += now


cdef void store_task(void* ctx, Py_ssize_t index) noexcept nogil:
    """The weights of a strip of columns, from the sums."""
    cdef Sums* t = <Sums*>ctx
    cdef Form* f = t.f
    cdef Py_ssize_t strip = 2 * loops.lanes[f.kind], strips = parts(t.columns, strip)
    cdef Py_ssize_t group = index // strips, col = index % strips * strip
    cdef Py_ssize_t width = min(strip, t.width - col), j, q, all = f.c * t.volume
    cdef Py_ssize_t count = min(strip, t.columns - col) // f.unit, o = (t.origin + col) // f.unit
    cdef Py_ssize_t length, most = LINE // f.unit
    cdef char* sums = t.sums + (group * t.rows * t.width + col * t.rows) * f.wide
    cdef double[SOME * LINE] lines
    for q from 0 <= q < all by most:
        length = min(most, all - q)
        if f.unit == 1 and not t.dots:
            loops.lines(f.kind, length, count, sums, t.row + q, width, lines, LINE)
        elif f.wide == 4:
            join_parts(<float*>lines, <float*>sums, t, width, count, q, length)
        elif f.kind == CONV_F64:
            join_parts(<double*>lines, <double*>sums, t, width, count, q, length)
        else:
            join_parts(<unsigned long long*>lines, <unsigned long long*>sums, t, width, count, q,
                       length)
        for j in range(count):
            put_line(f, <char*>lines + j * LINE * f.wide, q, length,
                     f.w + (group * f.o + o + j) * f.at_w[0] * f.size)


cdef int prepare(Sums* t) noexcept nogil:
    cdef Form* f = t.f
    cdef Py_ssize_t lanes = loops.lanes[f.kind], one, d, count, group, all = f.o * f.unit, most
    cdef Py_ssize_t origin
    cdef double work
    for d in range(3):
        t.p.lead[d] = f.pad[d]
        t.p.step[d] = f.stride[d]
        t.p.phases[d] = min(f.stride[d], (f.k[d] - 1) * f.dil[d] + 1)
        t.p.extent[d] = f.of_y[d] + (f.k[d] - 1) * f.dil[d] // f.stride[d]
        t.p.need[d] = f.of_y[d]
    t.volume = f.k[0] * f.k[1] * f.k[2]
    t.channels = f.c * f.unit
    t.columns = all
    t.width = parts(all, lanes) * lanes
    t.places = f.of_y[0] * f.of_y[1] * f.of_y[2]
    lay_out(&t.p, f.of_x, 1, lanes)
    d = t.p.phases[0] * t.p.phases[1] * t.p.phases[2] * t.channels
    one = (d * t.p.image + t.places * t.width) * f.wide
    # It depends on the shapes alone, as sums of batches are added.
    count = (CACHED - d * (t.p.phase - t.p.image) * f.wide) // max(one, <Py_ssize_t>1)
    count = max(min(f.n, count), <Py_ssize_t>1)
    lay_out(&t.p, f.of_x, count, lanes)
    t.batches = parts(f.n, count)
    # Two columns share what is read of x; with more, columns side by side take fewer steps.
    t.dots = (1.3 * t.columns * (parts(f.of_y[2], lanes) * lanes) * f.of_y[0] * f.of_y[1]
              < <double>t.width * t.places)
    if (find_dots(t) if t.dots else find_rows(t)) < 0 or find_runs(t) < 0:
        return -1
    work = 0.125 * f.n * f.groups * all * t.channels * t.volume * t.places
    t.threads = team_size(work)
    # Some strips of columns at a time: their sums stay in cache.
    most = max(SUMS // max(f.groups * t.rows * f.wide, <Py_ssize_t>1) // (2 * lanes),
               <Py_ssize_t>1) * 2 * lanes
    t.sums = <char*>take_scratch(<size_t>(
        f.groups * t.rows * min(most, parts(all, lanes) * lanes) * f.wide + 64))
    if t.sums == NULL:
        return -1
    for origin from 0 <= origin < all by most:
        t.origin = origin
        t.columns = min(most, all - t.origin)
        t.width = t.columns if t.dots else parts(t.columns, lanes) * lanes
        memset(t.sums, 0, <size_t>(f.groups * t.rows * t.width * f.wide))
        if t.places and f.groups >= t.threads and t.threads > 1:
            parallel_for_dynamic(group_task, t, f.groups, t.threads)
        elif t.places:
            for group in range(f.groups):
                run_group(t, group, t.threads)
        parallel_for(store_task, t, f.groups * parts(t.columns, 2 * lanes),
                     min(t.threads, team_size(2.0 * f.groups * t.columns * f.c * t.volume)))
    return 0


cdef void clear(const Form* f) noexcept nogil:
    """Zeros for all weights."""
    cdef Py_ssize_t o, c, i, j, q, volume = f.k[0] * f.k[1] * f.k[2], at
    cdef Py_ssize_t size = f.size * f.unit
    cdef bint dense = (
        f.at_w[1] == volume * f.unit and (f.k[2] == 1 or f.at_w[4] == f.unit)
        and (f.k[1] == 1 or f.at_w[3] == f.k[2] * f.unit)
        and (f.k[0] == 1 or f.at_w[2] == f.k[1] * f.k[2] * f.unit))
    for o in range(f.groups * f.o):
        if dense:
            memset(f.w + o * f.at_w[0] * f.size, 0, <size_t>(f.c * volume * size))
            continue
        for c in range(f.c):
            for i in range(f.k[0]):
                for j in range(f.k[1]):
                    for q in range(f.k[2]):
                        at = o * f.at_w[0] + c * f.at_w[1] + i * f.at_w[2] + j * f.at_w[3]
                        memset(f.w + (at + q * f.at_w[4]) * f.size, 0, <size_t>size)


cdef int run_weights(Form* f) noexcept nogil:
    cdef Sums t
    cdef int status
    cdef Form all = f[0]
    memset(&t, 0, sizeof(t))
    if trim(f):
        clear(&all)
    elif suits_2x2(f) and run_2x2_weights(f) == 0:
        return 0
    t.f = f
    status = prepare(&t)
    free(t.base)
    free(t.row)
    free(t.at)
    give_scratch(t.sums)
    return status < 0 or t.failed
