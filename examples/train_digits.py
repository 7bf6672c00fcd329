"""Train a small network on handwritten digits, and show what it learnt.

    pip install -e ".[train]"
    python examples/train_digits.py

The data are the 1,797 images of 8 x 8 pixels that come with scikit-learn; nothing is downloaded.
The program ends with the accuracy on images it has not seen, and writes a picture to digits.png.
``--compare-torch`` runs the same model on the same batches in PyTorch and compares.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import math
import platform
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import autograd_cy as torch

LAYERS = (64, 256, 128, 10)
PACKAGES = {"sklearn": "scikit-learn", "matplotlib": "matplotlib", "tqdm": "tqdm"}


@dataclass(frozen=True)
class Data:
    """Standardised images as rows of 64 numbers, and their digits."""

    train_images: np.ndarray
    train_digits: np.ndarray
    test_images: np.ndarray
    test_digits: np.ndarray
    test_pixels: np.ndarray


@dataclass
class Outcome:
    """What came of one training: curves by epoch, predictions, time spent on training alone."""

    losses: list[float] = field(default_factory=list)
    test_losses: list[float] = field(default_factory=list)
    accuracies: list[float] = field(default_factory=list)
    predictions: np.ndarray | None = None
    seconds: float = 0.0
    samples: int = 0

    @property
    def speed(self) -> float:
        """Samples per second."""
        return self.samples / self.seconds


def main() -> int:
    """Train, report and draw."""
    options = parse_arguments()
    missing = [name for module, name in PACKAGES.items() if not is_installed(module)]
    if missing:
        return fail(f'{", ".join(missing)} missing. Install with: pip install -e ".[train]"')
    if options.compare_torch and not is_installed("torch"):
        return fail("--compare-torch needs PyTorch. Install with: pip install torch")
    if options.threads:
        torch.set_num_threads(options.threads)

    data = load_digits(options.seed)
    print(versions(torch))
    print(
        f"{len(data.train_digits)} training and {len(data.test_digits)} test images, "
        f"{'-'.join(map(str, LAYERS))} network, batches of {options.batch_size}"
    )
    outcome = train(torch, data, options)
    draw(outcome, data, options.output)
    print(f"Picture: {options.output}")
    if options.compare_torch:
        compare(outcome, data, options)
    right = int((outcome.predictions == data.test_digits).sum())
    print(
        f"Test accuracy: {right / len(data.test_digits):.2%} ({right} of {len(data.test_digits)}), "
        f"{outcome.speed:,.0f} samples/s, {outcome.seconds:.2f} s of training, "
        f"{torch.get_num_threads()} thread(s)"
    )
    return 0


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Train a small network on handwritten digits.")
    add = parser.add_argument
    add("--threads", type=int, metavar="N", help="threads to use (default: the library's choice)")
    add("--epochs", type=int, default=30, metavar="N", help="passes over the data (%(default)s)")
    add("--seed", type=int, default=0, metavar="N", help="of split, weights, batches (%(default)s)")
    add("--batch-size", type=int, default=32, metavar="N", help="images per step (%(default)s)")
    add("--lr", type=float, default=0.02, metavar="X", help="first learning rate (%(default)s)")
    add("--output", type=Path, default=Path("digits.png"), metavar="FILE", help="picture to write")
    add("--compare-torch", action="store_true", help="run the same in PyTorch and compare")
    options = parser.parse_args()
    if min(options.epochs, options.batch_size, options.threads or 1) < 1:
        parser.error("--epochs, --batch-size and --threads must be at least 1")
    return options


def is_installed(module: str) -> bool:
    """Tell whether a package is there, without importing it."""
    return importlib.util.find_spec(module) is not None


def fail(message: str) -> int:
    """Print an error and return the exit status for it."""
    print(f"train_digits: {message}", file=sys.stderr)
    return 2


def versions(library: Any) -> str:
    """Name the versions and threads in use."""
    return (
        f"{library.__name__} {library.__version__}, Python {platform.python_version()}, "
        f"NumPy {np.__version__}, {library.get_num_threads()} thread(s)"
    )


def load_digits(seed: int) -> Data:
    """Return scikit-learn's digits, a quarter of them for testing, standardised."""
    datasets = importlib.import_module("sklearn.datasets")
    split = importlib.import_module("sklearn.model_selection").train_test_split
    images, digits = datasets.load_digits(return_X_y=True)
    train_x, test_x, train_y, test_y = split(
        images, digits, test_size=0.25, random_state=seed, stratify=digits
    )
    mean, deviation = train_x.mean(0), train_x.std(0)
    deviation[deviation == 0] = 1.0  # some border pixels are always blank
    return Data(
        train_images=((train_x - mean) / deviation).astype("float32"),
        train_digits=train_y.astype("int64"),
        test_images=((test_x - mean) / deviation).astype("float32"),
        test_digits=test_y.astype("int64"),
        test_pixels=test_x.reshape(-1, 8, 8),
    )


def make_model(library: Any, seed: int) -> Any:
    """Return the network; the weights come from NumPy, so that every library starts alike."""
    random = np.random.default_rng(seed)
    nn = library.nn
    parts = []
    for inputs, outputs in pairwise(LAYERS):
        layer = nn.Linear(inputs, outputs)
        weight = random.normal(scale=math.sqrt(2 / inputs), size=(outputs, inputs))
        with library.no_grad():
            layer.weight.copy_(library.tensor(weight.astype("float32")))
            layer.bias.zero_()
        parts += [layer, nn.ReLU()]
    return nn.Sequential(*parts[:-1])


def train(library: Any, data: Data, options: argparse.Namespace) -> Outcome:
    """Train the network with one library, by stochastic gradient descent with momentum."""
    random = np.random.default_rng(options.seed)
    model = make_model(library, options.seed)
    optimizer = library.optim.SGD(
        model.parameters(), lr=options.lr, momentum=0.9, weight_decay=5e-3, nesterov=True
    )
    outcome = Outcome()
    for epoch in progress(options.epochs, outcome, library.__name__):
        for group in optimizer.param_groups:  # half a cosine, from the first rate down to nothing
            group["lr"] = options.lr * 0.5 * (1 + math.cos(math.pi * epoch / options.epochs))
        order = random.permutation(len(data.train_digits))
        start = time.perf_counter()
        loss = train_epoch(library, model, optimizer, data, order, options.batch_size)
        outcome.seconds += time.perf_counter() - start
        outcome.samples += len(order)
        outcome.losses.append(loss)
        evaluate(library, model, data, outcome)
    return outcome


def train_epoch(
    library: Any, model: Any, optimizer: Any, data: Data, order: np.ndarray, batch_size: int
) -> float:
    """Go through the training images once, in the given order, and return the mean loss."""
    images = library.tensor(data.train_images[order])
    digits = library.tensor(data.train_digits[order])
    total = 0.0
    for first in range(0, len(order), batch_size):
        batch, wanted = images[first : first + batch_size], digits[first : first + batch_size]
        optimizer.zero_grad()
        loss = library.nn.functional.cross_entropy(model(batch), wanted)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    return total / len(order)


def evaluate(library: Any, model: Any, data: Data, outcome: Outcome) -> None:
    """Add loss, accuracy and predictions on the test images to the outcome."""
    with library.no_grad():
        scores = model(library.tensor(data.test_images))
        digits = library.tensor(data.test_digits)
        outcome.test_losses.append(library.nn.functional.cross_entropy(scores, digits).item())
        outcome.predictions = scores.argmax(1).numpy()
    outcome.accuracies.append(float((outcome.predictions == data.test_digits).mean()))


def progress(epochs: int, outcome: Outcome, name: str) -> Iterator[int]:
    """Go over the epochs with a progress bar, or with plain lines where there is no terminal."""
    if sys.stdout.isatty():
        tqdm = importlib.import_module("tqdm").tqdm
        with tqdm(range(epochs), desc=name, unit="epoch", file=sys.stdout) as bar:
            for epoch in bar:
                yield epoch
                bar.set_postfix_str(state(outcome))
        return
    step = max(1, epochs // 6)
    for epoch in range(epochs):
        yield epoch
        if (epoch + 1) % step == 0 or epoch + 1 == epochs:
            print(f"{name}: epoch {epoch + 1:>{len(str(epochs))}} of {epochs}, {state(outcome)}")


def state(outcome: Outcome) -> str:
    """Say where a training stands."""
    return f"loss {outcome.losses[-1]:.4f}, test accuracy {outcome.accuracies[-1]:.2%}"


def compare(ours: Outcome, data: Data, options: argparse.Namespace) -> None:
    """Train in PyTorch, from the same weights and with the same batches, and print both."""
    reference = importlib.import_module("torch")
    reference.set_num_threads(torch.get_num_threads())
    print(versions(reference))
    theirs = train(reference, data, options)
    print(f"{'':<14}{'test accuracy':>14}{'first loss':>14}{'last loss':>14}{'samples/s':>14}")
    for name, outcome in ((torch.__name__, ours), ("torch", theirs)):
        print(
            f"{name:<14}{outcome.accuracies[-1]:>14.2%}{outcome.losses[0]:>14.6f}"
            f"{outcome.losses[-1]:>14.6f}{outcome.speed:>14,.0f}"
        )
    ratio = ours.speed / theirs.speed
    alike = int((ours.predictions == theirs.predictions).sum())
    print(
        f"Speed: {ratio:.2f} times torch's. Alike: {alike} of {len(data.test_digits)} predictions"
    )


# --- The picture --------------------------------------------------------------------------------

INK, MUTED, BLUE, ORANGE, RED = "#1a1a1a", "#6b6b6b", "#2166ac", "#d95f02", "#c0392b"


def draw(outcome: Outcome, data: Data, path: Path) -> None:
    """Write a picture: learning curves on the left, predictions on the right."""
    matplotlib = importlib.import_module("matplotlib")
    matplotlib.use("Agg")
    figure_class = importlib.import_module("matplotlib.figure").Figure
    with matplotlib.rc_context({"font.size": 11, "text.color": INK, "axes.edgecolor": MUTED}):
        figure = figure_class(figsize=(13, 6.4), facecolor="white")
        left, right = figure.add_gridspec(
            1, 2, width_ratios=(1, 1.25), left=0.06, right=0.985, top=0.82, bottom=0.09, wspace=0.09
        )
        figure.text(0.06, 0.935, "Handwritten digits", fontsize=18, weight="bold")
        figure.text(
            0.06,
            0.885,
            f"{outcome.accuracies[-1]:.1%} of {len(data.test_digits)} unseen images are recognised",
            fontsize=12,
            color=MUTED,
        )
        draw_curves(figure, left, outcome)
        draw_samples(figure, right, outcome, data)
        figure.savefig(path, dpi=150)


def draw_curves(figure: Any, place: Any, outcome: Outcome) -> None:
    """Draw loss and accuracy by epoch, one above the other."""
    ticker = importlib.import_module("matplotlib.ticker")
    upper, lower = place.subgridspec(2, 1, hspace=0.16)
    epochs = range(1, len(outcome.losses) + 1)
    loss = figure.add_subplot(upper)
    loss.plot(epochs, outcome.losses, ".-", color=BLUE, lw=2, label="training")
    loss.plot(epochs, outcome.test_losses, ".-", color=ORANGE, lw=2, label="test")
    loss.set_yscale("log")
    loss.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    loss.yaxis.set_major_formatter(ticker.FormatStrFormatter("%g"))
    loss.yaxis.set_minor_locator(ticker.NullLocator())
    loss.set_ylabel("cross entropy")
    loss.tick_params(labelbottom=False)
    loss.legend(frameon=False, loc="upper right")

    accuracy = figure.add_subplot(lower, sharex=loss)
    errors = [100 * (1 - value) for value in outcome.accuracies]
    accuracy.plot(epochs, errors, ".-", color=ORANGE, lw=2)
    accuracy.annotate(
        f"{errors[-1]:.1f} %",
        (len(errors), errors[-1]),
        xytext=(0, 9),
        textcoords="offset points",
        ha="right",
        color=ORANGE,
        weight="bold",
    )
    accuracy.set_ylim(0, max(4.0, 1.1 * max(errors)))
    accuracy.set_ylabel("test errors, %")
    accuracy.set_xlabel("epoch")
    accuracy.xaxis.get_major_locator().set_params(integer=True)
    for axes in (loss, accuracy):
        axes.grid(color="#e4e4e4", lw=0.8)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(colors=MUTED)
        axes.yaxis.label.set_color(INK)
        axes.xaxis.label.set_color(INK)


def draw_samples(figure: Any, place: Any, outcome: Outcome, data: Data) -> None:
    """Draw test images with what the network takes them for; mistakes come last, in red."""
    rows, columns = 5, 8
    chosen = choose_samples(outcome.predictions, data.test_digits, rows * columns)
    grid = place.subgridspec(rows, columns, hspace=0.34, wspace=0.14)
    for number, index in enumerate(chosen):
        axes = figure.add_subplot(grid[number // columns, number % columns])
        axes.imshow(data.test_pixels[index], cmap="gray_r", vmin=0, vmax=16)
        axes.set_xticks([])
        axes.set_yticks([])
        seen, true = outcome.predictions[index], data.test_digits[index]
        wrong = seen != true
        axes.set_title(
            f"{seen} (is {true})" if wrong else f"{seen}",
            fontsize=12,
            pad=4,
            color=RED if wrong else INK,
            weight="bold" if wrong else "normal",
        )
        for spine in axes.spines.values():
            spine.set_color(RED if wrong else "#cfcfcf")
            spine.set_linewidth(2 if wrong else 0.8)
    wrong = int((outcome.predictions != data.test_digits).sum())
    shown = int((outcome.predictions[chosen] != data.test_digits[chosen]).sum())
    mistakes = f"{shown} of its {wrong} mistakes in red" if wrong else "it makes no mistakes"
    start = place.get_position(figure).x0
    figure.text(start, 0.885, f"What it takes them for; {mistakes}", fontsize=12, color=MUTED)


def choose_samples(predictions: np.ndarray, digits: np.ndarray, count: int) -> np.ndarray:
    """Return images to show: all digits in turn, at the end at most a fifth mistakes."""
    wrong = np.flatnonzero(predictions != digits)[: count // 5]
    right = np.flatnonzero(predictions == digits)
    turns = list(interleave([right[digits[right] == digit] for digit in range(10)]))
    return np.concatenate([turns[: count - len(wrong)], wrong]).astype(int)


def interleave(lists: Iterable[np.ndarray]) -> Iterator[int]:
    """Give the first item of each list, then the second of each, and so on."""
    iterators = [iter(items) for items in lists]
    while iterators:
        alive = []
        for iterator in iterators:
            for item in iterator:
                yield item
                alive.append(iterator)
                break
        iterators = alive


if __name__ == "__main__":
    sys.exit(main())
