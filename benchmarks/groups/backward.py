"""Engine: graphs whose cost is the graph, and gradients whose cost is memory.

Unless a name says "only", recording and backward are timed together, as a training step pays both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.case import Case
from benchmarks.inputs import leaf, normal, uniform


def _chain(length: int) -> Callable:
    def setup(torch: Any) -> Callable:
        x, c = leaf(uniform(torch, 4)), uniform(torch, 4, low=0.99, high=1.01, seed=1)

        def run() -> Any:
            x.grad = None
            y = x
            for _ in range(length):
                y = y * c
            y.sum().backward()
            return x.grad

        return run

    return setup


def _chain_backward_only(length: int) -> Callable:
    def setup(torch: Any) -> Callable:
        x, c = leaf(uniform(torch, 4)), uniform(torch, 4, low=0.99, high=1.01, seed=1)
        y = x
        for _ in range(length):
            y = y * c
        total = y.sum()

        def run() -> Any:
            x.grad = None
            total.backward(retain_graph=True)
            return x.grad

        return run

    return setup


def _wide_backward_only(torch: Any) -> Callable:
    """10,000 nodes side by side: products of one leaf, added up at once."""
    x, c = leaf(uniform(torch, 4)), uniform(torch, 4, seed=1)
    total = torch.stack([x * c for _ in range(10_000)]).sum()

    def run() -> Any:
        x.grad = None
        total.backward(retain_graph=True)
        return x.grad

    return run


def _smallest(torch: Any) -> Callable:
    x, c = leaf(uniform(torch, 4)), uniform(torch, 4, seed=1)

    def run() -> Any:
        x.grad = None
        (x * c).sum().backward()
        return x.grad

    return run


def _diamonds(torch: Any) -> Callable:
    x = leaf(uniform(torch, 4))

    def run() -> Any:
        x.grad = None
        y = x
        for _ in range(200):
            y = y * 0.5 + y * 0.5
        y.sum().backward()
        return x.grad

    return run


def _fan_out(torch: Any) -> Callable:
    x = leaf(uniform(torch, 4))

    def run() -> Any:
        x.grad = None
        total = x * 0.0
        for number in range(1000):
            total = total + x * (0.001 * number)
        total.sum().backward()
        return x.grad

    return run


def _many_leaves(torch: Any) -> Callable:
    leaves = [leaf(uniform(torch, 4, seed=seed)) for seed in range(1000)]
    c = uniform(torch, 4, seed=1)

    def run() -> Any:
        for x in leaves:
            x.grad = None
        torch.stack([x * c for x in leaves]).sum().backward()
        return leaves[0].grad, leaves[-1].grad

    return run


def _mesh(torch: Any) -> Callable:
    """Return 10,000 nodes: 100 columns that mix with their neighbour in each of 50 steps."""
    start = [leaf(uniform(torch, 4, seed=seed)) for seed in range(100)]

    def run() -> Any:
        for x in start:
            x.grad = None
        row = start
        for _ in range(50):
            row = [(one + other) * 0.5 for one, other in zip(row, row[1:] + row[:1])]
        torch.stack(row).sum().backward()
        return start[0].grad

    return run


def _grad_of_ten(torch: Any) -> Callable:
    x, y = leaf(uniform(torch, 4)), leaf(uniform(torch, 4, seed=1))

    def run() -> Any:
        z = torch.tanh(x * y + x) * torch.sigmoid(y) - torch.exp(-x) / y
        return torch.autograd.grad((z * z).sum(), (x, y))

    return run


def _double_backward(torch: Any) -> Callable:
    x = leaf(uniform(torch, 4))

    def run() -> Any:
        (first,) = torch.autograd.grad((x * x * x).sum(), x, create_graph=True)
        return torch.autograd.grad(first.sum(), x)

    return run


def _hooks(torch: Any) -> Callable:
    x = leaf(uniform(torch, 4))

    def run() -> Any:
        x.grad = None
        y = x
        for _ in range(100):
            y = y * 1.01
            y.register_hook(_leave)
        y.sum().backward()
        return x.grad

    return run


def _leave(grad: Any) -> None:
    """Look at a gradient and leave it as it is."""


def _custom_functions(torch: Any) -> Callable:
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1.01

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 1.01

    x = leaf(uniform(torch, 4))

    def run() -> Any:
        x.grad = None
        y = x
        for _ in range(100):
            y = Scale.apply(y)
        y.sum().backward()
        return x.grad

    return run


def _large_uses(torch: Any) -> Callable:
    x = leaf(uniform(torch, 1_000_000))

    def run() -> Any:
        x.grad = None
        total = x * 0.1
        for number in range(7):
            total = total + x * (0.2 + number)
        total.sum().backward()
        return x.grad

    return run


def _large_accumulation(torch: Any) -> Callable:
    x, c = leaf(uniform(torch, 1_000_000)), uniform(torch, 1_000_000, seed=1)

    def run() -> Any:
        x.grad = None
        for _ in range(8):
            (x * c).sum().backward()
        return x.grad

    return run


def _linear_chain(torch: Any) -> Callable:
    x = normal(torch, 64, 64)
    weights = [leaf(normal(torch, 64, 64, seed=seed) * 0.125) for seed in range(20)]

    def run() -> Any:
        for weight in weights:
            weight.grad = None
        y = x
        for weight in weights:
            y = torch.relu(torch.mm(y, weight))
        y.sum().backward()
        return weights[0].grad, weights[-1].grad

    return run


def _broadcast(torch: Any) -> Callable:
    x, bias = leaf(normal(torch, 1000, 100)), leaf(normal(torch, 100, seed=1))
    grad = uniform(torch, 1000, 100)

    def run() -> Any:
        x.grad = bias.grad = None
        (x * bias + bias).backward(grad)
        return x.grad, bias.grad

    return run


CASES = [
    Case("one multiplication", _smallest),
    Case("chain of 100", _chain(100)),
    Case("chain of 100, backward only", _chain_backward_only(100)),
    Case("chain of 10,000", _chain(10_000)),
    Case("chain of 10,000, backward only", _chain_backward_only(10_000)),
    Case("10,000 nodes side by side, backward only", _wide_backward_only),
    Case("200 diamonds", _diamonds),
    Case("fan-out 1000", _fan_out),
    Case("1000 leaves", _many_leaves),
    Case("mesh of 10,000 nodes", _mesh),
    Case("grad of ten operations", _grad_of_ten),
    Case("double backward", _double_backward),
    Case("100 hooks", _hooks),
    Case("100 custom functions", _custom_functions),
    Case("8 uses of 1e6 elements", _large_uses),
    Case("8 accumulations into 1e6 elements", _large_accumulation),
    Case("20 products of 64^3", _linear_chain),
    Case("broadcast 1000x100", _broadcast),
]
