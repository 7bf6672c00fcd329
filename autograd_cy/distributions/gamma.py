"""Distributions of positive numbers, or of ratios, that are drawn by gamma numbers."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from autograd_cy import (
    Tensor,
    finfo,
    inf,
    nan,
    special,
    stack,
    where,
)
from autograd_cy.nn.functional import one_hot
from autograd_cy.special._gamma_draws import _sample_dirichlet, _standard_gamma

from . import constraints
from .distribution import _OfParameters
from .exp_family import ExponentialFamily
from .transformed import TransformedDistribution
from .transforms import PowerTransform
from .utils import _standard_normal, broadcast_all

__all__ = [
    "Beta",
    "Chi2",
    "Dirichlet",
    "FisherSnedecor",
    "Gamma",
    "InverseGamma",
    "StudentT",
]


def _at_least_tiny(value: Tensor) -> Tensor:
    """Raise numbers that have underflowed, without a trace in the graph."""
    value.detach().clamp_(min=finfo(value.dtype).tiny)
    return value


class Gamma(_OfParameters, ExponentialFamily):
    r"""
    The gamma distribution, with density
    :math:`\beta^\alpha x^{\alpha - 1} e^{-\beta x} / \Gamma(\alpha)`.

    Parameters
    ----------
    concentration, rate : Tensor or float
        :math:`\alpha` and :math:`\beta`.
    validate_args : bool, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.Gamma(3.0, 2.0).mean
    tensor(1.5000)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {
        "concentration": constraints.positive,
        "rate": constraints.positive,
    }
    support = constraints.nonnegative
    has_rsample = True
    _parameters = ("concentration", "rate")
    _mean_carrier_measure = 0
    concentration: Tensor
    rate: Tensor

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None):
        super().__init__(concentration, rate, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.concentration / self.rate.square()

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return _at_least_tiny(_standard_gamma(self.concentration.expand(shape)) / self.rate)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        a, rate = self.concentration, self.rate
        (value, _) = broadcast_all(value, rate)
        return special.xlogy(a, rate) + special.xlogy(a - 1, value) - rate * value - a.lgamma()

    def cdf(self, value: Tensor) -> Tensor:
        self._check(value)
        return special.gammainc(self.concentration, self.rate * value)

    def entropy(self) -> Tensor:
        a = self.concentration
        return a - self.rate.log() + a.lgamma() + (1 - a) * a.digamma()

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:
        return (x + 1).lgamma() - (x + 1) * (-y).log()


class Chi2(Gamma):
    r"""
    The distribution of sums of squares of `df` standard normal numbers.

    Parameters
    ----------
    df : Tensor or float
        The degrees of freedom.
    validate_args : bool, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.Chi2(3.0).variance
    tensor(6.)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {"df": constraints.positive}

    def __init__(self, df: Any, validate_args: bool | None = None):
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self.concentration * 2


class InverseGamma(TransformedDistribution):
    r"""
    The distribution of reciprocals of gamma numbers.

    Parameters
    ----------
    concentration, rate : Tensor or float
        Those of the gamma numbers.
    validate_args : bool, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.InverseGamma(3.0, 2.0).mean
    tensor(1.)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {
        "concentration": constraints.positive,
        "rate": constraints.positive,
    }
    support = constraints.positive
    has_rsample = True
    base_dist: Gamma

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None):
        base = Gamma(concentration, rate, validate_args=validate_args)
        power = PowerTransform(-base.rate.new_ones(()))
        super().__init__(base, power, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return super().expand(batch_shape, self._get_checked_instance(InverseGamma, _instance))

    @property
    def concentration(self) -> Tensor:
        """The concentration of the gamma numbers."""
        return self.base_dist.concentration

    @property
    def rate(self) -> Tensor:
        """The rate of the gamma numbers."""
        return self.base_dist.rate

    @property
    def mean(self) -> Tensor:
        a = self.concentration
        return where(a > 1, self.rate / (a - 1), inf)

    @property
    def mode(self) -> Tensor:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        a = self.concentration
        return where(a > 2, self.rate.square() / ((a - 1).square() * (a - 2)), inf)

    def entropy(self) -> Tensor:
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()


class Dirichlet(ExponentialFamily):
    r"""
    The Dirichlet distribution of vectors of positive numbers with the sum 1.

    Parameters
    ----------
    concentration : Tensor
        In the last dimension, one for each number.
    validate_args : bool, optional

    Raises
    ------
    ValueError
        If there is no dimension.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.Dirichlet(torch.tensor([1.0, 3.0])).mean
    tensor([0.2500, 0.7500])
    """

    arg_constraints: ClassVar[dict[str, Any]] = {
        "concentration": constraints.independent(constraints.positive, 1)
    }
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Tensor, validate_args: bool | None = None):
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        shape = concentration.shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        shape = tuple(batch_shape) + tuple(self._event_shape)
        return self._new(
            batch_shape,
            self._get_checked_instance(Dirichlet, _instance),
            concentration=self.concentration.expand(shape),
        )

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Tensor:
        above = (self.concentration - 1).clamp(min=0)
        result = above / above.sum(-1, True)
        corner = one_hot(above.argmax(-1), above.shape[-1]).to(result.dtype)
        return where((self.concentration < 1).all(-1, keepdim=True), corner, result)

    @property
    def variance(self) -> Tensor:
        total = self.concentration.sum(-1, True)
        rest = self.concentration * (total - self.concentration)
        return rest / (total.square() * (total + 1))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return _sample_dirichlet(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        a = self.concentration
        return special.xlogy(a - 1, value).sum(-1) + a.sum(-1).lgamma() - a.lgamma().sum(-1)

    def entropy(self) -> Tensor:
        a, k = self.concentration, self.concentration.size(-1)
        total = a.sum(-1)
        result = a.lgamma().sum(-1) - total.lgamma() - (k - total) * total.digamma()
        return result - ((a - 1) * a.digamma()).sum(-1)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.concentration,)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return x.lgamma().sum(-1) - x.sum(-1).lgamma()


class Beta(ExponentialFamily):
    r"""
    The beta distribution, with density
    :math:`x^{\alpha - 1} (1 - x)^{\beta - 1} / B(\alpha, \beta)`.

    Parameters
    ----------
    concentration1, concentration0 : Tensor or float
        :math:`\alpha` and :math:`\beta`.
    validate_args : bool, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.Beta(1.0, 3.0).mean
    tensor(0.2500)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None):
        both = stack(broadcast_all(concentration1, concentration0), -1)
        self._dirichlet = Dirichlet(both, validate_args=validate_args)
        super().__init__(self._dirichlet._batch_shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        instance = self._get_checked_instance(Beta, _instance)
        return self._new(batch_shape, instance, _dirichlet=self._dirichlet.expand(batch_shape))

    @property
    def concentration1(self) -> Tensor:
        """The exponent of the number, plus 1."""
        return self._dirichlet.concentration[..., 0]

    @property
    def concentration0(self) -> Tensor:
        """The exponent of 1 less the number, plus 1."""
        return self._dirichlet.concentration[..., 1]

    @property
    def mean(self) -> Tensor:
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> Tensor:
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self) -> Tensor:
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.square() * (total + 1))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        return self._dirichlet.log_prob(stack([value, 1 - value], -1))

    def entropy(self) -> Tensor:
        return self._dirichlet.entropy()

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return self.concentration1, self.concentration0

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:
        return x.lgamma() + y.lgamma() - (x + y).lgamma()


class StudentT(_OfParameters):
    r"""
    Student's distribution of the ratio of a normal number and a root of a mean of squares.

    Parameters
    ----------
    df : Tensor or float
        The degrees of freedom.
    loc, scale : Tensor or float, optional
    validate_args : bool, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.StudentT(3.0).variance
    tensor(3.)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real
    has_rsample = True
    _parameters = ("df", "loc", "scale")
    df: Tensor
    loc: Tensor
    scale: Tensor

    def __init__(
        self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None
    ):
        super().__init__(df, loc, scale, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return where(self.df > 1, self.loc, nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        result = where(self.df > 2, self.scale.square() * self.df / (self.df - 2), inf)
        return where(self.df > 1, result, nan)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        draw = _standard_normal(shape, self.df.dtype, self.df.device)
        squares = Chi2(self.df, validate_args=False).rsample(sample_shape)
        return self.loc + self.scale * draw * (squares / self.df).rsqrt()

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        y, half = (value - self.loc) / self.scale, 0.5 * self.df
        constant = self.scale.log() + 0.5 * self.df.log() + 0.5 * math.log(math.pi)
        constant = constant + half.lgamma() - (half + 0.5).lgamma()
        return -(half + 0.5) * (y.square() / self.df).log1p() - constant

    def entropy(self) -> Tensor:
        half = 0.5 * self.df
        beta = half.lgamma() + math.lgamma(0.5) - (half + 0.5).lgamma()
        spread = (half + 0.5) * ((half + 0.5).digamma() - half.digamma())
        return self.scale.log() + spread + 0.5 * self.df.log() + beta


class FisherSnedecor(_OfParameters):
    r"""
    The F distribution of the ratio of two means of squares.

    Parameters
    ----------
    df1, df2 : Tensor or float
        The degrees of freedom of numerator and denominator.
    validate_args : bool, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.FisherSnedecor(2.0, 4.0).mean
    tensor(2.)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {
        "df1": constraints.positive,
        "df2": constraints.positive,
    }
    support = constraints.positive
    has_rsample = True
    _parameters = ("df1", "df2")
    df1: Tensor
    df2: Tensor

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None):
        super().__init__(df1, df2, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return where(self.df2 > 2, self.df2 / (self.df2 - 2), nan)

    @property
    def mode(self) -> Tensor:
        result = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return where(self.df1 > 2, result, nan)

    @property
    def variance(self) -> Tensor:
        m, n = self.df1, self.df2
        result = 2 * n.square() * (m + n - 2) / (m * (n - 2).square() * (n - 4))
        return where(n > 4, result, nan)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        def mean_of_squares(df: Tensor) -> Tensor:
            return Gamma(0.5 * df, 0.5 * df, validate_args=False).rsample(sample_shape)

        above, below = mean_of_squares(self.df1), mean_of_squares(self.df2)
        return _at_least_tiny(above / _at_least_tiny(below))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        m, n, ratio = 0.5 * self.df1, 0.5 * self.df2, self.df1 / self.df2
        constant = (m + n).lgamma() - m.lgamma() - n.lgamma() + m * ratio.log()
        return constant + (m - 1) * value.log() - (m + n) * (ratio * value).log1p()
