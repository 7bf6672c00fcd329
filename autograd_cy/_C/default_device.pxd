# cython: language_level=3
"""The device that tensors are made on where none is named."""
from autograd_cy._C.tensor cimport M_DEVICE_SHIFT, tls_modes

# From M_DEVICE_SHIFT on, the mode word has a code and 1 for the innermost `with torch.device`, and
# behind it the same for set_default_device.
cdef enum:
    DEVICE_BITS = 4        # of each

cdef inline bint names_device() noexcept nogil:
    return tls_modes() >> M_DEVICE_SHIFT != 0

cdef inline int default_code() noexcept nogil:
    cdef unsigned int named = tls_modes() >> M_DEVICE_SHIFT
    if named == 0:
        return 0           # ON_CPU
    return <int>(named & 15 if named & 15 else named >> DEVICE_BITS) - 1

cdef object default_device()
