# cython: language_level=3
"""Windows of images as columns, and columns added up to images."""
from autograd_cy._C.tensor cimport Tensor

cdef int unfold(Tensor out, Tensor a, tuple kernel_size, tuple dilation, tuple padding,
                tuple stride) except -1
cdef int fold(Tensor out, Tensor a, tuple kernel_size, tuple dilation, tuple padding,
              tuple stride) except -1
