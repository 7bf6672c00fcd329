# What a session got, as arrays of one entry per event, filled in one pass (part of recorder.pyx).

ctypedef struct Share:             # what a session gets of a stream
    Stream* s
    int64_t first                  # number of its first event
    int64_t n
    int64_t change                 # number of its first change of memory
    int64_t m

ctypedef struct EventArrays:
    int32_t* name
    int64_t* start
    int64_t* end
    int32_t* thread
    int64_t* seq
    int8_t* scope
    int64_t* parent
    uint8_t* failed
    uint8_t* unfinished
    int32_t* shape
    int32_t* stack
    int32_t* module
    int16_t* team
    int64_t* saved
    int64_t* bytes_moved           # NULL, as those below: not wanted

ctypedef struct ChangeArrays:
    int64_t* time
    int64_t* nbytes
    int64_t* total
    uint64_t* address
    int32_t* thread
    int64_t* event
    int32_t* device

ctypedef struct Filling:
    EventArrays to
    ChangeArrays changes
    int64_t at                     # events that are written
    int64_t change_at
    int64_t began
    int64_t ended
    int64_t last_time
    double tick                    # nanoseconds
    int32_t* places                # by number of a name: which of those that are used, or -1
    int32_t* used                  # numbers of names, in the order of their places
    int32_t n_used
    int32_t n_fixed                # names that have numbers below DYNAMIC
    bint backward                  # some event belongs to a node
    bint ordered                   # changes stand by time


cdef Event* numbered(Stream* s, int64_t number, Block** block) noexcept:
    """The place of an event that a session holds."""
    cdef Block* b = s.first
    while b.first + AG_PER_BLOCK <= number:
        b = b.next
    block[0] = b
    return <Event*>b + 1 + (number - b.first)


cdef int64_t first_time(Share* share) noexcept:
    """Return the time at which a session first sees a thread."""
    cdef Block* b
    cdef int64_t time = INT64_MAX
    if share.n:
        time = numbered(share.s, share.first, &b).start
    if share.m:
        time = min(time, share.s.changes[share.change - share.s.first_change].time)
    return time


cdef inline int64_t nanoseconds(Filling* f, int64_t time) noexcept:
    if f.tick == 1.0:
        return time - f.began
    return <int64_t>(<double>(time - f.began) * f.tick)


cdef void fill_events(Filling* f, Share* share, int32_t thread) noexcept:
    cdef EventArrays* to = &f.to
    cdef Block* b
    cdef Event* e
    cdef Event* stop
    cdef int64_t first = f.at, i = f.at, left = share.n
    cdef int32_t name
    cdef bint unfinished
    if left == 0:
        return
    e = numbered(share.s, share.first, &b)
    while left:
        stop = <Event*>b + 1 + AG_PER_BLOCK
        if stop - e > left:
            stop = e + left
        left -= stop - e
        while e < stop:
            name = e.name if e.name < DYNAMIC else e.name - DYNAMIC + f.n_fixed
            if f.places[name] < 0:
                f.used[f.n_used] = name
                f.places[name] = f.n_used
                f.n_used += 1
            to.name[i] = f.places[name]
            unfinished = e.end == 0 or e.end > f.ended
            to.start[i] = nanoseconds(f, e.start)
            # The clock's calibration may lead a nanosecond past the start of what comes after.
            to.end[i] = max(nanoseconds(f, f.ended if unfinished else e.end), to.start[i])
            to.thread[i] = thread
            to.seq[i] = e.seq
            to.scope[i] = <int8_t>e.scope
            to.parent[i] = i - e.back if e.back > 0 and i - e.back >= first else -1
            to.failed[i] = e.flags & E_FAILED
            to.unfinished[i] = unfinished
            to.team[i] = 1 if unfinished else e.team
            to.saved[i] = e.saved
            if to.shape != NULL:
                to.shape[i] = e.shape
                to.bytes_moved[i] = e.bytes_moved
            if to.stack != NULL:
                to.stack[i] = e.stack
            if to.module != NULL:
                to.module[i] = e.module
            if e.scope == S_BACKWARD and e.seq >= 0:
                f.backward = True
            i += 1
            e += 1
        b = b.next
        e = <Event*>b + 1
    f.at = i


cdef void fill_changes(Filling* f, Share* share, int32_t thread, int64_t first) noexcept:
    """`first` is where the events of the thread begin."""
    cdef ChangeArrays* to = &f.changes
    cdef Change* c = share.s.changes + (share.change - share.s.first_change)
    cdef int64_t i, k, event
    for i in range(share.m):
        k = f.change_at + i
        to.time[k] = nanoseconds(f, c[i].time)
        if to.time[k] < f.last_time:
            f.ordered = False
        f.last_time = to.time[k]
        to.nbytes[k] = c[i].nbytes
        to.total[k] = c[i].total
        to.address[k] = c[i].address
        to.thread[k] = thread
        to.device[k] = c[i].device
        event = c[i].event - share.first
        to.event[k] = event + first if 0 <= event < share.n else -1
    f.change_at += share.m


cdef void* data_of(dict columns, str key, int64_t count, str kind) except NULL:
    """A new array among the columns."""
    array = _np.empty(max(count, 1), kind)      # of an empty one the address may be anything
    columns[key] = array[:count]
    return <void*><size_t>array.ctypes.data


cdef list by_first_time(Share* shares, int n):
    cdef int i
    return [i for _, i in sorted([(first_time(&shares[i]), i) for i in range(n)])]
