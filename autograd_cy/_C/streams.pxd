# cython: language_level=3
"""Streams and events as objects of Python; what devices put work on is in devices.pxd."""
from autograd_cy._C.devices cimport stream_t

cdef class Stream:
    """A queue of work of one device, or its default queue."""
    cdef int code                # of the device
    cdef stream_t stream         # NULL: the default one
    cdef readonly int priority
    cdef object __weakref__

cdef class Event:
    """A place in a stream that others can wait for."""
    cdef int code                # of the device; with the index of the first stream that records it
    cdef void* event             # NULL: it wasn't recorded
    cdef bint bound              # `code` has its index
    cdef bint timing
    cdef object __weakref__
    cdef int record_on(self, Stream s) except -1
    cdef int hold_back(self, Stream s) except -1

cdef Stream stream_of(int device)       # the current one of the calling thread
