# cython: language_level=3
"""Shape rules of sampling at the points of a grid."""
from autograd_cy._C.outputs cimport Result
from autograd_cy._C.tensor cimport Tensor

cdef int sampled(Result* r, Tensor a, Tensor grid, str op) except -1
cdef int like_points(Result* r, Tensor grid, str op) except -1
