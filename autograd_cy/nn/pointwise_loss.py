"""Modules of losses that are a sum of one number for each element.

The functions are in ``functional/_pointwise_loss.py``; ``size_average`` and ``reduce`` are the
older spelling of ``reduction``.
"""

from __future__ import annotations

from autograd_cy import Tensor

from . import functional
from .loss import _Loss, _WeightedLoss


class L1Loss(_Loss):
    """The absolute difference between input and target.

    Parameters
    ----------
    size_average, reduce : bool, optional
        Older spelling of ``reduction``.
    reduction : {"mean", "sum", "none"}, optional
        What becomes of the values of all elements.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.L1Loss()(torch.tensor([1.0, 3.0]), torch.tensor([1.0, 1.0]))
    tensor(1.)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return functional.l1_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_Loss):
    """The squared difference where it is small, and the absolute one elsewhere.

    Parameters
    ----------
    size_average, reduce : bool, optional
        Older spelling of ``reduction``.
    reduction : {"mean", "sum", "none"}, optional
        What becomes of the values of all elements.
    beta : float, optional
        The difference at which one becomes the other, not negative.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.SmoothL1Loss()(torch.tensor([3.0]), torch.tensor([1.0]))
    tensor(1.5000)
    """

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        beta: float = 1.0,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return functional.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    """Half the squared difference where it is small, and a linear function elsewhere.

    Parameters
    ----------
    reduction : {"mean", "sum", "none"}, optional
        What becomes of the values of all elements.
    delta : float, optional
        The difference at which one becomes the other, positive.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.HuberLoss(delta=2.0)(torch.tensor([4.0]), torch.tensor([1.0]))
    tensor(4.)
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return functional.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class BCELoss(_WeightedLoss):
    """The cross entropy between probabilities and targets of two classes.

    Parameters
    ----------
    weight : Tensor, optional
        A factor for each element, of a shape that broadcasts to that of the input.
    size_average, reduce : bool, optional
        Older spelling of ``reduction``.
    reduction : {"mean", "sum", "none"}, optional
        What becomes of the values of all elements.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.BCELoss()(torch.tensor([0.5]), torch.tensor([1.0]))
    tensor(0.6931)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return functional.binary_cross_entropy(
            input, target, weight=self.weight, reduction=self.reduction
        )


class BCEWithLogitsLoss(_Loss):
    """The cross entropy between the sigmoid of logits and targets of two classes.

    Parameters
    ----------
    weight : Tensor, optional
        A factor for each element, of a shape that broadcasts to that of the input.
    size_average, reduce : bool, optional
        Older spelling of ``reduction``.
    reduction : {"mean", "sum", "none"}, optional
        What becomes of the values of all elements.
    pos_weight : Tensor, optional
        A factor for positive targets, of a shape that broadcasts to that of the input.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.BCEWithLogitsLoss()(torch.tensor([0.0]), torch.tensor([1.0]))
    tensor(0.6931)
    """

    weight: Tensor | None
    pos_weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return functional.binary_cross_entropy_with_logits(
            input, target, self.weight, pos_weight=self.pos_weight, reduction=self.reduction
        )


class KLDivLoss(_Loss):
    """The Kullback-Leibler divergence of distributions from targets.

    Parameters
    ----------
    size_average, reduce : bool, optional
        Older spelling of ``reduction``.
    reduction : {"batchmean", "mean", "sum", "none"}, optional
        What becomes of the numbers of all elements. The divergence of a batch is "batchmean": the
        sum, divided by the size of the first dimension.
    log_target : bool, optional
        Whether targets are logarithms of probabilities, as inputs are.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> loss = torch.nn.KLDivLoss(reduction="batchmean")
    >>> loss(torch.tensor([[-1.0, -1.0]]), torch.tensor([[0.5, 0.5]]))
    tensor(0.3069)
    """

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        log_target: bool = False,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return functional.kl_div(
            input, target, reduction=self.reduction, log_target=self.log_target
        )


class SoftMarginLoss(_Loss):
    """The logistic loss of targets 1 and -1.

    Parameters
    ----------
    size_average, reduce : bool, optional
        Older spelling of ``reduction``.
    reduction : {"mean", "sum", "none"}, optional
        What becomes of the values of all elements.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.SoftMarginLoss()(torch.tensor([0.0]), torch.tensor([1.0]))
    tensor(0.6931)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return functional.soft_margin_loss(input, target, reduction=self.reduction)
