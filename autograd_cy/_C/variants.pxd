# cython: language_level=3
"""Composites that depend on an option or on dtypes."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor round_decimals(Tensor a, Py_ssize_t decimals)
cdef Tensor fmax(Tensor a, Tensor b)
cdef Tensor fmin(Tensor a, Tensor b)
cdef Tensor heaviside(Tensor a, Tensor values)
cdef Tensor gather_sparse(Tensor a, Py_ssize_t dim, Tensor index, bint sparse_grad)
cdef Tensor scatter_by(Tensor a, Py_ssize_t dim, Tensor index, Tensor source, str reduce)
cdef tuple nonzero_tuple(Tensor a, bint as_tuple)
