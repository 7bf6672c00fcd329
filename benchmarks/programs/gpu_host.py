"""The cost of operators, backward and a step for the host of a GPU, beside the CPU's time.

    python -m benchmarks.programs.gpu_host [--emulated] [--json FILE] [--quick]

A row is the shortest of many short loops, in nanoseconds for a call. On a GPU the loops are short
enough that the host runs ahead. With ``--emulated`` they run on the emulated driver of tests/gpu,
whose launches do nothing then: what is left are this library, PyCUDA and the driver's bookkeeping.
Build that driver first (``python tests/gpu/emulator/build.py``).
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

EMULATOR = Path(__file__).resolve().parents[2] / "tests" / "gpu"


def shortest(call: Callable[[], Any], calls: int, loops: int) -> float:
    """Nanoseconds for a call."""
    call()
    found = float("inf")
    for _ in range(loops):
        begin = time.perf_counter_ns()
        for _ in range(calls):
            call()
        found = min(found, (time.perf_counter_ns() - begin) / calls)
        if ag.cuda.is_available():
            ag.cuda.synchronize()
    return found


def cases(place: str) -> dict[str, Callable[[], Any]]:
    """Return the cases to measure, on one device."""
    a, b, m = (ag.ones(*size, device=place) for size in ((4,), (4,), (4, 4)))
    r = ag.ones(4, device=place, requires_grad=True)
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
        "m.softmax(1)": lambda: m.softmax(1),
        "empty(4)": lambda: ag.empty(4, device=place),
        "8 of y * b + a, sum, backward": chain,
        "step of SGD, 4 parameters": optimizer.step,
        "training step, 4-4-4": train,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument("--emulated", action="store_true", help="on the emulated driver")
    parser.add_argument("--json", help="file for all figures")
    parser.add_argument("--quick", action="store_true", help="tiny, to see that it runs")
    options = parser.parse_args()
    if options.emulated:
        sys.path.insert(0, str(EMULATOR))
        from emulator import places

        os.environ["EMU_EMPTY"] = "1"
        places.start()
    calls, loops = (5, 2) if options.quick else (200, 300)
    rows: dict[str, dict[str, float]] = {}
    for place in ("cpu", "cuda"):
        for name, call in cases(place).items():
            rows.setdefault(name, {})[place] = shortest(call, calls, loops)
    print(f"{'':34}{'CPU':>10}{'host of GPU':>14}")
    for name, row in rows.items():
        print(f"{name:34}{row['cpu']:7.0f} ns{row['cuda']:11.0f} ns")
    if options.json:
        report = {
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            "device": ag.cuda.get_device_name(),
            "ns": rows,
        }
        Path(options.json).write_text(json.dumps(report, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
