"""Losses that are a sum of one number for each element."""

from __future__ import annotations

import autograd_cy as _operators
from autograd_cy import Tensor
from autograd_cy._C._warned import warn as _warn
from autograd_cy._interpreted import Family
from autograd_cy._tensors.public import public
from autograd_cy.nn.functional._arguments import (
    broadcast,
    check_tensors,
    check_weight,
    reduction_code,
    reduction_name,
    warn_of_sizes,
    weighted,
)

__all__ = [
    "huber_loss",
    "kl_div",
    "l1_loss",
    "smooth_l1_loss",
    "soft_margin_loss",
]


_losses = Family("ops_pointwise_loss")


@public(autocast="float32")
def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Return the absolute difference between input and target.

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
    >>> torch.nn.functional.l1_loss(torch.tensor([1.0, 3.0]), torch.tensor([1.0, 1.0]))
    tensor(1.)
    """
    if target.shape != input.shape:
        warn_of_sizes(input, target)
        input, target = broadcast("l1_loss", input, target)
    if weight is not None:
        check_weight(input, weight)
        reduction = reduction_name(size_average, reduce, reduction)
        return weighted((input - target).abs(), weight, reduction)
    code = reduction_code(size_average, reduce, reduction)
    if input.is_floating_point() and target.is_floating_point():
        return _losses._l1_loss(input, target, code)
    values = (input - target).abs()
    return values if code == 0 else values.mean() if code == 1 else values.sum()


@public(autocast="float32")
def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    r"""Return the squared difference where it is small, and the absolute one elsewhere.

    With :math:`d = |x - y|` it is :math:`d^2 / (2 \beta)` if :math:`d < \beta`, else
    :math:`d - \beta / 2` (Girshick, Fast R-CNN, 2015).

    Parameters
    ----------
    input, target : Tensor
        Of one shape.
    size_average, reduce : bool, optional
        Older spelling of ``reduction``.
    reduction : {"mean", "sum", "none"}, optional
        What becomes of the values of all elements.
    beta : float, optional
        The difference at which one becomes the other, not negative.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.functional import smooth_l1_loss
    >>> smooth_l1_loss(torch.tensor([1.0, 3.0]), torch.tensor([1.0, 1.0]), reduction="none")
    tensor([0.0000, 1.5000])
    """
    if target.shape != input.shape:
        warn_of_sizes(input, target)
        input, target = broadcast("smooth_l1_loss", input, target)
    if beta == 0.0:
        return l1_loss(input, target, size_average, reduce, reduction)
    if target.dtype is not input.dtype:
        dtype = _operators.promote_types(input.dtype, target.dtype)
        input, target = input.to(dtype), target.to(dtype)
    return _losses._smooth_l1_loss(
        input, target, beta, reduction_code(size_average, reduce, reduction)
    )


@public(autocast="float32")
def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    r"""Return half the squared difference where it is small, and a linear function elsewhere.

    With :math:`d = |x - y|` it is :math:`d^2 / 2` if :math:`d \le \delta`, else
    :math:`\delta (d - \delta / 2)` (Huber, Robust estimation of a location parameter, 1964).

    Parameters
    ----------
    input, target : Tensor
        Of one shape.
    reduction : {"mean", "sum", "none"}, optional
        What becomes of the values of all elements.
    delta : float, optional
        The difference at which one becomes the other, positive.
    weight : Tensor, optional
        A factor for each element; a mean is not divided by the weights.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.functional import huber_loss
    >>> huber_loss(torch.tensor([1.0, 4.0]), torch.tensor([1.0, 1.0]), "none", 2.0)
    tensor([0., 4.])
    """
    if target.shape != input.shape:
        warn_of_sizes(input, target)
        input, target = broadcast("huber_loss", input, target)
    if target.dtype is not input.dtype:
        if not _operators.can_cast(target.dtype, input.dtype):
            raise RuntimeError(
                f"huber_loss: result type {target.dtype._scalar} can't be cast to the desired "
                "output type "
                f"{input.dtype._scalar}; convert the input first"
            )
        target = target.to(input.dtype)
    if weight is None:
        return _losses._huber_loss(input, target, delta, reduction_code(None, None, reduction))
    check_weight(input, weight)
    values = _losses._huber_loss(input, target, delta, 0) * weight
    if reduction == "mean":
        return values.mean()
    return weighted(values, None, reduction)


@public
def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    r"""Return the Kullback-Leibler divergence of distributions from targets.

    The numbers of all elements are :math:`y (\log y - x)`, where `x` are logarithms of
    probabilities.

    Parameters
    ----------
    input : Tensor
        Logarithms of probabilities.
    target : Tensor
        Probabilities, or their logarithms.
    size_average, reduce : bool, optional
        Older spelling of ``reduction``.
    reduction : {"batchmean", "mean", "sum", "none"}, optional
        What becomes of the numbers of all elements. The divergence of a batch is "batchmean": the
        sum, divided by the size of the first dimension.
    log_target : bool, optional
        Whether the target is logarithms.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.functional import kl_div
    >>> kl_div(torch.tensor([[-1.0, -1.0]]), torch.tensor([[0.5, 0.5]]), reduction="batchmean")
    tensor(0.3069)
    """
    if size_average is not None or reduce is not None:
        code = reduction_code(size_average, reduce, reduction)
    elif reduction == "batchmean":
        total = _operators.kl_div(input, target, 2, log_target=log_target)
        return total / input.shape[0] if input.ndim else total
    else:
        if reduction == "mean":
            _warn(
                "reduction: 'mean' divides the total loss by both the batch size and the support "
                "size.'batchmean' divides only by the batch size, and aligns with the KL div math "
                "definition.'mean' will be changed to behave the same as 'batchmean' in the next "
                "major release.",
            )
        code = reduction_code(None, None, reduction)
    return _operators.kl_div(input, target, code, log_target=log_target)


@public(autocast="float32")
def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    r"""Return the logistic loss :math:`\log(1 + e^{-t x})` of targets 1 and -1.

    Parameters
    ----------
    input : Tensor
        Scores.
    target : Tensor
        1 or -1 for each of them.
    size_average, reduce : bool, optional
        Older spelling of ``reduction``.
    reduction : {"mean", "sum", "none"}, optional
        What becomes of the values of all elements.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.functional import soft_margin_loss
    >>> soft_margin_loss(torch.tensor([0.0, 2.0]), torch.tensor([1.0, -1.0]), reduction="none")
    tensor([0.6931, 2.1269])
    """
    code = reduction_code(size_average, reduce, reduction)
    check_tensors("soft_margin_loss", input, target)
    if target.shape != input.shape:
        own = input.shape
        input, target = broadcast("soft_margin_loss", input, target)
        if input.shape != own:
            raise RuntimeError(
                f"soft_margin_loss: output with shape {list(own)} doesn't match broadcast shape "
                f"{list(input.shape)}"
            )
    if target.dtype is not input.dtype:
        if not _operators.can_cast(target.dtype, input.dtype):
            raise RuntimeError(
                f"soft_margin_loss: result type {target.dtype._scalar} can't be cast to the "
                "desired output "
                f"type {input.dtype._scalar}; convert the input first"
            )
        target = target.to(input.dtype)
    if input.is_complex():
        losses = (-target * input).exp().log1p()
        return losses if code == 0 else losses.mean() if code == 1 else losses.sum()
    return _losses._soft_margin_loss(input, target, code)
