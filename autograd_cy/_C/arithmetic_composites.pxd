# cython: language_level=3
"""Composites of the family arithmetic."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor positive(Tensor a)
cdef Tensor as_complex(Tensor a)
cdef Tensor first_power(Tensor a)
cdef Tensor nan_to_num(Tensor a, object nan, object posinf, object neginf, Tensor out)
cdef Tensor round_decimals(Tensor a, Py_ssize_t decimals, Tensor out)
cdef Tensor float_power(Tensor a, Tensor exponent, Tensor out)
