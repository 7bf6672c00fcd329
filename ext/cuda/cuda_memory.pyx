# cython: language_level=3
# build: plain hot
"""Memory of CUDA devices, by device, stream and size class, and pinned memory of the host.

A block that is given back goes to the free ones of its stream, and is given out again without a
call of the driver. New ones come from a memory pool of the driver's.
"""
from libc.stdint cimport uint64_t
from libc.stdlib cimport calloc, getenv, malloc
from libc.string cimport memset

from autograd_cy._C.cuda_driver cimport (
    HOST_PORTABLE, MAX_INDEX, OUT_OF_MEMORY, address_t, check_result, context_of, device_number,
    driver,
    enter, error_of, handle_t, is_forked, number_of_devices, result_t)
from autograd_cy._C.cuda_streams cimport CudaStream, handle_of, order
from autograd_cy._C.placement cimport current_index, type_of_name
from autograd_cy._C.sealed cimport seal
from autograd_cy._C.tensor cimport Tensor, tensor_empty_on

from autograd_cy._C.devices import _let_pinned_go
from autograd_cy._C.storage import OutOfMemoryError

cdef extern from *:
    int AG_CLZLL "__builtin_clzll"(unsigned long long) nogil

# Note [Blocks of CUDA memory]
# Sizes are rounded up to classes: 512 bytes, then four classes for each power of two up to 1 MiB,
# and eight above. Each stream of a device has an arena: its free blocks, by class. What was put on
# the stream before a block came back may still use it; what the next owner puts there comes later.
#
# A stream that has no free block of a class takes one of another stream that has nothing left to
# do; else the driver gives a new one. Only when there is no more memory a stream takes a block of
# a busy one, and waits for it by an event. Then free blocks of all streams are given back to the
# driver, after the device has come to rest, and only then the error is raised.
#
# Blocks are given out and come back with the GIL held, which is the lock of all that is here.
# Where it is given up to wait, lists may have changed afterwards.

cdef enum:
    SMALLEST = 512
    FINE = 20                    # powers of two from here on have eight classes
    CLASSES = 48 + 8 * 44        # up to 2^64
    ATTRIBUTE_POOLS = 115        # CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED
    POOL_THRESHOLD = 4           # CU_MEMPOOL_ATTR_RELEASE_THRESHOLD

cdef struct Block:
    address_t at
    size_t size                  # of its class, or as much as was asked for if nothing is cached
    size_t request
    CudaStream* stream           # whose arena it goes back to, NULL: the default stream
    int cls
    int pooled                   # it goes back to the driver in the order of a stream
    Block* next

cdef struct Arena:
    CudaStream* stream
    handle_t handle
    int index
    Arena* next                  # of the device
    Block* free_blocks[400]      # CLASSES

# What is counted of a device, in the order of torch's figures.
cdef struct Count:
    long long current
    long long peak
    long long allocated          # all that there were
    long long freed

cdef struct Counts:
    Count allocation             # blocks in use
    Count allocated_bytes        # their sizes
    Count requested_bytes        # what was asked for
    Count segment                # blocks that the driver has given
    Count reserved_bytes         # their sizes
    long long retries
    long long ooms
    long long device_allocs
    long long device_frees
    long long synchronisations
    long long reused             # allocations without a call of the driver
    long long taken              # from another stream

# The driver's CUmemPoolProps; memory of a device is "pinned" there, too.
cdef struct PoolProps:
    int kind
    int handles
    int place
    int device
    void* security
    size_t most
    char reserved[64]

cdef Arena* _default_arenas[MAX_INDEX]
cdef Arena* _arenas[MAX_INDEX]               # all of a device
cdef handle_t[MAX_INDEX] _pools
cdef int[MAX_INDEX] _pooled                  # 0: unknown, 1: a pool, -1: none
cdef Counts[MAX_INDEX] _counts
cdef size_t[MAX_INDEX] _limits               # 0: none
cdef Block* _spare = NULL                    # structs
cdef Block* _pinned[CLASSES]
cdef Counts _host
cdef bint _cached = getenv("AUTOGRAD_CY_NO_CUDA_MEMORY_CACHING") == NULL

memset(_default_arenas, 0, sizeof(_default_arenas))
memset(_arenas, 0, sizeof(_arenas))
memset(_pools, 0, sizeof(_pools))
memset(_pooled, 0, sizeof(_pooled))
memset(_counts, 0, sizeof(_counts))
memset(_limits, 0, sizeof(_limits))
memset(_pinned, 0, sizeof(_pinned))
memset(&_host, 0, sizeof(_host))


# --- sizes ----------------------------------------------------------------------------------

cdef inline int class_of(size_t nbytes) noexcept nogil:
    """The smallest class that holds `nbytes`."""
    cdef size_t n
    cdef int top
    if nbytes <= SMALLEST:
        return 0
    n = nbytes - 1
    top = 63 - AG_CLZLL(n)                   # 2**top <= n
    if top < FINE:
        return (top - 9) * 4 + <int>((n >> (top - 2)) & 3) + 1
    return 44 + (top - FINE) * 8 + <int>((n >> (top - 3)) & 7) + 1


cdef inline size_t class_bytes(int c) noexcept nogil:
    cdef int q = c - 1
    if c == 0:
        return SMALLEST
    if q < 44:
        return (<size_t>(4 + (q & 3) + 1)) << ((q >> 2) + 7)
    q -= 44
    return (<size_t>(8 + (q & 7) + 1)) << ((q >> 3) + FINE - 3)


cdef inline void count_up(Count* c, long long n) noexcept nogil:
    c.current += n
    c.allocated += n
    if c.current > c.peak:
        c.peak = c.current


cdef inline void count_down(Count* c, long long n) noexcept nogil:
    c.current -= n
    c.freed += n


cdef inline void count_use(Counts* n, Block* b) noexcept nogil:
    count_up(&n.allocation, 1)
    count_up(&n.allocated_bytes, b.size)
    count_up(&n.requested_bytes, b.request)


cdef inline void count_end(Counts* n, Block* b) noexcept nogil:
    count_down(&n.allocation, 1)
    count_down(&n.allocated_bytes, b.size)
    count_down(&n.requested_bytes, b.request)


# --- blocks and arenas ----------------------------------------------------------------------

cdef Block* new_block() except NULL:
    global _spare
    cdef Block* b = _spare
    if b != NULL:
        _spare = b.next
        return b
    b = <Block*>malloc(sizeof(Block))
    if b == NULL:
        raise MemoryError("autograd_cy: no memory to note a block of a device")
    return b


cdef inline void drop_block(Block* b) noexcept:
    global _spare
    b.next = _spare
    _spare = b


cdef Arena* arena_of(int index, CudaStream* stream) except NULL:
    cdef Arena* a = _default_arenas[index] if stream == NULL else <Arena*>stream.arena
    if a != NULL:
        return a
    a = <Arena*>calloc(1, sizeof(Arena))
    if a == NULL:
        raise MemoryError("autograd_cy: no memory for a stream's free blocks")
    a.stream = stream
    a.handle = handle_of(stream)
    a.index = index
    a.next = _arenas[index]
    _arenas[index] = a
    if stream == NULL:
        _default_arenas[index] = a
    else:
        stream.arena = a
    return a


cdef int allocate(int index, Py_ssize_t nbytes, stream_t stream, char** data,
                  void** block) except -1:
    cdef CudaStream* s = <CudaStream*>stream
    cdef Arena* a = _default_arenas[index] if s == NULL else <Arena*>s.arena
    cdef Block* b = NULL
    cdef int c = class_of(nbytes)
    if a != NULL and _cached and not is_forked():
        b = a.free_blocks[c]
    if b != NULL:                # whatever uses it makes the context current
        a.free_blocks[c] = b.next
        _counts[index].reused += 1
    else:
        enter(index)
        a = arena_of(index, s)
        b = more(a, c, nbytes)
    b.request = nbytes
    b.stream = s
    count_use(&_counts[index], b)
    data[0] = <char*>b.at
    block[0] = b
    return 0


cdef void release(int index, void* block, stream_t stream) noexcept:
    cdef Block* b = <Block*>block
    cdef Arena* a
    count_end(&_counts[index], b)
    # The arena that it came from: `allocate` has made it.
    a = _default_arenas[index] if b.stream == NULL else <Arena*>b.stream.arena
    if not _cached and not is_forked():
        give_to_driver_at_once(a, b)
    else:
        keep_block(a, b)


cdef inline void keep_block(Arena* a, Block* b) noexcept:
    b.next = a.free_blocks[b.cls]
    a.free_blocks[b.cls] = b


cdef void give_to_driver_at_once(Arena* a, Block* b) noexcept:
    """Without a cache. What the driver refuses is kept for `empty_cache`."""
    cdef result_t result = 1
    try:
        enter(a.index)
        result = give_to_driver(a.index, a.handle, b)
    except BaseException:
        pass
    if result:
        keep_block(a, b)


cdef result_t give_to_driver(int index, handle_t stream, Block* b) noexcept:
    cdef Counts* n = &_counts[index]
    cdef result_t result
    if b.pooled:
        result = driver.free_async(b.at, stream)
    else:
        result = driver.free_plain(b.at)
    if result:
        return result
    n.device_frees += 1
    count_down(&n.segment, 1)
    count_down(&n.reserved_bytes, b.size)
    drop_block(b)
    return 0


# --- growth ---------------------------------------------------------------------------------

cdef handle_t pool_of(int index) except? NULL:
    """A pool of our own, so that it may keep what it was given back; NULL: there are none."""
    cdef int supported = 0
    cdef handle_t pool = NULL
    cdef PoolProps props
    cdef uint64_t threshold = <uint64_t>-1
    if _pooled[index]:
        return _pools[index]
    _pooled[index] = -1
    if (driver.pool_create == NULL or driver.allocate_from_pool == NULL
            or driver.free_async == NULL or driver.pool_set == NULL or driver.pool_trim == NULL):
        return NULL
    if driver.device_attribute(&supported, ATTRIBUTE_POOLS, device_number(index)) or not supported:
        return NULL
    memset(&props, 0, sizeof(props))
    props.kind = 1               # CU_MEM_ALLOCATION_TYPE_PINNED
    props.place = 1              # CU_MEM_LOCATION_TYPE_DEVICE
    props.device = index
    if driver.pool_create(&pool, &props):
        return NULL
    # Or each synchronisation would give all free memory back.
    driver.pool_set(pool, POOL_THRESHOLD, &threshold)
    let_peers_in(pool, index)
    _pools[index] = pool
    _pooled[index] = 1
    return pool


cdef void let_peers_in(handle_t pool, int index) noexcept:
    """Let devices that can read another one's memory use its pool: their copies don't go by the
    host then."""
    cdef int[3] access           # CUmemAccessDesc: a place and what is allowed there
    cdef int other, can
    if driver.pool_access == NULL or driver.can_access_peer == NULL:
        return
    for other in range(number_of_devices()):
        can = 0
        if other != index and driver.can_access_peer(&can, other, index) == 0 and can:
            access[0], access[1], access[2] = 1, other, 3        # a device, to read and write
            driver.pool_access(pool, access, 1)


cdef Block* more(Arena* a, int c, size_t nbytes) except NULL:
    """A block of a class of which the stream has none."""
    cdef int index = a.index
    cdef size_t size = class_bytes(c) if _cached else max(nbytes, 1)
    cdef Block* b = from_idle_stream(a, c) if _cached else NULL
    cdef result_t result
    if b != NULL:
        return b
    b = new_block()
    b.cls = c
    b.size = size
    result = from_driver(a, b)
    if result == OUT_OF_MEMORY:
        if _cached and from_busy_stream(a, b):
            return b
        _counts[index].retries += 1
        result = after_emptying(a, b)
    if result:
        drop_block(b)
        if result == OUT_OF_MEMORY:
            _counts[index].ooms += 1
            raise out_of_memory(index, nbytes)
        raise error_of(result, f"allocating {nbytes} bytes", index)
    return b


cdef Block* from_idle_stream(Arena* a, int c) noexcept:
    """A free block of another stream on which nothing is left to do."""
    cdef Arena* other = _arenas[a.index]
    cdef Block* b
    while other != NULL:
        b = other.free_blocks[c]
        # Whether an external stream still exists isn't known here.
        if (other != a and b != NULL and (other.stream == NULL or not other.stream.external)
                and driver.stream_query(other.handle) == 0):
            other.free_blocks[c] = b.next
            _counts[a.index].taken += 1
            return b
        other = other.next
    return NULL


cdef bint from_busy_stream(Arena* a, Block* b) except -1:
    """A free block of another stream, for which this one waits; it is written over `b`."""
    cdef Arena* other = _arenas[a.index]
    cdef Block* block
    while other != NULL:
        block = other.free_blocks[b.cls]
        if other != a and block != NULL and (other.stream == NULL or not other.stream.external):
            order(a.index, other.handle, a.handle)
            other.free_blocks[b.cls] = block.next
            b[0] = block[0]
            drop_block(block)
            _counts[a.index].taken += 1
            return True
        other = other.next
    return False


cdef result_t from_driver(Arena* a, Block* b) except? -1:
    cdef Counts* n = &_counts[a.index]
    cdef handle_t pool
    cdef result_t result
    cdef size_t limit = _limits[a.index]
    if limit and n.reserved_bytes.current + b.size > limit:
        return OUT_OF_MEMORY
    pool = pool_of(a.index)
    b.at = 0
    b.pooled = pool != NULL
    if pool != NULL:
        result = driver.allocate_from_pool(&b.at, b.size, pool, a.handle)
    else:
        result = driver.allocate_plain(&b.at, b.size)
    if result == 0:
        n.device_allocs += 1
        count_up(&n.segment, 1)
        count_up(&n.reserved_bytes, b.size)
    return result


cdef result_t after_emptying(Arena* a, Block* b) except? -1:
    """Try it again with what is free elsewhere given back to the driver."""
    cdef result_t result = free_memory(a.index)
    return result if result else from_driver(a, b)


cdef Block* free_blocks_of(int index) noexcept:
    """Take the free blocks of all streams of a device."""
    cdef Arena* a = _arenas[index]
    cdef Block* chain = NULL
    cdef Block* b
    cdef int c
    while a != NULL:
        for c in range(CLASSES):
            while a.free_blocks[c] != NULL:
                b = a.free_blocks[c]
                a.free_blocks[c] = b.next
                b.stream = a.stream
                b.next = chain
                chain = b
        a = a.next
    return chain


cdef int free_memory(int index) except? -1:
    """
    Give the free blocks of all streams of a device back to the driver.

    The host waits for the device: what was put on streams before a block came back may use it.
    """
    cdef Block* b
    cdef Block* blocks
    cdef Arena* a
    cdef result_t result, first = 0
    enter(index)
    blocks = free_blocks_of(index)     # before waiting: other threads may put work there meanwhile
    if blocks == NULL:
        return 0
    with nogil:
        result = driver.context_synchronize()
    _counts[index].synchronisations += 1
    while blocks != NULL:
        b = blocks
        blocks = b.next
        if first == 0:
            first = result if result else give_to_driver(index, NULL, b)
            if first == 0:
                continue
        a = _default_arenas[index] if b.stream == NULL else <Arena*>b.stream.arena
        keep_block(a, b)
    if first == 0 and _pools[index] != NULL:
        with nogil:
            first = driver.stream_synchronize(NULL)
        if first == 0:
            first = driver.pool_trim(_pools[index], 0)
    return first


cdef str size_text(long long n):
    """Format a number of bytes as torch does."""
    if n < 1 << 10:
        return f"{n} bytes"
    if n < 1 << 20:
        return f"{n / 1024:.2f} KiB"
    if n < 1 << 30:
        return f"{n / (1 << 20):.2f} MiB"
    return f"{n / (1 << 30):.2f} GiB"


cdef object out_of_memory(int index, size_t nbytes):
    cdef Counts* n = &_counts[index]
    cdef size_t unused = 0, total = 0
    cdef str text
    driver.memory_info(&unused, &total)
    text = (f"CUDA out of memory. Tried to allocate {size_text(nbytes)}. GPU {index} has a total "
            f"capacity of {size_text(total)} of which {size_text(unused)} is free. ")
    if _limits[index]:
        text += f"{size_text(_limits[index])} allowed; "
    text += (
        f"Of the allocated memory {size_text(n.allocated_bytes.current)} is allocated by tensors, "
        f"and {size_text(n.reserved_bytes.current - n.allocated_bytes.current)} is reserved by "
        "autograd_cy but unallocated. Free tensors, make batches smaller, or see "
        "cuda.memory_summary().")
    return OutOfMemoryError(text)


# --- pinned memory --------------------------------------------------------------------------

cdef int some_index() except -1:
    """A device whose context pins memory: the current one, unless others alone were started."""
    cdef int index = current_index(type_of_name("cuda"))
    cdef int i
    if context_of(index) == NULL:
        for i in range(number_of_devices()):
            if context_of(i) != NULL:
                return i
    return index


cdef int pin(Py_ssize_t nbytes, char** data, void** block) except -1:
    cdef int index = 0
    cdef int c = class_of(nbytes)
    cdef Block* b = _pinned[c]
    cdef void* place = NULL
    cdef result_t result
    if b != NULL:
        _pinned[c] = b.next
        _host.reused += 1
    else:
        index = some_index()
        enter(index)
        b = new_block()
        b.cls = c
        b.size = class_bytes(c)
        result = more_pinned(b, &place)
        if result == OUT_OF_MEMORY:
            _host.retries += 1
            empty_pinned()
            result = more_pinned(b, &place)
        if result:
            drop_block(b)
            if result == OUT_OF_MEMORY:
                _host.ooms += 1
                raise OutOfMemoryError(
                    f"CUDA error: out of memory: the driver can't pin {size_text(nbytes)} of the "
                    f"host's memory; {size_text(_host.reserved_bytes.current)} are pinned now. "
                    "Make it smaller, or leave pin_memory out")
            raise error_of(result, f"pinning {nbytes} bytes of the host", index)
        b.at = <address_t>place
        _host.device_allocs += 1
        count_up(&_host.segment, 1)
        count_up(&_host.reserved_bytes, b.size)
    b.request = nbytes
    count_use(&_host, b)
    data[0] = <char*>b.at
    block[0] = b
    return 0


cdef result_t more_pinned(Block* b, void** place) noexcept:
    """Pinned memory from the driver, which may wait for the device."""
    with nogil:
        return driver.host_allocate(place, b.size, HOST_PORTABLE)


cdef void unpin(void* block) noexcept:
    """Keep it for the next one; the core has waited for copies that use it."""
    cdef Block* b = <Block*>block
    count_end(&_host, b)
    b.next = _pinned[b.cls]
    _pinned[b.cls] = b


cdef result_t empty_pinned() noexcept:
    """Give free pinned memory back to the driver, which waits for the device."""
    cdef Block* b
    cdef result_t result
    cdef int c
    for c in range(CLASSES):
        while _pinned[c] != NULL:
            b = _pinned[c]
            _pinned[c] = b.next      # before waiting: other threads pin memory meanwhile
            with nogil:
                result = driver.host_free(<void*>b.at)
            if result:
                b.next = _pinned[c]
                _pinned[c] = b
                return result
            _host.device_frees += 1
            count_down(&_host.segment, 1)
            count_down(&_host.reserved_bytes, b.size)
            drop_block(b)
    return 0


# --- scratch --------------------------------------------------------------------------------

cdef class Scratch:
    """Memory of a device that goes back, on its stream, with the object."""

    def __dealloc__(self):
        if self.block != NULL:
            release(self.index, self.block, self.stream)


seal(Scratch, "Scratch objects cannot be made")


cdef Scratch scratch(int index, Py_ssize_t nbytes, stream_t stream):
    cdef Scratch s = Scratch.__new__(Scratch)
    allocate(index, nbytes, stream, &s.data, &s.block)
    s.index = index
    s.stream = stream
    return s


cdef Tensor dense_like(Tensor t):
    return tensor_empty_on(t.mem.device, t.dt, t.nd, t.sizes, NULL)


# --- for Python -----------------------------------------------------------------------------

cdef Counts* counts_of(int index) except NULL:
    """Return the counters of a device, or of pinned memory for -1."""
    if not -1 <= index < MAX_INDEX:
        raise ValueError(f"a device has a number from 0 to {MAX_INDEX - 1}, not {index}")
    return &_host if index < 0 else &_counts[index]


cdef int of_device(int index) except -1:
    """The number of a device, which pinned memory isn't."""
    if index < 0:
        raise ValueError(f"a device has a number from 0 to {MAX_INDEX - 1}, not {index}")
    counts_of(index)
    return index


cdef tuple figures(Count* c):
    return c.current, c.peak, c.allocated, c.freed


cdef dict all_figures(Counts* n):
    return {
        "allocation": figures(&n.allocation), "allocated_bytes": figures(&n.allocated_bytes),
        "requested_bytes": figures(&n.requested_bytes), "segment": figures(&n.segment),
        "reserved_bytes": figures(&n.reserved_bytes), "retries": n.retries, "ooms": n.ooms,
        "device_allocs": n.device_allocs, "device_frees": n.device_frees,
        "synchronisations": n.synchronisations, "reused": n.reused, "taken": n.taken}


def stats(int index):
    """
    Return the counters of a device's memory; creates no context.

    Returns
    -------
    dict
        ``allocation`` (blocks in use), ``allocated_bytes``, ``requested_bytes``, ``segment``
        (blocks that the driver gave) and ``reserved_bytes``, each as a tuple (current, peak,
        allocated, freed); counts: ``retries``, ``ooms``, ``device_allocs``, ``device_frees``,
        ``synchronisations``, ``reused`` allocations without a call of the driver, blocks ``taken``
        from other streams.
    """
    return all_figures(counts_of(index))


def host_stats():
    """Return the counters of pinned memory of the host."""
    return all_figures(&_host)


cdef void restart(Counts* n, bint peaks) noexcept:
    cdef Count* c = &n.allocation        # the first of five
    cdef int i
    for i in range(5):
        if peaks:
            c[i].peak = c[i].current
        else:
            c[i].allocated = c[i].freed = 0
    if not peaks:
        n.retries = n.ooms = n.device_allocs = n.device_frees = n.synchronisations = 0
        n.reused = n.taken = 0


def reset_peak(int index):
    """Let peaks be what there is now; of pinned memory for -1."""
    restart(counts_of(index), True)


def reset_accumulated(int index):
    """Let what is counted from the beginning be counted from now; of pinned memory for -1."""
    restart(counts_of(index), False)


def memory_info(int index):
    """
    Free and all bytes of a device, as the driver says.

    Returns
    -------
    tuple of int
    """
    cdef size_t unused = 0, total = 0
    enter(index)
    check_result(driver.memory_info(&unused, &total), "asking for free memory", index)
    return unused, total


def empty_cache(index=None):
    """Give free memory of a device, of all unless given, back to the driver; waits for it."""
    cdef int i
    _let_pinned_go()
    for i in range(MAX_INDEX) if index is None else (index,):
        if _arenas[i] != NULL:
            check_result(free_memory(i), "giving free memory back", i)


def empty_host_cache():
    """Give free pinned memory back to the driver; waits for the device."""
    cdef int index
    _let_pinned_go()
    if _host.segment.current:
        index = some_index()
        enter(index)
        check_result(empty_pinned(), "giving pinned memory back", index)


def set_limit(int index, size_t nbytes):
    """Let a device's tensors and free memory have at most so many bytes; 0: no limit."""
    _limits[of_device(index)] = nbytes


def limit(int index):
    """The limit that was set, 0 for none."""
    return _limits[of_device(index)]


def pooled(int index):
    """Tell if memory comes from a pool of the driver; None if none was asked for yet."""
    return None if not _pooled[of_device(index)] else _pooled[index] > 0
