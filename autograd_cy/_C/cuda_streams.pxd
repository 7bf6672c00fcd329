# cython: language_level=3
"""Streams, events and synchronisation of CUDA devices, and the faults that kernels note."""
from autograd_cy._C.cuda_driver cimport handle_t
from autograd_cy._C.devices cimport stream_t
from autograd_cy._C.launch cimport Fault

# What `stream_t` points to; NULL is the legacy default stream, handle 0.
# Streams are kept for good: freed ones are given out again, and external ones found again.
cdef struct CudaStream:
    handle_t handle
    void* launcher         # PyCUDA's Stream (owned), which launches take; NULL: an external stream
    int index
    int external
    CudaStream* side       # of an external stream: the one that kernels are launched on
    CudaStream* next       # of its device: free ones, or external ones
    void* arena            # free memory of this stream (cuda_memory.pyx)

cdef inline handle_t handle_of(stream_t stream) noexcept nogil:
    return NULL if stream == NULL else (<CudaStream*>stream).handle

# Where kernels of a device note the first bad value (device/faults.cuh): pinned memory of the host,
# at one address for both. Each synchronisation raises what is there.
cdef Fault* fault_of(int index) except NULL
cdef int raise_fault(int index) except -1
# Wait for a stream with the GIL given up, and raise what went wrong there.
cdef int wait_for(int index, stream_t stream) except -1

# Let what is put on `after` later wait for what is on `before` now.
cdef int order(int index, handle_t before, handle_t after) except -1
# Where kernels for an external stream are launched: it has waited for that one.
cdef CudaStream* begin_side(int index, CudaStream* stream) except NULL
cdef int end_side(int index, CudaStream* stream) except -1

cdef int stream_new(int index, int priority, stream_t* stream) except -1
cdef void stream_free(int index, stream_t stream) noexcept
cdef int query(int index, stream_t stream) except -1
cdef int synchronize(int index, stream_t stream) except -1
cdef int synchronize_all(int index) except -1
cdef int event_record(int index, stream_t stream, bint timing, void** event) except -1
cdef int event_wait(int index, stream_t stream, void* event) except -1
cdef int event_query(int index, void* event) except -1
cdef int event_synchronize(int index, void* event) except -1
cdef void event_free(int index, void* event) noexcept
cdef int event_elapsed(int index, void* start, void* end, double* milliseconds) except -1
