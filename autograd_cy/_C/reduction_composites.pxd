# cython: language_level=3
"""Composites of the family reduction."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor expand_reduced(Tensor grad, object shape, object dims, bint keepdim)
cdef Tensor aminmax_backward(Tensor low_grad, Tensor high_grad, Tensor a, Tensor low, Tensor high,
                             object dim, bint keepdim)
cdef Tensor sum_to_size(Tensor a, tuple size)
cdef Tensor trace(Tensor a)
cdef Tensor cumprod(Tensor a, Py_ssize_t dim, int dt, Tensor out=*)
cdef Tensor linear_scan_terms(Tensor grad, Tensor factors, Py_ssize_t dim, bint reverse)
cdef Tensor linear_scan_factors(Tensor grad, Tensor factors, Tensor result, Py_ssize_t dim,
                                bint reverse)
cdef Tensor linear_scan_jvp(Tensor tangent, Tensor factors, Tensor result, Py_ssize_t dim,
                            bint reverse)
cdef Tensor product_of_others(Tensor a, object dim)
cdef Tensor norm(Tensor a, object p, object dim, bint keepdim, int dt, Tensor out=*)
cdef Tensor diff(Tensor a, Py_ssize_t n, Py_ssize_t dim, Tensor prepend, Tensor append, Tensor out)
