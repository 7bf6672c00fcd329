# cython: language_level=3
"""The services of CUDA devices as one struct, for autograd_cy/cuda/_start.py to register."""
from cpython.pycapsule cimport PyCapsule_New
from libc.string cimport memset

from autograd_cy._C cimport cuda_copies, cuda_driver, cuda_elementwise, cuda_memory, cuda_streams
from autograd_cy._C.devices cimport LAYS_CHANNELS_LAST, Services

cdef Services _services
memset(&_services, 0, sizeof(_services))


cdef int count() except -1:
    return cuda_driver.count_devices()


def services():
    """
    The capsule that `autograd_cy._C.devices.register` takes.

    Returns
    -------
    capsule
    """
    cdef Services* s = &_services
    s.size = sizeof(Services)
    s.traits = LAYS_CHANNELS_LAST
    s.count = count
    s.allocate, s.release = cuda_memory.allocate, cuda_memory.release
    s.pin, s.unpin = cuda_memory.pin, cuda_memory.unpin
    s.elementwise = cuda_elementwise.elementwise
    s.has_elementwise = cuda_elementwise.has_elementwise
    s.copy, s.cast, s.fill = cuda_copies.copy, cuda_copies.cast, cuda_copies.fill_tensor
    s.stream_new, s.stream_free = cuda_streams.stream_new, cuda_streams.stream_free
    s.query, s.synchronize = cuda_streams.query, cuda_streams.synchronize
    s.synchronize_all = cuda_streams.synchronize_all
    s.event_record, s.event_wait = cuda_streams.event_record, cuda_streams.event_wait
    s.event_query = cuda_streams.event_query
    s.event_synchronize = cuda_streams.event_synchronize
    s.event_free, s.event_elapsed = cuda_streams.event_free, cuda_streams.event_elapsed
    return PyCapsule_New(s, "autograd_cy.services", NULL)
