"""Micro: matrix products, from the small ones of a classifier to those at the processor's peak."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.case import Case
from benchmarks.inputs import leaf, normal


def _square(n: int, dtype: str) -> Case:
    def setup(torch: Any) -> Callable:
        a, b = normal(torch, n, n, dtype=dtype), normal(torch, n, n, dtype=dtype, seed=1)
        return lambda: torch.mm(a, b)

    return Case(f"mm {n}^3 {dtype}", setup, work=2.0 * n**3, unit="flop")


def _transposed(name: str, product: Callable, n: int) -> Case:
    def setup(torch: Any) -> Callable:
        a, b = normal(torch, n, n), normal(torch, n, n, seed=1)
        return lambda: product(a, b)

    return Case(f"{name} {n}^3", setup, work=2.0 * n**3, unit="flop")


def _linear(batch: int, inputs: int, outputs: int) -> Case:
    def setup(torch: Any) -> Callable:
        x, weight = normal(torch, batch, inputs), normal(torch, outputs, inputs, seed=1)
        bias = normal(torch, outputs, seed=2)
        return lambda: torch.nn.functional.linear(x, weight, bias)

    work = 2.0 * batch * inputs * outputs
    return Case(f"linear {batch}x{inputs}->{outputs}", setup, work=work, unit="flop")


def _linear_and_backward(batch: int, inputs: int, outputs: int) -> Case:
    def setup(torch: Any) -> Callable:
        x = leaf(normal(torch, batch, inputs))
        weight = leaf(normal(torch, outputs, inputs, seed=1))
        bias = leaf(normal(torch, outputs, seed=2))
        grad = normal(torch, batch, outputs, seed=3)

        def run() -> tuple:
            x.grad = weight.grad = bias.grad = None
            torch.nn.functional.linear(x, weight, bias).backward(grad)
            return x.grad, weight.grad, bias.grad

        return run

    work = 6.0 * batch * inputs * outputs
    name = f"linear {batch}x{inputs}->{outputs} and backward"
    return Case(name, setup, work=work, unit="flop")


def _batched(batch: int, n: int) -> Case:
    def setup(torch: Any) -> Callable:
        a, b = normal(torch, batch, n, n), normal(torch, batch, n, n, seed=1)
        return lambda: torch.matmul(a, b)

    return Case(f"batched {batch} x {n}^3", setup, work=2.0 * batch * n**3, unit="flop")


def _broadcast(batch: int, n: int) -> Case:
    def setup(torch: Any) -> Callable:
        a, b = normal(torch, batch, n, n), normal(torch, n, n, seed=1)
        return lambda: torch.matmul(a, b)

    name = f"batched {batch} x {n}^3, one right side"
    return Case(name, setup, work=2.0 * batch * n**3, unit="flop")


def _vector(n: int) -> Case:
    def setup(torch: Any) -> Callable:
        a, v = normal(torch, n, n), normal(torch, n, seed=1)
        return lambda: torch.matmul(a, v)

    return Case(f"matrix-vector {n}", setup, work=2.0 * n * n, unit="flop")


CASES = [
    *(_square(n, "float32") for n in (16, 64, 128, 256, 512, 1024, 2048)),
    *(_square(n, "float64") for n in (16, 64, 128, 256, 512, 1024)),
    _transposed("a.T @ b", lambda a, b: a.t() @ b, 512),
    _transposed("a @ b.T", lambda a, b: a @ b.t(), 512),
    _transposed("a.T @ b.T", lambda a, b: a.t() @ b.t(), 512),
    _transposed("a @ b.T", lambda a, b: a @ b.t(), 64),
    _linear(1, 64, 64),
    _linear(64, 784, 256),
    _linear(512, 784, 256),
    _linear(512, 128, 10),
    _linear_and_backward(64, 784, 256),
    _linear_and_backward(512, 128, 10),
    _batched(64, 16),
    _batched(32, 64),
    _batched(8, 256),
    _broadcast(32, 64),
    _vector(1024),
]
