"""The Functions that every step of a network calls, and those that work in place.

Others are formulas of the core (`_modern`), which cost more for each call.
"""

from __future__ import annotations

from typing import Any

import autograd_cy as ag
from autograd_cy.nn import functional as _now

from ..autograd._functions.adapter import Adapter, InplaceAdapter
from ..autograd.function import InplaceFunction
from ..tensors.wrapping import wrap

__all__ = [
    "ELU",
    "Dropout",
    "Hardtanh",
    "LeakyReLU",
    "Linear",
    "LogSoftmax",
    "RReLU",
    "Softmax",
    "Threshold",
]


class _Activation(InplaceAdapter):
    """A function of each element, of any type."""

    def method(self, x: Any) -> Any:
        return wrap(self.core(x))

    def method_(self, x: Any) -> Any:
        return x.copy_(self.core(x))


class Threshold(_Activation):
    """Elements above a threshold, another value in place of the others."""

    name = "threshold"

    def __init__(self, threshold: float, value: float, inplace: bool = False):
        super().__init__(inplace)
        if inplace and value > threshold:
            raise RuntimeError(
                f"in-place processing requires value ({value}) to not exceed threshold "
                f"({threshold})"
            )
        self.threshold = threshold
        self.value = value
        self.extra = threshold, value
        self.keeps = (-1,) if inplace else (0,)


class Hardtanh(_Activation):
    """Elements between two bounds; on a bound the derivative is 0."""

    _operator = staticmethod(_now.hardtanh)
    _operator_ = staticmethod(_now.hardtanh_)
    # Which elements are inside can be told from the result, too.
    keeps = (0,)

    def __init__(self, low: float, high: float, inplace: bool = False):
        super().__init__(inplace)
        self.low = low
        self.high = high
        self.extra = low, high

    def fits(self, x: Any) -> bool:
        return self.low <= self.high and super().fits(x)

    def core(self, x: Any) -> Any:
        return super().core(x) if self.low <= self.high else ag.mul(x, 0)

    def method(self, x: Any) -> Any:
        return x.clamp(*self.extra)

    def method_(self, x: Any) -> Any:
        return x.clamp_(*self.extra)


class LeakyReLU(_Activation):
    """Elements above zero, a multiple of those below."""

    _operator = staticmethod(_now.leaky_relu)
    _operator_ = staticmethod(_now.leaky_relu_)

    def __init__(self, slope: float, inplace: bool = False):
        super().__init__(inplace)
        if inplace and slope < 0:
            raise RuntimeError(f"in-place processing requires a slope above zero, not {slope}")
        self.slope = slope
        self.extra = (slope,)
        # The signs of the result are those of the input.
        self.keeps = (-1,) if inplace else (0,)


class ELU(_Activation):
    """``x`` above zero, ``alpha (exp(x) - 1)`` below."""

    _operator_ = staticmethod(_now.elu_)
    keeps = (-1,)

    def __init__(self, alpha: float, inplace: bool = False):
        super().__init__(inplace)
        if alpha < 0:
            raise RuntimeError(f"ELU: alpha must not be negative, got {alpha}")
        self.alpha = alpha
        self.extra = (alpha,)

    def core(self, x: Any) -> Any:
        # In place, so that the output is saved and not the input.
        return self._operator_(ag.clone(x), self.alpha)


class RReLU(InplaceFunction):
    """Elements above zero, a multiple of those below, which is drawn for each in training."""

    def __init__(self, lower: float, upper: float, train: bool, inplace: bool = False):
        super().__init__(inplace)
        if not 0 <= lower <= upper:
            raise ValueError(f"rrelu: the bounds must be in order and positive: {lower}, {upper}")
        self.lower = lower
        self.upper = upper
        self.train = train
        self.noise: Any = None

    def forward(self, input: Any) -> Any:
        if self.train:
            drawn = input.new().resize_as_(input).uniform_(self.lower, self.upper)
        else:
            drawn = ag.full_like(input, (self.lower + self.upper) / 2)
        self.noise = ag.where(ag.gt(input, 0), ag.ones_like(drawn), drawn)
        output = wrap(ag.mul(input, self.noise))
        if self.inplace:
            self.mark_dirty(input)
            output = input.copy_(output)
        return output

    def backward(self, grad_output: Any) -> Any:
        return wrap(ag.mul(grad_output, self.noise))


class Dropout(InplaceFunction):
    """Elements, or whole channels, set to zero at random, the others scaled up."""

    def __init__(self, p: float, train: bool, inplace: bool = False, channels: bool = False):
        super().__init__(inplace)
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.train = train
        self.channels = channels
        self.noise: Any = None

    def forward(self, input: Any) -> Any:
        if self.inplace:
            self.mark_dirty(input)
        output = input if self.inplace else input.clone()
        if self.train:
            size = input.size()
            if self.channels:
                size = (*size[:2], *(1 for _ in size[2:]))
            noise = input.new(*size).bernoulli_(1 - self.p)
            if self.p < 1:
                noise.div_(1 - self.p)
            self.noise = noise.expand_as(input)
            output.mul_(self.noise)
        return output

    def backward(self, grad_output: Any) -> Any:
        return grad_output if self.noise is None else grad_output.mul(self.noise)


class Linear(Adapter):
    """``x weight^T + bias`` of rows."""

    name = "linear"
    keeps = (0, 1)

    def method(self, x: Any, *others: Any) -> Any:
        return wrap(ag.linear(x, *others))


class _OverClasses(Adapter):
    """Functions along the dimension of classes: the second of batches, the first of 1-D and 3-D."""

    keeps = (-1,)

    def core(self, x: Any) -> Any:
        return self._operator(x, 0 if x.dim() in (1, 3) else 1)

    def method(self, x: Any) -> Any:
        return wrap(self.core(x))


class Softmax(_OverClasses):
    """Probabilities of classes."""

    name = "softmax"


class LogSoftmax(_OverClasses):
    """The logarithms of probabilities of classes."""

    name = "log_softmax"


# Their gradients have the types and sizes of the inputs; they needn't be looked at.
for _name in __all__:
    globals()[_name]._trusted = True
