# cython: language_level=3
"""Random kernels of the operator table."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor dropout_mask(Tensor a, double keep)
