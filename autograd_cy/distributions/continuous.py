"""Distributions of real numbers."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from autograd_cy import (
    Tensor,
    erf,
    finfo,
    inf,
    log1p,
    nan,
    no_grad,
    normal,
    pi,
    special,
    tan,
    where,
    zeros_like,
)
from autograd_cy import rand as _rand

from . import constraints
from .distribution import _OfParameters
from .exp_family import ExponentialFamily
from .transformed import TransformedDistribution
from .transforms import ExpTransform
from .utils import _standard_normal, euler_constant

__all__ = [
    "Cauchy",
    "Exponential",
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "Laplace",
    "LogNormal",
    "Normal",
    "Uniform",
]


class _OfLocationAndScale(_OfParameters):
    """A distribution of real numbers with a location, its mean and mode by default, and a scale."""

    arg_constraints: ClassVar[dict[str, Any]] = {
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real
    has_rsample = True
    _parameters = ("loc", "scale")
    loc: Tensor
    scale: Tensor

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc


class Normal(_OfLocationAndScale, ExponentialFamily):
    r"""
    The normal distribution, with density :math:`e^{-(x-\mu)^2/2\sigma^2} / \sqrt{2\pi}\sigma`.

    Parameters
    ----------
    loc : Tensor or float
        The mean.
    scale : Tensor or float
        The standard deviation.
    validate_args : bool, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.Normal(0.0, 1.0).log_prob(torch.tensor(0.0))
    tensor(-0.9189)
    """

    _mean_carrier_measure = 0

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None):
        super().__init__(loc, scale, validate_args=validate_args)

    @property
    def stddev(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev.square()

    def sample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.loc + _standard_normal(shape, self.loc.dtype, self.loc.device) * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        z = (value - self.loc) / self.scale
        return -z.square() / 2 - self.scale.log() - math.log(math.sqrt(2 * math.pi))

    def cdf(self, value: Tensor) -> Tensor:
        self._check(value)
        return 0.5 * (1 + erf((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)))

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc + self.scale * special.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Tensor:
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        square = self.scale.square()
        return self.loc / square, -0.5 / square

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:
        return -0.25 * x.square() / y + 0.5 * (-math.pi / y).log()


class Uniform(_OfParameters):
    r"""
    The uniform distribution of an interval.

    Parameters
    ----------
    low, high : Tensor or float
    validate_args : bool, optional

    Raises
    ------
    ValueError
        If `low` is not less than `high`.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.Uniform(0.0, 4.0).entropy()
    tensor(1.3863)
    """

    has_rsample = True
    _parameters = ("low", "high")
    low: Tensor
    high: Tensor

    @property
    def arg_constraints(self) -> dict[str, Any]:
        return {
            "low": constraints.less_than(self.high),
            "high": constraints.greater_than(self.low),
        }

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None):
        super().__init__(low, high, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Tensor:
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Tensor:
        return nan * self.high

    @property
    def stddev(self) -> Tensor:
        return (self.high - self.low) / math.sqrt(12)

    @property
    def variance(self) -> Tensor:
        return (self.high - self.low).square() / 12

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        draw = _rand(shape, dtype=self.low.dtype, device=self.low.device)
        return self.low + draw * (self.high - self.low)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        inside = (self.low <= value) & (value < self.high)
        return inside.type_as(self.low).log() - (self.high - self.low).log()

    def cdf(self, value: Tensor) -> Tensor:
        self._check(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Tensor) -> Tensor:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Tensor:
        return (self.high - self.low).log()


class Exponential(_OfParameters, ExponentialFamily):
    r"""
    The exponential distribution, with density :math:`\lambda e^{-\lambda x}`.

    Parameters
    ----------
    rate : Tensor or float
    validate_args : bool, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.Exponential(2.0).mean
    tensor(0.5000)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _parameters = ("rate",)
    _mean_carrier_measure = 0
    rate: Tensor

    def __init__(self, rate: Any, validate_args: bool | None = None):
        super().__init__(rate, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.rate.reciprocal()

    @property
    def mode(self) -> Tensor:
        return zeros_like(self.rate)

    @property
    def stddev(self) -> Tensor:
        return self.rate.reciprocal()

    @property
    def variance(self) -> Tensor:
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.rate.new_empty(shape).exponential_() / self.rate

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: Tensor) -> Tensor:
        self._check(value)
        return 1 - (-self.rate * value).exp()

    def icdf(self, value: Tensor) -> Tensor:
        return -log1p(-value) / self.rate

    def entropy(self) -> Tensor:
        return 1.0 - self.rate.log()

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (-self.rate,)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return -(-x).log()


class Laplace(_OfLocationAndScale):
    r"""
    The Laplace distribution, with density :math:`e^{-|x-\mu|/b} / 2b`.

    Parameters
    ----------
    loc, scale : Tensor or float
    validate_args : bool, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.Laplace(0.0, 1.0).log_prob(torch.tensor(0.0))
    tensor(-0.6931)
    """

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None):
        super().__init__(loc, scale, validate_args=validate_args)

    @property
    def variance(self) -> Tensor:
        return 2 * self.scale.square()

    @property
    def stddev(self) -> Tensor:
        return math.sqrt(2) * self.scale

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        limits = finfo(self.loc.dtype)
        u = self.loc.new_empty(self._extended_shape(sample_shape)).uniform_(limits.eps - 1, 1)
        return self.loc - self.scale * u.sign() * (-u.abs().clamp(min=limits.tiny)).log1p()

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        return -(2 * self.scale).log() - (value - self.loc).abs() / self.scale

    def cdf(self, value: Tensor) -> Tensor:
        self._check(value)
        x = value - self.loc
        return 0.5 - 0.5 * x.sign() * (-x.abs() / self.scale).expm1()

    def icdf(self, value: Tensor) -> Tensor:
        x = value - 0.5
        return self.loc - self.scale * x.sign() * (-2 * x.abs()).log1p()

    def entropy(self) -> Tensor:
        return 1 + (2 * self.scale).log()


class Cauchy(_OfLocationAndScale):
    r"""
    The Cauchy distribution, with density :math:`1 / \pi\gamma(1 + ((x - x_0)/\gamma)^2)`.

    Parameters
    ----------
    loc, scale : Tensor or float
        Median and half width at half maximum.
    validate_args : bool, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.Cauchy(0.0, 1.0).cdf(torch.tensor(0.0))
    tensor(0.5000)
    """

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None):
        super().__init__(loc, scale, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc.new_full(self._extended_shape(), nan)

    @property
    def variance(self) -> Tensor:
        return self.loc.new_full(self._extended_shape(), inf)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        u = self.loc.new_empty(self._extended_shape(sample_shape)).uniform_()
        return self.loc + (pi * (u - 0.5)).tan() * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        z = (value - self.loc) / self.scale
        return -math.log(math.pi) - self.scale.log() - z.square().log1p()

    def cdf(self, value: Tensor) -> Tensor:
        self._check(value)
        return ((value - self.loc) / self.scale).atan() / math.pi + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        return tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self) -> Tensor:
        return math.log(4 * math.pi) + self.scale.log()


class Gumbel(_OfLocationAndScale):
    r"""
    The Gumbel distribution, with :math:`P(X \le x) = e^{-e^{-(x-\mu)/\beta}}`.

    Parameters
    ----------
    loc, scale : Tensor or float
    validate_args : bool, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.Gumbel(0.0, 1.0).log_prob(torch.tensor(0.0))
    tensor(-1.)
    """

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None):
        super().__init__(loc, scale, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * euler_constant

    @property
    def stddev(self) -> Tensor:
        return math.pi / math.sqrt(6) * self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev.square()

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        limits = finfo(self.loc.dtype)
        u = self.loc.new_empty(self._extended_shape(sample_shape))
        u = u.uniform_(limits.tiny, 1 - limits.eps)
        return self.loc - self.scale * (-u.log()).log()

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        y = (self.loc - value) / self.scale
        return y - y.exp() - self.scale.log()

    def cdf(self, value: Tensor) -> Tensor:
        return (-((self.loc - value) / self.scale).exp()).exp()

    def icdf(self, value: Tensor) -> Tensor:
        if not isinstance(value, Tensor):
            value = self.loc.new_full((), value)
        return self.loc - self.scale * (-value.log()).log()

    def entropy(self) -> Tensor:
        return self.scale.log() + (1 + euler_constant)


class _Half(_OfParameters):
    """The absolute values of a symmetric distribution."""

    arg_constraints: ClassVar[dict[str, Any]] = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _parameters = ("scale",)
    _whole: Any
    scale: Tensor

    @property
    def base_dist(self) -> Any:
        """The symmetric distribution."""
        return self._whole(0.0, self.scale, validate_args=False)

    @property
    def mode(self) -> Tensor:
        return zeros_like(self.scale)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self.base_dist.rsample(sample_shape).abs()

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        result = self.base_dist.log_prob(value) + math.log(2)
        return where(value >= 0, result, -inf)

    def cdf(self, value: Tensor) -> Tensor:
        self._check(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, value: Tensor) -> Tensor:
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() - math.log(2)

    def _shown(self) -> list[str]:
        return []


class HalfNormal(_Half):
    r"""
    The distribution of absolute values of normal numbers with mean 0.

    Parameters
    ----------
    scale : Tensor or float
        The standard deviation of the normal numbers.
    validate_args : bool, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.HalfNormal(1.0).mean
    tensor(0.7979)
    """

    _whole = Normal

    def __init__(self, scale: Any, validate_args: bool | None = None):
        super().__init__(scale, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Tensor:
        return self.scale.square() * (1 - 2 / math.pi)


class HalfCauchy(_Half):
    r"""
    The distribution of absolute values of Cauchy's distribution with median 0.

    Parameters
    ----------
    scale : Tensor or float
    validate_args : bool, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.HalfCauchy(1.0).cdf(torch.tensor(1.0))
    tensor(0.5000)
    """

    _whole = Cauchy

    def __init__(self, scale: Any, validate_args: bool | None = None):
        super().__init__(scale, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.scale.new_full(self._extended_shape(), inf)

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance


class LogNormal(TransformedDistribution):
    r"""
    The distribution of the exponentials of normal numbers.

    Parameters
    ----------
    loc, scale : Tensor or float
        Mean and standard deviation of the logarithms.
    validate_args : bool, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.LogNormal(0.0, 1.0).mean
    tensor(1.6487)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.positive
    has_rsample = True
    base_dist: Normal

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None):
        base = Normal(loc, scale, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return super().expand(batch_shape, self._get_checked_instance(LogNormal, _instance))

    @property
    def loc(self) -> Tensor:
        """The mean of the logarithms."""
        return self.base_dist.loc

    @property
    def scale(self) -> Tensor:
        """The standard deviation of the logarithms."""
        return self.base_dist.scale

    @property
    def mean(self) -> Tensor:
        return (self.loc + self.scale.square() / 2).exp()

    @property
    def mode(self) -> Tensor:
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self) -> Tensor:
        square = self.scale.square()
        return square.expm1() * (2 * self.loc + square).exp()

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() + self.loc
