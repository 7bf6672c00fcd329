# cython: language_level=3
"""vmap rules of the negative log-likelihood; the table names them with `by_hand`."""
from autograd_cy._C.tensor cimport Tensor

cdef tuple nll_forward_each(Tensor self, Tensor target, Tensor weight, Py_ssize_t reduction,
                            Py_ssize_t ignore_index)
cdef Tensor nll_backward_each(Tensor grad_output, Tensor target, Tensor weight, Tensor total_weight,
                              tuple size, Py_ssize_t reduction, Py_ssize_t ignore_index)
