# cython: language_level=3
"""Composites of the family statistics."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor var_mean_backward(Tensor var, Tensor mean, Tensor a, object dim, double correction,
                              bint keepdim)
cdef Tensor var_jvp(Tensor tangent, Tensor a, object dim, double correction, bint keepdim)
cdef Tensor of_root(Tensor tangent, Tensor root)
cdef Tensor std_mean_backward(Tensor std, Tensor mean, Tensor root, Tensor a, object dim,
                              double correction, bint keepdim)
