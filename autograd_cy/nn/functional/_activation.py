"""Activations."""

from __future__ import annotations

from typing import Any

import autograd_cy as _operators
from autograd_cy import Tensor
from autograd_cy.nn.functional._arguments import implicit_dim

__all__ = ["gelu", "log_softmax", "relu", "sigmoid", "softmax", "tanh", "threshold"]


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    r"""Return the positive part, :math:`\max(0, x)`.

    Parameters
    ----------
    input : Tensor
        Any shape.
    inplace : bool, optional
        Whether the input itself is changed.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> relu(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    return _operators.relu_(input) if inplace else _operators.relu(input)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    r"""Return the elements above `threshold`, and `value` in place of the others.

    Parameters
    ----------
    input : Tensor
        Any shape.
    threshold, value : float
    inplace : bool, optional
        Whether the input itself is changed.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.functional.threshold(torch.tensor([0.5, 2.0]), 1, -1)
    tensor([-1.,  2.])
    """
    if inplace:
        return _operators.threshold_(input, threshold, value)
    return _operators.threshold(input, threshold, value)


def gelu(input: Tensor, *, approximate: str = "none") -> Tensor:
    r"""Return the Gaussian error linear unit, :math:`x\,\Phi(x)`.

    Parameters
    ----------
    input : Tensor
        Any shape.
    approximate : {"none", "tanh"}, optional
        Whether the normal distribution is approximated by a tanh.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> gelu(torch.tensor([0.0]))
    tensor([0.])
    """
    return _operators.gelu(input, approximate=approximate)


def tanh(input: Tensor) -> Tensor:
    """Return the hyperbolic tangent.

    Parameters
    ----------
    input : Tensor
        Any shape.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> tanh(torch.tensor([0.0]))
    tensor([0.])
    """
    return _operators.tanh(input)


def sigmoid(input: Tensor) -> Tensor:
    """Return the logistic function.

    Parameters
    ----------
    input : Tensor
        Any shape.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> sigmoid(torch.tensor([0.0]))
    tensor([0.5000])
    """
    return _operators.sigmoid(input)


def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """Return exponentials scaled to sum up to one along a dimension.

    Parameters
    ----------
    input : Tensor
        Any shape.
    dim : int
        The dimension. Leaving it out is deprecated.
    dtype : dtype, optional
        Converts the input first.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> softmax(torch.tensor([1.0, 1.0]), dim=0)
    tensor([0.5000, 0.5000])
    """
    dim = implicit_dim("softmax", input) if dim is None else dim
    return _operators.softmax(input, dim, dtype=dtype)


def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """Return the logarithm of the softmax along a dimension, computed without overflow.

    Parameters
    ----------
    input : Tensor
        Any shape.
    dim : int
        The dimension. Leaving it out is deprecated.
    dtype : dtype, optional
        Converts the input first.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> log_softmax(torch.tensor([1.0]), dim=0)
    tensor([0.])
    """
    dim = implicit_dim("log_softmax", input) if dim is None else dim
    return _operators.log_softmax(input, dim, dtype=dtype)
