# cython: language_level=3
"""Shape rules of padding: numbers before and after, from the last dimension on."""
from autograd_cy._C.outputs cimport Result
from autograd_cy._C.tensor cimport Tensor

cdef int padded(Result* r, Tensor a, tuple pad, str op) except -1
