"""Activations made of other operators, or with checks of their own."""

from __future__ import annotations

import autograd_cy as _operators
from autograd_cy import Tensor
from autograd_cy._C.arguments import _check_arguments
from autograd_cy._interpreted import Family
from autograd_cy._tensors.events import seen_as
from autograd_cy._tensors.public import public

__all__ = ["hardtanh", "hardtanh_", "relu6", "softsign", "tanhshrink"]

_pieces = Family("ops_piecewise_activation")


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
def softsign(input: Tensor) -> Tensor:
    r"""Return :math:`x / (1 + |x|)`.

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
    >>> torch.nn.functional.softsign(torch.tensor([1.0, -3.0]))
    tensor([ 0.5000, -0.7500])
    """
    return input / (input.abs() + 1)


@public
def tanhshrink(input: Tensor) -> Tensor:
    r"""Return :math:`x - \tanh(x)`.

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
    >>> torch.nn.functional.tanhshrink(torch.tensor([1.0]))
    tensor([0.2384])
    """
    return input - input.tanh()
