"""
Products of matrices and vectors on a GPU beside torch's.

``python -m benchmarks.programs.gpu_products --json FILE``. Measured as gpu_elementwise.py does:
both libraries in one process, in turns, on the same memory, with no TF32 but in the rows that say
so. Rows named "own" are our kernels without cuBLAS. The error is that of our product beside the
same rows of one in float64 on the CPU. ``--quick`` takes sizes for an emulated driver.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable
from dataclasses import dataclass

import autograd_cy as ours
from benchmarks.programs.gpu_elementwise import L2_BYTES, Timer, about, theirs, to_theirs, values

# TFLOP/s of an H200 by its data sheet (TF32), or as reported on random data (halves).
CEILING = {"float32": 67, "float64": 67, "float16": 790, "bfloat16": 790, "tf32": 495}
COPY_RATE = 4.3  # TB/s, for products that are bound by memory


@dataclass(frozen=True)
class Case:
    """One row: operands by their shapes, as they lie."""

    op: str
    call: Callable  # of a library and the operands
    shapes: tuple[tuple[int, ...], ...]
    dtype: str = "float32"
    layout: str = "plain"
    tf32: bool = False
    own: bool = False  # without cuBLAS
    by_memory: bool = False  # judged by bytes, not by operations


def _mm(lib, a, b):
    return lib.mm(a, b)


def cases(n: int) -> list[Case]:
    """The rows for matrices of about n x n."""
    square, odd = ((n, n), (n, n)), ((n - 1, n + 1), (n + 1, n - 3))
    batch = ((16, n // 4, n // 4), (16, n // 4, n // 4))
    rows = [Case("mm", _mm, square, dtype) for dtype in ("float32", "float64", "float16")]
    rows += [
        Case("mm", _mm, square, "bfloat16"),
        Case("mm", _mm, square, tf32=True),
        Case("mm", _mm, odd),
        Case("mm", _mm, odd, "bfloat16"),
        Case("mm", lambda lib, a, b: lib.mm(a.t(), b), square, layout="left turned"),
        Case("mm", lambda lib, a, b: lib.mm(a, b.t()), square, "bfloat16", "right turned"),
        Case("bmm", lambda lib, a, b: lib.bmm(a, b), batch),
        Case("bmm", lambda lib, a, b: lib.bmm(a, b), batch, "bfloat16"),
        Case("bmm", lambda lib, a, b: lib.bmm(a, b[:1].expand_as(b)), batch, layout="one for all"),
        Case("addmm", lambda lib, a, b, c: lib.addmm(c, a, b), (*square, (n,)), "bfloat16"),
        Case(
            "linear",
            lambda lib, x, w, b: lib.nn.functional.linear(x, w, b),
            ((n, n), (n, n), (n,)),
        ),
        Case("mm", _mm, square, own=True),
        Case("mm", _mm, odd, "bfloat16", own=True),
        Case("mm", _mm, square, "int32", own=True),
        Case("mv", lambda lib, a, v: lib.mv(a, v), ((n, n), (n,)), by_memory=True),
        Case(
            "mv",
            lambda lib, a, v: lib.mv(a.t(), v),
            ((n, n), (n,)),
            layout="turned",
            by_memory=True,
        ),
        Case("dot", lambda lib, a, b: lib.dot(a, b), ((n * n,), (n * n,)), by_memory=True),
    ]
    return rows


def operations(case: Case) -> float:
    """Floating-point operations: 2 m n k."""
    first, second = case.shapes[:2]
    if case.op == "linear":
        return 2.0 * first[0] * first[1] * second[0]
    count = 2.0
    for size in first:
        count *= size
    return count * (second[-1] if len(second) > 1 else 1)


def error_of(case: Case, operands: list) -> float | None:
    """The greatest error beside float64, relative to the greatest value."""
    if not case.dtype.startswith(("float", "bfloat")):
        return None
    got = case.call(ours, *operands).double().cpu()
    want = case.call(ours, *(x.cpu().double() for x in operands))
    return float((got - want).abs().max() / want.abs().max().clamp(min=1e-30))


def measure(case: Case, timer: Timer, checked: bool) -> dict:
    """Times of both libraries."""
    from autograd_cy._C import cuda_blas

    moved = sum(values_bytes(shape, case.dtype) for shape in case.shapes)
    sets = 1 + int(4 * L2_BYTES // moved) if timer.repeats > 2 and case.by_memory else 2
    bases = [
        [values(shape, case.dtype, 10 * k + i) for i, shape in enumerate(case.shapes)]
        for k in range(min(sets, 32))
    ]
    sides = {"ours": (lambda *x: case.call(ours, *x), bases)}
    if theirs is not None and case.dtype != "int32":
        shared = [[to_theirs(x) for x in base] for base in bases]
        sides["torch"] = (lambda *x: case.call(theirs, *x), shared)
        theirs.backends.cuda.matmul.allow_tf32 = case.tf32
    ours.backends.cuda.matmul.allow_tf32 = case.tf32
    cuda_blas.choose(not case.own)
    try:
        number = 1 if timer.repeats <= 2 else max(1, min(100, int(2e13 // operations(case))))
        times = timer.rounds(sides, number)
        error = error_of(case, bases[0]) if checked else None
    finally:
        cuda_blas.choose(True)
        ours.backends.cuda.matmul.allow_tf32 = False
    row = {
        "op": case.op,
        "shape": [list(shape) for shape in case.shapes],
        "dtype": "tf32" if case.tf32 else case.dtype,
        "layout": case.layout + (", own" if case.own else ""),
        "error": error,
    }
    for name, found in times.items():
        middle = statistics.median(found)
        row[f"{name}_ms"] = middle
        row[f"{name}_spread"] = (max(found) - min(found)) / middle if middle else None
        if case.by_memory:
            row[f"{name}_tbs"] = moved / middle / 1e9 if middle else None
        else:
            row[f"{name}_tflops"] = operations(case) / middle / 1e9 if middle else None
    reached = row.get("ours_tbs" if case.by_memory else "ours_tflops")
    ceiling = COPY_RATE if case.by_memory else CEILING.get(row["dtype"])
    row["share"] = reached / ceiling if reached and ceiling else None
    if "torch_ms" in row:
        row["ratio"] = row["ours_ms"] / row["torch_ms"]
    return row


def values_bytes(shape: tuple[int, ...], dtype: str) -> int:
    """Bytes of an operand."""
    count = ours.empty(0, dtype=getattr(ours, dtype)).element_size()
    for size in shape:
        count *= size
    return count


def shown(row: dict) -> str:
    """A line of the table."""
    shape = " ".join("x".join(map(str, one)) for one in row["shape"])
    text = f"{row['op']:7} {shape:32} {row['dtype']:9} {row['layout']:14} {row['ours_ms']:9.4f} ms"
    if "ours_tbs" in row:
        text += f" {row['ours_tbs'] or 0:7.3f} TB/s"
    else:
        text += f" {row['ours_tflops'] or 0:7.1f} TFLOP/s"
    text += f" {row['torch_ms']:9.4f} ms  ratio {row['ratio']:.2f}" if "torch_ms" in row else ""
    return text + (f"  error {row['error']:.0e}" if row.get("error") is not None else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument("--json", help="file for all figures")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, two repeats")
    parser.add_argument("--sizes", type=int, nargs="*", help="of matrices: 256, 1024, 8192")
    parser.add_argument("--op", help="only cases whose name holds this")
    options = parser.parse_args()
    timer = Timer(2 if options.quick else 20)
    used, place = ours.backends.cuda.matmul._library()
    report = about() | {"cublas": place if used else None, "ceilings": CEILING, "rows": []}
    print(", ".join(f"{k} {v}" for k, v in report.items() if k not in ("rows", "ceilings")))
    for n in options.sizes or ([32] if options.quick else [256, 1024, 8192]):
        for case in cases(n):
            if options.op and options.op not in case.op:
                continue
            if case.own and n > 4096:
                continue
            row = measure(case, timer, n <= 1024)  # larger ones take the CPU too long
            report["rows"].append(row)
            print(shown(row), flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=1)


if __name__ == "__main__":
    main()
