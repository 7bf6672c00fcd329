# cython: language_level=3
"""Composites of the family resampling."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor resample_form(Tensor a, tuple size, double scale_d, double scale_h, double scale_w,
                          Py_ssize_t mode, bint align)
cdef Tensor pixel_shuffle(Tensor a, Py_ssize_t factor)
cdef Tensor pixel_unshuffle(Tensor a, Py_ssize_t factor)
cdef Tensor channel_shuffle(Tensor a, Py_ssize_t groups)
cdef Tensor unpool(Tensor a, Tensor indices, tuple size)
