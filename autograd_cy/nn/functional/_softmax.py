"""Relatives of softmax that are no operators."""

from __future__ import annotations

from typing import Any

import autograd_cy as _operators
from autograd_cy import Tensor
from autograd_cy._C._warned import warn as _warn
from autograd_cy._tensors.public import public
from autograd_cy.nn.functional._arguments import implicit_dim

__all__ = [
    "gumbel_softmax",
    "softmin",
]


@public
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


@public
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
        _warn("`eps` parameter is deprecated and has no effect.")
    noise = -_operators.empty_like(logits).exponential_().log()
    soft = _operators.softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    place = soft.max(dim, keepdim=True)[1]
    one = _operators.zeros_like(logits).scatter_(dim, place, 1.0)
    return one - soft.detach() + soft
