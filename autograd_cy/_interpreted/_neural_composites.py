"""Batch normalisation.

Its gradients: S. Ioffe, C. Szegedy, "Batch normalization" (2015), section 3.
"""

from __future__ import annotations

from autograd_cy._C.tensor import Tensor
from autograd_cy._interpreted import neural
from autograd_cy._namespace import mean as average
from autograd_cy._namespace import reshape, sum


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None,
    bias: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> Tensor:
    if input.ndim < 2:
        raise RuntimeError(
            f"batch_norm: expected at least 2 dimensions (batch, channels), got {input.ndim}"
        )
    if not training and (running_mean is None or running_var is None):
        raise RuntimeError(
            "Expected running_mean and running_var to be defined when training=False"
        )
    if eps <= 0:
        raise ValueError(f"batch_norm eps must be positive, but got {eps}")
    channels = input.shape[1]
    named = {
        "running_mean": running_mean,
        "running_var": running_var,
        "weight": weight,
        "bias": bias,
    }
    for name, x in named.items():
        if x is not None and x.numel() != channels:
            raise RuntimeError(f"{name} should contain {channels} elements not {x.numel()}")
        if x is not None and x.dtype != input.dtype:
            raise RuntimeError(
                f"batch_norm: expected {name} of dtype {input.dtype}, like input, not {x.dtype}"
            )
    if training and input.numel() == channels:
        raise ValueError(
            "Expected more than 1 value per channel when training, got input size "
            f"{tuple(input.shape)}"
        )
    arguments = (input, weight, bias, running_mean, running_var, training, momentum, eps)
    return neural._batch_norm(*arguments)[0]


def per_channel(values: Tensor, input: Tensor) -> Tensor:
    return reshape(values, (-1, *(1,) * (input.ndim - 2)))


def batch_norm_scaled(
    input: Tensor, mean: Tensor, spread: Tensor, training: bool, eps: float
) -> Tensor:
    if training:
        mean, spread = _statistics(input, (0, *range(2, input.ndim)), eps)
    return (input - per_channel(mean, input)) * per_channel(spread, input)


def batch_norm_backward(
    grad: Tensor,
    input: Tensor,
    weight: Tensor | None,
    mean: Tensor,
    spread: Tensor,
    training: bool,
    eps: float,
    needed: tuple[bool, bool, bool],
) -> tuple:
    others = (0, *range(2, input.ndim))
    if training:
        mean, spread = _statistics(input, others, eps)
    scaled = (input - per_channel(mean, input)) * per_channel(spread, input)
    to_input = None
    if needed[0]:
        g = grad if weight is None else grad * per_channel(weight, input)
        to_input = g
        if training:
            to_input = g - average(g, others, True) - scaled * average(g * scaled, others, True)
        to_input = to_input * per_channel(spread, input)
    to_weight = sum(grad * scaled, others) if needed[1] else None
    return to_input, to_weight, sum(grad, others) if needed[2] else None


def _statistics(input: Tensor, others: tuple[int, ...], eps: float) -> tuple[Tensor, Tensor]:
    """Mean and inverse deviation of the batch, by operators: higher derivatives go through them."""
    mean = average(input, others)
    centred = input - per_channel(mean, input)
    return mean, (average(centred * centred, others) + eps) ** -0.5


def batch_norm_moved(
    moved: Tensor,
    input: Tensor,
    weight: Tensor | None,
    mean: Tensor,
    spread: Tensor,
    training: bool,
    eps: float,
) -> Tensor:
    others = (0, *range(2, input.ndim))
    if training:
        mean, spread = _statistics(input, others, eps)
        scaled = (input - per_channel(mean, input)) * per_channel(spread, input)
        along = average(moved * scaled, others, True)
        moved = moved - average(moved, others, True) - scaled * along
    result = moved * per_channel(spread, input)
    return result if weight is None else result * per_channel(weight, input)
