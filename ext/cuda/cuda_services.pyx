# cython: language_level=3
"""The services of CUDA devices as one struct, for autograd_cy/cuda/_start.py to register."""
from cpython.pycapsule cimport PyCapsule_GetName, PyCapsule_GetPointer, PyCapsule_New
from libc.string cimport memset

from autograd_cy._C cimport cuda_driver, cuda_memory, cuda_streams
from autograd_cy._C.devices cimport Elementwise, Services, stream_t
from autograd_cy._C.dtypes cimport DT_SIZE
from autograd_cy._C.tensor cimport Tensor

from importlib import import_module

ctypedef int (*elementwise_fn)(Elementwise*, int, stream_t) except -1
ctypedef int (*has_fn)(int, int) noexcept
ctypedef int (*copy_fn)(Tensor, Tensor, bint, stream_t) except -1
ctypedef int (*cast_fn)(Tensor, Tensor, stream_t) except -1
ctypedef int (*fill_fn)(Tensor, const char*, stream_t) except -1

cdef Services _services
memset(&_services, 0, sizeof(_services))


cdef int count() except -1:
    return cuda_driver.count_devices()


# --- until there are kernels that copy ------------------------------------------------------

cdef int plain_copy(Tensor to, Tensor source, bint non_blocking, stream_t stream) except -1:
    cdef cuda_driver.handle_t handle = cuda_streams.handle_of(stream)
    cdef size_t n = to.count * DT_SIZE[to.dt]
    cdef int index = (to.mem.device or source.mem.device) & 63
    cuda_driver.enter(index)
    if not to.mem.device:
        cuda_driver.check(cuda_driver.driver.copy_to_host(
            to.ptr, <cuda_driver.address_t>source.ptr, n, handle), "copy", index)
    elif not source.mem.device:
        cuda_driver.check(cuda_driver.driver.copy_to_device(
            <cuda_driver.address_t>to.ptr, source.ptr, n, handle), "copy", index)
    else:
        cuda_driver.check(cuda_driver.driver.copy_on_device(
            <cuda_driver.address_t>to.ptr, <cuda_driver.address_t>source.ptr, n, handle), "copy",
            index)
    if not to.mem.device and not non_blocking:
        cuda_streams.wait_for(index, stream)
    return 0


cdef int no_cast(Tensor to, Tensor source, stream_t stream) except -1:
    raise NotImplementedError("cuda: no kernels that cast yet")


cdef int no_fill(Tensor to, const char* item, stream_t stream) except -1:
    raise NotImplementedError("cuda: no kernels that fill yet")


cdef int no_elementwise(Elementwise* work, int index, stream_t stream) except -1:
    raise NotImplementedError("cuda: no elementwise kernels yet")


cdef void* function_of(str module, str name, void* otherwise) except NULL:
    """A C function of a module, as cimport finds it."""
    try:
        capsule = import_module("autograd_cy._C." + module).__pyx_capi__[name]
    except ImportError:
        return otherwise
    return PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule))


def services():
    """
    The capsule that `autograd_cy._C.devices.register` takes.

    Returns
    -------
    capsule
    """
    cdef Services* s = &_services
    s.size = sizeof(Services)
    s.traits = 0
    s.count = count
    s.allocate, s.release = cuda_memory.allocate, cuda_memory.release
    s.pin, s.unpin = cuda_memory.pin, cuda_memory.unpin
    s.elementwise = <elementwise_fn>function_of(
        "cuda_elementwise", "elementwise", <void*>no_elementwise)
    s.has_elementwise = <has_fn>function_of(
        "cuda_elementwise", "has_elementwise", <void*>has_none)
    s.copy = <copy_fn>function_of(
        "cuda_copies", "copy", <void*>plain_copy)
    s.cast = <cast_fn>function_of(
        "cuda_copies", "cast", <void*>no_cast)
    s.fill = <fill_fn>function_of(
        "cuda_copies", "fill", <void*>no_fill)
    s.stream_new, s.stream_free = cuda_streams.stream_new, cuda_streams.stream_free
    s.query, s.synchronize = cuda_streams.query, cuda_streams.synchronize
    s.synchronize_all = cuda_streams.synchronize_all
    s.event_record, s.event_wait = cuda_streams.event_record, cuda_streams.event_wait
    s.event_query = cuda_streams.event_query
    s.event_synchronize = cuda_streams.event_synchronize
    s.event_free, s.event_elapsed = cuda_streams.event_free, cuda_streams.event_elapsed
    return PyCapsule_New(s, "autograd_cy.services", NULL)


cdef int has_none(int kernel, int dt) noexcept:
    return 0
