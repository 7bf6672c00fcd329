"""Products of features and weights."""

from __future__ import annotations

import math
from typing import Any

from .. import functional as F
from ..parameter import fresh
from .module import Module

__all__ = [
    "Bilinear",
    "Linear",
]


class Linear(Module):
    """
    ``x weight^T + bias`` of rows.

    Parameters
    ----------
    in_features, out_features : int
    bias : bool, optional

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> from autograd_cy.legacy.autograd import Variable
    >>> torch.nn.Linear(3, 2)(Variable(torch.ones(4, 3))).size()
    autograd_cy.Size([4, 2])
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True):
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = fresh(out_features, in_features)
        self.register_parameter("bias", fresh(out_features) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        bound = 1.0 / math.sqrt(self.weight.size(1))
        for parameter in self.parameters():
            parameter.data.uniform_(-bound, bound)

    def forward(self, input: Any) -> Any:
        return F.linear(input, self.weight, self.bias)

    def _extra(self) -> str:
        return f"{self.in_features} -> {self.out_features}"


class Bilinear(Module):
    """
    ``x A y^T + bias`` of pairs of rows, with a matrix A for each output.

    Parameters
    ----------
    in1_features, in2_features, out_features : int
    bias : bool, optional
    """

    def __init__(self, in1_features: int, in2_features: int, out_features: int, bias: bool = True):
        super().__init__()
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        self.weight = fresh(out_features, in1_features, in2_features)
        self.register_parameter("bias", fresh(out_features) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        bound = 1.0 / math.sqrt(self.in1_features)
        for parameter in self.parameters():
            parameter.data.uniform_(-bound, bound)

    def forward(self, input1: Any, input2: Any) -> Any:
        return F.bilinear(input1, input2, self.weight, self.bias)

    def _extra(self) -> str:
        return f"in1={self.in1_features}, in2={self.in2_features} -> {self.out_features}"
