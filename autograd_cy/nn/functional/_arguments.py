"""Checks of the arguments of layers and losses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import autograd_cy as _operators
from autograd_cy import Tensor
from autograd_cy._C._warned import warn as _warn
from autograd_cy._C.arguments import _check_arguments

__all__ = [
    "broadcast",
    "check_probability",
    "check_tensors",
    "check_weight",
    "each_dim",
    "each_side",
    "implicit_dim",
    "in_dtype",
    "reduced",
    "reduction_code",
    "reduction_name",
    "warn_of_mean",
    "warn_of_sizes",
    "weighted",
]


def check_tensors(op: str, input: Tensor, target: Tensor) -> None:
    """Raise torch's TypeError for what is no tensor."""
    _check_arguments(op, (input, "Tensor", "input", 1), (target, "Tensor", "target", 2))


_CODES = {"none": 0, "mean": 1, "sum": 2}


def reduction_name(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """Return the reduction of a loss; the older two arguments win if given."""
    if size_average is not None or reduce is not None:
        summed = size_average is not None and not size_average
        each = reduce is not None and not reduce
        reduction = "none" if each else "sum" if summed else "mean"
        _warn(
            "size_average and reduce args will be deprecated, please use "
            f"reduction='{reduction}' instead.",
        )
    if not isinstance(reduction, str) or reduction not in _CODES:
        return _older_name(reduction)
    return reduction


def _older_name(reduction: Any) -> str:
    """Return the name for "elementwise_mean" of programs of 2018; all others raise."""
    if reduction != "elementwise_mean":
        raise ValueError(f"{reduction} is not a valid value for reduction")
    _warn(
        "reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.",
    )
    return "mean"


def reduction_code(size_average: bool | None, reduce: bool | None, reduction: str) -> int:
    """Return the number of the reduction in operators: 0 none, 1 mean, 2 sum."""
    if size_average is not None or reduce is not None:
        reduction = reduction_name(size_average, reduce, reduction)
    code = _CODES.get(reduction) if isinstance(reduction, str) else None
    return _CODES[_older_name(reduction)] if code is None else code


def warn_of_sizes(input: Tensor, target: Tensor) -> None:
    """Warn of a target that broadcasts, which is seldom meant."""
    _warn(
        f"Using a target size ({target.shape}) that is different to the input size "
        f"({input.shape}). This will likely lead to incorrect results due to broadcasting. "
        "Please ensure they have the same size.",
    )


def warn_of_mean() -> None:
    """Warn that the mean of kl_div isn't the divergence, as torch does."""
    _warn(
        "reduction: 'mean' divides the total loss by both the batch size and the support "
        "size.'batchmean' divides only by the batch size, and aligns with the KL div math "
        "definition.'mean' will be changed to behave the same as 'batchmean' in the next "
        "major release.",
    )


def broadcast(op: str, input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Return views of both that have the shape of both together.

    Parameters
    ----------
    op : str
        The function, in errors.
    input, target : Tensor
        Of shapes that broadcast.

    Returns
    -------
    tuple of Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> [list(t.shape) for t in broadcast("l1_loss", torch.ones(2, 1), torch.ones(3))]
    [[2, 3], [2, 3]]
    """
    try:
        first, second = _operators.broadcast_tensors(input, target)
    except (RuntimeError, TypeError) as error:
        error.args = (str(error).replace("broadcast_tensors", op, 1),)
        raise
    return first, second


def check_weight(input: Tensor, weight: Tensor) -> None:
    """Raise a ValueError unless there is a weight for each element."""
    if weight.shape != input.shape:
        raise ValueError("Weights and input must have the same size.")


def weighted(values: Tensor, weight: Tensor | None, reduction: str) -> Tensor:
    """Return values times their weights, reduced; the mean is divided by the weights."""
    if reduction not in _CODES:
        raise ValueError(
            f"Invalid reduction mode: {reduction}. Expected one of 'none', 'mean', 'sum'."
        )
    products = values if weight is None else values * weight
    if reduction == "none":
        return products
    if reduction == "sum":
        return products.sum()
    return products.mean() if weight is None else products.sum() / weight.sum()


def reduced(values: Tensor, code: int) -> Tensor:
    """Return values reduced as the number of a reduction says."""
    return values if code == 0 else values.mean() if code == 1 else values.sum()


def in_dtype(op: str, input: Tensor, target: Tensor) -> Tensor:
    """Return the target in the dtype of the input, if that holds its numbers."""
    if not _operators.can_cast(target.dtype, input.dtype):
        raise RuntimeError(
            f"{op}: result type {target.dtype._scalar} can't be cast to the desired output type "
            f"{input.dtype._scalar}; convert the input first"
        )
    return target.to(input.dtype)


def each_dim(value: Any, dims: int) -> tuple[Any, ...]:
    """Return one number for each dimension, where one stands for all."""
    several = isinstance(value, Iterable) and not isinstance(value, Tensor)
    return tuple(value) if several else (value,) * dims


def each_side(padding: int | Sequence[int], dims: int) -> tuple[int, ...]:
    """Return the padding of both sides of each dimension, where one number stands for all."""
    return tuple(padding) if isinstance(padding, Sequence) else (padding,) * (2 * dims)


def check_probability(p: float) -> None:
    """Raise a ValueError unless a dropout probability is between 0 and 1."""
    if p < 0.0 or p > 1.0:  # as in torch, the operator refuses NaN
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def implicit_dim(name: str, input: Tensor) -> int:
    """Return the dimension that softmax has where none is given, and warn."""
    _warn(
        f"Implicit dimension choice for {name} has been deprecated. "
        "Change the call to include dim=X as an argument.",
    )
    return 0 if input.dim() in (0, 1, 3) else 1
