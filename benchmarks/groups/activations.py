"""Activations: forward alone and with backward, small (calls count) and large (loops count).

Dropout is beside them, and contractions by einsum and distances of points, which have no group of
their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.case import Case
from benchmarks.inputs import leaf, normal, uniform

_FUNCTIONS: tuple[tuple[str, tuple], ...] = (
    ("silu", ()),
    ("mish", ()),
    ("elu", ()),
    ("selu", ()),
    ("leaky_relu", (0.1,)),
    ("softplus", ()),
    ("logsigmoid", ()),
    ("hardswish", ()),
    ("hardtanh", ()),
    ("hardshrink", ()),
    ("glu", ()),
)
SIZES = (64, 100_000)


def _forward(name: str, more: tuple, size: int) -> Callable:
    def setup(torch: Any) -> Callable:
        function, x = getattr(torch.nn.functional, name), normal(torch, size)
        return lambda: function(x, *more)

    return setup


def _trained(name: str, more: tuple, size: int) -> Callable:
    def setup(torch: Any) -> Callable:
        function, x = getattr(torch.nn.functional, name), leaf(normal(torch, size))
        grad = uniform(torch, size // 2 if name == "glu" else size, seed=2)

        def run() -> Any:
            x.grad = None
            function(x, *more).backward(grad)
            return x.grad

        return run

    return setup


def _prelu(torch: Any) -> Callable:
    x, weight = leaf(normal(torch, 32, 64, 16)), leaf(uniform(torch, 64))
    grad = uniform(torch, 32, 64, 16, seed=2)

    def run() -> Any:
        x.grad = weight.grad = None
        torch.nn.functional.prelu(x, weight).backward(grad)
        return weight.grad

    return run


def _dropout(name: str) -> Callable:
    def setup(torch: Any) -> Callable:
        function, x = getattr(torch.nn.functional, name), normal(torch, 32, 64, 16, 16)
        return lambda: function(x, 0.5, True).shape  # the values are random

    return setup


def _einsum(torch: Any) -> Callable:
    a, b = normal(torch, 8, 64, 32), normal(torch, 8, 32, 64, seed=1)
    return lambda: torch.einsum("bij,bjk->bik", a, b)


def _cdist(torch: Any) -> Callable:
    a, b = normal(torch, 200, 16), normal(torch, 300, 16, seed=1)
    return lambda: torch.cdist(a, b)


def _running(name: str) -> Callable:
    def setup(torch: Any) -> Callable:
        function, x = getattr(torch, name), normal(torch, 100, 1000)
        return lambda: function(x, 1)

    return setup


CASES = [
    *(Case(f"{n} {s}", _forward(n, more, s)) for n, more in _FUNCTIONS for s in SIZES),
    *(Case(f"{n} and backward {s}", _trained(n, more, s)) for n, more in _FUNCTIONS for s in SIZES),
    Case("prelu and backward 32x64x16", _prelu),
    *(Case(f"{n} 32x64x16x16", _dropout(n)) for n in ("dropout", "dropout2d", "alpha_dropout")),
    Case("einsum bij,bjk->bik 8x64x32", _einsum),
    Case("cdist 200x300", _cdist),
    *(Case(f"{n} 100x1000", _running(n)) for n in ("cummax", "logcumsumexp")),
]
