"""The memory allocated at its peak, and the memory that nodes save for backward."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from autograd_cy.profiler._columns import Columns
from autograd_cy.profiler._events import short_name
from autograd_cy.profiler._formats import _format_memory, _format_time
from autograd_cy.profiler._groups import aligned
from autograd_cy.profiler._spans import OUTER, Spans

__all__ = ["Holder", "Memory", "memory"]

OUTSIDE = "(outside of operators)"
TOP = 15


class Holder(NamedTuple):
    """A source of the memory that was alive at the peak."""

    op: str
    line: str
    bytes: int
    blocks: int


class Memory:
    """
    Memory of a session.

    Attributes
    ----------
    peak_bytes : int
        The most that was allocated at one time, what was there before the session included.
    peak_us : float
        When.
    before_bytes : int
        Of that, what was allocated before the session, or can't be told.
    alive : list of Holder
        Who had allocated the rest, the most first.
    saved : dict of str to int
        Bytes that nodes saved for backward, by the name of the operator.
    """

    def __init__(
        self,
        peak_bytes: int,
        peak_us: float,
        before_bytes: int,
        alive: list[Holder],
        saved: dict[str, int],
    ) -> None:
        self.peak_bytes = peak_bytes
        self.peak_us = peak_us
        self.before_bytes = before_bytes
        self.alive = alive
        self.saved = saved

    def __str__(self) -> str:
        lines = [
            f"peak {_format_memory(self.peak_bytes)} after {_format_time(self.peak_us)}; "
            f"of that before the session {_format_memory(self.before_bytes)}\n"
        ]
        if self.alive:
            rows = [("alive at the peak", "bytes", "blocks", "allocated at")]
            for holder in self.alive[:TOP]:
                size = _format_memory(holder.bytes)
                rows.append((holder.op, size, str(holder.blocks), holder.line or "--"))
            lines.append(aligned(rows))
        if self.saved:
            rows2 = [("saved for backward by", "bytes")]
            for name, size_of in list(self.saved.items())[:TOP]:
                rows2.append((name, _format_memory(size_of)))
            lines.append(aligned(rows2))
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Memory peak={_format_memory(self.peak_bytes)} holders={len(self.alive)}>"


def memory(spans: Spans) -> Memory:
    """
    Find the sources of the memory that was alive at the peak.

    Parameters
    ----------
    spans : Spans

    Returns
    -------
    Memory

    Raises
    ------
    ValueError
        If memory was not recorded.
    """
    columns = spans.columns
    if not columns.options.get("profile_memory"):
        raise ValueError("memory: needs a profile with profile_memory=True")
    saved = _saved(spans)
    if not len(columns.mem_time):
        return Memory(0, 0.0, 0, [], saved)
    peak = int(np.argmax(columns.mem_total))
    most = int(columns.mem_total[peak])
    alive = _alive_at(columns, peak)
    holders: dict[tuple[str, str], list[int]] = {}
    for place in alive.tolist():
        op, line = _maker(spans, int(columns.mem_event[place]))
        entry = holders.setdefault((op, line), [0, 0])
        entry[0] += int(columns.mem_bytes[place])
        entry[1] += 1
    rows = [Holder(op, line, *entry) for (op, line), entry in holders.items()]
    rows.sort(key=lambda row: -row.bytes)
    known = sum(row.bytes for row in rows)
    return Memory(most, int(columns.mem_time[peak]) / 1e3, most - known, rows, saved)


def _alive_at(columns: Columns, last: int) -> np.ndarray:
    """The allocations up to `last`, on its device, whose block is not released by then."""
    there = np.flatnonzero(columns.mem_device[: last + 1] == columns.mem_device[last])
    address = columns.mem_address[there]
    # Of each address, the last change tells: blocks come back under the same one.
    order = np.argsort(address, kind="stable")
    final = np.ones(len(order), bool)
    final[:-1] = address[order][1:] != address[order][:-1]
    latest = there[order[final]]
    return np.sort(latest[columns.mem_bytes[latest] > 0])


def _maker(spans: Spans, event: int) -> tuple[str, str]:
    """Operator and line of an event of the columns: the outermost operator around it."""
    if event < 0:
        return OUTSIDE, ""
    place = int(spans.position_of_event[event])
    if spans.scope[place] == 7:
        line = _line(spans, place)
        return OUTSIDE, line
    # Constructors and composites allocate by inner operators; users know the outer one.
    while True:
        above = int(spans.parent[place])
        if above < 0 or spans.scope[above] != 0:
            break
        place = above
    name = spans.names[int(spans.name[place])]
    behind = int(spans.nearest_backward[place])
    if behind >= 0:
        node = spans.names[int(spans.name[behind])].removeprefix(OUTER)
        return f"{short_name(name.removeprefix(OUTER))} in {short_name(node)}", _line(spans, place)
    return short_name(name), _line(spans, place)


def _line(spans: Spans, place: int) -> str:
    index = int(spans.charged("stack")[place])
    stack = spans.columns.stacks[index] if index >= 0 else ()
    return stack[0] if stack else ""


def _saved(spans: Spans) -> dict[str, int]:
    amounts = spans.column("saved")
    sums: dict[str, int] = {}
    for place in np.flatnonzero(amounts).tolist():
        name = short_name(spans.names[int(spans.name[place])].removeprefix(OUTER))
        sums[name] = sums.get(name, 0) + int(amounts[place])
    return dict(sorted(sums.items(), key=lambda item: -item[1]))
