"""Smooth activations."""

from __future__ import annotations

from autograd_cy import Tensor
from autograd_cy._interpreted import Family
from autograd_cy._tensors.public import forward_to, public

__all__ = [
    "gelu",
    "mish",
    "sigmoid",
    "silu",
    "softsign",
    "tanh",
    "tanhshrink",
]

_smooth = Family("ops_smooth_activation")


@public(forwards=())
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
    >>> torch.nn.functional.tanh(torch.tensor([0.0]))
    tensor([0.])
    """
    return input.tanh()


@public(forwards=())
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
    >>> torch.nn.functional.sigmoid(torch.tensor([0.0]))
    tensor([0.5000])
    """
    return input.sigmoid()


@public(forwards="gelu")
def gelu(input: Tensor, *, approximate: str = "none", out: Tensor | None = None) -> Tensor:
    r"""Return the Gaussian error linear unit, :math:`x\,\Phi(x)`.

    Parameters
    ----------
    input : Tensor
        Any shape.
    approximate : {"none", "tanh"}, optional
        Whether the normal distribution is approximated by a tanh.
    out : Tensor, optional
        Where the result goes.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.functional.gelu(torch.tensor([0.0]))
    tensor([0.])
    """
    return forward_to.gelu(input, approximate=approximate, out=out)


@public(forwards="silu silu_")
def silu(input: Tensor, inplace: bool = False) -> Tensor:
    r"""Return :math:`x \sigma(x)`, the swish function.

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
    >>> torch.nn.functional.silu(torch.tensor([-1.0, 1.0]))
    tensor([-0.2689,  0.7311])
    """
    return forward_to.silu_(input) if inplace else forward_to.silu(input)


@public
def mish(input: Tensor, inplace: bool = False) -> Tensor:
    r"""Return :math:`x \tanh(\log(1 + e^x))`.

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
    >>> torch.nn.functional.mish(torch.tensor([-1.0, 1.0]))
    tensor([-0.3034,  0.8651])
    """
    return _smooth._mish_(input) if inplace else _smooth._mish(input)


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
