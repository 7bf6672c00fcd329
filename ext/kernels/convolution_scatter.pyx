# cython: language_level=3
"""Gradients of images of convolutions with a stride, and transposed convolutions; float32.

The images of y times the weights as they lie give, for each place of y, what all taps of some
channels add to x; each is then added where its tap goes. The phases of the other way
(convolution.pyx) each pack a part of the weights, with few of its elements side by side. Which
images go together, and which channels, follows from the shapes alone, and each element of x is
summed in the order of the places.
"""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.string cimport memcpy

from autograd_cy._C.convolution_plan cimport Form
from autograd_cy._C.dtypes cimport DT_F32
from autograd_cy._C.gemm_loops cimport KIND_F32, LoopTable, STRIPS
from autograd_cy._C.gemm_product cimport parts, round_up
from autograd_cy._C.parallel cimport parallel_for_dynamic, team_size
from autograd_cy._C.scratch cimport give_scratch, take_scratch

from autograd_cy._C import cpu as _cpu

__all__: list[str] = []

cdef LoopTable products = (<LoopTable*>PyCapsule_GetPointer(
    _cpu.load("gemm_loops").table_capsule(), "autograd_cy.gemm_loops"))[0]

cdef enum:
    # Fewest channels on each side, and weights: fewer are packed while they stay in cache.
    FEWEST = 16
    HEAVY = 3 << 16
    MOST_TAPS = 64
    # Columns of a product: taps of some channels; its rows: places of some images.
    COLUMNS = 288
    PLACES = 256
    DEPTH = 256

ctypedef struct Scatter:
    Form* f
    Py_ssize_t taps
    Py_ssize_t places           # of an image of y
    Py_ssize_t images           # that go together
    Py_ssize_t channels         # of x that go together
    Py_ssize_t blocks           # of such channels
    int failed


cdef bint suits_scatter(Form* f) noexcept nogil:
    cdef Py_ssize_t taps = f.k[0] * f.k[1] * f.k[2], steps = f.stride[0] * f.stride[1] * f.stride[2]
    if f.dt != DT_F32 or f.unit != 1 or f.groups != 1 or f.c < FEWEST or f.o < FEWEST:
        return False
    if not 1 < taps <= MOST_TAPS or steps == 1 or <double>taps * f.c * f.o <= HEAVY:
        return False
    # Rows of weights in the order of their taps; as many places as fill a block of the product.
    return ((f.k[2] == 1 or f.at_w[4] == 1) and (f.k[1] == 1 or f.at_w[3] == f.k[2])
            and (f.k[0] == 1 or f.at_w[2] == f.k[1] * f.k[2]) and f.at_w[1] == taps
            and f.n * f.of_y[0] * f.of_y[1] * f.of_y[2] >= 2 * products.rows)


cdef void take_values(Scatter* t, Py_ssize_t image, Py_ssize_t images, Py_ssize_t first,
                      Py_ssize_t depth, float* to) noexcept nogil:
    """Some channels of some images of y: a row of all places for each channel."""
    cdef Form* f = t.f
    cdef Py_ssize_t o, i, z, r, p
    cdef const float* s
    cdef const float* line
    for o in range(depth):
        for i in range(images):
            s = <const float*>f.y + (image + i) * f.at_y[0] + (first + o) * f.at_y[1]
            for z in range(f.of_y[0]):
                for r in range(f.of_y[1]):
                    line = s + z * f.at_y[2] + r * f.at_y[3]
                    if f.at_y[4] == 1:
                        memcpy(to, line, <size_t>f.of_y[2] * sizeof(float))
                    else:
                        for p in range(f.of_y[2]):
                            to[p] = line[p * f.at_y[4]]
                    to += f.of_y[2]


cdef void begin_planes(Scatter* t, Py_ssize_t image, Py_ssize_t first,
                       Py_ssize_t channels) noexcept nogil:
    """Set x to its value before anything is added."""
    cdef Form* f = t.f
    cdef Py_ssize_t c, z, r, p
    cdef float value
    cdef float* d
    for c in range(first, first + channels):
        value = (<const float*>f.bias)[c * f.bias_step] if f.bias != NULL else 0
        for z in range(f.of_x[0]):
            for r in range(f.of_x[1]):
                d = (<float*>f.x + image * f.at_x[0] + c * f.at_x[1] + z * f.at_x[2]
                     + r * f.at_x[3])
                for p in range(f.of_x[2]):
                    d[p * f.at_x[4]] = value


cdef inline bint lands(const Form* f, int d, Py_ssize_t place, Py_ssize_t tap,
                       Py_ssize_t* at) noexcept nogil:
    """Return whether a tap of a place of y is in the image; `at` goes on to where."""
    cdef Py_ssize_t i = place * f.stride[d] - f.pad[d] + tap * f.dil[d]
    at[0] += i * f.at_x[2 + d]
    return 0 <= i < f.of_x[d]


cdef void add_planes(Scatter* t, const float* sums, Py_ssize_t ld, Py_ssize_t image,
                     Py_ssize_t first, Py_ssize_t channels) noexcept nogil:
    """The products of one image to where they belong."""
    cdef Form* f = t.f
    cdef Py_ssize_t[MOST_TAPS] to, tap
    cdef Py_ssize_t z, r, p, i, j, m, at, count, q, _, step = f.at_x[1]
    cdef float* x = <float*>f.x + image * f.at_x[0] + first * step
    cdef float* d
    cdef const float* s
    for z in range(f.of_y[0]):
        for r in range(f.of_y[1]):
            for p in range(f.of_y[2]):
                count = q = 0
                for i in range(f.k[0]):
                    for j in range(f.k[1]):
                        for m in range(f.k[2]):
                            at = 0
                            if (lands(f, 0, z, i, &at) and lands(f, 1, r, j, &at)
                                    and lands(f, 2, p, m, &at)):
                                to[count], tap[count] = at, q
                                count += 1
                            q += 1
                s, d = sums, x
                for _ in range(channels):
                    for i in range(count):
                        d[to[i]] += s[tap[i]]
                    s += t.taps
                    d += step
                sums += ld


cdef void scatter_task(void* ctx, Py_ssize_t index) noexcept nogil:
    """Some channels of some images."""
    cdef Scatter* t = <Scatter*>ctx
    cdef Form* f = t.f
    cdef Py_ssize_t first = index % t.blocks * t.channels, image = index // t.blocks * t.images
    cdef Py_ssize_t channels = min(t.channels, f.c - first), images = min(t.images, f.n - image)
    cdef Py_ssize_t rows = images * t.places, width = channels * t.taps, o, depth, i
    cdef Py_ssize_t ld = round_up(width, products.width[KIND_F32])
    cdef Py_ssize_t most = min(<Py_ssize_t>DEPTH, f.o), high = round_up(rows, products.rows)
    cdef float* sums = <float*>take_scratch(
        <size_t>(rows * ld + most * (ld + rows + high) + 64) * sizeof(float))
    cdef float* w
    cdef float* y
    cdef float* strips
    if sums == NULL:
        t.failed = 1
        return
    w = sums + rows * ld
    strips = w + most * ld
    y = strips + most * high
    for o from 0 <= o < f.o by most:
        depth = min(most, f.o - o)
        take_values(t, image, images, o, depth, y)
        products.pack_a(DT_F32, 1, rows, depth, y, rows, strips)
        products.pack_b(
            DT_F32, 0, depth, width, <const float*>f.w + o * f.at_w[0] + first * t.taps,
            f.at_w[0], 1, 0, w)
        products.multiply(KIND_F32, rows, width, depth, STRIPS, strips, products.rows, w, 1, o > 0,
                          sums, ld)
    for i in range(images):
        begin_planes(t, image + i, first, channels)
        add_planes(t, sums + i * t.places * ld, ld, image + i, first, channels)
    give_scratch(sums)


cdef int run_scatter(Form* f) noexcept nogil:
    cdef Scatter t
    t.f, t.failed = f, 0
    t.taps = f.k[0] * f.k[1] * f.k[2]
    t.places = f.of_y[0] * f.of_y[1] * f.of_y[2]
    t.images = min(max(PLACES // t.places, <Py_ssize_t>1), f.n)
    t.channels = min(max(COLUMNS // t.taps, <Py_ssize_t>1), f.c)
    t.blocks = parts(f.c, t.channels)
    parallel_for_dynamic(
        scatter_task, &t, parts(f.n, t.images) * t.blocks,
        team_size(0.125 * f.n * t.places * f.c * f.o * t.taps))
    return t.failed
