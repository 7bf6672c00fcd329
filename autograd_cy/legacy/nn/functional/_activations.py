"""Functions of each element, and of the scores of classes."""

from __future__ import annotations

from typing import Any

import autograd_cy as ag
from autograd_cy.nn import functional as _now

from .._functions import (
    ELU,
    Dropout,
    Hardtanh,
    LeakyReLU,
    LogSoftmax,
    RReLU,
    Softmax,
    Threshold,
)
from .._modern import modern
from ._operands import variable

__all__ = [
    "dropout",
    "dropout2d",
    "dropout3d",
    "elu",
    "hardshrink",
    "hardtanh",
    "leaky_relu",
    "log_softmax",
    "logsigmoid",
    "prelu",
    "relu",
    "relu6",
    "rrelu",
    "sigmoid",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
]


def threshold(input: Any, threshold: float, value: float, inplace: bool = False) -> Any:
    """Elements above a threshold, `value` in place of the others."""
    return Threshold(threshold, value, inplace)(variable(input, "threshold"))


def relu(input: Any, inplace: bool = False) -> Any:
    """Elements above zero, zero in place of the others."""
    return Threshold(0, 0, inplace)(input)


def dropout(input: Any, p: float = 0.5, training: bool = False, inplace: bool = False) -> Any:
    """Set elements to zero with probability `p`, if `training`."""
    return Dropout(p, training, inplace)(input)


def dropout2d(input: Any, p: float = 0.5, training: bool = False, inplace: bool = False) -> Any:
    """Set whole channels to zero with probability `p`, if `training`."""
    return Dropout(p, training, inplace, channels=True)(input)


dropout3d = dropout2d


def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Any:
    """Elements between two bounds."""
    return Hardtanh(min_val, max_val, inplace)(input)


def relu6(input: Any, inplace: bool = False) -> Any:
    """Elements between 0 and 6."""
    return hardtanh(input, 0, 6, inplace)


def elu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    """``x`` above zero, ``alpha (exp(x) - 1)`` below."""
    return ELU(alpha, inplace)(input)


def leaky_relu(input: Any, negative_slope: float = 1e-2, inplace: bool = False) -> Any:
    """``x`` above zero, ``negative_slope x`` below."""
    return LeakyReLU(negative_slope, inplace)(input)


def rrelu(
    input: Any,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Any:
    """``x`` above zero, ``a x`` below; in training `a` is drawn between the bounds."""
    return RReLU(lower, upper, training, inplace)(input)


def prelu(input: Any, weight: Any) -> Any:
    """``x`` above zero, ``weight x`` below; one weight, or one for each channel."""
    return modern("PReLU", _now.prelu, input, weight)


def softplus(input: Any, beta: float = 1, threshold: float = 20) -> Any:
    """``log(1 + exp(beta x)) / beta``, and ``x`` where ``beta x`` is above the threshold."""
    return modern("Softplus", lambda x: _now.softplus(x, beta, threshold), input)


def hardshrink(input: Any, lambd: float = 0.5) -> Any:
    """Zero in place of elements between -lambd and lambd."""
    return modern("Hardshrink", lambda x: _now.hardshrink(x, lambd), input)


def softshrink(input: Any, lambd: float = 0.5) -> Any:
    """Elements moved towards zero by `lambd`."""
    return modern("Softshrink", lambda x: _now.softshrink(x, lambd), input)


def tanhshrink(input: Any) -> Any:
    """``x - tanh(x)``."""
    return modern("Tanhshrink", lambda x: x - ag.tanh(x), input)


def softsign(input: Any) -> Any:
    """``x / (1 + |x|)``."""
    return modern("Softsign", lambda x: x / (1 + ag.abs(x)), input)


def logsigmoid(input: Any) -> Any:
    """The logarithm of the sigmoid."""
    return modern("LogSigmoid", _now.logsigmoid, input)


def tanh(input: Any) -> Any:
    """The hyperbolic tangent."""
    return variable(input, "tanh").tanh()


def sigmoid(input: Any) -> Any:
    """``1 / (1 + exp(-x))``."""
    return variable(input, "sigmoid").sigmoid()


def softmax(input: Any) -> Any:
    """Probabilities along the dimension of classes: the second of batches, the first otherwise."""
    return Softmax()(input)


def softmin(input: Any) -> Any:
    """``softmax(-x)``."""
    return Softmax()(-variable(input, "softmin"))


def log_softmax(input: Any) -> Any:
    """The logarithms of probabilities along the dimension of classes."""
    return LogSoftmax()(input)
