# cython: language_level=3
"""Functions of plain tensors that SciPy computes, and thresholds and masks."""
from autograd_cy._C.tensor cimport Tensor

cdef int polygamma(Tensor out, Tensor a, Py_ssize_t n) except -1
cdef int igamma(Tensor out, Tensor a, Tensor x) except -1        # both operands broadcast
cdef int igammac(Tensor out, Tensor a, Tensor x) except -1
cdef Tensor threshold_plain(Tensor a, Tensor threshold, Tensor value, Tensor out)
cdef Tensor masked_fill(Tensor a, Tensor mask, Tensor value, Tensor out)
cdef Tensor fill_where(Tensor a, Tensor mask, Tensor value, Tensor out)
cdef Tensor threshold_backward_plain(Tensor grad, Tensor a, Tensor threshold)

# x[mask] = value: the result, or None where it isn't that.
cdef Tensor put_number(Tensor a, object indices, Tensor values, bint accumulate, Tensor out)
