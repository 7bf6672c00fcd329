"""Train a small convolutional network on handwritten digits, and show what it learnt.

    pip install -e ".[train]"
    python examples/train_digits.py

The data are the 1,797 images of 8 x 8 pixels that come with scikit-learn; nothing is downloaded.
The program ends with the accuracy on images it has not seen, and writes a picture to digits.png.
``--device cuda`` computes on a GPU. ``--compare-torch`` runs the same model on the same batches in
PyTorch and compares. With ``--checkpoint FILE`` an interrupted training goes on from its last whole
epoch when it is started again, and ends with the same weights, bit for bit.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import math
import platform
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import autograd_cy as torch

CHANNELS = (1, 32, 32, 64)
PACKAGES = {"sklearn": "scikit-learn", "matplotlib": "matplotlib", "tqdm": "tqdm"}


@dataclass(frozen=True)
class Data:
    """Images of shape (N, 1, 8, 8), from 0 to 1, and their digits."""

    train_images: np.ndarray
    train_digits: np.ndarray
    test_images: np.ndarray
    test_digits: np.ndarray


@dataclass
class Outcome:
    """The result of one training: curves by epoch, predictions, time spent on training alone."""

    losses: list[float] = field(default_factory=list)
    test_losses: list[float] = field(default_factory=list)
    accuracies: list[float] = field(default_factory=list)
    chances: np.ndarray | None = None  # of each digit, for each test image
    filters: np.ndarray | None = None  # of the first layer
    seconds: float = 0.0
    samples: int = 0

    @property
    def predictions(self) -> np.ndarray:
        """The likeliest digit of each test image."""
        assert self.chances is not None
        return self.chances.argmax(1)

    @property
    def speed(self) -> float:
        """Samples per second."""
        return self.samples / self.seconds if self.seconds else 0.0


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
        f"convolutions of {'-'.join(map(str, CHANNELS))} channels, batches of {options.batch_size}"
    )
    with torch.device(options.device):
        outcome = Training(torch, data, options).run()
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
    add("--device", default="cpu", help="such as cuda or cuda:1 (%(default)s)")
    add("--threads", type=int, metavar="N", help="threads to use (default: the library's choice)")
    add("--epochs", type=int, default=20, metavar="N", help="passes over the data (%(default)s)")
    add("--seed", type=int, default=0, metavar="N", help="of split, weights, batches (%(default)s)")
    add("--batch-size", type=int, default=32, metavar="N", help="images per step (%(default)s)")
    add("--lr", type=float, default=5e-3, metavar="X", help="largest learning rate (%(default)s)")
    add("--output", type=Path, default=Path("digits.png"), metavar="FILE", help="picture to write")
    add("--checkpoint", type=Path, metavar="FILE", help="go on from it; written after each epoch")
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
    """Return scikit-learn's digits, a quarter of them for testing."""
    datasets = importlib.import_module("sklearn.datasets")
    split = importlib.import_module("sklearn.model_selection").train_test_split
    images, digits = datasets.load_digits(return_X_y=True)
    images = (images / 16).astype("float32").reshape(-1, 1, 8, 8)
    train_x, test_x, train_y, test_y = split(
        images, digits.astype("int64"), test_size=0.25, random_state=seed, stratify=digits
    )
    return Data(train_x, train_y, test_x, test_y)


def make_model(library: Any, seed: int) -> Any:
    """Return the network; the weights come from NumPy, so that every library starts alike."""
    nn = library.nn
    parts = []
    for number, (inputs, outputs) in enumerate(pairwise(CHANNELS)):
        parts += [nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs)]
        parts += [nn.ReLU()] + [nn.MaxPool2d(2)] * (number > 0)
    model = nn.Sequential(*parts, nn.Flatten(), nn.Linear(4 * CHANNELS[-1], 10))
    random = np.random.default_rng(seed)
    with library.no_grad():
        for weight in model.parameters():
            if weight.dim() > 1:
                scale = math.sqrt(2 / math.prod(weight.shape[1:]))
                values = random.normal(scale=scale, size=tuple(weight.shape))
                weight.copy_(library.tensor(values.astype("float32")))
        model[-1].bias.zero_()
    return model


class Training:
    """A model with what trains it, by AdamW under one cycle of learning rates."""

    def __init__(self, library: Any, data: Data, options: argparse.Namespace) -> None:
        self.library, self.data, self.options = library, data, options
        self.model = make_model(library, options.seed)
        self.optimizer = library.optim.AdamW(
            self.model.parameters(), lr=options.lr, weight_decay=1e-3
        )
        steps = options.epochs * math.ceil(len(data.train_digits) / options.batch_size)
        self.schedule = library.optim.lr_scheduler.OneCycleLR(self.optimizer, options.lr, steps)
        self.outcome = Outcome()

    def run(self) -> Outcome:
        """Train to the end, from the checkpoint where there is one."""
        path = self.options.checkpoint
        if path is not None and path.exists():
            self.load(path)
        outcome, first = self.outcome, len(self.outcome.losses)
        for epoch in progress(first, self.options.epochs, outcome, self.library.__name__):
            start = time.perf_counter()
            outcome.losses.append(self.epoch(epoch))
            outcome.seconds += time.perf_counter() - start
            outcome.samples += len(self.data.train_digits)
            self.evaluate()
            if path is not None:
                self.save(path)
        if first >= self.options.epochs:  # the checkpoint is of the end: there was nothing to do
            del outcome.test_losses[-1], outcome.accuracies[-1]
            self.evaluate()
        outcome.filters = self.model[0].weight.detach().cpu().numpy()[:, 0]
        return outcome

    def epoch(self, number: int) -> float:
        """Go through the training images once, in a new order, and return the mean loss."""
        random = np.random.default_rng((self.options.seed, number))
        order = random.permutation(len(self.data.train_digits))
        images = self.library.tensor(shifted(self.data.train_images[order], random))
        digits = self.library.tensor(self.data.train_digits[order])
        self.model.train()
        total = 0.0
        for first in range(0, len(order), self.options.batch_size):
            batch = slice(first, first + self.options.batch_size)
            self.optimizer.zero_grad()
            loss = self.library.nn.functional.cross_entropy(
                self.model(images[batch]), digits[batch]
            )
            loss.backward()
            self.optimizer.step()
            self.schedule.step()
            total += loss.item() * len(digits[batch])
        return total / len(order)

    def evaluate(self) -> None:
        """Add loss, accuracy and chances on the test images to the outcome."""
        library, outcome = self.library, self.outcome
        functional = library.nn.functional
        self.model.eval()
        with library.no_grad():
            scores = self.model(library.tensor(self.data.test_images))
            loss = functional.cross_entropy(scores, library.tensor(self.data.test_digits))
            outcome.test_losses.append(loss.item())
            outcome.chances = functional.softmax(scores, 1).cpu().numpy()
        outcome.accuracies.append(float((outcome.predictions == self.data.test_digits).mean()))

    def parts(self) -> dict[str, Any]:
        """Return the objects that have a state."""
        return {"model": self.model, "optimizer": self.optimizer, "schedule": self.schedule}

    def settings(self) -> dict[str, Any]:
        """Return the settings that a training must share with the one that it continues."""
        return {
            name: getattr(self.options, name) for name in ("epochs", "seed", "batch_size", "lr")
        }

    def save(self, path: Path) -> None:
        """Write the state to a file, which is whole or the one before if this is interrupted."""
        outcome = self.outcome
        state = {name: part.state_dict() for name, part in self.parts().items()}
        state["settings"] = self.settings()
        state["curves"] = [outcome.losses, outcome.test_losses, outcome.accuracies]
        partial = path.with_name(path.name + ".part")
        self.library.save(state, partial)
        partial.replace(path)

    def load(self, path: Path) -> None:
        """Go back to a state that `save` wrote."""
        state = self.library.load(path)
        for name, value in self.settings().items():
            if state["settings"][name] != value:
                option = f"--{name.replace('_', '-')}"
                text = (
                    f"{path} is of a training with {option} {state['settings'][name]}, not {value}"
                )
                sys.exit(fail(f"{text}. Give the same, or another --checkpoint."))
        for name, part in self.parts().items():
            part.load_state_dict(state[name])
        outcome = self.outcome
        outcome.losses, outcome.test_losses, outcome.accuracies = map(list, state["curves"])
        print(f"Going on from {path}, after epoch {len(outcome.losses)}")


def shifted(images: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Move each image by at most one pixel in each direction: more images to learn from."""
    wide = np.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)))
    moved = np.empty_like(images)
    steps = random.integers(0, 3, size=(len(images), 2))
    for row in range(3):
        for column in range(3):
            chosen = (steps == (row, column)).all(1)
            moved[chosen] = wide[chosen, :, row : row + 8, column : column + 8]
    return moved


def progress(first: int, epochs: int, outcome: Outcome, name: str) -> Iterator[int]:
    """Go over the epochs with a progress bar, or with plain lines where there is no terminal."""
    if sys.stdout.isatty():
        tqdm = importlib.import_module("tqdm").tqdm
        with tqdm(range(first, epochs), desc=name, unit="epoch", file=sys.stdout) as bar:
            for epoch in bar:
                yield epoch
                bar.set_postfix_str(state(outcome))
        return
    step = max(1, epochs // 6)
    for epoch in range(first, epochs):
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
    options.checkpoint = None
    with reference.device(options.device):
        theirs = Training(reference, data, options).run()
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
    """Write a picture: learning curves, filters of the first layer, and what was hard."""
    matplotlib = importlib.import_module("matplotlib")
    matplotlib.use("Agg")
    figure_class = importlib.import_module("matplotlib.figure").Figure
    with matplotlib.rc_context({"font.size": 11, "text.color": INK, "axes.edgecolor": MUTED}):
        figure = figure_class(figsize=(13, 6.6), facecolor="white")
        left, middle, right = figure.add_gridspec(
            1,
            3,
            width_ratios=(1, 0.62, 1.05),
            left=0.06,
            right=0.985,
            top=0.8,
            bottom=0.09,
            wspace=0.14,
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
        draw_filters(figure, middle, outcome)
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
    accuracy.set_ylim(0, min(12.0, max(4.0, 1.1 * max(errors))))
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


def draw_filters(figure: Any, place: Any, outcome: Outcome) -> None:
    """Draw the filters of the first layer: what brightens it is blue, what darkens it red."""
    filters = outcome.filters
    assert filters is not None
    columns = 4
    grid = place.subgridspec(math.ceil(len(filters) / columns), columns, hspace=0.14, wspace=0.14)
    for number, values in enumerate(filters):
        axes = figure.add_subplot(grid[number // columns, number % columns])
        size = np.abs(values).max()
        axes.imshow(values, cmap="RdBu", vmin=-size, vmax=size)
        frame(axes, "#cfcfcf", 0.8)
    start = place.get_position(figure).x0
    figure.text(start, 0.83, "Filters of the first layer", fontsize=12, color=MUTED)


def draw_samples(figure: Any, place: Any, outcome: Outcome, data: Data) -> None:
    """Draw the mistakes, in red, and then what the network was least sure of."""
    chances, predictions = outcome.chances, outcome.predictions
    assert chances is not None
    rows, columns = 4, 5
    wrong = predictions != data.test_digits
    chosen = np.lexsort((chances.max(1), ~wrong))[: rows * columns]
    grid = place.subgridspec(rows, columns, hspace=0.34, wspace=0.14)
    for number, index in enumerate(chosen):
        axes = figure.add_subplot(grid[number // columns, number % columns])
        axes.imshow(data.test_images[index, 0], cmap="gray_r", vmin=0, vmax=1)
        seen, true = predictions[index], data.test_digits[index]
        axes.set_title(
            f"{seen} (is {true})" if wrong[index] else f"{seen}: {chances[index, seen]:.0%}",
            fontsize=11,
            pad=4,
            color=RED if wrong[index] else INK,
            weight="bold" if wrong[index] else "normal",
        )
        frame(axes, RED if wrong[index] else "#cfcfcf", 2 if wrong[index] else 0.8)
    count = int(wrong.sum())
    shown = (
        f"{min(count, rows * columns)} of its {count}" if count > len(chosen) else f"Its {count}"
    )
    mistakes = f"{shown} mistakes, in red, and what" if count else "No mistakes; what"
    start = place.get_position(figure).x0
    text = f"{mistakes} it was least sure of"
    figure.text(start, 0.84, text, fontsize=12, color=MUTED)


def frame(axes: Any, color: str, width: float) -> None:
    """Draw a plain frame around an image."""
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_color(color)
        spine.set_linewidth(width)


if __name__ == "__main__":
    sys.exit(main())
