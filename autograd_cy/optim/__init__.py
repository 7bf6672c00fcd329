"""Optimizers, the base class for others, and schedules of learning rates.

``optimizer.py`` holds groups, state and saving; each method's file holds its update.
``_fused.py`` is the base of those whose step is one compiled pass. Schedules are in
``lr_scheduler``.
``swa_utils`` averages weights.
"""

from typing import TYPE_CHECKING

from autograd_cy._lazy import attach as _attach

from . import lr_scheduler
from .adadelta import Adadelta
from .adafactor import Adafactor
from .adagrad import Adagrad
from .adam import Adam, AdamW
from .adamax import Adamax
from .asgd import ASGD
from .lbfgs import LBFGS
from .muon import Muon
from .nadam import NAdam
from .optimizer import Optimizer
from .radam import RAdam
from .rmsprop import RMSprop
from .rprop import Rprop
from .sgd import SGD

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "lr_scheduler",
    "swa_utils",
]

if TYPE_CHECKING:  # type checkers name what isn't there themselves
    from . import swa_utils as swa_utils
else:
    __getattr__, __dir__ = _attach(__name__, ["swa_utils"])
