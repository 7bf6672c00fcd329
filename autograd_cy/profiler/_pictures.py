"""Timeline and memory as pictures, with matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_cy.profiler._columns import LABEL
from autograd_cy.profiler._events import short_name
from autograd_cy.profiler._formats import _format_memory, _memory_unit
from autograd_cy.profiler._memory import memory
from autograd_cy.profiler._spans import OUTER, Spans
from autograd_cy.profiler._stacks import BACKWARD, FORWARD
from autograd_cy.profiler._stacks import LABEL as LABEL_COLOR

__all__ = ["plot_memory", "plot_timeline"]

MOST_BARS = 20_000
NAMED = 0.03  # bars of this part of the width have their name on them


def _axes(ax: Any, size: tuple[float, float]) -> Any:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError(
            "plotting needs matplotlib: pip install matplotlib (or autograd_cy[train]); "
            "export_flamegraph and export_chrome_trace need nothing"
        ) from None
    return pyplot.subplots(figsize=size, layout="constrained")[1]


def plot_timeline(spans: Spans, ax: Any = None, thread: int | None = None) -> Any:
    """
    Bars of all events over time: nested ones below, threads below each other.

    Parameters
    ----------
    spans : Spans
    ax : matplotlib axes, optional
        Made if not given.
    thread : int, optional
        Only this thread.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ValueError
        If there is no such thread.
    """
    there = np.unique(spans.thread).tolist()
    if thread is not None and thread not in there:
        raise ValueError(f"plot_timeline: no events of thread {thread}; there are {there}")
    threads = there if thread is None else [thread]
    rows = sum(1 + int(spans.depth[spans.thread == one].max(initial=0)) for one in threads)
    ax = _axes(ax, (12, min(1.6 + 0.32 * max(rows, 3), 9)))
    from matplotlib.collections import PolyCollection
    from matplotlib.patches import Patch

    chosen = np.isin(spans.thread, threads)
    first = int(spans.start[chosen].min(initial=2**62)) if chosen.any() else 0
    last = int(spans.end[chosen].max(initial=0)) if chosen.any() else 1
    scale, unit = (1e6, "ms") if last - first >= 2_000_000 else (1e3, "us")
    span = max((last - first) / scale, 1e-9)
    top, ticks = 0.0, []
    for one in threads:
        where = np.flatnonzero(spans.thread == one)
        if len(where) > MOST_BARS:  # the longest are what can be seen
            where = np.sort(where[np.argsort(-spans.total[where])[:MOST_BARS]])
        depth = spans.depth[where]
        left = (spans.start[where] - first) / scale
        width = np.maximum(spans.total[where] / scale, span / 4000)
        low = -(top + depth) - 0.9
        corners = np.stack(
            [
                np.stack([left, low], 1),
                np.stack([left + width, low], 1),
                np.stack([left + width, low + 0.85], 1),
                np.stack([left, low + 0.85], 1),
            ],
            axis=1,
        )
        colors = [_color(spans, place) for place in where.tolist()]
        ax.add_collection(
            PolyCollection(list(corners), facecolors=colors, edgecolors="white", linewidths=0.3)
        )
        for k in np.flatnonzero(width >= NAMED * span).tolist():
            name = _name(spans, int(where[k]))
            letters = int(width[k] / span * 160)
            text = name if len(name) <= letters else name[: letters - 2] + ".."
            ax.text(
                left[k] + span * 0.002, low[k] + 0.42, text, va="center", fontsize=7, clip_on=True
            )
        height = 1 + int(depth.max(initial=0))
        ticks.append((-(top + height / 2), f"thread {one}"))
        top += height + 0.5
    ax.set_xlim(0, span)
    ax.set_ylim(-top, 0.3)
    ax.set_yticks([y for y, _ in ticks], [text for _, text in ticks])
    ax.set_xlabel(f"time in {unit}")
    ax.legend(
        handles=[
            Patch(color=FORWARD, label="forward"),
            Patch(color=BACKWARD, label="backward"),
            Patch(color=LABEL_COLOR, label="label"),
        ],
        ncols=3,
        loc="lower right",
        bbox_to_anchor=(1, 1),
        frameon=False,
        fontsize=8,
        borderaxespad=0,
    )
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.tick_params(left=False)
    return ax


def _color(spans: Spans, place: int) -> str:
    if spans.scope[place] == LABEL:
        return LABEL_COLOR
    return BACKWARD if spans.nearest_backward[place] >= 0 else FORWARD


def _name(spans: Spans, place: int) -> str:
    own = int(spans.cached_column("name", -1)[place])  # with the number of a step
    name = spans.columns.names[own] if own >= 0 else spans.names[int(spans.name[place])]
    if name.startswith("Optimizer."):  # "Optimizer.step#SGD.step": room is short
        name = name.partition("#")[2] or name
    return short_name(name.removeprefix(OUTER))


def plot_memory(spans: Spans, ax: Any = None) -> Any:
    """
    Allocated bytes over time, with the peak and who held it.

    Parameters
    ----------
    spans : Spans
    ax : matplotlib axes, optional
        Made if not given.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ValueError
        If memory was not recorded.
    """
    use = memory(spans)
    ax = _axes(ax, (9, 4))
    columns = spans.columns
    if not len(columns.mem_time):
        ax.set_title("nothing was allocated")
        return ax
    most = use.peak_bytes
    scale, unit = _memory_unit(most)
    of_peak = columns.mem_device == columns.mem_device[int(np.argmax(columns.mem_total))]
    times, totals = columns.mem_time[of_peak], columns.mem_total[of_peak]
    time = np.append(times, max(columns.wall_ns, int(times[-1]))) / 1e6
    held = np.append(totals, totals[-1]) / scale
    ax.fill_between(time, held, step="post", color=BACKWARD, alpha=0.35, linewidth=0)
    ax.step(time, held, where="post", color=BACKWARD, linewidth=1)
    at = use.peak_us / 1e3
    ax.plot([at], [most / scale], "o", color=FORWARD)
    rows = [f"{_format_memory(row.bytes)} {row.op}" for row in use.alive[:3]]
    right = at > time[-1] / 2
    ax.annotate(
        "\n".join([f"peak {_format_memory(most)}", *rows]),
        (at, most / scale),
        xytext=(-8 if right else 8, 6),
        textcoords="offset points",
        ha="right" if right else "left",
        va="bottom",
        fontsize=8,
    ).set_in_layout(False)
    ax.set_xlim(0, time[-1])
    ax.set_ylim(0, most / scale * 1.4)
    ax.set_xlabel("time in ms")
    ax.set_ylabel(f"allocated {unit}")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax
