# cython: language_level=3
"""Images from gradients, of convolutions with a stride; part of convolution.pyx."""
from autograd_cy._C.convolution_plan cimport Form

# Whether x from y is of this kind.
cdef bint suits_scatter(Form* f) noexcept nogil

# 0; or 1 if there is no memory.
cdef int run_scatter(Form* f) noexcept nogil
