# cython: language_level=3
"""Powers of plain tensors, and logit."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor pow_plain(Tensor a, Tensor exponent, Tensor out)
cdef Tensor logit_plain(Tensor a, object eps, Tensor out)
cdef Tensor div_rounded_plain(Tensor a, Tensor b, str mode, Tensor out)
cdef Tensor over_plain(Tensor a, Tensor b)
