"""Reductions and losses on a GPU beside PyTorch's: times, bandwidth, errors.

    python -m benchmarks.programs.gpu_reductions [--json FILE] [--megabytes 64,1024] [--quick]

Both libraries run in one process on the same memory (DLPack), in turns, so that clocks and heat are
shared. Events lie around a loop of calls that takes turns among buffers larger than the cache
together; a row is the median of the repeats, with their spread. Errors are those against float64,
relative to the sum of absolute values where there is one. Without PyTorch the times of this library
alone are printed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np

import autograd_cy as ag

try:
    import torch
except ImportError:
    torch = None

CEILING = 4.3  # TB/s that an H200 copies with
CACHE = 4 * 60 << 20  # bytes of buffers that are rotated among: several times the L2 cache
WARM_UPS, REPEATS = 3, 20

ITEM = {"float32": 4, "bfloat16": 2, "float16": 2, "float64": 8, "int8": 1, "complex64": 8}

Call = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Case:
    """A reduction: `run(library, operands)`, and how NumPy computes it in float64."""

    name: str
    layout: str  # rows, columns, maps, whole, small
    run: Call
    exact: Callable[..., np.ndarray] | None
    operands: int = 1
    scale: Callable[..., np.ndarray] | None = None  # what errors are relative to
    dtypes: tuple[str, ...] = ("float32", "bfloat16")


@dataclass
class Row:
    """The result of one case."""

    op: str
    shape: list[int]
    dtype: str
    layout: str
    ours_ms: float
    spread: float
    torch_ms: float | None
    ratio: float | None
    terabytes_per_second: float
    share: float
    error: float | None


def _sum_of(axis: int | tuple[int, ...] | None) -> Callable[..., np.ndarray]:
    return lambda x: np.abs(x).sum(axis)


def _cases() -> list[Case]:
    found = []
    for layout, axis in (("rows", 1), ("columns", 0), ("whole", None), ("maps", (0, 2, 3))):

        def along(name: str, axis: Any = axis, **more: Any) -> Call:
            if axis is None:
                return lambda lib, x: getattr(lib, name)(x[0], **more)
            return lambda lib, x: getattr(lib, name)(x[0], axis, **more)

        kinds = (
            ("float32", "bfloat16", "float64", "complex64")
            if layout != "maps"
            else ("float32", "bfloat16")
        )
        found.append(
            Case("sum", layout, along("sum"), lambda x, a=axis: x.sum(a), 1, _sum_of(axis), kinds)
        )
        found.append(Case("var", layout, along("var"), lambda x, a=axis: x.var(a, ddof=1)))
        found.append(
            Case("amax", layout, along("amax"), lambda x, a=axis: x.max(a),
                 dtypes=("float32", "bfloat16", "int8"))
        )  # fmt: skip
        if layout == "maps":
            continue
        dims = axis if axis is not None else (0, 1)
        found.append(
            Case("logsumexp", layout, along("logsumexp", dims),
                 lambda x, a=axis: np.log(np.exp(x).sum(a)))
        )  # fmt: skip
        found.append(Case("argmax", layout, along("argmax"), None))
        found.append(Case("any", layout, along("any"), None, dtypes=("float32",)))
    functions = {
        "mse_loss": lambda x, t: np.square(x - t).mean(),
        "l1_loss": lambda x, t: np.abs(x - t).mean(),
        "binary_cross_entropy_with_logits": lambda x, t: (x * (1 - t) + np.logaddexp(0, -x)).mean(),
    }
    for name, exact in functions.items():
        found.append(
            Case(
                name,
                "whole",
                lambda lib, x, n=name: getattr(lib.nn.functional, n)(x[0], x[1]),
                exact,
                2,
            )
        )
    found.append(Case("sum", "small", lambda lib, x: lib.sum(x[0]), None, dtypes=("float32",)))
    return found


def shape_of(case: Case, dtype: str, nbytes: int) -> tuple[int, ...]:
    """About `nbytes` of one operand."""
    if case.layout == "small":
        return (8, 16)
    n = max(nbytes // case.operands // ITEM[dtype], 64 * 64)
    if case.layout == "rows":
        return (n // 1024 or 1, 1024)
    if case.layout == "maps":
        return (max(n // (64 * 56 * 56), 1), 64, 56, 56)
    return (n // 4096 or 1, 4096)


def make(shape: tuple[int, ...], dtype: str, seed: int) -> Any:
    """Random numbers on the GPU, in this library."""
    generator = ag.Generator(device="cuda").manual_seed(seed)
    if dtype == "int8":
        return ag.randint(-100, 100, shape, generator=generator, device="cuda").to(ag.int8)
    x = ag.rand(*shape, generator=generator, device="cuda", dtype=ag.float32)
    return (x * 0.9 + 0.05).to(getattr(ag, dtype))


def timed(library: Any, calls: list[Callable[[], Any]], loops: int) -> float:
    """Milliseconds of a call, over a loop of them between two events."""
    start, end = (library.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for i in range(loops):
        calls[i % len(calls)]()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / loops


def error_of(case: Case, result: Any, operands: list[Any]) -> float | None:
    if case.exact is None or operands[0].numel() > 1 << 26:
        return None
    wide = [
        (x.cpu().to(ag.complex128) if x.is_complex() else x.cpu().double()).numpy()
        for x in operands
    ]
    found = result.cpu()
    found = (found.to(ag.complex128) if found.is_complex() else found.double()).numpy()
    expected = case.exact(*wide)
    scale = np.abs(expected) if case.scale is None else case.scale(*wide)
    return float(np.max(np.abs(found - expected) / np.maximum(scale, 1e-30)))


def measure(case: Case, dtype: str, nbytes: int, quick: bool) -> Row:
    shape = shape_of(case, dtype, nbytes)
    size = int(np.prod(shape)) * ITEM[dtype] * case.operands
    copies = 1 if quick else max(1, min(16, CACHE // size + 1))
    sets = [[make(shape, dtype, 10 * i + k) for k in range(case.operands)] for i in range(copies)]
    ours = [lambda x=x: case.run(ag, x) for x in sets]
    error = error_of(case, ours[0](), sets[0])
    theirs = []
    if torch is not None and torch.cuda.is_available():
        shared = [[torch.from_dlpack(t) for t in x] for x in sets]
        theirs = [lambda x=x: case.run(torch, x) for x in shared]
    loops = 2 if quick else max(20, min(2000, (4 << 30) // max(size, 1 << 20)))
    times: dict[str, list[float]] = {"ours": [], "torch": []}
    for i in range(1 if quick else WARM_UPS + REPEATS):
        for name, library, calls in (("ours", ag, ours), ("torch", torch, theirs)):
            if calls:
                found = timed(library, calls, loops)
                if quick or i >= WARM_UPS:
                    times[name].append(found)
    ms = statistics.median(times["ours"])
    other = statistics.median(times["torch"]) if times["torch"] else None
    rate = size / ms / 1e9 if ms else 0.0
    spread = (max(times["ours"]) - min(times["ours"])) / ms if ms else 0.0
    return Row(case.name, list(shape), dtype, case.layout, ms, spread, other,
               ms / other if other else None, rate, rate / CEILING, error)  # fmt: skip


def about() -> dict[str, str]:
    """The machine, the versions and the commit."""
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False
    ).stdout.strip()
    return {
        "gpu": ag.cuda.get_device_name(0),
        "torch": "none" if torch is None else torch.__version__,
        "cuda of torch": "none" if torch is None else str(torch.version.cuda),
        "commit": commit,
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--megabytes", help="of operands: 64,1024")
    parser.add_argument("--only", default="")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="tiny sizes, one loop of two calls, to see that it runs",
    )
    options = parser.parse_args()
    sizes = options.megabytes or ("0.25" if options.quick else "64,1024")
    rows = []
    print(
        f"{'op':34}{'layout':9}{'dtype':11}{'MB':>6}{'ours ms':>10}{'torch':>10}{'ratio':>7}"
        f"{'TB/s':>7}{'share':>7}{'error':>10}"
    )
    for megabytes in map(float, sizes.split(",")):
        for case in _cases():
            if options.only not in case.name:
                continue
            for dtype in case.dtypes:
                row = measure(case, dtype, int(megabytes * (1 << 20)), options.quick)
                rows.append(row)
                other = "" if row.torch_ms is None else f"{row.torch_ms:.4f}"
                ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
                error = "" if row.error is None else f"{row.error:.1e}"
                print(
                    f"{row.op:34}{row.layout:9}{row.dtype:11}{megabytes:6g}{row.ours_ms:10.4f}"
                    f"{other:>10}{ratio:>7}{row.terabytes_per_second:7.2f}{row.share:7.0%}{error:>10}"
                )
    if options.json:
        options.json.write_text(
            json.dumps({"about": about(), "rows": [asdict(r) for r in rows]}, indent=1)
        )


if __name__ == "__main__":
    main()
