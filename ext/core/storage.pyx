# cython: language_level=3
# build: plain hot
"""The caching allocator behind every tensor.

Freed blocks go to a list of their size class and are handed out again: fresh pages cost several
times more than the arithmetic on them. Four classes per power of two bound the waste to 25 %.
How much is cached, storage/cache_limit.pxi decides.
Everything here runs under the GIL, so there are no locks. Next file: tensor.pyx.
"""
from cpython.mem cimport PyMem_RawMalloc, PyMem_RawFree
from cpython.ref cimport Py_INCREF, Py_DECREF, Py_XINCREF, PyObject
from libc.stdint cimport uint8_t, uint16_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

import os

cdef extern from "Python.h":
    void* PyObject_Malloc(size_t n) noexcept
    void PyObject_Free(void* p) noexcept

cdef extern from *:
    """
    #include <stdlib.h>
    #ifdef __linux__
    #include <sys/mman.h>
    #endif
    static void *ag_aligned(size_t align, size_t size, int huge) {
        void *p = NULL;
        if (posix_memalign(&p, align, size) != 0) return NULL;
    #if defined(__linux__) && defined(MADV_HUGEPAGE)
        if (huge) (void)madvise(p, size, MADV_HUGEPAGE);
    #endif
        return p;
    }
    #define AG_CLZLL(x) __builtin_clzll(x)
    """
    void* ag_aligned(size_t align, size_t size, int huge) nogil
    int AG_CLZLL(unsigned long long x) nogil

cdef enum:
    HEADER = 64
    N_CLASSES = 256
    BLOCKS_PER_CLASS = 256
    HUGE = 2 * 1024 * 1024
    LARGE = 56              # class of blocks of a MiB, the first that cache_limit.pxi looks at

cdef StorageImpl* g_free[N_CLASSES]
cdef int g_free_count[N_CLASSES]
cdef Py_ssize_t g_cached_bytes = 0
cdef Py_ssize_t g_cache_limit = 0
cdef Py_ssize_t g_live_bytes = 0
cdef Py_ssize_t g_live_blocks = 0
cdef Py_ssize_t g_peak_bytes = 0
cdef Py_ssize_t g_given_back = 0        # of large blocks, since malloc() was last trimmed
cdef Py_ssize_t g_hits = 0
cdef Py_ssize_t g_misses = 0
cdef bint g_caching = True
cdef birth_fn g_noted = NULL
cdef change_fn g_watch = NULL
cdef bint g_told = False                # somebody hears of births
# Free blocks of each class that are kept without further ado; none are while memory is watched, and
# of large ones, so that these go the long way.
cdef int g_most_free[N_CLASSES]
# Test hook: allocations left before one fails; negative means never.
cdef Py_ssize_t g_fail_after = -1
cdef release_fn g_release = NULL
cdef object_fn g_let_go = NULL

memset(g_free, 0, sizeof(g_free))
memset(g_free_count, 0, sizeof(g_free_count))
set_capacity(BLOCKS_PER_CLASS)
memset(device_memory, 0, sizeof(device_memory))
memset(device_bytes, 0, sizeof(device_bytes))
device_memory[device_type(ON_META)] = meta_memory


cdef inline int class_of(Py_ssize_t nbytes) noexcept nogil:
    """Index of the smallest class that holds `nbytes`."""
    cdef unsigned long long n
    cdef int top
    if nbytes <= 64:
        return 0
    n = <unsigned long long>(nbytes - 1)
    top = 63 - AG_CLZLL(n)                  # 2**top <= n
    return (top - 6) * 4 + <int>((n >> (top - 2)) & 3) + 1


cdef inline Py_ssize_t class_bytes(int c) noexcept nogil:
    cdef int q
    if c == 0:
        return 64
    q = c - 1
    return (<Py_ssize_t>(4 + (q & 3) + 1)) << ((q >> 2) + 4)


# Blocks of the smallest class come from Python's allocator: aligned ones of malloc take twice the
# memory, and graphs of small tensors hold millions of them.

cdef inline StorageImpl* small_block() noexcept:
    return <StorageImpl*>PyObject_Malloc(HEADER + 64)


cdef inline void give_back(StorageImpl* s) noexcept:
    global g_given_back
    if s.size_class == 0:           # only what is cached comes here
        PyObject_Free(s)
    else:
        if s.size_class >= LARGE:
            g_given_back += s.capacity
        free(s)


cdef void set_capacity(int blocks) noexcept:
    cdef int c
    for c in range(N_CLASSES):
        g_most_free[c] = blocks if c < LARGE else 0


cdef void flush_cache() noexcept:
    global g_cached_bytes
    cdef int c
    cdef StorageImpl* s
    for c in range(N_CLASSES):
        while g_free[c] != NULL:
            s = g_free[c]
            g_free[c] = <StorageImpl*>s.owner
            give_back(s)
        g_free_count[c] = 0
    g_cached_bytes = 0


include "storage/cache_limit.pxi"


class OutOfMemoryError(RuntimeError, MemoryError):
    """
    There is no memory for a tensor; both a ``RuntimeError``, as in PyTorch, and a ``MemoryError``.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> try:
    ...     ag.empty(1 << 60)
    ... except ag.OutOfMemoryError as error:
    ...     print(str(error)[:40])
    autograd_cy: cannot allocate 46116860184
    """


OutOfMemoryError.__module__ = "autograd_cy"


cdef object no_memory(Py_ssize_t nbytes):
    return OutOfMemoryError(
        f"autograd_cy: cannot allocate {nbytes} bytes "
        f"({g_live_bytes} bytes are in use by tensors); "
        f"free tensors or make the request smaller."
    )


cdef void give_scratch_back() noexcept:
    """Let kernels give their working memory back, too."""
    from autograd_cy._C.scratch import release
    release()


include "storage/births.pxi"


cdef StorageImpl* storage_new(Py_ssize_t nbytes) except NULL:
    global g_cached_bytes, g_live_bytes, g_live_blocks, g_hits, g_misses, g_fail_after, g_peak_bytes
    cdef StorageImpl* s
    cdef int c
    cdef Py_ssize_t size
    if g_fail_after >= 0:
        if g_fail_after == 0:
            g_fail_after = -1
            raise no_memory(nbytes)
        g_fail_after -= 1
    if nbytes > (<Py_ssize_t>1 << 62):
        raise no_memory(nbytes)
    c = class_of(nbytes)
    s = g_free[c]
    if s != NULL:
        g_free[c] = <StorageImpl*>s.owner
        g_free_count[c] -= 1
        g_cached_bytes -= s.capacity
        g_hits += 1
    else:
        g_misses += 1
        size = class_bytes(c) if g_caching else (nbytes if nbytes > 0 else 1)
        if c >= LARGE and g_caching:
            make_way(size)
        if c == 0 and g_caching:
            s = small_block()
        else:
            s = <StorageImpl*>ag_aligned(HUGE if size >= HUGE else HEADER,
                                         <size_t>(size + HEADER), size >= HUGE)
        if s == NULL:
            give_all_back()
            give_scratch_back()
            s = (small_block() if c == 0 and g_caching
                 else <StorageImpl*>ag_aligned(HEADER, <size_t>(size + HEADER), 0))
            if s == NULL:
                raise no_memory(nbytes)
        s.capacity = size
        s.size_class = <uint8_t>c
        s.device = ON_CPU
        s.data = <char*>s + HEADER
        s.kind = STORAGE_CACHED if g_caching else STORAGE_MALLOC
        s.readonly = 0
        s.has_object = 0
    s.refcount = 1
    s.nbytes = nbytes
    s.owner = NULL
    s.own_version = 0
    s.version = &s.own_version
    s.last_op = NULL
    g_live_bytes += s.capacity
    g_live_blocks += 1
    if g_live_bytes > g_peak_bytes:
        g_peak_bytes = g_live_bytes
    if g_told:
        tell_birth(s)
    return s


cdef void tell_birth(StorageImpl* s) noexcept:
    if g_followers:
        number_birth(s)
    if g_noted != NULL:
        g_noted(s)
    if g_watch != NULL:
        g_watch(s, s.nbytes)


cdef void note_births(birth_fn noted) noexcept:
    global g_noted
    g_noted = noted
    note_listeners()


cdef void note_listeners() noexcept:
    global g_told
    g_told = g_noted != NULL or g_watch != NULL or g_followers != 0


cdef void watch_memory(change_fn watch) noexcept:
    global g_watch
    g_watch = watch
    note_listeners()
    set_capacity(BLOCKS_PER_CLASS if watch == NULL else 0)


cdef Py_ssize_t live_bytes(int device) noexcept:
    return device_bytes[device].live_bytes + (g_live_bytes if device == ON_CPU else 0)


cdef StorageImpl* storage_new_on(int device, Py_ssize_t nbytes) except NULL:
    if device == ON_CPU:
        return storage_new(nbytes)
    return device_memory[device_type(device)](device, nbytes)


cdef StorageImpl* meta_memory(int device, Py_ssize_t nbytes) except NULL:
    """A size without memory. The address is only good for differences between addresses."""
    cdef StorageImpl* s = storage_borrow(<char*>HEADER, nbytes, None, False)
    s.device = ON_META
    return s


cdef StorageImpl* header_only(size_t size, char* data, Py_ssize_t nbytes) except NULL:
    cdef StorageImpl* s = <StorageImpl*>PyMem_RawMalloc(size)
    if s == NULL:
        raise MemoryError("autograd_cy: cannot allocate a storage header")
    memset(s, 0, size)
    s.refcount = 1
    s.data = data
    s.nbytes = nbytes
    s.version = &s.own_version
    return s


cdef StorageImpl* storage_of_service(int device, int type, char* data, Py_ssize_t nbytes,
                                     void* block, void* stream, PyObject* owner) except NULL:
    """Memory that a device's service gave, and gets back by its release."""
    cdef StorageImpl* s = header_only(sizeof(ServiceBlock), data, nbytes)
    cdef ServiceBlock* b = <ServiceBlock*>s
    cdef DeviceBytes* n = &device_bytes[device]
    s.kind = STORAGE_DEVICE if device else STORAGE_PINNED
    s.device = <uint16_t>device
    s.owner = block
    s.capacity = nbytes
    b.type = type
    b.stream = stream
    b.stream_owner = owner
    Py_XINCREF(owner)
    n.live_bytes += nbytes
    n.live_blocks += 1
    n.allocations += 1
    n.peak_bytes = max(n.peak_bytes, n.live_bytes)
    if g_told:
        tell_birth(s)
    return s


cdef void service_free(StorageImpl* s) noexcept:
    if g_watch != NULL:
        g_watch(s, -s.nbytes)
    device_bytes[s.device].live_bytes -= s.nbytes
    device_bytes[s.device].live_blocks -= 1
    if g_release(<ServiceBlock*>s):
        PyMem_RawFree(s)


cdef void set_release(release_fn release) noexcept:
    global g_release
    g_release = release


cdef StorageImpl* storage_borrow(char* data, Py_ssize_t nbytes, object owner,
                                 bint readonly) except NULL:
    """A storage over foreign memory that `owner` keeps alive."""
    cdef StorageImpl* s = header_only(sizeof(StorageImpl), data, nbytes)
    if g_followers:
        number_birth(s)
    s.kind = STORAGE_BORROWED
    s.readonly = readonly
    Py_INCREF(owner)
    s.owner = <void*>owner
    if g_noted != NULL:
        g_noted(s)
    return s


cdef StorageImpl* storage_alias(StorageImpl* source) except NULL:
    """Return a storage of the same memory with a version counter of its own (for `.data`)."""
    cdef StorageImpl* s = header_only(sizeof(StorageImpl), source.data, source.nbytes)
    if g_followers:
        number_birth(s)
    s.kind = STORAGE_ALIAS
    s.device = source.device
    s.readonly = source.readonly
    s.owner = storage_incref(source)
    return s


cdef int storage_share_version(StorageImpl* s, StorageImpl* other) except -1:
    """Let `s`, which is new, count its writes with `other`, as ``x.data = y`` needs."""
    cdef SharedVersion* shared
    if other.version == &other.own_version:
        # The counter must outlive both, and memory must not: it gets a place of its own.
        shared = <SharedVersion*>PyMem_RawMalloc(sizeof(SharedVersion))
        if shared == NULL:
            raise MemoryError("autograd_cy: cannot allocate a version counter")
        shared.refcount = 1
        shared.version = other.own_version
        other.version = &shared.version
    shared = <SharedVersion*>other.version
    shared.refcount += 1
    s.version = other.version
    return 0


cdef inline void leave_version(StorageImpl* s) noexcept:
    cdef SharedVersion* shared
    if s.version != &s.own_version:
        shared = <SharedVersion*>s.version
        s.version = &s.own_version
        shared.refcount -= 1
        if shared.refcount == 0:
            PyMem_RawFree(shared)


cdef inline void cache_block(StorageImpl* s, int c) noexcept:
    global g_cached_bytes
    s.owner = g_free[c]
    g_free[c] = s
    g_free_count[c] += 1
    g_cached_bytes += s.capacity


cdef void storage_free(StorageImpl* s) noexcept:
    global g_live_bytes, g_live_blocks
    cdef int c
    cdef object owner
    if s.has_object:
        s.refcount = 1
        g_let_go(s)
        return
    leave_version(s)
    if s.kind == STORAGE_CACHED:
        g_live_bytes -= s.capacity
        g_live_blocks -= 1
        c = s.size_class
        if (g_caching and g_free_count[c] < g_most_free[c]
                and g_cached_bytes + s.capacity <= g_cache_limit):
            cache_block(s, c)
        else:
            keep_or_give_back(s, c)
    elif s.kind == STORAGE_MALLOC:
        if g_watch != NULL:
            g_watch(s, -s.nbytes)
        g_live_bytes -= s.capacity
        g_live_blocks -= 1
        free(s)
    elif s.kind == STORAGE_BORROWED:
        owner = <object>s.owner
        Py_DECREF(owner)
        PyMem_RawFree(s)
        owner = None
    elif s.kind == STORAGE_DEVICE or s.kind == STORAGE_PINNED:
        service_free(s)
    else:
        storage_decref(<StorageImpl*>s.owner)
        PyMem_RawFree(s)


cdef void set_object_fn(object_fn let_go) noexcept:
    global g_let_go
    g_let_go = let_go


cdef bint storage_fits(StorageImpl* s, Py_ssize_t nbytes) noexcept:
    if s.kind != STORAGE_CACHED and s.kind != STORAGE_MALLOC and s.device != ON_META:
        return False
    if nbytes > s.capacity and s.device != ON_META:
        return False
    if g_watch != NULL and s.device == ON_CPU:
        g_watch(s, nbytes - s.nbytes)       # what goes at the end is the size of then
    s.nbytes = nbytes
    return True


cdef int device_code_of(object device) except -1:
    from autograd_cy._C.placement import _device_code
    return _device_code(device)


def memory_summary(device=None):
    """
    State of the tensor allocator, or what tensors hold of a device's memory.

    Parameters
    ----------
    device : device or str, optional
        The CPU unless given.

    Returns
    -------
    dict
        ``live_bytes`` and ``live_blocks`` held by tensors, ``peak_bytes`` since the start or
        :func:`reset_peak_memory`. Of the CPU, besides, ``cached_bytes`` kept for reuse,
        ``cache_limit`` (all in bytes), ``hits`` and ``misses`` of the cache, ``caching`` (whether
        the cache is on), and ``pinned_bytes``, which an accelerator can copy from and which the
        other numbers leave out. Of another device, ``allocations``, how many there were.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> sorted(ag.memory_summary())[:3]
    ['cache_limit', 'cached_bytes', 'caching']
    """
    cdef int code = ON_CPU if device is None else device_code_of(device)
    if code != ON_CPU:
        return device_bytes[code]
    if not g_group_is_known:
        limit_by_group()
    return {
        "live_bytes": g_live_bytes,
        "live_blocks": g_live_blocks,
        "peak_bytes": g_peak_bytes,
        "cached_bytes": g_cached_bytes,
        "cache_limit": g_cache_limit,
        "hits": g_hits,
        "misses": g_misses,
        "caching": bool(g_caching),
        "pinned_bytes": device_bytes[ON_CPU].live_bytes,
    }


def reset_peak_memory(device=None):
    """
    Start counting ``peak_bytes`` of :func:`memory_summary` anew.

    Parameters
    ----------
    device : device or str, optional
        The CPU unless given.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.reset_peak_memory()
    """
    global g_peak_bytes
    cdef int code = ON_CPU if device is None else device_code_of(device)
    if code == ON_CPU:
        g_peak_bytes = g_live_bytes
    else:
        device_bytes[code].peak_bytes = device_bytes[code].live_bytes


def empty_cache():
    """
    Give the cached, unused blocks back to the system.

    It happens by itself when there is no memory for another tensor, to large blocks that were not
    used for ten seconds, and where little memory is left (in its cgroup, or under ``ulimit -v``).

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.empty_cache()
    >>> ag.memory_summary()["cached_bytes"]
    0
    """
    give_all_back()


def set_allocator_caching(enabled):
    """
    Switch the block cache on or off.

    Off, every block comes from ``malloc`` and goes back at once, so that valgrind and sanitizers
    see each use after free. ``AUTOGRAD_CY_CACHE=0`` in the environment does the same at import.

    Parameters
    ----------
    enabled : bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.set_allocator_caching(True)
    """
    global g_caching
    if not enabled:
        flush_cache()
    g_caching = bool(enabled)


def _fail_allocation_after(Py_ssize_t n):
    """Test hook: let the allocation after `n` further ones fail; -1 switches it off."""
    global g_fail_after
    g_fail_after = n


cdef object configure():
    global g_cache_limit, g_caching, g_limit_is_given
    limit = os.environ.get("AUTOGRAD_CY_CACHE_MB")
    if limit is not None:
        try:
            g_cache_limit = <Py_ssize_t>(int(limit) * 1024 * 1024)
            g_limit_is_given = True
        except ValueError:
            raise ValueError(
                f"AUTOGRAD_CY_CACHE_MB must be a whole number of MiB, not {limit!r}"
            ) from None
    else:
        limit_by_memory()
    if os.environ.get("AUTOGRAD_CY_CACHE") == "0":
        g_caching = False

configure()
