# cython: language_level=3
"""Composites of the family linalg."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor eigh_backward(Tensor grad_values, Tensor grad_vectors, Tensor values, Tensor vectors)
cdef Tensor eigenvalues_jvp(Tensor tangent, Tensor vectors)
cdef Tensor eigenvectors_jvp(Tensor tangent, Tensor values, Tensor vectors)
