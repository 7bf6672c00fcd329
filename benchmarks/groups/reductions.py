"""Micro: reductions and the softmax family, from a thousand to ten million elements.

Softmax and its kin run over rows of 100, as in a classifier; ``rows`` and ``columns`` name the
dimension that is reduced.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.case import Case
from benchmarks.groups.elementwise import DTYPES, SIZES
from benchmarks.inputs import leaf, normal, uniform

_ROW = 100

#: Name, operation on (torch, matrix), tensors read or written.
_OPERATIONS: tuple[tuple[str, Callable, int], ...] = (
    ("sum", lambda torch, a: a.sum(), 1),
    ("mean", lambda torch, a: a.mean(), 1),
    ("max", lambda torch, a: a.max(), 1),
    ("argmax", lambda torch, a: a.argmax(), 1),
    ("sum of rows", lambda torch, a: a.sum(1), 1),
    ("sum of columns", lambda torch, a: a.sum(0), 1),
    ("max of rows", lambda torch, a: a.max(1), 1),
    ("argmax of rows", lambda torch, a: a.argmax(1), 1),
    ("softmax", lambda torch, a: torch.softmax(a, 1), 2),
    ("log_softmax", lambda torch, a: torch.log_softmax(a, 1), 2),
    ("logsumexp", lambda torch, a: torch.logsumexp(a, 1), 1),
)

_TRAINED = ("sum of columns", "softmax", "log_softmax", "logsumexp")


def _operation(function: Callable, size: int, dtype: str) -> Callable:
    def setup(torch: Any) -> Callable:
        # A mean of one keeps sums away from zero.
        a = normal(torch, size // _ROW, _ROW, dtype=dtype) + 1.0
        return lambda: function(torch, a)

    return setup


def _with_backward(function: Callable, size: int) -> Callable:
    def setup(torch: Any) -> Callable:
        a = leaf(normal(torch, size // _ROW, _ROW))
        grad = uniform(torch, *function(torch, a).shape, seed=2)

        def run() -> Any:
            a.grad = None
            function(torch, a).backward(grad)
            return a.grad

        return run

    return setup


def _cases() -> list[Case]:
    cases = []
    for dtype, width in DTYPES.items():
        for size in SIZES:
            tail = f"{size:.0e} {dtype}".replace("e+0", "e")
            for name, function, tensors in _OPERATIONS:
                setup = _operation(function, size, dtype)
                work = float(tensors * size * width)
                cases.append(Case(f"{name} {tail}", setup, work=work, unit="B"))
    functions = {name: function for name, function, _ in _OPERATIONS}
    for name in _TRAINED:
        for size in (1_000, 100_000):
            setup = _with_backward(functions[name], size)
            cases.append(Case(f"{name} and backward {size:.0e}".replace("e+0", "e"), setup))
    return cases


CASES = _cases()
