"""The Chrome trace: JSON for chrome://tracing and Perfetto, written piece by piece."""

from __future__ import annotations

import gzip
import json
import os
import platform
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from autograd_cy.profiler._columns import BACKWARD, LABEL, Columns
from autograd_cy.profiler._spans import Spans

__all__ = ["new_trace_id", "write_trace"]

CHUNK = 8192  # events that are Python objects at one time
CATEGORY = {LABEL: "user_annotation"}


def new_trace_id() -> str:
    """A name for a trace that no other one has."""
    return uuid.uuid4().hex.upper()


def write_trace(
    path: str | Path,
    columns: Columns,
    spans: Spans | None = None,
    metadata: Mapping[str, Any] | None = None,
    trace_id: str | None = None,
) -> None:
    """
    Write the trace of a session.

    Parameters
    ----------
    path : str or Path
        Gzipped if it ends in ``.gz``.
    columns : Columns
    spans : Spans, optional
        Its events in order, if they are there already.
    metadata : mapping, optional
        Further entries of the top level.
    trace_id : str, optional
    """
    spans = Spans(columns) if spans is None else spans
    opener: Any = gzip.open if str(path).endswith(".gz") else open
    with opener(path, "wt", encoding="utf-8") as file:
        _write(file, spans, dict(metadata or {}), trace_id or new_trace_id())


def _write(file: IO[str], spans: Spans, metadata: dict[str, Any], trace_id: str) -> None:
    columns = spans.columns
    head = {
        "schemaVersion": 1,
        "deviceProperties": [],
        "trace_id": trace_id,
        "host_name": platform.node(),
        "displayTimeUnit": "ms",
        "baseTimeNanoseconds": columns.base_ns,
        **metadata,
    }
    if columns.dropped:
        head["droppedEvents"] = columns.dropped
    for key, value in head.items():
        file.write(f"{',' if key != 'schemaVersion' else '{'}\n  {json.dumps(key)}: ")
        file.write(json.dumps(value, default=str))
    file.write(',\n  "traceEvents": [\n')
    separator = ""
    for text in filter(None, _records(spans)):  # events may all be memory's, which come later
        file.write(separator)
        file.write(text)
        separator = ",\n"
    file.write("\n  ]\n}\n")


def _records(spans: Spans) -> Iterator[str]:
    """The entries of traceEvents as text, many to a piece."""
    columns = spans.columns
    pid = os.getpid()
    # Threads of a session by number; what recorded none has its numbers for them.
    highest = int(spans.thread.max(initial=0))
    native = [*columns.threads, *range(len(columns.threads) + 1, highest + 1)]
    native.insert(0, 0)
    yield from _titles(columns, pid, native)
    flows = _flows(spans)
    for first in range(0, len(spans), CHUNK):
        yield ",\n".join(_chunk(spans, first, min(first + CHUNK, len(spans)), pid, native, flows))
    for first in range(0, len(columns.mem_time), CHUNK):
        yield ",\n".join(_memory(columns, slice(first, first + CHUNK), pid, native))
    for first in range(0, len(columns.kernel_name), CHUNK):
        yield ",\n".join(_kernels(spans, slice(first, first + CHUNK), pid, native))


def _titles(columns: Columns, pid: int, native: list[int]) -> Iterator[str]:
    def title(kind: str, tid: int, **args: Any) -> str:
        return json.dumps({"ph": "M", "name": kind, "ts": 0, "pid": pid, "tid": tid, "args": args})

    yield title("process_name", 0, name="python")
    yield title("process_labels", 0, labels="CPU")
    for k, tid in enumerate(native[1:]):
        name = columns.thread_names[k] if k < len(columns.thread_names) else f"thread {tid}"
        yield title("thread_name", tid, name=name)
        yield title("thread_sort_index", tid, sort_index=k)
    for device in sorted(set(columns.kernel_device.tolist())):
        for kind, args in (("name", {"name": "python"}), ("labels", {"labels": f"GPU {device}"})):
            entry = {"ph": "M", "name": f"process_{kind}", "ts": 0, "pid": device, "tid": 0}
            yield json.dumps({**entry, "args": args})
        streams = columns.kernel_stream[columns.kernel_device == device]
        for stream in sorted(set(streams.tolist())):
            entry = {"ph": "M", "name": "thread_name", "ts": 0, "pid": device, "tid": stream}
            yield json.dumps({**entry, "args": {"name": f"stream {stream}"}})


def _flows(spans: Spans) -> tuple[dict[int, list[int]], dict[int, int]]:
    """By the place of an event, the flows that start there, and the one that ends there."""
    starts: dict[int, list[int]] = {}
    ends: dict[int, int] = {}
    forward = spans.forward_of
    # Of the two events of a node, the outer one.
    tied = np.flatnonzero((forward >= 0) & (spans.nearest_backward == np.arange(len(spans))))
    # A graph that is walked twice has an arrow from the operator to each backward, each with a
    # number of its own: viewers end a flow where they first see it end.
    for number, (place, origin) in enumerate(
        zip(tied.tolist(), forward[tied].tolist(), strict=True), 1
    ):
        ends[place] = number
        starts.setdefault(origin, []).append(number)
    return starts, ends


def _chunk(
    spans: Spans,
    first: int,
    last: int,
    pid: int,
    native: list[int],
    flows: tuple[dict[int, list[int]], dict[int, int]],
) -> Iterator[str]:
    columns = spans.columns
    part = slice(first, last)
    source = spans.source[part]
    recorded = source < spans.recorded
    names: dict[int, str] = {}
    codes = np.where(recorded, np.append(columns.name, -1)[np.minimum(source, spans.recorded)], -1)
    shapes: dict[int, str] = {}
    stacks: dict[int, str] = {}

    rows = zip(
        codes.tolist(),
        spans.thread[part].tolist(),
        spans.start[part].tolist(),
        spans.total[part].tolist(),
        spans.seq[part].tolist(),
        spans.scope[part].tolist(),
        spans.cached_column("fwd_thread", 0)[part].tolist(),
        spans.cached_column("shape", -1)[part].tolist(),
        spans.charged("stack")[part].tolist(),
        spans.cached_column("failed", 0)[part].tolist(),
        spans.cached_column("unfinished", 0)[part].tolist(),
        spans.charged("module")[part].tolist(),
    )
    starts, ends = flows
    for place, (
        name, thread, start, length, seq, scope, fwd, shape, stack, failed, open_, module,
    ) in enumerate(rows, first):  # fmt: skip
        if name < 0:
            continue  # a change of memory, which has its own entries
        text = names.get(name)
        if text is None:
            text = names[name] = json.dumps(columns.names[name])
        args = ""
        if seq >= 0:
            args = f', "Sequence number": {seq}, "Fwd thread id": {fwd}'
        elif scope == BACKWARD:
            args = f', "Fwd thread id": {fwd}'
        if shape >= 0:
            more = shapes.get(shape)
            if more is None:
                more = shapes[shape] = _inputs(columns.shapes[shape])
            args += more
        if stack >= 0:
            more = stacks.get(stack)
            if more is None:
                frames = ";\n".join(columns.stacks[stack])
                more = stacks[stack] = f', "Call stack": {json.dumps(frames)}'
            args += more
        if module >= 0:
            args += f', "Module": {json.dumps(columns.modules[module])}'
        if failed:
            args += ', "Failed": true'
        if open_:
            args += ', "Unfinished": true'
        tid = native[thread]
        category = CATEGORY.get(scope, "cpu_op")
        yield (
            f'{{"ph": "X", "cat": "{category}", "name": {text}, "pid": {pid}, "tid": {tid}, '
            f'"ts": {start / 1000:.3f}, "dur": {length / 1000:.3f}, "args": {{{args[2:]}}}}}'
        )
        for number in starts.get(place, ()):
            yield _flow("s", number, pid, tid, start)
        if place in ends:
            yield _flow("f", ends[place], pid, tid, start)


def _flow(phase: str, number: int, pid: int, tid: int, start: int) -> str:
    binding = ', "bp": "e"' if phase == "f" else ""
    return (
        f'{{"ph": "{phase}", "id": {number}, "pid": {pid}, "tid": {tid}, '
        f'"ts": {start / 1000:.3f}, "cat": "fwdbwd", "name": "fwdbwd"{binding}}}'
    )


def _kernels(spans: Spans, part: slice, pid: int, native: list[int]) -> Iterator[str]:
    """Kernels and copies, each with an arrow from the event that put it on its stream."""
    columns = spans.columns
    rows = zip(
        columns.kernel_name[part].tolist(),
        columns.kernel_start[part].tolist(),
        columns.kernel_end[part].tolist(),
        columns.kernel_event[part].tolist(),
        columns.kernel_device[part].tolist(),
        columns.kernel_stream[part].tolist(),
    )
    for number, (name, start, end, owner, device, stream) in enumerate(rows, part.start + 1):
        text = columns.names[name]
        kind = text.partition(" ")[0]
        category = {"Memcpy": "gpu_memcpy", "Memset": "gpu_memset"}.get(kind, "kernel")
        yield (
            f'{{"ph": "X", "cat": "{category}", "name": {json.dumps(text)}, "pid": {device}, '
            f'"tid": {stream}, "ts": {start / 1000:.3f}, "dur": {(end - start) / 1000:.3f}, '
            f'"args": {{"device": {device}, "stream": {stream}, "correlation": {number}}}}}'
        )
        if owner < 0:
            continue
        place = spans.position_of_event[owner]
        thread, begun = native[spans.thread[place]], spans.start[place]
        for phase, where, row, time, binding in (
            ("s", pid, thread, begun, ""),
            ("f", device, stream, start, ', "bp": "e"'),
        ):
            yield (
                f'{{"ph": "{phase}", "id": {number}, "pid": {where}, "tid": {row}, '
                f'"ts": {time / 1000:.3f}, "cat": "ac2g", "name": "ac2g"{binding}}}'
            )


def _inputs(entry: tuple) -> str:
    sizes, values, kinds = entry
    plain = ["" if value is None else str(value) for value in values]
    named = {"Concrete Inputs": plain, "Input type": list(kinds), "Input Dims": sizes}
    return ", " + json.dumps(named, default=str)[1:-1]


def _memory(columns: Columns, part: slice, pid: int, native: list[int]) -> Iterator[str]:
    rows = zip(
        columns.mem_time[part].tolist(),
        columns.mem_bytes[part].tolist(),
        columns.mem_total[part].tolist(),
        columns.mem_address[part].tolist(),
        columns.mem_thread[part].tolist(),
        columns.mem_device[part].tolist(),
    )
    for time, size, total, address, thread, device in rows:
        tid = native[thread] if thread < len(native) else 0
        place = f" of device {device // 64}:{device % 64}" if device else ""
        number = device % 64 if device else -1
        yield (
            f'{{"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": {pid}, '
            f'"tid": {tid}, "ts": {time / 1000:.3f}, "args": {{"Total Allocated": {total}, '
            f'"Bytes": {size}, "Addr": {address}, "Device Id": {number}, '
            f'"Device Type": {device // 64}}}}}'
        )
        yield (
            f'{{"ph": "C", "name": "allocated bytes{place}", "pid": {pid}, "tid": 0, '
            f'"ts": {time / 1000:.3f}, "args": {{"bytes": {total}}}}}'
        )
