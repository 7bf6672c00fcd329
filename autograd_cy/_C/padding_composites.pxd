# cython: language_level=3
"""Composites of the family padding."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor pad_form(Tensor a, tuple pad, str mode, object value)
cdef Tensor crop(Tensor a, tuple pad)
