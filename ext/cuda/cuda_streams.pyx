# cython: language_level=3
# build: plain hot
"""Streams, events and synchronisation of CUDA devices, and the faults that kernels note.

Streams are PyCUDA's, because launches take no others; a stream that is freed is kept for the next
one, and so are events: what was put on them runs whatever becomes of our object.
"""
from cpython.ref cimport Py_INCREF
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from autograd_cy._C.cuda_calls cimport op_of, say_call, watch_faults
from autograd_cy._C.cuda_driver cimport (
    HOST_PORTABLE, MAX_INDEX, check_result, driver, enter, handle_t, in_context, pycuda_driver,
    refuse_child, result_t, translated)
from autograd_cy._C.faults cimport FAULT_NONE, fault_error
from autograd_cy._C.storage cimport DEVICES_OF_TYPE
from autograd_cy._C.streams cimport Event, Stream
from autograd_cy._C.placement cimport type_of_name

cdef enum:
    NOT_READY = 600
    NON_BLOCKING = 1         # CU_STREAM_NON_BLOCKING
    EVENT_DEFAULT = 0
    EVENT_DISABLE_TIMING = 2

# An event of the driver, kept for the next one when it is freed.
cdef struct CudaEvent:
    handle_t handle
    int timing
    CudaEvent* next

cdef CudaStream* _free_streams[MAX_INDEX]
cdef CudaStream* _external[MAX_INDEX]
cdef CudaEvent* _free_events[2 * MAX_INDEX]        # by device, without and with timing
cdef Fault* _faults[MAX_INDEX]

memset(_free_streams, 0, sizeof(_free_streams))
memset(_external, 0, sizeof(_external))
memset(_free_events, 0, sizeof(_free_events))
memset(_faults, 0, sizeof(_faults))


# --- faults ---------------------------------------------------------------------------------

cdef Fault* fault_of(int index) except NULL:
    cdef void* place = NULL
    if _faults[index] == NULL:
        enter(index)
        check_result(driver.host_allocate(&place, sizeof(Fault), HOST_PORTABLE),
                     "allocating pinned memory for faults", index)
        memset(place, 0, sizeof(Fault))
        _faults[index] = <Fault*>place
        watch_faults(index, _faults[index])
    return _faults[index]


cdef int raise_fault(int index) except -1:
    cdef Fault* place = _faults[index]
    cdef Fault first
    cdef const char* token
    # Below 0 while a kernel of another stream is about to write it: a later look finds it.
    if place == NULL or place.kind <= FAULT_NONE:
        return 0
    first = place[0]
    place.kind = FAULT_NONE      # alone: a kernel that finds it free writes all the rest
    token = first.op
    first.op = op_of(token)
    error = fault_error(&first)
    say_call(error, index, token)
    raise error


# --- waiting --------------------------------------------------------------------------------

cdef int wait_for(int index, stream_t stream) except -1:
    cdef handle_t handle = handle_of(stream)
    cdef result_t result
    enter(index)
    with nogil:
        result = driver.stream_synchronize(handle)
    if result:
        check_result(result, "waiting for a stream", index)
    return raise_fault(index)


cdef int query(int index, stream_t stream) except -1:
    cdef result_t result
    enter(index)
    result = driver.stream_query(handle_of(stream))
    if result == NOT_READY:
        return 0
    check_result(result, "asking a stream", index)
    return 1


cdef int synchronize(int index, stream_t stream) except -1:
    return wait_for(index, stream)


cdef int synchronize_all(int index) except -1:
    cdef result_t result
    enter(index)
    with nogil:
        result = driver.context_synchronize()
    if result:
        check_result(result, "waiting for the device", index)
    return raise_fault(index)


# --- streams --------------------------------------------------------------------------------

cdef int stream_new(int index, int priority, stream_t* stream) except -1:
    """A queue of its own; PyCUDA's streams have one priority."""
    cdef CudaStream* s
    refuse_child()
    enter(index)
    s = _free_streams[index]
    if s != NULL:
        _free_streams[index] = s.next
        s.next = NULL
        stream[0] = s
        return 0
    stream[0] = new_stream(index)
    return 0


cdef CudaStream* new_stream(int index) except NULL:
    cdef CudaStream* s
    try:
        stream = in_context(index, pycuda_driver().Stream, (NON_BLOCKING,))
    except Exception as error:
        raise translated(error, "making a stream", index) from error
    s = <CudaStream*>calloc(1, sizeof(CudaStream))
    # Kept for good: PyCUDA destroys streams in the thread of the context alone.
    Py_INCREF(stream)
    if s == NULL:
        raise MemoryError("autograd_cy: no memory for a stream")
    s.handle = <handle_t><size_t>stream.handle
    s.launcher = <void*>stream
    s.index = index
    return s


cdef void stream_free(int index, stream_t stream) noexcept:
    cdef CudaStream* s = <CudaStream*>stream
    if s == NULL or s.external:
        return
    s.next = _free_streams[index]
    _free_streams[index] = s


# Note [External streams]
# Launches take PyCUDA's streams alone. Memory, copies and events of an external stream go to its
# handle; a kernel goes to a side stream, which waits for the external one, and for which that one
# waits. So all is in the order of the external stream. What is known of it stays when its last
# object has gone, because memory may have come from it: whoever wraps the same handle again finds
# it.

cdef CudaStream* external_stream(int index, handle_t handle) except? NULL:
    cdef CudaStream* s = _external[index]
    if <size_t>handle <= 1:          # the legacy default stream
        return NULL
    while s != NULL and s.handle != handle:
        s = s.next
    if s != NULL:
        return s
    s = <CudaStream*>calloc(1, sizeof(CudaStream))
    if s == NULL:
        raise MemoryError("autograd_cy: no memory for a stream")
    s.handle = handle
    s.index = index
    s.external = 1
    s.next = _external[index]
    _external[index] = s
    return s


cdef CudaStream* begin_side(int index, CudaStream* stream) except NULL:
    if stream.side == NULL:
        stream.side = new_stream(index)
    order(index, stream.handle, stream.side.handle)
    return stream.side


cdef int end_side(int index, CudaStream* stream) except -1:
    try:
        order(index, stream.side.handle, stream.handle)
    except BaseException:
        # Memory may be used again in the order of the external stream: the host waits instead.
        driver.stream_synchronize(stream.side.handle)
        raise
    return 0


cdef int order(int index, handle_t before, handle_t after) except -1:
    cdef CudaEvent* e = take_event(index, False)
    cdef result_t result = driver.event_record(e.handle, before)
    if result == 0:
        result = driver.stream_wait(after, e.handle, 0)
    keep_event(index, e)
    return check_result(result, "letting a stream wait for another", index)


# --- events ---------------------------------------------------------------------------------

cdef CudaEvent* take_event(int index, bint timing) except NULL:
    cdef CudaEvent** free_ones = &_free_events[2 * index + timing]
    cdef CudaEvent* e = free_ones[0]
    cdef handle_t handle = NULL
    enter(index)
    if e != NULL:
        free_ones[0] = e.next
        return e
    e = <CudaEvent*>malloc(sizeof(CudaEvent))
    if e == NULL:
        raise MemoryError("autograd_cy: no memory for an event")
    try:
        check_result(driver.event_create(&handle,
                                         EVENT_DEFAULT if timing else EVENT_DISABLE_TIMING),
                     "making an event", index)
    except BaseException:
        free(e)
        raise
    e.handle = handle
    e.timing = timing
    return e


cdef void keep_event(int index, CudaEvent* e) noexcept:
    """For the next one: whoever waits for it waits for what it marked when the wait was put."""
    e.next = _free_events[2 * index + e.timing]
    _free_events[2 * index + e.timing] = e


cdef int event_record(int index, stream_t stream, bint timing, void** event) except -1:
    cdef CudaEvent* e
    cdef result_t result
    enter(index)
    e = <CudaEvent*>event[0]
    if e == NULL:
        e = take_event(index, timing)
    result = driver.event_record(e.handle, handle_of(stream))
    if result:
        if event[0] == NULL:
            keep_event(index, e)
        check_result(result, "recording an event", index)
    event[0] = e
    return 0


cdef int event_wait(int index, stream_t stream, void* event) except -1:
    enter(index)
    return check_result(driver.stream_wait(handle_of(stream), (<CudaEvent*>event).handle, 0),
                        "letting a stream wait for an event", index)


cdef int event_query(int index, void* event) except -1:
    cdef result_t result
    enter(index)
    result = driver.event_query((<CudaEvent*>event).handle)
    if result == NOT_READY:
        return 0
    check_result(result, "asking an event", index)
    return 1


cdef int event_synchronize(int index, void* event) except -1:
    cdef handle_t handle = (<CudaEvent*>event).handle
    cdef result_t result
    enter(index)
    with nogil:
        result = driver.event_synchronize(handle)
    if result:
        check_result(result, "waiting for an event", index)
    return raise_fault(index)


cdef void event_free(int index, void* event) noexcept:
    if event != NULL:
        keep_event(index, <CudaEvent*>event)


cdef int event_elapsed(int index, void* start, void* end, double* milliseconds) except -1:
    cdef float elapsed = 0
    enter(index)
    check_result(driver.event_elapsed(&elapsed, (<CudaEvent*>start).handle,
                                      (<CudaEvent*>end).handle),
                 "measuring the time between events", index)
    milliseconds[0] = elapsed
    return 0


# --- for Python -----------------------------------------------------------------------------

def handle_of_stream(Stream stream not None):
    """The driver's handle of a stream, 0 for a device's default one."""
    return <size_t>handle_of(stream.stream)


def handle_of_event(Event event not None):
    """The driver's handle of an event, 0 if it wasn't recorded."""
    return 0 if event.event == NULL else <size_t>(<CudaEvent*>event.event).handle


def launcher_of(Stream stream not None):
    """PyCUDA's Stream, None for the default one; of an external stream a RuntimeError."""
    cdef CudaStream* s = <CudaStream*>stream.stream
    if s == NULL:
        return None
    if s.launcher == NULL:
        raise RuntimeError("PyCUDA can't launch on an external stream: let a stream of your own "
                           "wait for it, and it for that one")
    return <object>s.launcher


def wrap_external(Stream stream not None, int index, size_t handle):
    """Let a Stream that was made by __new__ stand for one of somebody else, by its handle."""
    enter(index)
    stream.stream = external_stream(index, <handle_t>handle)
    stream.code = DEVICES_OF_TYPE * type_of_name("cuda") + index


def cached_counts():
    """Count the streams and events of the driver that are kept for the next ones."""
    cdef Py_ssize_t streams = 0, events = 0
    cdef CudaStream* s
    cdef CudaEvent* e
    cdef int i
    for i in range(MAX_INDEX):
        s = _free_streams[i]
        while s != NULL:
            streams += 1
            s = s.next
        s = _external[i]
        while s != NULL:
            streams += s.side != NULL
            s = s.next
    for i in range(2 * MAX_INDEX):
        e = _free_events[i]
        while e != NULL:
            events += 1
            e = e.next
    return {"streams": streams, "events": events}


def priority_range():
    """Least and greatest priority of streams: PyCUDA's have one."""
    return 0, 0
