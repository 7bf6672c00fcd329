# cython: language_level=3
"""A stable sort of pairs (key, place) on CUDA devices, for scatters, sorts and unique elements.

    cdef SortedPairs pairs = pairs_of(index, n, key_size, stream)
    ... launch a kernel that writes n keys to pairs.keys, in the order of places ...
    sort_pairs(pairs, 0, bits)
    ... launch kernels that read pairs.keys and pairs.places ...

Nothing waits, and memory comes from the device's cache and goes back with the object.
"""
from libc.stdint cimport uint64_t
from autograd_cy._C.cuda_memory cimport Scratch
from autograd_cy._C.devices cimport stream_t


cdef class SortedPairs:
    cdef void* keys          # uint32_t or uint64_t each
    cdef void* places        # where each was at the beginning: uint32_t, or uint64_t if `far`
    cdef uint64_t n
    cdef int key_size        # in bytes, 4 or 8
    cdef bint far            # places have 8 bytes, as for 2^32 pairs or more
    cdef bint counted        # places are 0, 1, 2, ..., and not in memory yet
    cdef void* other_keys
    cdef void* other_places
    cdef void* counts
    cdef uint64_t chunk
    cdef unsigned blocks
    cdef int index
    cdef stream_t stream
    cdef Scratch memory

# Memory for n pairs, whose keys are to be written to `keys`; `far` asks for places of 8 bytes.
cdef SortedPairs pairs_of(int index, uint64_t n, int key_size, stream_t stream, bint far=*)

# Sort by `bits` bits of the keys from bit `first` on; other bits count for nothing. Pairs of equal
# bits keep their order, so that a second sort, by other bits or after other keys were written
# to `keys`, has the first one as its second criterion. `keys` and `places` move to other addresses.
# With 0 bits nothing is done but to write the places.
cdef int sort_pairs(SortedPairs pairs, int first, int bits) except -1

# Bits that keys below `bound` have.
cdef inline int bits_below(uint64_t bound) noexcept:
    cdef int bits = 0
    while bits < 64 and bound > <uint64_t>1 << bits:
        bits += 1
    return bits
