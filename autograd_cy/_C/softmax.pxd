# cython: language_level=3
# Softmax over one dimension of plain tensors: no autograd metadata is read or set.
#
# The kernels fill results that a shape rule (rules_reduction) has sized.

from autograd_cy._C.tensor cimport Tensor

# dt: dtype code to compute in (the operand is cast first), or -1.
cdef int softmax_into(Tensor out, Tensor a, Py_ssize_t dim, int dt) except -1
cdef int log_softmax_into(Tensor out, Tensor a, Py_ssize_t dim, int dt) except -1

# `result` is what the forward pass returned.
cdef int softmax_backward_into(Tensor out, Tensor grad, Tensor result, Py_ssize_t dim) except -1
cdef int log_softmax_backward_into(Tensor out, Tensor grad, Tensor result,
                                   Py_ssize_t dim) except -1
