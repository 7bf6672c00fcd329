# cython: language_level=3
"""Shape rules of losses."""
from autograd_cy._C.outputs cimport Result
from autograd_cy._C.tensor cimport Tensor

cdef enum:
    RED_NONE = 0
    RED_MEAN = 1
    RED_SUM = 2

# `reduction` is a RED_*.
cdef int nll(Result* r, Tensor input, Tensor target, Tensor weight, Py_ssize_t reduction,
             str op) except -1
cdef int nll_backward(Result* r, Tensor grad, Tensor target, Tensor weight, tuple size,
                      Py_ssize_t reduction, str op) except -1
cdef int squares(Result* r, Tensor a, Tensor b, Py_ssize_t reduction, str op) except -1

# Losses of pairs of elements.
cdef int pointwise(Result* r, Tensor a, Tensor b, Py_ssize_t reduction, str op) except -1
cdef int smooth_l1(Result* r, Tensor a, Tensor b, double beta, Py_ssize_t reduction,
                   str op) except -1
cdef int huber(Result* r, Tensor a, Tensor b, double delta, Py_ssize_t reduction,
               str op) except -1
cdef int probabilities(Result* r, Tensor a, Tensor b, Tensor weight, Py_ssize_t reduction,
                       str op) except -1
cdef int logits(Result* r, Tensor a, Tensor b, Tensor weight, Tensor pos_weight,
                Py_ssize_t reduction, str op) except -1
