# cython: language_level=3
"""The CUDA driver: a table of its functions, found by dlopen at the first use of a GPU.

Memory, copies, events and waits go straight to the driver; PyCUDA owns the primary context of each
device, the modules and functions in them, and launches (cuda_launch.pxd).
"""
from libc.stdint cimport uint64_t

ctypedef int result_t            # CUresult
ctypedef uint64_t address_t      # CUdeviceptr
ctypedef void* handle_t          # CUstream, CUevent, CUcontext, CUmemoryPool

cdef enum:
    MAX_INDEX = 64               # devices; as many as storage.pxd has codes for
    OUT_OF_MEMORY = 2            # CUDA_ERROR_OUT_OF_MEMORY
    HOST_PORTABLE = 1            # CU_MEMHOSTALLOC_PORTABLE: pinned for all devices
    ATTRIBUTE_MAJOR = 75         # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR

# Called without the GIL where they may wait. Names as the driver exports them, less the version.
cdef struct Driver:
    result_t (*init)(unsigned) noexcept nogil
    result_t (*driver_version)(int*) noexcept nogil
    result_t (*device_count)(int*) noexcept nogil
    result_t (*device_get)(int*, int) noexcept nogil
    result_t (*device_attribute)(int*, int, int) noexcept nogil
    result_t (*device_name)(char*, int, int) noexcept nogil
    result_t (*device_total_memory)(size_t*, int) noexcept nogil
    result_t (*device_uuid)(char*, int) noexcept nogil
    result_t (*can_access_peer)(int*, int, int) noexcept nogil
    result_t (*get_current)(handle_t*) noexcept nogil
    result_t (*set_current)(handle_t) noexcept nogil
    result_t (*context_synchronize)() noexcept nogil
    result_t (*error_name)(result_t, const char**) noexcept nogil
    result_t (*error_string)(result_t, const char**) noexcept nogil
    result_t (*memory_info)(size_t*, size_t*) noexcept nogil
    result_t (*pool_create)(handle_t*, const void*) noexcept nogil
    result_t (*pool_set)(handle_t, int, void*) noexcept nogil
    result_t (*pool_trim)(handle_t, size_t) noexcept nogil
    result_t (*pool_access)(handle_t, const void*, size_t) noexcept nogil
    result_t (*allocate_from_pool)(address_t*, size_t, handle_t, handle_t) noexcept nogil
    result_t (*free_async)(address_t, handle_t) noexcept nogil
    result_t (*allocate_plain)(address_t*, size_t) noexcept nogil
    result_t (*free_plain)(address_t) noexcept nogil
    result_t (*host_allocate)(void**, size_t, unsigned) noexcept nogil
    result_t (*host_free)(void*) noexcept nogil
    result_t (*pointer_attribute)(void*, int, address_t) noexcept nogil
    result_t (*copy_to_device)(address_t, const void*, size_t, handle_t) noexcept nogil   # async
    result_t (*copy_to_host)(void*, address_t, size_t, handle_t) noexcept nogil           # async
    result_t (*copy_on_device)(address_t, address_t, size_t, handle_t) noexcept nogil     # async
    result_t (*copy_between)(address_t, handle_t, address_t, handle_t, size_t,
                             handle_t) noexcept nogil
    result_t (*set_bytes)(address_t, unsigned char, size_t, handle_t) noexcept nogil      # async
    result_t (*stream_synchronize)(handle_t) noexcept nogil
    result_t (*stream_query)(handle_t) noexcept nogil
    result_t (*stream_wait)(handle_t, handle_t, unsigned) noexcept nogil
    result_t (*event_create)(handle_t*, unsigned) noexcept nogil
    result_t (*event_record)(handle_t, handle_t) noexcept nogil
    result_t (*event_query)(handle_t) noexcept nogil
    result_t (*event_synchronize)(handle_t) noexcept nogil
    result_t (*event_elapsed)(float*, handle_t, handle_t) noexcept nogil

cdef Driver driver               # filled by load_driver(); entries of newer drivers may be NULL

# Find the driver, PyCUDA and the kernels; a RuntimeError says which of the three is missing.
cdef int load_driver() except -1
# To be called first by whatever is about to use a device: starts it (PyCUDA retains the primary
# context), refuses a forked child, and makes its context current in the calling thread.
cdef int enter(int index) except -1
# The exception for a result other than 0: OutOfMemoryError or AcceleratorError, a RuntimeError.
cdef int check_result(result_t result, str what, int index) except -1
cdef object error_of(result_t result, str what, int index)
cdef object translated(object error, str what, int index)    # for an exception of PyCUDA
cdef result_t driver_result(object error)                        # the driver's result in it, or 999
cdef str name_of(result_t result)
cdef handle_t context_of(int index) noexcept        # of a device that was entered
cdef object pycuda_driver()                         # the module pycuda.driver
# Call a function of PyCUDA that needs the context on PyCUDA's own stack.
cdef object in_context(int index, function, tuple arguments)
cdef int multiprocessors(int index) noexcept        # of a device that was entered
cdef int threads_at_once(int index) noexcept        # the same
cdef int count_devices() except -1
cdef int number_of_devices() noexcept               # 0 before load_driver()
cdef int device_number(int index) except -1         # the driver's number, without a context
cdef bint is_forked() noexcept                      # nothing of the driver can be used
cdef int refuse_child() except -1
cdef bint blocking_launches() noexcept              # CUDA_LAUNCH_BLOCKING=1
