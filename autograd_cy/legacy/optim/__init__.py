"""Optimizers of the era: ``SGD(params, lr)``, ``step(closure)``, ``zero_grad()`` with zeros."""

from __future__ import annotations

from typing import Any

from .algorithms import ASGD, SGD, Adadelta, Adagrad, Adam, Adamax, RMSprop, Rprop
from .lbfgs import LBFGS
from .optimizer import Optimizer

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "Adamax",
    "Optimizer",
    "RMSprop",
    "Rprop",
]


def __getattr__(name: str) -> Any:
    raise AttributeError(
        f"module 'autograd_cy.legacy.optim' has no attribute {name!r}; there are "
        f"{', '.join(__all__)}"
    )
