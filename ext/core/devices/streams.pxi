# The stream that each thread puts work on, copies between devices, reads by the host (part of
# devices.pyx).

# Note [Current streams]
# Each thread has a current stream for each device, the default one (NULL) at first. A thread that
# has set one has a table, which a thread-local pointer finds; the table's Python object is in the
# thread's dict, so that it goes, and lets the streams go, when the thread ends.

cdef struct Current:
    stream_t stream
    PyObject* owner            # owned Stream, NULL for the default stream

cdef extern from *:
    """
    #if defined(__GNUC__) && defined(__linux__)
    static __thread void *ag_streams __attribute__((tls_model("initial-exec"))) = 0;
    #else
    static _Thread_local void *ag_streams = 0;
    #endif
    """
    void* ag_streams

cdef extern from "Python.h":
    PyObject* PyThreadState_GetDict()      # borrowed

cdef str CURRENT = "autograd_cy.streams"
cdef Py_ssize_t _reads = 0


cdef class _Streams:
    """The current streams of one thread."""
    cdef Current[MAX_DEVICES] table

    def __cinit__(self):
        memset(self.table, 0, sizeof(self.table))

    def __dealloc__(self):
        global ag_streams
        cdef int i
        if ag_streams == <void*>self.table:
            ag_streams = NULL
        for i in range(MAX_DEVICES):
            Py_XDECREF(self.table[i].owner)


cdef stream_t current_stream(int device) noexcept nogil:
    if ag_streams == NULL:
        return NULL
    return (<Current*>ag_streams)[device].stream


cdef PyObject* current_stream_owner(int device) noexcept:
    if ag_streams == NULL:
        return NULL
    return (<Current*>ag_streams)[device].owner


cdef int set_current_stream(int device, stream_t stream, object owner) except -1:
    global ag_streams
    cdef _Streams mine
    cdef Current* place
    cdef PyObject* old
    if ag_streams == NULL:
        if stream == NULL:
            return 0
        mine = _Streams.__new__(_Streams)
        (<dict>PyThreadState_GetDict())[CURRENT] = mine
        ag_streams = <void*>mine.table
    place = &(<Current*>ag_streams)[device]
    old = place.owner
    place.stream = stream
    place.owner = NULL if owner is None else <PyObject*>owner
    Py_XINCREF(place.owner)
    Py_XDECREF(old)
    return 0


cdef int read_by_host(int device) except -1:
    global _reads
    _reads += 1
    return services[device_type(device)].synchronize(device_index(device), current_stream(device))


def host_reads():
    """Count of the host's reads of what a device has written; each waits for the device."""
    return _reads


cdef int device_copy(Tensor to, Tensor source, bint non_blocking) except -1:
    """Between tensors of one dtype and shape, at least one of which isn't on the CPU."""
    cdef int target = to.mem.device, origin = source.mem.device
    cdef int device = target if target else origin
    cdef Services* s = &services[device_type(device)]
    cdef StorageImpl* host
    if target == ON_META or origin == ON_META:
        return no_copy(to, source, non_blocking, NULL)
    if target and origin and target != origin:
        return copy_between(to, source, non_blocking)
    if not target and not non_blocking:
        read_by_host(origin)
    s.copy(to, source, non_blocking, current_stream(device))
    if non_blocking and not (target and origin):
        host = storage_root(source.mem if target else to.mem)
        if host.kind == STORAGE_PINNED:
            note_use(<ServiceBlock*>host, device, current_stream(device),
                     current_stream_owner(device))
    return 0


cdef int copy_between(Tensor to, Tensor source, bint non_blocking) except -1:
    """
    From one device to another of its type, on the stream of the one that gets the values.

    It waits for what was put on the source's stream before, and what is put there afterwards waits
    for the copy: the source may change then.
    """
    cdef int target = to.mem.device, origin = source.mem.device
    cdef int there = device_index(target), here = device_index(origin)
    cdef Services* s = &services[device_type(target)]
    cdef void* event = NULL
    s.event_record(here, current_stream(origin), False, &event)
    try:
        s.event_wait(there, current_stream(target), event)
    finally:
        s.event_free(here, event)
    s.copy(to, source, non_blocking, current_stream(target))
    event = NULL
    try:
        s.event_record(there, current_stream(target), False, &event)
        s.event_wait(here, current_stream(origin), event)
    except BaseException:
        # The source may go at once, and its stream doesn't know of the copy: the host waits.
        s.synchronize(there, current_stream(target))
        raise
    finally:
        if event != NULL:
            s.event_free(there, event)
    return 0


def _streams_here():
    """The current streams and devices of this thread but default ones, for `_take_streams`."""
    cdef Current* mine = <Current*>ag_streams
    cdef int device, type
    streams = () if mine == NULL else tuple([
        (device, <size_t>mine[device].stream, <object>mine[device].owner)
        for device in range(MAX_DEVICES) if mine[device].stream != NULL])
    return streams, tuple([(type, current_index(type)) for type in range(MAX_DEVICE_TYPES)
                           if current_index(type)])


def _take_streams(tuple state not None):
    """Let the streams and devices of another thread be the current ones of this one."""
    streams, indices = state
    for device, address, owner in streams:
        set_current_stream(device, <stream_t><size_t>address, owner)
    for type, index in indices:
        try:
            set_current_index(type, index)
        except Exception:
            pass                # that device has gone: who asks for it is told so
