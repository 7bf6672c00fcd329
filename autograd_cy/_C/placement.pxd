# cython: language_level=3
"""Where and how elements lie: device, layout, memory format."""

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
cdef device as_device(object d)
cdef device device_of_code(int code)
cdef int device_code(object d) except -1
cdef int add_device(str name) except -1
cdef int format_code(object f) except -1
