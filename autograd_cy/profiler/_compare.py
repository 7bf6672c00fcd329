"""Two runs side by side."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from autograd_cy.profiler._formats import _format_time
from autograd_cy.profiler._groups import aligned, keys_of, shortened
from autograd_cy.profiler._spans import Spans

__all__ = ["Change", "Changes", "compare"]


class Change(NamedTuple):
    """Self times of one key in microseconds, their ratio (after over before), and counts."""

    key: Any
    before: float
    after: float
    ratio: float
    count_before: int
    count_after: int


class Changes(list):
    """
    Changes, the largest difference first; its text is a table.

    Parameters
    ----------
    rows : list of Change
    by : str
    """

    def __init__(self, rows: list[Change], by: str) -> None:
        super().__init__(rows)
        self.by = by

    def table(self, row_limit: int = 100, max_key_column_width: int = 80) -> str:
        """
        Return the changes as a table; counts that differ are marked with ``*``.

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
        rows: list[tuple[str, ...]] = [(self.by, "before", "after", "ratio", "calls")]
        for row in self if row_limit < 0 else self[:row_limit]:
            key = shortened(str(row.key), max_key_column_width, self.by == "line")
            rows.append(_cells(row._replace(key=key)))
        before, after = sum(row.before for row in self), sum(row.after for row in self)
        counts = sum(row.count_before for row in self), sum(row.count_after for row in self)
        rows.append(_cells(Change("total", before, after, _ratio(before, after), *counts)))
        return aligned(rows)

    def __str__(self) -> str:
        return self.table()


def _cells(row: Change) -> tuple[str, ...]:
    ratio = f"{row.ratio:.2f}" if np.isfinite(row.ratio) else "new"
    if row.count_after == 0:
        ratio = "gone"
    same = row.count_before == row.count_after
    calls = f"{row.count_before}" if same else f"{row.count_before} -> {row.count_after} *"
    return str(row.key), _format_time(row.before), _format_time(row.after), ratio, calls


def _ratio(before: float, after: float) -> float:
    return after / before if before else (1.0 if not after else float("inf"))


def compare(before: Spans, after: Spans, by: str = "op") -> Changes:
    """
    Self times of two sessions by operator or line.

    Parameters
    ----------
    before, after : Spans
    by : str
        As for `group`.

    Returns
    -------
    Changes
    """
    sums: dict[Any, list] = {}
    for side, spans in enumerate((before, after)):
        if not len(spans):
            continue
        code, keys = keys_of(spans, by)
        times = np.bincount(code, spans.self_time / 1e3, len(keys))
        counts = np.bincount(code, minlength=len(keys))
        for k in np.flatnonzero(counts).tolist():
            entry = sums.setdefault(keys[k], [0.0, 0.0, 0, 0])
            entry[side] += float(times[k])
            entry[2 + side] += int(counts[k])
    rows = [
        Change(key, one, two, _ratio(one, two), *counts)
        for key, (one, two, *counts) in sums.items()
    ]
    rows.sort(key=lambda row: -abs(row.after - row.before))
    return Changes(rows, by)
