"""Teach an old network new digits: ResNet-18 with a frozen body and a new last layer.

    python examples/frozen_resnet.py [--epochs 6] [--output layers.png]

The network learns the digits 0 to 4. Then its body is frozen, and a new last layer learns to tell
5 to 9 apart, in two ways that give the same layer: through the whole network, where no gradient is
stored for frozen parameters and no graph is recorded for the body; and from features that were
computed once, in inference mode. A third run freezes nothing, for comparison. The network is by
He, Zhang, Ren and Sun: Deep residual learning for image recognition (2016), with the names of
parameters that torchvision uses.

The data come with scikit-learn; needs ``pip install -e ".[train]"``.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import autograd_cy as torch
from autograd_cy import nn

PACKAGES = {"sklearn": "scikit-learn", "matplotlib": "matplotlib"}


class Block(nn.Module):
    """Two convolutions, and a way around them."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        around = x if self.downsample is None else self.downsample(x)
        x = self.relu(self.bn1(self.conv1(x)))
        return self.relu(self.bn2(self.conv2(x)) + around)


class ResNet18(nn.Module):
    """The network for images of 3 channels."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        self.layer1 = self.layer(64, 64, 1)
        self.layer2 = self.layer(64, 128, 2)
        self.layer3 = self.layer(128, 256, 2)
        self.layer4 = self.layer(256, 512, 2)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(512, classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    @staticmethod
    def layer(inputs: int, outputs: int, stride: int) -> nn.Sequential:
        return nn.Sequential(Block(inputs, outputs, stride), Block(outputs, outputs, 1))

    def features(self, x: torch.Tensor) -> torch.Tensor:
        """Return the input of the last layer: 512 numbers for each image."""
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.avgpool(x).flatten(1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(self.features(x))


@dataclass
class Digits:
    """Images of shape (N, 3, 32, 32) and classes from 0, for training and for testing."""

    images: torch.Tensor
    classes: torch.Tensor
    test_images: torch.Tensor
    test_classes: torch.Tensor


@dataclass
class Run:
    """One way to train a last layer."""

    name: str
    accuracies: list[float]
    seconds: float
    gradients: int  # numbers stored as gradients after training


def load(first: int, count: int | None = None, seed: int = 0) -> Digits:
    """The five digits from `first`, enlarged; a quarter of them for testing."""
    images, digits = importlib.import_module("sklearn.datasets").load_digits(return_X_y=True)
    chosen = np.flatnonzero((digits >= first) & (digits < first + 5))
    chosen = np.random.default_rng(seed).permutation(chosen)[:count]
    small = torch.as_tensor(images[chosen].reshape(-1, 1, 8, 8).astype("float32") / 8 - 1)
    large = nn.functional.interpolate(small, size=(32, 32), mode="bilinear", align_corners=False)
    x = large.expand(-1, 3, -1, -1).contiguous()
    y = torch.as_tensor(digits[chosen].astype("int64") - first)
    split = len(x) * 3 // 4
    return Digits(x[:split], y[:split], x[split:], y[split:])


def epoch(
    model: nn.Module, x: torch.Tensor, y: torch.Tensor, optimizer: torch.optim.Optimizer, seed: int
) -> float:
    """One pass in batches of 32; returns the mean loss."""
    order = torch.as_tensor(np.random.default_rng(seed).permutation(len(x)))
    total = 0.0
    for batch in order.split(32):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x[batch]), y[batch])
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    return total / len(x)


def accuracy(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> float:
    """The part of the images that are recognised."""
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


def pretrain(epochs: int, count: int | None = None) -> ResNet18:
    """A network that knows the digits 0 to 4."""
    data, model = load(0, count), ResNet18(5)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    for number in range(epochs):
        loss = epoch(model.train(), data.images, data.classes, optimizer, number)
        schedule.step()
        right = accuracy(model.eval(), data.test_images, data.test_classes)
        print(f"digits 0 to 4, epoch {number + 1} of {epochs}: loss {loss:.4f}, unseen {right:.1%}")
    return model


def freeze(model: ResNet18, seed: int) -> ResNet18:
    """Fix the body, running statistics too, and give the network a new last layer."""
    model.requires_grad_(False)
    model.zero_grad()
    torch.manual_seed(seed)
    model.fc = nn.Linear(512, 5)
    return model.eval()


def train_on(
    model: ResNet18, data: Digits, epochs: int, name: str, from_features: bool = False
) -> Run:
    """Train what isn't frozen, through the network or from features computed once."""
    start = time.perf_counter()
    part: nn.Module = model
    x, tests = data.images, data.test_images
    if from_features:
        with torch.inference_mode():
            features = [model.features(images) for images in (data.images, data.test_images)]
        # Tensors of inference mode can't be saved for a backward; their clones can.
        part, (x, tests) = model.fc, (rows.clone() for rows in features)
    moving = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(moving, lr=1e-3 if len(moving) > 2 else 1e-2)
    accuracies = []
    for number in range(epochs):
        epoch(part, x, data.classes, optimizer, number)
        accuracies.append(accuracy(part, tests, data.test_classes))
    stored = sum(p.grad.numel() for p in model.parameters() if p.grad is not None)
    return Run(name, accuracies, time.perf_counter() - start, stored)


def compare(epochs: int, count: int | None = None, seed: int = 0) -> tuple[list[Run], float]:
    """All ways, and the largest difference between the layers of the first two."""
    torch.manual_seed(seed)
    model = pretrain(epochs, count)
    data = load(5, count)
    first = train_on(freeze(model, seed), data, epochs, "through the frozen network")
    layer = model.fc.weight.detach()
    second = train_on(freeze(model, seed), data, epochs, "from features", from_features=True)
    apart = (layer - model.fc.weight).abs().max().item()
    third = train_on(freeze(model, seed).requires_grad_().train(), data, epochs, "nothing frozen")
    return [first, second, third], apart


def draw(runs: list[Run], path: Path) -> None:
    """Write a picture: accuracies by epoch, and what each way cost."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11.5, 4.2), layout="constrained")
    looks = (("#2166ac", "o-", 9), ("#d95f02", "o-", 4), ("#9a9a9a", "s-", 4))
    for run, (colour, style, size) in zip(runs, looks):
        percent = [100 * value for value in run.accuracies]
        left.plot(range(1, len(percent) + 1), percent, style, color=colour, ms=size, label=run.name)
        right.barh(run.name, run.seconds, color=colour)
        right.text(run.seconds, run.name, f" {run.seconds:.2f} s", va="center")
    left.set(xlabel="epoch", title="Unseen digits 5 to 9 recognised, %")
    left.legend(frameon=False)
    left.grid(color="#e4e4e4")
    right.invert_yaxis()
    right.margins(x=0.2)
    right.set(xlabel="seconds", title="Time of training")
    right.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def main() -> int:
    """Train, freeze, compare, draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=6, help="passes over the data (%(default)s)")
    parser.add_argument("--output", type=Path, default=Path("layers.png"), help="picture to write")
    parser.add_argument("--device", default="cpu", help="such as cuda or cuda:1 (%(default)s)")
    options = parser.parse_args()
    missing = [name for module, name in PACKAGES.items() if not importlib.util.find_spec(module)]
    if missing:
        names = ", ".join(missing)
        print(f'{names} missing. Install with: pip install -e ".[train]"', file=sys.stderr)
        return 2
    with torch.device(options.device):
        runs, apart = compare(options.epochs)
    for run in runs:
        print(
            f"{run.name}: {run.accuracies[-1]:.1%} of unseen digits 5 to 9, {run.seconds:.2f} s, "
            f"{run.gradients:,} numbers of gradient"
        )
    print(f"The first two layers differ by at most {apart:.1e}")
    draw(runs, options.output)
    print(f"Picture: {options.output}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
