"""Kernels and copies of GPUs in a session: their times, and which event they belong to."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_cy._C.placement import _is_usable
from autograd_cy._C.placement import device as _device
from autograd_cy.profiler._columns import Columns
from autograd_cy.profiler._events import DeviceType, FunctionEvent

__all__ = ["Kernels", "kernel_events", "owners", "usable"]


def usable() -> bool:
    """Tell if times of kernels can be recorded: GPUs can be used."""
    return _is_usable(_device("cuda"))


class Kernels:
    """The kernels that a session records; nothing is recorded before `start`."""

    def __init__(self) -> None:
        self._place: int | None = None  # in the list of all sessions
        self._rows: list[tuple] = []

    def start(self) -> None:
        """Record from now on; CUDA isn't started for it."""
        from autograd_cy._C import cuda_timing

        self._place = cuda_timing.begin()

    def stop(self) -> list[tuple]:
        """End it, after the GPUs have done what is timed; an error of theirs is raised."""
        from autograd_cy._C import cuda_timing

        place, self._place = self._place, None
        return [] if place is None else cuda_timing.end(place)

    def drop(self) -> None:
        """End it, and forget what was recorded."""
        if self._place is not None:
            from autograd_cy._C import cuda_timing

            self._place = None
            cuda_timing.drop()

    def keep(self, launches: list[tuple], recording: Any) -> None:
        """Note what `stop` gave, with times from the start of a recording."""
        self._rows = [
            (name, index, stream, recording.nanoseconds(put), thread, since + began, took)
            for name, index, stream, put, thread, base, began, took in launches
            for since in (recording.nanoseconds(base),)
        ]

    def put(self, columns: Columns) -> Columns:
        """Return the columns with those of kernels."""
        rows = self._rows
        if not rows:
            return columns
        places = {name: place for place, name in enumerate(columns.names)}
        start = np.array([row[5] for row in rows], np.int64)
        columns.kernel_name = np.array(
            [places.setdefault(row[0], len(places)) for row in rows], np.int32
        )
        columns.names = list(places)
        columns.kernel_start = start
        columns.kernel_end = start + np.array([row[6] for row in rows], np.int64)
        columns.kernel_device = np.array([row[1] for row in rows], np.int32)
        # The default stream of a device is 0, the others follow as they were seen.
        streams = {(row[1], 0): 0 for row in rows}
        for row in rows:
            number = sum(index == row[1] for index, _ in streams)
            streams.setdefault((row[1], row[2]), number)
        columns.kernel_stream = np.array([streams[row[1], row[2]] for row in rows], np.int64)
        put = np.array([row[3] for row in rows], np.int64)
        columns.kernel_event = owners(columns, put, [row[4] for row in rows])
        return columns


def owners(columns: Columns, put: np.ndarray, threads: list[int]) -> np.ndarray:
    """
    Find the innermost event that was open in a thread at a moment, -1 for none.

    Parameters
    ----------
    columns : Columns
    put : ndarray
        Nanoseconds from the start of the session.
    threads : list of int
        Native identities.

    Returns
    -------
    ndarray
    """
    result = np.full(len(put), -1, np.int64)
    native = np.array(threads, np.int64)
    for number, identity in enumerate(columns.threads, 1):
        events = np.flatnonzero(columns.thread == number)
        mine = np.flatnonzero(native == identity)
        if not len(events) or not len(mine):
            continue
        events = events[np.argsort(columns.start[events], kind="stable")]
        last = np.searchsorted(columns.start[events], put[mine], side="right") - 1
        owner = np.where(last >= 0, events[last], -1)
        # What had ended by then is left for what was open around it.
        while (ended := (owner >= 0) & (columns.end[owner] < put[mine])).any():
            owner = np.where(ended, columns.parent[owner], owner)
        result[mine] = owner
    return result


def kernel_events(spans: Any, events: list[FunctionEvent]) -> list[FunctionEvent]:
    """
    Make events of kernels and copies, and tell those of the CPU which of them are theirs.

    Parameters
    ----------
    spans : Spans
    events : list of FunctionEvent
        By place.

    Returns
    -------
    list of FunctionEvent
        With ``device_type`` CUDA; the thread is the stream.
    """
    columns = spans.columns
    result = []
    rows = zip(
        columns.kernel_name.tolist(),
        (columns.kernel_start / 1e3).tolist(),
        (columns.kernel_end / 1e3).tolist(),
        columns.kernel_event.tolist(),
        columns.kernel_device.tolist(),
        columns.kernel_stream.tolist(),
        strict=True,
    )
    for number, (name, start, end, owner, device, stream) in enumerate(rows, len(events)):
        text = columns.names[name]
        event = FunctionEvent(
            number,
            text,
            stream,
            start,
            end,
            use_device="cuda",
            device_type=DeviceType.CUDA,
            device_index=device,
            device_resource_id=stream,
        )
        result.append(event)
        if owner >= 0:
            events[spans.position_of_event[owner]].append_kernel(text, device, end - start)
    return result
