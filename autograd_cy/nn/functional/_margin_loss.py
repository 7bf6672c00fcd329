"""Losses made of differences, distances and margins, and of likelihoods of other distributions."""

from __future__ import annotations

import math
from collections.abc import Callable

import autograd_cy as _operators
from autograd_cy import Tensor
from autograd_cy._interpreted._value_checks import checked_margin_targets, checked_variances
from autograd_cy._tensors.events import seen_as
from autograd_cy._tensors.public import autocast_policy, public
from autograd_cy.nn.functional._arguments import (
    broadcast,
    check_tensors,
    reduced,
    reduction_code,
    reduction_name,
)

__all__ = [
    "gaussian_nll_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "triplet_margin_with_distance_loss",
]


@public
def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    r"""Return the negative log likelihood of numbers with a normal distribution.

    It is :math:`\frac{1}{2} (\log v + (x - t)^2 / v)` with :math:`v = \max(\mathrm{var},
    \epsilon)`; the maximum counts as constant for the gradient, which so does not vanish.

    Parameters
    ----------
    input : Tensor
        Means.
    target : Tensor
        The numbers.
    var : Tensor or float
        Variances: of the shape of ``input``, or without its last dimension, or with size 1 in one
        dimension.
    full : bool, optional
        Add the constant :math:`\frac{1}{2} \log 2 \pi`.
    eps : float, optional
        What a variance is at least.
    reduction : {"mean", "sum", "none"}, optional
        What becomes of the values of all elements.

    Returns
    -------
    Tensor

    Raises
    ------
    ValueError
        If a variance is negative, or the shape of ``var`` does not fit. On another device the next
        synchronisation raises it for a negative one.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.functional import gaussian_nll_loss
    >>> gaussian_nll_loss(torch.tensor([1.0]), torch.tensor([3.0]), torch.tensor([1.0]))
    tensor(2.)
    """
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        known = var = var * _operators.ones_like(input)
    elif not isinstance(var, Tensor):
        raise TypeError(
            f"gaussian_nll_loss: var must be a Tensor or a float, not {type(var).__name__}"
        )
    elif var.is_complex():
        raise NotImplementedError(
            f"gaussian_nll_loss: not implemented for var of dtype {var.dtype._scalar}: a variance "
            "is real"
        )
    else:
        known = checked_variances(var.detach())
    if var.shape != input.shape:
        if input.shape[:-1] == var.shape:
            var, known = var.unsqueeze(-1), known.unsqueeze(-1)
        elif input.ndim != var.ndim or [n for m, n in zip(input.shape, var.shape) if m != n] != [1]:
            raise ValueError("var is of incorrect size")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not valid")
    if not var.is_floating_point():
        raise RuntimeError(
            "gaussian_nll_loss: result type Float can't be cast to the desired output type "
            f"{var.dtype._scalar}: var must be of a floating dtype"
        )
    # What is missing is added without a gradient of its own.
    var = var + (eps - known).clamp_min(0)
    loss = 0.5 * (var.log() + (input - target) ** 2 / var)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return reduced(loss, reduction_code(None, None, reduction))


@public
def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """Return the triplet margin loss of any distance.

    Parameters
    ----------
    anchor, positive, negative : Tensor
        What the distance takes; positive ones should be near, negative ones far away.
    distance_function : callable, optional
        Takes two tensors; by default ``pairwise_distance``.
    margin : float, optional
        How much farther, positive.
    swap : bool, optional
        Take the distance of positive and negative, where that is smaller.
    reduction : {"mean", "sum", "none"}, optional
        What becomes of the values of all triplets.

    Returns
    -------
    Tensor

    Raises
    ------
    ValueError
        If the margin is not positive.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> far = lambda x, y: (x - y).abs().sum(-1)
    >>> x, y, z = torch.tensor([0.0]), torch.tensor([3.0]), torch.tensor([1.0])
    >>> torch.nn.functional.triplet_margin_with_distance_loss(x, y, z, distance_function=far)
    tensor(3.)
    """
    code = reduction_code(None, None, reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of "
            f"dimensions, but got: anchor {anchor.ndim}D, positive {positive.ndim}D, and negative "
            f"{negative.ndim}D inputs"
        )
    distance = distance_function or _operators.pairwise_distance
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = _operators.minimum(far, distance(positive, negative))
    return reduced((margin + near - far).clamp_min(0), code)


def _check_vectors(name: str, input: Tensor, target: Tensor) -> None:
    check_tensors(name, input, target)
    if input.ndim > 2 or (input.ndim > 0 and input.shape[-1] == 0):
        raise RuntimeError(
            f"{name}: Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
            f"{list(input.shape)}"
        )
    if target.dtype != _operators.int64:
        raise RuntimeError(
            f"{name}: expected scalar type Long but found {target.dtype._scalar} (of the target; "
            "convert "
            "it by .long())"
        )


@public
@autocast_policy("float32")
@seen_as("aten::multi_margin_loss")
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    r"""Return :math:`\sum_{i \ne t} \max(0, w_t (m - x_t + x_i))^p / C` of classes `t`.

    (The weight is a factor of the sum, not of the margin, if `p` is 2.)

    Parameters
    ----------
    input : Tensor
        Scores of shape ``(N, C)`` or ``(C,)``.
    target : Tensor
        Classes of shape ``(N,)`` or ``()``.
    p : {1, 2}, optional
        The power.
    margin : float, optional
        How much larger the score of the right class should be.
    weight : Tensor, optional
        One factor per class.
    size_average, reduce : bool, optional
        Older spelling of ``reduction``.
    reduction : {"mean", "sum", "none"}, optional
        What becomes of the values of all examples.

    Returns
    -------
    Tensor

    Raises
    ------
    ValueError
        If ``p`` is neither 1 nor 2.
    RuntimeError
        If shapes do not fit, or a class is out of range.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.functional.multi_margin_loss(torch.tensor([[0.5, 0.75, 0.0]]), torch.tensor([1]))
    tensor(0.3333)
    """
    code = reduction_code(size_average, reduce, reduction)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    _check_vectors("multi_margin_loss", input, target)
    rows = input.reshape(1, -1) if input.ndim < 2 else input
    count, classes = rows.shape
    if target.ndim > 1 or target.numel() != count:
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input "
            f"samples (batch size). Expected target size [{count}], but got {list(target.shape)}. "
            f"Input has shape {list(input.shape)}."
        )
    if weight is not None:
        if weight.ndim != 1:
            raise ValueError(
                f"multi_margin_loss: weight must be one-dimensional, not {list(weight.shape)}"
            )
        if weight.shape[0] != classes:
            raise RuntimeError(
                f"multi_margin_loss: inconsistent weight size, expected {classes} but got "
                f"{list(weight.shape)}"
            )
        if weight.dtype != input.dtype:
            raise RuntimeError(
                f"multi_margin_loss: expected scalar type {input.dtype._scalar} but found "
                f"{weight.dtype._scalar} "
                "(of the weight)"
            )
        if weight.requires_grad and _operators.is_grad_enabled():
            raise RuntimeError(
                "The function 'multi_margin_loss' is not differentiable with respect to argument "
                "'weight'. This input cannot have requires_grad True."
            )
    at = checked_margin_targets(target, 0, classes).reshape(-1, 1)
    # The class itself has no part; what is there gets no gradient either.
    terms = (margin - rows.gather(1, at) + rows).scatter_(1, at, 0.0).relu_()
    if p == 2:
        terms = terms * terms
    losses = terms.sum(1) / classes
    if weight is not None:
        losses = losses * weight[at[:, 0]]
    if code == 1 and not count:
        code = 2  # the mean of nothing is 0
    return reduced(losses if input.ndim == 2 else losses[0], code)


@public
@autocast_policy("float32")
@seen_as("aten::multilabel_margin_loss")
def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    r"""Return :math:`\sum_{t, i} \max(0, 1 - x_t + x_i) / C` of classes `t` and of others `i`.

    Parameters
    ----------
    input : Tensor
        Scores of shape ``(N, C)`` or ``(C,)``.
    target : Tensor
        Classes, of the same shape; those before the first -1 count.
    size_average, reduce : bool, optional
        Older spelling of ``reduction``.
    reduction : {"mean", "sum", "none"}, optional
        What becomes of the values of all examples.

    Returns
    -------
    Tensor

    Raises
    ------
    RuntimeError
        If shapes do not fit, or a class is out of range.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> x, y = torch.tensor([[0.0, 0.5, 0.25]]), torch.tensor([[1, 2, -1]])
    >>> torch.nn.functional.multilabel_margin_loss(x, y)
    tensor(0.4167)
    """
    code = reduction_code(size_average, reduce, reduction)
    _check_vectors("multilabel_margin_loss", input, target)
    if target.shape != input.shape:
        raise RuntimeError(
            f"multilabel_margin_loss: inconsistent target size: {list(target.shape)} for input of "
            f"size: {list(input.shape)}"
        )
    rows = input.reshape(1, -1) if input.ndim < 2 else input
    at = target.reshape(rows.shape)
    count, classes = rows.shape
    at = checked_margin_targets(at, -1, classes)
    counts = (at < 0).cumsum(1) == 0
    at = at.clamp_min(0)
    each = _operators.arange(classes, device=at.device)
    named = ((at.unsqueeze(2) == each) & counts.unsqueeze(2)).any(1)
    # relu, as its derivative where the margin is just kept is 0; that of clamp_min is 1.
    terms = (1 - rows.gather(1, at).unsqueeze(2) + rows.unsqueeze(1)).relu()
    terms = _operators.where(counts.unsqueeze(2) & ~named.unsqueeze(1), terms, 0.0)
    losses = terms.sum((1, 2)) / classes
    if code == 1 and not count:
        code = 2  # the mean of nothing is 0
    return reduced(losses if input.ndim == 2 else losses[0], code)


@public
@autocast_policy("float32")
def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    r"""Return the mean over classes of the cross entropy of logits and targets of two classes.

    Parameters
    ----------
    input : Tensor
        Logits of shape ``(N, C)``, or with more dimensions before the last.
    target : Tensor
        Numbers between 0 and 1.
    weight : Tensor, optional
        One factor per class.
    size_average, reduce : bool, optional
        Older spelling of ``reduction``.
    reduction : {"mean", "sum", "none"}, optional
        What becomes of the values of all examples.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.functional import multilabel_soft_margin_loss
    >>> multilabel_soft_margin_loss(torch.zeros(1, 3), torch.tensor([[1.0, 0.0, 1.0]]))
    tensor(0.6931)
    """
    if size_average is not None or reduce is not None:
        reduction = reduction_name(size_average, reduce, reduction)
    check_tensors("multilabel_soft_margin_loss", input, target)
    if target.dtype is _operators.bool:
        raise RuntimeError(
            "multilabel_soft_margin_loss: Subtraction, the `-` operator, with a bool tensor is not "
            "supported; convert the target to the dtype of the input"
        )
    if input.ndim == 0:
        raise IndexError(
            "multilabel_soft_margin_loss: the input must have a dimension of classes, but it is 0-d"
        )
    axis, classes = input.ndim - 1, input.shape[-1]
    if input.dtype != target.dtype:
        dtype = _operators.result_type(input, target)
        input, target = input.to(dtype), target.to(dtype)
    if input.shape != target.shape:
        input, target = broadcast("multilabel_soft_margin_loss", input, target)
    losses = _operators.binary_cross_entropy_with_logits(input, target)
    if weight is not None:
        losses = losses * weight
    losses = losses.sum(axis) / classes
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not valid")
    return reduced(losses, reduction_code(None, None, reduction))
