# cython: language_level=3
# What the compiled copies of grid_loops.pyx offer, handed over as one table in a capsule: images
# at the points of a grid, and the gradients of both.

from libc.stdint cimport int32_t

cdef enum:
    BILINEAR = 0
    NEAREST = 1
    BICUBIC = 2

cdef enum:     # what is beyond the edges
    ZEROS = 0
    BORDER = 1
    REFLECTION = 2

# Images of three dimensions, of which the first has a size of 1 where there are two.
ctypedef struct Sampling:
    int mode
    int padding
    bint align
    int rank                   # coordinates of a point
    int taps[3]                # elements that count, in each dimension
    Py_ssize_t size[3]
    int32_t step[3]            # from one element to the next
    Py_ssize_t plane           # elements of a channel, below 2 ** 31
    Py_ssize_t count           # points of a grid
    Py_ssize_t channels        # from one element to the next, in channels last

# All of one example: `image` has so many channels of `plane` elements, `out` as many of `count`,
# of which first to last are made.
ctypedef void (*sample_fn)(
    const Sampling* g, const char* image, const char* points, char* out, Py_ssize_t channels,
    Py_ssize_t first, Py_ssize_t last) noexcept nogil

# The gradient of so many channels.
ctypedef void (*sample_image_fn)(
    const Sampling* g, const char* grad, const char* points, char* out,
    Py_ssize_t channels) noexcept nogil

# The gradients of points first to last.
ctypedef void (*sample_points_fn)(
    const Sampling* g, const char* grad, const char* image, const char* points, char* out,
    Py_ssize_t channels, Py_ssize_t first, Py_ssize_t last) noexcept nogil

# By planes and, with all channels of an element behind each other, by places; the gradient of what
# was sampled has planes in any case.
ctypedef struct GridTable:
    sample_fn forward[2][2]    # each of float32, float64
    sample_image_fn image[2][2]
    sample_points_fn points[2][2]
