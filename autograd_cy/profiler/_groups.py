"""Forward and backward side by side: what an operator, a line, a layer costs in all."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from autograd_cy.profiler._columns import LABEL
from autograd_cy.profiler._events import FunctionEvent, short_name
from autograd_cy.profiler._formats import _format_memory, _format_time
from autograd_cy.profiler._spans import OUTER, Spans

__all__ = ["BY", "Group", "Groups", "group", "keys_of"]

BY = ("op", "shape", "line", "module", "label", "thread")
NONE = "(none)"


class Group(NamedTuple):
    """
    The totals of one key: microseconds, calls of operators, bytes.

    Times are self times of operators and nodes, so that the rows add up. Time in backward is that
    of the nodes which the forward operators of the key made.
    """

    key: Any
    forward: float
    backward: float
    total: float
    calls: int
    allocated: int
    saved: int


class Groups(list):
    """
    Groups, the most expensive first; its text is a table.

    Parameters
    ----------
    rows : list of Group
    by : str
        What the keys are.
    """

    def __init__(self, rows: list[Group], by: str) -> None:
        super().__init__(rows)
        self.by = by

    def table(self, row_limit: int = 100, max_key_column_width: int = 80) -> str:
        """
        Return the groups as a table.

        Parameters
        ----------
        row_limit : int, default 100
            Rows to show; -1 for all.
        max_key_column_width : int, default 80
            Longer keys are cut; of lines the end is shown, with the number.

        Returns
        -------
        str
        """
        if not self:
            return ""
        rows: list[tuple[str, ...]] = [(self.by, *Group._fields[1:], "share")]
        whole = sum(row.total for row in self)
        shown = self if row_limit < 0 else self[:row_limit]
        for row in shown:
            times = (_format_time(t) if t else "--" for t in (row.forward, row.backward, row.total))
            sizes = (_format_memory(n) if n else "--" for n in (row.allocated, row.saved))
            share = f"{100 * row.total / whole:.1f} %" if whole else "--"
            key = shortened(str(row.key), max_key_column_width, self.by == "line")
            rows.append((key, *times, str(row.calls), *sizes, share))
        return aligned(rows) + (
            f"{len(self) - len(shown)} more rows\n" if len(shown) < len(self) else ""
        )

    def __str__(self) -> str:
        return self.table()


def shortened(text: str, width: int, keep_end: bool = False) -> str:
    """Return a text of at most so many characters."""
    if len(text) <= width:
        return text
    length = max(width - 3, 1)
    return "..." + text[-length:] if keep_end else text[:length] + "..."


def aligned(rows: Sequence[tuple[str, ...]]) -> str:
    """Rows of text as a table with a line under its head; the first column stands at the left."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:]))])
        for row in rows
    ]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(line.rstrip() for line in lines) + "\n"


def group(
    spans: Spans,
    by: str | Callable[[FunctionEvent], Hashable],
    events: Callable[[], list[FunctionEvent]] | None = None,
) -> Groups:
    """
    Return the sums over the events of one key, with backward beside the forward that caused it.

    Parameters
    ----------
    spans : Spans
    by : {"op", "shape", "line", "module", "label", "thread"} or callable
        A function is given each event and returns its key.
    events : callable, optional
        Makes the objects that a function needs.

    Returns
    -------
    Groups

    Raises
    ------
    ValueError
        If `by` is something else, or needs what was not recorded.
    """
    if not len(spans):
        return Groups([], by if isinstance(by, str) else "key")
    code, keys = keys_of(spans, by, events)
    # Threads are where work was done; everything else, what caused it.
    cause = np.arange(len(spans)) if by == "thread" else spans.home
    code = code[cause]
    behind = spans.nearest_backward >= 0
    own = spans.self_time / 1e3
    if isinstance(by, str) and by != "label":
        # In labels themselves, Python runs: that is no line's and no layer's cost.
        own = np.where(spans.scope == LABEL, 0.0, own)
    count = len(keys)
    forward = np.bincount(code, np.where(behind, 0.0, own), count)
    backward = np.bincount(code, np.where(behind, own, 0.0), count)
    allocated = np.bincount(code, spans.allocated, count).astype(np.int64)
    saved = np.bincount(code, spans.column("saved"), count).astype(np.int64)
    calls = np.bincount(code[_calls(spans, code, behind)], minlength=count)
    there = np.bincount(code, minlength=count) > 0
    rows = [
        Group(keys[k], f, b, f + b, c, a, s)
        for k, f, b, c, a, s, is_there in zip(
            range(count),
            forward.tolist(),
            backward.tolist(),
            calls.tolist(),
            allocated.tolist(),
            saved.tolist(),
            there.tolist(),
        )
        if is_there and (f or b or c or a or s)
    ]
    rows.sort(key=lambda row: -row.total)
    return Groups(rows, by if isinstance(by, str) else "key")


def _calls(spans: Spans, code: np.ndarray, behind: np.ndarray) -> np.ndarray:
    """Operators of forward that lie in no operator of their own group; of others, the nodes."""
    operator = spans.operator & ~behind
    parent = spans.parent
    inner = operator & (parent >= 0)
    inner[inner] = operator[parent[inner]] & (code[parent[inner]] == code[inner])
    first = spans.nearest_backward == np.arange(len(spans))
    alone = first & (spans.forward_of < 0)
    return (operator & ~inner) | alone


def keys_of(
    spans: Spans,
    by: str | Callable[[FunctionEvent], Hashable],
    events: Callable[[], list[FunctionEvent]] | None = None,
) -> tuple[np.ndarray, list]:
    """Return the number of the key of each event, and the keys."""
    if callable(by):
        all_events = spans.events() if events is None else events()
        numbers: dict[Hashable, int] = {}
        which = [numbers.setdefault(by(event), len(numbers)) for event in all_events]
        return np.array(which, np.int64), list(numbers)
    if by not in BY:
        raise ValueError(f"group: by must be one of {', '.join(BY)} or a function, not {by!r}")
    columns = spans.columns
    if by == "op":
        return _by_name(spans)
    if by == "shape":
        _needs(columns.options, "record_shapes", by)
        return _by_shape(spans)
    if by == "line":
        _needs(columns.options, "with_stack", by)
        lines = [stack[0] if stack else NONE for stack in columns.stacks]
        return _by_table(spans.cached_column("stack", -1), lines)
    if by == "module":
        _needs(columns.options, "with_modules", by)
        return _by_table(spans.cached_column("module", -1), columns.modules)
    if by == "label":
        around = spans.innermost(spans.scope == LABEL)
        code = np.where(around >= 0, spans.name[around], len(spans.names))
        return code, [*spans.names, NONE]
    return spans.thread.astype(np.int64), [
        f"thread {k}" for k in range(int(spans.thread.max()) + 1)
    ]


def _needs(options: dict, name: str, by: str) -> None:
    if not options.get(name):
        raise ValueError(f"group: by={by!r} needs a profile with {name}=True")


def _by_name(spans: Spans) -> tuple[np.ndarray, list]:
    names = [short_name(name.removeprefix(OUTER)) for name in spans.names]
    return _by_table(spans.name.astype(np.int64), names)


def _by_shape(spans: Spans) -> tuple[np.ndarray, list]:
    code, names = _by_name(spans)
    texts = [str(entry[0]) for entry in spans.columns.shapes]
    shape, shapes = _by_table(spans.cached_column("shape", -1), texts)
    joined, which = np.unique(code * len(shapes) + shape, return_inverse=True)
    keys = []
    for one in joined.tolist():
        name, sizes = names[one // len(shapes)], shapes[one % len(shapes)]
        keys.append(name if sizes == NONE else f"{name} {sizes}")
    return which.reshape(-1), keys


def _by_table(index: np.ndarray, texts: list[str]) -> tuple[np.ndarray, list]:
    """Equal texts have one number; what has no text is the last one."""
    numbers: dict[str, int] = {}
    same = np.array([numbers.setdefault(text, len(numbers)) for text in [*texts, NONE]], np.int64)
    return same[index], list(numbers)
