# cython: language_level=3
# Losses that are a sum (or mean) of one number for each element: plain tensors, no autograd
# metadata. The results are sized by rules_loss; `reduction` is a RED_* of it. Without a reduction
# the numbers themselves are the result.

from autograd_cy._C.tensor cimport Tensor

cdef int l1_into(Tensor out, Tensor a, Tensor b, Py_ssize_t reduction) except -1
cdef int smooth_l1_into(Tensor out, Tensor a, Tensor b, double beta,
                        Py_ssize_t reduction) except -1
cdef int huber_into(Tensor out, Tensor a, Tensor b, double delta, Py_ssize_t reduction) except -1
cdef int kl_div_into(Tensor out, Tensor a, Tensor b, Py_ssize_t reduction,
                     bint log_target) except -1
cdef int soft_margin_into(Tensor out, Tensor a, Tensor b, Py_ssize_t reduction) except -1

# `a` must be between 0 and 1; weights broadcast to its shape.
cdef int cross_entropy_into(Tensor out, Tensor a, Tensor b, Tensor weight,
                            Py_ssize_t reduction) except -1
cdef int logit_cross_entropy_into(Tensor out, Tensor a, Tensor b, Tensor weight, Tensor pos_weight,
                                  Py_ssize_t reduction) except -1
