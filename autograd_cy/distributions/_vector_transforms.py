"""Transforms of vectors and matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autograd_cy import (
    Tensor,
    finfo,
    linalg,
    ones_like,
)
from autograd_cy.nn.functional import logsigmoid, pad, softmax, softplus

from . import constraints
from ._transform import Transform
from .utils import tril_matrix_to_vec, vec_to_tril_matrix


class SoftmaxTransform(Transform):
    r"""
    The transform :math:`y = \mathrm{softmax}(x)`, whose pseudo-inverse is the logarithm.

    Parameters
    ----------
    cache_size : int, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.SoftmaxTransform()(torch.zeros(2))
    tensor([0.5000, 0.5000])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SoftmaxTransform)

    __hash__ = Transform.__hash__

    def _call(self, x: Tensor) -> Tensor:
        return softmax(x, -1)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def forward_shape(self, shape: Sequence[int]) -> Any:
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        return shape

    inverse_shape = forward_shape


class StickBreakingTransform(Transform):
    r"""
    The transform from unconstrained vectors to the simplex with one dimension more.

    Each number says, by a sigmoid, which part of the rest of a stick is broken off.

    Parameters
    ----------
    cache_size : int, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.StickBreakingTransform()(torch.zeros(2))
    tensor([0.3333, 0.3333, 0.3333])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StickBreakingTransform)

    __hash__ = Transform.__hash__

    @staticmethod
    def _offset(x: Tensor) -> Tensor:
        return x.shape[-1] + 1 - ones_like(x).cumsum(-1)

    def _call(self, x: Tensor) -> Tensor:
        z = (x - self._offset(x).log()).sigmoid()
        rest = (1 - z).cumprod(-1)
        return pad(z, [0, 1], value=1.0) * pad(rest, [1, 0], value=1.0)

    def _inverse(self, y: Tensor) -> Tensor:
        part = y[..., :-1]
        rest = (1 - part.cumsum(-1)).clamp(min=finfo(y.dtype).tiny)
        return part.log() - rest.log() + self._offset(part).log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        x = x - self._offset(x).log()
        return (-x + logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Sequence[int]) -> Any:
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        return (*shape[:-1], shape[-1] + 1)

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        return (*shape[:-1], shape[-1] - 1)


class LowerCholeskyTransform(Transform):
    """
    The transform from square matrices to lower triangular ones with a positive diagonal.

    Parameters
    ----------
    cache_size : int, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.LowerCholeskyTransform()(torch.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LowerCholeskyTransform)

    __hash__ = Transform.__hash__

    def _call(self, x: Tensor) -> Tensor:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(Transform):
    """
    The transform from square matrices to positive definite ones.

    Parameters
    ----------
    cache_size : int, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.PositiveDefiniteTransform()(torch.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PositiveDefiniteTransform)

    __hash__ = Transform.__hash__

    def _call(self, x: Tensor) -> Tensor:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Tensor) -> Tensor:
        return LowerCholeskyTransform().inv(linalg.cholesky(y))


class CorrCholeskyTransform(Transform):
    r"""
    The transform from vectors to Cholesky factors of correlation matrices.

    The tangents of hyperbolic angles fill the lower triangle, and each row is a stick of length 1
    that is broken by their squares.

    Parameters
    ----------
    cache_size : int, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.CorrCholeskyTransform()(torch.zeros(1))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        eps = finfo(x.dtype).eps
        r = vec_to_tril_matrix(x.tanh().clamp(min=-1 + eps, max=1 - eps), diag=-1)
        rest = (1 - r**2).sqrt().cumprod(-1)
        r = r + ones_like(r).tril().triu()
        return r * pad(rest[..., :-1], [1, 0], value=1.0)

    def _inverse(self, y: Tensor) -> Tensor:
        rest = pad((1 - (y * y).cumsum(-1))[..., :-1], [1, 0], value=1.0)
        below, rest = tril_matrix_to_vec(y, diag=-1), tril_matrix_to_vec(rest, diag=-1)
        t = below / rest.sqrt()
        return (t.log1p() - t.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor, intermediates: Any = None) -> Tensor:
        rest = 1 - (y * y).cumsum(-1)
        rows = 0.5 * tril_matrix_to_vec(rest, diag=-2).log().sum(-1)
        return rows - 2 * (x + softplus(-2 * x) - math.log(2.0)).sum(-1)

    def forward_shape(self, shape: Sequence[int]) -> Any:
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        size = round((0.25 + 2 * shape[-1]) ** 0.5 + 0.5)
        if size * (size - 1) // 2 != shape[-1]:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return (*shape[:-1], size, size)

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        if len(shape) < 2:
            raise ValueError("Too few dimensions on input")
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return (*shape[:-2], shape[-1] * (shape[-1] - 1) // 2)
