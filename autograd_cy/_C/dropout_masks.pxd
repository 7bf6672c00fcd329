# cython: language_level=3
"""Random masks of zeros and ones."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor elements(Tensor a, double keep)
cdef Tensor channels(Tensor a, double keep)
cdef Tensor scaled(Tensor a, double keep)
