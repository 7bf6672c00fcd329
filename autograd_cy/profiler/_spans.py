"""Events in order with their tree and their sums, by arrays: what all reports are made from."""

from __future__ import annotations

import gc
from functools import cached_property
from typing import Any

import numpy as np

from autograd_cy.profiler._columns import BACKWARD, LABEL, OPERATOR, Columns
from autograd_cy.profiler._events import MEMORY_EVENT_NAME, FunctionEvent, Interval, canonical

__all__ = ["Spans"]

OUTER = "autograd::engine::evaluate_function: "


# What an event has of those that are merged into it.
JOINED = {
    **dict.fromkeys(("seq", "flops", "bytes_moved", "team"), np.maximum),
    "saved": np.add,
}


class Spans:
    """
    The events of a session by start, the longer first, each with its place in the tree.

    Changes of memory outside of every event are events `[memory]` of no length; a child that is
    alone in a parent of the same name is part of it. All arrays are by position in this order.

    Parameters
    ----------
    columns : Columns
    """

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self._cache: dict[str, np.ndarray] = {}
        count = len(columns)
        outside = np.flatnonzero(columns.mem_event < 0)
        start = np.concatenate([columns.start, columns.mem_time[outside]])
        # The clock may step; nothing is shorter than nothing.
        end = np.concatenate([np.maximum(columns.end, columns.start), columns.mem_time[outside]])
        thread = np.concatenate([columns.thread, columns.mem_thread[outside]])
        order = _by_start(start, end)
        parent = _parents(start, end, thread, order, _extended(columns.parent, len(outside), -1))

        names, self.name_of = _canonical_names(columns.names)
        memory_name = _place(names, MEMORY_EVENT_NAME)
        own = self.name_of[columns.name] if count else columns.name
        name = np.concatenate([own, np.full(len(outside), memory_name, np.int32)])
        self.names = names

        into = _merged(name, parent)
        if into is not None:
            remains = into == np.arange(len(into))
            self.lost = np.flatnonzero(~remains[:count])
            parent = np.where(parent >= 0, into[parent], -1)
            order = order[remains[order]]
        else:
            into = np.arange(len(name))
            self.lost = np.empty(0, np.int64)
        place = np.full(len(name) + 1, -1, np.int64)
        place[order] = np.arange(len(order))
        # Of what was merged, the place is its parent's.
        self.position_of_event = place[into]
        self.source = order  # which event of the columns; from `count` on, changes of memory
        self.recorded = count
        self.outside = outside
        self.name = name[order]
        self.start = start[order]
        self.end = end[order]
        self.thread = thread[order]
        self.parent = place[parent[order]]

    def __len__(self) -> int:
        return len(self.name)

    def column(self, key: str, none: int = 0) -> np.ndarray:
        """A column of the recording, by position here."""
        values = getattr(self.columns, key)
        extended = _extended(values, len(self.outside), none)
        values_here = extended[self.source]
        if key in JOINED:
            # What was merged had the node, say, while its parent only called it.
            JOINED[key].at(values_here, self.position_of_event[self.lost], values[self.lost])
        return values_here

    def cached_column(self, key: str, none: int = 0) -> np.ndarray:
        """Return a column that is cached for the next time, when it is read piece by piece."""
        if key not in self._cache:
            self._cache[key] = self.column(key, none)
        return self._cache[key]

    @cached_property
    def operator(self) -> np.ndarray:
        """Mark the events that are operators: neither labels, nor nodes, nor changes of memory."""
        return (self.scope == OPERATOR) & (self.source < self.recorded)

    @cached_property
    def seq(self) -> np.ndarray:
        """Sequence numbers, -1 for none."""
        return self.column("seq", -1)

    @cached_property
    def scope(self) -> np.ndarray:
        """0 operator, 1 backward, 7 label."""
        return self.column("scope", OPERATOR)

    @cached_property
    def total(self) -> np.ndarray:
        """Length of each event in nanoseconds."""
        return self.end - self.start

    @cached_property
    def self_time(self) -> np.ndarray:
        """Length less that of the children."""
        return self.total - self._of_children(self.total)

    @cached_property
    def depth(self) -> np.ndarray:
        """Number of events around each event."""
        depth = np.zeros(len(self), np.int32)
        index = np.flatnonzero(self.parent >= 0)
        above = self.parent[index]
        while len(index):
            depth[index] += 1
            above = self.parent[above]
            on = above >= 0
            index, above = index[on], above[on]
        return depth

    @cached_property
    def self_memory(self) -> np.ndarray:
        """Net bytes of the CPU of each event without its children."""
        return self._memory(np.where(self.columns.mem_device == 0, self.columns.mem_bytes, 0))

    @cached_property
    def self_device_memory(self) -> np.ndarray:
        """Net bytes of other devices of each event without its children."""
        return self._memory(np.where(self.columns.mem_device == 0, 0, self.columns.mem_bytes))

    @cached_property
    def self_device_time(self) -> np.ndarray:
        """Nanoseconds of the kernels that each event itself put on streams of a device."""
        columns = self.columns
        inside = columns.kernel_event >= 0
        where = self.position_of_event[columns.kernel_event[inside]]
        took = (columns.kernel_end - columns.kernel_start)[inside]
        return np.bincount(where, took, len(self)).astype(np.int64)

    @cached_property
    def device_time(self) -> np.ndarray:
        """Nanoseconds of the kernels of each event and its children."""
        return self.summed_up(self.self_device_time)

    @cached_property
    def allocated(self) -> np.ndarray:
        """Bytes allocated by each event itself, without what it released."""
        return self._memory(np.maximum(self.columns.mem_bytes, 0))

    def _memory(self, amounts: np.ndarray) -> np.ndarray:
        columns = self.columns
        inside = columns.mem_event >= 0
        where = self.position_of_event[columns.mem_event[inside]]
        sums = np.bincount(where, amounts[inside], len(self)).astype(np.int64)
        alone = self.position_of_event[self.recorded : self.recorded + len(self.outside)]
        sums[alone] = amounts[self.outside]
        return sums

    @cached_property
    def memory(self) -> np.ndarray:
        """Net bytes of the CPU of each event with its children."""
        return self.summed_up(self.self_memory)

    @cached_property
    def device_memory(self) -> np.ndarray:
        """Net bytes of other devices of each event with its children."""
        return self.summed_up(self.self_device_memory)

    @cached_property
    def flops(self) -> np.ndarray:
        """Operations; of nested operators only the inner one has them, so that sums are right."""
        flops = self.column("flops")
        if not flops.any():
            return flops
        inner = self.summed_up(flops) - flops
        return np.where(inner > 0, 0, flops)

    def summed_up(self, values: np.ndarray) -> np.ndarray:
        """For each event, the sum over itself and all that lies in it."""
        result = values.copy()
        if not values.any():
            return result
        depth = self.depth
        by_depth = np.argsort(depth, kind="stable")
        edges = np.searchsorted(depth[by_depth], np.arange(depth.max(initial=0) + 2))
        for level in range(len(edges) - 2, 0, -1):
            these = by_depth[edges[level] : edges[level + 1]]
            np.add.at(result, self.parent[these], result[these])
        return result

    def _of_children(self, values: np.ndarray) -> np.ndarray:
        inner = self.parent >= 0
        sums = np.bincount(self.parent[inner], values[inner], len(self))
        return sums.astype(np.int64)

    @cached_property
    def nearest_backward(self) -> np.ndarray:
        """The outermost event of backward around each event, itself included; -1 for none."""
        own = self.scope == BACKWARD
        for nr, name in enumerate(self.names):
            if name.startswith(OUTER):
                own |= self.name == nr
        return self._outermost(own)

    def _outermost(self, marked: np.ndarray) -> np.ndarray:
        result = np.where(marked, np.arange(len(self)), -1)
        for these in self.levels():
            above = result[self.parent[these]]
            result[these] = np.where(above >= 0, above, result[these])
        return result

    def innermost(self, marked: np.ndarray) -> np.ndarray:
        """The closest marked event around each event, itself included; -1 for none."""
        result = np.where(marked, np.arange(len(self)), -1)
        for these in self.levels():
            result[these] = np.where(result[these] >= 0, result[these], result[self.parent[these]])
        return result

    def levels(self) -> list[np.ndarray]:
        """Positions of the events of depth 1, 2, ..."""
        by_depth = np.argsort(self.depth, kind="stable")
        edges = np.searchsorted(self.depth[by_depth], np.arange(self.depth.max(initial=0) + 2))
        return [by_depth[edges[k] : edges[k + 1]] for k in range(1, len(edges) - 1)]

    @cached_property
    def forward_of(self) -> np.ndarray:
        """For each event of backward that has one, its forward operator; -1 elsewhere."""
        forward = np.full(len(self), -1, np.int64)
        scope, seq = self.scope, self.seq
        behind = self.nearest_backward == np.arange(len(self))
        inner = (scope == BACKWARD) | behind
        with_node = np.flatnonzero((seq >= 0) & ~inner)
        wanted = np.flatnonzero((seq >= 0) & inner)
        if not len(with_node) or not len(wanted):
            return forward
        # The last event of a number is the operator that made the node, not what it stands in.
        by_seq = with_node[np.argsort(seq[with_node], kind="stable")]
        place = np.searchsorted(seq[by_seq], seq[wanted], side="right") - 1
        hit = by_seq[np.maximum(place, 0)]
        right = (place >= 0) & (seq[hit] == seq[wanted]) & (self.start[hit] <= self.start[wanted])
        forward[wanted[right]] = hit[right]
        return forward

    @cached_property
    def home(self) -> np.ndarray:
        """Return the event to which each one is charged: its forward operator, of backward; itself,
        elsewhere."""
        behind = self.nearest_backward
        home = np.arange(len(self))
        inside = np.flatnonzero(behind >= 0)
        outer = behind[inside]
        forward = self.forward_of[outer]
        home[inside] = np.where(forward >= 0, forward, outer)
        return home

    def charged(self, key: str) -> np.ndarray:
        """The column `stack` or `module`, events of backward having that of their operator."""
        name = f"charged {key}"
        if name not in self._cache:
            values = self.column(key, -1)
            # A table that is empty needs no look at homes.
            there = getattr(self.columns, key + "s")
            self._cache[name] = values[self.home] if there else values
        return self._cache[name]

    # --- objects ------------------------------------------------------------------------------

    def events(self, places: np.ndarray | None = None) -> list[FunctionEvent]:
        """The events as objects, all (tied to a tree) or those of some places (without)."""
        collecting = gc.isenabled()
        # Nothing made here is garbage, and looking for it again and again takes most of the time.
        gc.disable()
        try:
            return self._objects(places)
        finally:
            if collecting:
                gc.enable()

    def _objects(self, places: np.ndarray | None) -> list[FunctionEvent]:
        columns = self.columns
        these: Any = slice(None) if places is None else places
        full = {nr: name for nr, name in enumerate(columns.names) if canonical(name) != name}
        source = self.source[these]
        event_name = self.column("name", -1)[these].tolist() if full else None
        shapes, stacks, modules = columns.shapes, columns.stacks, columns.modules
        flat = [[flat_size(size) for size in entry[0]] for entry in shapes]
        has_shapes = "record_shapes" in columns.options
        rows = zip(
            (np.arange(len(self)) if places is None else places).tolist(),
            self.name[these].tolist(),
            self.thread[these].tolist(),
            (self.start[these] / 1e3).tolist(),
            (self.end[these] / 1e3).tolist(),
            self.column("fwd_thread")[these].tolist(),
            self.scope[these].tolist(),
            self.seq[these].tolist(),
            self.memory[these].tolist(),
            self.device_memory[these].tolist(),
            self.column("shape", -1)[these].tolist(),
            self.charged("stack")[these].tolist() if stacks else [-1] * len(source),
        )
        names = self.names
        new = FunctionEvent.__new__
        events: list[FunctionEvent] = []
        for nr, name, thread, start, end, fwd, scope, seq, memory, there, shape, stack in rows:
            event = new(FunctionEvent)
            event.__dict__ = fields = {
                "id": nr,
                "name": names[name],
                "thread": thread,
                "time_range": Interval(start, end),
                "device_resource_id": thread,
                "fwd_thread": fwd,
                "cpu_memory_usage": memory,
                "input_shapes": [],
                "stack": [],
            }
            if there:
                fields["device_memory_usage"] = there
            if seq >= 0:
                fields["sequence_nr"] = seq
            if scope:
                fields["scope"] = scope
                if scope == LABEL:
                    fields["is_user_annotation"] = True
            if shape >= 0:
                sizes, values, kinds = shapes[shape]
                fields["structured_input_shapes"] = sizes
                fields["input_shapes"] = flat[shape]
                fields["concrete_inputs"] = values
                fields["input_dtypes"] = kinds
            elif has_shapes:
                fields["concrete_inputs"] = fields["structured_input_shapes"] = []
            if stack >= 0:
                fields["stack"] = list(stacks[stack])
            events.append(event)
        self._add_rare(events, these)
        if (device := columns.options.get("use_device")) is not None:
            for event in events:
                event.use_device = device
        if event_name is not None:
            for event, nr in zip(events, event_name):
                if nr in full:
                    event.trace_name = full[nr]
        if modules:
            for event, nr in zip(events, self.charged("module")[these].tolist()):
                if nr >= 0:
                    event.module = modules[nr]
        if places is None:
            for event, above in zip(events, self.parent.tolist()):
                if above >= 0:
                    event.cpu_parent = outer = events[above]
                    outer.cpu_children.append(event)
        return events

    def _add_rare(self, events: list[FunctionEvent], these: Any) -> None:
        """Attributes that few events have, or few sessions record."""
        for key, none in (
            ("flops", 0),
            ("bytes_moved", 0),
            ("team", 1),
            ("saved", 0),
            ("failed", 0),
            ("unfinished", 0),
        ):
            values = self.column(key, none)[these]
            for k in np.flatnonzero(values != none).tolist():
                setattr(events[k], key, values[k].item())
        if self.columns.options.get("with_flops"):
            for event in events:
                event.__dict__.setdefault("flops", 0)


def flat_size(size: Any) -> Any:
    """Return sizes of a tensor; a list of tensors has them in `structured_input_shapes` only."""
    return [] if size and isinstance(size[0], (list, tuple)) else size


def _extended(values: np.ndarray, count: int, none: int) -> np.ndarray:
    if not count:
        return values
    return np.concatenate([values, np.full(count, none, values.dtype)])


def _place(names: list[str], name: str) -> int:
    if name not in names:
        names.append(name)
    return names.index(name)


def _canonical_names(names: list[str]) -> tuple[list[str], np.ndarray]:
    """Names that averages go by, each once, and which one each given name is."""
    numbers: dict[str, int] = {}
    which = [numbers.setdefault(canonical(name), len(numbers)) for name in names]
    return list(numbers), np.array(which, np.int32)


def _by_start(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """The order by start, the longer first; what is recorded mostly has it already."""
    later = start[1:] > start[:-1]
    longer = (start[1:] == start[:-1]) & (end[1:] <= end[:-1])
    if (later | longer).all():
        return np.arange(len(start))
    return np.lexsort((start - end, start))


def _parents(
    start: np.ndarray, end: np.ndarray, thread: np.ndarray, order: np.ndarray, hint: np.ndarray
) -> np.ndarray:
    """The tree by containment. What was open at the begin is taken if it says the same."""
    if _is_tree(start, end, thread, order, hint):
        return hint
    parent = np.full(len(start), -1, np.int64)
    by_thread = order[np.argsort(thread[order], kind="stable")]
    starts, ends, threads = (a[by_thread].tolist() for a in (start, end, thread))
    places = by_thread.tolist()
    open_ones: list[int] = []
    current = None
    for k, (begin, stop, number) in enumerate(zip(starts, ends, threads)):
        if number != current:
            open_ones.clear()
            current = number
        while open_ones:
            last = ends[open_ones[-1]]
            if begin >= last or stop > last:
                open_ones.pop()
                continue
            parent[places[k]] = places[open_ones[-1]]
            break
        open_ones.append(k)
    return parent


def _is_tree(
    start: np.ndarray, end: np.ndarray, thread: np.ndarray, order: np.ndarray, hint: np.ndarray
) -> bool:
    """Return whether children lie in their parents, and one child begins when the other has
    ended."""
    if not len(hint):
        return True
    inner = np.flatnonzero(hint >= 0)
    outer = hint[inner]
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    inside = (
        (thread[inner] == thread[outer])
        & (start[inner] < end[outer])
        & (end[inner] <= end[outer])
        & (rank[outer] < rank[inner])
    )
    if not inside.all():
        return False
    # Those without a parent are children of their thread.
    family = np.where(hint >= 0, hint, -1 - thread.astype(np.int64))[order]
    beside = order[np.argsort(family, kind="stable")]
    family = np.sort(family, kind="stable")
    same = family[1:] == family[:-1]
    return bool((start[beside][1:] >= end[beside][:-1])[same].all())


def _merged(name: np.ndarray, parent: np.ndarray) -> np.ndarray | None:
    """Return the event of which each one is part (itself, mostly), or None if nothing is merged."""
    inner = parent >= 0
    if not inner.any():
        return None
    children = np.bincount(parent[inner], minlength=len(name))
    alone = inner.copy()
    alone[inner] = (children[parent[inner]] == 1) & (name[parent[inner]] == name[inner])
    if not alone.any():
        return None
    into = np.where(alone, parent, np.arange(len(name)))
    while True:  # chains: an event alone in an event alone in an event
        further = into[into]
        if np.array_equal(further, into):
            return into
        into = further
