"""
Elementwise work, casts and copies on a GPU beside torch's.

``python -m benchmarks.programs.gpu_elementwise --json FILE``. Both libraries run in this process,
in turns, on the same memory (DLPack) and on the legacy default stream, so that clocks and heat are
shared. Times are between two events around some calls, the median of the repeats; buffers take
turns, so that nothing is found in the L2 cache. The host's cost is the time in which calls of four
elements come back. Without torch, or without its CUDA, ours are measured alone; ``--quick`` takes
sizes for an emulated driver, on which no time means anything.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import statistics
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

import autograd_cy as ours

try:
    import torch as theirs

    if not theirs.cuda.is_available():
        theirs = None
except ImportError:
    theirs = None

COPY_RATE = 4.3  # TB/s that copies reach on an H200
L2_BYTES = 60 << 20
RANDOM = 1 << 20  # different numbers in an operand


@dataclass(frozen=True)
class Case:
    """One row of the table."""

    op: str
    call: Callable  # of a library and the operands
    inputs: tuple[str, ...]  # how operands lie: see `operand`
    dtype: str = "float32"
    moved: float = 0  # bytes for an element of the result; 0: each operand and the result once
    result: str = ""  # dtype of the result, if it is another one


def _unary(name: str, dtype: str = "float32") -> Case:
    return Case(name, lambda lib, x: getattr(lib, name)(x), ("dense",), dtype)


CASES = [
    Case("clone", lambda lib, x: x.clone(), ("dense",)),
    Case("zero_", lambda lib, x: x.zero_(), ("dense",), moved=4),
    Case("fill_", lambda lib, x: x.fill_(1.5), ("dense",), moved=4),
    Case("add", lambda lib, x, y: x + y, ("dense", "dense")),
    Case("add_", lambda lib, x, y: x.add_(y), ("dense", "dense")),
    Case("add", lambda lib, x, y: x + y, ("odd", "dense")),
    Case("add a number", lambda lib, x: x + 1.5, ("dense",)),
    Case("add a 0-d tensor", lambda lib, x, y: x + y, ("dense", "scalar"), moved=8),
    Case("add a row", lambda lib, x, y: x + y, ("dense", "row"), moved=8),
    Case("add a column", lambda lib, x, y: x + y, ("dense", "column"), moved=8),
    Case("add", lambda lib, x, y: x + y, ("transposed", "dense")),
    Case("add", lambda lib, x, y: x + y, ("transposed", "transposed")),
    Case("add", lambda lib, x, y: x + y, ("every second", "every second"), moved=20),
    Case("addcmul", lambda lib, x, y, z: lib.addcmul(x, y, z), ("dense",) * 3),
    Case("where", lambda lib, c, x, y: lib.where(c, x, y), ("mask", "dense", "dense"), moved=13),
    Case("gt", lambda lib, x, y: x > y, ("dense", "dense"), moved=9, result="bool"),
    *map(_unary, ("relu", "exp", "log", "tanh", "sigmoid", "sin", "erf", "sqrt")),
    Case("gelu", lambda lib, x: lib.nn.functional.gelu(x), ("dense",)),
    Case("silu", lambda lib, x: lib.nn.functional.silu(x), ("dense",)),
    Case("softplus", lambda lib, x: lib.nn.functional.softplus(x), ("dense",)),
    Case("pow", lambda lib, x, y: lib.pow(x.abs(), y), ("dense", "dense"), moved=20),
    Case("add", lambda lib, x, y: x + y, ("dense", "dense"), "float16"),
    Case("add", lambda lib, x, y: x + y, ("dense", "dense"), "bfloat16"),
    _unary("tanh", "bfloat16"),
    Case("gelu", lambda lib, x: lib.nn.functional.gelu(x), ("dense",), "bfloat16"),
    Case("add", lambda lib, x, y: x + y, ("dense", "dense"), "float64"),
    _unary("exp", "float64"),
    Case("mul", lambda lib, x, y: x * y, ("dense", "dense"), "complex64"),
    Case("add", lambda lib, x, y: x + y, ("dense", "dense"), "int64"),
    Case("bitwise_not", lambda lib, x: ~x, ("dense",), "uint8"),
    Case("to bfloat16", lambda lib, x: x.to(lib.bfloat16), ("dense",), result="bfloat16"),
    Case("to float32", lambda lib, x: x.to(lib.float32), ("dense",), "bfloat16", result="float32"),
    Case("to int32", lambda lib, x: x.to(lib.int32), ("dense",), result="int32"),
    Case("contiguous", lambda lib, x: x.contiguous(), ("transposed",)),
    Case("contiguous", lambda lib, x: x.contiguous(), ("transposed",), "bfloat16"),
    Case("contiguous", lambda lib, x: x.contiguous(), ("batches transposed",)),
    Case("contiguous", lambda lib, x: x.contiguous(), ("half of each row",)),
    Case("contiguous", lambda lib, x: x.contiguous(), ("every second",), moved=12),
]

TINY = [
    ("add", lambda lib, x, y: x + y),
    ("add a number", lambda lib, x, y: x + 1.5),
    ("add_", lambda lib, x, y: x.add_(y)),
    ("exp", lambda lib, x, y: lib.exp(x)),
    ("gt", lambda lib, x, y: x > y),
    ("transposed", lambda lib, x, y: x.t() + y),
    ("to float64", lambda lib, x, y: x.to(lib.float64)),
    ("fill_", lambda lib, x, y: x.fill_(1.5)),
    ("clone", lambda lib, x, y: x.clone()),
]


def to_theirs(x):
    """Return a tensor of torch on the same memory."""
    return theirs.from_dlpack(x)


def dtype_of(lib: ModuleType, name: str):
    return getattr(lib, name)


def size_of(name: str) -> int:
    return ours.empty(0, dtype=getattr(ours, name)).element_size()


def values(shape: tuple[int, ...], dtype: str, seed: int):
    """Random numbers on the GPU, no zeros; many are the same ones again and again."""
    generator = ours.Generator().manual_seed(seed)
    count = math.prod(shape)
    few = ours.rand(min(count, RANDOM), generator=generator) * 3 + 0.25
    few = few.to(getattr(ours, dtype)).to("cuda")
    if count > RANDOM:
        few = few.expand(-(-count // RANDOM), RANDOM).contiguous().reshape(-1)
    return few[:count].reshape(shape)


def operand(kind: str, rows: int, columns: int, dtype: str, seed: int):
    """An operand of the shape (rows, columns) or one that broadcasts: base, and view of it."""
    if kind == "scalar":
        return values((), dtype, seed), lambda x: x
    if kind == "row":
        return values((columns,), dtype, seed), lambda x: x
    if kind == "column":
        return values((rows, 1), dtype, seed), lambda x: x
    if kind == "mask":
        return values((rows, columns), dtype, seed) > 1.5, lambda x: x
    if kind == "odd":
        flat = values((rows * columns + 1,), dtype, seed)
        return flat, lambda x: x[1:].reshape(rows, columns)
    if kind == "transposed":
        return values((columns, rows), dtype, seed), lambda x: x.t()
    if kind == "batches transposed":
        shape = (rows // 16, columns, 16)
        return values(shape, dtype, seed), lambda x: x.transpose(1, 2)
    if kind == "every second":
        return values((rows, 2 * columns), dtype, seed), lambda x: x[:, ::2]
    if kind == "half of each row":
        return values((rows, 2 * columns), dtype, seed), lambda x: x[:, :columns]
    return values((rows, columns), dtype, seed), lambda x: x


class Timer:
    """Milliseconds of calls between two events of the default stream."""

    def __init__(self, repeats: int):
        self.repeats = repeats
        self.start = ours.cuda.Event(enable_timing=True)
        self.end = ours.cuda.Event(enable_timing=True)

    def once(self, call: Callable, sets: list, number: int) -> float:
        self.start.record()
        for i in range(number):
            call(*sets[i % len(sets)])
        self.end.record()
        self.end.synchronize()
        return self.start.elapsed_time(self.end) / number

    def rounds(self, sides: dict[str, tuple[Callable, list]], number: int) -> dict[str, list]:
        """Times of each side, in turns."""
        for call, sets in sides.values():
            for _ in range(3):
                self.once(call, sets, number)
        times: dict[str, list] = {name: [] for name in sides}
        for _ in range(self.repeats):
            for name, (call, sets) in sides.items():
                times[name].append(self.once(call, sets, number))
        return times


def bytes_of(case: Case, count: int) -> float:
    if case.moved:
        return case.moved * count * size_of(case.dtype) / 4
    return count * (len(case.inputs) * size_of(case.dtype) + size_of(case.result or case.dtype))


def error_of(case: Case, operands: list, views: list) -> float | None:
    """The greatest relative error of a part of the result, beside float64 on the CPU."""
    if not case.dtype.startswith(("float", "bfloat")) or case.op.endswith("_"):
        return None
    seen = [view(x) for x, view in zip(operands, views)]
    rows = max(len(x) if x.ndim > 1 else 1 for x in seen)
    seen = [x[:64] if x.ndim > 1 and len(x) == rows else x for x in seen]
    got = case.call(ours, *seen).cpu()
    if not got.dtype.is_floating_point:
        return None
    exact = [x.cpu() if x.dtype == ours.bool else x.cpu().double() for x in seen]
    want = case.call(ours, *exact).double()
    return float(((got.double() - want).abs() / want.abs().clamp(min=1e-30)).max())


def measure(case: Case, nbytes: int, timer: Timer) -> dict:
    """One row: times of both libraries for results of about so many bytes."""
    count = nbytes // size_of(case.dtype)
    columns = 1024 if count >= 1 << 16 else 32
    rows = max(16, count // columns // 16 * 16)
    moved = bytes_of(case, rows * columns)
    sets = 1 + int(4 * L2_BYTES // moved) if moved > L2_BYTES // 8 else 1
    bases, views = [], []
    for k in range(sets):
        made = [
            operand(kind, rows, columns, case.dtype, 10 * k + i)
            for i, kind in enumerate(case.inputs)
        ]
        bases.append([x for x, _ in made])
        views = [view for _, view in made]

    def seen(bases):
        return [[view(x) for x, view in zip(base, views)] for base in bases]

    error = error_of(case, bases[0], views)
    sides = {"ours": (lambda *x: case.call(ours, *x), seen(bases))}
    if theirs is not None:
        shared = seen([[to_theirs(x) for x in base] for base in bases])
        sides["torch"] = (lambda *x: case.call(theirs, *x), shared)
    number = max(1, min(100, int(4e9 // moved))) if timer.repeats > 2 else 1
    times = timer.rounds(sides, number)
    row = {
        "op": case.op,
        "shape": [rows, columns],
        "dtype": case.dtype,
        "layout": ", ".join(case.inputs),
        "error": error,
    }
    for name, found in times.items():
        middle = statistics.median(found)
        row[f"{name}_ms"] = middle
        row[f"{name}_spread"] = (max(found) - min(found)) / middle if middle else None
        row[f"{name}_tbs"] = moved / middle / 1e9 if middle else None
    row["share"] = row["ours_tbs"] / COPY_RATE if row["ours_tbs"] else None
    if theirs is not None:
        row["ratio"] = row["ours_ms"] / row["torch_ms"]
    return row


def travelling(timer: Timer, nbytes: int) -> list[dict]:
    """Copies between the host and the GPU, in GB/s."""
    rows = []
    count = nbytes // 4
    host = ours.rand(count).pin_memory()
    there = ours.rand(count).to("cuda")
    calls = {
        "pinned to GPU": lambda lib, h, d: d.copy_(h, non_blocking=True),
        "GPU to pinned": lambda lib, h, d: h.copy_(d, non_blocking=True),
    }
    for name, call in calls.items():
        sides = {"ours": (lambda h, d, call=call: call(ours, h, d), [(host, there)])}
        if theirs is not None:
            own = theirs.rand(count).pin_memory()
            pair = (own, to_theirs(there))
            sides["torch"] = (lambda h, d, call=call: call(theirs, h, d), [pair])
        times = timer.rounds(sides, 4 if timer.repeats > 2 else 1)
        row = {"op": name, "shape": [count], "dtype": "float32", "layout": "dense"}
        for side, found in times.items():
            row[f"{side}_ms"] = statistics.median(found)
            row[f"{side}_tbs"] = nbytes / row[f"{side}_ms"] / 1e9 if row[f"{side}_ms"] else None
        rows.append(row)
    return rows


def host_cost(calls: int) -> list[dict]:
    """Microseconds in which calls of four elements come back, without waiting for the GPU."""
    x, y = (values((2, 2), "float32", seed) for seed in (0, 1))
    sides = {"ours": (ours, x, y)}
    if theirs is not None:
        sides["torch"] = (theirs, to_theirs(x), to_theirs(y))
    rows = []
    for name, call in TINY:
        row = {"op": name, "shape": [2, 2], "dtype": "float32", "layout": "host cost"}
        best: dict[str, float] = {}
        for _ in range(5):
            for side, (lib, a, b) in sides.items():
                lib.cuda.synchronize()
                begun = time.perf_counter()
                for _ in range(calls):
                    call(lib, a, b)
                spent = (time.perf_counter() - begun) / calls * 1e6
                lib.cuda.synchronize()
                best[side] = min(best.get(side, spent), spent)
        row |= {f"{side}_us": t for side, t in best.items()}
        if theirs is not None:
            row["ratio"] = best["ours"] / best["torch"]
        rows.append(row)
    return rows


def about() -> dict:
    """Return the machine, versions and date of the measurement."""
    try:
        commit = subprocess.run(
            ["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        commit = None
    return {
        "gpu": ours.cuda.get_device_name(0),
        "version": ours.__version__,
        "torch": theirs.__version__ if theirs is not None else None,
        "commit": commit,
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "copy_rate_tbs": COPY_RATE,
    }


def shown(row: dict) -> str:
    """A line of the table."""
    shape = "x".join(map(str, row["shape"]))
    head = f"{row['op']:18} {shape:>13} {row['dtype']:9} {row['layout']:26}"
    if "ours_us" in row:
        text = f"{row['ours_us']:9.2f} us"
        text += f" {row['torch_us']:9.2f} us" if "torch_us" in row else ""
    else:
        text = f"{row['ours_ms']:9.4f} ms {row['ours_tbs'] or 0:6.3f} TB/s"
        text += f" {row['torch_ms']:9.4f} ms" if "torch_ms" in row else ""
        text += f" error {row['error']:.0e}" if row.get("error") is not None else ""
    return f"{head} {text}" + (f"  ratio {row['ratio']:.2f}" if "ratio" in row else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument("--json", help="file for all figures")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, two repeats")
    parser.add_argument("--bytes", type=int, nargs="*", help="of results: 64 MB and 1 GB")
    parser.add_argument("--op", help="only cases whose name holds this")
    options = parser.parse_args()
    sizes = options.bytes or ([1 << 14] if options.quick else [64 << 20, 1 << 30])
    timer = Timer(2 if options.quick else 20)
    report = about() | {"rows": []}
    print(", ".join(f"{k} {v}" for k, v in report.items() if k != "rows"))

    def add(rows: list[dict]) -> None:
        for row in rows:
            report["rows"].append(row)
            print(shown(row), flush=True)

    for nbytes in sizes:
        for case in CASES:
            if not options.op or options.op in case.op:
                add([measure(case, nbytes, timer)])
        if not options.op:
            add(travelling(timer, nbytes))
    if not options.op:
        add(host_cost(20 if options.quick else 10_000))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=1)


if __name__ == "__main__":
    main()
