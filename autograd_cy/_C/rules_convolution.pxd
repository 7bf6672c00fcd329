# cython: language_level=3
"""Shape rules of convolutions."""
from autograd_cy._C.outputs cimport Result
from autograd_cy._C.tensor cimport Tensor

cdef int convolution(Result* r, Tensor input, Tensor weight, Tensor bias, tuple stride,
                     tuple padding, tuple dilation, bint transposed, tuple output_padding,
                     Py_ssize_t groups, str op) except -1
cdef int input_gradient(Result* r, Tensor grad, Tensor weight, tuple size, tuple stride,
                        tuple padding, tuple dilation, bint transposed, tuple output_padding,
                        Py_ssize_t groups, str op) except -1
cdef int weight_gradient(Result* r, Tensor grad, Tensor input, tuple size, tuple stride,
                         tuple padding, tuple dilation, bint transposed, tuple output_padding,
                         Py_ssize_t groups, str op) except -1
cdef int unfolded(Result* r, Tensor a, tuple kernel_size, tuple dilation, tuple padding,
                  tuple stride, str op) except -1
cdef int folded(Result* r, Tensor a, tuple output_size, tuple kernel_size, tuple dilation,
                tuple padding, tuple stride, str op) except -1
