# cython: language_level=3
"""Values that say where and in which order elements are stored: device, layout, memory format."""

cdef class device:
    cdef readonly str type
    cdef readonly object index

cdef class layout:
    cdef readonly str name

cdef class memory_format:
    cdef readonly str name
    cdef readonly int code

cdef enum:
    MF_CONTIGUOUS = 0
    MF_PRESERVE = 1
    MF_CHANNELS_LAST = 2
    MF_CHANNELS_LAST_3D = 3

cdef device cpu_device
cdef device as_device(object d)      # one that tensors can be on; index None: the current one
cdef device device_of_code(int code)
cdef int device_code(object d) except -1

# Types of devices. How many devices there are is asked each time: one may disappear.
ctypedef int (*count_fn)() except -1
cdef int add_device_type(str name, count_fn count) except -1
cdef int type_of_name(object name) except -2     # -1: there is none of that name
cdef str name_of_type(int type)
cdef int devices_of_type(int type) except -1
cdef int accelerator_type() noexcept     # the first type that was registered, or chosen; 0: none
cdef void set_accelerator(int type) noexcept
cdef int check_index(int type, object index) except -1

# The current device of each type, of the calling thread: what a name without index means.
cdef int current_index(int type) noexcept nogil
cdef int set_current_index(int type, int index) except -1
cdef inline int current_code(int type) noexcept nogil:
    return 64 * type + current_index(type)
cdef int format_code(object f) except -1
