"""Activations made of pieces: with a bend, or with bounds."""

from __future__ import annotations

import autograd_cy as _operators
from autograd_cy import Tensor
from autograd_cy._C.arguments import _check_arguments
from autograd_cy._interpreted import Family
from autograd_cy._tensors.events import seen_as
from autograd_cy._tensors.public import forward_to, public

__all__ = [
    "celu",
    "elu",
    "elu_",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "leaky_relu",
    "leaky_relu_",
    "relu",
    "relu6",
    "rrelu",
    "selu",
    "threshold",
]

_pieces = Family("ops_piecewise_activation")


@public(forwards="relu relu_")
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
    >>> torch.nn.functional.relu(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    return forward_to.relu_(input) if inplace else forward_to.relu(input)


@public(forwards="threshold threshold_")
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
        return forward_to.threshold_(input, threshold, value)
    return forward_to.threshold(input, threshold, value)


@public
def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    r"""Return :math:`\min(\max(0, x), 6)`.

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
    >>> torch.nn.functional.relu6(torch.tensor([-1.0, 2.0, 9.0]))
    tensor([0., 2., 6.])
    """
    if not isinstance(input, Tensor):
        _check_arguments("relu6", (input, "Tensor", "input", 1))
    return _relu6_(input) if inplace else _relu6(input)


@seen_as("aten::relu6")
def _relu6(input: Tensor) -> Tensor:
    return hardtanh(input, 0, 6)


@seen_as("aten::relu6_")
def _relu6_(input: Tensor) -> Tensor:
    return hardtanh(input, 0, 6, True)


@public
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    r"""Return :math:`x`, and :math:`\alpha (e^x - 1)` below 0.

    Parameters
    ----------
    input : Tensor
        Any shape.
    alpha : float, optional
        What is approached on the left, negated.
    inplace : bool, optional
        Whether the input itself is changed.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.functional.elu(torch.tensor([-1.0, 1.0]))
    tensor([-0.6321,  1.0000])
    """
    return _pieces._elu_(input, alpha) if inplace else _pieces._elu(input, alpha)


@public
def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """
    In-place form of :func:`elu`; changes and returns the first argument.

    Parameters
    ----------
    input : Tensor
        The tensor that is changed.
    alpha : float, optional
        What is approached on the left, negated.

    Returns
    -------
    Tensor
        `input`.

    Raises
    ------
    RuntimeError
        `input` is a leaf that requires grad.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.functional.elu_(torch.tensor([-1.0, 1.0]))
    tensor([-0.6321,  1.0000])
    """
    return _pieces._elu_(input, alpha)


@public(forwards="selu selu_")
def selu(input: Tensor, inplace: bool = False) -> Tensor:
    r"""Return :math:`\lambda x`, and :math:`\lambda \alpha (e^x - 1)` below 0.

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
    >>> torch.nn.functional.selu(torch.tensor([-1.0, 1.0]))
    tensor([-1.1113,  1.0507])
    """
    return forward_to.selu_(input) if inplace else forward_to.selu(input)


@public(forwards="celu celu_")
def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    r"""Return :math:`x`, and :math:`\alpha (e^{x / \alpha} - 1)` below 0.

    Parameters
    ----------
    input : Tensor
        Any shape.
    alpha : float, optional
        What is approached on the left, negated.
    inplace : bool, optional
        Whether the input itself is changed.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.functional.celu(torch.tensor([-1.0, 1.0]), 2.0)
    tensor([-0.7869,  1.0000])
    """
    return forward_to.celu_(input, alpha) if inplace else forward_to.celu(input, alpha)


@public
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    r"""Return :math:`x`, times a small slope below 0.

    Parameters
    ----------
    input : Tensor
        Any shape.
    negative_slope : float, optional
        The slope below 0.
    inplace : bool, optional
        Whether the input itself is changed.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.functional.leaky_relu(torch.tensor([-1.0, 1.0]), 0.1)
    tensor([-0.1000,  1.0000])
    """
    if inplace:
        return _pieces._leaky_relu_(input, negative_slope)
    return _pieces._leaky_relu(input, negative_slope)


@public
def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """
    In-place form of :func:`leaky_relu`; changes and returns the first argument.

    Parameters
    ----------
    input : Tensor
        The tensor that is changed.
    negative_slope : float, optional
        The slope below 0.

    Returns
    -------
    Tensor
        `input`.

    Raises
    ------
    RuntimeError
        `input` is a leaf that requires grad.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.functional.leaky_relu_(torch.tensor([-1.0, 1.0]), 0.1)
    tensor([-0.1000,  1.0000])
    """
    return _pieces._leaky_relu_(input, negative_slope)


@public(forwards="rrelu rrelu_")
def rrelu(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    r"""Return the input, times a slope below 0 that is random for each element.

    Parameters
    ----------
    input : Tensor
        Any shape.
    lower, upper : float, optional
        The limits of the slopes.
    training : bool, optional
        Whether they are random; without, each is the mean of the limits.
    inplace : bool, optional
        Whether the input itself is changed.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.functional.rrelu(torch.tensor([-1.0, 2.0]), 0.1, 0.3)
    tensor([-0.2000,  2.0000])
    """
    if inplace:
        return forward_to.rrelu_(input, lower, upper, training)
    return forward_to.rrelu(input, lower, upper, training)


@public
def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    r"""Return the elements limited to an interval.

    Parameters
    ----------
    input : Tensor
        Any shape.
    min_val, max_val : float, optional
        The bounds.
    inplace : bool, optional
        Whether the input itself is changed.

    Returns
    -------
    Tensor

    Raises
    ------
    ValueError
        If the lower bound is above the upper one.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.functional.hardtanh(torch.tensor([-3.0, 0.5, 3.0]))
    tensor([-1.0000,  0.5000,  1.0000])
    """
    if not isinstance(input, Tensor):
        _check_arguments("hardtanh", (input, "Tensor", "input", 1))
    whole = not (input.is_floating_point() or input.is_complex())
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    if whole:
        return _hardtanh_of_integers(input, min_val, max_val, inplace)
    if inplace:
        return _pieces._hardtanh_(input, min_val, max_val)
    return _pieces._hardtanh(input, min_val, max_val)


def _hardtanh_of_integers(input: Tensor, min_val: float, max_val: float, inplace: bool) -> Tensor:
    """Integers stay integers."""
    if input.dtype is _operators.bool:
        raise RuntimeError("Bool inputs not supported for hardtanh")
    low, high = int(min_val), int(max_val)
    if input.dtype is _operators.uint8 and (low < 0 or high < 0):
        raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    return input.clamp_(low, high) if inplace else input.clamp(low, high)


@public
def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """
    In-place form of :func:`hardtanh`; changes and returns the first argument.

    Parameters
    ----------
    input : Tensor
        The tensor that is changed.
    min_val, max_val : float, optional
        The bounds.

    Returns
    -------
    Tensor
        `input`.

    Raises
    ------
    ValueError
        If the lower bound is above the upper one.
    RuntimeError
        `input` is a leaf that requires grad.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.functional.hardtanh_(torch.tensor([-3.0, 0.5, 3.0]))
    tensor([-1.0000,  0.5000,  1.0000])
    """
    return hardtanh(input, min_val, max_val, True)


@public
def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    r"""Return :math:`\min(\max(0, x + 3), 6) / 6`.

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
    >>> torch.nn.functional.hardsigmoid(torch.tensor([-4.0, 0.0, 4.0]))
    tensor([0.0000, 0.5000, 1.0000])
    """
    return _pieces._hardsigmoid_(input) if inplace else _pieces._hardsigmoid(input)


@public
def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    r"""Return :math:`x \min(\max(0, x + 3), 6) / 6`.

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
    >>> torch.nn.functional.hardswish(torch.tensor([-4.0, 0.0, 4.0]))
    tensor([-0., 0., 4.])
    """
    return _pieces._hardswish_(input) if inplace else _pieces._hardswish(input)
