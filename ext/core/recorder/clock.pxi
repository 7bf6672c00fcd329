# The clock of events (part of recorder.pyx): the time-stamp counter where the kernel trusts it.

cdef extern from *:
    """
    #include <time.h>
    static int64_t ag_system_clock(void) {
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
    }
    static int ag_counting = 0;
    #if defined(__x86_64__)
    #define AG_COUNTER 1
    static inline int64_t ag_counter(void) { return (int64_t)__builtin_ia32_rdtsc(); }
    #else
    #define AG_COUNTER 0
    static inline int64_t ag_counter(void) { return ag_system_clock(); }
    #endif
    static inline int64_t ag_ticks(void) { return ag_counting ? ag_counter() : ag_system_clock(); }
    """
    int AG_COUNTER
    int ag_counting
    int64_t ag_counter() noexcept
    int64_t ag_system_clock() noexcept
    int64_t ag_ticks() noexcept

cdef int64_t g_anchor_ticks = 0     # one moment by both clocks
cdef int64_t g_anchor_ns = 0
cdef str CLOCKS = "/sys/devices/system/clocksource/clocksource0/available_clocksource"


cdef inline int64_t ticks() noexcept:
    return ag_ticks()


cdef int both_clocks(int64_t* counted, int64_t* ns) noexcept:
    """One moment by both clocks: of some readings the one with the least between them."""
    cdef int64_t before, after, now, least = -1
    cdef int i
    for i in range(5):
        before = ag_ticks()
        now = ag_system_clock()
        after = ag_ticks()
        if least < 0 or after - before < least:
            least = after - before
            counted[0] = before + (after - before) // 2
            ns[0] = now
    return 0


cdef int choose_clock() except -1:
    """Called with the first session."""
    global ag_counting
    if g_anchor_ns:
        return 0
    if AG_COUNTER:
        try:
            with open(CLOCKS) as file:      # the kernel takes one that drifts or stops out of it
                ag_counting = "tsc" in file.read().split()
        except OSError:
            ag_counting = False
    set_anchor()
    return 0


cdef int set_anchor() except -1:
    global g_anchor_ticks, g_anchor_ns
    both_clocks(&g_anchor_ticks, &g_anchor_ns)
    return 0


cdef double tick_length() noexcept:
    """Nanoseconds of a tick, from the time since the anchor."""
    cdef int64_t counted, ns
    if not ag_counting:
        return 1.0
    both_clocks(&counted, &ns)
    if counted <= g_anchor_ticks or ns <= g_anchor_ns:
        return 1.0
    return <double>(ns - g_anchor_ns) / <double>(counted - g_anchor_ticks)


def _ticks():
    """The time, by the clock of events."""
    return ticks()


def _use_counter(on):
    """For tests: whether the next sessions use the counter; returns whether the last ones did."""
    global ag_counting
    before = bool(ag_counting)
    ag_counting = bool(on) and AG_COUNTER
    set_anchor()
    return before
