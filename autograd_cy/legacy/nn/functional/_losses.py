"""Losses, each a mean or, with ``size_average=False``, a sum; and distances of rows."""

from __future__ import annotations

from typing import Any

import autograd_cy as ag
from autograd_cy.nn import functional as _now

from ...autograd import Variable
from ...tensors.wrapping import core
from .._modern import modern
from ._activations import log_softmax
from ._operands import variable

__all__ = [
    "binary_cross_entropy",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy",
    "hinge_embedding_loss",
    "kl_div",
    "l1_loss",
    "margin_ranking_loss",
    "mse_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
    "pairwise_distance",
    "smooth_l1_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
]


def _target(target: Any) -> Any:
    if isinstance(target, Variable) and target.requires_grad:
        raise AssertionError(
            "nn criterions don't compute the gradient w.r.t. targets - please mark these variables "
            "as volatile or not requiring gradients"
        )
    return target


def _plain(weight: Any) -> Any:
    """A tensor of the era computes by the rules of its time, and records nothing."""
    return None if weight is None else core(weight)


def _reduction(size_average: bool) -> str:
    return "mean" if size_average else "sum"


def _same_size(name: str, input: Any, target: Any) -> None:
    if variable(input, name).nelement() != variable(target, name).nelement():
        raise RuntimeError(
            f"{name}: input of size {tuple(input.size())} and target of size "
            f"{tuple(target.size())} must have as many elements; nothing is broadcast"
        )


def _reduced(each: Any, size_average: bool) -> Any:
    return each.mean() if size_average else each.sum()


def _pointwise(name: str, compute: Any, input: Any, target: Any, size_average: bool) -> Any:
    """A loss of each element, the target in the input's shape."""
    _same_size(name, input, _target(target))
    how = _reduction(size_average)
    return modern(name, lambda x, t: compute(x, t.reshape(x.shape), reduction=how), input, target)


def nll_loss(input: Any, target: Any, weight: Any = None, size_average: bool = True) -> Any:
    """
    Minus the logarithms of probabilities of the classes that a LongTensor Variable names.

    Parameters
    ----------
    input : Variable
        Of size (batch, classes), or (batch, classes, height, width) with a class for each pixel.
    target : Variable
    weight : tensor, optional
        Of each class.
    size_average : bool, optional
    """
    if variable(input, "nll_loss").dim() not in (2, 4):
        raise ValueError(f"Expected 2 or 4 dimensions (got {input.dim()})")

    def compute(x, t):
        return ag.nll_loss(x, t, weight=_plain(weight), reduction=_reduction(size_average))

    return modern("NLLLoss", compute, input, _target(target))


def cross_entropy(input: Any, target: Any, weight: Any = None, size_average: bool = True) -> Any:
    """The negative log likelihood of scores."""
    return nll_loss(log_softmax(input), target, weight, size_average)


def mse_loss(input: Any, target: Any, size_average: bool = True) -> Any:
    """The mean, or sum, of squared differences."""
    return _pointwise("MSELoss", _now.mse_loss, input, target, size_average)


def l1_loss(input: Any, target: Any, size_average: bool = True) -> Any:
    """The mean, or sum, of differences."""
    return _pointwise("L1Loss", _now.l1_loss, input, target, size_average)


def smooth_l1_loss(input: Any, target: Any, size_average: bool = True) -> Any:
    """Half the squared difference below 1, the difference minus a half above."""
    return _pointwise("SmoothL1Loss", _now.smooth_l1_loss, input, target, size_average)


def binary_cross_entropy(
    input: Any, target: Any, weight: Any = None, size_average: bool = True
) -> Any:
    """
    The cross entropy of probabilities and targets between 0 and 1.

    Parameters
    ----------
    input, target : Variable
        Of one size.
    weight : tensor, optional
        Of each element of the batch, or of a part of it that is repeated.
    size_average : bool, optional
    """
    _same_size("BCELoss", input, _target(target))

    def compute(x, t):
        # The small number keeps the logarithm of 0 finite, and its gradient too.
        each = -(ag.log(x + 1e-12) * t + ag.log(1 - x + 1e-12) * (1 - t))
        if weight is not None:
            each = each * _plain(weight).expand_as(each)
        return _reduced(each, size_average)

    return modern("BCELoss", lambda x, t: compute(x, t.reshape(x.shape)), input, target)


def kl_div(input: Any, target: Any, size_average: bool = True) -> Any:
    """The divergence of a target from log probabilities, by element."""
    return _pointwise("KLDivLoss", _divergence, input, target, size_average)


def _divergence(x: Any, t: Any, reduction: str) -> Any:
    each = ag.where(t > 0, t * (ag.log(ag.clamp(t, min=1e-38)) - x), 0 * x)
    return _reduced(each, reduction == "mean")


def soft_margin_loss(input: Any, target: Any, size_average: bool = True) -> Any:
    """``log(1 + exp(-t x))`` of targets 1 and -1."""
    return _pointwise("SoftMarginLoss", _now.soft_margin_loss, input, target, size_average)


def hinge_embedding_loss(
    input: Any, target: Any, margin: float = 1.0, size_average: bool = True
) -> Any:
    """``x`` for targets 1, ``max(0, margin - x)`` for targets -1."""

    def compute(x, t, reduction):
        return _now.hinge_embedding_loss(x, t, margin, reduction=reduction)

    return _pointwise("HingeEmbeddingLoss", compute, input, target, size_average)


def multilabel_margin_loss(input: Any, target: Any, size_average: bool = True) -> Any:
    """``max(0, 1 - (x_t - x_i))`` over targets t, up to the first -1, and all other classes i."""
    how = _reduction(size_average)

    def compute(x, t):
        return _now.multilabel_margin_loss(x, t, reduction=how)

    return modern("MultiLabelMarginLoss", compute, input, _target(target))


def multi_margin_loss(
    input: Any,
    target: Any,
    p: int = 1,
    margin: float = 1,
    weight: Any = None,
    size_average: bool = True,
) -> Any:
    """``max(0, margin - x_t + x_i)^p`` over all classes i but t, divided by their number."""
    how = _reduction(size_average)

    def compute(x, t):
        return _now.multi_margin_loss(x, t, p, margin, _plain(weight), reduction=how)

    return modern("MultiMarginLoss", compute, input, _target(target))


def multilabel_soft_margin_loss(
    input: Any, target: Any, weight: Any = None, size_average: bool = True
) -> Any:
    """The cross entropy of each class by itself, of scores."""
    return binary_cross_entropy(variable(input, "input").sigmoid(), target, weight, size_average)


def margin_ranking_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0.0, size_average: bool = True
) -> Any:
    """``max(0, -t (a - b) + margin)``."""
    _same_size("MarginRankingLoss", input1, input2)
    _same_size("MarginRankingLoss", input1, _target(target))

    def compute(a, b, t):
        each = ag.clamp(-t.reshape(a.shape) * (a - b.reshape(a.shape)) + margin, min=0)
        return _reduced(each, size_average)

    return modern("MarginRankingLoss", compute, input1, input2, target)


def cosine_embedding_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0.0, size_average: bool = True
) -> Any:
    """``1 - cos`` of rows for targets 1, ``max(0, cos - margin)`` for targets -1."""
    _target(target)

    def compute(a, b, t):
        cos = ag.sum(a * b, 1) / ag.sqrt((ag.sum(a * a, 1) + 1e-12) * (ag.sum(b * b, 1) + 1e-12))
        each = ag.where(t.reshape(-1) == 1, 1 - cos, ag.clamp(cos - margin, min=0))
        return _reduced(each, size_average)

    return modern("CosineEmbeddingLoss", compute, input1, input2, target)


def _rows(name: str, *inputs: Any) -> None:
    for x in inputs:
        if variable(x, name).size() != inputs[0].size():
            raise AssertionError(f"{name}: input sizes must be equal")
    if inputs[0].dim() != 2:
        raise AssertionError(f"{name}: inputs must be 2D matrices, got {inputs[0].dim()}D")


def _distance(a: Any, b: Any, p: float, eps: float) -> Any:
    return ag.sum((ag.abs(a - b) + eps) ** p, 1, keepdim=True) ** (1.0 / p)


def pairwise_distance(x1: Any, x2: Any, p: float = 2, eps: float = 1e-6) -> Any:
    """The p-norms of the differences of rows, in a column."""
    _rows("pairwise_distance", x1, x2)
    return modern("PairwiseDistance", lambda a, b: _distance(a, b, p, eps), x1, x2)


def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    """The cosines of the angles of slices along a dimension."""

    def compute(a, b):
        lengths = ag.norm(a, 2, dim) * ag.norm(b, 2, dim)
        return ag.sum(a * b, dim) / ag.clamp(lengths, min=eps)

    _same_size("cosine_similarity", x1, x2)
    return modern("CosineSimilarity", compute, x1, x2)


def triplet_margin_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
) -> Any:
    """
    ``max(0, d(a, p) - d(a, n) + margin)`` of rows, the mean of them.

    With `swap`, the nearer of anchor and positive counts as that to which the negative is far.
    """
    if margin <= 0:
        raise AssertionError("triplet_margin_loss: margin should be positive")
    _rows("triplet_margin_loss", anchor, positive, negative)

    def compute(a, b, c):
        far = _distance(a, c, p, eps)
        if swap:
            far = ag.minimum(far, _distance(b, c, p, eps))
        return ag.clamp(margin + _distance(a, b, p, eps) - far, min=0).mean()

    return modern("TripletMarginLoss", compute, anchor, positive, negative)
