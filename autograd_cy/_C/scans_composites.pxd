# cython: language_level=3
"""Composites of the family scans."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor logcumsumexp_backward(Tensor grad, Tensor a, Tensor result, Py_ssize_t dim)
cdef Tensor logcumsumexp_moved(Tensor moved, Tensor a, Tensor result, Py_ssize_t dim)
