# cython: language_level=3
# Functions of plain tensors that SciPy and LAPACK compute, and the threshold.
from autograd_cy._C.tensor cimport Tensor

cdef Tensor lgamma_plain(Tensor a)
cdef Tensor digamma_plain(Tensor a)
cdef Tensor polygamma_plain(Tensor a, Py_ssize_t n)
cdef Tensor igamma_plain(Tensor a, Tensor x)           # both operands broadcast
cdef Tensor igammac_plain(Tensor a, Tensor x)
cdef Tensor threshold_plain(Tensor a, Tensor threshold, Tensor value)
cdef Tensor threshold_backward_plain(Tensor grad, Tensor a, Tensor threshold)
