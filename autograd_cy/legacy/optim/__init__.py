"""Optimizers of the era: ``SGD(params, lr)``, ``step(closure)``, ``zero_grad()`` with zeros."""

from __future__ import annotations

from autograd_cy._lazy import attach as _attach

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


__getattr__, __dir__ = _attach(__name__, hint=f"; there are {', '.join(__all__)}")
