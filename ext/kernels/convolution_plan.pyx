# cython: language_level=3
"""Images in working memory, for convolutions: margins, phases, and which of them lie together."""
from cpython.pycapsule cimport PyCapsule_GetPointer

from autograd_cy._C import cpu as _cpu
from autograd_cy._C.sizes cimport parts

__all__: list[str] = []

cdef object _module = _cpu.load("convolution_loops")
loops = (<ConvTable*>PyCapsule_GetPointer(
    _module.table_capsule(), "autograd_cy.convolution_loops"))[0]


cdef inline Py_ssize_t ceil_div(Py_ssize_t a, Py_ssize_t b) noexcept nogil:
    """a / b rounded up; b is positive, a may be negative."""
    return parts(a, b) if a > 0 else -((-a) // b)


cdef inline Py_ssize_t clamp(Py_ssize_t a, Py_ssize_t most) noexcept nogil:
    return 0 if a < 0 else (most if a > most else a)


cdef void lay_out(
        Planes* p, const Py_ssize_t* sizes, Py_ssize_t images, Py_ssize_t slack) noexcept nogil:
    """Distances for images of these spatial sizes; `slack` elements may be read beyond the last."""
    cdef Py_ssize_t shared[3]
    cdef Py_ssize_t phase, before, after
    cdef int d
    for d in range(3):
        shared[d] = max(p.extent[d] - p.need[d], <Py_ssize_t>0)
        for phase in range(p.phases[d]):
            # Zeros before the data and after it; a row's last ones may be the next row's first.
            before = clamp(ceil_div(p.lead[d] - phase, p.step[d]), p.extent[d])
            after = p.extent[d] - clamp(
                ceil_div(p.lead[d] + sizes[d] - phase, p.step[d]), p.extent[d])
            shared[d] = min(shared[d], min(before, after))
    p.images = images
    p.row = p.extent[2] - shared[2]
    p.layer = p.row * (p.extent[1] - shared[1])
    p.image = p.layer * (p.extent[0] - shared[0])
    p.phase = images * p.image + shared[0] * p.layer + shared[1] * p.row + shared[2] + slack
    p.channel = p.phase * p.phases[0] * p.phases[1] * p.phases[2]


cdef inline bint reaches(const Form* f, int d, Py_ssize_t q) noexcept nogil:
    """Return whether tap q of dimension d ever meets an element of x."""
    cdef Py_ssize_t low = f.pad[d] - q * f.dil[d], high = f.of_x[d] - 1 + low
    return high >= 0 and clamp(ceil_div(low, f.stride[d]), f.of_y[d]) <= min(
        high // f.stride[d], f.of_y[d] - 1)


cdef bint trim(Form* f) noexcept nogil:
    """Leave out the first and last taps that meet nothing but margins, as 8 of 9 do in an image of
    one element. True if there were some."""
    cdef Py_ssize_t first, last
    cdef bint some = False
    cdef int d
    for d in range(3):
        first, last = 0, f.k[d] - 1
        while first <= last and not reaches(f, d, first):
            first += 1
        while first < last and not reaches(f, d, last):
            last -= 1
        if first > last or last - first == f.k[d] - 1:
            continue
        some = True
        f.w += first * f.at_w[2 + d] * f.size
        f.pad[d] -= first * f.dil[d]
        f.k[d] = last - first + 1
    return some


cdef void fill_channel(
        const Form* f, const Planes* p, const char* source, const Py_ssize_t* at,
        const Py_ssize_t* sizes, Py_ssize_t first, Py_ssize_t images,
        char* result) noexcept nogil:
    """The data of one channel (`source` is its first element) of some images; margins are there."""
    cdef Py_ssize_t i, a, b, c, number = 0, z, _, low[3], high[3], start[3]
    cdef const char* s
    cdef char* r
    cdef int d
    cdef Py_ssize_t ph[3]
    for a in range(p.phases[0]):
        for b in range(p.phases[1]):
            for c in range(p.phases[2]):
                ph[0], ph[1], ph[2] = a, b, c
                for d in range(3):
                    low[d] = clamp(ceil_div(p.lead[d] - ph[d], p.step[d]), p.extent[d])
                    high[d] = clamp(ceil_div(p.lead[d] + sizes[d] - ph[d], p.step[d]), p.extent[d])
                    start[d] = low[d] * p.step[d] + ph[d] - p.lead[d]
                if high[2] > low[2]:
                    for i in range(images):
                        for z in range(low[0], high[0]):
                            s = source + (
                                (first + i) * at[0] + (start[0] + (z - low[0]) * p.step[0]) * at[2]
                                + start[1] * at[3] + start[2] * at[4]) * f.size
                            r = result + (
                                number * p.phase + i * p.image + z * p.layer + low[1] * p.row
                                + low[2]) * f.wide
                            for _ in range(low[1], high[1]):
                                loops.widen(f.dt, s, p.step[2] * at[4], high[2] - low[2], r)
                                s += p.step[1] * at[3] * f.size
                                r += p.row * f.wide
                number += 1
