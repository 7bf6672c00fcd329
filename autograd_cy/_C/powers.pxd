# cython: language_level=3
"""Powers of plain tensors."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor pow_plain(Tensor a, Tensor exponent)
