# cython: language_level=3
"""Shape rules of special functions."""
from autograd_cy._C.outputs cimport Result
from autograd_cy._C.tensor cimport Tensor

cdef int floating(Result* r, Tensor a, str op) except -1
cdef int polygamma(Result* r, Tensor a, Py_ssize_t n, str op) except -1
cdef int both(Result* r, Tensor a, Tensor b, str op) except -1
