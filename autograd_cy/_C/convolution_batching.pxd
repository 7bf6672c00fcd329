# cython: language_level=3
"""vmap rules of convolutions; the table names them with `by_hand`."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor convolution_each(Tensor input, Tensor weight, Tensor bias, tuple stride, tuple padding,
                             tuple dilation, bint transposed, tuple output_padding,
                             Py_ssize_t groups)
cdef Tensor input_each(Tensor grad_output, Tensor weight, tuple size, tuple stride, tuple padding,
                       tuple dilation, bint transposed, tuple output_padding, Py_ssize_t groups)
cdef Tensor weight_each(Tensor grad_output, Tensor input, tuple size, tuple stride, tuple padding,
                        tuple dilation, bint transposed, tuple output_padding, Py_ssize_t groups)
