"""Layers that normalise, in training: forward alone, and with the gradients of input and weights.

Sizes are those of small multilayer perceptrons, of feature maps of convolutional networks, in both
memory formats, and of the rows of transformers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.case import Case
from benchmarks.inputs import leaf, normal, uniform

_ROWS = ((8, 64), (128, 768), (512, 1024))
_MAPS = ((4, 16, 8, 8), (16, 64, 28, 28))


def _batch_norm(torch: Any, x: Any, weight: Any, bias: Any) -> Any:
    return torch.nn.functional.batch_norm(x, None, None, weight, bias, training=True)


def _layer_norm(torch: Any, x: Any, weight: Any, bias: Any) -> Any:
    return torch.nn.functional.layer_norm(x, (x.shape[-1],), weight, bias)


def _rms_norm(torch: Any, x: Any, weight: Any, bias: Any) -> Any:
    return torch.nn.functional.rms_norm(x, (x.shape[-1],), weight, 1e-6)


def _group_norm(torch: Any, x: Any, weight: Any, bias: Any) -> Any:
    return torch.nn.functional.group_norm(x, 4, weight, bias)


def _instance_norm(torch: Any, x: Any, weight: Any, bias: Any) -> Any:
    return torch.nn.functional.instance_norm(x, None, None, weight, bias)


def _setup(
    function: Callable, shape: tuple[int, ...], weights: int, last: bool, backward: bool
) -> Callable:
    def setup(torch: Any) -> Callable:
        values = normal(torch, *shape) + 0.5
        if last:
            values = values.contiguous(memory_format=torch.channels_last)
        if not backward:
            weight, bias = uniform(torch, weights, seed=1), uniform(torch, weights, seed=2)
            return lambda: function(torch, values, weight, bias)
        x = leaf(values)
        weight, bias = leaf(uniform(torch, weights, seed=1)), leaf(uniform(torch, weights, seed=2))
        grad = uniform(torch, *shape, seed=3)
        if last:
            grad = grad.contiguous(memory_format=torch.channels_last)

        def run() -> Any:
            x.grad = weight.grad = bias.grad = None
            function(torch, x, weight, bias).backward(grad)
            return x.grad

        return run

    return setup


def _cases() -> list[Case]:
    rows: list[tuple[str, Callable, tuple[int, ...], int, bool]] = []
    for shape in _ROWS:
        for name, function in (
            ("layer_norm", _layer_norm),
            ("rms_norm", _rms_norm),
            ("batch_norm", _batch_norm),
        ):
            rows.append((name, function, shape, shape[-1], False))
    for shape in _MAPS:
        for name, function in (
            ("batch_norm", _batch_norm),
            ("group_norm", _group_norm),
            ("instance_norm", _instance_norm),
        ):
            rows.append((name, function, shape, shape[1], False))
        rows.append(("batch_norm channels last", _batch_norm, shape, shape[1], True))
    cases = []
    for name, function, shape, weights, last in rows:
        size = "x".join(map(str, shape))
        for backward in (False, True):
            title = f"{name}{' and backward' if backward else ''} {size}"
            cases.append(Case(title, _setup(function, shape, weights, last, backward), rtol=1e-3))
    return cases


CASES = _cases()
