"""Distributions of matrices."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from autograd_cy import Tensor, arange, broadcast_shapes, finfo, linalg, mvlgamma

from . import constraints
from .distribution import _OfParameters
from .exp_family import ExponentialFamily
from .gamma import Beta, Chi2
from .utils import _standard_normal, lazy_property

__all__ = ["LKJCholesky", "Wishart"]


class LKJCholesky(_OfParameters):
    r"""
    The distribution of Cholesky factors of correlation matrices with density
    :math:`\propto |\Sigma|^{\eta - 1}`.

    Parameters
    ----------
    dim : int
        The size of the matrices, at least 2.
    concentration : Tensor or float, optional
        :math:`\eta`; 1 is the uniform distribution of the matrices.
    validate_args : bool, optional

    Raises
    ------
    ValueError
        If `dim` is less than 2.

    Notes
    -----
    A row is a vector in a ball, of which the square of the length has a beta distribution: the
    onion of D. Lewandowski, D. Kurowicka, H. Joe, "Generating random correlation matrices based on
    vines and extended onion method" (2009).

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.LKJCholesky(2, 1.0).log_prob(torch.eye(2))
    tensor(-0.6931)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {"concentration": constraints.positive}
    support = constraints.corr_cholesky
    _parameters = ("concentration",)
    concentration: Tensor

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None):
        if dim < 2:
            raise ValueError(
                f"Expected dim to be an integer greater than or equal to 2. Found: {dim}."
            )
        self.dim = dim
        super().__init__(concentration, validate_args=validate_args)
        self._event_shape = type(self._batch_shape)((dim, dim))

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        instance = self._get_checked_instance(LKJCholesky, _instance)
        concentration = self.concentration.expand(batch_shape)
        return self._new(batch_shape, instance, dim=self.dim, concentration=concentration)

    def _balls(self) -> tuple[Tensor, Tensor]:
        """Sizes of the rows without the diagonal, and the second parameter of the beta numbers."""
        sizes = arange(
            1, self.dim, dtype=self.concentration.dtype, device=self.concentration.device
        )
        return sizes, self.concentration.unsqueeze(-1) + (self.dim - 1 - sizes) / 2

    def sample(self, sample_shape: Any = ()) -> Tensor:
        sizes, rest = self._balls()
        squares = Beta(sizes / 2, rest, validate_args=False).sample(sample_shape).unsqueeze(-1)
        shape = (*squares.shape[:-1], self.dim - 1)
        direction = _standard_normal(shape, squares.dtype, squares.device).tril()
        direction = direction / linalg.vector_norm(direction, dim=-1, keepdim=True)
        factor = squares.new_zeros(self._extended_shape(sample_shape))
        factor[..., 1:, :-1] = squares.sqrt() * direction
        diagonal = (1 - factor.square().sum(-1)).clamp(min=finfo(factor.dtype).tiny).sqrt()
        return factor + diagonal.diag_embed()

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        sizes, rest = self._balls()
        logs = value.diagonal(dim1=-2, dim2=-1)[..., 1:].log()
        volume = (rest + sizes / 2).lgamma() - rest.lgamma() - sizes / 2 * math.log(math.pi)
        return (2 * (rest - 1) * logs + volume).sum(-1)


class Wishart(ExponentialFamily):
    r"""
    Wishart's distribution of sums of `df` outer squares of normal vectors.

    Parameters
    ----------
    df : Tensor or float
        The degrees of freedom, more than the size of the matrices less 1.
    covariance_matrix : Tensor, optional
        That of the vectors.
    precision_matrix : Tensor, optional
        The inverse of it.
    scale_tril : Tensor, optional
        Its lower triangular factor.
    validate_args : bool, optional

    Raises
    ------
    ValueError
        If not exactly one matrix is given, or `df` is too small.

    Notes
    -----
    Samples are products of triangular matrices with normal numbers below the diagonal and roots of
    chi-squared ones on it (M. S. Bartlett, 1933).

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.Wishart(3.0, torch.eye(2)).mean
    tensor([[3., 0.],
            [0., 3.]])
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self,
        df: Any,
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
        df = df if isinstance(df, Tensor) else matrix.new_full((), df)
        batch = tuple(broadcast_shapes(matrix.shape[:-2], df.shape))
        n = matrix.shape[-1]
        self.df = df.expand(batch)
        if not (self.df > n - 1).all():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {n - 1}.")
        setattr(self, name, matrix.expand((*batch, -1, -1)))
        super().__init__(batch, (n, n), validate_args=validate_args)
        if scale_tril is not None:
            self._unbroadcasted_scale_tril = scale_tril
        elif covariance_matrix is not None:
            self._unbroadcasted_scale_tril = linalg.cholesky(matrix)
        else:
            self._unbroadcasted_scale_tril = linalg.cholesky(linalg.inv(matrix))

    @property
    def arg_constraints(self) -> dict[str, Any]:
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self._event_shape[-1] - 1),
        }

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        shape = tuple(batch_shape)
        values = {
            name: self.__dict__[name].expand(shape + tuple(self._event_shape))
            for name in ("covariance_matrix", "scale_tril", "precision_matrix")
            if name in self.__dict__
        }
        return self._new(
            shape,
            self._get_checked_instance(Wishart, _instance),
            df=self.df.expand(shape),
            _unbroadcasted_scale_tril=self._unbroadcasted_scale_tril,
            **values,
        )

    def _whole(self, matrix: Tensor) -> Tensor:
        return matrix.expand(tuple(self._batch_shape) + tuple(self._event_shape))

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower triangular factor of the covariance."""
        return self._whole(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance of the vectors."""
        factor = self._unbroadcasted_scale_tril
        return self._whole(factor @ factor.mT)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        factor = self._unbroadcasted_scale_tril
        return self._whole(linalg.inv(factor @ factor.mT))

    @property
    def mean(self) -> Tensor:
        return self.df[..., None, None] * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        above = self.df - self._event_shape[-1] - 1
        above = above.masked_fill(above <= 0, float("nan"))
        return above[..., None, None] * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        V = self.covariance_matrix
        diagonal = V.diagonal(dim1=-2, dim2=-1)
        products = diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2)
        return self.df[..., None, None] * (V.square() + products)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape, n = self._extended_shape(sample_shape), self._event_shape[-1]
        df = self.df.unsqueeze(-1) - arange(n, dtype=self.df.dtype, device=self.df.device)
        roots = Chi2(df, validate_args=False).rsample(sample_shape).sqrt()
        below = _standard_normal(shape, self.df.dtype, self.df.device).tril(-1)
        factor = self._unbroadcasted_scale_tril @ (below + roots.diag_embed())
        return factor @ factor.mT

    def _log_det(self) -> Tensor:
        """The logarithm of the determinant of the covariance."""
        return 2 * self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        df, n = self.df, self._event_shape[-1]
        factor = linalg.cholesky(value)
        half_log_det = factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        # The trace of the inverse of the covariance times the value.
        inner = linalg.solve_triangular(self._unbroadcasted_scale_tril, factor, upper=False)
        trace = inner.square().sum((-2, -1))
        result = (df - n - 1) * half_log_det - 0.5 * trace
        constant = 0.5 * df * (n * math.log(2) + self._log_det()) + mvlgamma(0.5 * df, n)
        return result - constant

    def entropy(self) -> Tensor:
        df, n = self.df, self._event_shape[-1]
        halves = 0.5 * (df.unsqueeze(-1) - arange(n, dtype=df.dtype, device=df.device))
        result = 0.5 * (n + 1) * (self._log_det() + n * math.log(2)) + mvlgamma(0.5 * df, n)
        return result - 0.5 * (df - n - 1) * halves.digamma().sum(-1) + 0.5 * n * df

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        n = self._event_shape[-1]
        return -self.precision_matrix / 2, (self.df - n - 1) / 2

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:
        n = self._event_shape[-1]
        half = y + (n + 1) / 2
        return half * (n * math.log(2) - (-2 * x).logdet()) + mvlgamma(half, n)
