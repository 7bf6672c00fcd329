"""Schedules of learning rates, stepped beside the optimizer.

``_scheduler.py`` is the base class; what depends on the number of the step alone is in
``_by_step.py``, cycles are in ``_cycles.py``, what looks at a metric in ``_plateau.py``, and
schedules made of others in ``_combined.py``.
"""

from ._by_step import (
    ConstantLR,
    CosineAnnealingLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from ._combined import ChainedScheduler, SequentialLR
from ._cycles import CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR
from ._plateau import ReduceLROnPlateau
from ._scheduler import LRScheduler, _enable_get_lr_call  # noqa: F401

_LRScheduler = LRScheduler  # its name before torch 2.0, of which programs have subclasses

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]
