# cython: language_level=3
"""Shape rules of filters along a dimension."""
from autograd_cy._C.outputs cimport Result
from autograd_cy._C.tensor cimport Tensor

cdef int filtered(Result* r, Tensor a, Tensor bounds, Tensor weight, Py_ssize_t behind,
                  str op) except -1
cdef int filtered_backward(Result* r, Tensor grad, Tensor bounds, Tensor weight,
                           Py_ssize_t behind, Py_ssize_t size, str op) except -1
