"""Forecast brain waves: an LSTM on a recorded electroencephalogram.

    python examples/lstm_series.py [--steps 150] [--device cuda] [--output waves.png]

The series are four channels of 800 samples that come with matplotlib. A network of two layers reads
the first 600 samples of all channels and learns to give the next one; on the rest it is compared
with repeating the last sample, and it goes on by itself from there, fed with what it gave.

Needs ``pip install -e ".[train]"``.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import autograd_cy as torch
from autograd_cy import nn

TRAINED = 600  # samples


class Forecast(nn.Module):
    """The change to the next sample of each series."""

    def __init__(self, series: int, hidden: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(series, hidden, num_layers=2, batch_first=True, dropout=0.1)
        self.change = nn.Linear(hidden, series)

    def forward(
        self, past: torch.Tensor, state: tuple[torch.Tensor, torch.Tensor] | None = None
    ) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
        hidden, state = self.lstm(past, state)
        return past + self.change(hidden), state


@dataclass
class Outcome:
    """Errors are root mean squares of one-step forecasts, in standard deviations of the series."""

    waves: np.ndarray
    one_step: np.ndarray
    free: np.ndarray
    losses: list[float]
    error: float
    naive: float


def load() -> np.ndarray:
    """The series as columns, with mean 0 and deviation 1 over the part for training."""
    from matplotlib import cbook

    with cbook.get_sample_data("eeg.dat") as file:
        waves = np.frombuffer(file.read(), dtype=float).reshape(800, 4)
    known = waves[:TRAINED]
    return ((waves - known.mean(0)) / known.std(0)).astype("float32")


def train(steps: int, hidden: int = 16, piece: int = 64, seed: int = 0) -> Outcome:
    """Fit the network and forecast the rest of the series."""
    torch.manual_seed(seed)
    random = np.random.default_rng(seed)
    waves = load()
    model = Forecast(waves.shape[1], hidden)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    losses = []
    for step in range(steps):
        first = random.integers(0, TRAINED - piece, size=16)
        batch = torch.as_tensor(np.stack([waves[i : i + piece + 1] for i in first]))
        found, _ = model(batch[:, :-1])
        loss = nn.functional.smooth_l1_loss(found, batch[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if (step + 1) % max(1, steps // 6) == 0:
            print(f"step {step + 1:>4} of {steps}, loss {losses[-1]:.4f}")
    return forecast(model.eval(), waves, losses)


def forecast(model: Forecast, waves: np.ndarray, losses: list[float], ahead: int = 40) -> Outcome:
    """One step at a time over what was not seen, and freely from its begin."""
    with torch.no_grad():
        found, _ = model(torch.as_tensor(waves[None, :-1]))
        one_step = found[0].cpu().numpy()[TRAINED - 1 :]
        sample, state = model(torch.as_tensor(waves[None, :TRAINED]))
        sample = sample[:, -1:]
        free = [sample]
        for _ in range(ahead - 1):
            sample, state = model(sample, state)
            free.append(sample)
    wanted = waves[TRAINED:]
    naive = waves[TRAINED - 1 : -1]
    error, still = (float(np.sqrt(((x - wanted) ** 2).mean())) for x in (one_step, naive))
    free = torch.cat(free, dim=1)[0].cpu().numpy()
    return Outcome(waves, one_step, free, losses, error, still)


def draw(outcome: Outcome, path: Path) -> None:
    """Write a picture: each series with its forecasts."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    waves = outcome.waves
    figure, axes = pyplot.subplots(waves.shape[1], 1, figsize=(11.5, 7), sharex=True)
    time = np.arange(len(waves))
    for k, ax in enumerate(axes):
        ax.plot(time[TRAINED - 60 :], waves[TRAINED - 60 :, k], color="#9a9a9a", label="recorded")
        ax.plot(time[TRAINED:], outcome.one_step[:, k], color="#2166ac", lw=1, label="next sample")
        free = outcome.free[:, k]
        ax.plot(time[TRAINED : TRAINED + len(free)], free, "--", color="#d95f02", label="by itself")
        ax.axvline(TRAINED, color="#1a1a1a", lw=0.8)
        ax.set_ylabel(f"channel {k + 1}")
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].legend(ncols=3, frameon=False, loc="lower right", bbox_to_anchor=(1, 1))
    axes[0].set_title(
        f"Error of the next sample: {outcome.error:.2f}, by repetition {outcome.naive:.2f}",
        loc="left",
    )
    axes[-1].set_xlabel("sample; training ends at the line")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def main() -> int:
    """Train, forecast, draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=150, help="steps of training (%(default)s)")
    parser.add_argument("--output", type=Path, default=Path("waves.png"), help="picture to write")
    parser.add_argument("--device", default="cpu", help="such as cuda or cuda:1 (%(default)s)")
    options = parser.parse_args()
    if importlib.util.find_spec("matplotlib") is None:
        print('matplotlib missing. Install with: pip install -e ".[train]"', file=sys.stderr)
        return 2
    start = time.perf_counter()
    with torch.device(options.device):
        outcome = train(options.steps)
    draw(outcome, options.output)
    print(
        f"Error of the next sample {outcome.error:.3f}, by repetition {outcome.naive:.3f}; "
        f"{time.perf_counter() - start:.1f} s. Picture: {options.output}"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
