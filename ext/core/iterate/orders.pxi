# In which order a long loop goes over its elements, and how results leave it (part of iterate.pyx).
#
# Note [Turning round]. What an operation has written last is what the next one finds in the caches.
# Operands that don't fit there as a whole have lost their beginnings to their ends: a loop from the
# first element to the last, after another such one, finds nothing. So each long loop goes the other
# way than the one before it: from the last chunk to the first, each chunk forwards.
#
# Note [Past the caches]. A store reads its line from memory first. A result far larger than the
# caches is written past them instead, which saves that, and leaves them to the operands: a loop
# fills a small block, and the block is sent to memory by whole lines. Smaller results stay in the
# caches, as who reads them next would have to fetch them from memory.

cdef extern from *:
    """
    #if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
    #include <immintrin.h>
    /* Lines that are written in less than one piece are no gain: AVX-512 alone. */
    __attribute__((target("avx512f")))
    static void agc_stream(const char *block, char *to, Py_ssize_t lines) {
        for (Py_ssize_t i = 0; i < lines; i++)
            _mm512_stream_si512((__m512i *)(to + 64 * i),
                                _mm512_load_si512((const void *)(block + 64 * i)));
    }
    static void agc_sent(void) { _mm_sfence(); }
    #else
    #define agc_stream(block, to, lines) memcpy(to, block, 64 * (lines))
    static void agc_sent(void) { }
    #endif
    static void agc_send(const char *block, char *to, Py_ssize_t lines, int wide) {
        if (wide) agc_stream(block, to, lines);
        else memcpy(to, block, 64 * lines);
    }
    """
    void agc_send(const char* block, char* to, Py_ssize_t lines, bint wide) nogil
    void agc_sent() nogil

cdef enum:
    FORWARDS = 0
    BACKWARDS = 1              # Note [Turning round]
    PAST_CACHES = 2            # Note [Past the caches]
    TURN_BYTES = 32768         # of all operands, from which loops turn round
    TURN_CHUNK = 16384         # elements; fewer cost more of the prefetching than they gain
    ROWS_CHUNK = 8192          # the same where there are several dimensions
    LINE = 64
    PAST_BLOCK = 2048

cdef bint _wide = simd_target() == TARGET_AVX512
# Bytes of a result that is written past the caches.
cdef Py_ssize_t g_past = 32 << 20 if _wide else PY_SSIZE_T_MAX


def _past_caches(Py_ssize_t least):
    """For tests: results of so many bytes are written past the caches; returns how many before."""
    global g_past
    before, g_past = g_past, least
    return before


cdef inline int turned_round() noexcept:
    return BACKWARDS if turn_round() else FORWARDS


cdef inline int next_order(int nargs, char** p, const Py_ssize_t* step, Py_ssize_t n) noexcept:
    """The order of a loop over one dimension."""
    cdef Py_ssize_t bytes = 0
    cdef int a
    for a in range(nargs):
        bytes += step[a] if step[a] >= 0 else -step[a]
    if bytes * n < TURN_BYTES or step[0] == 0:
        return FORWARDS
    if step[0] * n >= g_past and may_send(nargs, p, step):
        return PAST_CACHES
    return turned_round()


cdef bint may_send(int nargs, char** p, const Py_ssize_t* step) noexcept:
    """Return whether a result is dense (elements divide a line), lies on lines and isn't an input,
    too."""
    cdef int a
    if step[0] > 16 or step[0] & (step[0] - 1) or <size_t>p[0] % LINE:
        return False
    for a in range(1, nargs):
        if p[a] == p[0]:
            return False
    return True


cdef void ordered_loop(loop_t loop, int nargs, char** p, const Py_ssize_t* step, Py_ssize_t n,
                       int order) noexcept nogil:
    cdef char space[PAST_BLOCK + LINE]
    cdef char* q[5]
    cdef Py_ssize_t start, m
    cdef int a
    if order == BACKWARDS:
        start = (n - 1) & -TURN_CHUNK
        m = n - start
        while start >= 0:
            for a in range(nargs):
                q[a] = p[a] + start * step[a]
            loop(q, step, m)
            start -= TURN_CHUNK
            m = TURN_CHUNK
        return
    start = 0
    if order == PAST_CACHES:
        m = PAST_BLOCK // step[0]
        while start + m <= n:
            q[0] = space + (-<size_t>&space[0]) % LINE
            for a in range(1, nargs):
                q[a] = p[a] + start * step[a]
            loop(q, step, m)
            agc_send(q[0], p[0] + start * step[0], PAST_BLOCK // LINE, _wide)
            start += m
        agc_sent()
    if start < n:
        for a in range(nargs):
            q[a] = p[a] + start * step[a]
        loop(q, step, n - start)
