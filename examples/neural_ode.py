"""Learn the law of motion of a spiral: a network is the right-hand side of a differential equation.

    python examples/neural_ode.py [--steps 1000] [--device cuda] [--output spiral.png]

The data are noisy observations of trajectories of y' = A y**3. The network f in y' = f(y) is fitted
to them through a Runge-Kutta solver of order 4. Gradients come in two ways that must agree:
backward through all steps of the solver, and by the adjoint equation (Chen, Rubanova, Bettencourt
and Duvenaud: Neural Ordinary Differential Equations, 2018), a custom Function that keeps only the
end and integrates backwards; ``--adjoint`` trains with the second.

The picture needs matplotlib (``pip install -e ".[train]"``).
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import autograd_cy as torch
from autograd_cy import nn

TRUE = np.array([[-0.1, 2.0], [-2.0, -0.1]])
LENGTH, INTERVAL = 16, 0.05  # observations in a piece, and the time between two


class Law(nn.Module):
    """Velocity at a place."""

    def __init__(self, width: int = 48) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, 2))
        for layer in (self.layers[0], self.layers[2]):
            nn.init.normal_(layer.weight, std=0.3)
            nn.init.zeros_(layer.bias)

    def forward(self, y: torch.Tensor) -> torch.Tensor:
        return self.layers(y**3)


def runge_kutta(f: Callable[[Any], Any], y: Any, h: float) -> Any:
    """One step of the classical method of order 4."""
    a = f(y)
    b = f(y + h / 2 * a)
    c = f(y + h / 2 * b)
    d = f(y + h * c)
    return y + h / 6 * (a + 2 * b + 2 * c + d)


def solve(f: Callable[[Any], Any], y: torch.Tensor, count: int) -> torch.Tensor:
    """The next `count` observations, along the first dimension."""
    places = []
    for _ in range(count):
        y = runge_kutta(f, y, INTERVAL)
        places.append(y)
    return torch.stack(places)


class Adjoint(torch.autograd.Function):
    """`solve`, whose backward integrates the adjoint equation and keeps no step."""

    @staticmethod
    def forward(ctx: Any, law: Law, y: torch.Tensor, count: int, *weights: torch.Tensor) -> Any:
        places = solve(law, y, count)
        ctx.law = law
        ctx.save_for_backward(places, *weights)
        return places

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[Any, ...]:
        law: Law = ctx.law
        places, *weights = ctx.saved_tensors
        y, grad = places[-1], torch.zeros_like(places[0])
        totals = [torch.zeros_like(weight) for weight in weights]

        def backwards(state: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
            with torch.enable_grad():
                place = state[0].detach().requires_grad_()
                velocity = law(place)
            moved = torch.autograd.grad(velocity, (place, *weights), state[1])
            return velocity.detach(), *(-part for part in moved)

        for piece in reversed(grads[0]):
            grad = grad + piece
            states = _Parts((y, grad, *totals))
            states = runge_kutta(lambda s: _Parts(backwards(s)), states, -INTERVAL)
            y, grad, *totals = states
        return None, grad, None, *totals


class _Parts(tuple):
    """Tensors that are added and scaled together."""

    def __add__(self, other: tuple[torch.Tensor, ...]) -> _Parts:  # type: ignore[override]
        return _Parts(a + b for a, b in zip(self, other))

    def __rmul__(self, factor: float) -> _Parts:  # type: ignore[override]
        return _Parts(factor * a for a in self)


def predict(law: Law, y: torch.Tensor, count: int, adjoint: bool) -> torch.Tensor:
    """The next observations, with one of two backwards."""
    return Adjoint.apply(law, y, count, *law.parameters()) if adjoint else solve(law, y, count)


def observe(count: int, noise: float, seed: int = 0) -> np.ndarray:
    """Trajectories of the true law, of shape (time, trajectory, 2)."""
    random = np.random.default_rng(seed)
    angle = np.linspace(0, 2 * np.pi, 4, endpoint=False)
    y = np.stack([2 * np.cos(angle), 1.6 * np.sin(angle)], axis=1)
    places = [y]
    for _ in range(count - 1):
        for _ in range(10):  # finer than the solver under test
            y = runge_kutta(lambda z: z**3 @ TRUE, y, INTERVAL / 10)
        places.append(y)
    data = np.stack(places)
    return data + noise * random.normal(size=data.shape)


def gradients(law: Law, data: torch.Tensor, adjoint: bool) -> list[torch.Tensor]:
    """The gradients of a loss in double precision by one of the two ways."""
    found = predict(law, data[0], LENGTH, adjoint)
    loss = (found - data[1 : LENGTH + 1]).square().mean()
    return list(torch.autograd.grad(loss, list(law.parameters())))


def train(steps: int, adjoint: bool = False, seed: int = 0) -> tuple[Law, np.ndarray, list[float]]:
    """Return the law that was learnt, the observations and the losses."""
    torch.manual_seed(seed)
    random = np.random.default_rng(seed)
    data = observe(220, noise=0.01).astype("float32")
    law = Law()
    optimizer = torch.optim.Adam(law.parameters(), lr=0.01)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    losses = []
    for step in range(steps):
        first = random.integers(0, len(data) - LENGTH, size=24)
        pieces = np.stack([data[i : i + LENGTH + 1] for i in first], axis=1)
        batch = torch.as_tensor(pieces.reshape(LENGTH + 1, -1, 2))
        found = predict(law, batch[0], LENGTH, adjoint)
        loss = (found - batch[1:]).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if (step + 1) % max(1, steps // 6) == 0:
            print(f"step {step + 1:>4} of {steps}, mean distance {losses[-1]:.4f}")
    return law, data, losses


def draw(law: Law, data: np.ndarray, losses: list[float], path: Path) -> None:
    """Write a picture: observations, trajectories by the network, its field, and the loss."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    with torch.no_grad():
        found = solve(law, torch.as_tensor(data[0]), len(data) - 1).cpu().numpy()
        grid = np.linspace(-2.2, 2.2, 25, dtype="float32")
        x, y = np.meshgrid(grid, grid)
        field = law(torch.as_tensor(np.stack([x.ravel(), y.ravel()], axis=1))).cpu().numpy()
    figure, (left, right) = pyplot.subplots(
        1, 2, figsize=(11.5, 5.4), width_ratios=(1.15, 1), layout="constrained"
    )
    u, v = field.T.reshape(2, *x.shape)
    left.streamplot(x, y, u, v, color="#d5dbe3", density=1.1, linewidth=0.8, arrowsize=0.8)
    for k in range(data.shape[1]):
        seen = {"label": "observed"} if k == 0 else {}
        learnt = {"label": "by the network, from the first point"} if k == 0 else {}
        left.plot(*data[::3, k].T, ".", color="#d95f02", ms=4, **seen)
        left.plot(*found[:, k].T, color="#2166ac", lw=1.6, **learnt)
    left.set(xlim=(-2.2, 2.2), ylim=(-2.2, 2.2), title="What was observed and what was learnt")
    left.legend(loc="upper right", fontsize=9)
    smooth = np.convolve(losses, np.full(20, 1 / 20), "valid") if len(losses) > 40 else losses
    right.semilogy(losses, color="#c9d8ea", lw=1)
    right.semilogy(np.arange(len(smooth)) + len(losses) - len(smooth), smooth, color="#2166ac")
    right.set(xlabel="step", title="mean distance from the observations")
    right.grid(color="#e4e4e4")
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def main() -> int:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=1000, help="steps of Adam (%(default)s)")
    parser.add_argument("--adjoint", action="store_true", help="gradients by the adjoint equation")
    parser.add_argument("--output", type=Path, default=Path("spiral.png"), help="picture to write")
    parser.add_argument("--device", default="cpu", help="such as cuda or cuda:1 (%(default)s)")
    options = parser.parse_args()
    if importlib.util.find_spec("matplotlib") is None:
        print('matplotlib missing. Install with: pip install -e ".[train]"', file=sys.stderr)
        return 2
    with torch.device(options.device):
        run(options)
    return 0


def run(options: argparse.Namespace) -> None:
    """Compare both gradients, train, draw, on the device that is chosen."""
    torch.manual_seed(0)
    law = Law().double()
    data = torch.as_tensor(observe(LENGTH + 1, noise=0.01))
    pairs = zip(gradients(law, data, False), gradients(law, data, True))
    apart = max(((a - b).norm() / a.norm()).item() for a, b in pairs)
    print(f"Gradients through the solver and by the adjoint equation differ by {apart:.1e}")
    start = time.perf_counter()
    law, observed, losses = train(options.steps, options.adjoint)
    print(f"{time.perf_counter() - start:.1f} s of training")
    draw(law, observed, losses, options.output)
    print(f"Picture: {options.output}")


if __name__ == "__main__":
    raise SystemExit(main())
