"""Micro: convolutions of small networks, alone and with their backward."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from benchmarks.case import Case
from benchmarks.inputs import leaf, normal


class _Layer(NamedTuple):
    """A layer of two spatial dimensions, and the images it gets."""

    name: str
    batch: int
    inputs: int
    size: int
    outputs: int
    kernel: int
    stride: int = 1
    padding: int = 0
    groups: int = 1
    first: bool = False  # nobody wants the gradient of the images

    @property
    def work(self) -> float:
        places = ((self.size + 2 * self.padding - self.kernel) // self.stride + 1) ** 2
        window = self.inputs // self.groups * self.kernel**2
        return 2.0 * self.batch * self.outputs * places * window


LAYERS = [
    _Layer("LeNet 1->6 5x5, 28x28", 64, 1, 28, 6, 5, padding=2, first=True),
    _Layer("LeNet 6->16 5x5, 14x14", 64, 6, 14, 16, 5),
    _Layer("ResNet 3->64 3x3, 32x32", 32, 3, 32, 64, 3, padding=1, first=True),
    _Layer("ResNet 64->64 3x3, 32x32", 16, 64, 32, 64, 3, padding=1),
    _Layer("ResNet 64->128 3x3 stride 2, 32x32", 16, 64, 32, 128, 3, 2, 1),
    _Layer("ResNet 128->128 3x3, 16x16", 16, 128, 16, 128, 3, padding=1),
    _Layer("ResNet 256->256 3x3, 8x8", 16, 256, 8, 256, 3, padding=1),
    _Layer("ResNet 256->512 3x3 stride 2, 8x8", 16, 256, 8, 512, 3, 2, 1),
    _Layer("ResNet 512->512 3x3, 4x4", 16, 512, 4, 512, 3, padding=1),
    _Layer("16->32 3x3 stride 2, 28x28", 32, 16, 28, 32, 3, 2, 1),
    _Layer("64->64 5x5, 14x14", 16, 64, 14, 64, 5, padding=2),
    _Layer("1x1 128->128, 32x32", 16, 128, 32, 128, 1),
    _Layer("1x1 256->64, 14x14", 16, 256, 14, 64, 1),
    _Layer("1x1 64->128 stride 2, 32x32", 16, 64, 32, 128, 1, 2),
    _Layer("depthwise 64 3x3, 32x32", 16, 64, 32, 64, 3, padding=1, groups=64),
    _Layer("depthwise 64 3x3 stride 2, 32x32", 16, 64, 32, 64, 3, 2, 1, 64),
    _Layer("4 groups 64->64 3x3, 32x32", 16, 64, 32, 64, 3, padding=1, groups=4),
]


def _tensors(torch: Any, layer: _Layer) -> tuple[Any, Any, Any]:
    """Images, weight and bias."""
    x = normal(torch, layer.batch, layer.inputs, layer.size, layer.size)
    window = layer.inputs // layer.groups * layer.kernel**2
    weight = normal(
        torch, layer.outputs, layer.inputs // layer.groups, layer.kernel, layer.kernel, seed=1
    )
    return x, weight * window**-0.5, normal(torch, layer.outputs, seed=2)


def _forward(layer: _Layer) -> Case:
    def setup(torch: Any) -> Callable:
        x, weight, bias = _tensors(torch, layer)
        rest = (layer.stride, layer.padding, 1, layer.groups)
        return lambda: torch.conv2d(x, weight, bias, *rest)

    return Case(layer.name, setup, work=layer.work, unit="flop")


def _both(layer: _Layer) -> Case:
    def setup(torch: Any) -> Callable:
        x, weight, bias = _tensors(torch, layer)
        weight, bias = leaf(weight), leaf(bias)
        x = x if layer.first else leaf(x)
        rest = (layer.stride, layer.padding, 1, layer.groups)
        grad = normal(torch, *torch.conv2d(x, weight, bias, *rest).shape, seed=3)

        def run() -> tuple:
            x.grad = weight.grad = bias.grad = None
            torch.conv2d(x, weight, bias, *rest).backward(grad)
            return (weight.grad, bias.grad) if layer.first else (x.grad, weight.grad, bias.grad)

        return run

    work = layer.work * (2 if layer.first else 3)
    return Case(f"{layer.name} and backward", setup, work=work, unit="flop", rtol=1e-4)


CASES = [case(layer) for layer in LAYERS for case in (_forward, _both)]
