"""Recorded events as NumPy arrays: one entry per event, so that a million cost few objects."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["BACKWARD", "LABEL", "OPERATOR", "Columns", "joined"]

# Values of `scope`.
OPERATOR, BACKWARD, LABEL = 0, 1, 7

# Arrays of one entry per event: dtype, and the value of an event that has none.
EVENT_ARRAYS: dict[str, tuple[str, int]] = {
    "name": ("int32", -1),
    "start": ("int64", 0),
    "end": ("int64", 0),
    "thread": ("int32", 1),
    "fwd_thread": ("int32", 0),
    "seq": ("int64", -1),
    "scope": ("int8", OPERATOR),
    "parent": ("int64", -1),
    "failed": ("bool", 0),
    "unfinished": ("bool", 0),
    "shape": ("int32", -1),
    "stack": ("int32", -1),
    "module": ("int32", -1),
    "flops": ("int64", 0),
    "bytes_moved": ("int64", 0),
    "team": ("int16", 1),
    "saved": ("int64", 0),
}
MEMORY_ARRAYS = {
    "mem_time": "int64",
    "mem_bytes": "int64",
    "mem_total": "int64",
    "mem_address": "uint64",
    "mem_thread": "int32",
    "mem_event": "int64",
    "mem_device": "int32",
}
KERNEL_ARRAYS = {
    "kernel_name": "int32",
    "kernel_start": "int64",
    "kernel_end": "int64",
    "kernel_event": "int64",
    "kernel_device": "int32",
    "kernel_stream": "int64",
}
TABLES = ("names", "shapes", "stacks", "modules", "threads", "thread_names")
ALL_ARRAYS = (*EVENT_ARRAYS, *MEMORY_ARRAYS, *KERNEL_ARRAYS)
NUMBERS = ("base_ns", "wall_ns", "dropped")
VERSION = 1


class Columns:
    """
    The events of a session, by column.

    Events stand in any order; those of one thread by start, and the longer first where starts are
    equal. Times are nanoseconds from the start of the session. What was not recorded has the value
    that means none.

    Attributes
    ----------
    names : list of str
        Names of events; `name` holds indices into it.
    name, start, end, thread, fwd_thread, seq, scope, parent : ndarray
        Per event: its name, its times, its thread (1, 2, ...), the thread of its forward operator
        (0 if there is none), its sequence number (-1), its scope (0 operator, 1 backward, 7 label)
        and the event that was open around it (-1), in this order of events.
    failed, unfinished : ndarray of bool
        Whether an exception left the event; whether it was open when the session ended.
    shape, stack, module : ndarray
        Indices into `shapes`, `stacks` and `modules`, or -1.
    flops, bytes_moved, team, saved : ndarray
        Operations, bytes of operands and results, threads of the kernel, and the bytes that the
        node keeps for backward.
    shapes : list of tuple
        (input shapes, plain values, dtypes), each a list with an entry for each argument.
    stacks : list of tuple of str
        ``"file.py(12): name"``, innermost first.
    modules : list of str
        Paths of modules, such as ``"Net.layers.0"``.
    mem_time, mem_bytes, mem_total, mem_address, mem_thread, mem_event, mem_device : ndarray
        Per change of memory, by time: bytes (negative if released), what is allocated after it on
        that device, the block, the innermost event that was open (-1), and the device: 0 for the
        CPU, else 64 times the place of its type, plus its index.
    kernel_name, kernel_start, kernel_end, kernel_event, kernel_device, kernel_stream : ndarray
        Per kernel or copy of a GPU: its name, its times, the innermost event that was open when it
        was put on its stream (-1), the number of the GPU, and that of the stream.
    threads : list of int
        Native identities of threads 1, 2, ...
    thread_names : list of str
        Their names.
    base_ns : int
        `time.time_ns` at the start.
    wall_ns : int
        Length of the session.
    dropped : int
        Events that the buffer could not hold.
    options : dict
        What was asked for.
    """

    __slots__ = (*EVENT_ARRAYS, *MEMORY_ARRAYS, *KERNEL_ARRAYS, *TABLES, *NUMBERS, "options")

    names: list[str]
    name: np.ndarray
    start: np.ndarray
    end: np.ndarray
    thread: np.ndarray
    fwd_thread: np.ndarray
    seq: np.ndarray
    scope: np.ndarray
    parent: np.ndarray
    failed: np.ndarray
    unfinished: np.ndarray
    shape: np.ndarray
    stack: np.ndarray
    module: np.ndarray
    flops: np.ndarray
    bytes_moved: np.ndarray
    team: np.ndarray
    saved: np.ndarray
    mem_time: np.ndarray
    mem_bytes: np.ndarray
    mem_total: np.ndarray
    mem_address: np.ndarray
    mem_thread: np.ndarray
    mem_event: np.ndarray
    mem_device: np.ndarray
    kernel_name: np.ndarray
    kernel_start: np.ndarray
    kernel_end: np.ndarray
    kernel_event: np.ndarray
    kernel_device: np.ndarray
    kernel_stream: np.ndarray
    shapes: list[tuple]
    stacks: list[tuple[str, ...]]
    modules: list[str]
    threads: list[int]
    thread_names: list[str]
    base_ns: int
    wall_ns: int
    dropped: int
    options: dict[str, Any]

    def __init__(self, **columns: Any) -> None:
        count = len(columns.get("name", ()))
        for key, (kind, none) in EVENT_ARRAYS.items():
            values = columns.pop(key, None)
            if values is not None:
                array = np.asarray(values, kind)
            elif none:
                array = np.full(count, none, kind)
            else:
                array = np.zeros(count, kind)  # of memory that is touched when it is read
            if array.shape != (count,):
                raise ValueError(f"Columns: {key} has shape {array.shape}, expected ({count},)")
            setattr(self, key, array)
        for first, arrays in (("mem_time", MEMORY_ARRAYS), ("kernel_name", KERNEL_ARRAYS)):
            rows = len(columns.get(first, ()))
            for key, kind in arrays.items():
                array = np.asarray(columns.pop(key, np.zeros(rows, kind)), kind)
                if array.shape != (rows,):
                    raise ValueError(f"Columns: {key} has shape {array.shape}, expected ({rows},)")
                setattr(self, key, array)
        for key in TABLES:
            setattr(self, key, list(columns.pop(key, ())))
        for key in NUMBERS:
            setattr(self, key, int(columns.pop(key, 0)))
        self.options = dict(columns.pop("options", ()))
        if columns:
            raise TypeError(f"Columns: unknown {', '.join(sorted(columns))}")

    def __len__(self) -> int:
        return len(self.name)

    def __repr__(self) -> str:
        return f"<Columns of {len(self)} events, {len(self.mem_time)} changes of memory>"

    def save(self, path: str | Path) -> None:
        """
        Write everything to a compressed file of NumPy's (``.npz``), without pickles.

        Parameters
        ----------
        path : str or Path
            The file; its name is taken as it is.
        """
        tables = {key: getattr(self, key) for key in (*TABLES, *NUMBERS, "options")}
        text = json.dumps({"version": VERSION, **tables}, default=str)
        arrays = {key: getattr(self, key) for key in ALL_ARRAYS}
        # Given a name, NumPy would append a suffix to it.
        with open(path, "wb") as file:
            np.savez_compressed(file, tables=np.frombuffer(text.encode(), np.uint8), **arrays)

    @classmethod
    def load(cls, path: str | Path | io.IOBase) -> Columns:
        """
        Read what :meth:`save` wrote.

        Raises
        ------
        ValueError
            If the file is something else, or of a later version.
        """
        try:
            with np.load(path, allow_pickle=False) as file:
                arrays = {key: file[key] for key in (*EVENT_ARRAYS, *MEMORY_ARRAYS)}
                # Files of before there were GPUs have none.
                arrays |= {key: file[key] for key in KERNEL_ARRAYS if key in file}
                tables = json.loads(file["tables"].tobytes().decode())
        except (KeyError, ValueError, EOFError, AttributeError) as error:
            raise ValueError(
                f"{path} is no file of a profile: write one with prof.save(path)"
            ) from error
        version = tables.pop("version", None)
        if version != VERSION:
            raise ValueError(
                f"{path} has version {version}, this package reads {VERSION}: update autograd_cy"
            )
        tables["shapes"] = [tuple(entry) for entry in tables["shapes"]]
        tables["stacks"] = [tuple(entry) for entry in tables["stacks"]]
        return cls(**arrays, **tables)


def joined(parts: Sequence[Columns]) -> Columns:
    """
    Several sessions as one, with times from the start of the first.

    Parameters
    ----------
    parts : sequence of Columns

    Returns
    -------
    Columns
    """
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return Columns()
    columns: dict[str, Any] = {"options": parts[0].options, "base_ns": parts[0].base_ns}
    pieces: dict[str, list[np.ndarray]] = {key: [] for key in ALL_ARRAYS}
    tables: dict[str, dict[Any, int]] = {key: {} for key in ("names", "stacks", "modules")}
    threads: dict[int, str] = {}
    shapes: list[tuple] = []
    events = wall = 0
    for part in parts:
        later = part.base_ns - parts[0].base_ns
        for native, name in zip(part.threads, part.thread_names):
            threads[native] = name or threads.get(native, "")
        number = [0, *(1 + list(threads).index(native) for native in part.threads)]
        number += range(len(number), int(part.thread.max(initial=0)) + 1)
        new_values = {
            "start": part.start + later,
            "end": part.end + later,
            "mem_time": part.mem_time + later,
            "parent": np.where(part.parent >= 0, part.parent + events, -1),
            "kernel_start": part.kernel_start + later,
            "kernel_end": part.kernel_end + later,
            "kernel_event": np.where(part.kernel_event >= 0, part.kernel_event + events, -1),
            "mem_event": np.where(part.mem_event >= 0, part.mem_event + events, -1),
            "shape": np.where(part.shape >= 0, part.shape + len(shapes), -1),
            **{key: np.array(number)[getattr(part, key)] for key in ("thread", "fwd_thread")},
            "mem_thread": np.array(number)[part.mem_thread],
        }
        for key, table in zip(("name", "stack", "module"), tables.values()):
            own = getattr(part, {"name": "names", "stack": "stacks", "module": "modules"}[key])
            new = np.array([table.setdefault(entry, len(table)) for entry in own] + [-1], np.int64)
            new_values[key] = new[getattr(part, key)]
            if key == "name":
                new_values["kernel_name"] = new[part.kernel_name]
        for key, arrays in pieces.items():
            arrays.append(new_values.get(key, getattr(part, key)))
        shapes += part.shapes
        events += len(part)
        wall = max(wall, later + part.wall_ns)
    columns |= {key: np.concatenate(arrays) for key, arrays in pieces.items()}
    columns |= {key: list(table) for key, table in tables.items()}
    columns |= {"shapes": shapes, "threads": list(threads), "thread_names": list(threads.values())}
    columns |= {"wall_ns": wall, "dropped": sum(part.dropped for part in parts)}
    return Columns(**columns)
