"""Micro: softmax and its logarithm over short and long rows, and along a dimension in front."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.case import Case
from benchmarks.inputs import leaf, normal, uniform

#: Shape and dimension: few and many classes, a vocabulary, scores of attention, columns, channels.
_SHAPES: dict[str, tuple[tuple[int, ...], int]] = {
    "64x10": ((64, 10), 1),
    "1000x100": ((1000, 100), 1),
    "128x1000": ((128, 1000), 1),
    "16x50257": ((16, 50257), 1),
    "32x128x128": ((32, 128, 128), 2),
    "100x1000 by columns": ((100, 1000), 0),
    "4x21x64x64 by channels": ((4, 21, 64, 64), 1),
}


def _forward(name: str, shape: tuple[int, ...], dim: int, dtype: str) -> Callable:
    def setup(torch: Any) -> Callable:
        function, a = getattr(torch, name), normal(torch, *shape, dtype=dtype)
        return lambda: function(a, dim)

    return setup


def _with_backward(name: str, shape: tuple[int, ...], dim: int, dtype: str) -> Callable:
    def setup(torch: Any) -> Callable:
        function, a = getattr(torch, name), leaf(normal(torch, *shape, dtype=dtype))
        grad = uniform(torch, *shape, seed=2, dtype=dtype)

        def run() -> Any:
            a.grad = None
            function(a, dim).backward(grad)
            return a.grad

        return run

    return setup


CASES = [
    Case(f"{name}{tail} {size} {dtype}", setup(name, shape, dim, dtype))
    for size, (shape, dim) in _SHAPES.items()
    for dtype in ("float32", "float64")
    for name in ("softmax", "log_softmax")
    for tail, setup in (("", _forward), (" and backward", _with_backward))
]
