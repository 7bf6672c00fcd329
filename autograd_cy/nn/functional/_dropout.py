"""Dropout."""

from __future__ import annotations

import autograd_cy as _operators
from autograd_cy import Tensor
from autograd_cy.nn.functional._arguments import check_probability

__all__ = ["dropout"]


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Set each element to zero with probability `p` and scale the others by ``1 / (1 - p)``.

    Parameters
    ----------
    input : Tensor
        Any shape.
    p : float, optional
        The probability.
    training : bool, optional
        Whether anything is done at all.
    inplace : bool, optional
        Whether the input itself is changed.

    Returns
    -------
    Tensor

    Raises
    ------
    ValueError
        If ``p`` is not between 0 and 1.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> dropout(torch.ones(2), training=False)
    tensor([1., 1.])
    """
    check_probability(p)
    if not inplace:
        return _operators.dropout(input, p, training)
    if not training:
        return input
    return input.mul_(_operators.dropout(_operators.ones_like(input), p))
