# Memory that nobody but the worker can touch (part of hostdevice.pyx).
#
# Addresses of both devices lie in a range without access: whoever reads or writes there is ended by
# a SIGSEGV at the guilty line. What runs in the worker gets them moved to a second range, which is
# real.

cdef extern from *:
    """
    #include <sys/mman.h>
    #define HD_SIZE ((size_t)1 << 36)
    static char *hd_fenced = NULL, *hd_real = NULL;

    static int hd_reserve(void) {
        int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
        if (hd_fenced != NULL) return 0;
        hd_real = (char *)mmap(NULL, HD_SIZE, PROT_READ | PROT_WRITE, flags, -1, 0);
        if (hd_real == MAP_FAILED) return -1;
        hd_fenced = (char *)mmap(NULL, HD_SIZE, PROT_NONE, flags, -1, 0);
        if (hd_fenced == MAP_FAILED) { hd_fenced = NULL; return -1; }
        return 0;
    }
    """
    size_t HD_SIZE
    char* hd_fenced
    char* hd_real
    int hd_reserve() noexcept

cdef enum:
    INDICES = 2              # devices of the type, each with half of the range
    GUARD = 64
    GUARD_BYTE = 0xA5
    POISON = 0xFF            # NaN in every floating dtype, -1 in every integer one
    RESTING = 32             # freed blocks of one size that wait before one is used again
    LOOKED_AT = 4096         # bytes of a resting block that are looked at before it is used again

cdef struct Block:
    char* start              # of the guard bytes before it, where it is real
    Py_ssize_t size
    Py_ssize_t reserved
    int index

cdef Py_ssize_t[INDICES] used    # bytes of each half that were given out so far
cdef Py_ssize_t live_bytes = 0, most_bytes = 0, limit_bytes = -1
cdef long broken = 0             # blocks whose ends, or whose memory after the end, were written
cdef long blocks = 0             # allocated, and not given back
cdef dict resting = {}           # (index, reserved) -> deque of starts of blocks that were freed


cdef inline bint inside(const char* p) noexcept nogil:
    return hd_fenced != NULL and hd_fenced <= p < hd_fenced + HD_SIZE


cdef inline char* real(const char* p) noexcept nogil:
    """The address to read and write at for one of the device; others are what they are."""
    return hd_real + (p - hd_fenced) if inside(p) else <char*>p


cdef char* start_of_block(int index, Py_ssize_t reserved) except NULL:
    """Real memory for a block: a fresh one, or one that has rested."""
    global broken
    cdef char* start
    cdef Py_ssize_t i
    old = resting.get((index, reserved))
    if old is not None and len(old) > RESTING:
        start = hd_real + <Py_ssize_t>old.popleft()
        for i in range(min(reserved, LOOKED_AT)):
            if <uint8_t>start[i] != POISON:
                broken += 1                  # somebody wrote there after the end
                break
        return start
    if used[index] + reserved > <Py_ssize_t>(HD_SIZE // INDICES):
        raise MemoryError("hostdevice: no memory")
    start = hd_real + index * (HD_SIZE // INDICES) + used[index]
    used[index] += reserved
    return start


cdef Block* block_new(int index, Py_ssize_t nbytes) except NULL:
    global blocks, live_bytes, most_bytes
    cdef Py_ssize_t reserved = (nbytes + 2 * GUARD + 255) // 256 * 256
    cdef Block* b
    if hd_reserve() < 0:
        raise MemoryError("hostdevice: no range of addresses")
    if 0 <= limit_bytes < live_bytes + nbytes:
        raise MemoryError(f"hostdevice: out of memory, {nbytes} bytes more than the limit allows")
    b = <Block*>malloc(sizeof(Block))
    if b == NULL:
        raise MemoryError()
    try:
        b.start = start_of_block(index, reserved)
    except BaseException:
        free(b)
        raise
    b.size = nbytes
    b.reserved = reserved
    b.index = index
    memset(b.start, GUARD_BYTE, GUARD)
    memset(b.start + GUARD + nbytes, GUARD_BYTE, GUARD)
    blocks += 1
    live_bytes += nbytes
    most_bytes = max(most_bytes, live_bytes)
    return b


cdef inline char* fenced_data(Block* b) noexcept:
    return hd_fenced + (b.start + GUARD - hd_real)


cdef int block_end(Block* b) except -1:
    """Look at the guard bytes, and let the memory rest."""
    global broken
    cdef Py_ssize_t i
    for i in range(GUARD):
        if (<uint8_t>b.start[i] != GUARD_BYTE
                or <uint8_t>b.start[GUARD + b.size + i] != GUARD_BYTE):
            broken += 1
            break
    memset(b.start, POISON, b.reserved)
    resting.setdefault((b.index, b.reserved), deque()).append(<Py_ssize_t>(b.start - hd_real))
    free(b)
    return 0
