# cython: language_level=3
"""Filters of plain tensors along the dimension with `behind` others behind it."""
from autograd_cy._C.tensor cimport Tensor

cdef int filtered(Tensor out, Tensor a, Tensor bounds, Tensor weight, Py_ssize_t behind) except -1
cdef int filtered_backward(Tensor out, Tensor grad, Tensor bounds, Tensor weight,
                           Py_ssize_t behind, Py_ssize_t size) except -1
cdef int filtered_bytes(Tensor out, Tensor a, Tensor bounds, Tensor weight, Py_ssize_t behind,
                        Py_ssize_t bits) except -1      # sums times 2 to the power -bits
