# cython: language_level=3
"""Composites of the family smooth_activation."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor glu_jvp(Tensor a, Tensor tangent, Py_ssize_t dim)
cdef Tensor glu_backward_jvp(Tensor grad, Tensor a, Tensor tangent, Py_ssize_t dim)
