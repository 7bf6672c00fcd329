# cython: language_level=3
"""Composites of the family linear."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor flatten_rows(Tensor a)
cdef Tensor weight_gradient(Tensor grad, Tensor x)
cdef Tensor batched_linear(Tensor x, Tensor weight, Tensor bias)
cdef Tensor bias_gradient(Tensor grad, tuple size)
cdef Tensor expand_bias(Tensor bias, tuple results)
cdef Tensor linear_of_examples(Tensor x, Tensor weight, Tensor bias)
