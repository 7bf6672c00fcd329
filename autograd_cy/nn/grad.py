"""Gradients of convolutions as functions, by the names of ``torch.nn.grad``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autograd_cy import Tensor, empty, enable_grad, is_grad_enabled
from autograd_cy.autograd import grad

from . import functional as F
from .modules.utils import _ntuple

__all__ = [
    "conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input",
    "conv3d_weight",
]  # fmt: skip


def _ones(dims: int) -> str:
    """A weight, or a gradient of the output, as the examples write it."""
    return f"torch.ones(1, 1{', 2' * dims})"


def _of_input(dims: int) -> Callable[..., Tensor]:
    transposed = getattr(F, f"conv_transpose{dims}d")
    each = _ntuple(dims)

    def of_input(
        input_size: Sequence[int],
        weight: Tensor,
        grad_output: Tensor,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        stride, padding, dilation = each(stride), each(padding), each(dilation)
        # The sizes of the input that a stride steps over at the end.
        left = [
            size - ((out - 1) * s - 2 * p + d * (k - 1) + 1)
            for size, out, k, s, p, d in zip(
                input_size[-dims:],
                grad_output.shape[-dims:],
                weight.shape[-dims:],
                stride,
                padding,
                dilation,
            )
        ]
        result: Tensor = transposed(
            grad_output, weight, None, stride, padding, left, groups, dilation
        )
        return result

    return _described(
        of_input,
        f"conv{dims}d_input",
        f"The gradient of `conv{dims}d` with respect to its input.",
        "input_size : sequence of int\n        The shape of the input.\n    weight : Tensor",
        f"(1, 1{', 3' * dims}), {_ones(dims)}, {_ones(dims)}",
        [1, 1, *[3] * dims],
    )


def _of_weight(dims: int) -> Callable[..., Tensor]:
    convolved = getattr(F, f"conv{dims}d")

    def of_weight(
        input: Tensor,
        weight_size: Sequence[int],
        grad_output: Tensor,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        recorded = is_grad_enabled() and (input.requires_grad or grad_output.requires_grad)
        weight = empty(tuple(weight_size), dtype=input.dtype, device=input.device)
        with enable_grad():
            weight.zero_().requires_grad_()
            output = convolved(input, weight, None, stride, padding, dilation, groups)
            result: Tensor = grad(output, weight, grad_output, create_graph=recorded)[0]
        return result

    return _described(
        of_weight,
        f"conv{dims}d_weight",
        f"The gradient of `conv{dims}d` with respect to its weight.",
        "input : Tensor\n    weight_size : sequence of int\n        The shape of the weight.",
        f"torch.ones(1, 1{', 3' * dims}), (1, 1{', 2' * dims}), {_ones(dims)}",
        [1, 1, *[2] * dims],
    )


def _described(
    function: Callable[..., Tensor],
    name: str,
    what: str,
    own: str,
    arguments: str,
    shape: list[int],
) -> Callable[..., Tensor]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""{what}

    Parameters
    ----------
    {own}
    grad_output : Tensor
        The gradient of the output.
    stride, padding, dilation : int or tuple of int, optional
        Those of the convolution.
    groups : int, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> grad = torch.nn.grad.{name}({arguments})
    >>> list(grad.shape)
    {shape}
    """
    return function


conv1d_input, conv2d_input, conv3d_input = map(_of_input, (1, 2, 3))
conv1d_weight, conv2d_weight, conv3d_weight = map(_of_weight, (1, 2, 3))
