"""Distributions of numbers in an interval or above a bound, and relaxed ones of categories."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from autograd_cy import Tensor, finfo, inf, log1p, nan, where
from autograd_cy import rand as _rand
from autograd_cy.nn.functional import binary_cross_entropy_with_logits, softplus

from . import constraints
from .continuous import Exponential, Normal, Uniform
from .discrete import Categorical, _OfProbability
from .distribution import Distribution, _OfParameters
from .exp_family import ExponentialFamily
from .transformed import TransformedDistribution
from .transforms import (
    AffineTransform,
    ExpTransform,
    PowerTransform,
    SigmoidTransform,
    StickBreakingTransform,
)
from .utils import broadcast_all, clamp_probs, euler_constant, probs_to_logits

__all__ = [
    "ContinuousBernoulli",
    "GeneralizedPareto",
    "Kumaraswamy",
    "LogisticNormal",
    "Pareto",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
    "Weibull",
]


class Pareto(TransformedDistribution):
    r"""
    Pareto's distribution, with :math:`P(X > x) = (s / x)^\alpha`.

    Parameters
    ----------
    scale, alpha : Tensor or float
        The least value, and the exponent.
    validate_args : bool, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.Pareto(1.0, 3.0).mean
    tensor(1.5000)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {
        "alpha": constraints.positive,
        "scale": constraints.positive,
    }

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None):
        self.scale, self.alpha = broadcast_all(scale, alpha)
        base = Exponential(self.alpha, validate_args=validate_args)
        transforms = [ExpTransform(), AffineTransform(0, self.scale)]
        super().__init__(base, transforms, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        result = self._get_checked_instance(Pareto, _instance)
        result.scale, result.alpha = self.scale.expand(batch_shape), self.alpha.expand(batch_shape)
        return super().expand(batch_shape, result)

    @property
    def mean(self) -> Tensor:
        a = self.alpha.clamp(min=1)
        return a * self.scale / (a - 1)

    @property
    def mode(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        a = self.alpha.clamp(min=2)
        return self.scale.square() * a / ((a - 1).square() * (a - 2))

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        return constraints.greater_than_eq(self.scale)

    def entropy(self) -> Tensor:
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())


class Weibull(TransformedDistribution):
    r"""
    Weibull's distribution, with :math:`P(X > x) = e^{-(x / \lambda)^k}`.

    Parameters
    ----------
    scale, concentration : Tensor or float
        :math:`\lambda` and :math:`k`.
    validate_args : bool, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.Weibull(2.0, 1.0).mean
    tensor(2.)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {
        "scale": constraints.positive,
        "concentration": constraints.positive,
    }
    support = constraints.positive

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None):
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(self.scale.new_ones(self.scale.shape), validate_args=validate_args)
        transforms = [
            PowerTransform(exponent=self.concentration_reciprocal),
            AffineTransform(0, self.scale),
        ]
        super().__init__(base, transforms, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        result = self._get_checked_instance(Weibull, _instance)
        for name in ("scale", "concentration", "concentration_reciprocal"):
            setattr(result, name, getattr(self, name).expand(batch_shape))
        return super().expand(batch_shape, result)

    def _log_moment(self, n: int) -> Tensor:
        return (1 + n * self.concentration_reciprocal).lgamma()

    @property
    def mean(self) -> Tensor:
        return self.scale * self._log_moment(1).exp()

    @property
    def mode(self) -> Tensor:
        k = self.concentration
        return self.scale * ((k - 1) / k) ** self.concentration_reciprocal

    @property
    def variance(self) -> Tensor:
        spread = self._log_moment(2).exp() - (2 * self._log_moment(1)).exp()
        return self.scale.square() * spread

    def entropy(self) -> Tensor:
        euler = euler_constant * (1 - self.concentration_reciprocal)
        return euler + (self.scale * self.concentration_reciprocal).log() + 1


class Kumaraswamy(TransformedDistribution):
    r"""
    Kumaraswamy's distribution, with :math:`P(X > x) = (1 - x^a)^b`.

    Parameters
    ----------
    concentration1, concentration0 : Tensor or float
        :math:`a` and :math:`b`.
    validate_args : bool, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.Kumaraswamy(1.0, 3.0).mean
    tensor(0.2500)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None):
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        one = self.concentration0.new_ones(self.concentration0.shape)
        base = Uniform(0 * one, one, validate_args=validate_args)
        transforms = [
            PowerTransform(exponent=self.concentration0.reciprocal()),
            AffineTransform(loc=1.0, scale=-1.0),
            PowerTransform(exponent=self.concentration1.reciprocal()),
        ]
        super().__init__(base, transforms, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        result = self._get_checked_instance(Kumaraswamy, _instance)
        result.concentration1 = self.concentration1.expand(batch_shape)
        result.concentration0 = self.concentration0.expand(batch_shape)
        return super().expand(batch_shape, result)

    def _moment(self, n: int) -> Tensor:
        a, b = self.concentration1, self.concentration0
        part = 1 + n / a
        return (b.log() + part.lgamma() + b.lgamma() - (part + b).lgamma()).exp()

    @property
    def mean(self) -> Tensor:
        return self._moment(1)

    @property
    def mode(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        mode_inside = ((a - 1) / (a * b - 1)) ** a.reciprocal()
        return where((a < 1) | (b < 1), nan, mode_inside)

    @property
    def variance(self) -> Tensor:
        return self._moment(2) - self._moment(1).square()

    def entropy(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        harmonic = (b + 1).digamma() + euler_constant
        return (1 - b.reciprocal()) + (1 - a.reciprocal()) * harmonic - a.log() - b.log()


class LogisticNormal(TransformedDistribution):
    r"""
    The distribution of vectors of the simplex that break a stick by normal numbers.

    Parameters
    ----------
    loc, scale : Tensor or float
        Mean and standard deviation of the normal numbers.
    validate_args : bool, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.LogisticNormal(torch.zeros(2), torch.ones(2)).event_shape
    autograd_cy.Size([3])
    """

    arg_constraints: ClassVar[dict[str, Any]] = {
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.simplex
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None):
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return super().expand(batch_shape, self._get_checked_instance(LogisticNormal, _instance))

    @property
    def loc(self) -> Tensor:
        """The mean of the normal numbers."""
        return self.base_dist.base_dist.loc

    @property
    def scale(self) -> Tensor:
        """The standard deviation of the normal numbers."""
        return self.base_dist.base_dist.scale


class ContinuousBernoulli(_OfProbability, ExponentialFamily):
    r"""
    The distribution of the unit interval with density :math:`C p^x (1 - p)^{1 - x}`.

    Parameters
    ----------
    probs : Tensor or float, optional
    logits : Tensor or float, optional
        The log-odds, in place of `probs`.
    lims : tuple of float, optional
        Between these `probs` count as near 1/2, where series are used.
    validate_args : bool, optional

    Raises
    ------
    ValueError
        If both or neither are given.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.ContinuousBernoulli(torch.tensor(0.5)).mean
    tensor(0.5000)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ):
        self._lims = lims
        super().__init__(probs, logits, validate_args)
        if "probs" in self.__dict__:
            self._param = self.probs = clamp_probs(self.probs)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        result = super().expand(batch_shape, _instance)
        result._lims = self._lims
        return result

    def _away(self) -> tuple[Tensor, Tensor]:
        """Tell where formulas are stable, and replace the probabilities elsewhere."""
        away = (self.probs <= self._lims[0]) | (self.probs > self._lims[1])
        return away, where(away, self.probs, self._lims[0])

    def _cont_bern_log_norm(self) -> Tensor:
        away, p = self._away()
        result = (2 * (1 - 2 * p).abs().atanh()).log()
        result = result - (1 - 2 * p).abs().log()
        x = (self.probs - 0.5).square()
        return where(away, result, math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x)

    @property
    def mean(self) -> Tensor:
        away, p = self._away()
        result = p / (2 * p - 1) + 1 / (2 * (1 - 2 * p).atanh())
        x = self.probs - 0.5
        return where(away, result, 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x.square()) * x)

    @property
    def stddev(self) -> Tensor:
        return self.variance.sqrt()

    @property
    def variance(self) -> Tensor:
        away, p = self._away()
        result = p * (p - 1) / (1 - 2 * p).square() + 1 / (2 * (1 - 2 * p).atanh()).square()
        x = (self.probs - 0.5).square()
        return where(away, result, 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.icdf(_rand(shape, dtype=self.probs.dtype, device=self.probs.device))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        logits, value = broadcast_all(self.logits, value)
        cross = binary_cross_entropy_with_logits(logits, value, reduction="none")
        return self._cont_bern_log_norm() - cross

    def cdf(self, value: Tensor) -> Tensor:
        self._check(value)
        away, p = self._away()
        inner = p.pow(value) * (1 - p).pow(1 - value) + p - 1
        result = where(away, inner / (2 * p - 1), value)
        return where(value <= 0, 0.0, where(value >= 1, 1.0, result))

    def icdf(self, value: Tensor) -> Tensor:
        away, p = self._away()
        inner = (-p + value * (2 * p - 1)).log1p() - (-p).log1p()
        return where(away, inner / (p.log() - (-p).log1p()), value)

    def entropy(self) -> Tensor:
        zero, one = (-self.probs).log1p(), self.probs.log()
        return self.mean * (zero - one) - self._cont_bern_log_norm() - zero

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.logits,)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        near = (x <= probs_to_logits(x.new_tensor(self._lims[1]), True)) & (
            x > probs_to_logits(x.new_tensor(self._lims[0]), True)
        )
        y = where(near, 1.0, x)
        result = (y.expm1() / y).log()
        return where(near, x / 2 + x.square() / 24 - x.square().square() / 2880, result)


class GeneralizedPareto(_OfParameters):
    r"""
    The generalized Pareto distribution, with :math:`P(X > x) = (1 + k (x - \mu) / s)^{-1 / k}`.

    Parameters
    ----------
    loc, scale, concentration : Tensor or float
        :math:`\mu`, :math:`s` and :math:`k`, for which 0 means the limit, an exponential.
    validate_args : bool, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.GeneralizedPareto(0.0, 1.0, 0.5).mean
    tensor(2.)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True
    _parameters = ("loc", "scale", "concentration")
    loc: Tensor
    scale: Tensor
    concentration: Tensor

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None):
        super().__init__(loc, scale, concentration, validate_args=validate_args)

    def _shape(self) -> tuple[Tensor, Tensor]:
        """Tell where the concentration counts as 0, and replace it there."""
        zero = self.concentration.abs() < 2 * finfo(self.concentration.dtype).eps
        return zero, where(zero, 1.0, self.concentration)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.icdf(_rand(shape, dtype=self.loc.dtype, device=self.loc.device))

    def log_survival_function(self, value: Tensor) -> Tensor:
        """
        Return the logarithm of the probability of values above `value`.

        Parameters
        ----------
        value : Tensor

        Returns
        -------
        Tensor
        """
        zero, k = self._shape()
        z = (value - self.loc) / self.scale
        return where(zero, -z, -log1p(k * z) / k)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        zero, k = self._shape()
        z = (value - self.loc) / self.scale
        return where(zero, -z, -(1 + 1 / k) * log1p(k * z)) - self.scale.log()

    def log_cdf(self, value: Tensor) -> Tensor:
        """
        Return the logarithm of the probability of values up to `value`.

        Parameters
        ----------
        value : Tensor

        Returns
        -------
        Tensor
        """
        return log1p(-self.log_survival_function(value).exp())

    def cdf(self, value: Tensor) -> Tensor:
        return self.log_cdf(value).exp()

    def icdf(self, value: Tensor) -> Tensor:
        zero, k = self._shape()
        log = (-value).log1p()
        return self.loc + self.scale * where(zero, -log, (-k * log).expm1() / k)

    @property
    def mean(self) -> Tensor:
        k = self.concentration
        return where(k < 1, self.loc + self.scale / (1 - k), inf)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        k = self.concentration
        result = self.scale.square() / ((1 - k).square() * (1 - 2 * k))
        return where(k < 0.5, result, inf)

    def entropy(self) -> Tensor:
        return self.scale.log() + self.concentration + 1

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        k = self.concentration
        upper = where(k < 0, self.loc - self.scale / k, inf)
        return constraints.interval(self.loc, upper)


# --- relaxed distributions ------------------------------------------------------------------------
#
# C. J. Maddison, A. Mnih, Y. W. Teh, "The concrete distribution: a continuous relaxation of
# discrete random variables" (2017); E. Jang, S. Gu, B. Poole, "Categorical reparameterization with
# Gumbel-softmax" (2017).


class LogitRelaxedBernoulli(_OfProbability):
    r"""
    The distribution of the log-odds of relaxed zeros and ones.

    Parameters
    ----------
    temperature : Tensor
    probs : Tensor or float, optional
    logits : Tensor or float, optional
        The log-odds, in place of `probs`.
    validate_args : bool, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.distributions.bounded import LogitRelaxedBernoulli
    >>> LogitRelaxedBernoulli(torch.tensor(1.0), 0.5).log_prob(torch.tensor(0.0))
    tensor(-1.3863)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    support = constraints.real
    has_rsample = True

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ):
        self.temperature = temperature
        super().__init__(probs, logits, validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        result = super().expand(batch_shape, _instance)
        result.temperature = self.temperature
        return result

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        u = clamp_probs(_rand(shape, dtype=probs.dtype, device=probs.device))
        odds = u.log() - (-u).log1p() + probs.log() - (-probs).log1p()
        return odds / self.temperature

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        logits, value = broadcast_all(self.logits, value)
        off = logits - value * self.temperature
        return self.temperature.log() + off - 2 * softplus(off)


class RelaxedBernoulli(TransformedDistribution):
    r"""
    The distribution of relaxed zeros and ones: near to both at low temperatures.

    Parameters
    ----------
    temperature : Tensor
    probs : Tensor or float, optional
    logits : Tensor or float, optional
        The log-odds, in place of `probs`.
    validate_args : bool, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> d = torch.distributions.RelaxedBernoulli(torch.tensor(1.0), torch.tensor(0.5))
    >>> d.log_prob(torch.tensor(0.25))
    tensor(0.)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    support = constraints.unit_interval
    has_rsample = True
    base_dist: LogitRelaxedBernoulli

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ):
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return super().expand(batch_shape, self._get_checked_instance(RelaxedBernoulli, _instance))

    @property
    def temperature(self) -> Tensor:
        """The temperature."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Tensor:
        """The log-odds."""
        return self.base_dist.logits

    @property
    def probs(self) -> Tensor:
        """The probabilities."""
        return self.base_dist.probs


class ExpRelaxedCategorical(Distribution):
    r"""
    The distribution of the logarithms of relaxed one-hot vectors.

    Parameters
    ----------
    temperature : Tensor
    probs : Tensor, optional
        Weights of the categories, in the last dimension.
    logits : Tensor, optional
        Unnormalised logarithms of probabilities, in place of `probs`.
    validate_args : bool, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.distributions.bounded import ExpRelaxedCategorical
    >>> ExpRelaxedCategorical(torch.tensor(1.0), torch.ones(3)).rsample().exp().sum()
    tensor(1.)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {
        "probs": constraints.simplex,
        "logits": constraints.real_vector,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ):
        self._categorical = Categorical(probs, logits)
        self.temperature = temperature
        shape = self._categorical.param_shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._new(
            batch_shape,
            self._get_checked_instance(ExpRelaxedCategorical, _instance),
            temperature=self.temperature,
            _categorical=self._categorical.expand(batch_shape),
        )

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter that was given."""
        return self._categorical.param_shape

    @property
    def logits(self) -> Tensor:
        """The logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def probs(self) -> Tensor:
        """The probabilities."""
        return self._categorical.probs

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        u = clamp_probs(_rand(shape, dtype=self.logits.dtype, device=self.logits.device))
        scores = (self.logits - (-u.log()).log()) / self.temperature
        return scores - scores.logsumexp(-1, keepdim=True)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        n = self._event_shape[-1]
        logits, value = broadcast_all(self.logits, value)
        score = logits - value * self.temperature
        score = (score - score.logsumexp(-1, keepdim=True)).sum(-1)
        return score + math.lgamma(n) + (n - 1) * self.temperature.log()


class RelaxedOneHotCategorical(TransformedDistribution):
    r"""
    The distribution of relaxed one-hot vectors: near to the corners at low temperatures.

    Parameters
    ----------
    temperature : Tensor
    probs : Tensor, optional
        Weights of the categories, in the last dimension.
    logits : Tensor, optional
        Unnormalised logarithms of probabilities, in place of `probs`.
    validate_args : bool, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> d = torch.distributions.RelaxedOneHotCategorical(torch.tensor(1.0), torch.ones(3))
    >>> d.rsample().sum().round(decimals=3)
    tensor(1.)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {
        "probs": constraints.simplex,
        "logits": constraints.real_vector,
    }
    support = constraints.simplex
    has_rsample = True
    base_dist: ExpRelaxedCategorical

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ):
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        result = self._get_checked_instance(RelaxedOneHotCategorical, _instance)
        return super().expand(batch_shape, result)

    @property
    def temperature(self) -> Tensor:
        """The temperature."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Tensor:
        """The logarithms of the probabilities."""
        return self.base_dist.logits

    @property
    def probs(self) -> Tensor:
        """The probabilities."""
        return self.base_dist.probs
