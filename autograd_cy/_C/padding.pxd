# cython: language_level=3
"""Padding of plain tensors: `pad` has numbers before and after, from the last dimension on."""
from autograd_cy._C.tensor cimport Tensor

cdef enum:
    PAD_CONSTANT = 0
    PAD_REFLECT = 1
    PAD_REPLICATE = 2
    PAD_CIRCULAR = 3

cdef int constant_pad(Tensor out, Tensor a, tuple pad, Tensor value) except -1
cdef int pad_by(Tensor out, Tensor a, tuple pad, Py_ssize_t mode) except -1
cdef int pad_backward(Tensor out, Tensor grad, tuple size, tuple pad, Py_ssize_t mode) except -1
