# Sessions: which events are wanted, and what they get (part of recorder.pyx).

cdef list _sessions = []            # those that run
cdef list _modules = []             # paths of modules
cdef dict _module_numbers = {}
cdef int g_generation = 0           # counts forks
cdef int g_epoch = 0                # counts the times that numbers of modules began anew


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
        if self.wanted & D_STACK:
            choose_frames()
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

    def stop(self, thread=None):
        """
        End it.

        If copying fails, for want of memory say, nothing is lost: stop() may be called again.

        Parameters
        ----------
        thread : int, optional
            Native identity of the thread whose events are wanted; of all otherwise.

        Returns
        -------
        tuple
            The columns by name, (native and Python's identity) of each thread, the names of events,
            whether some belong to nodes and whether changes of memory stand by time, (number of its
            name, rule) of each counter of floating-point operations, argument rows, stack rows,
            module paths, dropped, and the length in nanoseconds. None in a child of fork.
        """
        cdef int64_t ended = ticks()
        cdef tuple columns
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
            columns = self.taken(0 if thread is None else thread, thread is None)
        finally:
            self.copying = False
        self.drop()
        return columns

    def drop(self):
        """End it, and give back what it held."""
        if self.copying:
            return
        self.running = self.holding = False
        if ag_forked or self not in _sessions:     # a child of fork has a list of its own
            return
        _sessions.remove(self)
        agree()
        let_go()

    cdef tuple taken(self, long native, bint all_threads):
        cdef int64_t events = 0, changes = 0, dropped = g_dropped - self.dropped_before
        cdef int64_t n, m
        cdef bint memory = self.wanted & D_MEMORY != 0
        cdef int count = 0, i
        cdef Stream* s = g_streams
        cdef Share* shares
        while s != NULL:
            count += 1
            s = s.other
        shares = <Share*>malloc((count + 1) * sizeof(Share))
        if shares == NULL:
            raise MemoryError("autograd_cy: no memory to read what the profiler recorded")
        try:
            count = 0
            s = g_streams
            while s != NULL:
                first, change = self.firsts.get(s.serial, (0, 0))
                n = s.count - <int64_t>first
                m = s.first_change + s.n_changes - <int64_t>change if memory else 0
                if (all_threads or s.native == native) and (n or m):
                    shares[count].s = s
                    shares[count].first, shares[count].n = first, n
                    shares[count].change, shares[count].m = change, m
                    count += 1
                s = s.other
            order = by_first_time(shares, count)
            for i in order:
                n = min(shares[i].n, self.most - events)
                dropped += shares[i].n - n
                shares[i].n = n
                events += n
                changes += shares[i].m
            return self.filled(shares, order, events, changes, dropped)
        finally:
            free(shares)

    cdef tuple filled(self, Share* shares, list order, int64_t events, int64_t changes,
                      int64_t dropped):
        cdef Filling f
        cdef dict columns = {}
        cdef int64_t first
        cdef int i, thread = 0
        cdef size_t n_names
        memset(&f, 0, sizeof(Filling))
        f.to.name = <int32_t*>data_of(columns, "name", events, "i4")
        f.to.start = <int64_t*>data_of(columns, "start", events, "i8")
        f.to.end = <int64_t*>data_of(columns, "end", events, "i8")
        f.to.thread = <int32_t*>data_of(columns, "thread", events, "i4")
        f.to.seq = <int64_t*>data_of(columns, "seq", events, "i8")
        f.to.scope = <int8_t*>data_of(columns, "scope", events, "i1")
        f.to.parent = <int64_t*>data_of(columns, "parent", events, "i8")
        f.to.failed = <uint8_t*>data_of(columns, "failed", events, "?")
        f.to.unfinished = <uint8_t*>data_of(columns, "unfinished", events, "?")
        f.to.team = <int16_t*>data_of(columns, "team", events, "i2")
        f.to.saved = <int64_t*>data_of(columns, "saved", events, "i8")
        if self.wanted & D_ARGUMENTS:
            f.to.shape = <int32_t*>data_of(columns, "shape", events, "i4")
            f.to.bytes_moved = <int64_t*>data_of(columns, "bytes_moved", events, "i8")
        if self.wanted & D_STACK:
            f.to.stack = <int32_t*>data_of(columns, "stack", events, "i4")
        if self.wanted & D_MODULES:
            f.to.module = <int32_t*>data_of(columns, "module", events, "i4")
        if self.wanted & D_MEMORY:
            f.changes.time = <int64_t*>data_of(columns, "mem_time", changes, "i8")
            f.changes.nbytes = <int64_t*>data_of(columns, "mem_bytes", changes, "i8")
            f.changes.total = <int64_t*>data_of(columns, "mem_total", changes, "i8")
            f.changes.address = <uint64_t*>data_of(columns, "mem_address", changes, "u8")
            f.changes.thread = <int32_t*>data_of(columns, "mem_thread", changes, "i4")
            f.changes.event = <int64_t*>data_of(columns, "mem_event", changes, "i8")
            f.changes.device = <int32_t*>data_of(columns, "mem_device", changes, "i4")
        f.began, f.ended, f.tick = self.began, self.ended, tick_length()
        f.ordered = True
        f.n_fixed = <int32_t>len(_names)
        n_names = len(_names) + len(_late_names)
        f.places = <int32_t*>malloc(2 * n_names * sizeof(int32_t))
        if f.places == NULL:
            raise MemoryError("autograd_cy: no memory to read what the profiler recorded")
        f.used = f.places + n_names
        try:
            memset(f.places, 255, n_names * sizeof(int32_t))
            for i in order:
                thread += 1
                first = f.at
                fill_events(&f, &shares[i], thread)
                fill_changes(&f, &shares[i], thread, first)
            names = [text_of_name(late_number(&f, f.used[i])) for i in range(f.n_used)]
            flops = [(i, _flops[f.used[i]]) for i in range(f.n_used) if f.used[i] in _flops]
        finally:
            free(f.places)
        return (columns, [(shares[i].s.native, shares[i].s.ident) for i in order], names,
                bool(f.backward), bool(f.ordered), flops, shape_rows(), stack_rows(),
                list(_modules), dropped, <int64_t>(<double>(self.ended - self.began) * f.tick))

    def nanoseconds(self, long long moment):
        """From the start of the session to a moment in ticks of the clock."""
        return <long long>(<double>(moment - self.began) * tick_length())

    @property
    def thread(self):
        """Native identity of the thread that asks."""
        return this_stream().native


cdef inline int late_number(Filling* f, int32_t name) noexcept:
    return name if name < f.n_fixed else name - f.n_fixed + DYNAMIC


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
    global g_changes, g_count
    cdef int device
    for device in range(MAX_DEVICES):
        g_totals[device] = live_bytes(device)
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
            free(s)                 # without changes it has no memory for them
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
            if ag_block_of(s.open[d].event) == b:       # of NULL there is none
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
        s.n_changes = s.change_capacity = 0


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
    let_go()


def _prepare():
    """Called once: what a first session would wait for: the clock, memory of its first events."""
    global g_spare, g_n_spare
    cdef Block* b
    choose_clock()
    while g_n_spare < FIRST_BLOCKS:
        b = <Block*>ag_new_block()
        if b == NULL:
            return
        b.next = g_spare
        g_spare = b
        g_n_spare += 1


def _enabled():
    """Return whether events are recorded."""
    return g_modes & G_PROFILE != 0


def _wants_modules():
    """Return whether some session wants to know in which module an event was."""
    return details & D_MODULES != 0


def _enter_module(path):
    """Let the events of this thread belong to a module; gives what _leave_module() takes."""
    cdef Stream* s = this_stream()
    cdef long long before = (<long long>g_epoch << 16) | <long long>(s.module + 1)
    number = _module_numbers.get(path)
    if number is None:
        number = len(_modules)
        if number >= MOST_MODULES:
            return before
        _modules.append(path)
        _module_numbers[path] = number
    s.module = number
    return before


def _leave_module(long long before):
    """Let the events of this thread belong to what they belonged to before."""
    this_stream().module = <int16_t>((before & 0xFFFF) - 1 if before >> 16 == g_epoch else -1)


def _module_path():
    """The path of the module that this thread is in, or None."""
    cdef int number = this_stream().module
    return _modules[number] if number >= 0 else None
