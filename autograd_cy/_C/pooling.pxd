# cython: language_level=3
"""Pooling of plain tensors over their last dimensions; the others are a batch."""
from autograd_cy._C.tensor cimport Tensor

cdef int max_pool(Tensor result, Tensor indices, Tensor a, tuple kernel, tuple stride,
                  tuple padding, tuple dilation, bint ceil_mode) except -1
cdef int max_values(Tensor result, Tensor a, tuple kernel, tuple stride, tuple padding,
                    tuple dilation, bint ceil_mode) except -1
cdef int adaptive_max_pool(Tensor result, Tensor indices, Tensor a, tuple size) except -1
# out[indices] += grad in each of the parts that `n` dimensions have. Devices that gather need to
# know the windows.
cdef int max_pool_backward(Tensor out, Tensor grad, Tensor indices, tuple size, Py_ssize_t n,
                           tuple kernel, tuple stride, tuple padding, tuple dilation) except -1

# A divisor of None stands for the number of elements.
cdef int avg_pool(Tensor out, Tensor a, tuple kernel, tuple stride, tuple padding, bint ceil_mode,
                  bint count_include_pad, object divisor) except -1
cdef int avg_pool_backward(Tensor out, Tensor grad, tuple size, tuple kernel, tuple stride,
                           tuple padding, bint ceil_mode, bint count_include_pad,
                           object divisor) except -1
cdef int adaptive_avg_pool(Tensor out, Tensor a, tuple size) except -1
cdef int adaptive_avg_pool_backward(Tensor out, Tensor grad, tuple size,
                                    tuple output_size) except -1
