# cython: language_level=3
"""Convolutions of 3 x 3 taps by tiles of 2 x 2 results; part of convolution.pyx."""
from autograd_cy._C.convolution_plan cimport Form

# Whether a convolution is of this kind, and its tiles take less time than plain sums.
cdef bint suits_2x2(Form* f) noexcept nogil

# y from x, x from y, and the weights' gradient. 0; or 1 if something isn't finite or there is no
# memory, and the plain sums have to be taken.
cdef int run_2x2(Form* f, bint image) noexcept nogil
cdef int run_2x2_weights(Form* f) noexcept nogil
