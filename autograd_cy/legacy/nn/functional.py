"""
The operations of modules as functions of Variables, as they were called.

Losses take ``size_average``; ``softmax`` chooses its dimension by the number of them; ``dropout``
does nothing unless ``training`` is set.
"""

from __future__ import annotations

from typing import Any

import autograd_cy as ag
from autograd_cy.nn import functional as _now

from ..autograd import Variable
from . import _windows
from ._functions import Dropout, Hardtanh, Linear, LogSoftmax, Softmax, Threshold
from ._modern import modern

__all__ = [
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "binary_cross_entropy",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cosine_embedding_loss",
    "cross_entropy",
    "dropout",
    "dropout2d",
    "dropout3d",
    "elu",
    "embedding",
    "hardshrink",
    "hardtanh",
    "hinge_embedding_loss",
    "kl_div",
    "l1_loss",
    "leaky_relu",
    "linear",
    "log_softmax",
    "logsigmoid",
    "margin_ranking_loss",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "mse_loss",
    "nll_loss",
    "pairwise_distance",
    "prelu",
    "relu",
    "relu6",
    "sigmoid",
    "smooth_l1_loss",
    "soft_margin_loss",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
]


def _variable(x: Any, name: str) -> Any:
    if not isinstance(x, Variable):
        raise RuntimeError(f"{name}: expected a Variable argument, but got {type(x).__name__}")
    return x


# Elementwise ---------------------------------------------------------------------------------


def threshold(input: Any, threshold: float, value: float, inplace: bool = False) -> Any:
    """Elements above a threshold, `value` in place of the others."""
    return Threshold(threshold, value, inplace)(_variable(input, "threshold"))


def relu(input: Any, inplace: bool = False) -> Any:
    """Elements above zero, zero in place of the others."""
    return Threshold(0, 0, inplace)(input)


def dropout(input: Any, p: float = 0.5, training: bool = False, inplace: bool = False) -> Any:
    """Set elements to zero with probability `p`, if `training`."""
    return Dropout(p, training, inplace)(input)


def dropout2d(input: Any, p: float = 0.5, training: bool = False, inplace: bool = False) -> Any:
    """Set whole channels to zero with probability `p`, if `training`."""
    return Dropout(p, training, inplace, channels=True)(input)


dropout3d = dropout2d


def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Any:
    """Elements between two bounds."""
    return Hardtanh(min_val, max_val, inplace)(input)


def relu6(input: Any, inplace: bool = False) -> Any:
    """Elements between 0 and 6."""
    return hardtanh(input, 0, 6, inplace)


def elu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    """``x`` above zero, ``alpha (exp(x) - 1)`` below."""
    _not_in_place("elu", inplace)
    return modern("ELU", lambda x: ag.where(x > 0, x, alpha * ag.expm1(ag.clamp(x, max=0))), input)


def leaky_relu(input: Any, negative_slope: float = 1e-2, inplace: bool = False) -> Any:
    """``x`` above zero, ``negative_slope x`` below."""
    _not_in_place("leaky_relu", inplace)
    return modern("LeakyReLU", lambda x: ag.where(x > 0, x, negative_slope * x), input)


def _not_in_place(name: str, inplace: bool) -> None:
    if inplace:
        raise NotImplementedError(f"{name}: there is no in-place form; leave inplace out")


def prelu(input: Any, weight: Any) -> Any:
    """``x`` above zero, ``weight x`` below; one weight, or one for each channel."""

    def compute(x, w):
        if w.numel() > 1:
            w = w.reshape(1, -1, *(1 for _ in x.shape[2:]))
        return ag.where(x > 0, x, w * x)

    return modern("PReLU", compute, input, weight)


def softplus(input: Any, beta: float = 1, threshold: float = 20) -> Any:
    """``log(1 + exp(beta x)) / beta``, and ``x`` where ``beta x`` is above the threshold."""

    def compute(x):
        smooth = ag.log1p(ag.exp(ag.clamp(beta * x, max=threshold))) / beta
        return ag.where(beta * x > threshold, x, smooth)

    return modern("Softplus", compute, input)


def hardshrink(input: Any, lambd: float = 0.5) -> Any:
    """Zero in place of elements between -lambd and lambd."""
    return modern("Hardshrink", lambda x: ag.where(ag.abs(x) > lambd, x, 0 * x), input)


def softshrink(input: Any, lambd: float = 0.5) -> Any:
    """Elements moved towards zero by `lambd`."""
    return modern("Softshrink", lambda x: x - ag.clamp(x, -lambd, lambd), input)


def tanhshrink(input: Any) -> Any:
    """``x - tanh(x)``."""
    return modern("Tanhshrink", lambda x: x - ag.tanh(x), input)


def softsign(input: Any) -> Any:
    """``x / (1 + |x|)``."""
    return modern("Softsign", lambda x: x / (1 + ag.abs(x)), input)


def logsigmoid(input: Any) -> Any:
    """The logarithm of the sigmoid."""
    return modern(
        "LogSigmoid",
        lambda x: ag.clamp(x, max=0) - ag.log1p(ag.exp(-ag.abs(x))),
        input,
    )


def tanh(input: Any) -> Any:
    """The hyperbolic tangent."""
    return _variable(input, "tanh").tanh()


def sigmoid(input: Any) -> Any:
    """``1 / (1 + exp(-x))``."""
    return _variable(input, "sigmoid").sigmoid()


def softmax(input: Any) -> Any:
    """Probabilities along the dimension of classes."""
    return Softmax()(input)


def softmin(input: Any) -> Any:
    """``softmax(-x)``."""
    return Softmax()(-_variable(input, "softmin"))


def log_softmax(input: Any) -> Any:
    """The logarithms of probabilities along the dimension of classes."""
    return LogSoftmax()(input)


# Layers --------------------------------------------------------------------------------------


def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """``x weight^T + bias`` of rows."""
    if _variable(input, "linear").dim() != 2:
        raise RuntimeError(
            f"linear: expected rows in 2 dimensions, got size {tuple(input.size())}; use "
            "view(-1, features)"
        )
    return Linear()(input, weight) if bias is None else Linear()(input, weight, bias)


def embedding(input: Any, weight: Any, padding_idx: int | None = None) -> Any:
    """The rows of `weight` that a LongTensor Variable names; no gradient for `padding_idx`."""

    def compute(indices, table):
        rows = ag.index_select(table, 0, indices.reshape(-1))
        if padding_idx is not None:
            constant = (indices.reshape(-1, 1) == padding_idx).expand_as(rows)
            rows = ag.where(constant, rows.detach(), rows)
        return rows.reshape(*indices.shape, -1)

    return modern("Embedding", compute, input, weight)


def _convolution(name: str, compute: Any, dims: int, args: tuple, **rules: Any) -> Any:
    input, weight, bias = args
    if _variable(input, name).dim() != dims + 2:
        raise RuntimeError(
            f"{name}: expected {dims + 2} dimensions (batch, channels, ...), got size "
            f"{tuple(input.size())}"
        )
    return modern(name, lambda x, w, b: compute(x, w, b, **rules), input, weight, bias)


def _of_dims(dims: int) -> tuple[Any, Any, Any, Any]:
    """(convolution, transposed convolution, largest and mean of windows) of so many dimensions."""

    def conv(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        return _convolution(
            f"conv{dims}d",
            _windows.convolution,
            dims,
            (input, weight, bias),
            stride=stride,
            padding=padding,
            dilation=dilation,
            groups=groups,
        )

    def conv_transpose(
        input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1
    ):
        return _convolution(
            f"conv_transpose{dims}d",
            _windows.transposed_convolution,
            dims,
            (input, weight, bias),
            stride=stride,
            padding=padding,
            output_padding=output_padding,
            groups=groups,
            dilation=dilation,
        )

    def max_pool(
        input,
        kernel_size,
        stride=None,
        padding=0,
        dilation=1,
        ceil_mode=False,
        return_indices=False,
    ):
        rules = kernel_size, stride, padding, dilation, ceil_mode
        found = modern(f"MaxPool{dims}d", lambda x: _windows.max_pool(x, *rules), input)
        return found if return_indices else found[0]

    def avg_pool(
        input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True
    ):
        rules = kernel_size, stride, padding, ceil_mode, count_include_pad
        return modern(f"AvgPool{dims}d", lambda x: _windows.avg_pool(x, *rules), input)

    made: tuple[Any, ...] = (conv, conv_transpose, max_pool, avg_pool)
    what = (
        ("conv", "The cross-correlation with weights"),
        ("conv_transpose", "The transpose of a convolution, as of its gradient,"),
        ("max_pool", "The largest elements of windows"),
        ("avg_pool", "The means of windows"),
    )
    for function, (name, does) in zip(made, what):
        function.__name__ = function.__qualname__ = f"{name}{dims}d"
        function.__doc__ = f"{does} over {dims} dimension{'s' if dims > 1 else ''}."
    return made


conv1d, conv_transpose1d, max_pool1d, avg_pool1d = _of_dims(1)
conv2d, conv_transpose2d, max_pool2d, avg_pool2d = _of_dims(2)
conv3d, conv_transpose3d, max_pool3d, avg_pool3d = _of_dims(3)


def batch_norm(
    input: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Channels of mean 0 and variance 1, of this batch or the running ones, which are tensors."""

    def compute(x, w, b):
        return _now.batch_norm(x, running_mean, running_var, w, b, training, momentum, eps)

    return modern("BatchNorm", compute, input, weight, bias)


def pairwise_distance(x1: Any, x2: Any, p: float = 2, eps: float = 1e-6) -> Any:
    """The p-norms of the differences of rows, in a column."""

    def compute(a, b):
        return ag.sum(ag.abs(a - b + eps) ** p, 1, keepdim=True) ** (1.0 / p)

    return modern("PairwiseDistance", compute, x1, x2)


# Losses --------------------------------------------------------------------------------------


def _target(target: Any) -> Any:
    if isinstance(target, Variable) and target.requires_grad:
        raise AssertionError(
            "nn criterions don't compute the gradient w.r.t. targets - please mark these variables "
            "as volatile or not requiring gradients"
        )
    return target


def _reduction(size_average: bool) -> str:
    return "mean" if size_average else "sum"


def _same_size(name: str, input: Any, target: Any) -> None:
    if input.nelement() != target.nelement():
        raise RuntimeError(
            f"{name}: input of size {tuple(input.size())} and target of size "
            f"{tuple(target.size())} must have as many elements; nothing is broadcast"
        )


def _pointwise_loss(name: str, compute: Any, input: Any, target: Any, size_average: bool) -> Any:
    _same_size(name, input, _target(target))

    def reduced(x, t):
        each = compute(x, t.reshape(x.shape))
        return each.mean() if size_average else each.sum()

    return modern(name, reduced, input, target)


def nll_loss(input: Any, target: Any, weight: Any = None, size_average: bool = True) -> Any:
    """Minus the logarithms of probabilities of the classes that a LongTensor Variable names."""

    def compute(x, t):
        return ag.nll_loss(x, t, weight=weight, reduction=_reduction(size_average))

    return modern("NLLLoss", compute, input, _target(target))


def cross_entropy(input: Any, target: Any, weight: Any = None, size_average: bool = True) -> Any:
    """The negative log likelihood of scores."""
    return nll_loss(log_softmax(input), target, weight, size_average)


def mse_loss(input: Any, target: Any, size_average: bool = True) -> Any:
    """The mean, or sum, of squared differences."""
    _same_size("MSELoss", input, _target(target))

    def compute(x, t):
        return ag.mse_loss(x, t.reshape(x.shape), reduction=_reduction(size_average))

    return modern("MSELoss", compute, input, target)


def l1_loss(input: Any, target: Any, size_average: bool = True) -> Any:
    """The mean, or sum, of differences."""
    return _pointwise_loss("L1Loss", lambda x, t: ag.abs(x - t), input, target, size_average)


def smooth_l1_loss(input: Any, target: Any, size_average: bool = True) -> Any:
    """Half the squared difference below 1, the difference minus a half above."""

    def compute(x, t):
        far = ag.abs(x - t)
        return ag.where(far < 1, 0.5 * far * far, far - 0.5)

    return _pointwise_loss("SmoothL1Loss", compute, input, target, size_average)


def binary_cross_entropy(
    input: Any, target: Any, weight: Any = None, size_average: bool = True
) -> Any:
    """The cross entropy of probabilities and targets between 0 and 1."""

    def compute(x, t):
        each = -(ag.log(x + 1e-12) * t + ag.log(1 - x + 1e-12) * (1 - t))
        return each if weight is None else each * ag.as_tensor(weight).expand_as(each)

    return _pointwise_loss("BCELoss", compute, input, target, size_average)


def kl_div(input: Any, target: Any, size_average: bool = True) -> Any:
    """The divergence of a target from log probabilities, by element."""

    def compute(x, t):
        return ag.where(t > 0, t * (ag.log(ag.clamp(t, min=1e-38)) - x), 0 * x)

    return _pointwise_loss("KLDivLoss", compute, input, target, size_average)


def soft_margin_loss(input: Any, target: Any, size_average: bool = True) -> Any:
    """``log(1 + exp(-t x))`` of targets 1 and -1."""
    return _pointwise_loss(
        "SoftMarginLoss", lambda x, t: ag.log1p(ag.exp(-t * x)), input, target, size_average
    )


def hinge_embedding_loss(
    input: Any, target: Any, margin: float = 1.0, size_average: bool = True
) -> Any:
    """``x`` for targets 1, ``max(0, margin - x)`` for targets -1."""

    def compute(x, t):
        return ag.where(t == 1, x, ag.clamp(margin - x, min=0))

    return _pointwise_loss("HingeEmbeddingLoss", compute, input, target, size_average)


def margin_ranking_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0.0, size_average: bool = True
) -> Any:
    """``max(0, -t (a - b) + margin)``."""
    _same_size("MarginRankingLoss", input1, input2)
    _same_size("MarginRankingLoss", input1, _target(target))

    def compute(a, b, t):
        each = ag.clamp(-t.reshape(a.shape) * (a - b.reshape(a.shape)) + margin, min=0)
        return each.mean() if size_average else each.sum()

    return modern("MarginRankingLoss", compute, input1, input2, target)


def cosine_embedding_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0.0, size_average: bool = True
) -> Any:
    """``1 - cos`` of rows for targets 1, ``max(0, cos - margin)`` for targets -1."""
    _target(target)

    def compute(a, b, t):
        cos = ag.sum(a * b, 1) / ag.sqrt((ag.sum(a * a, 1) + 1e-12) * (ag.sum(b * b, 1) + 1e-12))
        each = ag.where(t.reshape(-1) == 1, 1 - cos, ag.clamp(cos - margin, min=0))
        return each.mean() if size_average else each.sum()

    return modern("CosineEmbeddingLoss", compute, input1, input2, target)
