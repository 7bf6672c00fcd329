# cython: language_level=3
# Losses of plain tensors: no autograd metadata is read or set.

from autograd_cy._C.tensor cimport Tensor

cdef enum:
    RED_NONE = 0
    RED_MEAN = 1
    RED_SUM = 2

# (loss, total_weight); input (C), (N, C) or (N, C, d1, ...) of log-probabilities, target of
# classes. weight is None or a tensor of C factors.
cdef tuple nll_loss_plain(Tensor input, Tensor target, object weight, int reduction,
                          long long ignore_index)
cdef Tensor nll_loss_backward_plain(Tensor grad, Tensor target, object weight, Tensor total_weight,
                                    tuple input_shape, int dt, int reduction,
                                    long long ignore_index)

cdef Tensor mse_loss_plain(Tensor a, Tensor b, int reduction)
# Gradient of the first operand; that of the second is its negative.
cdef Tensor mse_loss_backward_plain(Tensor grad, Tensor a, Tensor b, int reduction)


cdef Tensor nll_backward(Tensor grad, Tensor target, Tensor weight, Tensor total_weight, tuple size,
                         Py_ssize_t reduction, Py_ssize_t ignore_index)
