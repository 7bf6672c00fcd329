# cython: language_level=3
"""Windows of images as columns, and columns added up to images. A tile is one channel."""
from libc.stdint cimport uint8_t, uint16_t
from libc.string cimport memcpy, memset

from autograd_cy._C.dtypes cimport DT_BF16, DT_BOOL, DT_F16, DT_F32, DT_SIZE, dt_is_complex, dt_real
from autograd_cy._C.iterate cimport contiguous
from autograd_cy._C.launch cimport KIND_WINDOW, READS, WRITES, Launch, begin, launch_tiles, operand
from autograd_cy._C.scratch cimport give_scratch, take_scratch
from autograd_cy._C.sizes cimport parts
from autograd_cy._C.tensor cimport Tensor

__all__: list[str] = []

cdef extern from "scalar/types.h":
    float ag_f16_to_f32(uint16_t h) noexcept nogil
    uint16_t ag_f32_to_f16(float x) noexcept nogil
    float ag_bf16_to_f32(uint16_t h) noexcept nogil
    uint16_t ag_f32_to_bf16(float x) noexcept nogil

cdef extern from *:
    """
    static int agc_short_of_memory(int failed) {
        if (!failed) return 0;
        PyErr_SetString(PyExc_MemoryError, "fold: no memory for the sums");
        return -1;
    }
    """
    int agc_short_of_memory(int failed) except -1

ctypedef struct Windows:
    char* image             # (channels, height, width), in C order
    char* columns           # (channels, kernel, places), too
    int dt
    int unit
    Py_ssize_t size         # bytes of an element
    Py_ssize_t of_image[2]
    Py_ssize_t places[2]
    Py_ssize_t kernel[2]
    Py_ssize_t dil[2]
    Py_ssize_t pad[2]
    Py_ssize_t step[2]
    int failed


cdef inline void inside(const Windows* w, int d, Py_ssize_t tap, Py_ssize_t* low,
                        Py_ssize_t* high) noexcept nogil:
    """The places whose windows have this tap within the image."""
    cdef Py_ssize_t at = tap * w.dil[d] - w.pad[d], left = w.of_image[d] - at
    low[0] = 0 if at >= 0 else parts(-at, w.step[d])
    high[0] = 0 if left <= 0 else parts(left, w.step[d])
    low[0] = min(low[0], w.places[d])
    high[0] = max(min(high[0], w.places[d]), low[0])


cdef inline void copy_elements(char* to, const char* source, Py_ssize_t n, Py_ssize_t step,
                               Py_ssize_t size) noexcept nogil:
    cdef Py_ssize_t i
    if step == 1:
        memcpy(to, source, <size_t>(n * size))
    elif size == 4:
        for i in range(n):
            (<float*>to)[i] = (<const float*>source)[i * step]
    elif size == 8:
        for i in range(n):
            (<double*>to)[i] = (<const double*>source)[i * step]
    else:
        for i in range(n):
            memcpy(to + i * size, source + i * step * size, <size_t>size)


cdef void unfold_tile(void* plan, Py_ssize_t channel) noexcept nogil:
    cdef Windows* w = <Windows*>plan
    cdef Py_ssize_t i, j, y, low[2], high[2], row = w.places[1] * w.size
    cdef const char* image = w.image + channel * w.of_image[0] * w.of_image[1] * w.size
    cdef char* to = w.columns + (channel * w.kernel[0] * w.kernel[1] * w.places[0] * row)
    cdef const char* source
    for i in range(w.kernel[0]):
        inside(w, 0, i, &low[0], &high[0])
        for j in range(w.kernel[1]):
            inside(w, 1, j, &low[1], &high[1])
            for y in range(w.places[0]):
                if y < low[0] or y >= high[0] or low[1] == high[1]:
                    memset(to, 0, <size_t>row)
                else:
                    source = image + (
                        (y * w.step[0] + i * w.dil[0] - w.pad[0]) * w.of_image[1]
                        + low[1] * w.step[1] + j * w.dil[1] - w.pad[1]) * w.size
                    memset(to, 0, <size_t>(low[1] * w.size))
                    copy_elements(to + low[1] * w.size, source, high[1] - low[1], w.step[1], w.size)
                    memset(to + high[1] * w.size, 0, <size_t>((w.places[1] - high[1]) * w.size))
                to += row


ctypedef fused added:
    float
    double
    uint8_t


cdef inline void add_elements(added* to, const added* source, Py_ssize_t n, Py_ssize_t step,
                              int unit) noexcept nogil:
    cdef Py_ssize_t i
    if added is uint8_t:
        for i in range(n):
            to[i * step] |= source[i]
    elif unit == 2:
        for i in range(n):
            to[2 * i * step] += source[2 * i]
            to[2 * i * step + 1] += source[2 * i + 1]
    elif step == 1:
        for i in range(n):
            to[i] += source[i]
    else:
        for i in range(n):
            to[i * step] += source[i]


cdef inline void add_halves(bint brain, float* to, const uint16_t* source, Py_ssize_t n,
                            Py_ssize_t step) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        to[i * step] += ag_bf16_to_f32(source[i]) if brain else ag_f16_to_f32(source[i])


cdef void fold_tile(void* plan, Py_ssize_t channel) noexcept nogil:
    cdef Windows* w = <Windows*>plan
    cdef Py_ssize_t count = w.of_image[0] * w.of_image[1], i, j, y, low[2], high[2], at
    cdef Py_ssize_t row = w.places[1] * w.size
    cdef bint halves = w.dt == DT_F16 or w.dt == DT_BF16
    cdef char* image = w.image + channel * count * w.size
    cdef char* sums = image
    cdef const char* source = w.columns + (
        channel * w.kernel[0] * w.kernel[1] * w.places[0] * row)
    cdef const char* s
    if halves:
        # Sums are rounded once.
        sums = <char*>take_scratch(<size_t>(4 * count))
        if sums == NULL:
            w.failed = 1
            return
    memset(sums, 0, <size_t>(count * (4 if halves else w.size)))
    for i in range(w.kernel[0]):
        inside(w, 0, i, &low[0], &high[0])
        for j in range(w.kernel[1]):
            inside(w, 1, j, &low[1], &high[1])
            for y in range(low[0], high[0]):
                s = source + y * row + low[1] * w.size
                at = ((y * w.step[0] + i * w.dil[0] - w.pad[0]) * w.of_image[1]
                      + low[1] * w.step[1] + j * w.dil[1] - w.pad[1])
                if halves:
                    add_halves(w.dt == DT_BF16, <float*>sums + at, <const uint16_t*>s,
                               high[1] - low[1], w.step[1])
                elif w.dt == DT_BOOL:
                    add_elements(<uint8_t*>sums + at, <const uint8_t*>s, high[1] - low[1],
                                 w.step[1], 1)
                elif w.dt == DT_F32:
                    add_elements(<float*>sums + at * w.unit, <const float*>s, high[1] - low[1],
                                 w.step[1], w.unit)
                else:
                    add_elements(<double*>sums + at * w.unit, <const double*>s, high[1] - low[1],
                                 w.step[1], w.unit)
            source += w.places[0] * row
    if halves:
        for i in range(count):
            (<uint16_t*>image)[i] = (ag_f32_to_bf16((<float*>sums)[i]) if w.dt == DT_BF16
                                     else ag_f32_to_f16((<float*>sums)[i]))
        give_scratch(sums)


cdef inline Py_ssize_t one_of(tuple values, int d) except? -1:
    return values[0] if len(values) == 1 else values[d]


cdef double plan_windows(Windows* w, Tensor image, tuple kernel_size, tuple dilation, tuple padding,
                         tuple stride) except? -1:
    cdef int d
    w.dt = dt_real(image.dt)
    w.unit = 2 if dt_is_complex(image.dt) else 1
    w.size = DT_SIZE[image.dt]
    w.failed = 0
    for d in range(2):
        w.of_image[d] = image.sizes[image.nd - 2 + d]
        w.kernel[d] = one_of(kernel_size, d)
        w.dil[d] = one_of(dilation, d)
        w.pad[d] = one_of(padding, d)
        w.step[d] = one_of(stride, d)
        w.places[d] = (w.of_image[d] + 2 * w.pad[d] - w.dil[d] * (w.kernel[d] - 1) - 1) // (
            w.step[d]) + 1
        if w.places[d] == 1:            # a step that is never taken may be of any length
            w.step[d] = 1
        if w.kernel[d] == 1:
            w.dil[d] = 1
    return 2.0 * w.kernel[0] * w.kernel[1] * w.places[0] * w.places[1]


cdef int unfold(Tensor out, Tensor a, tuple kernel_size, tuple dilation, tuple padding,
                tuple stride) except -1:
    cdef Windows w
    cdef Launch work
    cdef double cost = plan_windows(&w, a, kernel_size, dilation, padding, stride)
    cdef Py_ssize_t channels = a.sizes[a.nd - 3] * (a.sizes[0] if a.nd == 4 else 1)
    if out.count == 0:
        return 0
    a = contiguous(a)
    w.image, w.columns = a.ptr, out.ptr
    begin(&work, "unfold", &w, sizeof(Windows), KIND_WINDOW)
    operand(&work, &w.image, a, READS)
    operand(&work, &w.columns, out, WRITES)
    return launch_tiles(&work, unfold_tile, channels, cost * channels)


cdef int fold(Tensor out, Tensor a, tuple kernel_size, tuple dilation, tuple padding,
              tuple stride) except -1:
    cdef Windows w
    cdef Launch work
    cdef double cost = plan_windows(&w, out, kernel_size, dilation, padding, stride)
    cdef Py_ssize_t channels = out.sizes[out.nd - 3] * (out.sizes[0] if out.nd == 4 else 1)
    if out.count == 0:
        return 0
    a = contiguous(a)
    w.image, w.columns = out.ptr, a.ptr
    begin(&work, "fold", &w, sizeof(Windows), KIND_WINDOW)
    operand(&work, &w.image, out, WRITES)
    operand(&work, &w.columns, a, READS)
    launch_tiles(&work, fold_tile, channels, cost * channels)
    return agc_short_of_memory(w.failed)
