"""Softmax and its logarithm, whose dimension must be given."""

from __future__ import annotations

from typing import Any

from autograd_cy._environment.docstrings import described_like
from autograd_cy._tensors import namespace as _ag
from autograd_cy._tensors.namespace import Tensor
from autograd_cy._tensors.public import public

__all__ = ["log_softmax", "softmax"]


@public
def softmax(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """
    Softmax along a dimension, which must be given.

    Parameters
    ----------
    input : Tensor
        Of a floating dtype, unless `dtype` is given.
    dim : int
        Along which the elements of the result sum to 1.
    dtype : dtype, optional
        To which the input is converted first.

    Returns
    -------
    Tensor
        Of the shape of `input`.

    Raises
    ------
    IndexError
        If there is no such dimension.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.special.softmax(ag.zeros(2), 0)
    tensor([0.5000, 0.5000])
    """
    return _ag.softmax(input, dim, dtype=dtype)


@public
@described_like(
    softmax,
    {
        "Softmax along": "Logarithm of the softmax along",
        "the elements of the result": "the exponentials of the result",
        "softmax(ag.zeros(2), 0)": "log_softmax(ag.zeros(1), 0)",
        "[0.5000, 0.5000]": "[0.]",
    },
)
def log_softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    return _ag.log_softmax(input, dim, dtype=dtype)
