# cython: language_level=3
"""Composites of the family pooling."""
from autograd_cy._C.tensor cimport Tensor

cdef tuple max_pool_form(Tensor a, Py_ssize_t n, tuple kernel, object stride, tuple padding,
                         tuple dilation, bint ceil_mode)
cdef Tensor max_pool1d(Tensor a, tuple kernel, object stride, tuple padding, tuple dilation,
                       bint ceil_mode)
cdef Tensor avg_pool_form(Tensor a, Py_ssize_t n, tuple kernel, object stride, tuple padding,
                          bint ceil_mode, bint count_include_pad, object divisor)
cdef Tensor adaptive_avg_form(Tensor a, Py_ssize_t n, tuple size)
cdef tuple adaptive_max_form(Tensor a, Py_ssize_t n, tuple size)
cdef Tensor pooled_at(Tensor a, Tensor indices, Py_ssize_t n)
