# cython: language_level=3
"""
Streams and events, and the current device of a thread.

A stream is a queue of work of one device. Each thread puts work on its current stream (Note
[Current streams] in devices/streams.pxi). The CPU and meta have one stream, on which nothing waits,
and no events.
"""
from cpython.ref cimport PyObject

from autograd_cy._C.devices cimport (
    Services, current_stream_owner, note_use, services, set_current_stream)
from autograd_cy._C.placement cimport (
    accelerator_type, as_device, check_index, current_code, current_index, device_code,
    device_of_code, devices_of_type, name_of_type, set_current_index, type_of_name)
from autograd_cy._C.placement cimport device as Place
from autograd_cy._C.storage cimport (
    DEVICES_OF_TYPE, MAX_DEVICES, ON_META, STORAGE_DEVICE, DeviceBytes,
    ServiceBlock, StorageImpl, device_bytes, device_index, device_type, storage_root)
from autograd_cy._C.tensor cimport Tensor

from autograd_cy._C.placement import _need_offered, _offers_accelerator

__all__ = ["Event", "Stream"]

cdef extern from "Python.h":
    PyObject* PyThreadState_GetDict()      # borrowed

cdef str OPEN = "autograd_cy.entered streams"   # (device, stream, index) before each `with` block

cdef list _defaults = [None] * MAX_DEVICES      # default streams, made when they are asked for


cdef int code_or_current(object device) except -1:
    """The code of a device, of the accelerator's current one for None; of the CPU if none is."""
    if device is None:
        if not accelerator_type():
            _need_offered()
        return current_code(accelerator_type())
    return device_code(device)


cdef Stream default_stream(int code):
    cdef Stream s
    if _defaults[code] is None:
        s = Stream.__new__(Stream)
        s.code = code
        _defaults[code] = s
    return <Stream>_defaults[code]


cdef Stream stream_of(int device):
    cdef PyObject* owner = current_stream_owner(device)
    return default_stream(device) if owner == NULL else <Stream>owner


cdef int make_current(Stream s) except -1:
    if s.code > ON_META:
        check_index(device_type(s.code), device_index(s.code))
        set_current_stream(s.code, s.stream, None if s.stream == NULL else s)
    return 0


cdef class Stream:
    """
    A queue of work of one device, which runs in the order in which it was put there.

    Parameters
    ----------
    device : device or str or int, optional
        The current device of the accelerator unless given, or the CPU where no accelerator is.
    priority : int, default 0
        Work on a stream with a lower number goes first, where the device can do so; 0 or negative.

    Raises
    ------
    RuntimeError
        If there is no such device, or `priority` is positive.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> s = ag.Stream("cpu")
    >>> s.query(), s.device
    (True, device(type='cpu'))
    """

    def __init__(self, device=None, *, int priority=0):
        cdef int code = code_or_current(device)
        if self.stream != NULL or self.code:
            raise RuntimeError("a Stream is made once")
        if priority > 0:
            raise RuntimeError(
                f"Stream: expected priority to be less than or equal to 0, got {priority}")
        if code > ON_META:
            services[device_type(code)].stream_new(device_index(code), priority, &self.stream)
        self.code = code
        self.priority = priority

    def __dealloc__(self):
        if self.stream != NULL:
            services[device_type(self.code)].stream_free(device_index(self.code), self.stream)

    @property
    def device(self):
        return device_of_code(self.code)

    @property
    def device_index(self):
        return device_index(self.code) if self.code > ON_META else -1

    @property
    def device_type(self):
        return name_of_type(device_type(self.code))

    @property
    def stream_id(self):
        return <size_t>self.stream

    @property
    def cuda_stream(self):
        """The driver's handle of a stream of CUDA; 0 is the default one."""
        if self.device_type != "cuda":
            raise AttributeError(
                f"'Stream' object has no attribute 'cuda_stream': it is one of {self.device}")
        from autograd_cy.cuda import streams
        return streams._handle_of_stream(self)

    def query(self):
        """
        Tell if all work that was put on the stream has been done.

        Returns
        -------
        bool
        """
        if self.code <= ON_META:
            return True
        return services[device_type(self.code)].query(device_index(self.code), self.stream) == 1

    def synchronize(self):
        """Wait until all work that was put on the stream has been done; raise what it raised."""
        if self.code > ON_META:
            services[device_type(self.code)].synchronize(device_index(self.code), self.stream)

    def record_event(self, event=None):
        """
        Mark this place in the stream.

        Parameters
        ----------
        event : Event, optional
            A new one unless given.

        Returns
        -------
        Event
        """
        cdef Event e
        if event is None:
            event = Event(self.device)
        elif not isinstance(event, Event):
            raise TypeError(f"record_event(): an Event, not {type(event).__name__}")
        e = <Event>event
        e.record_on(self)
        return event

    def wait_event(self, Event event not None):
        """Let work that is put on the stream later wait until `event` was reached."""
        event.hold_back(self)

    def wait_stream(self, Stream stream not None):
        """Let work that is put on this stream later wait for all that is on `stream` now."""
        cdef Event e
        if stream.code == self.code and stream.stream == self.stream:
            return
        if stream.code <= ON_META and self.code <= ON_META:
            return
        e = Event(stream.device)
        e.record_on(stream)
        e.hold_back(self)

    def __enter__(self):
        """Make it the current stream of its device, and that the current device, in this thread."""
        cdef int type = device_type(self.code)
        cdef list entered = (<dict>PyThreadState_GetDict()).setdefault(OPEN, [])
        cdef tuple before = (stream_of(self.code), current_index(type))
        make_current(self)
        entered.append(before)
        if self.code > ON_META:
            set_current_index(type, device_index(self.code))
        return self

    def __exit__(self, kind=None, error=None, traceback=None):
        cdef list entered = (<dict>PyThreadState_GetDict()).get(OPEN)
        cdef Stream before
        if not entered:
            raise RuntimeError("Stream.__exit__(): this thread has entered no stream")
        before, index = entered.pop()
        if before.code > ON_META:
            # Without a look whether the device is still there: leaving doesn't fail.
            set_current_stream(
                before.code, before.stream, None if before.stream == NULL else before)
            put_index_back(device_type(before.code), index)
        return False

    def __eq__(self, other):
        if not isinstance(other, Stream):
            return NotImplemented
        return self.code == (<Stream>other).code and self.stream == (<Stream>other).stream

    def __hash__(self):
        return hash((self.code, <size_t>self.stream))

    def __repr__(self):
        return (f"autograd_cy.Stream device_type={self.device_type}, "
                f"device_index={self.device_index}, stream_id={self.stream_id}")


cdef int put_index_back(int type, int index) except -1:
    try:
        set_current_index(type, index)
    except RuntimeError:
        pass                    # that device has gone; what is current stays so
    return 0


cdef class Event:
    """
    A place in a stream that the host and other streams can wait for.

    Parameters
    ----------
    device : device or str or int, optional
        The current device of the accelerator unless given, or the CPU where no accelerator is.
    enable_timing : bool, default False
        Whether :meth:`elapsed_time` can be asked.
    blocking, interprocess : bool, default False
        Accepted, and without effect.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.Event("cpu").query()
    True
    """

    def __init__(self, device=None, *, bint enable_timing=False, bint blocking=False,
                 bint interprocess=False):
        if self.event != NULL:
            raise RuntimeError("an Event is made once")
        self.code = code_or_current(device)
        self.bound = device is not None and as_device(device).index is not None
        self.timing = enable_timing

    def __dealloc__(self):
        if self.event != NULL:
            services[device_type(self.code)].event_free(device_index(self.code), self.event)

    cdef int record_on(self, Stream s) except -1:
        if s.code <= ON_META or self.code <= ON_META:
            raise RuntimeError(
                f"{device_of_code(min(s.code, self.code))} backend doesn't support events.")
        if device_type(s.code) != device_type(self.code) or (self.bound and s.code != self.code):
            raise RuntimeError(
                f"Event device {device_of_code(self.code)} does not match recording stream's "
                f"device {device_of_code(s.code)}.")
        services[device_type(s.code)].event_record(
            device_index(s.code), s.stream, self.timing, &self.event)
        self.code = s.code
        self.bound = True
        return 0

    cdef int hold_back(self, Stream s) except -1:
        if self.event == NULL:
            return 0
        if device_type(s.code) != device_type(self.code):
            raise RuntimeError(
                f"Event device {device_of_code(self.code)} does not match blocking stream's "
                f"device {device_of_code(s.code)}.")
        return services[device_type(s.code)].event_wait(
            device_index(s.code), s.stream, self.event)

    @property
    def device(self):
        return device_of_code(self.code)

    @property
    def event_id(self):
        return <size_t>self.event

    @property
    def cuda_event(self):
        """The driver's handle of an event of CUDA; 0 until it is recorded."""
        if name_of_type(device_type(self.code)) != "cuda":
            raise AttributeError(
                f"'Event' object has no attribute 'cuda_event': it is one of {self.device}")
        from autograd_cy.cuda import streams
        return streams._handle_of_event(self)

    def record(self, stream=None):
        """
        Mark the place in a stream up to which all work has been put there now.

        Parameters
        ----------
        stream : Stream, optional
            The current one unless given; of the event's device.
        """
        self.record_on(current_for(stream, self.code, "record"))

    def wait(self, stream=None):
        """
        Let work that is put on a stream later wait until this place was reached.

        Parameters
        ----------
        stream : Stream, optional
            The current one unless given.
        """
        self.hold_back(current_for(stream, self.code, "wait"))

    def query(self):
        """
        Tell if the place was reached; True if none was marked.

        Returns
        -------
        bool
        """
        if self.event == NULL:
            return True
        return services[device_type(self.code)].event_query(
            device_index(self.code), self.event) == 1

    def synchronize(self):
        """Wait until the place was reached."""
        if self.event != NULL:
            services[device_type(self.code)].event_synchronize(
                device_index(self.code), self.event)

    def elapsed_time(self, Event end_event not None):
        """
        Milliseconds from this place to another.

        Returns
        -------
        float

        Raises
        ------
        ValueError
            If one of both doesn't measure time, or wasn't recorded and reached.
        """
        cdef Services* s = &services[device_type(self.code)]
        cdef int index = device_index(self.code)
        cdef double milliseconds = 0
        if not self.timing or not end_event.timing:
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self.event == NULL or end_event.event == NULL:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        if self.code != end_event.code:
            raise ValueError(f"Event device {device_of_code(self.code)} does not match the other "
                             f"event's, {device_of_code(end_event.code)}.")
        if not self.query() or not end_event.query():
            raise ValueError("Both events must be completed before calculating elapsed time.")
        if s.event_elapsed == NULL:
            raise RuntimeError(f"{device_of_code(self.code)} doesn't measure the time between "
                               "events; synchronize, and ask time.perf_counter()")
        s.event_elapsed(index, self.event, end_event.event, &milliseconds)
        return milliseconds

    def __repr__(self):
        return (f"autograd_cy.Event device_type={name_of_type(device_type(self.code))}, "
                f"device_index={device_index(self.code) if self.code > ON_META else -1}, "
                f"event_flag={int(self.timing)}, event_id={self.event_id}")


cdef Stream current_for(object stream, int code, str what):
    if stream is None:
        return stream_of(code)
    if not isinstance(stream, Stream):
        raise TypeError(f"Event.{what}(): a Stream, not {type(stream).__name__}")
    return <Stream>stream


def _record_stream(Tensor self not None, Stream stream not None):
    """See the method of tensors in autograd_cy/_tensors/flags.py."""
    cdef StorageImpl* s = storage_root(self.mem)
    if stream.code != self.mem.device:
        raise RuntimeError(
            f"record_stream: the tensor is on {device_of_code(self.mem.device)} and the stream on "
            f"{device_of_code(stream.code)}; give a stream of the tensor's device")
    if s.kind == STORAGE_DEVICE:
        note_use(<ServiceBlock*>s, stream.code, stream.stream,
                 NULL if stream.stream == NULL else <PyObject*>stream)


# --- devices of one type: the accelerator, for autograd_cy.accelerator, or another one ------

cdef int need_accelerator() except -1:
    if not accelerator_type():
        _need_offered()
    if not accelerator_type():
        raise RuntimeError("Cannot access accelerator device when none is available.")
    return accelerator_type()


cdef int type_named(object name) except -1:
    """The type of devices of that name, which is registered; the accelerator for None."""
    cdef int type = need_accelerator() if name is None else type_of_name(name)
    if type < 2:
        raise RuntimeError(f"device {name!r} is not registered")
    return type


cdef int place_of_type(object device, object name) except -1:
    """The code of a device of a type, of the current one for None."""
    cdef int type = type_named(name)
    cdef Place result
    if device is None:
        return current_code(type)
    if isinstance(device, int) and not isinstance(device, bool):
        return DEVICES_OF_TYPE * type + check_index(type, device)
    result = device if isinstance(device, Place) else Place(device)
    if result.type != name_of_type(type):
        raise ValueError(
            f"{result.type} doesn't match the current accelerator {name_of_type(type)}."
            if name is None else f"Expected a {name} device, but got: {result}")
    return device_code(result)


def _accelerator():
    """The name of the type of device that was registered first, or is offered, or None."""
    if accelerator_type():
        return name_of_type(accelerator_type())
    return "cuda" if _offers_accelerator() else None


def _is_started():
    """Tell if an accelerator is registered; one that is only offered is not."""
    return accelerator_type() != 0


def _device_count(name=None):
    """Count the devices of a type, of the accelerator's unless named; nothing is started."""
    cdef int type = accelerator_type() if name is None else type_of_name(name)
    if type > 1:
        return devices_of_type(type)
    if type < 0 and name == "cuda" or name is None and _offers_accelerator():
        from autograd_cy.cuda import _core
        return _core.count()
    return 0


def _current_index(name=None):
    return current_index(type_named(name))


def _check_index(name not None, index):
    """Refuse a device of a type that isn't there."""
    check_index(type_named(name), index)


def _set_index(device, name=None):
    """Let a name without index mean this device of its type, in this thread."""
    cdef int type = type_named(name), code
    if isinstance(device, int) and not isinstance(device, bool) and device < 0:
        return
    code = place_of_type(device, name)
    set_current_index(type, device_index(code))


def _current_stream(device=None, name=None):
    return stream_of(place_of_type(device, name))


def _default_stream(device not None):
    """The default stream of a device of any type."""
    return default_stream(device_code(device))


def _stream_on(device not None):
    """The current stream of a device of any type."""
    return stream_of(device_code(device))


def _set_stream(Stream stream not None):
    """Make it the current stream of its device, and that the current device, in this thread."""
    make_current(stream)
    if stream.code > ON_META:
        set_current_index(device_type(stream.code), device_index(stream.code))


def _synchronize(device=None, name=None):
    """Wait for all streams of a device of the accelerator, or of another type."""
    cdef int code = place_of_type(device, name)
    services[device_type(code)].synchronize_all(device_index(code))


def _device_memory(device=None, name=None):
    """Count what tensors hold of a device's memory: live bytes and blocks, peak, allocations."""
    cdef DeviceBytes* n = &device_bytes[place_of_type(device, name)]
    return n.live_bytes, n.live_blocks, n.peak_bytes, n.allocations


def _reset_device_peak(device=None, name=None):
    cdef DeviceBytes* n = &device_bytes[place_of_type(device, name)]
    n.peak_bytes = n.live_bytes
