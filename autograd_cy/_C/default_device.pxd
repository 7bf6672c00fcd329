# cython: language_level=3
"""The device that tensors are made on where none is named."""
from autograd_cy._C.placement cimport current_code
from autograd_cy._C.tensor cimport M_DEVICE_SHIFT, tls_modes

# From M_DEVICE_SHIFT on, the mode word has a code and 1 for the innermost `with torch.device`, and
# behind it the same for set_default_device. A type without an index is ANY_INDEX and the type:
# tensors are made on what is the current device of that type then.
cdef enum:
    DEVICE_BITS = 16       # of each
    DEVICE_MASK = 0xFFFF
    ANY_INDEX = 0x8000

cdef inline bint names_device() noexcept nogil:
    return tls_modes() >> M_DEVICE_SHIFT != 0

cdef inline int default_code() noexcept nogil:
    cdef unsigned int named = <unsigned int>(tls_modes() >> M_DEVICE_SHIFT)
    if named == 0:
        return 0           # ON_CPU
    named = named & DEVICE_MASK if named & DEVICE_MASK else named >> DEVICE_BITS
    if named & ANY_INDEX:
        return current_code(<int>(named & ~<unsigned int>ANY_INDEX))
    return <int>named - 1

cdef object default_device()
