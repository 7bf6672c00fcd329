# cython: language_level=3
# build: plain hot
# Working memory of kernels, kept between calls: fresh pages cost more than many a product.
# A few slots hold one block each and are exchanged atomically, so no lock is needed.

from libc.stdlib cimport free, malloc

cdef extern from *:
    """
    #include <stdlib.h>
    #define AG_SLOTS 32
    static void *ag_slots[AG_SLOTS];

    static void *ag_swap_slot(int i, void *block) {
        return __atomic_exchange_n(&ag_slots[i], block, __ATOMIC_ACQ_REL);
    }
    static int ag_fill_slot(int i, void *block) {
        void *empty = NULL;
        return __atomic_compare_exchange_n(
            &ag_slots[i], &empty, block, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    }
    static int ag_slot_is_full(int i) {
        return __atomic_load_n(&ag_slots[i], __ATOMIC_RELAXED) != NULL;
    }
    static void *ag_aligned(size_t nbytes) {
        void *block = NULL;
        return posix_memalign(&block, 64, nbytes) ? NULL : block;
    }
    """
    enum:
        AG_SLOTS
    void* ag_swap_slot(int i, void* block) noexcept nogil
    bint ag_fill_slot(int i, void* block) noexcept nogil
    bint ag_slot_is_full(int i) noexcept nogil
    void* ag_aligned(size_t nbytes) noexcept nogil

cdef enum:
    # In front of the memory, so that it stays aligned.
    HEADER = 64
    SMALLEST = 1 << 16
    LARGEST_KEPT = 1 << 23

ctypedef struct Header:
    size_t capacity

# Test hook: blocks left before there is none; negative means never.
cdef Py_ssize_t left = -1


cdef inline bint fails() noexcept nogil:
    global left
    if left < 0:
        return False
    left -= 1
    return left < 0


cdef void* take_scratch(size_t nbytes) noexcept nogil:
    cdef int i
    cdef Header* header
    if fails():
        return NULL
    for i in range(AG_SLOTS):
        if not ag_slot_is_full(i):
            continue
        header = <Header*>ag_swap_slot(i, NULL)
        if header == NULL:
            continue
        if header.capacity >= nbytes:
            return <char*>header + HEADER
        put_back(header)
    return fresh(nbytes)


cdef void* fresh(size_t nbytes) noexcept nogil:
    cdef size_t capacity = SMALLEST
    cdef Header* header
    # Powers of two, so that a block serves slightly different shapes.
    while capacity < nbytes and capacity < LARGEST_KEPT:
        capacity *= 2
    if capacity < nbytes:
        capacity = nbytes
    header = <Header*>ag_aligned(capacity + HEADER)
    if header == NULL:
        return NULL
    header.capacity = capacity
    return <char*>header + HEADER


cdef void put_back(Header* header) noexcept nogil:
    cdef int i
    if header.capacity <= LARGEST_KEPT:
        for i in range(AG_SLOTS):
            if not ag_slot_is_full(i) and ag_fill_slot(i, header):
                return
    free(header)


cdef void give_scratch(void* block) noexcept nogil:
    if block != NULL:
        put_back(<Header*>(<char*>block - HEADER))


cdef void* room(Py_ssize_t count, Py_ssize_t size) noexcept nogil:
    if fails():
        return NULL
    return malloc(<size_t>(max(count, <Py_ssize_t>1) * size))


def _fail_after(Py_ssize_t n):
    """
    Test hook: let there be no memory after `n` further blocks, once; -1 switches it off.

    Returns how many were left of the last number.
    """
    global left
    before, left = left, n
    return before


def release():
    """Free the blocks that are kept and not in use; returns their bytes."""
    cdef int i
    cdef Header* header
    cdef size_t total = 0
    for i in range(AG_SLOTS):
        header = <Header*>ag_swap_slot(i, NULL)
        if header != NULL:
            total += header.capacity
            free(header)
    return total
