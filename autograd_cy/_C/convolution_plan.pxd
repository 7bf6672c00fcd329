# cython: language_level=3
"""The description of a convolution, and of the memory format of its input, for all its modules."""
from autograd_cy._C.convolution_loops cimport ConvTable

# One convolution as a form of three tensors, images x (n, groups * c, ...), images y
# (n, groups * o, ...) and a weight (groups * o, c, ...): the sum over all of
#     x[.., p * stride - pad + q * dilation] * y[.., p] * w[.., q].
# Each of the three operations gives what the other two multiply one of them by.
ctypedef struct Form:
    char* x
    char* y
    char* w
    char* bias              # NULL, or what the results begin with
    Py_ssize_t bias_step
    int dt                  # of the elements; of the parts of complex ones
    int unit                # 2 for complex elements, else 1
    int kind
    Py_ssize_t size         # bytes of an element of dt
    Py_ssize_t wide         # and of one of the computing type
    Py_ssize_t n, groups, c, o
    Py_ssize_t of_x[3]      # spatial sizes
    Py_ssize_t of_y[3]
    Py_ssize_t k[3]
    Py_ssize_t stride[3]
    Py_ssize_t pad[3]
    Py_ssize_t dil[3]
    Py_ssize_t at_x[5]      # strides in elements of dt
    Py_ssize_t at_y[5]
    Py_ssize_t at_w[5]
    int failed

# How images lie in working memory: margins of zeros around them, which neighbours share, and with a
# step the elements of each phase together.
ctypedef struct Planes:
    Py_ssize_t lead[3]      # zeros before the first element; negative: elements left out
    Py_ssize_t step[3]
    Py_ssize_t phases[3]    # how many are needed
    Py_ssize_t extent[3]    # of a phase that is read
    Py_ssize_t need[3]      # positions that results begin at; they keep places of their own
    Py_ssize_t row          # distances of rows, layers, images, phases, channels
    Py_ssize_t layer
    Py_ssize_t image
    Py_ssize_t phase
    Py_ssize_t channel
    Py_ssize_t images       # that lie together

cdef ConvTable loops

# Images of x (or y) as `lay_out` describes them.
cdef void lay_out(
    Planes* p, const Py_ssize_t* sizes, Py_ssize_t images, Py_ssize_t slack) noexcept nogil
# Without the outer taps that only meet margins; true if there were some.
cdef bint trim(Form* f) noexcept nogil
cdef void fill_channel(
    const Form* f, const Planes* p, const char* source, const Py_ssize_t* at,
    const Py_ssize_t* sizes, Py_ssize_t first, Py_ssize_t images, char* result) noexcept nogil
