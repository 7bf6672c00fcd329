"""Events and averages as a table of text, in the format of torch."""

from __future__ import annotations

from typing import Any

from autograd_cy.profiler._events import DeviceType, short_name
from autograd_cy.profiler._formats import (
    _format_memory,
    _format_time,
    _format_time_share,
    _in_unit,
)

__all__ = ["render"]

WIDTH = 12
GAP = 2
SCALES = ("", "K", "M", "G", "T")
# What a table can be sorted by, of events and averages.
NUMERIC = (
    "count cpu_time cpu_time_total self_cpu_time_total cpu_memory_usage self_cpu_memory_usage "
    "device_time device_time_total self_device_time_total device_memory_usage "
    "self_device_memory_usage flops bytes_moved saved team id thread sequence_nr "
    "cuda_time cuda_time_total self_cuda_time_total cuda_memory_usage self_cuda_memory_usage"
).split()


class _Column:
    """A column: its head, its width, and whether text stands at the left."""

    def __init__(self, head: str, width: int = WIDTH, left: bool = False) -> None:
        self.head = head
        self.width = width
        self.left = left

    def cell(self, text: str) -> str:
        return text.ljust(self.width) if self.left else text.rjust(self.width)


def render(
    events: Any,
    *,
    sort_by: str | None,
    row_limit: int,
    max_src_column_width: int,
    max_name_column_width: int,
    max_shapes_column_width: int,
    header: str | None,
    top_level_events_only: bool,
    time_unit: str | None,
    short_names: bool,
    rates: bool,
) -> str:
    """The table of a list of events or averages; see `EventList.table`."""
    if len(events) == 0:
        return ""
    rows = list(events) if sort_by is None else _sorted(events, sort_by)
    name_of = (lambda row: short_name(row.key)) if short_names else (lambda row: row.key)
    layout = _Layout(events, rows, name_of, rates)
    layout.widths(max_name_column_width, max_shapes_column_width, max_src_column_width)

    total = events.self_cpu_time_total
    device_total = _device_total(rows) if layout.device else 0

    def shown(time: float) -> str:
        return _format_time(time) if time_unit is None else _in_unit(time, time_unit)

    lines = []
    rule = "  ".join("-" * column.width for column in layout.columns) + " " * GAP
    thick = "=" * (len(rule) - GAP)
    if header is not None:
        lines += [thick, header]
    if top_level_events_only:
        lines += [thick, "This report only display top-level ops statistics"]
    heads = "  ".join(column.cell(column.head) for column in layout.columns) + " " * GAP
    lines += [rule, heads, rule]
    count = 0
    for row in rows:
        if count == row_limit:
            break
        if top_level_events_only and _is_inner(row):
            continue
        count += 1
        lines += layout.lines_of(row, total, device_total, shown)
    lines.append(rule)
    lines.append(f"Self CPU time total: {shown(total)}")
    if layout.device:
        lines.append(f"Self {layout.device} time total: {shown(device_total)}")
    if events._note:
        lines.append(events._note)
    return "\n".join(lines) + "\n"


def _device_total(rows: list) -> float:
    """Return the total time of the kernels; they are counted where they ran, and at what started
    them otherwise."""
    there = [row for row in rows if row.device_type != DeviceType.CPU]
    return sum(row.self_device_time_total for row in there or rows)


def _is_inner(row: Any) -> bool:
    inner = getattr(row, "_inner", None)
    return row.cpu_parent is not None if inner is None else inner


def _sorted(events: Any, sort_by: str) -> list:
    if sort_by not in NUMERIC or not hasattr(events[0], sort_by):
        known = [name for name in NUMERIC if hasattr(events[0], name)]
        raise ValueError(f"table: can't sort by {sort_by!r}; choose one of {', '.join(known)}")
    return sorted(events, key=lambda row: getattr(row, sort_by) or 0, reverse=True)


class _Layout:
    """The columns of a table, and their contents."""

    def __init__(self, events: Any, rows: list, name_of: Any, rates: bool) -> None:
        self.rows = rows
        self.name_of = name_of
        self.memory = events._profile_memory
        self.rates = rates
        self.shapes = any(row.input_shapes for row in rows)
        self.stacks = any(row.stack for row in rows)
        has_device = any(row.self_device_time_total > 0 for row in rows)
        self.device = (events._use_device or "cuda").upper() if has_device else ""
        self.nodes = any(row.node_id != -1 for row in rows)
        flops = [row.flops for row in rows if row.flops and row.flops > 0]
        self.flops = events._with_flops and bool(flops)
        self.scale = 0
        if self.flops:
            while self.scale < len(SCALES) - 1 and max(flops) >= 1000 ** (self.scale + 1):
                self.scale += 1

    def widths(self, most_name: int, most_shapes: int, most_source: int) -> None:
        """Arrange the columns; longer text is cut at these widths."""

        def fitting(texts: Any, most: int) -> int:
            longest = max((len(text) for text in texts), default=0) + 4
            return min(longest, most) if most is not None else longest

        self.name_width = fitting((self.name_of(row) for row in self.rows), most_name)
        self.most_name = most_name
        columns = [_Column("Name", self.name_width)]
        columns += map(
            _Column,
            ("Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"),
        )
        if self.device:
            head = self.device
            columns += map(
                _Column,
                (f"Self {head}", f"Self {head} %", f"{head} total", f"{head} time avg"),
            )
        if self.memory:
            columns += [_Column("CPU Mem"), _Column("Self CPU Mem")]
            if self.device:
                head = self.device
                columns += [_Column(f"{head} Mem"), _Column(f"Self {head} Mem")]
        columns.append(_Column("# of Calls"))
        if self.nodes:
            columns.append(_Column("Node ID"))
        if self.shapes:
            texts = (str(row.input_shapes) for row in self.rows)
            self.shapes_width = fitting(texts, most_shapes)
            columns.append(_Column("Input Shapes", self.shapes_width))
        if self.stacks:
            frames = (frame for row in self.rows for frame in row.stack or ())
            self.source_width = fitting(frames, most_source)
            columns.append(_Column("Source Location", self.source_width, left=True))
        if self.flops:
            columns.append(_Column(f"Total {SCALES[self.scale]}FLOPs"))
        if self.rates:
            columns += map(_Column, ("GFLOP/s", "GB/s", "Threads"))
        self.columns = columns

    def lines_of(self, row: Any, total: float, device_total: float, shown: Any) -> list[str]:
        """The lines of one row; a stack needs several."""
        name = self.name_of(row)
        if self.most_name is not None and len(name) >= self.most_name - 3:
            name = name[: self.most_name - 3] + "..."
        share = "0" if row.is_async else _format_time_share(row.cpu_time_total, total)
        cells = [
            name,
            _format_time_share(row.self_cpu_time_total, total),
            shown(row.self_cpu_time_total),
            share,
            shown(row.cpu_time_total),
            shown(row.cpu_time),
        ]
        if self.device:
            cells += [
                shown(row.self_device_time_total),
                _format_time_share(row.self_device_time_total, device_total),
                shown(row.device_time_total),
                shown(row.device_time),
            ]
        if self.memory:
            cells += [
                _format_memory(row.cpu_memory_usage),
                _format_memory(row.self_cpu_memory_usage),
            ]
            if self.device:
                cells += [
                    _format_memory(row.device_memory_usage),
                    _format_memory(row.self_device_memory_usage),
                ]
        cells.append(str(row.count))
        if self.nodes:
            cells.append(str(row.node_id))
        if self.shapes:
            cells.append(str(row.input_shapes)[: self.shapes_width])
        stack = []
        if self.stacks:
            stack = [_end_of(frame, self.source_width) for frame in row.stack or ()]
            cells.append(stack[0] if stack else "")
        if self.flops:
            known = row.flops and row.flops > 0
            cells.append(f"{row.flops / 1000**self.scale:.3f}" if known else "--")
        if self.rates:
            cells += self._rates(row)
        lines = [self._line(cells)]
        if self.stacks:
            place = [column.head for column in self.columns].index("Source Location")
            for frame in [*stack[1:], ""]:
                lines.append(self._line([""] * place + [frame] + [""] * (len(cells) - place - 1)))
        return lines

    @staticmethod
    def _rates(row: Any) -> list[str]:
        """Operations and bytes of all calls over the time of all calls."""
        time_us = row.cpu_time_total

        def rate(amount: int) -> str:
            return f"{amount / time_us / 1e3:.3f}" if amount and time_us > 0 else "--"

        return [rate(row.flops or 0), rate(row.bytes_moved), str(row.team)]

    def _line(self, cells: list[str]) -> str:
        joined = "  ".join(column.cell(text) for column, text in zip(self.columns, cells))
        return joined + " " * GAP


def _end_of(frame: str, width: int) -> str:
    return frame if len(frame) <= width else "..." + frame[len(frame) - width + 3 :]
