# cython: language_level=3
"""Generators of random numbers: what kernels that draw get of them."""
from libc.stdint cimport uint64_t
from autograd_cy._C.tensor cimport Tensor

cdef class Generator:
    cdef Tensor state          # int64: key (the seed) and position (chunks used), on its device
    cdef uint64_t key          # the seed that the host gave it last
    cdef void* stream          # of its device: the one that used the state last,
    cdef object owner          # and the Stream that keeps that, or None
    cdef object __weakref__
    cdef int write(self, uint64_t key, uint64_t position) except -1
    cdef Tensor read(self)
    cdef int follow(self) except -1

cdef object checked_generator(object gen, str op)     # a Generator or None

# The state that a kernel on this device draws from, None on meta; `gen` is a Generator, or None for
# the default one of the device.
cdef Tensor drawing_state(object gen, int device, str op)

cdef object exact_limit(int dt)      # the largest of the integers that are exact in the dtype
