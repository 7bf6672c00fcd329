# cython: language_level=3
"""Composites of the family loss."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor cross_entropy_form(Tensor logits, Tensor target, Tensor weight, Py_ssize_t ignore_index,
                               str reduction, double label_smoothing)
cdef Tensor nll_output(Tensor a, Tensor target, Tensor weight, Py_ssize_t reduction,
                       Py_ssize_t ignore_index)
cdef Tensor nll_loss(Tensor a, Tensor target, Tensor weight, Py_ssize_t ignore_index,
                     str reduction)
cdef Tensor mse_loss(Tensor a, Tensor b, str reduction)
cdef Tensor mse_jvp(Tensor tangent, Tensor a, Tensor b, Py_ssize_t reduction)
cdef Tensor mse_each(Tensor a, Tensor b, Py_ssize_t reduction)
