"""Streams and events of GPUs, by torch's names; those of any device are in `autograd_cy`."""

from __future__ import annotations

from typing import Any, NoReturn

from autograd_cy._C import streams as _streams
from autograd_cy._C.streams import Event as _Event
from autograd_cy._C.streams import Stream as _Stream
from autograd_cy.cuda import _core

__all__ = [
    "Event",
    "ExternalStream",
    "Stream",
    "StreamContext",
    "current_stream",
    "default_stream",
    "get_stream_from_external",
    "set_stream",
    "stream",
]


class _OfGPUs(type):
    """Class of `Stream` and `Event`: those of GPUs are instances, whoever made them."""

    _base: type = _Stream

    def __instancecheck__(cls, instance: object) -> bool:
        if cls in (Stream, Event) and isinstance(instance, cls._base):
            place: Any = instance
            return place.device.type == "cuda"
        return type.__instancecheck__(cls, instance)


class Stream(_Stream, metaclass=_OfGPUs):
    """
    A queue of work of a GPU, which runs in the order in which it was put there.

    Parameters
    ----------
    device : device or str or int, optional
        The current GPU unless given.
    priority : int, default 0
        Accepted, and without effect: see :meth:`priority_range`.

    Raises
    ------
    RuntimeError
        If there is no such GPU; without kernels, PyCUDA or driver the text says which.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> if ag.cuda.is_available():
    ...     side = ag.cuda.Stream()
    ...     with ag.cuda.stream(side):
    ...         x = ag.ones(3, device="cuda")
    ...     ag.cuda.current_stream().wait_stream(side)
    """

    def __init__(self, device: Any = None, priority: int = 0) -> None:
        super().__init__(_core.device_name(device), priority=min(priority, 0))

    @staticmethod
    def priority_range() -> tuple[int, int]:
        """
        Return the least and the greatest priority: (0, 0), as PyCUDA makes streams of one.

        Returns
        -------
        tuple of int
        """
        _core.start()
        from autograd_cy._C import cuda_streams

        return cuda_streams.priority_range()


class ExternalStream(Stream):
    """
    A stream that another library made; ours wait for it, and it for ours.

    Parameters
    ----------
    stream_ptr : int
        Its handle, a ``cudaStream_t`` or ``CUstream``. Its owner keeps it for as long as this
        object is used.
    device : device or str or int, optional
        The current GPU unless given.

    Raises
    ------
    RuntimeError
        If there is no such GPU.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> def after(foreign):  # the handle of a stream of another library
    ...     ag.cuda.current_stream().wait_stream(ag.cuda.ExternalStream(foreign))
    """

    def __init__(self, stream_ptr: int, device: Any = None) -> None:
        place = _core.device_name(device)
        from autograd_cy._C import cuda_streams

        cuda_streams.wrap_external(self, _core.index_of(place), stream_ptr)


class Event(_Event, metaclass=_OfGPUs):
    """
    A place in a stream of a GPU that the host and other streams can wait for.

    Parameters
    ----------
    enable_timing : bool, default False
        Whether :meth:`elapsed_time` can be asked.
    blocking, interprocess, external : bool, default False
        Accepted, and without effect: waiting lets other threads run in any case, and events are
        not shared with other processes.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> if ag.cuda.is_available():
    ...     start, end = (ag.cuda.Event(enable_timing=True) for _ in range(2))
    ...     start.record()
    ...     x = ag.ones(1000, device="cuda") + 1
    ...     end.record()
    ...     end.synchronize()
    ...     assert start.elapsed_time(end) >= 0
    """

    _base = _Event

    def __init__(
        self,
        enable_timing: bool = False,
        blocking: bool = False,
        interprocess: bool = False,
        external: bool = False,
    ) -> None:
        _core.start()
        super().__init__(
            "cuda", enable_timing=enable_timing, blocking=blocking, interprocess=interprocess
        )

    @classmethod
    def from_ipc_handle(cls, device: Any, handle: bytes) -> NoReturn:
        """Refuse: events are not shared with other processes."""
        raise _not_shared("Event.from_ipc_handle")

    def ipc_handle(self) -> NoReturn:
        """Refuse: events are not shared with other processes."""
        raise _not_shared("Event.ipc_handle")


def _handle_of_stream(stream: _Stream) -> int:
    from autograd_cy._C import cuda_streams

    return cuda_streams.handle_of_stream(stream)


def _handle_of_event(event: _Event) -> int:
    from autograd_cy._C import cuda_streams

    return cuda_streams.handle_of_event(event)


def _not_shared(what: str) -> RuntimeError:
    return RuntimeError(
        f"cuda.{what}: events of GPUs are not shared with other processes; let the process that "
        "made it call synchronize(), and tell the other one"
    )


def current_stream(device: Any = None) -> _Stream:
    """
    Return the stream that this thread puts work of a GPU on.

    Parameters
    ----------
    device : device or str or int, optional
        The current GPU unless given.

    Returns
    -------
    Stream

    Examples
    --------
    >>> import autograd_cy as ag
    >>> if ag.cuda.is_available():
    ...     assert ag.cuda.current_stream() == ag.cuda.default_stream()
    """
    return _streams._stream_on(_core.device_name(device))


def default_stream(device: Any = None) -> _Stream:
    """
    Return the stream that work of a GPU is put on unless another one was made current.

    Parameters
    ----------
    device : device or str or int, optional
        The current GPU unless given.

    Returns
    -------
    Stream

    Examples
    --------
    >>> import autograd_cy as ag
    >>> if ag.cuda.is_available():
    ...     assert ag.cuda.default_stream().cuda_stream == 0
    """
    return _streams._default_stream(_core.device_name(device))


def set_stream(stream: _Stream | None) -> None:
    """
    Put work of this thread on a stream, and let its GPU be the current one.

    Parameters
    ----------
    stream : Stream or None
        None changes nothing.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.set_stream(None)
    """
    if stream is not None:
        _streams._set_stream(stream)


def get_stream_from_external(data_ptr: int, device: Any = None) -> ExternalStream:
    """
    Wrap a stream that another library made; see :class:`ExternalStream`.

    Parameters
    ----------
    data_ptr : int
        Its handle.
    device : device or str or int, optional
        The current GPU unless given.

    Returns
    -------
    ExternalStream

    Examples
    --------
    >>> import autograd_cy as ag
    >>> if ag.cuda.is_available():
    ...     assert ag.cuda.get_stream_from_external(0).query()
    """
    return ExternalStream(data_ptr, device)


class StreamContext:
    """
    Put work on a stream inside of a block; see :func:`stream`.

    Parameters
    ----------
    stream : Stream or None
        None changes nothing.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> with ag.cuda.StreamContext(None):
    ...     pass
    """

    def __init__(self, stream: _Stream | None) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        """Make the stream current, and its GPU."""
        if self.stream is not None:
            self.stream.__enter__()

    def __exit__(self, *exc_info: Any) -> None:
        """Put both back."""
        if self.stream is not None:
            self.stream.__exit__()


def stream(stream: _Stream | None) -> StreamContext:
    """
    Put work on a stream inside of a ``with`` block, and let its GPU be the current one.

    Parameters
    ----------
    stream : Stream or None
        None changes nothing.

    Returns
    -------
    StreamContext

    Examples
    --------
    >>> import autograd_cy as ag
    >>> with ag.cuda.stream(None):
    ...     pass
    """
    return StreamContext(stream)
