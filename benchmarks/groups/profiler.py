"""Profiler: recording, labels, and what is made of a recording.

Each case is a whole session or the operators alone, so that the difference of two cases is the cost
of an event. The goals: a fifth of PyTorch's cost of an event or less, and off, nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.case import Case
from benchmarks.inputs import leaf, uniform

OPERATORS = 1000


def _work(torch: Any) -> Callable:
    x = uniform(torch, 4)

    def work() -> None:
        for _ in range(OPERATORS):
            x * x

    return work


def _recorded(ask: Callable[[Any], Any] | None = None, **options: bool) -> Callable:
    """Products in a session, whose results are asked for or not."""

    def setup(torch: Any) -> Callable:
        work = _work(torch)
        profile = _profiler_of(torch).profile

        def run() -> None:
            with profile(**options) as prof:
                work()
            if ask is not None:
                ask(prof)

        return run

    return setup


def _backward(recorded: bool) -> Callable:
    def setup(torch: Any) -> Callable:
        x = leaf(uniform(torch, 4))
        profile = _profiler_of(torch).profile

        def run() -> None:
            y = x
            for _ in range(100):
                y = y * 1.01
            total = y.sum()
            with profile(enabled=recorded):
                total.backward()
            x.grad = None

        return run

    return setup


def _labels(recorded: bool) -> Callable:
    def setup(torch: Any) -> Callable:
        profiler = _profiler_of(torch)

        def run() -> None:
            with profiler.profile(enabled=recorded):
                for _ in range(100):
                    with profiler.record_function("label"):
                        pass

        return run

    return setup


def _profiler_of(torch: Any) -> Any:
    # autograd_cy loads it when it is first asked for.
    return torch.autograd.profiler


ALL = {"record_shapes": True, "profile_memory": True, "with_stack": True, "with_flops": True}
CASES = [
    Case("1000 products, off", _work),
    Case("1000 products, recorded", _recorded()),
    Case("1000 products, with shapes", _recorded(record_shapes=True)),
    Case("1000 products, with memory", _recorded(profile_memory=True)),
    Case("1000 products, with all", _recorded(**ALL)),
    Case("1000 products, averages", _recorded(lambda prof: prof.key_averages())),
    Case("1000 products, events", _recorded(lambda prof: prof.function_events)),
    Case("backward of 100 products, off", _backward(False)),
    Case("backward of 100 products, recorded", _backward(True)),
    Case("100 labels, off", _labels(False)),
    Case("100 labels, recorded", _labels(True)),
]
