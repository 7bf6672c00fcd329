"""Recurrent networks: loops over cells, cells written by hand, whole sequences, training steps.

The weights start from the same numbers in both libraries.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.case import Case
from benchmarks.inputs import leaf, normal


def _same(torch: Any, module: Any) -> Any:
    """Give a module weights from NumPy."""
    with torch.no_grad():
        for number, parameter in enumerate(module.parameters()):
            size = parameter.shape[-1]
            parameter.copy_(normal(torch, *parameter.shape, seed=number) * size**-0.5)
    return module


def _sequence(kind: str, steps: int, batch: int, size: int, **options: Any) -> Callable:
    """Return forward and backward of a network over a sequence."""

    def setup(torch: Any) -> Callable:
        network = _same(torch, getattr(torch.nn, kind)(size, size, **options))
        x = normal(torch, steps, batch, size, seed=50)

        def run() -> Any:
            network.zero_grad()
            loss = network(x)[0].square().mean()
            loss.backward()
            return loss

        return run

    return setup


def _forward(kind: str, steps: int, batch: int, size: int) -> Callable:
    def setup(torch: Any) -> Callable:
        network = _same(torch, getattr(torch.nn, kind)(size, size))
        x = normal(torch, steps, batch, size, seed=50)

        def run() -> Any:
            with torch.no_grad():
                return network(x)[0]

        return run

    return setup


def _cells(kind: str, steps: int, batch: int, size: int) -> Callable:
    """Return forward and backward of a loop over a cell."""

    def setup(torch: Any) -> Callable:
        cell = _same(torch, getattr(torch.nn, f"{kind}Cell")(size, size))
        x = normal(torch, steps, batch, size, seed=50)

        def run() -> Any:
            cell.zero_grad()
            state: Any = None
            for step in x.unbind(0):
                state = cell(step, state)
            loss = (state[0] if kind == "LSTM" else state).square().mean()
            loss.backward()
            return loss

        return run

    return setup


def _by_hand(steps: int, batch: int, size: int) -> Callable:
    """Return an LSTM of plain operators, as people write it to learn."""

    def setup(torch: Any) -> Callable:
        x = normal(torch, steps, batch, size, seed=50)
        w_ih = leaf(normal(torch, 4 * size, size, seed=1) * size**-0.5)
        w_hh = leaf(normal(torch, 4 * size, size, seed=2) * size**-0.5)
        bias = leaf(normal(torch, 4 * size, seed=3))

        def run() -> Any:
            for weight in (w_ih, w_hh, bias):
                weight.grad = None
            h = c = torch.zeros(batch, size)
            for step in x.unbind(0):
                gates = step @ w_ih.t() + h @ w_hh.t() + bias
                i, f, g, o = gates.chunk(4, 1)
                c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
                h = torch.sigmoid(o) * torch.tanh(c)
            loss = h.square().mean()
            loss.backward()
            return loss

        return run

    return setup


def _training(batch: int, steps: int, size: int) -> Callable:
    """Return a training step: an LSTM of two layers, a linear layer, Adam."""

    def setup(torch: Any) -> Callable:
        nn = torch.nn
        network = _same(torch, nn.LSTM(size, size, 2, batch_first=True))
        head = _same(torch, nn.Linear(size, 1))
        update = torch.optim.Adam([*network.parameters(), *head.parameters()], lr=1e-4)
        x, target = normal(torch, batch, steps, size, seed=50), normal(torch, batch, 1, seed=51)

        def run() -> Any:
            update.zero_grad()
            loss = nn.functional.mse_loss(head(network(x)[0][:, -1]), target)
            loss.backward()
            update.step()
            return loss

        return run

    return setup


CASES = [
    Case("LSTM by hand 50, B1 H16", _by_hand(50, 1, 16)),
    Case("LSTM by hand 50, B32 H128", _by_hand(50, 32, 128)),
    *(
        Case(f"{kind}Cell 50, B{batch} H{size}", _cells(kind, 50, batch, size))
        for kind in ("RNN", "GRU", "LSTM")
        for batch, size in ((1, 16), (32, 128))
    ),
    *(
        Case(f"{kind} 50, B{batch} H{size}", _sequence(kind, 50, batch, size))
        for kind in ("RNN", "GRU", "LSTM")
        for batch, size in ((1, 16), (32, 128))
    ),
    Case(
        "LSTM 50 of two layers and directions, B32 H64",
        _sequence("LSTM", 50, 32, 64, num_layers=2, bidirectional=True),
    ),
    Case("LSTM forward 50, B1 H16", _forward("LSTM", 50, 1, 16)),
    Case("LSTM forward 50, B32 H128", _forward("LSTM", 50, 32, 128)),
    Case("LSTM training B32 T32 H128", _training(32, 32, 128)),
]
