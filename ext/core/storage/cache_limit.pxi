# How much is cached for reuse (part of storage.pyx).

# Note [Size of the cache]
# At most an eighth of the memory that the process may use: of the machine, so that ranks sharing a
# node leave each other memory, or of its cgroup or RLIMIT_AS where these are less. Of large blocks
# (a MiB and more) also
# - with what is alive at most twice as much as was alive at once lately, or FLOOR;
# - a quarter of what a cgroup or RLIMIT_AS has left: others of the process need memory, too;
# - none that was not used for IDLE.
# That is looked at when a large block is made or freed: next to touching a MiB it takes no time,
# and small blocks don't notice. What is used least goes first. Free blocks keep the time at which
# they were freed in `nbytes`; those of a class are in the order of it, the newest first.

cdef extern from *:
    """
    #include <stdio.h>
    #include <string.h>
    #include <time.h>
    #include <unistd.h>
    #include <sys/resource.h>
    #ifdef __GLIBC__
    #include <malloc.h>
    #define AG_TRIM() ((void)malloc_trim(0))
    #else
    #define AG_TRIM() ((void)0)
    #endif

    static Py_ssize_t ag_milliseconds(void) {
        struct timespec t;
    #ifdef CLOCK_MONOTONIC_COARSE
        clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    #else
        clock_gettime(CLOCK_MONOTONIC, &t);
    #endif
        return (Py_ssize_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
    }
    /* RLIMIT_AS, or -1. */
    static Py_ssize_t ag_address_limit(void) {
    #ifdef RLIMIT_AS
        struct rlimit limit;
        if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY
                && limit.rlim_cur < ((rlim_t)1 << 60))
            return (Py_ssize_t)limit.rlim_cur;
    #endif
        return -1;
    }
    /* The number at the start of a text, or -1. Headers of glibc 2.38 turn scanf and strtol into
       functions that an older glibc doesn't have. */
    static Py_ssize_t ag_number(const char *text) {
        Py_ssize_t value = 0;
        while (*text == ' ') text++;
        if (*text < '0' || *text > '9') return -1;
        for (; *text >= '0' && *text <= '9'; text++) value = 10 * value + (*text - '0');
        return value;
    }
    /* Bytes of address space in use, or -1. */
    static Py_ssize_t ag_addresses(void) {
        char line[128];
        Py_ssize_t pages = -1;
        FILE *file = fopen("/proc/self/statm", "r");
        if (!file) return -1;
        if (fgets(line, sizeof line, file)) pages = ag_number(line);
        fclose(file);
        return pages < 0 ? -1 : pages * sysconf(_SC_PAGESIZE);
    }
    /* What the processes of a cgroup use beside the cache of files, from its memory.stat; or -1. */
    static Py_ssize_t ag_group_memory(const char *path) {
        char line[128];
        Py_ssize_t bytes = -1;
        FILE *file = fopen(path, "r");
        if (!file) return -1;
        while (fgets(line, sizeof line, file))
            if (strncmp(line, "anon ", 5) == 0 || strncmp(line, "total_rss ", 10) == 0)
                bytes = ag_number(strchr(line, ' '));
        fclose(file);
        return bytes;
    }
    """
    void AG_TRIM()
    Py_ssize_t ag_milliseconds()
    Py_ssize_t ag_address_limit()
    Py_ssize_t ag_addresses()
    Py_ssize_t ag_group_memory(const char* path)

cdef extern from "Python.h":
    void PyErr_Fetch(PyObject** kind, PyObject** value, PyObject** trace)
    void PyErr_Restore(PyObject* kind, PyObject* value, PyObject* trace)

cdef enum:
    IDLE = 10000                # milliseconds
    OFTEN = 100                 # between looks at limits and times
    FLOOR = 256 * 1024 * 1024

cdef bint g_limit_is_given = False      # by AUTOGRAD_CY_CACHE_MB: nothing else counts
cdef bint g_group_is_known = False
cdef Py_ssize_t g_group_limit = -1      # of the cgroup
cdef bytes g_group_file = None          # its memory.stat
cdef Py_ssize_t g_left = -1             # of what is kept, large blocks may have; -1: no limit
cdef Py_ssize_t g_looked = -OFTEN       # when limits and times were looked at
cdef Py_ssize_t g_turned = 0            # when `g_recent` began
cdef Py_ssize_t g_recent = 0            # most bytes alive at once since then,
cdef Py_ssize_t g_before = 0            # and in the time before
cdef Py_ssize_t g_clock_ahead = 0       # test hook


cdef object limit_by_memory():
    """The limit from before anything is used."""
    global g_cache_limit
    cdef Py_ssize_t most = <Py_ssize_t>8 << 30
    try:
        most = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        pass
    if ag_address_limit() >= 0:
        most = min(most, ag_address_limit())
    g_cache_limit = most // 8


cdef void limit_by_group() noexcept:
    """The limit of the cgroup, before the first large block: import does not wait for its files."""
    global g_group_is_known, g_cache_limit, g_group_limit, g_group_file
    cdef PyObject* kind
    cdef PyObject* value
    cdef PyObject* trace
    g_group_is_known = True
    PyErr_Fetch(&kind, &value, &trace)      # tensors also die where an exception is on its way
    try:
        from autograd_cy._environment import memory
        limit = memory.cgroup()
        if limit is not None and limit[0] // 8 < g_cache_limit:
            g_group_file = os.fsencode(limit[1])
            g_group_limit = limit[0]
            if not g_limit_is_given:
                g_cache_limit = g_group_limit // 8
    except Exception:
        pass        # as where there is none
    PyErr_Restore(kind, value, trace)


cdef void give_all_back() noexcept:
    """Give what is kept back to the system, also what malloc() keeps of it."""
    global g_given_back
    flush_cache()
    AG_TRIM()
    g_given_back = 0


cdef inline void trim() noexcept:
    """
    Where a group has a limit, let malloc() return what was given back: blocks of up to 32 MiB lie
    in its heap, and stay with the process where one after them is in use.
    """
    global g_given_back
    if g_group_limit >= 0 and g_given_back > g_group_limit // 16:
        g_given_back = 0
        AG_TRIM()


cdef bint take_out_last(int c) noexcept:
    """Give back the block of a class that was used least lately."""
    global g_cached_bytes
    cdef StorageImpl* s = g_free[c]
    cdef StorageImpl* before = NULL
    if s == NULL:
        return False
    while s.owner != NULL:
        before = s
        s = <StorageImpl*>s.owner
    if before == NULL:
        g_free[c] = NULL
    else:
        before.owner = NULL
    g_free_count[c] -= 1
    g_cached_bytes -= s.capacity
    give_back(s)
    return True


cdef Py_ssize_t time_of_last(int c) noexcept:
    cdef StorageImpl* s = g_free[c]
    while s.owner != NULL:
        s = <StorageImpl*>s.owner
    return s.nbytes


cdef void give_back_until(Py_ssize_t bytes_cached, Py_ssize_t time) noexcept:
    """
    Give large blocks back, the oldest first, until no more than so much is kept, and none that was
    freed before `time`.
    """
    cdef int c, oldest
    cdef Py_ssize_t t, first
    if g_cached_bytes <= bytes_cached and time <= 0:
        return
    while True:
        oldest = -1
        first = 0
        for c in range(LARGE, N_CLASSES):
            if g_free[c] != NULL:
                t = time_of_last(c)
                if oldest < 0 or t < first:
                    oldest = c
                    first = t
        if oldest < 0 or (g_cached_bytes <= bytes_cached and first >= time):
            return
        take_out_last(oldest)


cdef Py_ssize_t look_around(Py_ssize_t live) noexcept:
    """The time; looks at limits and old blocks if it was not done lately."""
    global g_looked, g_turned, g_recent, g_before, g_left
    cdef Py_ssize_t now = ag_milliseconds() + g_clock_ahead, most, used
    if not g_group_is_known:
        limit_by_group()
    if live > g_recent:
        g_recent = live
    if now - g_looked < OFTEN or g_limit_is_given:
        return now
    g_looked = now
    if now - g_turned >= IDLE:
        g_before = g_recent if now - g_turned < 2 * IDLE else live
        g_recent = live
        g_turned = now
    give_back_until(g_cached_bytes, now - IDLE)
    g_left = -1
    most = ag_address_limit()
    if most >= 0:
        used = ag_addresses()
        if used >= 0:
            g_left = max(<Py_ssize_t>0, min(most // 8, (most - used + g_cached_bytes) // 4))
    if g_group_limit >= 0:
        used = ag_group_memory(g_group_file)
        if used >= 0:
            most = max(<Py_ssize_t>0, (g_group_limit - used + g_cached_bytes) // 4)
            g_left = most if g_left < 0 else min(most, g_left)
    return now


cdef Py_ssize_t most_cached(Py_ssize_t live) noexcept:
    """Return the number of bytes that the cache may hold beside those that are alive."""
    cdef Py_ssize_t most = g_cache_limit
    if not g_limit_is_given:
        most = min(most, max(<Py_ssize_t>FLOOR, 2 * max(g_recent, g_before)) - live)
        if g_left >= 0:
            most = min(most, g_left)
    return max(<Py_ssize_t>0, most)


cdef void make_way(Py_ssize_t size) noexcept:
    """A large block is made: give back what is kept beyond what may be."""
    cdef Py_ssize_t live = g_live_bytes + size
    look_around(live)
    give_back_until(most_cached(live), 0)
    trim()


cdef void keep_or_give_back(StorageImpl* s, int c) noexcept:
    """A block that is no longer used, and isn't kept without further ado."""
    cdef Py_ssize_t now = 0, most = g_cache_limit
    if g_watch != NULL:
        g_watch(s, -s.nbytes)
    if g_caching and c >= LARGE:
        now = look_around(g_live_bytes + s.capacity)
        most = most_cached(g_live_bytes)
        if s.capacity <= most:
            give_back_until(most - s.capacity, 0)
    if (g_caching and g_free_count[c] < BLOCKS_PER_CLASS
            and g_cached_bytes + s.capacity <= most):
        s.nbytes = now
        cache_block(s, c)
    else:
        give_back(s)
    trim()


def _let_time_pass(Py_ssize_t milliseconds):
    """Test hook: the clock of what is kept goes on by so much."""
    global g_clock_ahead
    g_clock_ahead += milliseconds
