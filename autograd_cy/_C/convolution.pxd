# cython: language_level=3
"""Convolutions of plain tensors, and their gradients."""
from autograd_cy._C.tensor cimport Tensor

cdef int convolve(
    Tensor out, Tensor input, Tensor weight, Tensor bias, tuple stride, tuple padding,
    tuple dilation, bint transposed, tuple output_padding, Py_ssize_t groups) except -1
cdef int convolve_input(
    Tensor out, Tensor grad, Tensor weight, tuple stride, tuple padding, tuple dilation,
    bint transposed, Py_ssize_t groups) except -1
cdef int convolve_weight(
    Tensor out, Tensor grad, Tensor input, tuple stride, tuple padding, tuple dilation,
    bint transposed, Py_ssize_t groups) except -1
