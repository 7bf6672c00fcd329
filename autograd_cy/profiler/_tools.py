"""Files of NVIDIA's profilers, read as events: nvprof's and Nsight Systems' SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from autograd_cy.profiler._averages import EventList
from autograd_cy.profiler._events import FunctionEvent, StringTable, build_tree

__all__ = ["load_nsys", "load_nvprof", "parse_nvprof_trace"]

LAUNCH = 211  # cudaLaunchKernel, in nvprof's numbering of the runtime's functions
PUSH_POP, START_END = 59, 60  # kinds of ranges in Nsight's files


def parse_nvprof_trace(path: str | Path) -> list[FunctionEvent]:
    """
    Return the ranges of a file of nvprof's, each with the kernels that it started.

    Parameters
    ----------
    path : str or Path
        What ``nvprof -o file`` wrote.

    Returns
    -------
    list of FunctionEvent
        By start, in microseconds from the first one. A kernel belongs to the innermost range.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    RuntimeError
        If the file is no database, or lacks a table.

    Examples
    --------
    >>> from autograd_cy.autograd.profiler import parse_nvprof_trace
    >>> parse_nvprof_trace("run.nvvp")
    Traceback (most recent call last):
    FileNotFoundError: there is no file run.nvvp
    """
    with closing(_opened(path)) as base:
        strings = StringTable()
        for number, value in _rows(base, path, "StringTable", "_id_, value"):
            strings[number] = StringTable()[value]
        opened: dict[int, tuple[int, str]] = {}
        ranges = []
        markers = _rows(
            base,
            path,
            "CUPTI_ACTIVITY_KIND_MARKER",
            "id, name, timestamp",
            "ORDER BY timestamp, _id_",
        )
        for number, name, time in markers:
            if name:
                opened[number] = (time, strings.get(name, str(name)))
            elif number in opened:
                start, text = opened.pop(number)
                ranges.append((number, text, 0, start, time))
        launches = _rows(
            base,
            path,
            "CUPTI_ACTIVITY_KIND_RUNTIME",
            "start, end, 0, correlationId",
            f"WHERE cbid = {LAUNCH}",
        )
        kernels = _rows(
            base,
            path,
            "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL",
            "correlationId, name, deviceId, start, end",
        )
        named = [
            (tie, strings.get(name, str(name)), device, start, end)
            for tie, name, device, start, end in kernels
        ]
        return _tied(ranges, launches, named)


def load_nvprof(path: str | Path) -> EventList:
    """
    Return the ranges of a file of nvprof's, which knows no GPU after Turing; see :func:`load_nsys`.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    EventList

    Examples
    --------
    >>> from autograd_cy.autograd.profiler import load_nvprof
    >>> load_nvprof("run.nvvp")
    Traceback (most recent call last):
    FileNotFoundError: there is no file run.nvvp
    """
    return EventList(parse_nvprof_trace(path), use_device="cuda")


def load_nsys(path: str | Path) -> EventList:
    """
    Return the ranges of a file of Nsight Systems, each with the kernels that it started.

    Parameters
    ----------
    path : str or Path
        What ``nsys export --type sqlite report.nsys-rep`` wrote.

    Returns
    -------
    EventList

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    RuntimeError
        If the file is no database, or lacks a table.

    Examples
    --------
    >>> from autograd_cy.autograd.profiler import load_nsys
    >>> load_nsys("report.sqlite")
    Traceback (most recent call last):
    FileNotFoundError: there is no file report.sqlite
    """
    with closing(_opened(path)) as base:
        strings = StringTable()
        for number, value in _rows(base, path, "StringIds", "id, value"):
            strings[number] = StringTable()[value]
        threads: dict[int, int] = {}
        ranges = []
        rows = _rows(
            base,
            path,
            "NVTX_EVENTS",
            "text, textId, globalTid, start, end",
            f'WHERE eventType IN ({PUSH_POP}, {START_END}) AND "end" IS NOT NULL ORDER BY start',
        )
        for number, (text, named, native, start, end) in enumerate(rows):
            thread = threads.setdefault(native, len(threads) + 1)
            name = text if text is not None else strings.get(named, str(named))
            ranges.append((number, name, thread, start, end))
        launches = [
            (start, end, threads.get(native, 0), tie)
            for start, end, native, tie in _rows(
                base, path, "CUPTI_ACTIVITY_KIND_RUNTIME", "start, end, globalTid, correlationId"
            )
        ]
        kernels = [
            (tie, strings.get(name, str(name)), device, start, end)
            for tie, name, device, start, end in _rows(
                base,
                path,
                "CUPTI_ACTIVITY_KIND_KERNEL",
                "correlationId, demangledName, deviceId, start, end",
            )
        ]
        return EventList(_tied(ranges, launches, kernels), use_device="cuda")


def _opened(path: str | Path) -> sqlite3.Connection:
    if not Path(path).is_file():
        raise FileNotFoundError(f"there is no file {path}")
    return sqlite3.connect(f"{Path(path).resolve().as_uri()}?mode=ro", uri=True)


def _rows(
    base: sqlite3.Connection, path: str | Path, table: str, columns: str, rest: str = ""
) -> list[tuple]:
    names = ", ".join(name if name.isdigit() else f'"{name}"' for name in columns.split(", "))
    try:
        return base.execute(f'SELECT {names} FROM "{table}" {rest}').fetchall()
    except sqlite3.DatabaseError as error:
        raise RuntimeError(f"{path}: can't read table {table} ({error})") from error


def _tied(
    ranges: Iterable[tuple], launches: Iterable[tuple], kernels: Iterable[tuple]
) -> list[FunctionEvent]:
    """Events of (id, name, thread, start, end), with kernels in the innermost one."""
    ordered = sorted(ranges, key=lambda row: (row[3], -row[4]))
    zero = ordered[0][3] if ordered else 0
    events = [
        FunctionEvent(
            number, name, thread, (start - zero) / 1e3, (end - zero) / 1e3, use_device="cuda"
        )
        for number, name, thread, start, end in ordered
    ]
    build_tree(events)
    started: dict[int, list[tuple]] = {}
    for row in kernels:
        started.setdefault(row[0], []).append(row)
    spans = list(zip(ordered, events))
    by_thread: dict[int, list[tuple]] = {}
    for row, event in spans:
        by_thread.setdefault(row[2], []).append((row[3], row[4], event))
    for start, end, thread, tie in launches:
        if tie not in started:
            continue
        around = _innermost(by_thread.get(thread, ()), start, end)
        if around is not None:
            for _, name, device, begin, stop in started[tie]:
                around.append_kernel(name, device, (stop - begin) / 1e3)
    return events


def _innermost(spans: Iterable[tuple], start: int, end: int) -> FunctionEvent | None:
    """Return the shortest span around a time. They stand by start, so the search ends early."""
    best, length = None, None
    for first, last, event in spans:
        if first > start:
            break
        if last >= end and (length is None or last - first <= length):
            best, length = event, last - first
    return best
