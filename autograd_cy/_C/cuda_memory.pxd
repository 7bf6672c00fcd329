# cython: language_level=3
"""Memory of CUDA devices, by device, stream and size class, and pinned memory of the host."""
from autograd_cy._C.devices cimport stream_t
from autograd_cy._C.tensor cimport Tensor

cdef int allocate(int index, Py_ssize_t nbytes, stream_t stream, char** data,
                  void** block) except -1
cdef void release(int index, void* block, stream_t stream) noexcept
cdef int pin(Py_ssize_t nbytes, char** data, void** block) except -1
cdef void unpin(void* block) noexcept
# Give free memory back to the driver; its result. The host waits for the device.
cdef int free_memory(int index) except? -1

# Memory of a device for the time of one operator: it goes back, on its stream, with the object.
cdef class Scratch:
    cdef char* data
    cdef void* block
    cdef stream_t stream
    cdef int index

cdef Scratch scratch(int index, Py_ssize_t nbytes, stream_t stream)

# An empty contiguous tensor of the dtype, sizes and device of another.
cdef Tensor dense_like(Tensor t)
