"""Modules of losses made of margins and distances; the functions are in ``functional``.

``size_average`` and ``reduce`` are the older spelling of ``reduction``.
"""

from __future__ import annotations

from collections.abc import Callable

from autograd_cy import Tensor

from . import functional
from .distance import PairwiseDistance
from .loss import _Loss, _WeightedLoss


class MarginRankingLoss(_Loss):
    r"""The loss :math:`\max(0, -t (x_1 - x_2) + m)` of two scores and a target of 1 or -1.

    Parameters
    ----------
    margin : float, optional
        By how much the score that should be larger should be.
    size_average, reduce : bool, optional
        Older spelling of ``reduction``.
    reduction : {"mean", "sum", "none"}, optional
        What becomes of the values of all elements.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> one = torch.tensor([1.0])
    >>> torch.nn.MarginRankingLoss(margin=0.5)(one, 3 * one, one)
    tensor(2.5000)
    """

    def __init__(
        self,
        margin: float = 0.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return functional.margin_ranking_loss(
            input1, input2, target, margin=self.margin, reduction=self.reduction
        )


class HingeEmbeddingLoss(_Loss):
    r"""The distance `x` where the target is 1, :math:`\max(0, m - x)` where it is -1.

    Parameters
    ----------
    margin : float, optional
        The distance of what is not alike.
    size_average, reduce : bool, optional
        Older spelling of ``reduction``.
    reduction : {"mean", "sum", "none"}, optional
        What becomes of the values of all elements.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.HingeEmbeddingLoss()(torch.tensor([0.25]), torch.tensor([-1]))
    tensor(0.7500)
    """

    def __init__(
        self,
        margin: float = 1.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return functional.hinge_embedding_loss(
            input, target, margin=self.margin, reduction=self.reduction
        )


class CosineEmbeddingLoss(_Loss):
    r"""The loss :math:`1 - \cos` of vectors that are alike, :math:`\max(0, \cos - m)` of others.

    Parameters
    ----------
    margin : float, optional
        The cosine up to which vectors are not alike.
    size_average, reduce : bool, optional
        Older spelling of ``reduction``.
    reduction : {"mean", "sum", "none"}, optional
        What becomes of the values of all pairs.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> x, y = torch.tensor([[3.0, 4.0]]), torch.tensor([[4.0, 3.0]])
    >>> torch.nn.CosineEmbeddingLoss(margin=0.5)(x, y, torch.tensor([-1]))
    tensor(0.4600)
    """

    def __init__(
        self,
        margin: float = 0.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return functional.cosine_embedding_loss(
            input1, input2, target, margin=self.margin, reduction=self.reduction
        )


class PoissonNLLLoss(_Loss):
    r"""The negative log likelihood of numbers of events with a Poisson distribution.

    Parameters
    ----------
    log_input : bool, optional
        Whether the input is logarithms of rates.
    full : bool, optional
        Add Stirling's formula for the logarithm of the factorial.
    eps : float, optional
        What is added to rates.
    size_average, reduce : bool, optional
        Older spelling of ``reduction``.
    reduction : {"mean", "sum", "none"}, optional
        What becomes of the values of all elements.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.PoissonNLLLoss()(torch.tensor([0.0]), torch.tensor([2.0]))
    tensor(1.)
    """

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: bool | None = None,
        eps: float = 1e-8,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input = log_input
        self.full = full
        self.eps = eps

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return functional.poisson_nll_loss(
            log_input,
            target,
            log_input=self.log_input,
            full=self.full,
            eps=self.eps,
            reduction=self.reduction,
        )


class GaussianNLLLoss(_Loss):
    r"""The negative log likelihood of numbers with a normal distribution.

    Parameters
    ----------
    full : bool, optional
        Add the constant :math:`\frac{1}{2} \log 2 \pi`.
    eps : float, optional
        What a variance is at least.
    reduction : {"mean", "sum", "none"}, optional
        What becomes of the values of all elements.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> one = torch.tensor([1.0])
    >>> torch.nn.GaussianNLLLoss()(one, 3 * one, one)
    tensor(2.)
    """

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(None, None, reduction)
        self.full = full
        self.eps = eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor | float) -> Tensor:
        """Return the loss of means, numbers and variances."""
        return functional.gaussian_nll_loss(
            input, target, var, full=self.full, eps=self.eps, reduction=self.reduction
        )


class MultiMarginLoss(_WeightedLoss):
    r"""The margin loss of classes: the score of the right one should be larger than all others.

    Parameters
    ----------
    p : {1, 2}, optional
        The power of differences.
    margin : float, optional
        How much larger.
    weight : Tensor, optional
        One factor per class.
    size_average, reduce : bool, optional
        Older spelling of ``reduction``.
    reduction : {"mean", "sum", "none"}, optional
        What becomes of the values of all examples.

    Raises
    ------
    ValueError
        If ``p`` is neither 1 nor 2, or the weight has not one dimension.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.MultiMarginLoss()(torch.tensor([[0.5, 0.75, 0.0]]), torch.tensor([1]))
    tensor(0.3333)
    """

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError("only p == 1 and p == 2 supported")
        if weight is not None and weight.ndim != 1:
            raise ValueError(
                "MultiMarginLoss: expected weight to be None or 1D tensor, got "
                f"{weight.ndim}D instead"
            )
        self.p = p
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return functional.multi_margin_loss(
            input,
            target,
            p=self.p,
            margin=self.margin,
            weight=self.weight,
            reduction=self.reduction,
        )


class MultiLabelMarginLoss(_Loss):
    r"""The margin loss of several classes: their scores should be larger than all others.

    Parameters
    ----------
    size_average, reduce : bool, optional
        Older spelling of ``reduction``.
    reduction : {"mean", "sum", "none"}, optional
        What becomes of the values of all examples.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> x, y = torch.tensor([[0.0, 0.5, 0.25]]), torch.tensor([[1, 2, -1]])
    >>> torch.nn.MultiLabelMarginLoss()(x, y)
    tensor(0.4167)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return functional.multilabel_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    r"""The mean over classes of the cross entropy of logits and targets of two classes.

    Parameters
    ----------
    weight : Tensor, optional
        One factor per class.
    size_average, reduce : bool, optional
        Older spelling of ``reduction``.
    reduction : {"mean", "sum", "none"}, optional
        What becomes of the values of all examples.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.MultiLabelSoftMarginLoss()(torch.zeros(1, 2), torch.tensor([[1.0, 0.0]]))
    tensor(0.6931)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return functional.multilabel_soft_margin_loss(
            input, target, weight=self.weight, reduction=self.reduction
        )


class TripletMarginLoss(_Loss):
    r"""The loss :math:`\max(0, m + \|a - p\| - \|a - n\|)` of three vectors.

    Parameters
    ----------
    margin : float, optional
        How much farther the negative vector should be, positive.
    p : float, optional
        The order of the norm.
    eps : float, optional
        What is added to each difference.
    swap : bool, optional
        Take the distance of positive and negative, where that is smaller.
    size_average, reduce : bool, optional
        Older spelling of ``reduction``.
    reduction : {"mean", "sum", "none"}, optional
        What becomes of the values of all triplets.

    Raises
    ------
    ValueError
        If the margin is not positive.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> x, y, z = torch.tensor([[0.0]]), torch.tensor([[3.0]]), torch.tensor([[1.0]])
    >>> torch.nn.TripletMarginLoss()(x, y, z)
    tensor(3.)
    """

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        if margin <= 0:
            raise ValueError(
                f"TripletMarginLoss: expected margin to be greater than 0, got {margin} instead"
            )
        self.margin = margin
        self.p = p
        self.eps = eps
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """Return the loss."""
        return functional.triplet_margin_loss(
            anchor,
            positive,
            negative,
            margin=self.margin,
            p=self.p,
            eps=self.eps,
            swap=self.swap,
            reduction=self.reduction,
        )


class TripletMarginWithDistanceLoss(_Loss):
    r"""The triplet margin loss of any distance.

    Parameters
    ----------
    distance_function : callable, optional
        Takes two tensors; by default a ``PairwiseDistance``.
    margin : float, optional
        How much farther the negative should be, positive.
    swap : bool, optional
        Take the distance of positive and negative, where that is smaller.
    reduction : {"mean", "sum", "none"}, optional
        What becomes of the values of all triplets.

    Raises
    ------
    ValueError
        If the margin is not positive.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> x, y, z = torch.tensor([[0.0]]), torch.tensor([[3.0]]), torch.tensor([[1.0]])
    >>> torch.nn.TripletMarginWithDistanceLoss(margin=0.5)(x, y, z)
    tensor(2.5000)
    """

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(None, None, reduction)
        if margin <= 0:
            raise ValueError(
                "TripletMarginWithDistanceLoss: expected margin to be greater than 0, got "
                f"{margin} instead"
            )
        self.distance_function: Callable[[Tensor, Tensor], Tensor] | None = (
            PairwiseDistance() if distance_function is None else distance_function
        )
        self.margin = margin
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """Return the loss."""
        return functional.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )
