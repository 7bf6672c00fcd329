"""The device that computes beside the CPU, whatever it is: the one that was registered first.

Where none was, `current_accelerator` is None, `device_count` 0, and what needs one raises.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autograd_cy._C import streams as _streams
from autograd_cy._C.placement import device as _device
from autograd_cy._C.streams import Stream
from autograd_cy._lazy import attach as _attach

__all__ = [
    "current_accelerator",
    "current_device_idx",
    "current_device_index",
    "current_stream",
    "device_count",
    "device_index",
    "is_available",
    "max_memory_allocated",
    "memory_allocated",
    "reset_peak_memory_stats",
    "set_device_idx",
    "set_device_index",
    "set_stream",
    "synchronize",
]


def device_count() -> int:
    """
    Count the devices of the accelerator.

    Returns
    -------
    int
        0 where there is no accelerator.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.accelerator.device_count()
    0
    """
    return _streams._device_count()


def is_available() -> bool:
    """
    Tell if there is an accelerator, and a device of it.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.accelerator.is_available()
    False
    """
    return device_count() > 0


def current_accelerator(check_available: bool = False) -> _device | None:
    """
    Return the type of the accelerator, as a device without index.

    Parameters
    ----------
    check_available : bool, default False
        Whether the answer is None if there is no device of that type now.

    Returns
    -------
    device or None

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.accelerator.current_accelerator() is None
    True
    """
    name = _streams._accelerator()
    if name is None or (check_available and not is_available()):
        return None
    return _device(name)


def current_device_index() -> int:
    """
    Return the index of the device that a name without index means in this thread.

    Returns
    -------
    int

    Raises
    ------
    RuntimeError
        If there is no accelerator.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.accelerator.current_device_index()
    Traceback (most recent call last):
    RuntimeError: Cannot access accelerator device when none is available.
    """
    return _streams._current_index()


def set_device_index(device: Any, /) -> None:
    """
    Let a name without index mean this device, in this thread.

    Parameters
    ----------
    device : device or str or int
        Of the accelerator's type; a negative number changes nothing.

    Raises
    ------
    RuntimeError
        If there is no accelerator, or no such device of it.
    ValueError
        If the device is of another type.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.accelerator.set_device_index(0)
    Traceback (most recent call last):
    RuntimeError: Cannot access accelerator device when none is available.
    """
    _streams._set_index(device)


current_device_idx = current_device_index
set_device_idx = set_device_index


def current_stream(device: Any = None, /) -> Stream:
    """
    Return the stream that this thread puts work of a device on.

    Parameters
    ----------
    device : device or str or int, optional
        The current one unless given.

    Returns
    -------
    Stream

    Raises
    ------
    RuntimeError
        If there is no accelerator.
    ValueError
        If the device is of another type.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.accelerator.current_stream()
    Traceback (most recent call last):
    RuntimeError: Cannot access accelerator device when none is available.
    """
    return _streams._current_stream(device)


def set_stream(stream: Stream) -> None:
    """
    Put work of this thread on a stream, and let its device be the current one.

    ``with stream:`` does the same for the time of a block.

    Parameters
    ----------
    stream : Stream

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.accelerator.set_stream(ag.Stream("cpu"))
    """
    _streams._set_stream(stream)


def synchronize(device: Any = None, /) -> None:
    """
    Wait for all that was put on any stream of a device, and raise what it raised.

    Parameters
    ----------
    device : device or str or int, optional
        The current one unless given.

    Raises
    ------
    RuntimeError
        If there is no accelerator.
    ValueError
        If the device is of another type.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.accelerator.synchronize()
    Traceback (most recent call last):
    RuntimeError: Cannot access accelerator device when none is available.
    """
    _streams._synchronize(device)


class device_index:
    """
    Let another device be the current one inside of a block, in this thread.

    Parameters
    ----------
    device : int or None
        Its index; None changes nothing.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> with ag.accelerator.device_index(None):
    ...     pass
    """

    def __init__(self, device: int | None, /):
        self.idx = device
        self.prev_idx = -1

    def __enter__(self) -> None:
        """Change the current device."""
        if self.idx is not None:
            self.prev_idx = current_device_index()
            set_device_index(self.idx)

    def __exit__(self, *exc_info: object) -> None:
        """Change it back."""
        if self.idx is not None:
            set_device_index(self.prev_idx)


def memory_allocated(device: Any = None, /) -> int:
    """
    Count the bytes of a device that tensors hold.

    Parameters
    ----------
    device : device or str or int, optional
        The current one unless given.

    Returns
    -------
    int
        0 where there is no accelerator.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.accelerator.memory_allocated()
    0
    """
    return 0 if not _streams._is_started() else _streams._device_memory(device)[0]


def max_memory_allocated(device: Any = None, /) -> int:
    """
    Count the most bytes of a device that tensors have held at once.

    Parameters
    ----------
    device : device or str or int, optional
        The current one unless given.

    Returns
    -------
    int
        Since the start, or since `reset_peak_memory_stats`; 0 where there is no accelerator.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.accelerator.max_memory_allocated()
    0
    """
    return 0 if not _streams._is_started() else _streams._device_memory(device)[2]


def reset_peak_memory_stats(device: Any = None, /) -> None:
    """
    Start counting `max_memory_allocated` anew.

    Parameters
    ----------
    device : device or str or int, optional
        The current one unless given.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.accelerator.reset_peak_memory_stats()
    """
    if _streams._is_started():
        _streams._reset_device_peak(device)


if not TYPE_CHECKING:  # type checkers name what isn't there themselves
    __getattr__, __dir__ = _attach(__name__)
