"""The Functions that every step of a network calls, and those that work in place.

Others are formulas of the core (`_modern`), which cost more for each call.
"""

from __future__ import annotations

from typing import Any

import autograd_cy as ag
from autograd_cy.nn import functional as _now

from ..autograd import Function
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


class Threshold(InplaceFunction):
    """Elements above a threshold, another value in place of the others."""

    def __init__(self, threshold: float, value: float, inplace: bool = False):
        super().__init__(inplace)
        if inplace and value > threshold:
            raise RuntimeError(
                f"in-place processing requires value ({value}) to not exceed threshold "
                f"({threshold})"
            )
        self.threshold = threshold
        self.value = value

    def forward(self, input: Any) -> Any:
        output = wrap(ag.threshold(input, self.threshold, self.value))
        if self.inplace:
            self.mark_dirty(input)
            output = input.copy_(output)
        self.save_for_backward(output if self.inplace else input)
        return output

    def backward(self, grad_output: Any) -> Any:
        (kept,) = self.saved_tensors
        return wrap(ag.masked_fill(grad_output, ag.le(kept, self.threshold), 0))


class Hardtanh(InplaceFunction):
    """Elements between two bounds; on a bound the derivative is 0."""

    def __init__(self, low: float, high: float, inplace: bool = False):
        super().__init__(inplace)
        self.low = low
        self.high = high

    def forward(self, input: Any) -> Any:
        if self.inplace:
            self.mark_dirty(input)
            input.clamp_(self.low, self.high)
        # Which elements are inside can be told from the result, too.
        self.save_for_backward(input)
        return input if self.inplace else input.clamp(self.low, self.high)

    def backward(self, grad_output: Any) -> Any:
        (kept,) = self.saved_tensors
        outside = ag.logical_or(ag.le(kept, self.low), ag.ge(kept, self.high))
        return wrap(ag.masked_fill(grad_output, outside, 0))


class LeakyReLU(InplaceFunction):
    """Elements above zero, a multiple of those below."""

    def __init__(self, slope: float, inplace: bool = False):
        super().__init__(inplace)
        if inplace and slope < 0:
            raise RuntimeError(f"in-place processing requires a slope above zero, not {slope}")
        self.slope = slope

    def forward(self, input: Any) -> Any:
        output = wrap(_now.leaky_relu(input, self.slope))
        if self.inplace:
            self.mark_dirty(input)
            output = input.copy_(output)
        # The signs of the result are those of the input.
        self.save_for_backward(output if self.inplace else input)
        return output

    def backward(self, grad_output: Any) -> Any:
        (kept,) = self.saved_tensors
        return wrap(ag.where(ag.gt(kept, 0), grad_output, ag.mul(grad_output, self.slope)))


class ELU(InplaceFunction):
    """``x`` above zero, ``alpha (exp(x) - 1)`` below."""

    def __init__(self, alpha: float, inplace: bool = False):
        super().__init__(inplace)
        if alpha < 0:
            raise RuntimeError(f"ELU: alpha must not be negative, got {alpha}")
        self.alpha = alpha

    def forward(self, input: Any) -> Any:
        output = wrap(_now.elu(input, self.alpha))
        if self.inplace:
            self.mark_dirty(input)
            output = input.copy_(output)
        self.save_for_backward(output)
        return output

    def backward(self, grad_output: Any) -> Any:
        (output,) = self.saved_tensors
        below = ag.mul(grad_output, ag.add(output, self.alpha))
        return wrap(ag.where(ag.gt(output, 0), grad_output, below))


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


class Linear(Function):
    """``x weight^T + bias`` of rows."""

    def forward(self, input: Any, weight: Any, bias: Any = None) -> Any:
        self.save_for_backward(input, weight)
        return wrap(ag.linear(input, weight, bias))

    def backward(self, grad_output: Any) -> Any:
        input, weight = self.saved_tensors
        needs = self.needs_input_grad
        return (
            ag.mm(grad_output, weight) if needs[0] else None,
            ag.mm(ag.t(grad_output), input) if needs[1] else None,
            ag.sum(grad_output, 0) if needs[2:] == (True,) else None,
        )


class _OverClasses(Function):
    """Functions along the dimension of classes: the second of batches, the first of 1-D and 3-D."""

    compute: Any
    slope: Any

    def forward(self, input: Any) -> Any:
        self.dim = 0 if input.dim() in (1, 3) else 1
        output = wrap(type(self).compute(input, self.dim))
        self.save_for_backward(output)
        return output

    def backward(self, grad_output: Any) -> Any:
        (output,) = self.saved_tensors
        return wrap(type(self).slope(grad_output, output, self.dim))


class Softmax(_OverClasses):
    """Probabilities of classes."""

    compute = staticmethod(ag.softmax)
    slope = staticmethod(ag.softmax_backward)


class LogSoftmax(_OverClasses):
    """The logarithms of probabilities of classes."""

    compute = staticmethod(ag.log_softmax)
    slope = staticmethod(ag.log_softmax_backward)


# Their gradients have the types and sizes of the inputs; they needn't be looked at.
for _name in __all__:
    globals()[_name]._trusted = True
