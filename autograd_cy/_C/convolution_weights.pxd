# cython: language_level=3
"""Gradients of the weights of convolutions; part of convolution.pyx."""
from autograd_cy._C.convolution_plan cimport Form

# 0, or 1 if there is no memory.
cdef int run_weights(Form* f) noexcept nogil
