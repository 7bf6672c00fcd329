"""Engine: hooks on tensors, on leaves after accumulation, and on nodes.

The hooks look at a gradient and leave it, so that what is timed is calling them. The goal is half
of PyTorch's time or less.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.case import Case
from benchmarks.inputs import leaf, uniform

HOOKS = 100


def _leave(*_: Any) -> None:
    """Look at what a hook is given and leave it."""


def _double(grad: Any) -> Any:
    """Replace a gradient."""
    return grad * 2


def _on_leaf(hook: Callable, count: int = 1) -> Callable:
    """Backward of one product, with hooks on its leaf."""

    def setup(torch: Any) -> Callable:
        x, c = leaf(uniform(torch, 4)), uniform(torch, 4, seed=1)
        for _ in range(count):
            x.register_hook(hook)

        def run() -> Any:
            x.grad = None
            (x * c).sum().backward()
            return x.grad

        return run

    return setup


def _on_results(torch: Any) -> Callable:
    """Register a hook on each result of a chain, and run it backward."""
    x = leaf(uniform(torch, 4))

    def run() -> Any:
        x.grad = None
        y = x
        for _ in range(HOOKS):
            y = y * 1.01
            y.register_hook(_leave)
        y.sum().backward()
        return x.grad

    return run


def _backward_with(register: Callable) -> Callable:
    """Backward alone of a chain that is kept, with a hook on each of its nodes or results."""

    def setup(torch: Any) -> Callable:
        x = leaf(uniform(torch, 4))
        y = x
        for _ in range(HOOKS):
            y = y * 1.01
            register(y)
        total = y.sum()

        def run() -> Any:
            x.grad = None
            total.backward(retain_graph=True)
            return x.grad

        return run

    return setup


def _after_accumulation(torch: Any) -> Callable:
    """Backward into leaves with a post-accumulate hook each."""
    leaves = [leaf(uniform(torch, 4, seed=seed)) for seed in range(HOOKS)]
    for x in leaves:
        x.register_post_accumulate_grad_hook(_leave)
    total = torch.stack(leaves).sum()

    def run() -> Any:
        for x in leaves:
            x.grad = None
        total.backward(retain_graph=True)
        return leaves[0].grad, leaves[-1].grad

    return run


def _register_and_remove(torch: Any) -> Callable:
    x = leaf(uniform(torch, 4))

    def run() -> Any:
        x.register_hook(_leave).remove()

    return run


CASES = [
    Case("a hook that looks, on a leaf", _on_leaf(_leave)),
    Case("a hook that replaces, on a leaf", _on_leaf(_double)),
    Case("10 hooks on one leaf", _on_leaf(_leave, 10)),
    Case("100 hooks on results, registered and run", _on_results),
    Case("100 hooks on results, backward only", _backward_with(lambda y: y.register_hook(_leave))),
    Case(
        "100 node hooks, backward only",
        _backward_with(lambda y: y.grad_fn.register_hook(_leave)),
    ),
    Case(
        "100 node pre-hooks, backward only",
        _backward_with(lambda y: y.grad_fn.register_prehook(_leave)),
    ),
    Case("100 post-accumulate hooks, backward only", _after_accumulation),
    Case("register and remove", _register_and_remove),
]
