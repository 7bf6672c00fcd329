# cython: language_level=3
"""Shape rules of what runs along a dimension."""
from autograd_cy._C.outputs cimport Result
from autograd_cy._C.tensor cimport Tensor

cdef int like(Result* r, Tensor a, Py_ssize_t dim, str op) except -1
cdef int extremes(Result* r, Tensor a, Py_ssize_t dim, str op) except -1
cdef int same_shape(Result* r, Tensor a, Tensor b, Tensor c, str op) except -1
