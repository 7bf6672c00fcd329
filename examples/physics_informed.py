"""Solve the heat equation by a network whose second derivatives obey it.

    python examples/physics_informed.py [--steps 60] [--device cuda] [--output heat.png]

The network gives the temperature u(x, t) of a rod. Its loss is how far it is from
u_t = 0.1 u_xx inside, from sin(pi x) + sin(3 pi x) / 2 at the start, and from zero at both ends;
the derivatives are those of the network, by ``autograd.grad`` with ``create_graph=True``, so that
the loss can be differentiated again. L-BFGS minimises it. The result is compared with the exact
solution. The method is that of Raissi, Perdikaris and Karniadakis (2019).

The picture needs matplotlib (``pip install -e ".[train]"``).
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np

import autograd_cy as torch
from autograd_cy import nn

CONDUCTIVITY = 0.1
WAVES = ((1, 1.0), (3, 0.5))  # half waves on the rod at the start, and their heights


class Rod(nn.Module):
    """Temperature at places and times."""

    def __init__(self, width: int) -> None:
        super().__init__()
        sizes = (2, width, width, width, 1)
        parts = []
        for inputs, outputs in pairwise(sizes):
            layer = nn.Linear(inputs, outputs)
            nn.init.xavier_normal_(layer.weight)
            nn.init.zeros_(layer.bias)
            parts += [layer, nn.Tanh()]
        self.layers = nn.Sequential(*parts[:-1])

    def forward(self, x: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
        return self.layers(torch.stack([2 * x - 1, 2 * t - 1], dim=1)).squeeze(1)


def exact(x: np.ndarray, t: np.ndarray) -> np.ndarray:
    """The solution by Fourier's method."""
    return sum(
        height * np.exp(-CONDUCTIVITY * (n * np.pi) ** 2 * t) * np.sin(n * np.pi * x)
        for n, height in WAVES
    )


def residual(rod: Rod, x: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
    """By how much u_t and 0.1 u_xx differ."""
    u = rod(x, t)
    u_x, u_t = torch.autograd.grad(u.sum(), (x, t), create_graph=True)
    (u_xx,) = torch.autograd.grad(u_x.sum(), x, create_graph=True)
    return u_t - CONDUCTIVITY * u_xx


def train(steps: int, width: int = 32, points: int = 600, seed: int = 0) -> tuple[Rod, list[float]]:
    """Return the network and the loss after each step of up to 20 iterations."""
    torch.manual_seed(seed)
    rod = Rod(width).double()
    inside = torch.rand(2, points, dtype=torch.float64)
    x, t = (part.clone().requires_grad_() for part in inside)
    edge = torch.linspace(0, 1, points // 6, dtype=torch.float64)
    start = sum(height * torch.sin(n * math.pi * edge) for n, height in WAVES)
    zero = torch.zeros_like(edge)
    optimizer = torch.optim.LBFGS(rod.parameters(), max_iter=20, line_search_fn="strong_wolfe")

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        physics = residual(rod, x, t).square().mean()
        begin = (rod(edge, zero) - start).square().mean()
        ends = rod(zero, edge).square().mean() + rod(zero + 1, edge).square().mean()
        loss = physics + 10 * (begin + ends)
        loss.backward()
        return loss

    losses = []
    for step in range(steps):
        losses.append(optimizer.step(closure).item())
        if (step + 1) % max(1, steps // 6) == 0:
            print(f"step {step + 1:>3} of {steps}, loss {losses[-1]:.2e}")
    return rod, losses


def on_a_grid(rod: Rod, size: int = 101) -> tuple[np.ndarray, np.ndarray]:
    """Temperatures by network and by formula; rows are places, columns times."""
    x, t = np.meshgrid(np.linspace(0, 1, size), np.linspace(0, 1, size), indexing="ij")
    with torch.no_grad():
        u = rod(torch.as_tensor(x.ravel()), torch.as_tensor(t.ravel()))
    return u.cpu().numpy().reshape(x.shape), exact(x, t)


def draw(found: np.ndarray, wanted: np.ndarray, losses: list[float], path: Path) -> None:
    """Write a picture: the solution, its error, and the loss."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 3, figsize=(13, 3.8), layout="constrained")
    error = found - wanted
    worst = np.abs(error).max()
    for ax, values, title, colours, limit in (
        (axes[0], found, "temperature by the network", "inferno", (0, None)),
        (axes[1], error, f"its error, at most {worst:.1e}", "RdBu", (-worst, worst)),
    ):
        image = ax.imshow(
            values, origin="lower", extent=(0, 1, 0, 1), aspect="auto", cmap=colours,
            vmin=limit[0], vmax=limit[1],
        )  # fmt: skip
        ax.set(xlabel="time", ylabel="place on the rod", title=title)
        figure.colorbar(image, ax=ax)
    axes[2].semilogy(range(1, len(losses) + 1), losses, color="#2166ac", lw=2)
    axes[2].set(xlabel="step of L-BFGS", title="loss")
    axes[2].grid(color="#e4e4e4")
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def main() -> int:
    """Train, compare with the exact solution, draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=60, help="steps of L-BFGS (%(default)s)")
    parser.add_argument("--output", type=Path, default=Path("heat.png"), help="picture to write")
    parser.add_argument("--device", default="cpu", help="such as cuda or cuda:1 (%(default)s)")
    options = parser.parse_args()
    if importlib.util.find_spec("matplotlib") is None:
        print('matplotlib missing. Install with: pip install -e ".[train]"', file=sys.stderr)
        return 2
    start = time.perf_counter()
    with torch.device(options.device):
        rod, losses = train(options.steps)
        seconds = time.perf_counter() - start
        found, wanted = on_a_grid(rod)
    relative = np.linalg.norm(found - wanted) / np.linalg.norm(wanted)
    draw(found, wanted, losses, options.output)
    print(f"Relative error {relative:.2e} after {seconds:.1f} s. Picture: {options.output}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
