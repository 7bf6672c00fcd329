# cython: language_level=3
"""Reference-counted memory blocks: owned by the caching allocator, or borrowed.

A block is one allocation: a 64-byte header followed by the data, so that a small tensor costs one
allocation; data of more than 64 bytes is 64-byte aligned. Counts change only while the GIL is held.
"""
from cpython.ref cimport PyObject
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

cdef enum:
    STORAGE_CACHED = 0    # header and data in one block of a size class
    STORAGE_MALLOC = 1    # the same, from plain malloc (no cache)
    STORAGE_BORROWED = 2  # header only; `owner` is a Python object that keeps `data` alive
    STORAGE_ALIAS = 3     # header only; `owner` is another StorageImpl that holds the data
    STORAGE_DEVICE = 4    # a ServiceBlock; `owner` is the block of the device's service
    STORAGE_PINNED = 5    # a ServiceBlock on the CPU; `owner` is a block of the service that pins

cdef struct SharedVersion:
    uint32_t version      # first, so that a pointer to it is one to the struct
    Py_ssize_t refcount

# Written in C because three fields share a byte: the header is full.
cdef extern from *:
    """
    #ifndef AG_STORAGE
    #define AG_STORAGE
    typedef struct AgStorage {
        Py_ssize_t refcount;
        char *data;
        Py_ssize_t nbytes;
        void *owner;
        uint32_t own_version;
        uint8_t size_class;
        uint8_t kind : 6, readonly : 1, has_object : 1;
        uint16_t device;
        Py_ssize_t capacity;
        PyObject *last_op;
        uint32_t *version;
    } AgStorage;
    #endif
    """
    ctypedef struct StorageImpl "AgStorage":
        Py_ssize_t refcount
        char* data
        Py_ssize_t nbytes
        void* owner           # see the kinds above; next free block while in the cache
        uint32_t own_version  # in-place writes so far, unless `version` points elsewhere
        uint8_t size_class
        uint8_t kind
        uint8_t readonly      # memory that must not be written (a read-only NumPy array)
        uint8_t has_object    # holds an object that shows it (exchange/objects.pxi)
        uint16_t device       # code of the device whose memory this is; 0 is the CPU
        Py_ssize_t capacity   # bytes that the block can hold
        PyObject* last_op     # name of the last in-place operation (an immortal str), for messages
        uint32_t* version     # own_version, or that of a SharedVersion (see storage_share_version)

# A stream that uses a block beside the one it was allocated on (Note [Blocks in use]).
cdef struct BlockUse:
    void* stream
    PyObject* owner       # the Stream that keeps it (owned), or NULL
    void* event           # of pinned memory: recorded after the last copy on that stream
    int device
    BlockUse* next

# What the memory of a device, and pinned memory, has behind the header.
cdef struct ServiceBlock:
    StorageImpl head
    int type              # of the device whose service gave the block
    void* stream          # on which it was allocated
    PyObject* stream_owner    # the Stream that keeps it (owned), or NULL
    BlockUse* uses
    ServiceBlock* next    # of pinned memory that waits for copies

# The code of a device: 64 * type + index.
cdef enum:
    MAX_DEVICE_TYPES = 16
    DEVICES_OF_TYPE = 64
    MAX_DEVICES = 1024
    ON_CPU = 0
    ON_PINNED = 1         # where to allocate, not a place of its own: such storages are on the CPU
    ON_META = 64

cdef inline int device_type(int code) noexcept nogil:
    return code >> 6

cdef inline int device_index(int code) noexcept nogil:
    return code & 63

# Memory of other devices, by type. What is given has its `device` set.
ctypedef StorageImpl* (*allocate_fn)(int device, Py_ssize_t nbytes) except NULL
ctypedef bint (*release_fn)(ServiceBlock*) noexcept
cdef allocate_fn device_memory[MAX_DEVICE_TYPES]
# `release` gives a block back, and tells if its header may go, too.
cdef void set_release(release_fn release) noexcept

cdef struct DeviceBytes:
    Py_ssize_t live_bytes
    Py_ssize_t live_blocks
    Py_ssize_t peak_bytes
    Py_ssize_t allocations

cdef DeviceBytes device_bytes[MAX_DEVICES]    # by code; the CPU's are counted elsewhere

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
cdef Py_ssize_t live_bytes(int device) noexcept    # of all blocks; the CPU's with pinned memory

cdef StorageImpl* storage_new(Py_ssize_t nbytes) except NULL
cdef StorageImpl* storage_new_on(int device, Py_ssize_t nbytes) except NULL
cdef StorageImpl* storage_borrow(char* data, Py_ssize_t nbytes, object owner,
                                 bint readonly) except NULL
# STORAGE_DEVICE, or STORAGE_PINNED where `device` is the CPU; `owner` keeps the stream, or is NULL.
cdef StorageImpl* storage_of_service(int device, int type, char* data, Py_ssize_t nbytes,
                                     void* block, void* stream, PyObject* owner) except NULL
cdef StorageImpl* storage_alias(StorageImpl* source) except NULL
cdef int storage_share_version(StorageImpl* s, StorageImpl* other) except -1
cdef void storage_free(StorageImpl* s) noexcept
# Another size in the same memory, if that can hold it; tells whether it can.
cdef bint storage_fits(StorageImpl* s, Py_ssize_t nbytes) noexcept
# Called instead of the release where `has_object` is set: the object takes the last reference over.
ctypedef void (*object_fn)(StorageImpl*) noexcept
cdef void set_object_fn(object_fn let_go) noexcept

cdef inline StorageImpl* storage_incref(StorageImpl* s) noexcept nogil:
    s.refcount += 1
    return s

cdef inline StorageImpl* storage_root(StorageImpl* s) noexcept nogil:
    """The storage that holds the memory of an alias."""
    while s.kind == STORAGE_ALIAS:
        s = <StorageImpl*>s.owner
    return s

cdef inline void storage_decref(StorageImpl* s) noexcept:
    s.refcount -= 1
    if s.refcount == 0:
        storage_free(s)
