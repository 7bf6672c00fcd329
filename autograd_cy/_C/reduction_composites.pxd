# cython: language_level=3
"""Composites of the family reduction."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor expand_reduced(Tensor grad, object shape, object dims, bint keepdim)
cdef Tensor sum_to_size(Tensor a, tuple size)
cdef Tensor trace(Tensor a)
cdef Tensor cumprod(Tensor a, Py_ssize_t dim, int dt, Tensor out=*)
cdef Tensor product_of_others(Tensor a, object dim)
cdef Tensor norm(Tensor a, object p, object dim, bint keepdim, int dt, Tensor out=*)
cdef Tensor diff(Tensor a, Py_ssize_t n, Py_ssize_t dim, Tensor prepend, Tensor append, Tensor out)
