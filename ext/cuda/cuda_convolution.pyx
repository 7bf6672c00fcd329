# cython: language_level=3
# build: plain cold
"""Convolutions and their gradients on CUDA devices, of one to three dimensions.

All are products of matrices: windows become columns in memory of the device's cache, as many at a
time as fit into it, and weights are rows. Windows of one element are no columns but the images
themselves. With a stride, the gradient of an image is one product for each phase of its places; all
places of a phase have the same taps. Results in channels last are made of columns in
channels last. Where each result takes one channel, a kernel sums it (device/depthwise.cuh).
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memset

from autograd_cy._C.cuda_blas cimport use_blas
from autograd_cy._C.cuda_launch cimport blocks_for, kernel_id, launch
from autograd_cy._C.cuda_memory cimport Scratch, dense_like, scratch
from autograd_cy._C.cuda_products cimport (
    Product, begin_product, by_blas, launch_product, set_factor)
from autograd_cy._C.cuda_reduce cimport (
    BLOCKS, LOG_THREADS, LOG_WARP, join_sums, quotient_up, set_divisor)
from autograd_cy._C.cuda_windows cimport (
    Layout, Taps, ag_wide_divisor, ag_windows, fold_columns, images, joined, product3, put_columns,
    set_windows)
from autograd_cy._C.devices cimport current_stream, stream_t
from autograd_cy._C.dtypes cimport DTYPES, DT_F32, DT_F64, DT_SIZE
from autograd_cy._C.halves cimport is_half
from autograd_cy._C.iterate cimport cast, clear, contiguous, copy_into
from autograd_cy._C.shapes cimport permute_plain
from autograd_cy._C.storage cimport device_index
from autograd_cy._C.tensor cimport (
    F_STRIDED, Tensor, tensor_empty_like, tensor_empty_on, tensor_window)

__all__ = ["KERNELS"]

cdef extern from "device/product_arguments.h" nogil:
    pass

cdef extern from "device/window_arguments.h" nogil:
    ctypedef struct ag_depthwise_args:
        void* out
        const void* in_ "in"
        const void* weight
        const void* bias
        ag_windows w
        ag_wide_divisor area, channels, share
        uint64_t n, many
        int64_t in_image, in_channel
        int64_t out_image, out_channel
        int64_t out_stride[3]
        int64_t weight_channel
        int64_t weight_stride[3]
        int64_t bias_step
        uint32_t by_source, channels_inner
    ctypedef struct ag_depthwise_weight_args:
        void* out
        double* partial
        const void* in_ "in"
        const void* grad
        ag_windows w
        ag_wide_divisor places, share, taps
        uint64_t channels, count, chunk
        int64_t in_image, in_channel
        int64_t grad_image, grad_channel
        int64_t grad_stride[3]
        uint32_t width, group
        int32_t dt

cdef enum:
    THREADS = 256
    PHASES = 16            # of one gradient; of more all columns are made, and added up
    SHARED = 8             # most results of one channel that are summed without a product
    SHARE = 64             # products of a thread, before more blocks share a result

cdef Py_ssize_t most_columns = 64 << 20      # bytes of columns in memory at a time


def _set_most_columns(Py_ssize_t n):
    """Let fewer bytes of columns be in memory, so that a test needs no large images; gives what
    it was."""
    global most_columns
    before, most_columns = most_columns, n
    return before


include "cuda_types.pxi"

cdef int[2][DTYPES] depthwise_kernels      # one more than the number, 0: unknown
memset(depthwise_kernels, 0, sizeof(depthwise_kernels))


cdef int depthwise_kernel(bint of_weight, int dt) except -1:
    if not depthwise_kernels[of_weight][dt]:
        depthwise_kernels[of_weight][dt] = kernel_id(
            "depthwise", f"depthwise{'_weight' if of_weight else ''}_{SUFFIXES[dt]}") + 1
    return depthwise_kernels[of_weight][dt] - 1


# --- what is convolved ----------------------------------------------------------------------

# Results y of images x, and weights (groups * o, c, ...).
cdef struct Form:
    int rank
    Py_ssize_t groups, c, o
    Py_ssize_t k[3]
    Py_ssize_t step[3]
    Py_ssize_t pad[3]
    Py_ssize_t dil[3]


cdef int fill_form(Form* f, Tensor weight, tuple stride, tuple padding, tuple dilation,
                   Py_ssize_t groups) except -1:
    cdef int d, at
    f.rank = weight.nd - 2
    f.groups, f.c, f.o = groups, weight.sizes[1], weight.sizes[0] // groups
    for d in range(3):
        f.k[d] = f.step[d] = f.dil[d] = 1
        f.pad[d] = 0
    for d in range(f.rank):
        at = 3 - f.rank + d
        f.k[at] = weight.sizes[2 + d]
        f.step[at] = stride[0] if len(stride) == 1 else stride[d]
        f.pad[at] = padding[0] if len(padding) == 1 else padding[d]
        f.dil[at] = dilation[0] if len(dilation) == 1 else dilation[d]
    return 0


cdef void taps_of_results(Taps* taps, const Form* f) noexcept:
    cdef int d
    for d in range(3):
        taps.step[d], taps.begin[d], taps.tap[d] = f.step[d], -f.pad[d], f.dil[d]
        taps.apart[d], taps.count[d] = 1, f.k[d]


cdef void taps_of_images(Taps* taps, const Form* f) noexcept:
    """The results that an element of an image is in."""
    cdef int d
    for d in range(3):
        taps.step[d], taps.begin[d], taps.tap[d] = 1, f.pad[d], -f.dil[d]
        taps.apart[d], taps.count[d] = f.step[d], f.k[d]


cdef bint is_plain(const Taps* taps, const Py_ssize_t* source, const Py_ssize_t* grid) noexcept:
    """Tell if windows are elements, one after the other."""
    cdef int d
    for d in range(3):
        if taps.count[d] != 1 or taps.begin[d] != 0 or source[d] != grid[d]:
            return False
        if grid[d] > 1 and (taps.step[d] != 1 or taps.apart[d] != 1):
            return False
    return True


cdef Tensor weight_window(Tensor weight, const Form* f):
    """(groups, o, c, three dimensions of taps)."""
    cdef Py_ssize_t[6] sizes
    cdef Py_ssize_t[6] strides
    cdef int d
    sizes[0], sizes[1], sizes[2] = f.groups, f.o, f.c
    strides[0], strides[1], strides[2] = f.o * weight.strides[0], weight.strides[0], (
        weight.strides[1])
    for d in range(3):
        sizes[3 + d], strides[3 + d] = f.k[d], 0
    for d in range(f.rank):
        strides[6 - f.rank + d] = weight.strides[2 + d]
    return tensor_window(weight, 6, sizes, strides, 0)


cdef int[4] ROWS           # dimensions of images: all places
ROWS[0], ROWS[1], ROWS[2], ROWS[3] = 0, 2, 3, 4


cdef Tensor empty_places(Tensor like, bint together, int dt):
    """A tensor of the same sizes, with all channels of a place side by side, or in C order."""
    cdef Py_ssize_t[5] strides
    cdef Py_ssize_t step = 1
    cdef int i, d
    for i in range(5):
        d = 4 - i
        if together:
            d = 1 if i == 0 else 0 if i == 4 else 5 - i
        strides[d] = step
        step *= max(like.sizes[d], <Py_ssize_t>1)
    return tensor_empty_on(like.mem.device, dt, 5, like.sizes, strides)


# --- sums over channels and taps ------------------------------------------------------------

# What all products of one sum have in common.
cdef struct Sum:
    Py_ssize_t groups, rows, inner     # results of a group; channels and taps that each has
    Py_ssize_t place                   # stride of places of the result
    Py_ssize_t source                  # and of the source, if it is what is multiplied
    bint plain
    Taps* taps


cdef inline char* element(Tensor t, Py_ssize_t at) noexcept:
    return t.ptr + at * DT_SIZE[t.dt]


cdef int correlate(Tensor out, Tensor source, Tensor weight, Taps* taps, Tensor bias) except -1:
    """
    Each place of `out` (5 dimensions) is the sum over channels and taps of `source`, times
    `weight` (groups, results, channels, three dimensions of taps), and the bias.
    """
    cdef Sum s
    cdef Tensor target
    cdef bint together = out.strides[1] == 1 and out.sizes[1] > 1
    if not (joined(out, ROWS, 4, &s.place) if together else joined(out, ROWS + 1, 3, &s.place)):
        target = empty_places(out, together, out.dt)
        correlate(target, source, weight, taps, bias)
        return copy_into(out, target, "convolution")
    s.groups, s.rows = weight.sizes[0], weight.sizes[1]
    s.inner = weight.sizes[2] * product3(taps.count)
    s.taps = taps
    s.plain = is_plain(taps, &source.sizes[2], &out.sizes[2]) and (
        joined(source, ROWS, 4, &s.source) if together else joined(source, ROWS + 1, 3, &s.source))
    if together:
        weight = permute_plain(weight, (0, 1, 3, 4, 5, 2))
        return sum_together(&s, out, source, contiguous(weight), bias)
    return sum_apart(&s, out, source, contiguous(weight), bias)


cdef inline int set_bias(Product* t, Tensor bias, Py_ssize_t row, Py_ssize_t column) except -1:
    if bias is not None:
        set_factor(t, &t.args.beta, 1, 0)
        t.args.add_row, t.args.add_column = row * bias.strides[0], column * bias.strides[0]
    return 0


cdef int cut(Py_ssize_t item, Py_ssize_t each, Py_ssize_t places, Py_ssize_t* count,
             Py_ssize_t* some) noexcept:
    """How many images, of `each` bytes of columns a place, there are at a time; if not one, how
    many places."""
    count[0] = max(most_columns // max(each * item * places, <Py_ssize_t>1), <Py_ssize_t>1)
    some[0] = places
    if each * item * places > most_columns:
        some[0] = max(most_columns // (each * item), <Py_ssize_t>1)
    return 0


cdef int sum_together(Sum* s, Tensor out, Tensor source, Tensor weight, Tensor bias) except -1:
    """Rows are places, with their results side by side."""
    cdef Product t
    cdef Layout to
    cdef Tensor columns = source
    cdef Py_ssize_t places = product3(&out.sizes[2]), all = s.groups * s.inner
    cdef Py_ssize_t n = out.sizes[0], count, some, image, first, now, m, row
    cut(DT_SIZE[out.dt], all, places, &count, &some)
    if s.plain:
        count, some = n, places
    else:
        to.image, to.place, to.group, to.tap, to.channel = some * all, all, s.inner, (
            weight.sizes[5]), 1
        to.channels_inner = True
        m = min(count, n) * some * all
        columns = tensor_empty_on(out.mem.device, out.dt, 1, &m, NULL)
    for image in range(0, n, count):
        m = min(count, n - image)
        for first in range(0, places, some):
            now = min(some, places - first)
            row = image * places + first
            begin_product(&t, b"convolution", out, m * now, s.rows, s.inner)
            t.batch = s.groups
            t.args.c = element(out, row * s.place)
            t.args.c_row, t.args.c_column = s.place, out.strides[1]
            t.args.c_batch = s.rows * out.strides[1]
            if s.plain:
                t.args.a = source.ptr
                t.args.a_row, t.args.a_inner = s.source, source.strides[1]
                t.args.a_batch = s.inner * source.strides[1]
            else:
                to.image = now * all
                put_columns(columns.ptr, &to, source, s.groups, s.taps, &out.sizes[2], image, m,
                            first, now)
                t.args.a = columns.ptr
                t.args.a_row, t.args.a_inner, t.args.a_batch = all, 1, s.inner
            t.args.b = weight.ptr
            t.args.b_inner, t.args.b_column, t.args.b_batch = 1, s.inner, s.rows * s.inner
            if bias is not None:
                t.args.add = bias.ptr
                t.args.add_batch = s.rows * bias.strides[0]
                set_bias(&t, bias, 0, 1)
            launch_product(&t, out, columns, weight, bias)
    return 0


cdef int sum_apart(Sum* s, Tensor out, Tensor source, Tensor weight, Tensor bias) except -1:
    """Columns are places; a batch is of the images of a group, or of the groups of an image."""
    cdef Product t
    cdef Layout to
    cdef Tensor columns = source
    cdef Py_ssize_t places = product3(&out.sizes[2]), all = s.groups * s.inner
    cdef Py_ssize_t n = out.sizes[0], count, some, image, first, now, m, at, group, number
    cdef bint by_groups
    cut(DT_SIZE[out.dt], all, places, &count, &some)
    if s.plain:
        count, some = n, places
    else:
        to.place, to.channels_inner = 1, False
        m = min(count, n) * some * all
        columns = tensor_empty_on(out.mem.device, out.dt, 1, &m, NULL)
    for image in range(0, n, count):
        m = min(count, n - image)
        by_groups = s.groups > m
        for first in range(0, places, some):
            now = min(some, places - first)
            if not s.plain:
                to.tap, to.channel = now, now * product3(s.taps.count)
                to.group, to.image = now * s.inner, now * all
                put_columns(columns.ptr, &to, source, s.groups, s.taps, &out.sizes[2], image, m,
                            first, now)
            for at in range(m if by_groups else s.groups):
                number = at if by_groups else 0
                group = 0 if by_groups else at
                begin_product(&t, b"convolution", out, s.rows, now, s.inner)
                t.batch = s.groups if by_groups else m
                t.args.c = element(out, (image + number) * out.strides[0]
                                   + group * s.rows * out.strides[1] + first * s.place)
                t.args.c_row, t.args.c_column = out.strides[1], s.place
                t.args.a = element(weight, group * s.rows * s.inner)
                t.args.a_row, t.args.a_inner = s.inner, 1
                t.args.a_batch = s.rows * s.inner if by_groups else 0
                t.args.c_batch = s.rows * out.strides[1] if by_groups else out.strides[0]
                if s.plain:
                    t.args.b = element(source, (image + number) * source.strides[0]
                                       + group * s.inner * source.strides[1])
                    t.args.b_inner, t.args.b_column = source.strides[1], s.source
                    t.args.b_batch = (s.inner * source.strides[1] if by_groups
                                      else source.strides[0])
                else:
                    t.args.b = element(columns, (number * all + group * s.inner) * now)
                    t.args.b_inner, t.args.b_column = now, 1
                    t.args.b_batch = (s.inner if by_groups else all) * now
                if bias is not None:
                    t.args.add = element(bias, group * s.rows * bias.strides[0])
                    t.args.add_batch = s.rows * bias.strides[0] if by_groups else 0
                    set_bias(&t, bias, 1, 0)
                launch_product(&t, out, columns, weight, bias)
    return 0


# --- gradients of images --------------------------------------------------------------------

cdef Py_ssize_t common_divisor(Py_ssize_t a, Py_ssize_t b) noexcept:
    while b:
        a, b = b, a % b
    return a


cdef bint find_phase(Taps* taps, const Form* f, int d, Py_ssize_t phase,
                     Py_ssize_t* begin, Py_ssize_t* step) noexcept:
    """The taps of the places phase, phase + f.step, ... along a dimension: from tap `begin` on,
    each `step`-th."""
    cdef Py_ssize_t k, s = f.step[d]
    step[0] = s // common_divisor(s, f.dil[d])
    taps.step[d] = taps.apart[d] = 1
    taps.begin[d] = taps.tap[d] = taps.count[d] = 0
    for k in range(min(step[0], f.k[d])):
        if (phase + f.pad[d] - k * f.dil[d]) % s == 0:
            begin[0] = k
            taps.count[d] = (f.k[d] - k + step[0] - 1) // step[0]
            # Exact, so that C's division of negative numbers is as good.
            taps.begin[d] = (phase + f.pad[d] - k * f.dil[d]) // s
            taps.tap[d] = -(step[0] * f.dil[d] // s) if taps.count[d] > 1 else 0
            return True
    begin[0] = 0
    return False


cdef int image_by_phases(Tensor out, Tensor source, Tensor weight, const Form* f,
                         Tensor bias) except -1:
    """`out` and `source` have 5 dimensions; `weight` (groups, c, o, three dimensions of taps)."""
    cdef Taps taps
    cdef Py_ssize_t[5] sizes
    cdef Py_ssize_t[5] strides
    cdef Py_ssize_t[6] w_sizes
    cdef Py_ssize_t[6] w_strides
    cdef Py_ssize_t at, w_at, number, rest, begin, step, phases = 1
    cdef Py_ssize_t[3] phase
    cdef int d
    for d in range(3):
        phases *= min(f.step[d], out.sizes[2 + d])
    for number in range(phases):
        rest, at, w_at = number, 0, 0
        for d in range(2):
            sizes[d], strides[d] = out.sizes[d], out.strides[d]
        for d in range(3):
            w_sizes[d], w_strides[d] = weight.sizes[d], weight.strides[d]
        for d in range(2, -1, -1):
            step = min(f.step[d], out.sizes[2 + d])
            phase[d] = rest % step
            rest //= step
            find_phase(&taps, f, d, phase[d], &begin, &step)
            at += phase[d] * out.strides[2 + d]
            w_at += begin * weight.strides[3 + d]
            sizes[2 + d] = (out.sizes[2 + d] - phase[d] + f.step[d] - 1) // f.step[d]
            strides[2 + d] = out.strides[2 + d] * (f.step[d] if sizes[2 + d] > 1 else 1)
            w_sizes[3 + d] = taps.count[d]
            w_strides[3 + d] = weight.strides[3 + d] * (step if taps.count[d] > 1 else 1)
        if product3(&w_sizes[3]) == 0:
            w_at = 0
        correlate(tensor_window(out, 5, sizes, strides, at), source,
                  tensor_window(weight, 6, w_sizes, w_strides, w_at), &taps, bias)
    return 0


cdef int image_by_columns(Tensor out, Tensor source, Tensor weight, const Form* f,
                          Tensor bias) except -1:
    """Add up columns, which are products with `weight` (groups, o, c, ...)."""
    cdef Product t
    cdef Taps back
    cdef Tensor target = out, columns, part
    cdef int dt = DT_F32 if is_half(out.dt) else out.dt
    cdef Py_ssize_t places = product3(&source.sizes[2]), inner, n = out.sizes[0], count, some
    cdef Py_ssize_t image, group, m
    if dt != out.dt:
        target = empty_places(out, False, dt)
        bias = None if bias is None else cast(bias, dt)
    weight, source = contiguous(cast(weight, dt)), contiguous(cast(source, dt))
    inner = f.c * product3(f.k)
    cut(DT_SIZE[dt], f.groups * inner, places, &count, &some)
    taps_of_images(&back, f)
    m = min(count, n) * f.groups * inner * places
    columns = tensor_empty_on(out.mem.device, dt, 1, &m, NULL)
    for image in range(0, n, count):
        m = min(count, n - image)
        for group in range(f.groups):
            begin_product(&t, b"convolution", columns, inner, places, f.o)
            t.batch = m
            t.args.c = element(columns, group * inner * places)
            t.args.c_row, t.args.c_column, t.args.c_batch = places, 1, f.groups * inner * places
            t.args.a = element(weight, group * f.o * inner)
            t.args.a_row, t.args.a_inner = 1, inner
            t.args.b = element(source, (image * f.groups + group) * f.o * places)
            t.args.b_inner, t.args.b_column = places, 1
            t.args.b_batch = f.groups * f.o * places
            launch_product(&t, columns, weight, source)
        part = some_images(target, image, m)
        fold_columns(part, columns, bias, &back, &source.sizes[2])
    return 0 if target is out else copy_into(out, target, "convolution")


cdef Tensor some_images(Tensor t, Py_ssize_t first, Py_ssize_t count):
    cdef Py_ssize_t[5] sizes
    cdef int d
    for d in range(5):
        sizes[d] = t.sizes[d]
    sizes[0] = count
    return tensor_window(t, 5, sizes, t.strides, first * t.strides[0])


# --- gradients of weights -------------------------------------------------------------------

cdef int sum_of_products(Tensor out, const Form* f, Tensor y, Tensor x, bint together) except -1:
    """out (groups, o, c, ...), or with `together` (groups, o, ..., c), dense: the sum over images
    and places of y (5 dimensions) times the windows of x."""
    cdef Product t
    cdef Taps taps
    cdef Layout to
    cdef Tensor columns = x, rows = y, total = out
    cdef Py_ssize_t places = product3(&y.sizes[2]), taps_count = product3(f.k)
    cdef Py_ssize_t inner = f.c * taps_count, all = f.groups * inner, n = y.sizes[0]
    cdef Py_ssize_t count, some, image, first, now, m, length, of_y = 0, of_x = 0
    cdef bint plain, several, lined
    taps_of_results(&taps, f)
    plain = is_plain(&taps, &x.sizes[2], &y.sizes[2])
    lined = joined(y, ROWS, 4, &of_y)      # all places of all images behind each other
    if plain:
        plain = lined and joined(x, ROWS, 4, &of_x)
    cut(DT_SIZE[out.dt], all, places, &count, &some)
    if plain:
        count, some = n, places
    if not lined and not joined(y, ROWS + 1, 3, &of_y):
        y = contiguous(y)
        of_y = 1
    several = count < n or some < places
    if several and is_half(out.dt):
        total = tensor_empty_like(out, DT_F32)
    if not plain:
        m = min(count, n) * some * all
        columns = tensor_empty_on(out.mem.device, out.dt, 1, &m, NULL)
    for image in range(0, n, count):
        m = min(count, n - image)
        for first in range(0, places, some):
            now = min(some, places - first)
            length = m * now
            begin_product(&t, b"convolution", total, f.o, inner, length)
            t.dt = out.dt
            t.batch = f.groups
            if lined or m == 1:
                rows = y
                t.args.a = element(y, image * y.strides[0] + first * of_y)
                t.args.a_row, t.args.a_inner = y.strides[1], of_y
                t.args.a_batch = f.o * y.strides[1]
            else:
                rows = contiguous(permute_plain(some_images(y, image, m), (1, 0, 2, 3, 4)))
                t.args.a = rows.ptr
                t.args.a_row, t.args.a_inner, t.args.a_batch = length, 1, f.o * length
            if plain:
                t.args.b = x.ptr
                t.args.b_inner, t.args.b_column = of_x, x.strides[1]
                t.args.b_batch = f.c * x.strides[1]
            else:
                to.channels_inner = together
                if together:
                    to.image, to.place, to.group, to.tap, to.channel = now * all, all, inner, (
                        f.c), 1
                    t.args.b_inner, t.args.b_column, t.args.b_batch = all, 1, inner
                else:
                    to.image, to.place, to.group = now, 1, inner * length
                    to.channel, to.tap = taps_count * length, length
                    t.args.b_inner, t.args.b_column, t.args.b_batch = 1, length, inner * length
                put_columns(columns.ptr, &to, x, f.groups, &taps, &y.sizes[2], image, m, first, now)
                t.args.b = columns.ptr
            t.args.c_row, t.args.c_column, t.args.c_batch = inner, 1, f.o * inner
            if image or first:
                t.args.add = t.args.c
                t.args.add_row, t.args.add_column = inner, 1
                t.args.add_batch = f.o * inner
                set_factor(&t, &t.args.beta, 1, 0)
            add_up(&t, total, rows, columns, out.dt)
    return 0 if total is out else copy_into(out, total, "convolution")


cdef int add_up(Product* t, Tensor total, Tensor rows, Tensor columns, int dt) except -1:
    """A part of a sum, in float32 if several parts of half types are added."""
    cdef Tensor added = total if t.args.add != NULL else None
    cdef Py_ssize_t item = DT_SIZE[dt]
    cdef Py_ssize_t a, b
    if total.dt == dt:
        return launch_product(t, total, rows, columns, added)
    if use_blas(dt):
        t.wide = True
        if by_blas(t, total, rows, columns, added) == 0:
            return 0
        t.wide = False
    # Our kernels write what they read: numbers that are as wide as the sum.
    a = (<char*>t.args.a - rows.ptr) // item
    b = (<char*>t.args.b - columns.ptr) // item
    rows, columns = widened(rows), widened(columns)
    t.dt = total.dt
    t.args.a, t.args.b = element(rows, a), element(columns, b)
    return launch_product(t, total, rows, columns, added)


cdef Tensor widened(Tensor t):
    """A copy in float32 with the same strides."""
    cdef Tensor result = tensor_empty_on(t.mem.device, DT_F32, t.nd, t.sizes, t.strides)
    copy_into(result, t, "convolution")
    return result


# --- one channel each -----------------------------------------------------------------------

cdef bint is_depthwise(const Form* f, int dt) noexcept:
    return f.c == 1 and f.groups > 1 and f.o <= SHARED and (
        is_half(dt) or dt == DT_F32 or dt == DT_F64)


cdef int depthwise(Tensor out, Tensor source, Tensor weight, const Form* f, Tensor bias,
                   bint to_image) except -1:
    cdef ag_depthwise_args args
    cdef Taps taps
    cdef Py_ssize_t item = DT_SIZE[out.dt]
    cdef int index = device_index(out.mem.device), d
    memset(&args, 0, sizeof(args))
    if to_image:
        taps_of_images(&taps, f)
    else:
        taps_of_results(&taps, f)
    set_windows(&args.w, &taps, &source.sizes[2], &source.strides[2], item, &out.sizes[2])
    args.out, args.in_, args.weight = out.ptr, source.ptr, weight.ptr
    if bias is not None:
        args.bias, args.bias_step = bias.ptr, bias.strides[0] * item
    args.n = out.count
    args.many = f.o if to_image else 1
    args.by_source = to_image
    set_divisor(&args.share, 1 if to_image else f.o)
    set_divisor(&args.area, product3(&out.sizes[2]))
    set_divisor(&args.channels, out.sizes[1])
    args.in_image, args.in_channel = source.strides[0] * item, source.strides[1] * item
    args.out_image, args.out_channel = out.strides[0] * item, out.strides[1] * item
    args.weight_channel = weight.strides[0] * item
    for d in range(3):
        args.out_stride[d] = out.strides[2 + d] * item
    for d in range(f.rank):
        args.weight_stride[3 - f.rank + d] = weight.strides[2 + d] * item
    args.channels_inner = out.strides[1] == 1
    return launch(depthwise_kernel(False, out.dt), index, current_stream(out.mem.device),
                  blocks_for(index, out.count, THREADS), 1, 1, THREADS, 1, 1, 0, &args,
                  sizeof(args))


cdef int depthwise_weight(Tensor out, const Form* f, Tensor y, Tensor x) except -1:
    """`out` is dense."""
    cdef ag_depthwise_weight_args args
    cdef Taps taps
    cdef Scratch partial
    cdef Py_ssize_t item = DT_SIZE[out.dt], places = product3(&y.sizes[2]), blocks, parts, n
    cdef int index = device_index(out.mem.device), d
    cdef stream_t stream = current_stream(out.mem.device)
    memset(&args, 0, sizeof(args))
    taps_of_results(&taps, f)
    set_windows(&args.w, &taps, &x.sizes[2], &x.strides[2], item, &y.sizes[2])
    args.out, args.in_, args.grad = out.ptr, x.ptr, y.ptr
    args.channels, args.count = f.groups * f.o, y.sizes[0] * places
    n = product3(f.k)
    set_divisor(&args.places, places)
    set_divisor(&args.share, f.o)
    set_divisor(&args.taps, n)
    args.in_image, args.in_channel = x.strides[0] * item, x.strides[1] * item
    args.grad_image, args.grad_channel = y.strides[0] * item, y.strides[1] * item
    for d in range(3):
        args.grad_stride[d] = y.strides[2 + d] * item
    args.width = LOG_WARP if y.strides[1] == 1 and y.sizes[1] > 1 else 0
    args.group = LOG_THREADS - args.width
    args.dt = out.dt
    blocks = <Py_ssize_t>quotient_up(args.channels, <uint64_t>1 << args.width) * n
    parts = min(<Py_ssize_t>(args.count // (<uint64_t>SHARE << args.group)),
                <Py_ssize_t>BLOCKS // min(blocks, <Py_ssize_t>BLOCKS))
    parts = max(parts, <Py_ssize_t>1)
    args.chunk = quotient_up(args.count, parts)
    parts = <Py_ssize_t>quotient_up(args.count, args.chunk)
    n *= <Py_ssize_t>args.channels
    if parts > 1:
        partial = scratch(index, parts * n * 8, stream)
        args.partial = <double*>partial.data
    launch(depthwise_kernel(True, out.dt), index, stream, <unsigned>min(blocks, 0x7FFFFFFF),
           <unsigned>parts, 1, 1 << LOG_THREADS, 1, 1, 0, &args, sizeof(args))
    if parts > 1:
        join_sums(index, stream, args.partial, parts, n, 1, out.ptr, out.dt)
    return 0


# --- the operators --------------------------------------------------------------------------

cdef int convolve(
        Tensor out, Tensor input, Tensor weight, Tensor bias, tuple stride, tuple padding,
        tuple dilation, bint transposed, tuple output_padding, Py_ssize_t groups) except -1:
    cdef Form f
    cdef Taps taps
    cdef Tensor window
    cdef Py_ssize_t phases = 1
    cdef int d
    if out.count == 0:
        return 0
    fill_form(&f, weight, stride, padding, dilation, groups)
    out, input = images(out, f.rank), images(input, f.rank)
    if is_depthwise(&f, out.dt):
        return depthwise(out, input, weight, &f, bias, transposed)
    window = weight_window(weight, &f)
    if not transposed:
        taps_of_results(&taps, &f)
        return correlate(out, input, window, &taps, bias)
    for d in range(3):
        phases *= min(f.step[d], out.sizes[2 + d])
    if phases > PHASES and input.count:
        return image_by_columns(out, input, window, &f, bias)
    return image_by_phases(out, input, permute_plain(window, (0, 2, 1, 3, 4, 5)), &f, bias)


cdef int convolve_input(
        Tensor out, Tensor grad, Tensor weight, tuple stride, tuple padding, tuple dilation,
        bint transposed, Py_ssize_t groups) except -1:
    # The gradient of a convolution is the transposed one, and the other way round.
    return convolve(out, grad, weight, None, stride, padding, dilation, not transposed, (), groups)


cdef int convolve_weight(
        Tensor out, Tensor grad, Tensor input, tuple stride, tuple padding, tuple dilation,
        bint transposed, Py_ssize_t groups) except -1:
    cdef Form f
    cdef Tensor x, y, target = out, window
    cdef Py_ssize_t[6] sizes
    cdef bint together
    cdef int d
    if out.count == 0:
        return 0
    fill_form(&f, out, stride, padding, dilation, groups)
    x, y = images(grad if transposed else input, f.rank), images(
        input if transposed else grad, f.rank)
    if y.count == 0:
        target = dense_like(out)
        clear(target)
        return copy_into(out, target, "convolution")
    if is_depthwise(&f, out.dt):
        if out.flags & F_STRIDED:
            target = dense_like(out)
        depthwise_weight(target, &f, y, x)
        return 0 if target is out else copy_into(out, target, "convolution")
    together = (x.strides[1] == 1 and y.strides[1] == 1 and x.sizes[1] > 1
                and y.sizes[1] > 1)
    if not out.flags & F_STRIDED and (not together or product3(f.k) == 1):
        return sum_of_products(out, &f, y, x, together)
    window = weight_window(out, &f)
    if together:
        window = permute_plain(window, (0, 1, 3, 4, 5, 2))
    for d in range(6):
        sizes[d] = window.sizes[d]
    target = tensor_empty_on(out.mem.device, out.dt, 6, sizes, NULL)
    sum_of_products(target, &f, y, x, together)
    return copy_into(window, target, "convolution")


KERNELS = {
    "convolution": PyCapsule_New(
        <void*>convolve,
        "int (Tensor, Tensor, Tensor, Tensor, tuple, tuple, tuple, bint, tuple, Py_ssize_t)", NULL),
    "_convolution_input": PyCapsule_New(
        <void*>convolve_input,
        "int (Tensor, Tensor, Tensor, tuple, tuple, tuple, bint, Py_ssize_t)", NULL),
    "_convolution_weight": PyCapsule_New(
        <void*>convolve_weight,
        "int (Tensor, Tensor, Tensor, tuple, tuple, tuple, bint, Py_ssize_t)", NULL),
}
