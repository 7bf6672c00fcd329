"""Folded stacks of a session, and the flame graph drawn from them: SVG without dependencies."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np

from autograd_cy.profiler._columns import LABEL as LABEL_SCOPE
from autograd_cy.profiler._events import short_name
from autograd_cy.profiler._formats import _format_memory, _format_time
from autograd_cy.profiler._spans import Spans

__all__ = [
    "METRICS",
    "flamegraph",
    "folded",
    "folded_line",
    "write_flamegraph",
    "write_folded",
    "write_stacks",
]

METRICS = tuple(f"self_{device}_time_total" for device in ("cpu", "cuda", "xpu", "privateuse1"))
_BLANKS = str.maketrans(" ;\t\n\r", "_____")
# What no XML may hold, and halves of surrogate pairs, which no UTF-8 may hold.
_UNWRITABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]")

# The picture, in pixels.
WIDTH, ROW, MARGIN, TOP = 1200, 20, 10, 46
NARROWEST = 0.4  # what is less wide is left out
LETTER = 6.6  # of the font below
FORWARD, BACKWARD, FRAME, LABEL = "#f2a541", "#5b8fd6", "#d9d4c8", "#8fbf7f"


def folded(spans: Spans) -> dict[str, int]:
    """Self times by place in the program, root first, in nanoseconds."""
    columns = spans.columns
    index = spans.charged("stack")
    there = index >= 0
    sums = np.bincount(index[there], spans.self_time[there], len(columns.stacks))
    times: dict[str, int] = {}
    for stack, time in zip(columns.stacks, sums.tolist()):
        if stack:
            line = folded_line(stack)
            times[line] = times.get(line, 0) + int(time)
    return times


def folded_line(stack: Sequence[str]) -> str:
    """A stack, innermost first, as a line of folded stacks has it."""
    line = ";".join(frame.translate(_BLANKS) for frame in reversed(stack))
    return _UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", line)


def write_folded(path: str | Path, sums: Mapping[str, int]) -> None:
    """Write sums by line, given in nanoseconds, in whole microseconds; less is left out."""
    with open(path, "w", encoding="utf-8") as file:
        for line, time in sums.items():
            if time >= 1000:
                file.write(f"{line} {time // 1000}\n")


def write_stacks(path: str | Path, spans: Spans, metric: str) -> None:
    """
    Write folded stacks, the input of flame graphs.

    Parameters
    ----------
    path : str or Path
    spans : Spans
    metric : str
        One of `METRICS`.

    Raises
    ------
    ValueError
        If the metric is another.
    """
    if metric not in METRICS:
        raise ValueError(f"metric should be one of: {list(METRICS)}")
    write_folded(path, folded(spans) if metric == METRICS[0] else {})


class _Box:
    """A rectangle of the flame graph and what stands on it."""

    __slots__ = ("above", "backward", "kind", "name", "value")

    def __init__(self, name: str, kind: str) -> None:
        self.name = name
        self.kind = kind
        self.value = 0.0
        self.backward = 0.0
        self.above: dict[tuple[str, str], _Box] = {}

    def child(self, name: str, kind: str) -> _Box:
        return self.above.setdefault((name, kind), _Box(name, kind))


def flamegraph(spans: Spans, by: str = "time") -> str:
    """
    The flame graph as SVG.

    Parameters
    ----------
    spans : Spans
    by : {"time", "bytes"}
        Self time, or bytes allocated.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If `by` is something else.
    """
    if by not in ("time", "bytes"):
        raise ValueError(f"export_flamegraph: by must be 'time' or 'bytes', not {by!r}")
    amounts = spans.self_time / 1e3 if by == "time" else spans.allocated
    root = _boxes(spans, amounts)
    shown: Callable[[float], str] = _format_time
    if by == "bytes":
        shown = lambda value: _format_memory(int(value))  # noqa: E731
    return _drawn(
        root, shown, "time in operators and labels" if by == "time" else "bytes allocated"
    )


def write_flamegraph(path: str | Path, spans: Spans, by: str = "time") -> None:
    """Write what `flamegraph` gives to a file."""
    Path(path).write_text(flamegraph(spans, by), encoding="utf-8")


def _boxes(spans: Spans, amounts: np.ndarray) -> _Box:
    """Frames of the program, and on them the events that lie in each other."""
    columns = spans.columns
    root = _Box("all", "frame")
    behind = spans.nearest_backward
    parent = spans.parent
    # Frames stand between an operator and what is no operator: a label, or the root.
    outermost = (parent < 0) | (spans.scope[parent] == LABEL_SCOPE)
    stack = np.where(outermost, spans.charged("stack"), -1)
    charged = spans.charged("stack")
    # One box for all events of one path: a path is the parent's path and the name.
    names = [short_name(name) for name in spans.names]
    merged = _paths(spans, stack)
    examples: dict[int, _Box] = {}
    sums = np.bincount(merged, amounts)
    back = np.bincount(merged, np.where(behind >= 0, amounts, 0))
    first = np.full(len(sums), len(spans), np.int64)
    np.minimum.at(first, merged, np.arange(len(spans)))
    for place in np.sort(first[first < len(spans)]).tolist():
        path = int(merged[place])
        above = int(parent[place])
        base = examples[int(merged[above])] if above >= 0 else root
        if stack[place] >= 0:
            around = columns.stacks[charged[above]] if above >= 0 and charged[above] >= 0 else ()
            base = _frames(base, columns.stacks[stack[place]], around)
        kind = (
            "label"
            if spans.scope[place] == LABEL_SCOPE
            else ("back" if behind[place] >= 0 else "op")
        )
        name = names[spans.name[place]]
        # The engine's event of a node and the node's own are one box.
        same = kind == base.kind == "back" and name == base.name
        box = base if same else base.child(name, kind)
        examples[path] = box
        box.value += sums[path]
        box.backward += back[path]
    _add_up(root)
    return root


def _frames(root: _Box, stack: tuple[str, ...], around: tuple[str, ...]) -> _Box:
    """The box of a place in the program, over those of the label's own place."""
    same = 0
    for one, other in zip(reversed(stack), reversed(around)):
        if one != other:
            break
        same += 1
    for frame in stack[::-1][same:]:
        root = root.child(frame, "frame")
    return root


def _paths(spans: Spans, stack: np.ndarray) -> np.ndarray:
    """A number for each path of names from the root, which equal paths share."""
    places = len(spans.columns.stacks) + 1
    own = spans.name.astype(np.int64) * places + stack + 1
    path = np.empty(len(spans), np.int64)
    number = 0
    for these in [np.flatnonzero(spans.parent < 0), *spans.levels()]:
        above = np.where(spans.parent[these] < 0, 0, path[spans.parent[these]])
        code = above * (len(spans.names) * places) + own[these]
        numbers = np.unique(code, return_inverse=True)[1].reshape(-1)
        path[these] = number + numbers
        number += int(numbers.max(initial=-1)) + 1
    return path


def _add_up(root: _Box) -> None:
    order = [root]
    for box in order:
        order.extend(box.above.values())
    for box in reversed(order):
        for child in box.above.values():
            box.value += child.value
            box.backward += child.backward


def _drawn(root: _Box, shown: Callable[[float], str], title: str) -> str:
    total = root.value or 1.0
    scale = (WIDTH - 2 * MARGIN) / total
    shapes: list[str] = []
    deepest = 0
    work: list[tuple[_Box, float, int]] = [(root, float(MARGIN), 0)]
    while work:
        box, left, level = work.pop()
        width = box.value * scale
        if width < NARROWEST:
            continue
        deepest = max(deepest, level)
        shapes.append(_rectangle(box, left, level, width, root.value, shown))
        # The widest stands first: what matters is found at the left.
        for child in sorted(box.above.values(), key=lambda child: -child.value):
            work.append((child, left, level + 1))
            left += child.value * scale
    height = TOP + (deepest + 1) * ROW + MARGIN
    legend = "".join(
        f'<rect x="{x}" y="26" width="12" height="12" fill="{color}"/>'
        f'<text x="{x + 17}" y="36">{text}</text>'
        for x, color, text in (
            (MARGIN, FORWARD, "forward"),
            (MARGIN + 100, BACKWARD, "backward"),
            (MARGIN + 210, LABEL, "label"),
            (MARGIN + 290, FRAME, "line of the program"),
        )
    )
    amount = shown(root.value)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" font-family="monospace" font-size="11">\n'
        "<style>g rect {stroke: #ffffff; stroke-width: 0.8}</style>\n"
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>\n'
        f'<text x="{MARGIN}" y="17" font-size="14">{_text(title)}: {_text(amount)}</text>\n'
        f"{legend}\n" + "\n".join(shapes) + "\n</svg>\n"
    )


def _rectangle(
    box: _Box, left: float, level: int, width: float, total: float, shown: Callable[[float], str]
) -> str:
    color = {"op": FORWARD, "back": BACKWARD, "frame": FRAME, "label": LABEL}[box.kind]
    y = TOP + level * ROW
    share = 100 * box.value / total if total else 0.0
    tip = f"{box.name}: {shown(box.value)}, {share:.1f} %"
    if box.kind in ("frame", "label") and box.backward:
        tip += f", of which backward {shown(box.backward)}"
    letters = int((width - 6) / LETTER)
    text = ""
    if letters >= 3:
        name = box.name if len(box.name) <= letters else _cut(box, letters)
        text = f'<text x="{left + 3:.1f}" y="{y + 14}">{_text(name)}</text>'
    return (
        f'<g><title>{_text(tip)}</title><rect x="{left:.2f}" y="{y}" '
        f'width="{max(width - 0.5, 0.3):.2f}" height="{ROW - 1}" fill="{color}" rx="2"/>{text}</g>'
    )


def _text(text: str) -> str:
    return escape(_UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", text))


def _cut(box: _Box, letters: int) -> str:
    """Shorten a text: of a line of the program keep the function and the number, of a name the
    begin."""
    name = box.name
    match = re.fullmatch(r"(.*/)?([^/]*)\((\d+)\): (.*)", name) if box.kind == "frame" else None
    if match is not None:
        _, file, line, function = match.groups()
        for text in (f"{file}({line}): {function}", f"{function} ({line})", f"({line})"):
            if len(text) <= letters:
                return text
        name = function
    return name[: letters - 2] + ".."
