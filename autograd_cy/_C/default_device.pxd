# cython: language_level=3
"""The device that tensors are made on where none is named."""
from autograd_cy._C.tensor cimport tls_modes

cdef enum:
    DEVICE_SHIFT = 24      # of the mode word: a code and 1 for the innermost `with torch.device`,
    DEVICE_BITS = 4        # and as many bits behind for set_default_device

cdef inline bint names_device() noexcept nogil:
    return tls_modes() >> DEVICE_SHIFT != 0

cdef inline int default_code() noexcept nogil:
    cdef unsigned int named = tls_modes() >> DEVICE_SHIFT
    if named == 0:
        return 0           # ON_CPU
    return <int>(named & 15 if named & 15 else named >> DEVICE_BITS) - 1

cdef object default_device()
