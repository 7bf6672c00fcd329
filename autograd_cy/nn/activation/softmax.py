"""Softmax and its relatives; their functions: ``functional/_softmax.py``."""

from __future__ import annotations

from typing import Any

from autograd_cy import Tensor

from .. import functional
from ..module import Module


class Softmax(Module):
    """Exponentials scaled to sum up to one along a dimension.

    Parameters
    ----------
    dim : int
        The dimension.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.Softmax(dim=0)(torch.tensor([1.0, 1.0]))
    tensor([0.5000, 0.5000])
    """

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Any:
        """Return the softmax of the input."""
        return functional.softmax(input, self.dim)

    def extra_repr(self) -> str:
        """Return the dimension."""
        return f"dim={self.dim}"


class LogSoftmax(Module):
    """The logarithm of `Softmax`, computed without overflow.

    Parameters
    ----------
    dim : int
        The dimension.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.LogSoftmax(dim=0)(torch.tensor([1.0]))
    tensor([0.])
    """

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Any:
        """Return the logarithm of the softmax of the input."""
        return functional.log_softmax(input, self.dim)

    def extra_repr(self) -> str:
        """Return the dimension."""
        return f"dim={self.dim}"


class Softmin(Module):
    r"""The softmax of the negated input.

    Parameters
    ----------
    dim : int
        The dimension.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.Softmin(dim=0)(torch.tensor([1.0, 1.0]))
    tensor([0.5000, 0.5000])
    """

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of the input."""
        return functional.softmin(input, self.dim)

    def extra_repr(self) -> str:
        """Return the dimension."""
        return f"dim={self.dim}"


class Softmax2d(Module):
    r"""The softmax over the channels of images, of shape ``(N, C, H, W)`` or ``(C, H, W)``.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.Softmax2d()(torch.zeros(2, 1, 1)).flatten()
    tensor([0.5000, 0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the softmax of the input."""
        if input.dim() not in (3, 4):
            raise ValueError(
                f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead"
            )
        return functional.softmax(input, -3)
