# cython: language_level=3
# Losses of plain tensors: no autograd metadata is read or set.
#
# The kernels fill results that a shape rule (rules_loss) has sized; `reduction` is a RED_* of it.

from autograd_cy._C.tensor cimport Tensor

# input (C), (N, C) or (N, C, d1, ...) of log-probabilities, target of classes. weight is None or a
# tensor of C factors.
cdef int nll_loss_into(Tensor out, Tensor total_weight, Tensor input, Tensor target, Tensor weight,
                       Py_ssize_t reduction, Py_ssize_t ignore_index) except -1
cdef int nll_loss_backward_into(Tensor out, Tensor grad, Tensor target, Tensor weight,
                                Tensor total_weight, Py_ssize_t reduction,
                                Py_ssize_t ignore_index) except -1

cdef int mse_loss_into(Tensor out, Tensor a, Tensor b, Py_ssize_t reduction) except -1
