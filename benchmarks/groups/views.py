"""Engine: views, and operations in place on them, which rewrite the history of their base.

Recording and backward are timed together. The goal is 0.3 of PyTorch's time or less.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.case import Case
from benchmarks.inputs import leaf, uniform


def _rows(count: int) -> Callable:
    """Add to `count` rows in turn, each through a view."""

    def setup(torch: Any) -> Callable:
        x, c = leaf(uniform(torch, 20, 4)), leaf(uniform(torch, 4, seed=1))

        def run() -> Any:
            x.grad = c.grad = None
            y = x * 1.0
            for row in range(count):
                y[row] += c
            y.sum().backward()
            return x.grad, c.grad

        return run

    return setup


def _same_view(torch: Any) -> Callable:
    """Change one view ten times, and use view and base afterwards."""
    x, c = leaf(uniform(torch, 20, 4)), uniform(torch, 4, seed=1)

    def run() -> Any:
        x.grad = None
        y = x * 1.0
        part = y[3:7]
        for _ in range(10):
            part.mul_(c)
        (y.sum() + part.sum()).backward()
        return x.grad

    return run


def _set_items(torch: Any) -> Callable:
    """Fill a fresh tensor row by row, as loops over time steps do."""
    x, c = leaf(uniform(torch, 4)), uniform(torch, 20, 4, seed=1)

    def run() -> Any:
        x.grad = None
        y = torch.zeros(20, 4)
        for row in range(20):
            y[row] = x * c[row]
        y.sum().backward()
        return x.grad

    return run


def _view_of_view(torch: Any) -> Callable:
    x = leaf(uniform(torch, 6, 4, 4))

    def run() -> Any:
        x.grad = None
        y = x * 1.0
        y[1:5].transpose(1, 2)[0].view(4, 4)[2].mul_(2.0)
        y.sum().backward()
        return x.grad

    return run


def _without_recording(torch: Any) -> Callable:
    y, c = uniform(torch, 20, 4), uniform(torch, 4, low=0.0, high=0.0)

    def run() -> Any:
        y[3] += c
        return y

    return run


def _plain_views(torch: Any) -> Callable:
    """Ten views that are only read, forward and backward."""
    x = leaf(uniform(torch, 4, 6))

    def run() -> Any:
        x.grad = None
        y = x
        for _ in range(5):
            y = y.t().contiguous().view(4, 6)
        y[1:, 2:].sum().backward()
        return x.grad

    return run


def _unbind(torch: Any) -> Callable:
    x = leaf(uniform(torch, 20, 4))

    def run() -> Any:
        x.grad = None
        torch.stack([row * 2.0 for row in x.unbind(0)]).sum().backward()
        return x.grad

    return run


CASES = [
    Case("x[0] += c", _rows(1)),
    Case("x[i] += c for 20 rows", _rows(20)),
    Case("10 changes of one view", _same_view),
    Case("20 rows set one by one", _set_items),
    Case("in place on a view of a view", _view_of_view),
    Case("x[3] += c, nothing recorded", _without_recording),
    Case("10 views that are read", _plain_views),
    Case("unbind and stack 20 rows", _unbind),
]
