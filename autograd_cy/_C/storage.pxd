# cython: language_level=3
"""Reference-counted memory blocks: owned by the caching allocator, or borrowed.

A block is one allocation: a 64-byte header followed by the data, so that a small tensor costs one
allocation; data of more than 64 bytes is 64-byte aligned. Counts change only while the GIL is held.
"""
from cpython.ref cimport PyObject
from libc.stdint cimport uint8_t, uint32_t, uint64_t

cdef enum:
    STORAGE_CACHED = 0    # header and data in one block of a size class
    STORAGE_MALLOC = 1    # the same, from plain malloc (no cache)
    STORAGE_BORROWED = 2  # header only; `owner` is a Python object that keeps `data` alive
    STORAGE_ALIAS = 3     # header only; `owner` is another StorageImpl that holds the data

cdef struct SharedVersion:
    uint32_t version      # first, so that a pointer to it is one to the struct
    Py_ssize_t refcount

cdef struct StorageImpl:
    Py_ssize_t refcount
    char* data
    Py_ssize_t nbytes
    void* owner           # see the kinds above; next free block while in the cache
    uint32_t own_version  # in-place writes so far, unless `version` points elsewhere
    uint8_t size_class
    uint8_t device        # code of the device whose memory this is; 0 is the CPU
    uint8_t kind
    uint8_t readonly      # memory that must not be written (a read-only NumPy array)
    Py_ssize_t capacity   # bytes that the block can hold
    PyObject* last_op     # name of the last in-place operation (an immortal str), for messages
    uint32_t* version     # own_version, or that of a SharedVersion (see storage_share_version)

cdef enum:
    MAX_DEVICES = 8
    ON_CPU = 0
    ON_META = 1

# Memory of other devices, by code; what is given has its `device` set by storage_new_on.
ctypedef StorageImpl* (*allocate_fn)(Py_ssize_t nbytes) except NULL
cdef allocate_fn device_memory[8]

ctypedef void (*birth_fn)(StorageImpl*) noexcept
# Called with each new or borrowed storage; NULL: no more.
cdef void note_births(birth_fn noted) noexcept

# Which storages are young: births are followed between these calls, which nest.
cdef uint64_t follow_births() noexcept            # the number of the next birth
cdef void leave_births() noexcept
cdef bint born_since(StorageImpl* s, uint64_t number) noexcept

# Called with each block of the allocator and the bytes asked for, negative when it goes; NULL: no
# more.
ctypedef void (*change_fn)(StorageImpl*, Py_ssize_t) noexcept
cdef void watch_memory(change_fn watch) noexcept
cdef Py_ssize_t live_bytes() noexcept              # of all blocks

cdef StorageImpl* storage_new(Py_ssize_t nbytes) except NULL
cdef StorageImpl* storage_new_on(int device, Py_ssize_t nbytes) except NULL
cdef StorageImpl* storage_borrow(char* data, Py_ssize_t nbytes, object owner,
                                 bint readonly) except NULL
cdef StorageImpl* storage_alias(StorageImpl* source) except NULL
cdef int storage_share_version(StorageImpl* s, StorageImpl* other) except -1
cdef void storage_free(StorageImpl* s) noexcept

cdef inline StorageImpl* storage_incref(StorageImpl* s) noexcept nogil:
    s.refcount += 1
    return s

cdef inline void storage_decref(StorageImpl* s) noexcept:
    s.refcount -= 1
    if s.refcount == 0:
        storage_free(s)
