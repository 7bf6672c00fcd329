"""Checks of values in operators that are made of others, on all devices."""

from __future__ import annotations

from autograd_cy._C.faults import (
    CLASS_ABOVE,
    CLASS_BELOW,
    INPUT_LENGTH,
    MARGIN_TARGET,
    MARGIN_TARGETS,
    SPAN,
    TARGET_LENGTH,
    VARIANCE,
    check_here,
    looks_at,
)
from autograd_cy._C.levels import _batch_level
from autograd_cy._C.ops_indexing import _checked_values
from autograd_cy._C.tensor import Tensor

MOST = (1 << 63) - 1


def _check_values(t: Tensor, low: int, high: int, fault: int) -> Tensor:
    """`t`; elsewhere than on the CPU the next synchronisation says what is wrong with it."""
    if looks_at(t):
        check_here(t, low, high, fault)
        return t
    if _batch_level(t) >= 0:
        return t  # its values are not looked at, as in torch
    return _checked_values(t, low, high, fault)


def checked_classes(t: Tensor, classes: int) -> Tensor:
    """Refuse what is no class from 0 on, for one_hot()."""
    return _check_values(_check_values(t, 0, MOST, CLASS_BELOW), 0, classes, CLASS_ABOVE)


def checked_margin_targets(t: Tensor, low: int, classes: int) -> Tensor:
    """Refuse targets that are no classes, for the margin losses; `low` is -1 or 0."""
    return _check_values(t, low, classes, MARGIN_TARGETS if low else MARGIN_TARGET)


def checked_targets(t: Tensor, classes: int) -> Tensor:
    """Refuse targets that are no classes, for AdaptiveLogSoftmaxWithLoss."""
    return _check_values(t, 0, classes, SPAN)


def checked_lengths(t: Tensor, most: int, of_targets: bool) -> Tensor:
    """Refuse lengths that are negative or above `most`, for ctc_loss()."""
    return _check_values(t, 0, most + 1, TARGET_LENGTH if of_targets else INPUT_LENGTH)


def checked_variances(t: Tensor) -> Tensor:
    """Refuse negative variances, for gaussian_nll_loss()."""
    return _check_values(t, 0, 0, VARIANCE)
