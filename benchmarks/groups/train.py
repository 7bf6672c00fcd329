"""Models: whole training steps of small classifiers, and the optimiser's step alone.

The weights start from the same numbers in both libraries; the first loss is what is compared.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from benchmarks.case import Case
from benchmarks.inputs import integers, leaf, normal


def _model(torch: Any, sizes: tuple[int, ...]) -> Any:
    """Return a multilayer perceptron with weights from NumPy."""
    nn = torch.nn
    layers: list[Any] = []
    for number, (inputs, outputs) in enumerate(pairwise(sizes)):
        layer = nn.Linear(inputs, outputs)
        with torch.no_grad():
            layer.weight.copy_(normal(torch, outputs, inputs, seed=number) * inputs**-0.5)
            layer.bias.copy_(normal(torch, outputs, seed=100 + number) * 0.01)
        layers += [layer, nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def _step(batch: int, sizes: tuple[int, ...], optimiser: str, **options: float) -> Callable:
    def setup(torch: Any) -> Callable:
        model = _model(torch, sizes)
        x, target = normal(torch, batch, sizes[0], seed=7), integers(torch, batch, high=sizes[-1])
        update = getattr(torch.optim, optimiser)(model.parameters(), **options)

        def run() -> Any:
            update.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x), target)
            loss.backward()
            update.step()
            return loss

        return run

    return setup


def _inference(batch: int, sizes: tuple[int, ...]) -> Callable:
    def setup(torch: Any) -> Callable:
        model = _model(torch, sizes)
        x = normal(torch, batch, sizes[0], seed=7)

        def run() -> Any:
            with torch.no_grad():
                return model(x)

        return run

    return setup


def _by_hand(batch: int) -> Callable:
    """Return a step without modules or optimiser, as people write it to learn."""

    def setup(torch: Any) -> Callable:
        x, target = normal(torch, batch, 64, seed=7), normal(torch, batch, 1, seed=8)
        first = leaf(normal(torch, 64, 32, seed=1) * 0.1)
        second = leaf(normal(torch, 32, 1, seed=2) * 0.1)

        def run() -> Any:
            error = torch.tanh(x @ first) @ second - target
            loss = (error * error).mean()
            loss.backward()
            with torch.no_grad():
                for weight in (first, second):
                    weight -= 1e-4 * weight.grad
                    weight.grad = None
            return loss

        return run

    return setup


def _optimiser(count: int, size: int, name: str, **options: float) -> Callable:
    def setup(torch: Any) -> Callable:
        weights = [leaf(normal(torch, size, seed=seed)) for seed in range(count)]
        for seed, weight in enumerate(weights):
            weight.grad = normal(torch, size, seed=1000 + seed) * 1e-3
        update = getattr(torch.optim, name)(weights, **options)

        def run() -> Any:
            update.step()
            return weights[0].detach(), weights[-1].detach()

        return run

    return setup


_MNIST = (784, 256, 128, 10)
_TINY = (16, 16, 4)
_SGD = {"lr": 1e-3, "momentum": 0.9}
_ADAM = {"lr": 1e-4}

CASES = [
    Case("MLP 16-16-4, batch 4, SGD", _step(4, _TINY, "SGD", **_SGD)),
    Case("MLP 784-256-128-10, batch 64, SGD", _step(64, _MNIST, "SGD", **_SGD)),
    Case("MLP 784-256-128-10, batch 512, SGD", _step(512, _MNIST, "SGD", **_SGD)),
    Case("MLP 784-256-128-10, batch 64, Adam", _step(64, _MNIST, "Adam", **_ADAM)),
    Case("MLP 784-256-128-10, batch 512, Adam", _step(512, _MNIST, "Adam", **_ADAM)),
    Case("MLP inference, batch 1", _inference(1, _MNIST)),
    Case("MLP inference, batch 64", _inference(64, _MNIST)),
    Case("regression by hand, batch 32", _by_hand(32)),
    Case("SGD step, 50 x 1e3", _optimiser(50, 1_000, "SGD", **_SGD)),
    Case("SGD step, 10 x 1e6", _optimiser(10, 1_000_000, "SGD", **_SGD)),
    Case("Adam step, 50 x 1e3", _optimiser(50, 1_000, "Adam", **_ADAM)),
    Case("Adam step, 10 x 1e6", _optimiser(10, 1_000_000, "Adam", **_ADAM)),
]
