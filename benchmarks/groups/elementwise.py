"""Micro: elementwise operators from a thousand to ten million elements, in float32 and float64.

From about a million elements on, memory bandwidth decides; the rate counts each operand once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.case import Case
from benchmarks.inputs import leaf, normal, uniform

SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
DTYPES = {"float32": 4, "float64": 8}

#: Name, operation on (torch, a, b), tensors read or written.
_PLAIN: tuple[tuple[str, Callable, int], ...] = (
    ("add", lambda torch, a, b: a + b, 3),
    ("mul", lambda torch, a, b: a * b, 3),
    ("div", lambda torch, a, b: a / b, 3),
    ("relu", lambda torch, a, b: torch.relu(a), 2),
    ("clamp", lambda torch, a, b: torch.clamp(a, 0.7, 1.3), 2),
    ("exp", lambda torch, a, b: torch.exp(a), 2),
    ("log", lambda torch, a, b: torch.log(a), 2),
    ("sqrt", lambda torch, a, b: torch.sqrt(a), 2),
    ("tanh", lambda torch, a, b: torch.tanh(a), 2),
    ("sigmoid", lambda torch, a, b: torch.sigmoid(a), 2),
    ("gelu", lambda torch, a, b: torch.nn.functional.gelu(a), 2),
    ("pow 3", lambda torch, a, b: a**3, 2),
    ("pow 1.7", lambda torch, a, b: a**1.7, 2),
)

#: Operators whose forward and backward pass are timed together.
_TRAINED = ("mul", "relu", "exp", "tanh", "sigmoid", "gelu")


def _operation(function: Callable, size: int, dtype: str) -> Case:
    def setup(torch: Any) -> Callable:
        a, b = uniform(torch, size, dtype=dtype), uniform(torch, size, dtype=dtype, seed=1)
        return lambda: function(torch, a, b)

    return setup


def _where(size: int, dtype: str) -> Callable:
    def setup(torch: Any) -> Callable:
        a, b = normal(torch, size, dtype=dtype), normal(torch, size, dtype=dtype, seed=1)
        condition = a > 0
        return lambda: torch.where(condition, a, b)

    return setup


def _add_in_place(size: int, dtype: str) -> Callable:
    def setup(torch: Any) -> Callable:
        a, step = uniform(torch, size, dtype=dtype), uniform(torch, size, dtype=dtype, seed=1)
        return lambda: a.add_(step, alpha=1e-9)

    return setup


def _with_backward(function: Callable, size: int) -> Callable:
    def setup(torch: Any) -> Callable:
        a, b = normal(torch, size), uniform(torch, size, seed=1)
        leaf(a)
        grad = uniform(torch, size, seed=2)

        def run() -> Any:
            a.grad = None
            function(torch, a, b).backward(grad)
            return a.grad

        return run

    return setup


#: Name, operation on (torch, a, b), shapes of the two: rows too short for a loop of their own,
#: repeated and turned operands, copies from other strides.
_LAYOUTS: tuple[tuple[str, Callable, tuple[int, ...], tuple[int, ...]], ...] = (
    ("broadcast (1000, 10, 8) by (10, 8)", lambda torch, a, b: a - b, (1000, 10, 8), (10, 8)),
    ("broadcast (1000, 1, 8) by (10, 8)", lambda torch, a, b: a - b, (1000, 1, 8), (10, 8)),
    ("broadcast (30000, 3) by (30000, 1)", lambda torch, a, b: a * b, (30000, 3), (30000, 1)),
    ("broadcast (30000, 3) by (3)", lambda torch, a, b: a + b, (30000, 3), (3,)),
    ("broadcast (3000, 32) by (32)", lambda torch, a, b: a + b, (3000, 32), (32,)),
    ("broadcast (1000, 100) by (1000, 1)", lambda torch, a, b: a * b, (1000, 100), (1000, 1)),
    ("compare (10000, 8) with (10000, 1)", lambda torch, a, b: a > b, (10000, 8), (10000, 1)),
    ("exp of three columns", lambda torch, a, b: a[:, :3].exp(), (10000, 8), (1,)),
    ("one element by 0.5", lambda torch, a, b: b.expand(100_000) * 0.5, (1,), (1,)),
    ("copy turned 300x300", lambda torch, a, b: a.t().contiguous(), (300, 300), (1,)),
    ("copy turned 100000x10", lambda torch, a, b: a.t().contiguous(), (100_000, 10), (1,)),
    ("add turned 300x300", lambda torch, a, b: a + b.t(), (300, 300), (300, 300)),
    ("copy of heads", lambda torch, a, b: a.transpose(1, 2).contiguous(), (8, 64, 4, 32), (1,)),
    (
        "channels last",
        lambda torch, a, b: a.permute(0, 2, 3, 1).contiguous(),
        (8, 64, 28, 28),
        (1,),
    ),
)

#: The same in float16, which is computed in float32.
_HALVES: tuple[tuple[str, Callable], ...] = (
    ("half add", lambda torch, a, b: a + b),
    ("half exp", lambda torch, a, b: torch.exp(a)),
    ("half to float", lambda torch, a, b: a.float()),
)


def _layout(
    function: Callable, first: tuple[int, ...], second: tuple[int, ...], dtype: str
) -> Callable:
    def setup(torch: Any) -> Callable:
        a, b = normal(torch, *first, dtype=dtype), normal(torch, *second, dtype=dtype, seed=1)
        return lambda: function(torch, a, b)

    return setup


def _half(function: Callable, size: int) -> Callable:
    def setup(torch: Any) -> Callable:
        a, b = uniform(torch, size).half(), uniform(torch, size, seed=1).half()
        return lambda: function(torch, a, b)

    return setup


def _cases() -> list[Case]:
    cases = []
    for dtype in DTYPES:
        for name, function, first, second in _LAYOUTS:
            cases.append(Case(f"{name} {dtype}", _layout(function, first, second, dtype)))
    for name, function in _HALVES:
        cases.append(Case(f"{name} 1e5", _half(function, 100_000)))
    for dtype, width in DTYPES.items():
        for size in SIZES:
            tail = f"{size:.0e} {dtype}".replace("e+0", "e")
            moved = float(size * width)
            for name, function, tensors in _PLAIN:
                setup = _operation(function, size, dtype)
                cases.append(Case(f"{name} {tail}", setup, work=tensors * moved, unit="B"))
            bytes_moved = 3 * moved + size
            cases.append(Case(f"where {tail}", _where(size, dtype), work=bytes_moved, unit="B"))
            in_place = _add_in_place(size, dtype)
            cases.append(Case(f"add_ {tail}", in_place, work=3 * moved, unit="B"))
    functions = {name: function for name, function, _ in _PLAIN}
    for name in _TRAINED:
        for size in (1_000, 100_000):
            setup = _with_backward(functions[name], size)
            cases.append(Case(f"{name} and backward {size:.0e}".replace("e+0", "e"), setup))
    return cases


CASES = _cases()
