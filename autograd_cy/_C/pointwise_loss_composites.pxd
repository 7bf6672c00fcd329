# cython: language_level=3
"""Composites of the family pointwise_loss."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor share_of_gradient(Tensor grad, Tensor like, Tensor weight, Py_ssize_t reduction)
cdef Tensor total(Tensor values, Tensor weight, Py_ssize_t reduction)
cdef Tensor per_example(Tensor values, Py_ssize_t reduction)
cdef Tensor cross_entropy(Tensor a, Tensor b, Tensor weight, Py_ssize_t reduction)
cdef Tensor cross_entropy_each(Tensor a, Tensor b, Tensor weight, Py_ssize_t reduction)
cdef Tensor logit_gradient(Tensor grad, Tensor a, Tensor b, Tensor pos_weight)
cdef Tensor logit_target(Tensor grad, Tensor a, Tensor pos_weight)
cdef Tensor logit_cross_entropy_each(Tensor a, Tensor b, Tensor weight, Tensor pos_weight,
                                     Py_ssize_t reduction)
cdef Tensor logit_cross_entropy(Tensor a, Tensor b, Tensor weight, Tensor pos_weight,
                                Py_ssize_t reduction)
cdef Tensor kl_div(Tensor a, Tensor b, Py_ssize_t reduction, bint log_target)
