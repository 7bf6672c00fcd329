"""Normalisation of each sample by itself."""

from __future__ import annotations

from typing import Any

from autograd_cy.nn import functional as _now

from .._modern import modern
from .batchnorm import _BatchNorm
from .module import Module

__all__ = [
    "CrossMapLRN2d",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
]


class CrossMapLRN2d(Module):
    """
    Pixels divided by a power of the mean of squares over channels near theirs.

    Parameters
    ----------
    size : int
        How many channels.
    alpha, beta, k : float, optional
        ``x / (k + alpha mean)^beta``.
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1):
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Any) -> Any:
        rules = self.size, self.alpha, self.beta, self.k
        return modern("CrossMapLRN2d", lambda x: _now.local_response_norm(x, *rules), input)

    def _extra(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class _InstanceNorm(_BatchNorm):
    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = False
    ):
        super().__init__(num_features, eps, momentum, affine)

    def forward(self, input: Any) -> Any:
        self._check(input)
        running = self.running_mean, self.running_var

        def compute(x, w, b):
            rules = self.training, self.momentum, self.eps
            return _now.instance_norm(x, *running, w, b, *rules)

        return modern("InstanceNorm", compute, input, self.weight, self.bias)


class InstanceNorm1d(_InstanceNorm):
    """Each channel of each (channels, length) with mean 0 and variance 1."""

    dims = (3,)


class InstanceNorm2d(_InstanceNorm):
    """Each channel of each image with mean 0 and variance 1."""

    dims = (4,)


class InstanceNorm3d(_InstanceNorm):
    """Each channel of each volume with mean 0 and variance 1."""

    dims = (5,)
