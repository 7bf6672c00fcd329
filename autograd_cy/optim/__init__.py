"""Optimizers: `SGD`, `Adam`, `AdamW`, and the base class for others.

``optimizer.py`` holds groups, state and saving; each method's file holds its update. Schedules of
learning rates are in ``lr_scheduler``.
"""

from . import lr_scheduler
from .adam import Adam, AdamW
from .optimizer import Optimizer
from .sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "Optimizer", "lr_scheduler"]
