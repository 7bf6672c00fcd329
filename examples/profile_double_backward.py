"""Find the memory of a gradient penalty.

    python examples/profile_double_backward.py [--picture memory.png]

The norm of a gradient is part of the loss, so the first backward is recorded and run through by a
second one. Prints what was alive when memory was at its peak, and draws the curve, which needs
matplotlib (``pip install -e ".[train]"``).
"""

from __future__ import annotations

import argparse

import autograd_cy as torch
from autograd_cy import nn
from autograd_cy.autograd.profiler import profile, record_function


def penalized_loss(model: nn.Module, x):
    """The mean output, and how far the norm of its gradient is from 1."""
    x = x.clone().requires_grad_(True)
    value = model(x).sum()
    with record_function("first backward"):
        (slope,) = torch.autograd.grad(value, x, create_graph=True)
    penalty = (slope.pow(2).sum(dim=1).sqrt() - 1).pow(2).mean()
    return value / len(x) + penalty


def train(model: nn.Module, steps: int, batch: int) -> None:
    """Some steps with a penalty."""
    for _ in range(steps):
        loss = penalized_loss(model, torch.randn(batch, 10))
        with record_function("second backward"):
            loss.backward()
        model.zero_grad()
        del loss


def record(steps: int = 2, width: int = 64, batch: int = 256) -> profile:
    """The recording of some steps, after one that nobody looks at."""
    torch.random.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(10, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1)
    )
    train(model, 1, batch)
    with profile(profile_memory=True, with_stack=True) as prof:
        train(model, steps, batch)
    return prof


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=2, metavar="N", help="(%(default)s)")
    help_text = "file for the curve (.png, .svg or .pdf); needs matplotlib"
    parser.add_argument("--picture", help=help_text)
    parser.add_argument("--device", default="cpu", help="such as cuda or cuda:1 (%(default)s)")
    arguments = parser.parse_args()
    with torch.device(arguments.device):
        prof = record(arguments.steps)
    print(prof.memory())
    print(prof.group("line"))
    if arguments.picture:
        prof.plot_memory().figure.savefig(arguments.picture, dpi=100)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
