# cython: language_level=3
"""Interpolation of plain tensors over their last dimensions; the others are a batch."""
from autograd_cy._C.tensor cimport Tensor

# Scales are those that the user gave, or 0; of the last three dimensions.
cdef int resample(Tensor out, Tensor a, tuple size, double scale_d, double scale_h, double scale_w,
                  Py_ssize_t mode, bint align) except -1
cdef int resample_backward(Tensor out, Tensor grad, tuple size, tuple to, double scale_d,
                           double scale_h, double scale_w, Py_ssize_t mode, bint align) except -1
