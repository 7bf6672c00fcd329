# cython: language_level=3
# build: plain hot
# Working memory of kernels, kept between calls: fresh pages cost more than many a product.
# A few slots hold one block each and are exchanged atomically, so no lock is needed.

from libc.stdlib cimport free, malloc
from libc.string cimport memset

cdef extern from "Python.h":
    int PyGILState_Check() nogil

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
    static Py_ssize_t ag_held = 0;
    static void ag_hold(Py_ssize_t n) { __atomic_fetch_add(&ag_held, n, __ATOMIC_RELAXED); }
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
    Py_ssize_t ag_held              # blocks with a mark that nobody has given back
    void ag_hold(Py_ssize_t n) noexcept nogil
    void* ag_aligned(size_t nbytes) noexcept nogil

cdef enum:
    # In front of the memory, so that it stays aligned.
    HEADER = 64
    SMALLEST = 1 << 16
    LARGEST_KEPT = 1 << 23

ctypedef struct Header:
    size_t capacity
    char* mark              # behind what was asked for, NULL if there is none

# Test hook: blocks left before there is none; negative means never.
cdef Py_ssize_t left = -1
# Another: blocks end where they were asked to, and those that were written beyond that.
cdef bint marks = False
cdef Py_ssize_t crossed = 0


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
    if marks:
        return marked(nbytes)
    for i in range(AG_SLOTS):
        if not ag_slot_is_full(i):
            continue
        header = <Header*>ag_swap_slot(i, NULL)
        if header == NULL:
            continue
        if header.capacity >= nbytes:
            return <char*>header + HEADER
        push_free(header)
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
        request_memory()
        header = <Header*>ag_aligned(capacity + HEADER)
        if header == NULL:
            return NULL
    header.capacity = capacity
    header.mark = NULL
    return <char*>header + HEADER


cdef void request_memory() noexcept nogil:
    """There is none: give back what is kept here, and by the allocator if this thread may."""
    release_blocks()
    if PyGILState_Check():
        with gil:
            from autograd_cy._C.storage import empty_cache
            empty_cache()


cdef size_t release_blocks() noexcept nogil:
    cdef int i
    cdef Header* header
    cdef size_t total = 0
    for i in range(AG_SLOTS):
        header = <Header*>ag_swap_slot(i, NULL)
        if header != NULL:
            total += header.capacity
            free(header)
    return total


cdef void* marked(size_t nbytes) noexcept nogil:
    """A block of its own, of no numbers, with a mark behind it."""
    cdef Header* header = <Header*>ag_aligned(HEADER + nbytes + HEADER)
    if header == NULL:
        return NULL
    header.capacity = LARGEST_KEPT + 1
    header.mark = <char*>header + HEADER + nbytes
    ag_hold(1)
    memset(<char*>header + HEADER, 0xFF, nbytes + HEADER)
    return <char*>header + HEADER


cdef void look_at_mark(const Header* header) noexcept nogil:
    global crossed
    cdef int i
    for i in range(HEADER):
        if header.mark[i] != <char>0xFF:
            crossed += 1
            return


cdef void push_free(Header* header) noexcept nogil:
    cdef int i
    if header.capacity <= LARGEST_KEPT:
        for i in range(AG_SLOTS):
            if not ag_slot_is_full(i) and ag_fill_slot(i, header):
                return
    free(header)


cdef void give_scratch(void* block) noexcept nogil:
    cdef Header* header
    if block != NULL:
        header = <Header*>(<char*>block - HEADER)
        if header.mark != NULL:
            look_at_mark(header)
            ag_hold(-1)
        push_free(header)


cdef void* allocate(Py_ssize_t count, Py_ssize_t size) noexcept nogil:
    cdef void* block
    if fails():
        return NULL
    block = malloc(<size_t>(max(count, <Py_ssize_t>1) * size))
    if block == NULL:
        request_memory()
        block = malloc(<size_t>(max(count, <Py_ssize_t>1) * size))
    return block


def _fail_after(Py_ssize_t n):
    """
    Test hook: let there be no memory after `n` further blocks, once; -1 switches it off.

    Returns how many were left of the last number.
    """
    global left
    before, left = left, n
    return before


def _mark(bint on):
    """
    Test hook: let blocks from now on be as long as was asked, full of NaN, with a mark behind them.

    Returns how many were written beyond their ends since the last call.
    """
    global marks, crossed
    before, crossed = crossed, 0
    marks = on
    return before


def _held():
    """Return the number of blocks with a mark that are in use, or were never given back."""
    return ag_held


def release():
    """Free the blocks that are kept and not in use; returns their bytes."""
    return release_blocks()
