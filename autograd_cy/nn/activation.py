"""Activations as modules; the functions themselves are in ``functional/_activation.py``."""

from __future__ import annotations

from typing import Any

from autograd_cy import Tensor

from . import functional
from .module import Module


class Threshold(Module):
    r"""The elements above a threshold, and a value in place of the others.

    Parameters
    ----------
    threshold, value : float
    inplace : bool, optional
        Whether the input itself is changed.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.Threshold(1, -1)(torch.tensor([0.5, 2.0]))
    tensor([-1.,  2.])
    """

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold = threshold
        self.value = value
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return the elements above the threshold, and the value for the others."""
        return functional.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        """Return the threshold, the value, and whether it works in place."""
        inplace = ", inplace=True" if self.inplace else ""
        return f"threshold={self.threshold}, value={self.value}{inplace}"


class ReLU(Module):
    r"""The positive part, :math:`\max(0, x)`.

    Parameters
    ----------
    inplace : bool, optional
        Whether the input itself is changed.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.ReLU()(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return the positive part of the input."""
        return functional.relu(input, self.inplace)

    def extra_repr(self) -> str:
        """Return whether it works in place."""
        return "inplace=True" if self.inplace else ""


class GELU(Module):
    r"""The Gaussian error linear unit, :math:`x\,\Phi(x)`.

    Parameters
    ----------
    approximate : {"none", "tanh"}, optional
        Whether the normal distribution is approximated by a tanh.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.GELU()(torch.tensor([0.0]))
    tensor([0.])
    """

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        """Return the activation of the input."""
        return functional.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        """Return the approximation."""
        return f"approximate={self.approximate!r}"


class Tanh(Module):
    """The hyperbolic tangent.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.Tanh()(torch.tensor([0.0]))
    tensor([0.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the hyperbolic tangent of the input."""
        return functional.tanh(input)


class Sigmoid(Module):
    r"""The logistic function, :math:`1 / (1 + e^{-x})`.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.Sigmoid()(torch.tensor([0.0]))
    tensor([0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the logistic function of the input."""
        return functional.sigmoid(input)


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
