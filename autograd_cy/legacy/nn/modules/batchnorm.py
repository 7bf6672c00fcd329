"""Channels of mean 0 and variance 1, over a batch."""

from __future__ import annotations

from typing import Any

from ...creation import default_type
from .. import functional as F
from ..parameter import fresh
from .module import Module

__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
]


class _BatchNorm(Module):
    dims: tuple[int, ...]
    running_mean: Any
    running_var: Any
    _apart = False

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = True
    ):
        super().__init__()
        self.num_features = num_features
        self.affine = affine
        self.eps = eps
        self.momentum = momentum
        self.register_parameter("weight", fresh(num_features) if affine else None)
        self.register_parameter("bias", fresh(num_features) if affine else None)
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

    def _check(self, input: Any) -> None:
        if input.dim() not in self.dims:
            expected = " or ".join(f"{dims}D" for dims in self.dims)
            raise ValueError(f"expected {expected} input (got {input.dim()}D input)")
        if input.size(1) != self.num_features:
            raise RuntimeError(
                f"got {input.size(1)}-feature tensor, expected {self.num_features} features"
            )

    def forward(self, input: Any) -> Any:
        self._check(input)
        running = self.running_mean, self.running_var
        return F.batch_norm(
            input, *running, self.weight, self.bias, self.training, self.momentum, self.eps
        )

    def _extra(self) -> str:
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
    BatchNorm1d(3, eps=1e-05, momentum=0.1, affine=True)
    """

    dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Channels of images with mean 0 and variance 1."""

    dims = (4,)


class BatchNorm3d(_BatchNorm):
    """Channels of volumes with mean 0 and variance 1."""

    dims = (5,)
