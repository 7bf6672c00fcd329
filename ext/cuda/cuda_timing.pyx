# cython: language_level=3
"""
Times of kernels and copies, for the profiler.

While some session wants them, an event is recorded before and after each kernel and copy. At the
end of a session the devices are waited for, and the time between each two events is asked for. When
a kernel began is told from the time since the first event of its device, which was waited for.
"""
from threading import get_native_id as _thread

from autograd_cy._C.cuda_driver cimport MAX_INDEX
from autograd_cy._C.cuda_streams cimport (
    event_elapsed, event_free, event_record, event_synchronize, synchronize_all)

from autograd_cy._C.recorder import _ticks

cdef int _sessions = 0
cdef list _records = []              # of Timed
cdef list _bases = [None] * MAX_INDEX

timing = False


cdef class TimedEvent:
    """An event that measures time."""
    cdef void* event
    cdef int index
    cdef readonly object ticks       # of the recorder's clock, when it was reached

    def __dealloc__(self):
        if self.event != NULL:
            event_free(self.index, self.event)


cdef TimedEvent timed_event(int index, void* event):
    cdef TimedEvent p = TimedEvent.__new__(TimedEvent)
    p.index = index
    p.event = event
    return p


cdef TimedEvent base_of(int index, stream_t stream):
    """The event that times of a device count from. The host waits for it, once for a recording."""
    cdef TimedEvent base = <TimedEvent?>_bases[index] if _bases[index] is not None else None
    cdef void* event = NULL
    if base is None:
        event_record(index, stream, True, &event)
        base = timed_event(index, event)
        event_synchronize(index, event)
        base.ticks = _ticks()
        _bases[index] = base
    return base


cdef void* begin_timing(int index, stream_t stream) except NULL:
    cdef void* event = NULL
    base_of(index, stream)
    event_record(index, stream, True, &event)
    return event


cdef int end_timing(object name, int index, stream_t stream, void* began) except -1:
    cdef TimedEvent start = timed_event(index, began), end
    cdef void* event = NULL
    event_record(index, stream, True, &event)
    end = timed_event(index, event)
    base = _bases[index]
    # None where the sessions ended meanwhile, and others began.
    if timing and base is not None:
        _records.append((name, index, <size_t>stream, start, end, base, _ticks(), _thread()))
    return 0


def begin():
    """Record times from now on; what is returned goes to `end`."""
    global _sessions, timing
    _sessions += 1
    timing = True
    return len(_records)


def drop():
    """End a session that nobody asks."""
    global _sessions, timing
    cdef int i
    _sessions -= 1
    if _sessions:
        return
    timing = False
    _records.clear()
    for i in range(MAX_INDEX):
        _bases[i] = None


def end(Py_ssize_t first):
    """
    Return the events recorded since `begin`; waits for the devices.

    Returns
    -------
    list of tuple
        Name of the kernel, index of the device, number of its stream, when it was put there (ticks
        of the recorder's clock), by which thread (native identity), a moment (ticks), and when it
        began after that and how long it took, in nanoseconds.
    """
    cdef TimedEvent start, stop, base
    cdef double since = 0, took = 0
    cdef list taken = _records[first:], events = []
    try:
        for index in sorted({record[1] for record in taken}):
            synchronize_all(index)
        for name, index, stream, began, ended, reference, ticks, thread in taken:
            start, stop, base = began, ended, reference
            event_elapsed(index, base.event, start.event, &since)
            event_elapsed(index, start.event, stop.event, &took)
            events.append((name, index, stream, ticks, thread, base.ticks,
                           <long long>(since * 1e6), <long long>(took * 1e6)))
    finally:
        drop()
    return events
