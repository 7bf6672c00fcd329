# cython: language_level=3
"""Running sums on CUDA devices."""
from autograd_cy._C.tensor cimport Tensor

# `out` may be `a` itself, if it is dense.
cdef int cumsum(Tensor out, Tensor a, Py_ssize_t dim) except -1
