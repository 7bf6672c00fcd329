# cython: language_level=3
"""Windows of images on CUDA devices: where their elements are, as columns and back."""
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from autograd_cy._C.tensor cimport Tensor

# Of device/window_arguments.h, which modules of this package include.
cdef extern from * nogil:
    ctypedef struct ag_wide_divisor:
        uint64_t size
    ctypedef struct ag_windows:
        int64_t step[3]
        int64_t begin[3]
        int64_t tap[3]
        int64_t apart[3]
        int64_t size[3]
        int64_t stride[3]
        uint64_t taps[3]
        ag_wide_divisor rows, columns
        uint32_t divided

# Which element of a source, along each of three dimensions, a tap of a place takes: that at
# (place * step + begin + number of the tap * tap) / apart, if there is one.
cdef struct Taps:
    int64_t step[3]
    int64_t begin[3]
    int64_t tap[3]
    int64_t apart[3]
    Py_ssize_t count[3]

cdef inline Py_ssize_t product3(const Py_ssize_t* sizes) noexcept:
    return sizes[0] * sizes[1] * sizes[2]

# A view with the dimensions (N, C, D, H, W) of a tensor with 1 to 3 dimensions after `lead` ones,
# of which the last two are N and C.
cdef Tensor images(Tensor t, int rank)
# Fill in what `taps` of a source say, for places of these sizes; `strides` are in elements.
cdef void set_windows(ag_windows* w, const Taps* taps, const Py_ssize_t* size,
                      const Py_ssize_t* strides, Py_ssize_t item,
                      const Py_ssize_t* places) noexcept
# Whether dimensions lie behind each other, so that one stride leads through all; the first ones are
# the outer ones. `step` is that stride.
cdef bint joined(Tensor t, const int* dims, int n, Py_ssize_t* step) noexcept

# Where columns lie, in elements.
cdef struct Layout:
    Py_ssize_t image, place, group, channel, tap
    bint channels_inner        # channels lie side by side

# The windows of `count` images of `source` (5 dimensions) from image `image` on, at `places` places
# from `first` on, as columns at `to`.
cdef int put_columns(char* to, const Layout* layout, Tensor source, Py_ssize_t groups,
                     const Taps* taps, const Py_ssize_t* grid, Py_ssize_t image, Py_ssize_t count,
                     Py_ssize_t first, Py_ssize_t places) except -1
# An image (5 dimensions), each element the sum of the columns that have it, and a bias; columns are
# (image, channel, tap, place) in C order, with places of the sizes `grid`.
cdef int fold_columns(Tensor out, Tensor columns, Tensor bias, const Taps* back,
                      const Py_ssize_t* grid) except -1
