"""Measure the cost of a loop of small operators, step by step.

    python examples/profile_lstm.py [--length 12] [--picture lstm.png]

Runs an LSTM written as a loop, records one of its steps by a schedule, and prints the costs of each
line. Its events are short: calling operators costs more than their work, which the summary says.
Draws the step as a timeline, which needs matplotlib (``pip install -e ".[train]"``).
"""

from __future__ import annotations

import argparse

import autograd_cy as torch
from autograd_cy import nn
from autograd_cy.profiler import profile, record_function, schedule


class LSTM(nn.Module):
    """One layer, unrolled in Python."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.hidden = hidden
        self.gates = nn.Linear(width + hidden, 4 * hidden)

    def forward(self, inputs):
        batch = inputs.shape[1]
        state = torch.zeros(batch, self.hidden)
        cell = torch.zeros(batch, self.hidden)
        for x in inputs:
            with record_function("cell"):
                gates = self.gates(torch.cat([x, state], dim=1))
                enter, forget, update, leave = gates.chunk(4, dim=1)
                cell = torch.sigmoid(forget) * cell + torch.sigmoid(enter) * torch.tanh(update)
                state = torch.sigmoid(leave) * torch.tanh(cell)
        return state


def record(length: int = 12, hidden: int = 16, batch: int = 8) -> profile:
    """The recording of one training step, after one that waits and one that warms up."""
    torch.random.manual_seed(0)
    model = LSTM(5, hidden)
    adam = torch.optim.Adam(model.parameters(), lr=0.01)
    plan = schedule(wait=1, warmup=1, active=1, repeat=1)
    with profile(schedule=plan, with_stack=True) as prof:
        for _ in range(3):
            inputs = torch.randn(length, batch, 5)
            with record_function("forward"):
                loss = model(inputs).pow(2).mean()
            with record_function("backward"):
                loss.backward()
            adam.step()
            adam.zero_grad()
            prof.step()
    return prof


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--length", type=int, default=12, metavar="N", help="(%(default)s)")
    help_text = "file for the timeline (.png, .svg or .pdf); needs matplotlib"
    parser.add_argument("--picture", help=help_text)
    parser.add_argument("--device", default="cpu", help="such as cuda or cuda:1 (%(default)s)")
    arguments = parser.parse_args()
    with torch.device(arguments.device):
        prof = record(arguments.length)
    print(prof.summary())
    print(prof.group("line").table(row_limit=10))
    if arguments.picture:
        prof.plot_timeline().figure.savefig(arguments.picture, dpi=100)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
