# Memory that storages take and give back (part of recorder.pyx).

cdef int64_t[MAX_DEVICES] g_totals  # bytes of all storages of each device
cdef int64_t g_changes = 0


cdef void note_memory(StorageImpl* block, Py_ssize_t nbytes) noexcept:
    """`nbytes` are taken, or given back if negative."""
    global g_changes, g_dropped
    cdef Stream* s = this_stream()
    cdef Change* c
    cdef int64_t capacity
    if nbytes == 0:                 # storages without elements
        return
    g_totals[block.device] += nbytes
    if s == NULL or g_changes >= g_limit:
        g_dropped += 1
        return
    if s.n_changes == s.change_capacity:
        capacity = 256 if s.change_capacity == 0 else 2 * s.change_capacity
        c = <Change*>realloc(s.changes, <size_t>capacity * sizeof(Change))
        if c == NULL:
            g_dropped += 1
            return
        s.changes = c
        s.change_capacity = capacity
    c = &s.changes[s.n_changes]
    s.n_changes += 1
    g_changes += 1
    c.nbytes = nbytes
    c.total = g_totals[block.device]
    c.device = block.device
    c.address = <uint64_t><uintptr_t>block.data
    c.event = s.open[s.depth - 1].number if s.depth else -1
    c.time = ticks()
