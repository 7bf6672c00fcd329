"""Layers and losses as functions without state: thin names over the operators.

The operators are those of the top-level namespace. What is added here is what belongs to the Python
side alone: in-place variants by flag, deprecated spellings, and a few checks.
"""

from __future__ import annotations

import warnings
from typing import Any

import autograd_cy as _operators
from autograd_cy import Tensor
from autograd_cy._interpreted import complete as _complete
from autograd_cy._interpreted.indexing import one_hot
from autograd_cy._interpreted.neural import batch_norm

__all__ = [
    "batch_norm",
    "cross_entropy",
    "dropout",
    "gelu",
    "linear",
    "log_softmax",
    "mse_loss",
    "nll_loss",
    "one_hot",
    "relu",
    "sigmoid",
    "softmax",
    "tanh",
    "threshold",
]


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    r"""Return the affine map :math:`x W^T + b`.

    Parameters
    ----------
    input : Tensor
        Of shape ``(*, in_features)``.
    weight : Tensor
        Of shape ``(out_features, in_features)``.
    bias : Tensor, optional
        Of shape ``(out_features,)``.

    Returns
    -------
    Tensor
        Of shape ``(*, out_features)``.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> linear(torch.ones(1, 2), torch.tensor([[3.0, 4.0]]))
    tensor([[7.]])
    """
    return _operators.linear(input, weight, bias)


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    r"""Return the positive part, :math:`\max(0, x)`.

    Parameters
    ----------
    input : Tensor
        Any shape.
    inplace : bool, optional
        Whether the input itself is changed.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> relu(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    return _operators.relu_(input) if inplace else _operators.relu(input)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    r"""Return the elements above `threshold`, and `value` in place of the others.

    Parameters
    ----------
    input : Tensor
        Any shape.
    threshold, value : float
    inplace : bool, optional
        Whether the input itself is changed.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.functional.threshold(torch.tensor([0.5, 2.0]), 1, -1)
    tensor([-1.,  2.])
    """
    if inplace:
        return _operators.threshold_(input, threshold, value)
    return _operators.threshold(input, threshold, value)


def gelu(input: Tensor, *, approximate: str = "none") -> Tensor:
    r"""Return the Gaussian error linear unit, :math:`x\,\Phi(x)`.

    Parameters
    ----------
    input : Tensor
        Any shape.
    approximate : {"none", "tanh"}, optional
        Whether the normal distribution is approximated by a tanh.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> gelu(torch.tensor([0.0]))
    tensor([0.])
    """
    return _operators.gelu(input, approximate=approximate)


def tanh(input: Tensor) -> Tensor:
    """Return the hyperbolic tangent.

    Parameters
    ----------
    input : Tensor
        Any shape.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> tanh(torch.tensor([0.0]))
    tensor([0.])
    """
    return _operators.tanh(input)


def sigmoid(input: Tensor) -> Tensor:
    """Return the logistic function.

    Parameters
    ----------
    input : Tensor
        Any shape.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> sigmoid(torch.tensor([0.0]))
    tensor([0.5000])
    """
    return _operators.sigmoid(input)


def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """Return exponentials scaled to sum up to one along a dimension.

    Parameters
    ----------
    input : Tensor
        Any shape.
    dim : int
        The dimension. Leaving it out is deprecated.
    dtype : dtype, optional
        Converts the input first.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> softmax(torch.tensor([1.0, 1.0]), dim=0)
    tensor([0.5000, 0.5000])
    """
    dim = _implicit_dim("softmax", input) if dim is None else dim
    return _operators.softmax(input, dim, dtype=dtype)


def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """Return the logarithm of the softmax along a dimension, computed without overflow.

    Parameters
    ----------
    input : Tensor
        Any shape.
    dim : int
        The dimension. Leaving it out is deprecated.
    dtype : dtype, optional
        Converts the input first.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> log_softmax(torch.tensor([1.0]), dim=0)
    tensor([0.])
    """
    dim = _implicit_dim("log_softmax", input) if dim is None else dim
    return _operators.log_softmax(input, dim, dtype=dtype)


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Set each element to zero with probability `p` and scale the others by ``1 / (1 - p)``.

    Parameters
    ----------
    input : Tensor
        Any shape.
    p : float, optional
        The probability.
    training : bool, optional
        Whether anything is done at all.
    inplace : bool, optional
        Whether the input itself is changed.

    Returns
    -------
    Tensor

    Raises
    ------
    ValueError
        If ``p`` is not between 0 and 1.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> dropout(torch.ones(2), training=False)
    tensor([1., 1.])
    """
    check_probability(p)
    if not inplace:
        return _operators.dropout(input, p, training)
    if not training:
        return input
    return input.mul_(_operators.dropout(_operators.ones_like(input), p))


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
    >>> round(cross_entropy(torch.zeros(1, 2), torch.tensor([1])).item(), 4)
    0.6931
    """
    return _operators.cross_entropy(
        input,
        target,
        weight=weight,
        ignore_index=ignore_index,
        reduction=reduction_name(size_average, reduce, reduction),
        label_smoothing=label_smoothing,
    )


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
    >>> nll_loss(torch.tensor([[-1.0, -2.0]]), torch.tensor([1]))
    tensor(2.)
    """
    return _operators.nll_loss(
        input,
        target,
        weight=weight,
        ignore_index=ignore_index,
        reduction=reduction_name(size_average, reduce, reduction),
    )


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the squared difference between input and target.

    Parameters
    ----------
    input, target : Tensor
        Of one shape.
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
    >>> mse_loss(torch.tensor([1.0, 3.0]), torch.tensor([1.0, 1.0]))
    tensor(2.)
    """
    if target.shape != input.shape:
        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size "
            f"({input.shape}). This will likely lead to incorrect results due to broadcasting. "
            "Please ensure they have the same size.",
            stacklevel=2,
        )
    reduction = reduction_name(size_average, reduce, reduction)
    return _operators.mse_loss(input, target, reduction=reduction)


def reduction_name(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """Return the reduction that the arguments of a loss mean, old and new.

    Parameters
    ----------
    size_average, reduce : bool or None
        The older spelling; it wins if either is given.
    reduction : str
        The newer one.

    Returns
    -------
    {"mean", "sum", "none"}

    Raises
    ------
    ValueError
        If ``reduction`` is none of these.

    Examples
    --------
    >>> reduction_name(None, None, "sum")
    'sum'
    """
    if size_average is not None or reduce is not None:
        summed = size_average is not None and not size_average
        each = reduce is not None and not reduce
        reduction = "none" if each else "sum" if summed else "mean"
        warnings.warn(
            "size_average and reduce args will be deprecated, please use "
            f"reduction='{reduction}' instead.",
            stacklevel=3,
        )
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return reduction


def check_probability(p: float) -> None:
    """Raise unless a dropout probability is one.

    Parameters
    ----------
    p : float
        The probability.

    Raises
    ------
    ValueError
        If it is not between 0 and 1.

    Examples
    --------
    >>> check_probability(0.5)
    """
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _implicit_dim(name: str, input: Tensor) -> int:
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. "
        "Change the call to include dim=X as an argument.",
        stacklevel=3,
    )
    return 0 if input.dim() in (0, 1, 3) else 1


_complete("nn.functional", globals())
