# cython: language_level=3
"""Matrix products of plain tensors, into results that are given (C-contiguous)."""
from autograd_cy._C.tensor cimport Tensor

cdef int mm(Tensor out, Tensor a, Tensor b) except -1
cdef int bmm(Tensor out, Tensor a, Tensor b) except -1
cdef int dot(Tensor out, Tensor a, Tensor b) except -1
cdef int vdot(Tensor out, Tensor a, Tensor b) except -1
cdef int mv(Tensor out, Tensor a, Tensor b) except -1
cdef int addmm(Tensor out, Tensor c, Tensor a, Tensor b, Tensor beta, Tensor alpha) except -1
cdef int addmv(Tensor out, Tensor c, Tensor a, Tensor b, Tensor beta, Tensor alpha) except -1
cdef int addbmm(Tensor out, Tensor c, Tensor a, Tensor b, Tensor beta, Tensor alpha) except -1
cdef int baddbmm(Tensor out, Tensor c, Tensor a, Tensor b, Tensor beta, Tensor alpha) except -1
cdef int linear(Tensor out, Tensor x, Tensor weight, Tensor bias) except -1
