"""Training steps of the networks that people train: convolutional, recurrent, and with attention.

The weights start from the same numbers in both libraries; the first loss is what is compared.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from benchmarks.case import Case
from benchmarks.inputs import integers, normal


def _fill(torch: Any, model: Any) -> Any:
    """Give the weights the same values in every library."""
    with torch.no_grad():
        for seed, weight in enumerate(model.parameters()):
            if weight.dim() > 1:
                scale = 1 / math.sqrt(math.prod(weight.shape[1:]))
                weight.copy_(normal(torch, *weight.shape, seed=seed) * scale)
            elif not bool((weight == 1).all()):  # the scales of a norm stay
                weight.zero_()
    return model


def _lenet(torch: Any) -> Any:
    nn = torch.nn
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(),
        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84),
        nn.ReLU(), nn.Linear(84, 10),
    )  # fmt: skip


def _resnet(torch: Any) -> Any:
    """ResNet-18 for images of 32 x 32: a first layer of stride 1, no pool."""
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self, inputs: int, outputs: int, stride: int) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(outputs)
            self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(outputs)
            self.around = nn.Identity()
            if stride != 1:
                conv = nn.Conv2d(inputs, outputs, 1, stride, bias=False)
                self.around = nn.Sequential(conv, nn.BatchNorm2d(outputs))

        def forward(self, x: Any) -> Any:
            out = torch.relu(self.bn1(self.conv1(x)))
            return torch.relu(self.bn2(self.conv2(out)) + self.around(x))

    parts = [nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU()]
    inputs = 64
    for outputs, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        parts += [Block(inputs, outputs, stride), Block(outputs, outputs, 1)]
        inputs = outputs
    return nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))


def _images(make: Callable, *shape: int) -> Callable:
    """A step of SGD on classes of images."""

    def setup(torch: Any) -> Callable:
        model = _fill(torch, make(torch))
        x = normal(torch, *shape, seed=100)
        target = integers(torch, shape[0], high=10, seed=101)
        update = torch.optim.SGD(model.parameters(), lr=1e-5, momentum=0.9)

        def run() -> Any:
            update.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x), target)
            loss.backward()
            update.step()
            return loss

        return run

    return setup


def _transformer(batch: int, length: int, width: int, heads: int) -> Callable:
    """A step of AdamW on one encoder layer with causal attention."""

    def setup(torch: Any) -> Callable:
        nn = torch.nn
        layer = nn.TransformerEncoderLayer(
            width, heads, 4 * width, dropout=0.0, activation="gelu", batch_first=True,
            norm_first=True,
        )  # fmt: skip
        layer = _fill(torch, layer)
        mask = nn.Transformer.generate_square_subsequent_mask(length)
        x = normal(torch, batch, length, width, seed=100)
        wanted = normal(torch, batch, length, width, seed=101)
        update = torch.optim.AdamW(layer.parameters(), lr=1e-5)

        def run() -> Any:
            update.zero_grad()
            loss = nn.functional.mse_loss(layer(x, src_mask=mask, is_causal=True), wanted)
            loss.backward()
            update.step()
            return loss

        return run

    return setup


def _lstm(batch: int, length: int, width: int, hidden: int) -> Callable:
    """A step of Adam on an LSTM and a last layer."""

    def setup(torch: Any) -> Callable:
        nn = torch.nn
        lstm = _fill(torch, nn.LSTM(width, hidden, batch_first=True))
        last = _fill(torch, nn.Linear(hidden, width))
        x = normal(torch, batch, length, width, seed=100)
        wanted = normal(torch, batch, length, width, seed=101)
        update = torch.optim.Adam([*lstm.parameters(), *last.parameters()], lr=1e-5)

        def run() -> Any:
            update.zero_grad()
            loss = nn.functional.mse_loss(last(lstm(x)[0]), wanted)
            loss.backward()
            update.step()
            return loss

        return run

    return setup


CASES = [
    Case("LeNet, batch 32", _images(_lenet, 32, 1, 28, 28)),
    Case("LeNet, batch 256", _images(_lenet, 256, 1, 28, 28)),
    Case("ResNet-18 of 32x32, batch 8", _images(_resnet, 8, 3, 32, 32)),
    Case("transformer block 8 x 128 x 256", _transformer(8, 128, 256, 8)),
    Case("transformer block 4 x 32 x 64", _transformer(4, 32, 64, 4)),
    Case("LSTM 16 x 64, 32 to 128", _lstm(16, 64, 32, 128)),
    Case("LSTM 1 x 100, 4 to 16", _lstm(1, 100, 4, 16)),
]
