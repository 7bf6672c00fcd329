# cython: language_level=3
"""Running extremes and logarithms of sums along a dimension."""
from autograd_cy._C.tensor cimport Tensor

cdef int cummax(Tensor values, Tensor indices, Tensor a, Py_ssize_t dim) except -1
cdef int cummin(Tensor values, Tensor indices, Tensor a, Py_ssize_t dim) except -1
cdef int logcumsumexp(Tensor out, Tensor a, Py_ssize_t dim) except -1
cdef int logcumsumexp_jvp(Tensor out, Tensor tangent, Tensor a, Tensor total,
                          Py_ssize_t back) except -1
cdef int logcumsumexp_backward(Tensor out, Tensor grad, Tensor a, Tensor total,
                               Py_ssize_t back) except -1
