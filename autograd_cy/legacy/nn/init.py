"""First values of parameters, written into tensors or Variables in place."""

from __future__ import annotations

import math
from typing import Any

import autograd_cy as ag

from ..autograd import Variable
from ..tensors.wrapping import wrap

__all__ = [
    "calculate_gain",
    "constant",
    "eye",
    "kaiming_normal",
    "kaiming_uniform",
    "normal",
    "orthogonal",
    "sparse",
    "uniform",
    "xavier_normal",
    "xavier_uniform",
]


def _data(tensor: Any) -> Any:
    return wrap(tensor.data if isinstance(tensor, Variable) else tensor)


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """
    The factor that keeps the deviation of activations.

    Examples
    --------
    >>> from autograd_cy.legacy.nn import init
    >>> init.calculate_gain("tanh")
    1.6666666666666667
    """
    return ag.nn.init.calculate_gain(nonlinearity, param)


def uniform(tensor: Any, a: float = 0, b: float = 1) -> Any:
    """Draw from the interval from `a` to `b`."""
    _data(tensor).uniform_(a, b)
    return tensor


def normal(tensor: Any, mean: float = 0, std: float = 1) -> Any:
    """Draw from a normal distribution."""
    _data(tensor).normal_(mean, std)
    return tensor


def constant(tensor: Any, val: float) -> Any:
    """Fill with a number."""
    _data(tensor).fill_(val)
    return tensor


def eye(tensor: Any) -> Any:
    """Fill a matrix with ones on the diagonal and zeros."""
    data = _data(tensor)
    if data.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    data.copy_(ag.eye(*data.shape, dtype=data.dtype))
    return tensor


def _fans(data: Any) -> tuple[int, int]:
    if data.dim() < 2:
        raise ValueError("fan in and fan out can not be computed for tensor of less than 2 dims")
    field = math.prod(data.shape[2:])
    return data.size(1) * field, data.size(0) * field


def xavier_uniform(tensor: Any, gain: float = 1) -> Any:
    """Draw uniformly, with a variance of two over the sum of inputs and outputs."""
    std = gain * math.sqrt(2.0 / sum(_fans(_data(tensor))))
    return uniform(tensor, -math.sqrt(3.0) * std, math.sqrt(3.0) * std)


def xavier_normal(tensor: Any, gain: float = 1) -> Any:
    """Draw normally, with a variance of two over the sum of inputs and outputs."""
    return normal(tensor, 0, gain * math.sqrt(2.0 / sum(_fans(_data(tensor)))))


def _kaiming(tensor: Any, a: float, mode: str) -> float:
    fans = dict(zip(("fan_in", "fan_out"), _fans(_data(tensor))))
    if mode not in fans:
        raise ValueError(f"mode {mode} not supported, please use one of fan_in and fan_out")
    return calculate_gain("leaky_relu", a) / math.sqrt(fans[mode])


def kaiming_uniform(tensor: Any, a: float = 0, mode: str = "fan_in") -> Any:
    """Draw uniformly, for rectifiers of slope `a` below zero."""
    bound = math.sqrt(3.0) * _kaiming(tensor, a, mode)
    return uniform(tensor, -bound, bound)


def kaiming_normal(tensor: Any, a: float = 0, mode: str = "fan_in") -> Any:
    """Draw normally, for rectifiers of slope `a` below zero."""
    return normal(tensor, 0, _kaiming(tensor, a, mode))


def orthogonal(tensor: Any, gain: float = 1) -> Any:
    """Fill with rows, or columns, that are orthogonal to each other."""
    data = _data(tensor)
    if data.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    rows = data.size(0)
    flat = data.new(rows, data.nelement() // rows).normal_()
    tall = flat if flat.size(0) >= flat.size(1) else flat.t()
    q, r = tall.qr()
    q = q * r.diag().sign().unsqueeze(0).expand_as(q)
    data.copy_((q if tall is flat else q.t()).contiguous().mul(gain))
    return tensor


def sparse(tensor: Any, sparsity: float, std: float = 0.01) -> Any:
    """Draw a matrix normally and set this part of each column to zero."""
    data = _data(tensor)
    if data.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    data.normal_(0, std)
    zeros = math.ceil(data.size(0) * sparsity)
    for column in range(data.size(1)):
        rows = wrap(ag.randperm(data.size(0)))
        for row in rows.tolist()[:zeros]:
            data[row, column] = 0
    return tensor
