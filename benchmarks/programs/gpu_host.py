"""The cost of operators, backward and a step for the host of a GPU, beside the CPU's time.

    python -m benchmarks.programs.gpu_host [--emulated] [--check] [--json FILE] [--quick]

A row is the shortest of many short loops, in nanoseconds for a call, the loops of both devices by
turns. The last column is what the host of a GPU needs more than the CPU's whole call, in bare
launches: calls of PyCUDA's ``_launch_kernel`` with arguments that are there already, measured in
between. ``--check`` fails where that is more than `LIMITS` says.

On a GPU the loops are short enough that the host runs ahead. With ``--emulated`` they run on the
emulated driver of tests/gpu, whose launches do nothing then: what is left are this library and
PyCUDA. Build that driver first (``python tests/gpu/emulator/build.py``).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import autograd_cy as ag

# What the host of a GPU may need more than the CPU's whole call, in bare launches.
LIMITS = {
    "a + b of 4 elements": 4,
    "the same, recorded": 4,
    "m @ m recorded, 4 x 4": 4,
    "backward of r * b": 6,
    "backward of r.exp()": 6,
    "backward of m @ m": 6,
}
EMULATOR = Path(__file__).resolve().parents[2] / "tests" / "gpu"


def shortest(call: Callable[[], Any], calls: int) -> float:
    """Nanoseconds for a call, of one loop."""
    begin = time.perf_counter_ns()
    for _ in range(calls):
        call()
    found = (time.perf_counter_ns() - begin) / calls
    if ag.cuda.is_available():
        ag.cuda.synchronize()
    return found


def bare_launch(calls: int) -> float:
    """Nanoseconds for a launch by PyCUDA alone, of one loop."""
    from autograd_cy._C import cuda_launch

    kernel = cuda_launch.kernel_number("ew_f32", "add_f32")
    found = cuda_launch.bare_launches(kernel, 0, bytes(144), calls)  # no elements
    ag.cuda.synchronize()
    return found


def own_product(m: ag.Tensor) -> Callable[[], Any]:
    """Return the product by the package's own kernels, without cuBLAS."""
    from autograd_cy._C import cuda_blas

    def product() -> None:
        cuda_blas.choose(False)
        try:
            m @ m
        finally:
            cuda_blas.choose(True)

    return product


def backward_of(y: ag.Tensor, leaf: ag.Tensor) -> Callable[[], Any]:
    """Return the backward of one operator, whose graph stays."""
    gradient = ag.ones_like(y).detach()

    def backward() -> None:
        y.backward(gradient, retain_graph=True)
        leaf.grad = None

    return backward


def cases(place: str) -> dict[str, Callable[[], Any]]:
    """Return the cases to measure, on one device."""
    a, b, m = (ag.ones(*size, device=place) for size in ((4,), (4,), (4, 4)))
    r = ag.ones(4, device=place, requires_grad=True)
    w = ag.ones(4, 4, device=place, requires_grad=True)
    net = ag.nn.Sequential(ag.nn.Linear(4, 4), ag.nn.ReLU(), ag.nn.Linear(4, 4)).to(place)
    optimizer = ag.optim.SGD(net.parameters(), lr=0.0)
    net(m).sum().backward()

    def chain() -> None:
        y = r
        for _ in range(8):
            y = y * b + a
        y.sum().backward()
        r.grad = None

    def train() -> None:
        optimizer.zero_grad()
        net(m).sum().backward()
        optimizer.step()

    return {
        "a + b of 4 elements": lambda: a + b,
        "the same, recorded": lambda: r + b,
        "a.add_(b)": lambda: a.add_(b),
        "a + 1.0": lambda: a + 1.0,
        "a.sum()": a.sum,
        "m @ m, 4 x 4": lambda: m @ m,
        "m @ m recorded, 4 x 4": lambda: w @ m,
        "m @ m without cuBLAS": own_product(m) if place != "cpu" else lambda: m @ m,
        "m.softmax(1)": lambda: m.softmax(1),
        "empty(4)": lambda: ag.empty(4, device=place),
        "backward of r * b": backward_of(r * b, r),
        "backward of r.exp()": backward_of(r.exp(), r),
        "backward of m @ m": backward_of(w @ m, w),
        "8 of y * b + a, sum, backward": chain,
        "step of SGD, 4 parameters": optimizer.step,
        "training step, 4-4-4": train,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument("--emulated", action="store_true", help="on the emulated driver")
    parser.add_argument("--check", action="store_true", help="fail where LIMITS are exceeded")
    parser.add_argument("--json", help="file for all figures")
    parser.add_argument("--quick", action="store_true", help="tiny, to see that it runs")
    options = parser.parse_args()
    if options.emulated:
        sys.path.insert(0, str(EMULATOR))
        from emulator import places

        os.environ["EMU_EMPTY"] = "1"
        places.start()
    calls, loops = (5, 2) if options.quick else (200, 300)
    places_of = {place: cases(place) for place in ("cpu", "cuda")}
    rows: dict[str, dict[str, float]] = {}
    bare: dict[str, float] = {}
    for name in places_of["cpu"]:
        row = rows[name] = dict.fromkeys(places_of, float("inf"))
        for place in places_of:
            shortest(places_of[place][name], 2 * calls)  # warm
        bare[name] = float("inf")
        for _ in range(loops):
            for place, of_place in places_of.items():
                row[place] = min(row[place], shortest(of_place[name], calls))
            bare[name] = min(bare[name], bare_launch(calls))
    print(f"{'':34}{'CPU':>10}{'host of GPU':>14}{'more, in bare launches':>25}")
    too_much = []
    for name, row in rows.items():
        more = (row["cuda"] - row["cpu"]) / bare[name]
        limit = LIMITS.get(name)
        print(
            f"{name:34}{row['cpu']:7.0f} ns{row['cuda']:11.0f} ns{more:15.1f}"
            + (f" of {limit}" if limit else "")
        )
        if limit and more > limit:
            too_much.append(name)
    print(f"{'a bare launch':34}{min(bare.values()):21.0f} ns")
    if options.json:
        report = {
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            "device": ag.cuda.get_device_name(),
            "bare_launch_ns": bare,
            "ns": rows,
        }
        Path(options.json).write_text(json.dumps(report, indent=1), encoding="utf-8")
    if options.check and too_much:
        sys.exit(f"more than the limit: {', '.join(too_much)}")


if __name__ == "__main__":
    main()
