# cython: language_level=3
# Softmax over one dimension of plain tensors: no autograd metadata is read or set.

from autograd_cy._C.tensor cimport Tensor

# dt: dtype code to compute in (the operand is cast first), or -1.
cdef Tensor softmax_plain(Tensor a, int dim, int dt)
cdef Tensor log_softmax_plain(Tensor a, int dim, int dt)

# `result` is what the forward pass returned.
cdef Tensor softmax_backward_plain(Tensor grad, Tensor result, int dim)
cdef Tensor log_softmax_backward_plain(Tensor grad, Tensor result, int dim)
