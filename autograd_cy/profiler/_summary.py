"""One screen that answers: where did the time go?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from autograd_cy.profiler._averages import averages_of
from autograd_cy.profiler._columns import LABEL
from autograd_cy.profiler._events import FunctionEvent, short_name
from autograd_cy.profiler._formats import _format_memory, _format_time
from autograd_cy.profiler._groups import aligned
from autograd_cy.profiler._spans import OUTER, Spans

__all__ = ["SHORT_NS", "summary"]

# Below this, an event is mostly the cost of calling it.
SHORT_NS = 2000
TOP = 10
LOADER = "enumerate(DataLoader)#"


def summary(spans: Spans, event_at: Callable[[int], FunctionEvent] | None = None) -> str:
    """The text of `prof.summary()`."""
    columns = spans.columns
    work = (spans.scope != LABEL) & (spans.source < spans.recorded)
    # Labels hold Python's time; what lies in operators is what they cost.
    busy = spans.self_time[work].sum() / 1e3
    behind = spans.nearest_backward >= 0
    back = spans.self_time[work & behind].sum() / 1e3
    wall = max(columns.wall_ns / 1e3, 0.0)
    threads = len(np.unique(spans.thread)) if len(spans) else 0
    lines = [f"wall time          {_format_time(wall)}"]
    lines.append(f"in operators       {_share(busy, wall)}")
    lines.append(f"  in backward      {_share(back, wall)}")
    if threads <= 1:
        lines.append(f"outside (Python)   {_share(max(wall - busy, 0.0), wall)}")
    else:
        lines.append(f"threads            {threads}, whose times add up")
    loading = [k for k, name in enumerate(spans.names) if name.startswith(LOADER)]
    if loading:
        waited = spans.self_time[np.isin(spans.name, loading)].sum() / 1e3
        lines.append(f"  in DataLoader    {_share(waited, wall)}")
    lines.append(f"events             {int(work.sum()):,}")
    failed = int(columns.failed.sum())
    if failed:
        lines.append(f"failed             {failed:,} (left by an exception)")
    open_ones = int(columns.unfinished.sum())
    if open_ones:
        lines.append(f"unfinished         {open_ones:,} (open when the session ended)")
    if columns.dropped:
        lines.append(f"dropped            {columns.dropped:,} (raise max_events)")
    if len(columns.mem_time):
        lines.append(f"allocation peak    {_format_memory(int(columns.mem_total.max()))}")
    text = "\n".join(lines) + "\n"
    rows = [row for row in averages_of(spans, event_at=event_at) if row.scope != LABEL]
    rows.sort(key=lambda row: -row.self_cpu_time_total)
    if rows and busy:
        table = [("top by self time", "self", "share", "calls", "mean")]
        for row in rows[:TOP]:
            if row.self_cpu_time_total <= 0:
                continue
            name = row.key or ""
            name = f"{short_name(name)} (engine)" if name.startswith(OUTER) else row.op
            table.append(
                (
                    name,
                    _format_time(row.self_cpu_time_total),
                    f"{100 * row.self_cpu_time_total / busy:.1f} %",
                    f"{row.count:,}",
                    _format_time(row.self_cpu_time_total / row.count),
                )
            )
        text += "\n" + aligned(table)
    short = int((spans.total[work] < SHORT_NS).sum())
    if work.sum() >= TOP and short > 0.5 * work.sum():
        text += (
            f"\nHint: {100 * short / work.sum():.0f} % of the events are shorter than "
            f"{SHORT_NS // 1000} us, so the cost of calling operators rules.\n"
            "      Larger batches, fused operators (linear, addmm) or vmap do more per call.\n"
        )
    return text


def _share(part: float, whole: float) -> str:
    return f"{_format_time(part)}" + (f" ({100 * part / whole:.1f} %)" if whole else "")
