"""Train one network from several threads at once, without locks.

    python examples/train_hogwild.py --threads 4

Every thread has a copy of the network whose parameters lie in the same memory (through ``.data``),
with gradients of its own. It takes batches, runs forward and backward, and writes its step into the
shared weights, while the others do the same. Steps that meet may overwrite each other here and
there; stochastic gradient descent doesn't mind (Niu, Recht, Re and Wright: Hogwild!, 2011).

The task is to tell the arms of three interlocked spirals apart; nothing is downloaded.
``--compare`` trains with one thread first and prints both.
"""

from __future__ import annotations

import argparse
import copy
import sys
import threading
import time
from dataclasses import dataclass

import numpy as np

import autograd_cy as torch
from autograd_cy import nn

ARMS = 3


@dataclass(frozen=True)
class Points:
    """Points of the plane, one a row, and the spiral that each is on."""

    places: torch.Tensor
    arms: torch.Tensor


@dataclass(frozen=True)
class Outcome:
    """The share of unseen points put on the right spiral, and the seconds that training took."""

    accuracy: float
    seconds: float


def spirals(count: int, seed: int) -> Points:
    """Draw points near the spirals."""
    random = np.random.default_rng(seed)
    arms = random.integers(ARMS, size=count)
    radius = random.uniform(0.1, 1.0, size=count)
    angle = 5.0 * radius + 2 * np.pi * arms / ARMS
    places = radius[:, None] * np.stack([np.sin(angle), np.cos(angle)], axis=1)
    places += 0.01 * random.normal(size=(count, 2))
    return Points(torch.as_tensor(places.astype("float32")), torch.as_tensor(arms))


def make_model(width: int) -> nn.Sequential:
    """Return the network that all threads train."""
    return nn.Sequential(
        nn.Linear(2, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, ARMS)
    )


def on_the_same_memory(model: nn.Module) -> nn.Module:
    """
    Return a copy of a network whose parameters show the memory of the original.

    ``.data`` shares memory, but no version counter: another thread's step must not look like a
    change of what backward has saved. The gradients are the copy's own.
    """
    twin = copy.deepcopy(model)
    for mine, shared in zip(twin.parameters(), model.parameters()):
        mine.data = shared.data
    return twin


def work(model: nn.Module, points: Points, steps: int, batch: int, lr: float, seed: int) -> None:
    """Train as one thread: random batches, forward, backward, a step into the shared weights."""
    random = np.random.default_rng(seed)
    twin = on_the_same_memory(model)
    optimizer = torch.optim.SGD(twin.parameters(), lr=lr)
    for _ in range(steps):
        chosen = random.integers(len(points.arms), size=batch)
        chosen = torch.from_numpy(chosen).to(points.arms.device)
        optimizer.zero_grad()
        scores = twin(points.places[chosen])
        nn.functional.cross_entropy(scores, points.arms[chosen]).backward()
        optimizer.step()


def train(
    threads: int,
    *,
    steps: int = 4000,
    batch: int = 256,
    width: int = 128,
    lr: float = 0.2,
    seed: int = 0,
) -> Outcome:
    """Share `steps` steps among `threads` threads, and test what came of it."""
    torch.manual_seed(seed)
    model = make_model(width)
    points, unseen = spirals(3000, seed), spirals(1000, seed + 1)
    errors: list[BaseException] = []

    def run(number: int) -> None:
        try:
            work(model, points, steps // threads, batch, lr, seed + 10 + number)
        except BaseException as error:
            errors.append(error)

    team = [threading.Thread(target=run, args=(number,)) for number in range(threads)]
    start = time.perf_counter()
    for thread in team:
        thread.start()
    for thread in team:
        thread.join()
    seconds = time.perf_counter() - start
    if errors:
        raise errors[0]
    with torch.no_grad():
        right = model(unseen.places).argmax(1) == unseen.arms
    return Outcome(right.double().mean().item(), seconds)


def main() -> int:
    """Read the command line, train and report."""
    parser = argparse.ArgumentParser(description="Train one network from several threads.")
    parser.add_argument("--threads", type=int, default=4, metavar="N", help="(%(default)s)")
    parser.add_argument("--steps", type=int, default=4000, metavar="N", help="of all (%(default)s)")
    parser.add_argument("--width", type=int, default=128, metavar="N", help="(%(default)s)")
    parser.add_argument("--compare", action="store_true", help="train with one thread first")
    parser.add_argument("--device", default="cpu", help="such as cuda or cuda:1 (%(default)s)")
    options = parser.parse_args()
    if min(options.threads, options.steps, options.width) < 1:
        parser.error("--threads, --steps and --width must be at least 1")
    # The cores are for the threads here: each operation keeps to its own.
    torch.set_num_threads(1)
    for threads in [1, options.threads] if options.compare else [options.threads]:
        with torch.device(options.device):
            outcome = train(threads, steps=options.steps, width=options.width)
        print(
            f"{threads} thread(s): {outcome.accuracy:.1%} of unseen points right, "
            f"{outcome.seconds:.2f} s for {options.steps} steps"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
