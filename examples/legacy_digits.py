"""A convolutional network on drawn digits, written as programs of early 2017 were.

    pip install -e ".[train]"
    python examples/legacy_digits.py

Only the imports differ from a program for PyTorch 0.1.10: Variables around the batches, volatile
ones for testing, ``loss.data[0]``. The digits are drawn here, in ten shapes that are moved, thinned
and covered with noise; nothing is downloaded. The picture goes to legacy_digits.png.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
from pathlib import Path

import numpy as np

import autograd_cy.legacy as torch
import autograd_cy.legacy.nn as nn
import autograd_cy.legacy.nn.functional as F
import autograd_cy.legacy.optim as optim
from autograd_cy.legacy.autograd import Variable
from autograd_cy.legacy.utils.data import DataLoader, TensorDataset

# Five columns and seven rows for each digit.
GLYPHS = (
    "01110 10001 10011 10101 11001 10001 01110",
    "00100 01100 00100 00100 00100 00100 01110",
    "01110 10001 00001 00010 00100 01000 11111",
    "11111 00010 00100 00010 00001 10001 01110",
    "00010 00110 01010 10010 11111 00010 00010",
    "11111 10000 11110 00001 00001 10001 01110",
    "00110 01000 10000 11110 10001 10001 01110",
    "11111 00001 00010 00100 01000 01000 01000",
    "01110 10001 10001 01110 10001 10001 01110",
    "01110 10001 10001 01111 00001 00010 01100",
)
SIZE = 12


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, kernel_size=3)
        self.conv2 = nn.Conv2d(8, 16, kernel_size=2)
        self.conv2_drop = nn.Dropout2d(0.1)
        self.fc1 = nn.Linear(64, 32)
        self.fc2 = nn.Linear(32, 10)

    def forward(self, x):
        x = F.relu(F.max_pool2d(self.conv1(x), 2))
        x = F.relu(F.max_pool2d(self.conv2_drop(self.conv2(x)), 2))
        x = x.view(-1, 64)
        x = F.relu(self.fc1(x))
        x = F.dropout(x, 0.1, training=self.training)
        return F.log_softmax(self.fc2(x))


def draw_digits(count, random):
    """Images of (count, 1, SIZE, SIZE) and their digits."""
    shapes = [np.array([[int(c) for c in row] for row in g.split()]) for g in GLYPHS]
    digits = random.integers(0, 10, count)
    images = random.normal(0, 0.2, (count, 1, SIZE, SIZE))
    for image, digit in zip(images, digits):
        top, left = random.integers(1, 5, 2)
        strokes = shapes[digit] * (random.random((7, 5)) > 0.04)
        image[0, top : top + 7, left : left + 5] += strokes * random.uniform(0.7, 1.3)
    return torch.from_numpy(images.astype("float32")), torch.from_numpy(digits.astype("int64"))


def there(x, device):
    """A tensor or module, moved to a GPU if that is the device."""
    return x if device == "cpu" else x.cuda(int(device.partition(":")[2] or 0))


def train(model, loader, optimizer, device):
    """One pass over the data; the mean loss."""
    model.train()
    total = 0.0
    for data, target in loader:
        data, target = Variable(there(data, device)), Variable(there(target, device))
        optimizer.zero_grad()
        loss = F.nll_loss(model(data), target)
        loss.backward()
        optimizer.step()
        total += loss.data[0] * len(data)
    return total / len(loader.dataset)


def test(model, loader, device):
    """(mean loss, accuracy, all predictions), without a graph: the input is volatile."""
    model.eval()
    total, correct, predictions = 0.0, 0, []
    for data, target in loader:
        data, target = there(data, device), there(target, device)
        data, target = Variable(data, volatile=True), Variable(target)
        output = model(data)
        total += F.nll_loss(output, target, size_average=False).data[0]
        pred = output.data.max(1)[1]  # the index of the largest log probability
        correct += pred.eq(target.data).sum()
        predictions.append(pred)
    count = len(loader.dataset)
    return total / count, correct / count, torch.cat(predictions).view(-1).cpu()


def run(epochs=8, samples=2000, seed=1, device="cpu"):
    """Train; (model, rows of training loss, test loss and accuracy, test set, predictions)."""
    torch.manual_seed(seed)
    random = np.random.default_rng(seed)
    training, testing = (
        TensorDataset(*draw_digits(samples, random)),
        TensorDataset(*draw_digits(samples // 4, random)),
    )
    model = there(Net(), device)
    optimizer = optim.Adam(model.parameters(), lr=0.01)
    rows = []
    for epoch in range(1, epochs + 1):
        batches = DataLoader(training, batch_size=50, shuffle=True)
        loss = train(model, batches, optimizer, device)
        test_loss, accuracy, predictions = test(model, DataLoader(testing, batch_size=250), device)
        rows.append((loss, test_loss, accuracy))
        print(f"Epoch {epoch}: loss {loss:.4f}, test loss {test_loss:.4f}, accuracy {accuracy:.1%}")
    return model, rows, testing, predictions


INK, MUTED, BLUE, ORANGE, RED = "#1a1a1a", "#6b6b6b", "#2166ac", "#d95f02", "#c0392b"


def draw(rows, testing, predictions, path):
    """Write a picture: losses on the left, test images and what they are taken for on the right."""
    importlib.import_module("matplotlib").use("Agg")
    figure = importlib.import_module("matplotlib.figure").Figure(figsize=(11, 5), facecolor="white")
    left, right = figure.add_gridspec(
        1, 2, width_ratios=(1, 1.4), left=0.07, right=0.98, top=0.8, bottom=0.12, wspace=0.12
    )
    figure.text(0.07, 0.91, "Digits, in the manner of 2017", fontsize=17, weight="bold", color=INK)
    figure.text(
        0.07, 0.85, f"{rows[-1][2]:.1%} of {len(testing)} unseen images are recognised", color=MUTED
    )
    axes = figure.add_subplot(left)
    epochs = range(1, len(rows) + 1)
    axes.plot(epochs, [row[0] for row in rows], ".-", color=BLUE, lw=2, label="training")
    axes.plot(epochs, [row[1] for row in rows], ".-", color=ORANGE, lw=2, label="test")
    axes.set(xlabel="epoch", ylabel="negative log likelihood", ylim=(0, None))
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.grid(color="#e4e4e4", lw=0.8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    wrong = predictions.ne(testing.target_tensor)
    order = np.argsort(wrong.numpy(), kind="stable")
    chosen = [*order[: 32 - min(8, wrong.sum())], *order[len(order) - min(8, wrong.sum()) :]]
    grid = right.subgridspec(4, 8, hspace=0.45, wspace=0.1)
    for place, index in enumerate(chosen):
        cell = figure.add_subplot(grid[place // 8, place % 8])
        cell.imshow(testing.data_tensor[int(index)][0].numpy(), cmap="gray_r", vmin=-0.3, vmax=1.2)
        seen, true = predictions[int(index)], testing.target_tensor[int(index)]
        text = f"{seen}" if seen == true else f"{seen} (is {true})"
        cell.set_title(text, fontsize=10, pad=3, color=INK if seen == true else RED)
        cell.set(xticks=[], yticks=[])
    figure.savefig(path, dpi=120)


def main():
    """Train, report and draw."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--epochs", type=int, default=8, metavar="N", help="(%(default)s)")
    parser.add_argument("--device", default="cpu", help="such as cuda or cuda:1 (%(default)s)")
    parser.add_argument(
        "--output", type=Path, default=Path("legacy_digits.png"), help="picture to write"
    )
    options = parser.parse_args()
    if importlib.util.find_spec("matplotlib") is None:
        message = 'matplotlib missing. Install with: pip install -e ".[train]"'
        print(f"legacy_digits: {message}", file=sys.stderr)
        return 2
    _, rows, testing, predictions = run(options.epochs, device=options.device)
    draw(rows, testing, predictions, options.output)
    print(f"Picture: {options.output}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
