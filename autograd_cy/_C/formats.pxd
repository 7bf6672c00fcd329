# cython: language_level=3
"""Results in channels last, where an operand is."""
from autograd_cy._C.outputs cimport Result
from autograd_cy._C.tensor cimport F_STRIDED, Tensor

cdef bint strides_say_channels_last(Tensor a) noexcept

cdef inline bint channels_last(Tensor a) noexcept:
    """Return whether the memory of images or volumes, or of None, has all channels of a place
    together."""
    return (a is not None and a.flags & F_STRIDED != 0 and (a.nd == 4 or a.nd == 5)
            and strides_say_channels_last(a))

cdef bint all_channels_last(tuple tensors) noexcept
cdef Tensor turned_channels_last(Tensor a)       # a copy; other than images and volumes: a itself
cdef int lay_channels_last(Result* r) except -1     # of images and volumes, and of nothing else

# For kernels that go from place to place, each with all its channels: whether `out` is dense so,
# and `a` has this format; a dense tensor of such a one; and (N, D, H, W, C) contiguous, a view.
cdef bint by_places(Tensor out, Tensor a) noexcept
cdef Tensor dense_places(Tensor a)
cdef Tensor places_first(Tensor a)
