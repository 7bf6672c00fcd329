"""Profile the training steps of a small network.

    python examples/profile_mlp.py [--steps 20] [--picture mlp.svg]

Prints the summary and the costs of each layer, forward and backward side by side, and draws a flame
graph, for which nothing else is needed.
"""

from __future__ import annotations

import argparse

import autograd_cy as torch
from autograd_cy import nn
from autograd_cy.autograd.profiler import profile, record_function


class Net(nn.Module):
    """Three layers, the middle one wide."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = nn.Linear(20, width)
        self.middle = nn.Linear(width, width)
        self.last = nn.Linear(width, 4)

    def forward(self, x):
        hidden = torch.relu(self.first(x))
        hidden = torch.relu(self.middle(hidden))
        return self.last(hidden)


def train(model: nn.Module, optimizer: torch.optim.Optimizer, steps: int, batch: int) -> None:
    """Some steps, each with labels for its parts."""
    for _ in range(steps):
        x, target = torch.randn(batch, 20), torch.randn(batch, 4)
        with record_function("forward"):
            loss = nn.functional.mse_loss(model(x), target)
        with record_function("backward"):
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def record(steps: int = 20, width: int = 128, batch: int = 64) -> profile:
    """The recording of some steps, after a few that nobody looks at."""
    torch.random.manual_seed(0)
    model = Net(width)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    train(model, optimizer, 3, batch)
    place = model.last.weight.device.type
    on_gpu = "cuda" if place == "cuda" else None
    with profile(with_stack=True, with_modules=True, use_device=on_gpu) as prof:
        train(model, optimizer, steps, batch)
    return prof


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=20, metavar="N", help="(%(default)s)")
    parser.add_argument(
        "--picture", help="file for the flame graph (.svg), which needs no matplotlib"
    )
    parser.add_argument("--device", default="cpu", help="such as cuda or cuda:1 (%(default)s)")
    arguments = parser.parse_args()
    with torch.device(arguments.device):
        prof = record(arguments.steps)
    print(prof.summary())
    print(prof.group("module"))
    if prof.use_device:
        print(prof.key_averages().table(sort_by="self_cuda_time_total", row_limit=10))
    if arguments.picture:
        prof.export_flamegraph(arguments.picture)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
