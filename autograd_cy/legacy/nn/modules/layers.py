"""Layers: linear ones, convolutions, pooling, normalisation, dropout, embeddings, distances."""

from __future__ import annotations

import math
from typing import Any

from ...creation import default_type
from .. import functional as F
from .._windows import per_dimension
from ..parameter import Parameter
from .module import Module

__all__ = [
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "Dropout",
    "Dropout2d",
    "Dropout3d",
    "Embedding",
    "Linear",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "PairwiseDistance",
]


def _parameter(*sizes: int) -> Parameter:
    return Parameter(default_type()(*sizes))


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
        self.weight = _parameter(out_features, in_features)
        self.register_parameter("bias", _parameter(out_features) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        bound = 1.0 / math.sqrt(self.weight.size(1))
        for parameter in self.parameters():
            parameter.data.uniform_(-bound, bound)

    def forward(self, input: Any) -> Any:
        return F.linear(input, self.weight, self.bias)

    def extra(self) -> str:
        return f"{self.in_features} -> {self.out_features}"


class _Conv(Module):
    dims: int
    transposed = False

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
        self.weight = _parameter(pair[0], pair[1] // groups, *self.kernel_size)
        self.register_parameter("bias", _parameter(out_channels) if bias else None)
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

    def extra(self) -> str:
        text = (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}"
        )
        if any(self.padding):
            text += f", padding={self.padding}"
        if any(d > 1 for d in self.dilation):
            text += f", dilation={self.dilation}"
        return text + (f", groups={self.groups}" if self.groups > 1 else "")


class Conv1d(_Conv):
    """The cross-correlation of (batch, channels, length) with trained weights."""

    dims = 1


class Conv2d(_Conv):
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


class Conv3d(_Conv):
    """The cross-correlation of (batch, channels, depth, height, width) with trained weights."""

    dims = 3


class _ConvTranspose(_Conv):
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


class ConvTranspose1d(_ConvTranspose):
    """The transpose of a convolution over one dimension."""

    dims = 1


class ConvTranspose2d(_ConvTranspose):
    """The transpose of a convolution over two dimensions."""

    dims = 2


class ConvTranspose3d(_ConvTranspose):
    """The transpose of a convolution over three dimensions."""

    dims = 3


class _MaxPool(Module):
    dims: int

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ):
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride or kernel_size
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def forward(self, input: Any) -> Any:
        function = getattr(F, f"max_pool{self.dims}d")
        rules = self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices
        return function(input, self.kernel_size, *rules)

    def extra(self) -> str:
        return f"size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxPool1d(_MaxPool):
    """The largest elements of windows over one dimension."""

    dims = 1


class MaxPool2d(_MaxPool):
    """The largest elements of windows over two dimensions."""

    dims = 2


class MaxPool3d(_MaxPool):
    """The largest elements of windows over three dimensions."""

    dims = 3


class _AvgPool(Module):
    dims: int

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ):
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride or kernel_size
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Any) -> Any:
        function = getattr(F, f"avg_pool{self.dims}d")
        rules = self.stride, self.padding, self.ceil_mode, self.count_include_pad
        return function(input, self.kernel_size, *rules)

    def extra(self) -> str:
        return f"size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPool):
    """The means of windows over one dimension."""

    dims = 1


class AvgPool2d(_AvgPool):
    """The means of windows over two dimensions."""

    dims = 2


class AvgPool3d(_AvgPool):
    """The means of windows over three dimensions."""

    dims = 3


class _BatchNorm(Module):
    dims: tuple[int, ...]
    running_mean: Any
    running_var: Any

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = True
    ):
        super().__init__()
        self.num_features = num_features
        self.affine = affine
        self.eps = eps
        self.momentum = momentum
        self.register_parameter("weight", _parameter(num_features) if affine else None)
        self.register_parameter("bias", _parameter(num_features) if affine else None)
        self.register_buffer("running_mean", default_type()(num_features).zero_())
        self.register_buffer("running_var", default_type()(num_features).fill_(1))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Begin anew: weights between 0 and 1, running mean 0 and variance 1."""
        self.running_mean.zero_()
        self.running_var.fill_(1)
        if self.affine:
            self.weight.data.uniform_()
            self.bias.data.zero_()

    def forward(self, input: Any) -> Any:
        if input.dim() not in self.dims:
            expected = " or ".join(f"{dims}D" for dims in self.dims)
            raise ValueError(f"expected {expected} input (got {input.dim()}D input)")
        if input.size(1) != self.num_features:
            raise RuntimeError(
                f"got {input.size(1)}-feature tensor, expected {self.num_features} features"
            )
        running = self.running_mean, self.running_var
        return F.batch_norm(
            input, *running, self.weight, self.bias, self.training, self.momentum, self.eps
        )

    def extra(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}"
        )


class BatchNorm1d(_BatchNorm):
    """
    Channels of (batch, channels) or (batch, channels, length) with mean 0 and variance 1.

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> torch.nn.BatchNorm1d(3)
    BatchNorm1d (3, eps=1e-05, momentum=0.1, affine=True)
    """

    dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Channels of images with mean 0 and variance 1."""

    dims = (4,)


class BatchNorm3d(_BatchNorm):
    """Channels of volumes with mean 0 and variance 1."""

    dims = (5,)


class Dropout(Module):
    """Elements set to zero with probability `p` in training mode, the others scaled up."""

    _function = staticmethod(F.dropout)

    def __init__(self, p: float = 0.5, inplace: bool = False):
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def forward(self, input: Any) -> Any:
        return type(self)._function(input, self.p, self.training, self.inplace)

    def extra(self) -> str:
        return f"p = {self.p}{', inplace' if self.inplace else ''}"


class Dropout2d(Dropout):
    """Whole channels set to zero with probability `p` in training mode."""

    _function = staticmethod(F.dropout2d)


class Dropout3d(Dropout2d):
    """Whole channels set to zero with probability `p` in training mode."""


class Embedding(Module):
    """
    A trained vector for each of `num_embeddings` numbers, which come as LongTensor Variables.

    Parameters
    ----------
    num_embeddings, embedding_dim : int
    padding_idx : int, optional
        A number whose vector is zero and isn't trained.
    max_norm, norm_type : float, optional
        Vectors that are used are scaled down to this norm.
    scale_grad_by_freq, sparse : bool, optional
        Not supported.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ):
        super().__init__()
        if scale_grad_by_freq or sparse:
            raise NotImplementedError("Embedding: no scale_grad_by_freq, and gradients are dense")
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = padding_idx
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.weight = _parameter(num_embeddings, embedding_dim)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the vectors anew."""
        self.weight.data.normal_(0, 1)
        if self.padding_idx is not None:
            self.weight.data[self.padding_idx].fill_(0)

    def forward(self, input: Any) -> Any:
        if self.max_norm is not None:
            used = input.data.contiguous().view(-1)
            rows = self.weight.data.index_select(0, used).renorm(self.norm_type, 0, self.max_norm)
            self.weight.data.index_copy_(0, used, rows)
        return F.embedding(input, self.weight, self.padding_idx)

    def extra(self) -> str:
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}{padding}"


class PairwiseDistance(Module):
    """The p-norms of the differences of rows, in a column."""

    def __init__(self, p: float = 2, eps: float = 1e-6):
        super().__init__()
        self.norm = p
        self.eps = eps

    def forward(self, x1: Any, x2: Any) -> Any:
        return F.pairwise_distance(x1, x2, self.norm, self.eps)
