# cython: language_level=3
"""Matrix products of plain tensors."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor mm_plain(Tensor a, Tensor b)
cdef Tensor bmm_plain(Tensor a, Tensor b)
cdef Tensor dot_plain(Tensor a, Tensor b)
cdef Tensor mv_plain(Tensor a, Tensor b)
cdef Tensor addmm_plain(Tensor c, Tensor a, Tensor b, Tensor beta, Tensor alpha)
cdef Tensor linear_plain(Tensor x, Tensor weight, Tensor bias)
