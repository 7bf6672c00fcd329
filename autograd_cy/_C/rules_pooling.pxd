# cython: language_level=3
"""Shape rules of pooling: over the last dimensions, as many as there are kernel sizes."""
from autograd_cy._C.outputs cimport Result
from autograd_cy._C.tensor cimport Tensor

# How many windows there are along a dimension.
cdef Py_ssize_t pooled_size(Py_ssize_t size, Py_ssize_t kernel, Py_ssize_t stride,
                            Py_ssize_t padding, Py_ssize_t dilation, bint ceil_mode) noexcept nogil

cdef int max_pooled(Result* r, Tensor a, tuple kernel, tuple stride, tuple padding, tuple dilation,
                    bint ceil_mode, str op) except -1       # elements and where they were
cdef int max_values(Result* r, Tensor a, tuple kernel, tuple stride, tuple padding, tuple dilation,
                    bint ceil_mode, str op) except -1
cdef int avg_pooled(Result* r, Tensor a, tuple kernel, tuple stride, tuple padding,
                    bint ceil_mode, str op) except -1
cdef int adaptive(Result* r, Tensor a, tuple size, str op) except -1
cdef int adaptive_max(Result* r, Tensor a, tuple size, str op) except -1
cdef int sized(Result* r, Tensor grad, tuple size, str op) except -1    # the shape is given
