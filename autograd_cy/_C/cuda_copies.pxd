# cython: language_level=3
"""Copies, casts and fills of CUDA devices."""
from autograd_cy._C.devices cimport stream_t
from autograd_cy._C.tensor cimport Tensor

cdef int copy(Tensor to, Tensor source, bint non_blocking, stream_t stream) except -1
cdef int cast(Tensor to, Tensor source, stream_t stream) except -1
cdef int fill_tensor(Tensor to, const char* item, stream_t stream) except -1
