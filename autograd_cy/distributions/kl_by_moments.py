"""Divergences of gamma, beta, Dirichlet and count distributions, by entropies and moments."""

from __future__ import annotations

import math
from typing import Any

from autograd_cy import Tensor, where

from .bounded import ContinuousBernoulli, Pareto
from .continuous import Exponential, Gumbel, Laplace, Normal, Uniform
from .counts import Binomial, Poisson
from .discrete import Bernoulli
from .exp_family import ExponentialFamily
from .gamma import Beta, Dirichlet, Gamma
from .kl import _infinite, register_kl
from .utils import euler_constant

__all__: list[str] = []

# --- one class ------------------------------------------------------------------------------------


@register_kl(ExponentialFamily, ExponentialFamily)
def _exponential_family(p: Any, q: Any) -> Tensor:
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot be computed "
            "using Bregman divergences"
        )
    params, value, means = p._normalizer()
    others = q._natural_params
    result = q._log_normalizer(*others) - value
    for one, other, mean in zip(params, others, means, strict=True):
        term = (other - one) * mean
        batch = q.batch_shape
        result = result - (term if term.shape == batch else term.reshape((*batch, -1)).sum(-1))
    return result


@register_kl(Gamma, Gamma)
def _gamma(p: Any, q: Any) -> Tensor:
    a, b = p.concentration, q.concentration
    return (
        b * (p.rate / q.rate).log()
        + b.lgamma()
        - a.lgamma()
        + (a - b) * a.digamma()
        + (q.rate - p.rate) * a / p.rate
    )


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Any, q: Any) -> Tensor:
    a, b = p.concentration, q.concentration
    total = a.sum(-1, True)
    result = total.squeeze(-1).lgamma() - b.sum(-1).lgamma() - (a.lgamma() - b.lgamma()).sum(-1)
    return result + ((a - b) * (a.digamma() - total.digamma())).sum(-1)


@register_kl(Beta, Beta)
def _beta(p: Any, q: Any) -> Tensor:
    return _dirichlet(p._dirichlet, q._dirichlet)


@register_kl(Poisson, Poisson)
def _poisson(p: Any, q: Any) -> Tensor:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Binomial, Binomial)
def _binomial(p: Any, q: Any) -> Tensor:
    if (p.total_count < q.total_count).any():
        raise NotImplementedError(
            "KL between Binomials where q.total_count > p.total_count is not implemented"
        )
    odds = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    return where(p.total_count > q.total_count, math.inf, p.total_count * odds)


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p: Any, q: Any) -> Tensor:
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: Any, q: Any) -> Tensor:
    result = p.mean * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    return result + p._cont_bern_log_norm() - q._cont_bern_log_norm()


@register_kl(Pareto, Pareto)
def _pareto(p: Any, q: Any) -> Tensor:
    ratio, above = q.alpha / p.alpha, (p.scale / q.scale).log()
    return where(p.scale < q.scale, math.inf, q.alpha * above - ratio.log() + ratio - 1)


# --- moments --------------------------------------------------------------------------------------


def _mean_log(p: Any) -> Tensor:
    """The mean of the logarithm."""
    if isinstance(p, Beta):
        return p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma()
    if isinstance(p, Exponential):
        return -euler_constant - p.rate.log()
    if isinstance(p, Pareto):
        return p.scale.log() + p.alpha.reciprocal()
    return _uniform_mean_log(p.low, p.high)


def _uniform_mean_log(low: Tensor, high: Tensor) -> Tensor:
    from autograd_cy import xlogy

    return (xlogy(high, high) - xlogy(low, low)) / (high - low) - 1


def _mean_exp(p: Any, t: Tensor) -> Tensor:
    """The mean of ``exp(-t x)``."""
    if isinstance(p, Normal):
        return (-t * p.loc + (t * p.scale).square() / 2).exp()
    if isinstance(p, Exponential):
        return p.rate / (p.rate + t)
    if isinstance(p, Gamma):
        return (1 + t / p.rate).pow(-p.concentration)
    return ((-t * p.low).exp() - (-t * p.high).exp()) / (t * (p.high - p.low))


def _to_normal(p: Any, q: Any) -> Tensor:
    square = q.scale.square()
    apart = p.variance + (p.mean - q.loc).square()
    return -p.entropy() + 0.5 * (2 * math.pi * square).log() + apart / (2 * square)


def _to_exponential(p: Any, q: Any) -> Tensor:
    return -p.entropy() - q.rate.log() + q.rate * p.mean


def _to_gamma(p: Any, q: Any) -> Tensor:
    a, rate = q.concentration, q.rate
    density = a * rate.log() - a.lgamma() + (a - 1) * _mean_log(p) - rate * p.mean
    return -p.entropy() - density


def _to_gumbel(p: Any, q: Any) -> Tensor:
    tail = (q.loc / q.scale).exp() * _mean_exp(p, q.scale.reciprocal())
    return -p.entropy() + q.scale.log() + (p.mean - q.loc) / q.scale + tail


_pair: tuple[type, type]
for _pair in (
    (Beta, Normal),
    (ContinuousBernoulli, Normal),
    (Gamma, Normal),
    (Gumbel, Normal),
    (Pareto, Normal),
):
    register_kl(*_pair)(_to_normal)
for _pair in (
    (Beta, Exponential),
    (ContinuousBernoulli, Exponential),
    (Gamma, Exponential),
    (Pareto, Exponential),
):
    register_kl(*_pair)(_to_exponential)
for _pair in ((Beta, Gamma), (Exponential, Gamma), (Pareto, Gamma)):
    register_kl(*_pair)(_to_gamma)
for _pair in ((Exponential, Gumbel), (Gamma, Gumbel), (Normal, Gumbel), (Uniform, Gumbel)):
    register_kl(*_pair)(_to_gumbel)


@register_kl(Uniform, Gamma)
def _uniform_gamma(p: Any, q: Any) -> Tensor:
    return where(p.low < 0, math.inf, _to_gamma(p, q))


@register_kl(Uniform, Beta)
def _uniform_beta(p: Any, q: Any) -> Tensor:
    a, b = q.concentration1, q.concentration0
    rest = _uniform_mean_log(1 - p.high, 1 - p.low)
    density = (a - 1) * _mean_log(p) + (b - 1) * rest + (a + b).lgamma() - a.lgamma() - b.lgamma()
    return where((p.high > 1) | (p.low < 0), math.inf, -p.entropy() - density)


@register_kl(Uniform, Pareto)
def _uniform_pareto(p: Any, q: Any) -> Tensor:
    density = q.alpha.log() + q.alpha * q.scale.log() - (q.alpha + 1) * _mean_log(p)
    return where(p.low < q.scale, math.inf, -p.entropy() - density)


def _to_continuous_bernoulli(p: Any, q: Any) -> Tensor:
    result = -p.entropy() - p.mean * q.logits - (-q.probs).log1p()
    return result - q._cont_bern_log_norm()


register_kl(Beta, ContinuousBernoulli)(_to_continuous_bernoulli)


@register_kl(Uniform, ContinuousBernoulli)
def _uniform_continuous_bernoulli(p: Any, q: Any) -> Tensor:
    return where((p.high > 1) | (p.low < 0), math.inf, _to_continuous_bernoulli(p, q))


@register_kl(ContinuousBernoulli, Uniform)
@register_kl(Beta, Uniform)
def _beta_uniform(p: Any, q: Any) -> Tensor:
    return where((q.low > 0) | (q.high < 1), math.inf, (q.high - q.low).log() - p.entropy())


for _pair in (
    (Beta, Pareto),
    (ContinuousBernoulli, Pareto),
    (Exponential, Beta),
    (Exponential, ContinuousBernoulli),
    (Exponential, Pareto),
    (Gamma, Beta),
    (Gamma, ContinuousBernoulli),
    (Gamma, Pareto),
    (Gamma, Uniform),
    (Gumbel, Beta),
    (Gumbel, ContinuousBernoulli),
    (Gumbel, Pareto),
    (Gumbel, Gamma),
    (Laplace, Beta),
    (Laplace, ContinuousBernoulli),
    (Laplace, Pareto),
    (Laplace, Gamma),
    (Normal, Beta),
    (Normal, ContinuousBernoulli),
    (Normal, Pareto),
    (Pareto, Beta),
    (Pareto, ContinuousBernoulli),
    (Pareto, Uniform),
    (Normal, Gamma),
    (Poisson, Bernoulli),
    (Poisson, Binomial),
):
    register_kl(*_pair)(_infinite)
