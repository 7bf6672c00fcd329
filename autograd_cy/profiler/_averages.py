"""Sums over events of one kind, from objects or straight from columns; lists of either."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from autograd_cy.profiler._columns import Columns
from autograd_cy.profiler._events import (
    DeviceType,
    FunctionEvent,
    build_tree,
    merge_alone,
    short_name,
)
from autograd_cy.profiler._formats import FormattedTimesMixin
from autograd_cy.profiler._spans import Spans, flat_size

__all__ = ["EventList", "FunctionEventAvg", "averages_of", "total_of"]


class FunctionEventAvg(FormattedTimesMixin):
    """
    Sums over events of one key, and means per call.

    Examples
    --------
    >>> from autograd_cy.autograd.profiler_util import FunctionEvent, FunctionEventAvg
    >>> average = FunctionEventAvg()
    >>> average += FunctionEvent(0, "aten::mul", 1, 0.0, 3.0)
    >>> average += FunctionEvent(1, "aten::mul", 1, 5.0, 6.0)
    >>> average.key, average.count, average.cpu_time
    ('aten::mul', 2, 2.0)
    """

    def __init__(self) -> None:
        self.key: str | None = None
        self.count: int = 0
        self.node_id: int = 0
        self.is_async: bool = False
        self.is_remote: bool = False
        self.use_device: str | None = None
        self.cpu_time_total: float = 0
        self.device_time_total: float = 0
        self.self_cpu_time_total: float = 0
        self.self_device_time_total: float = 0
        self.input_shapes: Any = None
        self.overload_name: str | None = None
        self.stack: list[str] | None = None
        self.scope: int | None = None
        self.cpu_memory_usage: int = 0
        self.device_memory_usage: int = 0
        self.self_cpu_memory_usage: int = 0
        self.self_device_memory_usage: int = 0
        self.device_type: Any = DeviceType.CPU
        self.is_legacy: bool = False
        self.is_user_annotation: bool = False
        self.flops: int = 0
        # Beyond torch.
        self.bytes_moved: int = 0
        self.team: int = 1
        self.failed: int = 0
        self._first: FunctionEvent | Callable[[], FunctionEvent] | None = None
        self._inner: bool = False

    @property
    def name(self) -> str | None:
        """The key."""
        return self.key

    @property
    def op(self) -> str:
        """The bare name, without the prefix of its package."""
        return short_name(self.key or "")

    def _example(self) -> FunctionEvent | None:
        if callable(self._first):
            self._first = self._first()
        return self._first

    @property
    def cpu_parent(self) -> FunctionEvent | None:
        """The parent of the first event of the key."""
        first = self._example()
        return None if first is None else first.cpu_parent

    @property
    def cpu_children(self) -> list[FunctionEvent] | None:
        """The children of the first event of the key."""
        first = self._example()
        return None if first is None else first.cpu_children

    def add(self, other: FunctionEvent | FunctionEventAvg) -> FunctionEventAvg:
        """
        Add an event, or the sums of another average, which may be this one.

        Parameters
        ----------
        other : FunctionEvent or FunctionEventAvg

        Returns
        -------
        FunctionEventAvg
            The object itself.

        Raises
        ------
        AssertionError
            If the key is another, or `other` is something else.
        """
        if not isinstance(other, (FunctionEvent, FunctionEventAvg)):
            raise AssertionError("Expected other to be a FunctionEvent or FunctionEventAvg")
        if self.key is None:
            self.key = other.key
            self._take_first(other)
        elif other.key != self.key:
            raise AssertionError(f"Expected keys to match, but got {other.key} vs {self.key}")
        for name in (
            "cpu_time_total",
            "device_time_total",
            "self_cpu_time_total",
            "self_device_time_total",
            "cpu_memory_usage",
            "device_memory_usage",
            "self_cpu_memory_usage",
            "self_device_memory_usage",
            "bytes_moved",
            "failed",
            "count",
        ):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.flops += other.flops or 0
        self.team = max(self.team, other.team)
        return self

    __iadd__ = add

    def _take_first(self, other: FunctionEvent | FunctionEventAvg) -> None:
        for name in (
            "node_id",
            "is_async",
            "is_remote",
            "use_device",
            "input_shapes",
            "overload_name",
            "stack",
            "scope",
            "device_type",
            "is_legacy",
            "is_user_annotation",
        ):
            setattr(self, name, getattr(other, name))
        if isinstance(other, FunctionEvent):
            self._first, self._inner = other, other.cpu_parent is not None
        else:
            self._first, self._inner = other._first, other._inner

    def __getstate__(self) -> dict[str, Any]:
        # The first event would take all other events of its session with it.
        return {**self.__dict__, "_first": None}

    def __copy__(self) -> FunctionEventAvg:
        result = FunctionEventAvg()
        result.__dict__.update(self.__dict__)
        return result

    def __repr__(self) -> str:
        device = self.use_device or "cuda"
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} "
            f"cpu_time={self.cpu_time_str}  self_{device}_time={self.self_device_time_total_str} "
            f"{device}_time={self.device_time_str} input_shapes={self.input_shapes} "
            f"cpu_memory_usage={self.cpu_memory_usage} "
            f"{device}_memory_usage={self.device_memory_usage}>"
        )


class EventList(list):
    """
    Events, or averages of events, with their table and exports.

    Parameters
    ----------
    events : iterable of FunctionEvent or FunctionEventAvg
    use_device : str, optional
        Device whose columns the table shows.
    profile_memory, with_flops : bool
        Whether the table has columns for them.

    Examples
    --------
    >>> from autograd_cy.autograd.profiler import EventList, FunctionEvent
    >>> events = EventList([FunctionEvent(0, "aten::mul", 1, 0.0, 3.0)])
    >>> events._build_tree()
    >>> events.self_cpu_time_total
    3.0
    """

    def __init__(
        self,
        events: Iterable[Any] = (),
        use_device: str | None = None,
        profile_memory: bool = False,
        with_flops: bool = False,
    ) -> None:
        super().__init__(events)
        self._use_device = use_device
        self._profile_memory = profile_memory
        self._with_flops = with_flops
        self._note = ""

    def _build_tree(self) -> None:
        """Tie events to the ones in which they lie; what is alone in its like is merged."""
        self._populate_cpu_children()
        self[:] = merge_alone(list(self))

    def _populate_cpu_children(self) -> None:
        """Tie events to the ones in which they lie."""
        build_tree(list(self))

    @property
    def self_cpu_time_total(self) -> float:
        """Sum of the self times, in microseconds."""
        return sum(event.self_cpu_time_total for event in self)

    def __str__(self) -> str:
        return self.table()

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        time_unit: str | None = None,
        *,
        short_names: bool = False,
        rates: bool = False,
    ) -> str:
        """
        Return the list as a table.

        Parameters
        ----------
        sort_by : str, optional
            A numeric attribute, such as ``"self_cpu_time_total"``; the largest stands first.
        row_limit : int, default 100
            Rows to show; -1 for all.
        max_src_column_width, max_name_column_width, max_shapes_column_width : int
            Longer text is cut.
        header : str, optional
            Put above the table.
        top_level_events_only : bool, default False
            Leave out what lies in other events.
        time_unit : {"s", "ms", "us"}, optional
            One unit for all times.
        short_names : bool, default False
            Names without the prefixes of packages.
        rates : bool, default False
            Columns GFLOP/s, GB/s and Threads.

        Returns
        -------
        str

        Raises
        ------
        ValueError
            If there is no such attribute or unit.
        """
        from autograd_cy.profiler._tables import render

        return render(
            self,
            sort_by=sort_by,
            row_limit=row_limit,
            max_src_column_width=max_src_column_width,
            max_name_column_width=max_name_column_width,
            max_shapes_column_width=max_shapes_column_width,
            header=header,
            top_level_events_only=top_level_events_only,
            time_unit=time_unit,
            short_names=short_names,
            rates=rates,
        )

    def key_averages(
        self,
        group_by_input_shapes: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
    ) -> EventList:
        """
        Return the sums over events of one name, in the order of first appearance.

        Parameters
        ----------
        group_by_input_shapes : bool, default False
            Events of other shapes apart.
        group_by_stack_n : int, default 0
            Events of another place in the program apart, by that many frames.
        group_by_overload_name : bool, default False
            Overloads apart.

        Returns
        -------
        EventList of FunctionEventAvg
        """
        groups: dict[tuple, FunctionEventAvg] = {}
        for event in self:
            key: tuple = (event.key, event.node_id, event.device_type, event.is_legacy)
            key += (event.is_user_annotation,)
            if group_by_overload_name:
                key += (event.overload_name,)
            if group_by_input_shapes:
                key += (str(event.input_shapes),)
            if group_by_stack_n > 0:
                key += tuple((event.stack or [])[:group_by_stack_n])
            groups.setdefault(key, FunctionEventAvg()).add(event)
        for average in groups.values():
            average.stack = (average.stack or [])[: max(group_by_stack_n, 0)]
            if not group_by_input_shapes:
                average.input_shapes = ""
            if not group_by_overload_name:
                average.overload_name = ""
        return self._like(groups.values())

    def _like(self, events: Iterable[Any]) -> EventList:
        result = EventList(events, self._use_device, self._profile_memory, self._with_flops)
        result._note = self._note
        return result

    def total_average(self) -> FunctionEventAvg:
        """
        Return the sums over all events; the key is "Total".

        Returns
        -------
        FunctionEventAvg
        """
        total = FunctionEventAvg()
        for event in self:
            total.key = None
            total += event
        total.key = "Total"
        return total

    def export_chrome_trace(self, path: str | Path) -> None:
        """
        Write the events as JSON that chrome://tracing and Perfetto open.

        Parameters
        ----------
        path : str or Path
            Gzipped if it ends in ``.gz``.
        """
        from autograd_cy.profiler._trace import write_trace

        write_trace(path, columns_of(self))

    def supported_export_stacks_metrics(self) -> list[str]:
        """
        Return the metrics that :meth:`export_stacks` can count.

        Returns
        -------
        list of str
        """
        return [f"self_{device}_time_total" for device in ("cpu", "cuda", "xpu", "privateuse1")]

    def export_stacks(self, path: str | Path, metric: str = "self_cpu_time_total") -> None:
        """
        Write folded stacks, the input of flame graphs: ``outer;inner 123`` in microseconds.

        Parameters
        ----------
        path : str or Path
        metric : str
            One of :meth:`supported_export_stacks_metrics`.

        Raises
        ------
        ValueError
            If it is none of these.
        """
        if metric not in self.supported_export_stacks_metrics():
            raise ValueError(f"metric should be one of: {self.supported_export_stacks_metrics()}")
        from autograd_cy.profiler._stacks import folded_line, write_folded

        attribute = metric.replace("cuda", "device").replace("xpu", "device")
        attribute = attribute.replace("privateuse1", "device")
        sums: dict[str, int] = {}
        for event in self:
            if event.stack:
                line = folded_line(event.stack)
                sums[line] = sums.get(line, 0) + round(1e3 * getattr(event, attribute))
        write_folded(path, sums)


def columns_of(events: Iterable[FunctionEvent]) -> Any:
    """Return the columns of events that stand in a list."""
    from autograd_cy.profiler._columns import Columns

    events = list(events)
    names: dict[str, int] = {}
    shapes: list[tuple] = []
    stacks: list[tuple[str, ...]] = []
    shape, stack = [], []
    for event in events:
        shape.append(len(shapes) if event.input_shapes else -1)
        if event.input_shapes:
            sizes = event.structured_input_shapes or event.input_shapes
            shapes.append((sizes, event.concrete_inputs or [], event.input_dtypes or []))
        stack.append(len(stacks) if event.stack else -1)
        if event.stack:
            stacks.append(tuple(event.stack))
    times = [(event.time_range.start, event.time_range.end) for event in events]
    threads = {event.thread for event in events}
    return Columns(
        name=[names.setdefault(event.trace_name or event.name, len(names)) for event in events],
        names=list(names),
        start=[round(start * 1e3) for start, _ in times],
        end=[round(end * 1e3) for _, end in times],
        thread=[event.thread for event in events],
        fwd_thread=[event.fwd_thread or 0 for event in events],
        seq=[event.sequence_nr for event in events],
        scope=[event.scope for event in events],
        shape=shape,
        shapes=shapes,
        stack=stack,
        stacks=stacks,
        flops=[event.flops or 0 for event in events],
        threads=list(range(max(threads, default=0) + 1))[1:],
        wall_ns=round(max((end for _, end in times), default=0) * 1e3),
    )


# --- from columns ---------------------------------------------------------------------------------


def averages_of(
    spans: Spans,
    by_shape: bool = False,
    by_stack: int = 0,
    event_at: Callable[[int], FunctionEvent] | None = None,
) -> list[FunctionEventAvg]:
    """Return the result of `EventList.key_averages`, without an object for each event."""
    columns = spans.columns
    if not len(spans):
        return _kernel_averages(columns)
    device = columns.options.get("use_device")
    keys = [spans.name]
    if by_shape:
        keys.append(_equal_texts(spans.column("shape", -1), [str(s[0]) for s in columns.shapes]))
    if by_stack > 0:
        stacks = [str(stack[:by_stack]) for stack in columns.stacks]
        keys.append(_equal_texts(spans.charged("stack"), stacks))
    labels = spans.scope == 7
    keys.append(labels)
    group, first = _groups(keys)
    sums = _sums(spans, group, len(first))
    averages = []
    stack_of = spans.charged("stack") if by_stack > 0 else None
    shape_of = spans.column("shape", -1) if by_shape else None
    for k, place in enumerate(first.tolist()):
        average = FunctionEventAvg()
        average.key = spans.names[spans.name[place]]
        average.scope = int(spans.scope[place])
        average.is_user_annotation = bool(labels[place])
        average.node_id = -1
        average.overload_name = ""
        average.input_shapes = ""
        average.stack = []
        average.use_device = device
        if shape_of is not None:
            nr = int(shape_of[place])
            average.input_shapes = (
                [flat_size(size) for size in columns.shapes[nr][0]] if nr >= 0 else []
            )
        if stack_of is not None and stack_of[place] >= 0:
            average.stack = list(columns.stacks[stack_of[place]][:by_stack])
        average._inner = bool(spans.parent[place] >= 0)
        if event_at is not None:
            average._first = lambda place=place: event_at(place)  # type: ignore[misc]
        for name, values in sums.items():
            setattr(average, name, values[k])
        averages.append(average)
    return averages + _kernel_averages(columns)


def _kernel_averages(columns: Columns) -> list[FunctionEventAvg]:
    """Return the sums over the kernels and copies of one name."""
    count = np.bincount(columns.kernel_name, minlength=len(columns.names))
    took = np.bincount(
        columns.kernel_name, columns.kernel_end - columns.kernel_start, len(columns.names)
    )
    averages = []
    for name in dict.fromkeys(columns.kernel_name.tolist()):
        average = FunctionEventAvg()
        average.key, average.count = columns.names[name], int(count[name])
        average.use_device, average.device_type = "cuda", DeviceType.CUDA
        average.device_time_total = average.self_device_time_total = float(took[name]) / 1e3
        average.node_id, average.scope = -1, 0
        average.overload_name = average.input_shapes = ""
        average.stack = []
        averages.append(average)
    return averages


def total_of(spans: Spans) -> FunctionEventAvg:
    """Return the result of `EventList.total_average`."""
    total = FunctionEventAvg()
    if len(spans):
        total.scope = int(spans.scope[0])
        for name, values in _sums(spans, np.zeros(len(spans), np.int64), 1).items():
            setattr(total, name, values[0])
    total.key, total.input_shapes = "Total", []
    total.use_device = spans.columns.options.get("use_device")
    return total


def _sums(spans: Spans, group: np.ndarray, groups: int) -> dict[str, list]:
    def summed(values: np.ndarray) -> np.ndarray:
        return np.bincount(group, values, groups)

    sums: dict[str, list] = {"count": np.bincount(group, minlength=groups).tolist()}
    sums["cpu_time_total"] = (summed(spans.total) / 1e3).tolist()
    sums["self_cpu_time_total"] = (summed(spans.self_time) / 1e3).tolist()
    columns = spans.columns
    if len(columns.mem_time):
        sums["cpu_memory_usage"] = summed(spans.memory).astype(np.int64).tolist()
        sums["self_cpu_memory_usage"] = summed(spans.self_memory).astype(np.int64).tolist()
        if columns.mem_device.any():
            of_devices = summed(spans.device_memory), summed(spans.self_device_memory)
            sums["device_memory_usage"] = of_devices[0].astype(np.int64).tolist()
            sums["self_device_memory_usage"] = of_devices[1].astype(np.int64).tolist()
    if len(columns.kernel_name):
        sums["device_time_total"] = (summed(spans.device_time) / 1e3).tolist()
        sums["self_device_time_total"] = (summed(spans.self_device_time) / 1e3).tolist()
    if columns.flops.any():
        sums["flops"] = summed(spans.flops).astype(np.int64).tolist()
    if columns.bytes_moved.any():
        nbytes = summed(spans.column("bytes_moved"))
        sums["bytes_moved"] = nbytes.astype(np.int64).tolist()
    if columns.failed.any():
        sums["failed"] = summed(spans.column("failed")).astype(np.int64).tolist()
    team = np.ones(groups, np.int64)
    np.maximum.at(team, group, spans.column("team", 1))
    sums["team"] = team.tolist()
    return sums


def _equal_texts(index: np.ndarray, texts: list[str]) -> np.ndarray:
    """Entries of a table by number, equal ones having one number; -1 stays."""
    numbers: dict[str, int] = {}
    same = np.array([numbers.setdefault(text, len(numbers)) for text in texts] + [-1], np.int64)
    return same[index]


def _groups(keys: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the group of each event, in the order of first appearance, and the first of each."""
    code = np.zeros_like(keys[0], np.int64)
    for key in keys:
        key = key.astype(np.int64)
        low = int(key.min())
        # Numbers stay small: what is there is counted anew after each key.
        code = code * (int(key.max()) - low + 1) + (key - low)
        code = _counted(code)
    groups = int(code.max()) + 1
    first = np.full(groups, len(code), np.int64)
    np.minimum.at(first, code, np.arange(len(code)))
    order = np.argsort(first)
    rank = np.empty(groups, np.int64)
    rank[order] = np.arange(groups)
    return rank[code], first[order]


def _counted(code: np.ndarray) -> np.ndarray:
    """Number the groups 0, 1, ..."""
    top = int(code.max()) + 1
    if top <= 4 * len(code) + 1024:
        there = np.zeros(top, bool)
        there[code] = True
        return (np.cumsum(there) - 1)[code]
    return np.unique(code, return_inverse=True)[1].reshape(-1)
