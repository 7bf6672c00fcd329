# cython: language_level=3
"""Convolutions of small images, whose channels of results are the lanes of vectors; float32.

Vectors along the rows of images (convolution.pyx) have lanes that are of no use where a row is no
whole number of vectors, and the images have to lie in phases if there is a step. Here the weights
of some channels are a vector, and an element of the images is multiplied by all of them
(scalar/conv_lanes.h). Images without a margin are read as they lie. An element is the same sum, in
the same order, as the one of the other way.
"""
from libc.stdlib cimport free
from libc.string cimport memset

from autograd_cy._C.convolution_loops cimport CONV_F32
from autograd_cy._C.convolution_plan cimport Form, loops
from autograd_cy._C.dtypes cimport DT_F32
from autograd_cy._C.parallel cimport parallel_for_dynamic, team_size
from autograd_cy._C.scratch cimport allocate, give_scratch, take_scratch
from autograd_cy._C.sizes cimport parts, round_up

__all__: list[str] = []

cdef enum:
    # Places of a tile of results.
    TILE = 112
    # Images of more channels are copied where neighbours among them are a multiple of so many
    # elements apart: they would be in the same places of the first-level cache.
    FEW = 8
    ALIASED = 256
    # Most elements of an image with margins, for each one of the image.
    MOST_MARGINS = 16
    # Vectors of sums that don't wait for each other.
    ENOUGH = 7
    # Bytes of weights: of one vector that stay in the first-level cache, and of all.
    NEAR = 1 << 15
    STREAMED = 3 << 18

ctypedef struct Channels:
    const Form* f
    bint turned                 # taps count from the last one
    Py_ssize_t group            # distance of the weights of groups
    Py_ssize_t taps
    Py_ssize_t* off             # of each tap, in an image as it is read
    float* weights              # by groups, blocks of channels, taps, and lanes
    float* first                # what the results of a channel begin with
    bint margins                # images are copied, with zeros around them
    Py_ssize_t at[5]            # distances of images, channels, layers, rows and columns, as read
    Py_ssize_t size             # elements of an image with margins
    Py_ssize_t width            # channels of a group in whole vectors
    Py_ssize_t images           # of a task
    Py_ssize_t block_parts      # tasks that share the channels of a group
    int failed


cdef inline bint turn(const Form* f, Form* g) noexcept nogil:
    """Describe x from y as y from x: return whether it is one, with taps from the last to the
    first."""
    cdef int d
    g[0] = f[0]
    g.x, g.y, g.c, g.o = f.y, f.x, f.o, f.c
    g.at_w[0], g.at_w[1] = f.at_w[1], f.at_w[0]
    for d in range(5):
        g.at_x[d], g.at_y[d] = f.at_y[d], f.at_x[d]
    for d in range(3):
        g.of_x[d], g.of_y[d] = f.of_y[d], f.of_x[d]
        g.pad[d] = (f.k[d] - 1) * f.dil[d] - f.pad[d]
        if f.stride[d] != 1 or g.pad[d] < 0:
            return False
    return True


cdef bint suits_channels(const Form* f, bint image) noexcept nogil:
    cdef Form turned
    if image:
        return turn(f, &turned) and suits(&turned)
    return suits(f)


cdef bint suits(const Form* f) noexcept nogil:
    cdef Py_ssize_t lanes = loops.lanes[CONV_F32], width = f.of_y[2], pieces, sums, taps
    cdef double size = 1, copied = 1
    cdef int d
    taps = f.k[0] * f.k[1] * f.k[2]
    if f.dt != DT_F32 or f.unit != 1 or lanes < 8 or f.stride[2] > 2:
        return False
    # Lanes that are of no use; and weights that are best read once for many images.
    if 4 * f.o < 3 * round_up(f.o, lanes):
        return False
    if <double>f.o * f.c * taps * sizeof(float) > STREAMED:
        return False
    # With few registers, one tap, or one vector for each element that is read, rows of whole
    # vectors are as good; so are long ones where that vector comes from far.
    if (f.stride[2] == 1 and (f.o <= lanes or loops.held < 2 * ENOUGH or taps == 1)
            and 10 * width >= 9 * round_up(width, lanes)):
        return False
    if (f.o <= lanes and width > 2 * lanes
            and taps * f.c * lanes * <Py_ssize_t>sizeof(float) > NEAR):
        return False
    # Sums that wait for each other.
    pieces = parts(width, loops.held)
    if 2 * width > loops.held:
        sums = width // pieces * (1 if f.o <= lanes else 2)
    else:
        sums = 2 * width * (1 if f.o <= lanes else 2)
    if sums < ENOUGH:
        return False
    for d in range(3):
        if f.of_x[d] == 0 or f.of_y[d] == 0 or f.stride[d] > (f.k[d] - 1) * f.dil[d] + 1:
            return False
        size *= f.of_x[d]
        copied *= (f.of_y[d] - 1.0) * f.stride[d] + (f.k[d] - 1.0) * f.dil[d] + 1
    if copied > MOST_MARGINS * size:
        return False
    # Results in order.
    return (f.c > 0 and f.at_y[4] == 1 and (f.of_y[1] == 1 or f.at_y[3] == width)
            and (f.of_y[0] == 1 or f.at_y[2] == f.of_y[1] * width))


cdef inline void fill_image(Channels* t, const float* source, float* to) noexcept nogil:
    """The channels of a group of one image; margins are there."""
    cdef const Form* f = t.f
    cdef Py_ssize_t[3] last
    cdef Py_ssize_t c, z, _
    cdef const float* s
    cdef float* d
    cdef int i
    for i in range(3):
        # Elements behind the last window are left out.
        last[i] = min(f.of_x[i], (f.of_y[i] - 1) * f.stride[i] + (f.k[i] - 1) * f.dil[i] + 1
                      - f.pad[i])
    if last[2] <= 0:
        return
    for c in range(f.c):
        for z in range(last[0]):
            s = source + c * f.at_x[1] + z * f.at_x[2]
            d = (to + c * t.at[1] + (z + f.pad[0]) * t.at[2] + f.pad[1] * t.at[3] + f.pad[2])
            for _ in range(last[1]):
                loops.widen(DT_F32, s, f.at_x[4], last[2], d)
                s += f.at_x[3]
                d += t.at[3]


cdef void compute_image(Channels* t, const float* x, float* y, Py_ssize_t group, Py_ssize_t begin,
                        Py_ssize_t end, float* tile) noexcept nogil:
    """Some channels of a group of one image."""
    cdef const Form* f = t.f
    cdef Py_ssize_t lanes = loops.lanes[CONV_F32], c = begin, z, i, j, rows, cols, most, wide
    cdef Py_ssize_t some = max(TILE // f.of_y[2] // 2 * 2, <Py_ssize_t>1), channels
    cdef Py_ssize_t step = f.stride[2] * t.at[4]
    cdef int vecs
    most = f.of_y[2]
    if most > TILE:
        most = parts(most, parts(most, TILE))
    if some > 1:
        some = parts(f.of_y[1], parts(f.of_y[1], some))
        if some > 1 and some < f.of_y[1]:
            some += some & 1
    while c < end:
        vecs = 2 if end - c > lanes else 1
        wide = vecs * lanes
        channels = min(wide, f.o - c)
        for z in range(f.of_y[0]):
            for i from 0 <= i < f.of_y[1] by some:
                rows = min(some, f.of_y[1] - i)
                for j from 0 <= j < f.of_y[2] by most:
                    cols = min(most, f.of_y[2] - j)
                    loops.by_channels(
                        vecs, <int>step, rows, cols, t.taps,
                        t.weights + (group * t.width + c) * t.taps, t.off,
                        t.first + group * t.width + c,
                        x + z * f.stride[0] * t.at[2] + i * f.stride[1] * t.at[3] + j * step,
                        f.stride[1] * t.at[3], tile)
                    loops.to_images(
                        rows * cols, channels, tile, wide,
                        y + (group * f.o + c) * f.at_y[1] + z * f.at_y[2] + i * f.at_y[3] + j,
                        f.at_y[1])
        c += wide


cdef void channels_task(void* ctx, Py_ssize_t index) noexcept nogil:
    """Some images, one group, and some blocks of its channels."""
    cdef Channels* t = <Channels*>ctx
    cdef const Form* f = t.f
    cdef Py_ssize_t lanes = loops.lanes[CONV_F32], blocks = parts(t.width, 2 * lanes), image
    cdef Py_ssize_t part = index % t.block_parts, group = index // t.block_parts % f.groups
    cdef Py_ssize_t start = index // t.block_parts // f.groups * t.images
    cdef Py_ssize_t begin = part * blocks // t.block_parts * 2 * lanes
    cdef Py_ssize_t end = min((part + 1) * blocks // t.block_parts * 2 * lanes, t.width)
    cdef Py_ssize_t size = round_up(t.size, 16)
    cdef const float* x
    cdef float* tile
    cdef float* space = <float*>take_scratch(
        <size_t>(size + (TILE + lanes) * 2 * lanes) * sizeof(float))
    if space == NULL:
        t.failed = 1
        return
    tile = space + size
    if t.margins:
        memset(space, 0, <size_t>size * sizeof(float))
    for image in range(start, min(start + t.images, f.n)):
        x = <const float*>f.x + image * f.at_x[0] + group * f.c * f.at_x[1]
        if t.margins:
            fill_image(t, x, space)
            x = space
        compute_image(t, x, <float*>f.y + image * f.at_y[0], group, begin, end, tile)
    give_scratch(space)


cdef int prepare(Channels* t) noexcept nogil:
    """Taps, weights in the order of reading, and how images are read."""
    cdef const Form* f = t.f
    cdef Py_ssize_t lanes = loops.lanes[CONV_F32], group, c, wide, channels, i, j, m, p, q
    cdef Py_ssize_t a, b
    cdef const float* w
    cdef float* to
    cdef Py_ssize_t* from_weights
    cdef int d
    for d in range(3):
        # Of an image that no window reads to its end, gradients lie behind those of windows, too.
        t.margins = (t.margins or f.pad[d] > 0
                     or (f.of_y[d] - 1) * f.stride[d] + (f.k[d] - 1) * f.dil[d] >= f.of_x[d])
    if f.at_x[4] != 1 or f.c > FEW and f.at_x[1] % ALIASED == 0:
        t.margins = True
    for d in range(5):
        t.at[d] = f.at_x[d]
    t.size = 0
    if t.margins:
        t.at[4] = 1
        t.at[3] = (f.of_y[2] - 1) * f.stride[2] + (f.k[2] - 1) * f.dil[2] + 1
        t.at[2] = t.at[3] * ((f.of_y[1] - 1) * f.stride[1] + (f.k[1] - 1) * f.dil[1] + 1)
        t.at[1] = t.at[2] * ((f.of_y[0] - 1) * f.stride[0] + (f.k[0] - 1) * f.dil[0] + 1)
        if t.at[1] % ALIASED == 0:
            t.at[1] += 16
        t.at[0] = t.size = f.c * t.at[1]
    t.taps = f.c * f.k[0] * f.k[1] * f.k[2]
    t.width = round_up(f.o, lanes)
    t.off = <Py_ssize_t*>allocate(2 * t.taps, sizeof(Py_ssize_t))
    t.weights = <float*>take_scratch(
        <size_t>(f.groups * t.width * (t.taps + 1)) * sizeof(float))
    if t.off == NULL or t.weights == NULL:
        return -1
    from_weights = t.off + t.taps
    t.first = t.weights + f.groups * t.width * t.taps
    p = 0
    for c in range(f.c):
        for i in range(f.k[0]):
            for j in range(f.k[1]):
                for m in range(f.k[2]):
                    a, b, q = i, j, m
                    if t.turned:
                        a, b, q = f.k[0] - 1 - i, f.k[1] - 1 - j, f.k[2] - 1 - m
                    t.off[p] = (c * t.at[1] + a * f.dil[0] * t.at[2] + b * f.dil[1] * t.at[3]
                                + q * f.dil[2] * t.at[4])
                    from_weights[p] = (c * f.at_w[1] + i * f.at_w[2] + j * f.at_w[3]
                                       + m * f.at_w[4])
                    p += 1
    for group in range(f.groups):
        c = 0
        while c < f.o:
            wide = 2 * lanes if t.width - c > lanes else lanes
            channels = min(wide, f.o - c)
            w = <const float*>f.w + group * t.group + c * f.at_w[0]
            to = t.weights + (group * t.width + c) * t.taps
            if channels == wide:
                loops.pack(DT_F32, 1, 0, wide, t.taps, w, f.at_w[0], from_weights, to)
            else:
                for p in range(t.taps):
                    for q in range(wide):
                        to[p * wide + q] = (w[q * f.at_w[0] + from_weights[p]] if q < channels
                                            else 0)
            c += wide
        for c in range(t.width):
            t.first[group * t.width + c] = (
                (<const float*>f.bias)[(group * f.o + c) * f.bias_step]
                if f.bias != NULL and c < f.o else 0)
    return 0


cdef int run_channels(const Form* f, bint image) noexcept nogil:
    cdef Channels t
    cdef Form turned
    cdef double work = 0.125 * f.n * f.groups * f.o * f.c
    cdef Py_ssize_t threads
    cdef int d
    memset(&t, 0, sizeof(t))
    t.turned = image
    t.group = f.o * f.at_w[0]
    if image:
        turn(f, &turned)
        f = &turned
    t.f = f
    for d in range(3):
        work *= f.of_y[d] * f.k[d]
    threads = team_size(work)
    t.images = max(f.n * f.groups // (4 * threads), <Py_ssize_t>1) if threads > 1 else f.n
    t.images = max(t.images // f.groups, <Py_ssize_t>1) if threads > 1 else f.n
    t.block_parts = 1
    if prepare(&t) < 0:
        t.failed = 1
    else:
        if f.n * f.groups < 2 * threads:
            t.block_parts = min(parts(t.width, 2 * loops.lanes[CONV_F32]), threads)
        parallel_for_dynamic(
            channels_task, &t, parts(f.n, t.images) * f.groups * t.block_parts, <int>threads)
    free(t.off)
    give_scratch(t.weights)
    return t.failed
