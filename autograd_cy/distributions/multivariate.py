"""Normal distributions of vectors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from autograd_cy import Tensor, broadcast_shapes, eye, linalg

from . import constraints
from .distribution import Distribution
from .utils import _standard_normal, lazy_property

__all__ = ["LowRankMultivariateNormal", "MultivariateNormal"]


def _lower_solve(factor: Tensor, value: Tensor) -> Tensor:
    """Return the inverse of lower triangular matrices times vectors."""
    shape = broadcast_shapes(factor.shape[:-2], value.shape[:-1])
    factor = factor.expand(shape + factor.shape[-2:])
    value = value.expand(shape + value.shape[-1:])
    return linalg.solve(factor, value.unsqueeze(-1)).squeeze(-1)


class MultivariateNormal(Distribution):
    r"""
    The normal distribution of vectors, by one of three matrices.

    Parameters
    ----------
    loc : Tensor
        The mean.
    covariance_matrix : Tensor, optional
    precision_matrix : Tensor, optional
        The inverse of the covariance.
    scale_tril : Tensor, optional
        The lower triangular factor of the covariance.
    validate_args : bool, optional

    Raises
    ------
    ValueError
        If not exactly one matrix is given, or dimensions are missing.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.MultivariateNormal(torch.zeros(2), torch.eye(2)).entropy()
    tensor(2.8379)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ):
        options = {
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }
        matrices = {name: matrix for name, matrix in options.items() if matrix is not None}
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        if len(matrices) != 1:
            raise ValueError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril may be "
                "specified."
            )
        ((name, matrix),) = matrices.items()
        if matrix.dim() < 2:
            raise ValueError(
                f"{name} must be at least two-dimensional, with optional leading batch dimensions"
            )
        batch = broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand((*tuple(batch), -1, -1)))
        self.loc = loc.expand((*tuple(batch), -1))
        super().__init__(batch, self.loc.shape[-1:], validate_args=validate_args)
        if scale_tril is not None:
            self._unbroadcasted_scale_tril = scale_tril
        elif covariance_matrix is not None:
            self._unbroadcasted_scale_tril = linalg.cholesky(covariance_matrix)
        else:
            self._unbroadcasted_scale_tril = linalg.cholesky(linalg.inv(matrix))

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        shape, n = tuple(batch_shape), tuple(self.event_shape)
        values = {
            name: self.__dict__[name].expand(shape + n + n)
            for name in ("covariance_matrix", "scale_tril", "precision_matrix")
            if name in self.__dict__
        }
        return self._new(
            shape,
            self._get_checked_instance(MultivariateNormal, _instance),
            loc=self.loc.expand(shape + n),
            _unbroadcasted_scale_tril=self._unbroadcasted_scale_tril,
            **values,
        )

    def _whole(self, matrix: Tensor) -> Tensor:
        n = tuple(self._event_shape)
        return matrix.expand(tuple(self._batch_shape) + n + n)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower triangular factor of the covariance."""
        return self._whole(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance."""
        factor = self._unbroadcasted_scale_tril
        return self._whole(factor @ factor.mT)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        factor = self._unbroadcasted_scale_tril
        return self._whole(linalg.inv(factor @ factor.mT))

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        result = self._unbroadcasted_scale_tril.square().sum(-1)
        return result.expand(tuple(self._batch_shape) + tuple(self._event_shape))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        draw = _standard_normal(shape, self.loc.dtype, self.loc.device)
        factor = self._unbroadcasted_scale_tril
        return self.loc + (factor @ draw.unsqueeze(-1)).squeeze(-1)

    def _half_log_det(self) -> Tensor:
        return self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        z = _lower_solve(self._unbroadcasted_scale_tril, value - self.loc)
        constant = self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (constant + z.square().sum(-1)) - self._half_log_det()

    def entropy(self) -> Tensor:
        result = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._half_log_det()
        return result.expand(tuple(self._batch_shape))

    def _shown(self) -> list[str]:
        return [name for name in self.arg_constraints if name in self.__dict__]


class LowRankMultivariateNormal(Distribution):
    r"""
    The normal distribution of vectors with the covariance :math:`W W^T + D`.

    Parameters
    ----------
    loc : Tensor
        The mean.
    cov_factor : Tensor
        :math:`W`, of the shape ``(*, n, rank)``.
    cov_diag : Tensor
        The diagonal of :math:`D`.
    validate_args : bool, optional

    Raises
    ------
    ValueError
        If dimensions are missing, or sizes don't fit.

    Notes
    -----
    Inverse and determinant are those of a matrix of the size of the rank (Woodbury's identity).

    Examples
    --------
    >>> import autograd_cy as torch
    >>> d = torch.distributions.LowRankMultivariateNormal(
    ...     torch.zeros(2), torch.tensor([[1.0], [0.0]]), torch.ones(2)
    ... )
    >>> d.variance
    tensor([2., 1.])
    """

    arg_constraints: ClassVar[dict[str, Any]] = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Tensor,
        cov_factor: Tensor,
        cov_diag: Tensor,
        validate_args: bool | None = None,
    ):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        event = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ValueError(
                "cov_factor must be at least two-dimensional, with optional leading batch "
                "dimensions"
            )
        if cov_factor.shape[-2:-1] != event:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {event[0]} x m")
        if cov_diag.shape[-1:] != event:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {event}")
        batch = tuple(broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1]))
        self.loc = loc.expand((*batch, -1))
        self.cov_factor = cov_factor.expand((*batch, -1, -1))
        self.cov_diag = cov_diag.expand((*batch, -1))
        super().__init__(batch, event, validate_args=validate_args)
        self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag = cov_factor, cov_diag
        small = cov_factor.mT @ (cov_factor / cov_diag.unsqueeze(-1))
        identity = eye(small.shape[-1], dtype=small.dtype, device=small.device)
        self._capacitance_tril = linalg.cholesky(small + identity)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        shape, n = tuple(batch_shape), tuple(self.event_shape)
        return self._new(
            shape,
            self._get_checked_instance(LowRankMultivariateNormal, _instance),
            loc=self.loc.expand(shape + n),
            cov_diag=self.cov_diag.expand(shape + n),
            cov_factor=self.cov_factor.expand(shape + tuple(self.cov_factor.shape[-2:])),
            _unbroadcasted_cov_factor=self._unbroadcasted_cov_factor,
            _unbroadcasted_cov_diag=self._unbroadcasted_cov_diag,
            _capacitance_tril=self._capacitance_tril,
        )

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @lazy_property
    def variance(self) -> Tensor:  # type: ignore[override]
        result = self._unbroadcasted_cov_factor.square().sum(-1) + self._unbroadcasted_cov_diag
        return result.expand(tuple(self._batch_shape) + tuple(self._event_shape))

    def _whole(self, matrix: Tensor) -> Tensor:
        n = tuple(self._event_shape)
        return matrix.expand(tuple(self._batch_shape) + n + n)

    def _covariance(self) -> Tensor:
        W = self._unbroadcasted_cov_factor
        return W @ W.mT + self._unbroadcasted_cov_diag.diag_embed()

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower triangular factor of the covariance."""
        return self._whole(linalg.cholesky(self._covariance()))

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance."""
        return self._whole(self._covariance())

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        diagonal = self._unbroadcasted_cov_diag
        scaled = self._unbroadcasted_cov_factor.mT / diagonal.unsqueeze(-2)
        half = linalg.solve_triangular(self._capacitance_tril, scaled, upper=False)
        return self._whole(diagonal.reciprocal().diag_embed() - half.mT @ half)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        few = (*tuple(shape)[:-1], self.cov_factor.shape[-1])
        along = _standard_normal(few, self.loc.dtype, self.loc.device)
        each = _standard_normal(shape, self.loc.dtype, self.loc.device)
        shift = (self._unbroadcasted_cov_factor @ along.unsqueeze(-1)).squeeze(-1)
        return self.loc + shift + self._unbroadcasted_cov_diag.sqrt() * each

    def _half_log_det(self) -> Tensor:
        small = self._capacitance_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        return small + 0.5 * self._unbroadcasted_cov_diag.log().sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        off = value - self.loc
        scaled = off / self._unbroadcasted_cov_diag
        inner = (self._unbroadcasted_cov_factor.mT @ scaled.unsqueeze(-1)).squeeze(-1)
        along = _lower_solve(self._capacitance_tril, inner).square().sum(-1)
        constant = self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (constant + (off * scaled).sum(-1) - along) - self._half_log_det()

    def entropy(self) -> Tensor:
        result = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._half_log_det()
        return result.expand(tuple(self._batch_shape))
