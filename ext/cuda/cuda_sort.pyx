# cython: language_level=3
# build: plain cold
"""A stable radix sort of pairs (key, place) on CUDA devices; see cuda_sort.pxd.

Kernels are in ext/cuda/device/sort.cuh. A few pairs are sorted by one block in one launch; more of
them take three launches for each 8 bits of the keys.
"""
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memset

from autograd_cy._C.cuda_driver cimport address_t, driver, enter, error_of, result_t
from autograd_cy._C.cuda_launch cimport kernel_id, launch
from autograd_cy._C.cuda_memory cimport scratch
from autograd_cy._C.cuda_reduce cimport BLOCKS, quotient_up
from autograd_cy._C.cuda_streams cimport handle_of
from autograd_cy._C.devices cimport current_stream, stream_t
from autograd_cy._C.dtypes cimport DT_SIZE
from autograd_cy._C.storage cimport device_index
from autograd_cy._C.tensor cimport Tensor

cdef extern from "device/sort_arguments.h" nogil:
    enum:
        AG_SORT_DIGITS
        AG_SORT_THREADS
        AG_SORT_TILE
    ctypedef struct ag_sort_args:
        void* keys[2]
        void* places[2]
        uint32_t counted, blocks, shift, bits
        uint64_t n, chunk
        uint64_t* counts

cdef enum:
    DIGIT = 8              # bits of a pass
    SMALL = 8192           # pairs that one block sorts

cdef int[2] counting       # kernels, by whether keys and places have 8 bytes
cdef int[2] small
cdef int[2][2] moving
cdef int adding = kernel_id("pair_sort", "sort_add")


cdef class SortedPairs:
    """Pairs of keys and places in memory of a device."""


cdef int name_kernels() except -1:
    cdef int key, place
    for key, word in enumerate(("u32", "u64")):
        counting[key] = kernel_id("pair_sort", f"sort_count_{word}")
        small[key] = kernel_id("pair_sort", f"sort_small_{word}")
        for place, other in enumerate(("u32", "u64")):
            moving[key][place] = kernel_id("pair_sort", f"sort_move_{word}_{other}")
    return 0


name_kernels()


cdef inline uint64_t rounded_up(uint64_t nbytes) noexcept:
    return (nbytes + 15) // 16 * 16


cdef SortedPairs pairs_of(int index, uint64_t n, int key_size, stream_t stream, bint far=False):
    cdef SortedPairs pairs = SortedPairs.__new__(SortedPairs)
    cdef uint64_t tiles = max(quotient_up(n, AG_SORT_TILE), 1), keys, places, counts = 0
    pairs.n = n
    pairs.key_size = key_size
    pairs.far = far or n >> 32 != 0
    pairs.counted = True
    pairs.index = index
    pairs.stream = stream
    pairs.blocks = 1
    pairs.chunk = n
    if n > SMALL or pairs.far:
        pairs.chunk = quotient_up(tiles, BLOCKS) * AG_SORT_TILE
        pairs.blocks = <unsigned>quotient_up(n, pairs.chunk)
        counts = (pairs.blocks + 1) * AG_SORT_DIGITS * sizeof(uint64_t)
    keys = rounded_up(n * key_size)
    places = rounded_up(n * (8 if pairs.far else 4))
    pairs.memory = scratch(index, max(2 * keys + 2 * places + counts, 1), stream)
    pairs.counts = pairs.memory.data
    pairs.keys = pairs.memory.data + counts
    pairs.other_keys = <char*>pairs.keys + keys
    pairs.places = <char*>pairs.other_keys + keys
    pairs.other_places = <char*>pairs.places + places
    return pairs


cdef inline void swap(SortedPairs pairs) noexcept:
    pairs.keys, pairs.other_keys = pairs.other_keys, pairs.keys
    pairs.places, pairs.other_places = pairs.other_places, pairs.places
    pairs.counted = False


cdef int sort_pairs(SortedPairs pairs, int first, int bits) except -1:
    cdef ag_sort_args args
    cdef int wide = pairs.key_size == 8, far = pairs.far, passes = max((bits + 7) // DIGIT, 1)
    cdef int stop = first + bits, width
    if pairs.n == 0 or (bits == 0 and not pairs.counted):
        return 0
    memset(&args, 0, sizeof(args))
    args.n = pairs.n
    args.chunk = pairs.chunk
    args.blocks = pairs.blocks
    args.counts = <uint64_t*>pairs.counts
    if pairs.n <= SMALL and not pairs.far:
        set_pass(pairs, &args, first, bits)
        launch_sort(small[wide], pairs, &args, 1)
        if passes & 1:
            swap(pairs)
        pairs.counted = False
        return 0
    while passes:
        width = (stop - first + passes - 1) // passes
        set_pass(pairs, &args, first, width)
        launch_sort(counting[wide], pairs, &args, pairs.blocks)
        launch_sort(adding, pairs, &args, AG_SORT_DIGITS)
        launch_sort(moving[wide][far], pairs, &args, pairs.blocks)
        swap(pairs)
        first += width
        passes -= 1
    return 0


cdef inline void set_pass(SortedPairs pairs, ag_sort_args* args, int first, int bits) noexcept:
    args.keys[0], args.keys[1] = pairs.keys, pairs.other_keys
    args.places[0], args.places[1] = pairs.places, pairs.other_places
    args.counted = pairs.counted
    args.shift = first
    args.bits = bits


cdef inline int launch_sort(int kernel, SortedPairs pairs, ag_sort_args* args,
                            unsigned blocks) except -1:
    return launch(kernel, pairs.index, pairs.stream, blocks, 1, 1, AG_SORT_THREADS, 1, 1, 0, args,
                  sizeof(ag_sort_args))


# --- for tests ------------------------------------------------------------------------------

def _sort_tensors(Tensor keys not None, int first, int bits, Tensor places not None):
    """Sort a dense vector of a device by bits of its elements, in place, and write the places that
    they had; both are of int32 or int64."""
    cdef int device = keys.mem.device, index = device_index(device), size = <int>DT_SIZE[keys.dt]
    cdef int place = <int>DT_SIZE[places.dt]
    cdef SortedPairs pairs = pairs_of(index, keys.count, size, current_stream(device), place == 8)
    if (place == 8) != pairs.far or places.count != keys.count:
        raise ValueError(f"there must be {keys.count} places of 4 or 8 bytes")
    if keys.count == 0:
        return
    copy_on_device(index, pairs.keys, keys.ptr, keys.count * size, pairs.stream)
    sort_pairs(pairs, first, bits)
    copy_on_device(index, keys.ptr, pairs.keys, keys.count * size, pairs.stream)
    copy_on_device(index, places.ptr, pairs.places, keys.count * place, pairs.stream)


cdef int copy_on_device(int index, void* to, const void* source, size_t nbytes,
                        stream_t stream) except -1:
    cdef result_t result
    enter(index)
    result = driver.copy_on_device(<address_t>to, <address_t>source, nbytes, handle_of(stream))
    if result:
        raise error_of(result, "a copy", index)
    return 0
