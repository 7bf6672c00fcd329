# cython: language_level=3
"""Convolutions whose channels are the lanes of vectors; part of convolution.pyx."""
from autograd_cy._C.convolution_plan cimport Form

# Whether y from x is of this kind, or with `image` x from y.
cdef bint suits_channels(const Form* f, bint image) noexcept nogil

# 0; or 1 if there is no memory.
cdef int run_channels(const Form* f, bint image) noexcept nogil
