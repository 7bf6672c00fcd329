"""Losses as modules; each is a mean, or a sum with ``size_average=False``."""

from __future__ import annotations

from typing import Any

from .. import functional as F
from .module import Module

__all__ = [
    "BCELoss",
    "CosineEmbeddingLoss",
    "CrossEntropyLoss",
    "HingeEmbeddingLoss",
    "KLDivLoss",
    "L1Loss",
    "MSELoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "NLLLoss",
    "NLLLoss2d",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "TripletMarginLoss",
]


class _Loss(Module):
    _function: Any

    def __init__(self, size_average: bool = True):
        super().__init__()
        self.size_average = size_average

    def forward(self, input: Any, target: Any) -> Any:
        return type(self)._function(input, target, size_average=self.size_average)


class MSELoss(_Loss):
    """The mean of squared differences."""

    _function = staticmethod(F.mse_loss)


class L1Loss(_Loss):
    """The mean of differences."""

    _function = staticmethod(F.l1_loss)


class SmoothL1Loss(_Loss):
    """Half the squared difference below 1, the difference minus a half above."""

    _function = staticmethod(F.smooth_l1_loss)


class KLDivLoss(_Loss):
    """The divergence of a target from log probabilities."""

    _function = staticmethod(F.kl_div)


class SoftMarginLoss(_Loss):
    """``log(1 + exp(-t x))`` of targets 1 and -1."""

    _function = staticmethod(F.soft_margin_loss)


class MultiLabelMarginLoss(_Loss):
    """Each target class, up to the first -1, is to be ahead of each other class by 1."""

    _function = staticmethod(F.multilabel_margin_loss)


class _WeightedLoss(_Loss):
    weight: Any

    def __init__(self, weight: Any = None, size_average: bool = True):
        super().__init__(size_average)
        self.register_buffer("weight", weight)

    def forward(self, input: Any, target: Any) -> Any:
        return type(self)._function(input, target, self.weight, self.size_average)


class NLLLoss(_WeightedLoss):
    """Minus the logarithms of probabilities of classes, which may have weights."""

    _function = staticmethod(F.nll_loss)


class NLLLoss2d(NLLLoss):
    """The negative log-likelihood of images, with a class for each pixel."""


class CrossEntropyLoss(_WeightedLoss):
    """The negative log likelihood of scores."""

    _function = staticmethod(F.cross_entropy)


class BCELoss(_WeightedLoss):
    """The cross entropy of probabilities and targets between 0 and 1."""

    _function = staticmethod(F.binary_cross_entropy)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """The cross entropy of each class by itself, of scores."""

    _function = staticmethod(F.multilabel_soft_margin_loss)


class MultiMarginLoss(Module):
    """The target class is to be ahead of each other class by a margin."""

    weight: Any

    def __init__(
        self, p: int = 1, margin: float = 1, weight: Any = None, size_average: bool = True
    ):
        super().__init__()
        if p not in (1, 2):
            raise ValueError("only p == 1 and p == 2 supported")
        if weight is not None and weight.dim() != 1:
            raise AssertionError("MultiMarginLoss: weight must have one dimension")
        self.p = p
        self.margin = margin
        self.size_average = size_average
        self.register_buffer("weight", weight)

    def forward(self, input: Any, target: Any) -> Any:
        rules = self.p, self.margin, self.weight, self.size_average
        return F.multi_margin_loss(input, target, *rules)


class TripletMarginLoss(Module):
    """An anchor is to be nearer to a positive than to a negative sample by a margin."""

    def __init__(self, margin: float = 1.0, p: float = 2, eps: float = 1e-6, swap: bool = False):
        super().__init__()
        self.margin = margin
        self.p = p
        self.eps = eps
        self.swap = swap

    def forward(self, anchor: Any, positive: Any, negative: Any) -> Any:
        rules = self.margin, self.p, self.eps, self.swap
        return F.triplet_margin_loss(anchor, positive, negative, *rules)


class _MarginLoss(Module):
    def __init__(self, margin: float, size_average: bool):
        super().__init__()
        self.margin = margin
        self.size_average = size_average


class HingeEmbeddingLoss(_MarginLoss):
    """``x`` for targets 1, ``max(0, margin - x)`` for targets -1."""

    def __init__(self, margin: float = 1.0, size_average: bool = True):
        super().__init__(margin, size_average)

    def forward(self, input: Any, target: Any) -> Any:
        return F.hinge_embedding_loss(input, target, self.margin, self.size_average)


class MarginRankingLoss(_MarginLoss):
    """``max(0, -t (a - b) + margin)``."""

    def __init__(self, margin: float = 0.0, size_average: bool = True):
        super().__init__(margin, size_average)

    def forward(self, input1: Any, input2: Any, target: Any) -> Any:
        return F.margin_ranking_loss(input1, input2, target, self.margin, self.size_average)


class CosineEmbeddingLoss(_MarginLoss):
    """``1 - cos`` of rows for targets 1, ``max(0, cos - margin)`` for targets -1."""

    def __init__(self, margin: float = 0.0, size_average: bool = True):
        super().__init__(margin, size_average)

    def forward(self, input1: Any, input2: Any, target: Any) -> Any:
        return F.cosine_embedding_loss(input1, input2, target, self.margin, self.size_average)
