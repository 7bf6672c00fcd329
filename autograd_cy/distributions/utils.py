"""Shapes, logits and matrices that distributions share."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from autograd_cy import (
    Tensor,
    as_tensor,
    broadcast_tensors,
    empty,
    enable_grad,
    finfo,
    get_default_dtype,
    tril_indices,
)
from autograd_cy.nn.functional import softmax

__all__ = [
    "broadcast_all",
    "clamp_probs",
    "lazy_property",
    "logits_to_probs",
    "probs_to_logits",
    "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]

euler_constant = 0.57721566490153286060


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """
    Broadcast tensors and numbers against each other.

    Parameters
    ----------
    *values : Tensor or number
        Numbers get the dtype of the first tensor, or the default dtype.

    Returns
    -------
    tuple of Tensor

    Raises
    ------
    ValueError
        If a value is neither.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.utils.broadcast_all(1.0, torch.zeros(2))
    (tensor([1., 1.]), tensor([0., 0.]))
    """
    from numbers import Number

    if not all(isinstance(v, (Tensor, Number)) or hasattr(v, "__torch_function__") for v in values):
        raise ValueError(
            "Input arguments must all be instances of Number, torch.Tensor or objects implementing "
            "__torch_function__."
        )
    tensors = [v for v in values if isinstance(v, Tensor)]
    options = (
        {"dtype": tensors[0].dtype, "device": tensors[0].device}
        if tensors
        else {"dtype": get_default_dtype()}
    )
    return tuple(
        broadcast_tensors(
            *(v if not isinstance(v, Number) else as_tensor(v, **options) for v in values)
        )
    )


def _sum_rightmost(value: Tensor, dims: int) -> Tensor:
    """Sum out dimensions on the right."""
    if dims == 0:
        return value
    return value.reshape((*value.shape[: value.dim() - dims], -1)).sum(-1)


def _standard_normal(shape: Any, dtype: Any, device: Any) -> Tensor:
    """Draw numbers of the standard normal distribution."""
    return empty(tuple(shape), dtype=dtype, device=device).normal_()


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """
    Return the probabilities of log-odds, or of unnormalised log-probabilities.

    Parameters
    ----------
    logits : Tensor
    is_binary : bool, optional
        Whether these are log-odds.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.utils.logits_to_probs(torch.zeros(2))
    tensor([0.5000, 0.5000])
    """
    return logits.sigmoid() if is_binary else softmax(logits, -1)


def clamp_probs(probs: Tensor) -> Tensor:
    """
    Move probabilities into the open interval between 0 and 1.

    Parameters
    ----------
    probs : Tensor

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.utils.clamp_probs(torch.ones(1)) < 1
    tensor([True])
    """
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """
    Return the log-odds, or log-probabilities, of probabilities.

    Parameters
    ----------
    probs : Tensor
    is_binary : bool, optional
        Whether to return log-odds.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.utils.probs_to_logits(torch.tensor([0.5]), is_binary=True)
    tensor([0.])
    """
    inside = clamp_probs(probs)
    return inside.log() - (-inside).log1p() if is_binary else inside.log()


class lazy_property:
    """
    A property that is computed at the first use, and then an attribute.

    Parameters
    ----------
    wrapped : callable
        The function of the object.

    Examples
    --------
    >>> from autograd_cy.distributions.utils import lazy_property
    >>> class Square:
    ...     @lazy_property
    ...     def area(self):
    ...         return 4
    >>> Square().area
    4
    """

    def __init__(self, wrapped: Callable[[Any], Any]):
        self.wrapped = wrapped
        functools.update_wrapper(self, wrapped)  # type: ignore[arg-type]

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return _OfClass(self.wrapped)
        with enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


class _OfClass(property):
    """A lazy property as the class shows it: its documentation."""


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """
    Return the lower triangles of matrices as vectors, row by row.

    Parameters
    ----------
    mat : Tensor
    diag : int, optional
        The last diagonal that belongs to the triangle.

    Returns
    -------
    Tensor

    Raises
    ------
    ValueError
        If there is no such diagonal.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.utils.tril_matrix_to_vec(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([1., 3., 4.])
    """
    n = mat.shape[-1]
    if diag < -n or diag >= n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    rows, columns = tril_indices(n, n, diag)
    return mat[..., rows, columns]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """
    Return square matrices whose lower triangles are vectors, row by row.

    Parameters
    ----------
    vec : Tensor
    diag : int, optional
        The last diagonal that belongs to the triangle.

    Returns
    -------
    Tensor

    Raises
    ------
    ValueError
        If no triangle has so many elements.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.utils.vec_to_tril_matrix(torch.tensor([1.0, 2.0, 3.0]))
    tensor([[1., 0.],
            [2., 3.]])
    """
    count = vec.shape[-1]
    n = (
        -(1 + 2 * diag) + ((1 + 2 * diag) ** 2 + 8 * count + 4 * abs(diag) * (diag + 1)) ** 0.5
    ) / 2
    if abs(n - round(n)) > finfo(vec.dtype).eps:
        raise ValueError(
            f"The size of last dimension is {count} which cannot be expressed as the lower "
            "triangular part of a square D x D matrix."
        )
    n = round(n)
    rows, columns = tril_indices(n, n, diag)
    flat = vec.new_zeros((*vec.shape[:-1], n * n))
    return flat.index_copy(-1, rows * n + columns, vec).reshape((*vec.shape[:-1], n, n))
