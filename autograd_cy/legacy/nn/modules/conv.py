"""Convolutions and their transposes."""

from __future__ import annotations

import math
from typing import Any

from .. import functional as F
from ..parameter import fresh
from .module import Module
from .utils import per_dimension

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
]


class _ConvNd(Module):
    dims: int
    transposed = False
    output_padding: tuple[int, ...] = ()
    _apart = False

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
    ):
        super().__init__()
        if in_channels % groups:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups:
            raise ValueError("out_channels must be divisible by groups")
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = per_dimension(kernel_size, self.dims)
        self.stride = per_dimension(stride, self.dims)
        self.padding = per_dimension(padding, self.dims)
        self.dilation = per_dimension(dilation, self.dims)
        self.groups = groups
        pair = (in_channels, out_channels) if self.transposed else (out_channels, in_channels)
        self.weight = fresh(pair[0], pair[1] // groups, *self.kernel_size)
        self.register_parameter("bias", fresh(out_channels) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        bound = 1.0 / math.sqrt(self.in_channels * math.prod(self.kernel_size))
        for parameter in self.parameters():
            parameter.data.uniform_(-bound, bound)

    def forward(self, input: Any) -> Any:
        function = getattr(F, f"conv{self.dims}d")
        rules = self.stride, self.padding, self.dilation, self.groups
        return function(input, self.weight, self.bias, *rules)

    def _extra(self) -> str:
        text = (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}"
        )
        if any(self.padding):
            text += f", padding={self.padding}"
        if any(d > 1 for d in self.dilation):
            text += f", dilation={self.dilation}"
        if any(self.output_padding):
            text += f", output_padding={self.output_padding}"
        if self.groups > 1:
            text += f", groups={self.groups}"
        return text + (", bias=False" if self.bias is None else "")


class Conv1d(_ConvNd):
    """The cross-correlation of (batch, channels, length) with trained weights."""

    dims = 1


class Conv2d(_ConvNd):
    """
    The cross-correlation of (batch, channels, height, width) with trained weights.

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> from autograd_cy.legacy.autograd import Variable
    >>> torch.nn.Conv2d(1, 4, 3, padding=1)(Variable(torch.ones(2, 1, 5, 5))).size()
    autograd_cy.Size([2, 4, 5, 5])
    """

    dims = 2


class Conv3d(_ConvNd):
    """The cross-correlation of (batch, channels, depth, height, width) with trained weights."""

    dims = 3


class _ConvTransposeMixin(_ConvNd):
    transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
    ):
        rules = stride, padding, dilation, groups, bias
        super().__init__(in_channels, out_channels, kernel_size, *rules)
        self.output_padding = per_dimension(output_padding, self.dims)

    def forward(self, input: Any) -> Any:
        function = getattr(F, f"conv_transpose{self.dims}d")
        rules = self.stride, self.padding, self.output_padding, self.groups, self.dilation
        return function(input, self.weight, self.bias, *rules)


class ConvTranspose1d(_ConvTransposeMixin):
    """The transpose of a convolution over one dimension."""

    dims = 1


class ConvTranspose2d(_ConvTransposeMixin):
    """The transpose of a convolution over two dimensions."""

    dims = 2


class ConvTranspose3d(_ConvTransposeMixin):
    """The transpose of a convolution over three dimensions."""

    dims = 3
