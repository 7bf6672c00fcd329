# cython: language_level=3
"""Composites of the family convolution."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor conv1d(Tensor input, Tensor weight, Tensor bias, tuple stride, object padding,
                   tuple dilation, Py_ssize_t groups)
cdef Tensor conv2d(Tensor input, Tensor weight, Tensor bias, tuple stride, object padding,
                   tuple dilation, Py_ssize_t groups)
cdef Tensor conv3d(Tensor input, Tensor weight, Tensor bias, tuple stride, object padding,
                   tuple dilation, Py_ssize_t groups)
cdef Tensor conv_transpose1d(Tensor input, Tensor weight, Tensor bias, tuple stride, tuple padding,
                             tuple output_padding, Py_ssize_t groups, tuple dilation)
cdef Tensor conv_transpose2d(Tensor input, Tensor weight, Tensor bias, tuple stride, tuple padding,
                             tuple output_padding, Py_ssize_t groups, tuple dilation)
cdef Tensor conv_transpose3d(Tensor input, Tensor weight, Tensor bias, tuple stride, tuple padding,
                             tuple output_padding, Py_ssize_t groups, tuple dilation)
cdef Tensor sum_channels(Tensor grad)
cdef Tensor spread_channels(Tensor values, tuple shape)
cdef Tensor unfold(Tensor input, tuple kernel_size, tuple dilation, tuple padding, tuple stride)
cdef Tensor fold(Tensor input, tuple output_size, tuple kernel_size, tuple dilation, tuple padding,
                 tuple stride)
