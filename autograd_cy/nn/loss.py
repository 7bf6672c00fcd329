"""Losses as modules; the functions themselves are in ``functional/_loss.py``.

``size_average`` and ``reduce`` are the older spelling of ``reduction``.
"""

from __future__ import annotations

from autograd_cy import Tensor

from . import functional
from .functional._arguments import reduction_name
from .module import Module


class _Loss(Module):
    """A loss with a reduction."""

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__()
        if size_average is not None or reduce is not None:
            reduction = reduction_name(size_average, reduce, reduction)
        self.reduction = reduction  # the function refuses an unknown one


class _WeightedLoss(_Loss):
    """A loss with a weight, which is a buffer."""

    weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class MSELoss(_Loss):
    """The squared difference between input and target.

    Parameters
    ----------
    size_average, reduce : bool, optional
        Older spelling of ``reduction``.
    reduction : {"mean", "sum", "none"}, optional
        What becomes of the values of all elements.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.MSELoss()(torch.tensor([1.0, 3.0]), torch.tensor([1.0, 1.0]))
    tensor(2.)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return functional.mse_loss(input, target, reduction=self.reduction)


class NLLLoss(_WeightedLoss):
    """The negative log likelihood of target classes, given log probabilities.

    Parameters
    ----------
    weight : Tensor, optional
        One weight per class.
    size_average, reduce : bool, optional
        Older spelling of ``reduction``.
    ignore_index : int, optional
        A target that counts for nothing.
    reduction : {"mean", "sum", "none"}, optional
        What becomes of the values of all examples; the mean is a weighted one.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.NLLLoss()(torch.tensor([[-1.0, -2.0]]), torch.tensor([1]))
    tensor(2.)
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return functional.nll_loss(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
        )


class CrossEntropyLoss(_WeightedLoss):
    """The cross entropy between logits and target classes or class probabilities.

    Parameters
    ----------
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

    Examples
    --------
    >>> import autograd_cy as torch
    >>> loss = torch.nn.CrossEntropyLoss()(torch.zeros(1, 2), torch.tensor([1]))
    >>> round(loss.item(), 4)
    0.6931
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return functional.cross_entropy(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )
