"""Losses."""

from __future__ import annotations

import autograd_cy as _operators
from autograd_cy import Tensor
from autograd_cy._tensors.public import public
from autograd_cy.nn.functional._arguments import (
    check_weight,
    reduction_name,
    warn_of_sizes,
    weighted,
)

__all__ = ["mse_loss"]


@public
def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Return the squared difference between input and target.

    Parameters
    ----------
    input, target : Tensor
        Of one shape.
    size_average, reduce : bool, optional
        Older spelling of ``reduction``.
    reduction : {"mean", "sum", "none"}, optional
        What becomes of the values of all elements; with a weight the mean is a weighted one.
    weight : Tensor, optional
        A factor for each element.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.functional.mse_loss(torch.tensor([1.0, 3.0]), torch.tensor([1.0, 1.0]))
    tensor(2.)
    """
    if target.shape != input.shape:
        warn_of_sizes(input, target)
    given = size_average is not None or reduce is not None
    if given or reduction not in ("mean", "sum", "none"):
        reduction = reduction_name(size_average, reduce, reduction)
    if target.dtype is not input.dtype:
        dtype = _operators.promote_types(input.dtype, target.dtype)
        input, target = input.to(dtype), target.to(dtype)
    if weight is None:
        return _operators.mse_loss(input, target, reduction=reduction)
    values = _operators.mse_loss(input, target, reduction="none")
    check_weight(values, weight)
    return weighted(values, weight, reduction)
