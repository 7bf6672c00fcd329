"""Micro: reading and writing by masks, of all elements and of rows and columns, 10^6 float32."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.case import Case
from benchmarks.inputs import normal, uniform

_N = 1000
_SHARES = {"50 %": 0.5, "1 %": 0.01}


def _names(torch: Any, share: float) -> dict[str, Any]:
    """Return a vector, a matrix, its transpose and every second row of one, with their masks."""
    x, y = normal(torch, _N * _N), normal(torch, _N, _N, seed=1)
    mask = uniform(torch, _N * _N, low=0.0, high=1.0, seed=2) < share
    rows = uniform(torch, _N, low=0.0, high=1.0, seed=3) < share
    return {
        "torch": torch,
        "x": x,
        "y": y,
        "t": normal(torch, _N, _N, seed=4).t(),
        "z": normal(torch, 2 * _N, _N, seed=5)[::2],
        "mask": mask,
        "all": mask.reshape(_N, _N),
        "rows": rows,
        "v": x[mask],
        "w": y[rows],
        "zero": torch.tensor(0.0),
    }


def _with(share: float) -> Callable[[Any], dict[str, Any]]:
    return lambda torch: _names(torch, share)


#: What is written stays what it is, so that every run does the same.
_STATEMENTS = """
x[mask]
x[mask] = v
x[mask] += 0.0
x[mask] = 0
x[mask] = zero
x.masked_fill_(mask, 0)
y[all] = 0
t[all]
t[all] = 0
t.masked_fill_(all, 0)
z[all] = 0
z.masked_fill_(all, 0)
y[rows]
y[rows] = w
y[rows] = 0
y.masked_fill_(rows[:, None], 0)
y[:, rows]
y[:, rows] = 0
y.masked_fill_(rows, 0)
mask.nonzero()
all.nonzero()
"""

CASES = [
    Case(f"{code}, {name}", _with(share), statement=code)
    for name, share in _SHARES.items()
    for code in _STATEMENTS.strip().splitlines()
]
