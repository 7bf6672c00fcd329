# Sessions: which events are wanted, and what they get (part of recorder.pyx).

cdef list _sessions = []            # those that run
cdef list _modules = []             # paths of modules
cdef dict _module_numbers = {}
cdef int g_generation = 0           # counts forks
cdef int g_epoch = 0                # counts the times that numbers of modules began anew

_EVENT = _np.dtype([
    ("start", "i8"), ("end", "i8"), ("seq", "i8"), ("saved", "i8"), ("moved", "i8"), ("name", "i4"),
    ("shape", "i4"), ("stack", "i4"), ("back", "i4"), ("module", "i2"), ("team", "i2"),
    ("scope", "u1"), ("flags", "u1"), ("pad", "V2")])
_CHANGE = _np.dtype([
    ("time", "i8"), ("nbytes", "i8"), ("total", "i8"), ("address", "u8"), ("event", "i8")])
assert _EVENT.itemsize == sizeof(Event) and _CHANGE.itemsize == sizeof(Change)


@cython.final
cdef class Recording:
    """
    One session, from start() to stop(); others may run at the same time.

    `wanted` has the bits of D_*. With more than `most` events the later ones are dropped.
    """
    cdef readonly int wanted
    cdef readonly bint running
    cdef readonly int64_t most
    cdef int64_t count_before
    cdef int64_t dropped_before
    cdef int64_t began
    cdef int64_t total_before
    cdef int64_t ended
    cdef int generation
    cdef readonly bint holding      # it ended, and what it got hasn't been copied yet
    cdef bint copying
    cdef dict firsts                # serial number of a stream -> its next event and change

    def __init__(self, int wanted, int64_t most):
        if most < 1:
            raise ValueError(f"profile: max_events is a positive number, not {most}")
        self.wanted = wanted
        self.most = most

    def start(self):
        """Record from now on."""
        cdef Stream* s
        if self.running or self.holding:
            raise RuntimeError("this session has been started already")
        if ag_forked:
            begin_in_child()
        choose_clock()
        this_stream()
        self.firsts = {}
        s = g_streams
        while s != NULL:
            self.firsts[s.serial] = (s.count, s.first_change + s.n_changes)
            s = s.other
        if not some_run():
            reset_total()
        self.count_before = g_count
        self.dropped_before = g_dropped
        self.generation = g_generation
        _sessions.append(self)
        self.running = True
        agree()
        self.began = ticks()

    def stop(self):
        """
        End it.

        If copying fails, for want of memory say, nothing is lost: stop() may be called again.

        Returns
        -------
        tuple
            The streams, (native and Python's identity of the thread, number of the first event,
            events, changes of memory) of each, the ticks of start and end, nanoseconds of a tick,
            names by number (those from `late` on have numbers from `late_from` on), counters of
            floating-point operations, argument rows, stack rows, module paths, dropped.
        """
        cdef int64_t ended = ticks()
        cdef tuple found
        if self.running:
            self.ended = ended
        elif not self.holding or self.copying:
            raise RuntimeError("this session isn't running")
        if ag_forked or self.generation != g_generation:
            self.running = self.holding = False
            return None                     # a child of fork has nothing to tell
        # Copying runs Python code (__del__, other threads) that may start and stop sessions. This
        # one stays in `_sessions` until all is copied: so nothing that it reads is given back.
        self.running = False
        self.holding = True
        agree()
        self.copying = True
        try:
            found = (self.taken(), self.began, self.ended, tick_length(), _names + _late_names,
                     len(_names), DYNAMIC, _flops, shape_rows(), stack_rows(), list(_modules),
                     g_dropped - self.dropped_before)
        finally:
            self.copying = False
        self.drop()
        return found

    def drop(self):
        """End it, and give back what it held."""
        if self.copying or not (self.running or self.holding):
            return
        self.running = self.holding = False
        if ag_forked or self.generation != g_generation or self not in _sessions:
            return
        _sessions.remove(self)
        agree()
        let_go()

    cdef list taken(self):
        cdef Stream* s = g_streams
        cdef list streams = []
        cdef int64_t first, change, n, m
        while s != NULL:
            first, change = self.firsts.get(s.serial, (0, 0))
            change -= s.first_change
            n = s.count - first
            m = s.n_changes - change
            if n or m:
                events = _np.empty(n, _EVENT)
                changes = _np.empty(m, _CHANGE)
                copy_events(s, first, n, <char*><size_t>events.ctypes.data)
                if m:
                    memcpy(<char*><size_t>changes.ctypes.data, s.changes + change,
                           <size_t>m * sizeof(Change))
                streams.append((s.native, s.ident, first, events, changes))
            s = s.other
        return streams

    @property
    def thread(self):
        """Native identity of the thread that asks."""
        return this_stream().native


cdef void copy_events(Stream* s, int64_t first, int64_t n, char* to) noexcept:
    cdef Block* b = s.first
    cdef int64_t skip, here
    while b != NULL and n > 0:
        skip = max(first - b.first, 0)
        here = min(AG_PER_BLOCK - skip, n)
        if here > 0:
            memcpy(to, <Event*>b + 1 + skip, <size_t>here * sizeof(Event))
            to += here * sizeof(Event)
            n -= here
            first += here
        b = b.next


cdef void agree() noexcept:
    """Record what some session wants."""
    global details, g_limit
    cdef Recording r
    details = 0
    g_limit = 0
    for r in _sessions:
        if r.running:
            details |= r.wanted
            g_limit = max(g_limit, r.count_before + min(r.most, INT64_MAX - r.count_before))
    if details & D_MEMORY:
        watch_memory(note_memory)
    else:
        watch_memory(NULL)
    if some_run():
        (&g_modes)[0] |= G_PROFILE
    else:
        (&g_modes)[0] &= ~<unsigned int>G_PROFILE


cdef bint some_run() noexcept:
    cdef Recording r
    for r in _sessions:
        if r.running:
            return True
    return False


cdef void reset_total() noexcept:
    global g_total, g_changes, g_count
    g_total = live_bytes()
    g_changes = 0
    g_count = 0


cdef void let_go() noexcept:
    """Give back what no session needs any more."""
    global g_epoch
    cdef Stream* s = g_streams
    cdef Stream** place = &g_streams
    cdef int64_t first, change
    cdef Recording r
    while s != NULL:
        first = s.count
        change = s.first_change + s.n_changes
        for r in _sessions:
            known = r.firsts.get(s.serial, (0, 0))
            first = min(first, <int64_t>known[0])
            change = min(change, <int64_t>known[1])
        drop_blocks(s, first)
        drop_changes(s, change)
        if s.gone and s.depth == 0 and s.first == NULL and s.n_changes == 0:
            place[0] = s.other
            free(s.open)
            free(s.changes)
            free(s)
        else:
            place = &s.other
        s = place[0]
    if _sessions:
        return
    clear_table(&g_shapes)
    forget_stacks()
    memset(g_known, 0, sizeof(g_known))
    _types.clear()
    _late.clear()
    _late_names.clear()
    _modules.clear()
    _module_numbers.clear()
    g_epoch += 1
    s = g_streams
    while s != NULL:
        s.module = -1
        s = s.other


cdef void drop_blocks(Stream* s, int64_t first) noexcept:
    """Without the blocks whose events all come before the one of a number."""
    global g_spare, g_n_spare
    cdef Block* b
    cdef int d
    while s.first != NULL:
        b = s.first
        if b == s.last:
            if s.count > first:
                return
        elif b.first + AG_PER_BLOCK > first:
            return
        s.first = b.next
        if b == s.last:
            s.last = NULL
            s.next = s.limit = NULL
        for d in range(s.depth):
            if s.open[d].event != NULL and ag_block_of(s.open[d].event) == b:
                b.held += 1
        if b.held:
            b.apart = 1             # the last one that closes frees it
        elif g_n_spare < SPARE_BLOCKS:
            b.next = g_spare
            g_spare = b
            g_n_spare += 1
        else:
            free(b)


cdef void drop_changes(Stream* s, int64_t first) noexcept:
    cdef int64_t n = first - s.first_change
    if n >= s.n_changes:
        free(s.changes)
        s.changes = NULL
        s.first_change += s.n_changes
        s.n_changes = s.room_changes = 0


cdef void begin_in_child() noexcept:
    """After fork(): the events of the parent are not this process's."""
    global ag_forked, ag_stream, g_streams, g_spare, g_n_spare, g_generation
    ag_forked = 0
    g_generation += 1
    g_streams = NULL
    ag_stream = NULL
    g_spare = NULL
    g_n_spare = 0
    _sessions.clear()
    agree()
    let_go()


def _enabled():
    """Whether events are recorded."""
    return g_modes & G_PROFILE != 0


def _wants_modules():
    """Whether some session wants to know in which module an event was."""
    return details & D_MODULES != 0


def _enter_module(path):
    """Let the events of this thread belong to a module; gives what _leave_module() takes."""
    cdef Stream* s = this_stream()
    cdef long long before = (<long long>g_epoch << 16) | <long long>(s.module + 1)
    found = _module_numbers.get(path)
    if found is None:
        found = len(_modules)
        if found >= MOST_MODULES:
            return before
        _modules.append(path)
        _module_numbers[path] = found
    s.module = found
    return before


def _leave_module(long long before):
    """Let the events of this thread belong to what they belonged to before."""
    this_stream().module = <int16_t>((before & 0xFFFF) - 1 if before >> 16 == g_epoch else -1)


def _module_path():
    """The path of the module that this thread is in, or None."""
    cdef int number = this_stream().module
    return _modules[number] if 0 <= number < <int>len(_modules) else None
