"""Write like the Python manual: a transformer that reads and writes characters.

    python examples/char_transformer.py [--steps 500] [--device cuda] [--output text.png]

The text is the help that comes with Python (``pydoc_data.topics``); nothing is downloaded. A
transformer with causal attention learns to give the next character, then continues a line by
itself. The picture shows the curves, and how surprised it is by each character of unseen text.

The picture needs matplotlib (``pip install -e ".[train]"``).
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from pydoc_data import topics

import numpy as np

import autograd_cy as torch
from autograd_cy import nn


class Writer(nn.Module):
    """Logits of the next character, for each place of a text."""

    def __init__(self, symbols: int, context: int, width: int, heads: int, layers: int) -> None:
        super().__init__()
        self.context = context
        self.symbol = nn.Embedding(symbols, width)
        self.place = nn.Embedding(context, width)
        layer = nn.TransformerEncoderLayer(
            width, heads, 4 * width, dropout=0.0, activation="gelu", batch_first=True,
            norm_first=True,
        )  # fmt: skip
        self.body = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, symbols)

    def forward(self, codes: torch.Tensor) -> torch.Tensor:
        length = codes.shape[1]
        mask = nn.Transformer.generate_square_subsequent_mask(length)
        hidden = self.symbol(codes) + self.place(torch.arange(length))
        return self.head(self.norm(self.body(hidden, mask=mask, is_causal=True)))


@dataclass
class Text:
    """A text as codes; the last tenth is for testing."""

    alphabet: str
    codes: np.ndarray

    @property
    def parts(self) -> tuple[np.ndarray, np.ndarray]:
        split = len(self.codes) * 9 // 10
        return self.codes[:split], self.codes[split:]

    def encode(self, text: str) -> list[int]:
        return [self.alphabet.index(letter) for letter in text]

    def decode(self, codes: list[int]) -> str:
        return "".join(self.alphabet[code] for code in codes)


@dataclass
class Outcome:
    """Curves in bits per character."""

    model: Writer
    text: Text
    training: list[float] = field(default_factory=list)
    testing: list[tuple[int, float]] = field(default_factory=list)


def load() -> Text:
    """The help texts, one after the other, in plain ASCII."""
    text = "\n".join(topics.topics[name] for name in sorted(topics.topics))
    text = "".join(letter for letter in text if letter == "\n" or 31 < ord(letter) < 127)
    alphabet = "".join(sorted(set(text)))
    table = np.zeros(128, dtype="int64")
    table[[ord(letter) for letter in alphabet]] = np.arange(len(alphabet))
    return Text(alphabet, table[np.frombuffer(text.encode("ascii"), dtype="uint8")])


def batches(
    codes: np.ndarray, context: int, size: int, random: np.random.Generator
) -> torch.Tensor:
    """Pieces from anywhere, one character longer than the context."""
    first = random.integers(0, len(codes) - context - 1, size=size)
    return torch.as_tensor(np.stack([codes[i : i + context + 1] for i in first]))


def bits(model: Writer, pieces: torch.Tensor) -> torch.Tensor:
    """Bits per character of the pieces under the model."""
    logits = model(pieces[:, :-1])
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), pieces[:, 1:].flatten())
    return loss / math.log(2)


def train(
    steps: int, context: int = 64, width: int = 96, layers: int = 2, batch: int = 32, seed: int = 0
) -> Outcome:
    """Fit the writer."""
    torch.manual_seed(seed)
    random = np.random.default_rng(seed)
    text = load()
    known, unseen = text.parts
    check = batches(unseen, context, 64, np.random.default_rng(seed + 1))
    outcome = Outcome(Writer(len(text.alphabet), context, width, 4, layers), text)
    model = outcome.model
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 5e-3, steps)
    for step in range(steps):
        loss = bits(model, batches(known, context, batch, random))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        outcome.training.append(loss.item())
        if (step + 1) % max(1, steps // 10) == 0:
            with torch.no_grad():
                outcome.testing.append((step + 1, bits(model.eval(), check).item()))
            model.train()
            print(
                f"step {step + 1:>4} of {steps}, bits per character: "
                f"{outcome.training[-1]:.2f} in training, {outcome.testing[-1][1]:.2f} unseen"
            )
    return outcome


def write(outcome: Outcome, start: str, count: int, seed: int = 0) -> str:
    """Continue a text, each character drawn from the likely ones."""
    model, text = outcome.model.eval(), outcome.text
    torch.manual_seed(seed)
    codes = text.encode(start)
    with torch.no_grad():
        for _ in range(count):
            recent = torch.tensor([codes[-model.context :]])
            chances = torch.softmax(model(recent)[0, -1] / 0.7, dim=0)
            codes.append(int(torch.multinomial(chances, 1)))
    return text.decode(codes)


def surprise(outcome: Outcome, count: int) -> tuple[str, np.ndarray]:
    """A piece of unseen text and the bits that each of its characters costs."""
    model, context = outcome.model.eval(), outcome.model.context
    piece = outcome.text.parts[1][2000 : 2000 + count + context]
    rows = torch.as_tensor(np.stack([piece[i : i + context + 1] for i in range(count)]))
    with torch.no_grad():
        logs = torch.log_softmax(model(rows[:, :-1])[:, -1], dim=1)
        costs = -logs.gather(1, rows[:, -1:])[:, 0] / math.log(2)
    return outcome.text.decode(list(piece[context:])), costs.cpu().numpy()


def draw(outcome: Outcome, path: Path) -> None:
    """Write a picture: the curves, and unseen text coloured by surprise."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import colormaps, pyplot

    figure, (left, right) = pyplot.subplots(
        1, 2, figsize=(13, 5), width_ratios=(1, 1.35), layout="constrained"
    )
    left.plot(outcome.training, color="#c9d8ea", lw=1, label="training")
    left.plot(*zip(*outcome.testing), ".-", color="#d95f02", label="unseen text")
    left.set(xlabel="step", ylabel="bits per character", ylim=(0, None))
    left.legend(frameon=False)
    left.grid(color="#e4e4e4")
    text, costs = surprise(outcome, 900)
    row = column = 0
    for letter, cost in zip(text, costs):
        if letter != "\n":
            colour = colormaps["Reds"](min(cost, 8.0) / 10)
            right.text(
                column, -row, letter, family="monospace", fontsize=9, va="center", ha="center",
                bbox={"facecolor": colour, "edgecolor": "none", "pad": 1.5},
            )  # fmt: skip
        row, column = (row + 1, 0) if letter == "\n" or column == 71 else (row, column + 1)
        if row == 16:
            break
    right.set(xlim=(-1, 72), ylim=(-16, 1), title="Unseen text: the redder, the less expected")
    right.set_axis_off()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def main() -> int:
    """Train, write, draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=500, help="steps of training (%(default)s)")
    parser.add_argument("--output", type=Path, default=Path("text.png"), help="picture to write")
    parser.add_argument("--device", default="cpu", help="such as cuda or cuda:1 (%(default)s)")
    options = parser.parse_args()
    if importlib.util.find_spec("matplotlib") is None:
        print('matplotlib missing. Install with: pip install -e ".[train]"', file=sys.stderr)
        return 2
    start = time.perf_counter()
    with torch.device(options.device):
        outcome = train(options.steps)
        print(f"{time.perf_counter() - start:.1f} s of training\n")
        print(write(outcome, "The ", 400))
        draw(outcome, options.output)
    print(f"\nPicture: {options.output}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
