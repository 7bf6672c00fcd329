"""Smooth activations, and those that normalise: gates, softplus, softmin."""

from __future__ import annotations

import warnings
from typing import Any

import autograd_cy as _operators
from autograd_cy import Tensor
from autograd_cy._interpreted import Family
from autograd_cy.nn.functional._arguments import implicit_dim

__all__ = [
    "gumbel_softmax",
    "mish",
    "silu",
    "softmin",
    "softsign",
    "tanhshrink",
]

_gates = Family("ops_gate")


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    r"""Return :math:`x \sigma(x)`, the swish function.

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
    >>> torch.nn.functional.silu(torch.tensor([-1.0, 1.0]))
    tensor([-0.2689,  0.7311])
    """
    return _operators.silu_(input) if inplace else _operators.silu(input)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    r"""Return :math:`x \tanh(\log(1 + e^x))`.

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
    >>> torch.nn.functional.mish(torch.tensor([-1.0, 1.0]))
    tensor([-0.3034,  0.8651])
    """
    return _gates._mish_(input) if inplace else _gates._mish(input)


def softsign(input: Tensor) -> Tensor:
    r"""Return :math:`x / (1 + |x|)`.

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
    >>> torch.nn.functional.softsign(torch.tensor([1.0, -3.0]))
    tensor([ 0.5000, -0.7500])
    """
    return input / (input.abs() + 1)


def tanhshrink(input: Tensor) -> Tensor:
    r"""Return :math:`x - \tanh(x)`.

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
    >>> torch.nn.functional.tanhshrink(torch.tensor([1.0]))
    tensor([0.2384])
    """
    return input - input.tanh()


def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    r"""Return the softmax of the negated input.

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
    >>> torch.nn.functional.softmin(torch.tensor([1.0, 1.0]), dim=0)
    tensor([0.5000, 0.5000])
    """
    dim = implicit_dim("softmin", input) if dim is None else dim
    return _operators.softmax(-input, dim, dtype=dtype)


def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    r"""Draw from a relaxed categorical distribution, so that gradients reach the logits.

    Parameters
    ----------
    logits : Tensor
        Logarithms of probabilities, up to a constant.
    tau : float, optional
        The temperature: small ones come close to one 1 among zeros.
    hard : bool, optional
        Whether the result is that, with the gradients of the relaxed values.
    eps : float, optional
        Has no effect, and is deprecated.
    dim : int, optional
        The dimension of the categories.

    Returns
    -------
    Tensor

    Notes
    -----
    E. Jang et al., "Categorical Reparameterization with Gumbel-Softmax" (2017); C. Maddison et al.,
    "The Concrete Distribution" (2017).

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.functional.gumbel_softmax(torch.zeros(2, 3), hard=True).sum(-1)
    tensor([1., 1.])
    """
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    noise = -_operators.empty_like(logits).exponential_().log()
    soft = _operators.softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    place = soft.max(dim, keepdim=True)[1]
    one = _operators.zeros_like(logits).scatter_(dim, place, 1.0)
    return one - soft.detach() + soft
