"""Losses."""

from __future__ import annotations

import autograd_cy as _operators
from autograd_cy import Tensor
from autograd_cy._tensors.public import forward_to, public
from autograd_cy.nn.functional._arguments import (
    check_weight,
    reduction_name,
    warn_of_sizes,
    weighted,
)

__all__ = ["cross_entropy", "mse_loss", "nll_loss"]


@public(forwards="cross_entropy")
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Return the cross entropy between logits and target classes or class probabilities.

    Parameters
    ----------
    input : Tensor
        Logits of shape ``(C,)``, ``(N, C)`` or ``(N, C, d1, ...)``.
    target : Tensor
        Classes of shape ``()``, ``(N,)`` or ``(N, d1, ...)``, or probabilities like ``input``.
    weight : Tensor, optional
        One weight per class.
    size_average, reduce : bool, optional
        Older spelling of ``reduction``.
    ignore_index : int, optional
        A target class that counts for nothing.
    reduction : {"mean", "sum", "none"}, optional
        What becomes of the values of all examples; the mean is a weighted one.
    label_smoothing : float, optional
        How much of each target is spread evenly over the classes.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> round(torch.nn.functional.cross_entropy(torch.zeros(1, 2), torch.tensor([1])).item(), 4)
    0.6931
    """
    return forward_to.cross_entropy(
        input,
        target,
        weight=weight,
        ignore_index=ignore_index,
        reduction=reduction_name(size_average, reduce, reduction),
        label_smoothing=label_smoothing,
    )


@public(forwards="nll_loss")
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the negative log likelihood of target classes, given log probabilities.

    Parameters
    ----------
    input : Tensor
        Log probabilities of shape ``(C,)``, ``(N, C)`` or ``(N, C, d1, ...)``.
    target : Tensor
        Classes of shape ``()``, ``(N,)`` or ``(N, d1, ...)``.
    weight : Tensor, optional
        One weight per class.
    size_average, reduce : bool, optional
        Older spelling of ``reduction``.
    ignore_index : int, optional
        A target class that counts for nothing.
    reduction : {"mean", "sum", "none"}, optional
        What becomes of the values of all examples; the mean is a weighted one.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.functional.nll_loss(torch.tensor([[-1.0, -2.0]]), torch.tensor([1]))
    tensor(2.)
    """
    return forward_to.nll_loss(
        input,
        target,
        weight=weight,
        ignore_index=ignore_index,
        reduction=reduction_name(size_average, reduce, reduction),
    )


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
