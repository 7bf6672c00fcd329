# cython: language_level=3
"""Composites of the family products."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor matmul(Tensor a, Tensor b, Tensor out)
cdef Tensor unmerge_batch(Tensor a, Py_ssize_t size, Py_ssize_t rows)
cdef Tensor batched_addmm(Tensor a, Tensor mat1, Tensor mat2, Tensor beta, Tensor alpha)
cdef Tensor outer(Tensor a, Tensor b, Tensor out)
cdef Tensor kron(Tensor a, Tensor b, Tensor out)
cdef Tensor cross(Tensor a, Tensor b, object dim, Tensor out)
cdef Tensor addr(Tensor a, Tensor vec1, Tensor vec2, Tensor beta, Tensor alpha, Tensor out)
cdef Tensor batched_baddbmm(Tensor a, Tensor batch1, Tensor batch2, Tensor beta, Tensor alpha)
cdef Tensor batched_addmv(Tensor a, Tensor mat, Tensor vec, Tensor beta, Tensor alpha)
cdef Tensor batched_addbmm(Tensor a, Tensor batch1, Tensor batch2, Tensor beta, Tensor alpha)
