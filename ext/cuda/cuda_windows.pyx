# cython: language_level=3
# build: plain cold
"""Windows of images as columns on CUDA devices, and columns added up to images.

Kernels are in device/windows.cuh. What is moved only is moved by words of its size.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memset

from autograd_cy._C.cuda_launch cimport blocks_for, kernel_id, launch
from autograd_cy._C.cuda_reduce cimport set_divisor
from autograd_cy._C.devices cimport current_stream
from autograd_cy._C.dtypes cimport DTYPES, DT_SIZE
from autograd_cy._C.iterate cimport contiguous
from autograd_cy._C.storage cimport device_index
from autograd_cy._C.tensor cimport Tensor, tensor_window

cdef extern from "device/window_arguments.h" nogil:
    ctypedef struct ag_columns_args:
        void* out
        const void* in_ "in"
        ag_windows w
        ag_wide_divisor places, channels, each
        uint64_t n, first
        int64_t in_image, in_channel
        int64_t out_image, out_place, out_channel, out_tap, out_group
        uint32_t channels_inner
    ctypedef struct ag_fold_args:
        void* out
        const void* in_ "in"
        const void* bias
        ag_windows w
        ag_wide_divisor area, channels
        uint64_t n
        int64_t out_image, out_channel
        int64_t out_stride[3]
        int64_t in_image, in_channel, in_tap, bias_step
        uint32_t channels_inner

cdef enum:
    THREADS = 256

include "cuda_types.pxi"

cdef int[17] column_kernels      # by bytes; one more than the number, 0: unknown
cdef int[DTYPES] fold_kernels
memset(column_kernels, 0, sizeof(column_kernels))
memset(fold_kernels, 0, sizeof(fold_kernels))


cdef int column_kernel(Py_ssize_t item) except -1:
    if not column_kernels[item]:
        column_kernels[item] = kernel_id("windows", f"columns_w{8 * item}") + 1
    return column_kernels[item] - 1


cdef int fold_kernel(int dt) except -1:
    if not fold_kernels[dt]:
        fold_kernels[dt] = kernel_id("windows", f"fold_{SUFFIXES[dt]}") + 1
    return fold_kernels[dt] - 1


# --- geometry -------------------------------------------------------------------------------

cdef Tensor images(Tensor t, int rank):
    cdef Py_ssize_t[5] sizes
    cdef Py_ssize_t[5] strides
    cdef int d, first = t.nd - rank
    for d in range(5):
        sizes[d], strides[d] = 1, 0
    for d in range(2):
        if first - 2 + d >= 0:
            sizes[d], strides[d] = t.sizes[first - 2 + d], t.strides[first - 2 + d]
    for d in range(rank):
        sizes[5 - rank + d], strides[5 - rank + d] = t.sizes[first + d], t.strides[first + d]
    return tensor_window(t, 5, sizes, strides, 0)


cdef void set_windows(ag_windows* w, const Taps* taps, const Py_ssize_t* size,
                      const Py_ssize_t* strides, Py_ssize_t item,
                      const Py_ssize_t* places) noexcept:
    cdef int d
    w.divided = 0
    for d in range(3):
        # Steps that nothing takes may be of any length.
        w.step[d] = taps.step[d] if places[d] > 1 else 0
        w.begin[d] = taps.begin[d]
        w.tap[d] = taps.tap[d] if taps.count[d] > 1 else 0
        w.apart[d] = taps.apart[d]
        w.divided |= taps.apart[d] != 1
        w.size[d] = size[d]
        w.stride[d] = strides[d] * item
        w.taps[d] = taps.count[d]
    set_divisor(&w.rows, places[1])
    set_divisor(&w.columns, places[2])


cdef bint joined(Tensor t, const int* dims, int n, Py_ssize_t* step) noexcept:
    cdef Py_ssize_t rows = 1
    cdef int i, d
    step[0] = 1
    for i in range(n - 1, -1, -1):
        d = dims[i]
        if t.sizes[d] == 1:
            continue
        if rows == 1:
            step[0] = t.strides[d]
        elif t.strides[d] != rows * step[0]:
            return False
        rows *= t.sizes[d]
    return True


# --- columns --------------------------------------------------------------------------------

cdef int put_columns(char* to, const Layout* layout, Tensor source, Py_ssize_t groups,
                     const Taps* taps, const Py_ssize_t* grid, Py_ssize_t image, Py_ssize_t count,
                     Py_ssize_t first, Py_ssize_t places) except -1:
    cdef ag_columns_args args
    cdef Py_ssize_t item = DT_SIZE[source.dt], channels = source.sizes[1], word = item
    cdef Py_ssize_t each = channels // groups
    cdef int index = device_index(source.mem.device)
    memset(&args, 0, sizeof(args))
    set_windows(&args.w, taps, &source.sizes[2], &source.strides[2], item, grid)
    args.in_ = source.ptr + image * source.strides[0] * item
    args.out = to
    args.in_image, args.in_channel = source.strides[0] * item, source.strides[1] * item
    args.out_image, args.out_place = layout.image * item, layout.place * item
    args.out_group, args.out_channel = layout.group * item, layout.channel * item
    args.out_tap = layout.tap * item
    if layout.channels_inner and source.strides[1] == 1 and layout.channel == 1:
        word = wide_word(&args, item, each)
        each = each * item // word
        args.in_channel = args.out_channel = word
    channels = each * groups
    args.n = count * places * channels
    args.first = first
    if args.n == 0 or taps.count[0] * taps.count[1] * taps.count[2] == 0:
        return 0
    set_divisor(&args.places, places)
    set_divisor(&args.channels, channels)
    set_divisor(&args.each, each)
    args.channels_inner = layout.channels_inner
    return launch(column_kernel(word), index, current_stream(source.mem.device),
                  blocks_for(index, <Py_ssize_t>args.n, THREADS), 1, 1, THREADS, 1, 1, 0, &args,
                  sizeof(args))


cdef Py_ssize_t wide_word(const ag_columns_args* a, Py_ssize_t item, Py_ssize_t each) noexcept:
    """Return how many bytes of side by side channels can be moved at once."""
    cdef size_t bits = <size_t>a.in_ | <size_t>a.out | <size_t>(each * item)
    cdef Py_ssize_t word = 16
    cdef int d
    bits |= <size_t>(a.in_image | a.out_image | a.out_place | a.out_group | a.out_tap)
    for d in range(3):
        bits |= <size_t>a.w.stride[d]
    while word > item and bits % word:
        word //= 2
    return word


cdef int fold_columns(Tensor out, Tensor columns, Tensor bias, const Taps* back,
                      const Py_ssize_t* grid) except -1:
    cdef ag_fold_args args
    cdef Py_ssize_t item = DT_SIZE[out.dt], places = product3(grid), taps
    cdef Py_ssize_t[3] strides
    cdef int index = device_index(out.mem.device), d
    if out.count == 0:
        return 0
    memset(&args, 0, sizeof(args))
    strides[0], strides[1], strides[2] = grid[1] * grid[2], grid[2], 1
    set_windows(&args.w, back, grid, strides, item, &out.sizes[2])
    taps = product3(back.count)
    args.out, args.in_ = out.ptr, columns.ptr
    if bias is not None:
        args.bias, args.bias_step = bias.ptr, bias.strides[0] * item
    args.n = out.count
    set_divisor(&args.area, product3(&out.sizes[2]))
    set_divisor(&args.channels, out.sizes[1])
    args.out_image, args.out_channel = out.strides[0] * item, out.strides[1] * item
    for d in range(3):
        args.out_stride[d] = out.strides[2 + d] * item
    args.in_tap = places * item
    args.in_channel = taps * args.in_tap
    args.in_image = out.sizes[1] * args.in_channel
    args.channels_inner = out.strides[1] == 1
    return launch(fold_kernel(out.dt), index, current_stream(out.mem.device),
                  blocks_for(index, <Py_ssize_t>args.n, THREADS), 1, 1, THREADS, 1, 1, 0, &args,
                  sizeof(args))


# --- unfold and fold ------------------------------------------------------------------------

cdef inline Py_ssize_t one_of(tuple values, int d) except? -1:
    return values[0] if len(values) == 1 else values[d]


cdef int windows_of(Taps* taps, Py_ssize_t* grid, Tensor image, tuple kernel_size, tuple dilation,
                    tuple padding, tuple stride, bint back) except -1:
    """Taps of images of two dimensions, or with `back` those of elements in columns."""
    cdef Py_ssize_t reach, step
    cdef int d
    taps.step[0] = taps.apart[0] = taps.count[0] = grid[0] = 1
    taps.begin[0] = taps.tap[0] = 0
    for d in range(2):
        reach = one_of(dilation, d) * (one_of(kernel_size, d) - 1) + 1
        step = one_of(stride, d)
        grid[1 + d] = (image.sizes[image.nd - 2 + d] + 2 * one_of(padding, d) - reach) // step + 1
        taps.count[1 + d] = one_of(kernel_size, d)
        taps.step[1 + d] = 1 if back else step
        taps.apart[1 + d] = step if back else 1
        taps.begin[1 + d] = one_of(padding, d) if back else -one_of(padding, d)
        taps.tap[1 + d] = -one_of(dilation, d) if back else one_of(dilation, d)
    return 0


cdef int unfold(Tensor out, Tensor a, tuple kernel_size, tuple dilation, tuple padding,
                tuple stride) except -1:
    cdef Taps taps
    cdef Py_ssize_t[3] grid
    cdef Layout to
    if out.count == 0:
        return 0
    windows_of(&taps, grid, a, kernel_size, dilation, padding, stride, False)
    a = images(a, 2)
    to.place = 1
    to.tap = product3(grid)
    to.channel = to.tap * product3(taps.count)
    to.image = to.channel * a.sizes[1]
    to.group = 0
    to.channels_inner = False
    return put_columns(out.ptr, &to, a, 1, &taps, grid, 0, a.sizes[0], 0, to.tap)


cdef int fold(Tensor out, Tensor a, tuple kernel_size, tuple dilation, tuple padding,
              tuple stride) except -1:
    cdef Taps back
    cdef Py_ssize_t[3] grid
    windows_of(&back, grid, out, kernel_size, dilation, padding, stride, True)
    return fold_columns(images(out, 2), contiguous(a), None, &back, grid)


cdef const char* UNFOLD = "int (Tensor, Tensor, tuple, tuple, tuple, tuple)"

KERNELS = {
    "_im2col": PyCapsule_New(<void*>unfold, UNFOLD, NULL),
    "_col2im": PyCapsule_New(<void*>fold, UNFOLD, NULL),
}
