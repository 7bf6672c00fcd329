# cython: language_level=3
"""Shape rules of many operators."""
from autograd_cy._C.outputs cimport Result
from autograd_cy._C.tensor cimport Tensor

cdef int same(Result* r, Tensor a, str op) except -1     # dtype, shape and order of dimensions of a
