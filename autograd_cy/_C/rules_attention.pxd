# cython: language_level=3
"""Shape rules of attention."""
from autograd_cy._C.outputs cimport Result
from autograd_cy._C.tensor cimport Tensor

cdef int attended(Result* r, Tensor query, Tensor key, Tensor value, Tensor mask,
                  Tensor dropped, str op) except -1
cdef int gradients(Result* r, Tensor query, Tensor key, Tensor value, str op) except -1
