"""One span of recording: what is asked of the recorder (ext/core/recorder.pyx), and its columns."""

from __future__ import annotations

import contextlib
import operator
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_cy._C import recorder as _recorder
from autograd_cy.profiler._columns import BACKWARD, OPERATOR, Columns
from autograd_cy.profiler._modules import watch as _watch_modules

__all__ = ["MAX_EVENTS", "Session", "checked_events", "ended_by"]

MAX_EVENTS = 10_000_000

# Bits of D_* in recorder.pxd.
ARGUMENTS, MEMORY, STACK, MODULES = 1, 2, 4, 8
FAILED = 1


def checked_events(most: int) -> int:
    """`max_events`, if it is a number of events."""
    try:
        most = operator.index(most)
    except TypeError:
        raise TypeError(f"profile: max_events is an integer, not {type(most).__name__}") from None
    if not 0 < most < 1 << 63:
        raise ValueError(f"profile: max_events is a positive number below 2**63, not {most}")
    return most


def ended_by(stop: Callable[[], Any], error: BaseException | None) -> None:
    """Call `stop` at the end of a block; if an error left the block, that is what is raised."""
    try:
        stop()
    except Exception as failure:
        if error is None:
            raise
        with contextlib.suppress(Warning):
            warnings.warn(
                f"profile: the end of the block failed too: {type(failure).__name__}: {failure}",
                RuntimeWarning,
                stacklevel=3,
            )


class Session:
    """
    A span of recording; several may run at the same time, and each gets the events of its own.

    Parameters
    ----------
    record_shapes, with_flops, profile_memory, with_stack, with_modules : bool
        What is recorded beside times.
    all_threads : bool
        Whether other threads than the one that starts are recorded.
    max_events : int
        Later ones are dropped, and counted.
    options : dict, optional
        More that was asked for; it goes into the columns' `options`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.profiler._session import Session
    >>> session = Session()
    >>> session.start()
    >>> x = ag.ones(3) * 2
    >>> columns = session.stop()
    >>> "aten::mul" in columns.names
    True
    """

    def __init__(
        self,
        *,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        all_threads: bool = True,
        max_events: int = MAX_EVENTS,
        options: dict[str, Any] | None = None,
    ) -> None:
        self.options = {
            "record_shapes": bool(record_shapes),
            "with_flops": bool(with_flops),
            "profile_memory": bool(profile_memory),
            "with_stack": bool(with_stack),
            "with_modules": bool(with_modules),
            "all_threads": bool(all_threads),
            "max_events": checked_events(max_events),
            **(options or {}),
        }
        wanted = (
            ARGUMENTS * bool(record_shapes or with_flops)
            | MEMORY * bool(profile_memory)
            | STACK * bool(with_stack)
            | MODULES * bool(with_modules)
        )
        self._recording = _recorder.Recording(wanted, self.options["max_events"])
        self._taken: tuple | None = None  # what was recorded, until there are columns of it
        self._thread = 0
        self._base_ns = 0

    @property
    def running(self) -> bool:
        """Whether it was started and not stopped yet."""
        return self._recording.running

    def start(self) -> None:
        """
        Record from now on.

        Raises
        ------
        RuntimeError
            If it runs already.
        """
        self._base_ns = time.time_ns()
        self._thread = self._recording.thread
        self._recording.start()
        if self.options["with_modules"]:
            _watch_modules()

    def stop(self) -> Columns:
        """
        End it.

        Returns
        -------
        Columns
            The events. A process that was forked meanwhile gets none.

        Raises
        ------
        RuntimeError
            If it doesn't run.

        Notes
        -----
        After an error, for want of memory say, it may be called again.
        """
        taken = self._taken if self._taken is not None else self._recording.stop()
        if taken is None:
            return Columns(base_ns=self._base_ns, options=self.options)
        self._taken = taken
        columns = _columns(taken, self._thread, self._base_ns, self.options)
        self._taken = None
        return columns

    def __del__(self) -> None:
        # What an interrupt kept from its block, or a program forgot, costs no operator any more.
        recording = getattr(self, "_recording", None)
        if recording is None:
            return
        running = recording.running
        recording.drop()
        if running:
            warnings.warn(
                "profile: it was never stopped, and nobody can ask it any more; what it recorded "
                "is lost. Use a with block, or call stop()",
                ResourceWarning,
                stacklevel=2,
                source=self,
            )


def _columns(taken: tuple, thread: int, base_ns: int, options: dict[str, Any]) -> Columns:
    """What :class:`Recording` gives, as columns."""
    streams, began, ended, tick, names, late, late_from, flops, *tables, dropped = taken
    shapes, stacks, modules = tables
    if not options["all_threads"]:
        streams = [stream for stream in streams if stream[0] == thread]
    streams = sorted(streams, key=lambda stream: _first_time(*stream[3:]))
    room = options["max_events"]
    kept, counts = [], []
    for _, _, _, events, _ in streams:
        kept.append(events[: max(room, 0)])
        dropped += len(events) - len(kept[-1])
        room -= len(kept[-1])
        counts.append(len(kept[-1]))
    events = _joined(kept, _recorder._EVENT)
    numbers = np.arange(len(events))
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    thread_of = np.repeat(np.arange(1, len(streams) + 1, dtype=np.int32), counts)

    def nanoseconds(ticks: np.ndarray) -> np.ndarray:
        return ((ticks - began) * tick).astype(np.int64) if tick != 1.0 else ticks - began

    unfinished = (events["end"] == 0) | (events["end"] > ended)
    first_of = np.repeat(offsets[:-1], counts)
    back = events["back"]
    parent = np.where((back > 0) & (numbers - back >= first_of), numbers - back, -1)
    number = np.where(
        events["name"] >= late_from, events["name"] - late_from + late, events["name"]
    )
    table, used = _name_table(number, names)
    columns = {
        "name": table[number],
        "start": nanoseconds(events["start"]),
        "end": nanoseconds(np.where(unfinished, ended, events["end"])),
        "thread": thread_of,
        "parent": parent,
        "unfinished": unfinished,
        "failed": (events["flags"] & FAILED) != 0,
        "bytes_moved": events["moved"],
        "team": np.where(unfinished, 1, events["team"]),
        **{key: events[key] for key in ("seq", "scope", "saved", "shape", "stack", "module")},
    }
    # The clock's calibration may lead a nanosecond past the start of what comes after.
    np.maximum(columns["end"], columns["start"], out=columns["end"])
    _from_forward(columns)
    if options["with_flops"]:
        # Shapes of an event that failed may be those that its operator refused.
        shape = np.where(columns["failed"], -1, events["shape"])
        columns["flops"] = _counted(events["name"], shape, flops, shapes)
    for key, wanted in (
        ("shape", options["record_shapes"]),
        ("stack", options["with_stack"]),
        ("module", options["with_modules"]),
    ):
        if not wanted:
            columns[key] = np.full(len(events), -1, np.int32)
    if not (options["record_shapes"] or options["with_flops"]):
        del columns["bytes_moved"]
    if options["profile_memory"]:
        columns |= _memory(streams, offsets, counts, nanoseconds)
    known = {t.ident: t.name for t in threading.enumerate()}
    return Columns(
        **columns,
        names=used,
        shapes=shapes if options["record_shapes"] else [],
        stacks=_stack_texts(stacks) if options["with_stack"] else [],
        modules=modules if options["with_modules"] else [],
        threads=[stream[0] for stream in streams],
        thread_names=[known.get(stream[1], "") for stream in streams],
        base_ns=base_ns,
        wall_ns=int((ended - began) * tick),
        dropped=dropped,
        options=options,
    )


def _first_time(events: np.ndarray, changes: np.ndarray) -> int:
    times = [int(events["start"][0])] if len(events) else []
    times += [int(changes["time"][0])] if len(changes) else []
    return min(times)


def _joined(parts: list[np.ndarray], dtype: np.dtype) -> np.ndarray:
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, dtype), *parts])


def _name_table(number: np.ndarray, names: list[str]) -> tuple[np.ndarray, list[str]]:
    """(index of the name for each number, the names that events have, each once)."""
    table = np.full(len(names), -1, np.int32)
    places: dict[str, int] = {}
    for i in np.flatnonzero(np.bincount(number, minlength=len(names))):
        table[i] = places.setdefault(names[i], len(places))
    return table, list(places)


def _from_forward(columns: dict[str, np.ndarray]) -> None:
    """Give backward events the thread, the frames and the module of their forward operator."""
    columns["fwd_thread"] = np.zeros(len(columns["seq"]), np.int32)
    later = np.flatnonzero((columns["scope"] == BACKWARD) & (columns["seq"] >= 0))
    makers = np.flatnonzero((columns["scope"] == OPERATOR) & (columns["seq"] >= 0))
    if not len(later) or not len(makers):
        return
    order = makers[np.argsort(columns["seq"][makers], kind="stable")]
    wanted = columns["seq"][later]
    place = np.minimum(np.searchsorted(columns["seq"][order], wanted), len(order) - 1)
    found = columns["seq"][order[place]] == wanted
    later, maker = later[found], order[place[found]]
    columns["fwd_thread"][later] = columns["thread"][maker]
    for key in ("stack", "module"):
        columns[key] = columns[key].astype(np.int32)
        columns[key][later] = columns[key][maker]


class _Sizes(list):
    """Sizes for rules, which are compiled without checks of indices for a plain list."""


def _counted(name: np.ndarray, shape: np.ndarray, flops: dict, shapes: list) -> np.ndarray:
    """Operations of each event: the records' rules, once for each description of arguments."""
    counts = np.zeros(len(name), np.int64)
    for number, rule in flops.items():
        here = np.flatnonzero((name == number) & (shape >= 0))
        if not len(here):
            continue
        for one in np.unique(shape[here]):
            try:
                count = rule(*[_Sizes(sizes) for sizes in shapes[one][0]])
                counts[here[shape[here] == one]] = count
            except Exception:
                continue  # no rule for arguments like these: nothing is counted
    return counts


def _memory(streams: list, offsets: np.ndarray, counts: list[int], nanoseconds: Any) -> dict:
    """The changes of memory of all threads, by time."""
    changes = _joined([stream[4] for stream in streams], _recorder._CHANGE)
    lengths = [len(stream[4]) for stream in streams]
    first = np.repeat(np.array([stream[2] for stream in streams], np.int64), lengths)
    event = changes["event"] - first
    inside = (event >= 0) & (event < np.repeat(np.array(counts, np.int64), lengths))
    event = np.where(inside, event + np.repeat(offsets[:-1], lengths), -1)
    order = np.argsort(changes["time"], kind="stable")
    columns = {
        "mem_time": nanoseconds(changes["time"]),
        "mem_bytes": changes["nbytes"],
        "mem_total": changes["total"],
        "mem_address": changes["address"],
        "mem_thread": np.repeat(np.arange(1, len(streams) + 1, dtype=np.int32), lengths),
        "mem_event": event,
    }
    return {key: values[order] for key, values in columns.items()}


def _stack_texts(rows: list) -> list[tuple[str, ...]]:
    """Frames as texts, with the paths of files as imports see them."""
    # Programs put all sorts of things there.
    folders = [os.fspath(path) for path in sys.path if isinstance(path, (str, os.PathLike))]
    paths = {path.rstrip("/") + "/" for path in folders if isinstance(path, str) and path}
    roots = sorted(paths, key=len, reverse=True)

    def shown(file: str) -> str:
        root = next((root for root in roots if file.startswith(root)), "")
        return file[len(root) :]

    return [tuple(f"{shown(file)}({line}): {name}" for file, line, name in row) for row in rows]
