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
    ("amax of rows", lambda torch, a: torch.amax(a, 1), 1),
    ("product of rows", lambda torch, a: a.prod(1), 1),
    ("norm", lambda torch, a: torch.linalg.vector_norm(a), 1),
    ("cumsum of rows", lambda torch, a: a.cumsum(1), 2),
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


#: Name, operation, shape: rows of three, and what reads its operand several times.
_SHAPED: tuple[tuple[str, Callable, tuple[int, ...]], ...] = (
    ("sum of rows of 3", lambda torch, a: a.sum(1), (30_000, 3)),
    ("amax of rows of 3", lambda torch, a: torch.amax(a, 1), (30_000, 3)),
    ("amax of rows of 10", lambda torch, a: torch.amax(a, 1), (10_000, 10)),
    ("median 1e3", lambda torch, a: a.median(), (1_000,)),
    ("median 1e6", lambda torch, a: a.median(), (1_000_000,)),
)


def _shaped(function: Callable, shape: tuple[int, ...], dtype: str) -> Callable:
    def setup(torch: Any) -> Callable:
        a = normal(torch, *shape, dtype=dtype)
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
                # PyTorch adds the squares of float32 one after the other where it has AVX2.
                rtol = 1e-3 if name == "norm" and dtype == "float32" else None
                cases.append(Case(f"{name} {tail}", setup, work=work, unit="B", rtol=rtol))
        for name, function, shape in _SHAPED:
            cases.append(Case(f"{name} {dtype}", _shaped(function, shape, dtype)))
    functions = {name: function for name, function, _ in _OPERATIONS}
    for name in _TRAINED:
        for size in (1_000, 100_000):
            setup = _with_backward(functions[name], size)
            cases.append(Case(f"{name} and backward {size:.0e}".replace("e+0", "e"), setup))
    return cases


CASES = _cases()
