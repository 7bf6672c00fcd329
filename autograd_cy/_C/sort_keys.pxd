# cython: language_level=3
"""Keys, unsigned numbers in the order of the elements that they stand for."""
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from autograd_cy._C.dtypes cimport DT_BF16, DT_F16, DT_F32

ctypedef fused key_t:
    uint8_t
    int8_t
    int16_t
    uint16_t                # halves
    int32_t
    int64_t
    float
    double


cdef inline uint64_t key_of(key_t x, int dt) noexcept nogil:
    cdef uint64_t wide
    cdef uint32_t single
    if key_t is double:
        if x != x:
            return <uint64_t>-1
        if x == 0:
            x = 0
        memcpy(&wide, &x, 8)
        # Without a branch on the sign, which nobody can predict.
        return wide ^ ((<uint64_t>0 - (wide >> 63)) | (<uint64_t>1 << 63))
    elif key_t is float:
        if x != x:
            return 0xFFFFFFFFU
        if x == 0:
            x = 0
        memcpy(&single, &x, 4)
        return single ^ ((<uint32_t>0 - (single >> 31)) | 0x80000000U)
    elif key_t is uint16_t:
        if (x & 0x7FFF) > (0x7C00 if dt == DT_F16 else 0x7F80):
            return 0xFFFF
        if x == 0x8000:
            x = 0
        return (~x & 0xFFFF) if x & 0x8000 else x | 0x8000
    elif key_t is int64_t:
        return <uint64_t>x ^ (<uint64_t>1 << 63)
    elif key_t is int32_t:
        return <uint32_t>x ^ 0x80000000U
    elif key_t is int16_t:
        return <uint16_t>x ^ 0x8000
    elif key_t is int8_t:
        return <uint8_t>x ^ 0x80
    else:
        return x


cdef inline uint64_t key_of_nan(int dt) noexcept nogil:
    """The key of NaN; of integers none has this key."""
    if dt == DT_F32:
        return 0xFFFFFFFFU
    if dt == DT_F16 or dt == DT_BF16:
        return 0xFFFF
    return <uint64_t>-1
