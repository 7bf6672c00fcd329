# cython: language_level=3
"""Composites of the family joining."""
from autograd_cy._C.tensor cimport Tensor

cdef tuple split(Tensor a, object size, Py_ssize_t dim)
cdef tuple chunk(Tensor a, Py_ssize_t chunks, Py_ssize_t dim)
cdef tuple cat_backward(Tensor grad, object sizes, Py_ssize_t dim)
cdef Tensor place_blocks(Tensor zeros, tuple blocks)
cdef tuple unsafe_split(Tensor a, Py_ssize_t size, Py_ssize_t dim)
cdef tuple unsafe_chunk(Tensor a, Py_ssize_t chunks, Py_ssize_t dim)
cdef tuple tensor_split(Tensor a, object where, Py_ssize_t dim)
