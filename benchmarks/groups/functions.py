"""Engine: operations written in Python as ``autograd.Function``.

The arithmetic is one multiplication of four elements, so that what is timed is the way through
``apply`` and the engine. The goal is half of PyTorch's time or less.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.case import Case
from benchmarks.inputs import leaf, uniform


def _plain(torch: Any) -> Any:
    """A Function that saves nothing."""

    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1.01

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 1.01

    return Scale


def _saving(torch: Any) -> Any:
    """A Function of two tensors that saves both."""

    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            x, y = ctx.saved_tensors
            return grad * y, grad * x

    return Product


def _separate(torch: Any) -> Any:
    """A Function whose context is set up apart from its forward."""

    class Power(torch.autograd.Function):
        @staticmethod
        def forward(x: Any, factor: float) -> Any:
            return x * factor

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.factor = inputs[1]

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * ctx.factor, None

    return Power


def _forward(torch: Any) -> Callable:
    function, x = _plain(torch), leaf(uniform(torch, 4))
    return lambda: function.apply(x)


def _forward_without_recording(torch: Any) -> Callable:
    function, x = _plain(torch), uniform(torch, 4)
    return lambda: function.apply(x)


def _both_ways(make: Callable, *constants: Any) -> Callable:
    """Forward and backward of one Function."""

    def setup(torch: Any) -> Callable:
        function, x = make(torch), leaf(uniform(torch, 4))
        rest = constants or ((leaf(uniform(torch, 4, seed=1)),) if make is _saving else ())

        def run() -> Any:
            x.grad = None
            function.apply(x, *rest).sum().backward()
            return x.grad

        return run

    return setup


def _chain(length: int) -> Callable:
    def setup(torch: Any) -> Callable:
        function, x = _plain(torch), leaf(uniform(torch, 4))

        def run() -> Any:
            x.grad = None
            y = x
            for _ in range(length):
                y = function.apply(y)
            y.sum().backward()
            return x.grad

        return run

    return setup


def _chain_backward_only(length: int) -> Callable:
    def setup(torch: Any) -> Callable:
        function, x = _plain(torch), leaf(uniform(torch, 4))
        y = x
        for _ in range(length):
            y = function.apply(y)
        total = y.sum()

        def run() -> Any:
            x.grad = None
            total.backward(retain_graph=True)
            return x.grad

        return run

    return setup


CASES = [
    Case("one Function, forward", _forward),
    Case("one Function, forward, nothing recorded", _forward_without_recording),
    Case("one Function, forward and backward", _both_ways(_plain)),
    Case("one Function that saves two tensors", _both_ways(_saving)),
    Case("one Function with setup_context", _both_ways(_separate, 2.0)),
    Case("chain of 100 Functions", _chain(100)),
    Case("chain of 100 Functions, backward only", _chain_backward_only(100)),
]
