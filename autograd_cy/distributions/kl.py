"""Kullback-Leibler divergences between pairs of distributions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

from autograd_cy import Tensor, broadcast_shapes, inf, where

from .continuous import (
    Cauchy,
    Exponential,
    Gumbel,
    HalfNormal,
    Laplace,
    LogNormal,
    Normal,
    Uniform,
)
from .discrete import Bernoulli, Categorical, Geometric, OneHotCategorical
from .multivariate import LowRankMultivariateNormal, MultivariateNormal, _lower_solve
from .transformed import Independent, TransformedDistribution
from .utils import _sum_rightmost, euler_constant

__all__ = ["kl_divergence", "register_kl"]

_Function = TypeVar("_Function", bound=Callable)

_RULES: dict[tuple[type, type], Callable[[Any, Any], Tensor]] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[_Function], _Function]:
    """
    Return a decorator of a function that computes the divergence of two classes.

    Parameters
    ----------
    type_p, type_q : type
        Classes of distributions; their subclasses use the function, too, unless there is one for
        closer classes.

    Returns
    -------
    callable

    Raises
    ------
    TypeError
        If they aren't classes.

    Examples
    --------
    >>> from autograd_cy.distributions import Normal, Uniform, kl_divergence, register_kl
    >>> class Mine(Normal):
    ...     pass
    >>> @register_kl(Mine, Uniform)
    ... def divergence(p, q):
    ...     return p.loc * 0 + 7
    >>> kl_divergence(Mine(0.0, 1.0), Uniform(0.0, 1.0))
    tensor(7.)
    """
    for name, kind in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(kind, type):  # other bases of distributions may be given, as torch takes
            raise TypeError(f"Expected {name} to be a Distribution subclass but got {kind}")

    def keep(function: _Function) -> _Function:
        _RULES[type_p, type_q] = function
        return function

    return keep


def _rule(p: type, q: type) -> Callable[[Any, Any], Tensor] | None:
    """The rule of the closest classes."""
    rules = [
        (p.__mro__.index(a) + q.__mro__.index(b), function)
        for (a, b), function in _RULES.items()
        if issubclass(p, a) and issubclass(q, b)
    ]
    return min(rules, key=lambda pair: pair[0])[1] if rules else None


def kl_divergence(p: Any, q: Any) -> Tensor:
    r"""
    Return the divergence :math:`\int p(x) \log(p(x) / q(x)) dx`.

    Parameters
    ----------
    p, q : Distribution

    Returns
    -------
    Tensor
        Of the batch shape.

    Raises
    ------
    NotImplementedError
        If no formula is registered for the two classes.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.distributions import Normal, kl_divergence
    >>> kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0))
    tensor(0.5000)
    """
    rule = _rule(type(p), type(q))
    if rule is None:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type(p).__name__} and q type "
            f"{type(q).__name__}"
        )
    return rule(p, q)


# --- one class -----------------------------------------------------------------------------------


@register_kl(Normal, Normal)
def _normal(p: Any, q: Any) -> Tensor:
    ratio = (p.scale / q.scale).square()
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).square() - 1 - ratio.log())


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: Any, q: Any) -> Tensor:
    return _normal(p.base_dist, q.base_dist)


@register_kl(Laplace, Laplace)
def _laplace(p: Any, q: Any) -> Tensor:
    ratio, apart = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + apart / q.scale + ratio * (-apart / p.scale).exp() - 1


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Any, q: Any) -> Tensor:
    apart = (p.scale + q.scale).square() + (p.loc - q.loc).square()
    return apart.log() - (4 * p.scale * q.scale).log()


@register_kl(Exponential, Exponential)
def _exponential(p: Any, q: Any) -> Tensor:
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Any, q: Any) -> Tensor:
    ratio, low, high = p.scale / q.scale, q.loc / q.scale, p.loc / q.scale
    tail = (low + (ratio + 1).lgamma() - high).exp()
    return -ratio.log() - low + high + ratio * euler_constant + tail - (1 + euler_constant)


@register_kl(Uniform, Uniform)
def _uniform(p: Any, q: Any) -> Tensor:
    result = ((q.high - q.low) / (p.high - p.low)).log()
    return where((q.low > p.low) | (q.high < p.high), inf, result)


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Any, q: Any) -> Tensor:
    from autograd_cy.nn.functional import softplus

    one = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    other = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    one = where(q.probs == 0, inf, one)
    one = where(p.probs == 0, 0.0, one)
    other = where(q.probs == 1, inf, other)
    return one + where(p.probs == 1, 0.0, other)


@register_kl(Geometric, Geometric)
def _geometric(p: Any, q: Any) -> Tensor:
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@register_kl(Categorical, Categorical)
def _categorical(p: Any, q: Any) -> Tensor:
    t = p.probs * (p.logits - q.logits)
    t = where((q.probs == 0).expand_as(t), inf, t)
    return where((p.probs == 0).expand_as(t), 0.0, t).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p: Any, q: Any) -> Tensor:
    return _categorical(p._categorical, q._categorical)


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normal(p: Any, q: Any) -> Tensor:
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two Multivariate Normals with different event shapes cannot be "
            "computed"
        )
    one, other = p.scale_tril, q.scale_tril
    n = p.event_shape[0]
    columns = _lower_solve(other.unsqueeze(-3), one.mT)  # rows: the columns of the solution
    trace = columns.square().sum((-2, -1))
    apart = _lower_solve(other, q.loc - p.loc).square().sum(-1)
    return q._half_log_det() - p._half_log_det() + 0.5 * (trace + apart - n)


@register_kl(Independent, Independent)
def _independent(p: Any, q: Any) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError(
            "kl_divergence: the two distributions take other numbers of dimensions as one event, "
            f"{p.reinterpreted_batch_ndims} and {q.reinterpreted_batch_ndims}"
        )
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: Any, q: Any) -> Tensor:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError(
            "kl_divergence: the two distributions have other transforms or shapes of events"
        )
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(LogNormal, LogNormal)
def _log_normal(p: Any, q: Any) -> Tensor:
    return _normal(p.base_dist, q.base_dist)


# --- two classes ---------------------------------------------------------------------------------


@register_kl(Uniform, Normal)
def _uniform_normal(p: Any, q: Any) -> Tensor:
    wide = (p.high - p.low).square()
    middle = ((p.high + p.low - 2 * q.loc) / 2).square()
    spread = (math.sqrt(2 * math.pi) * q.scale / (p.high - p.low)).log()
    return spread + (wide / 12 + middle) / (2 * q.scale.square())


@register_kl(Normal, Laplace)
def _normal_laplace(p: Any, q: Any) -> Tensor:
    from autograd_cy import erf

    apart = p.loc - q.loc
    z = apart / p.scale
    mean = p.scale * math.sqrt(2 / math.pi) * (-z.square() / 2).exp()
    mean = mean + apart * erf(z / math.sqrt(2))
    return mean / q.scale + (2 * q.scale).log() - p.entropy()


@register_kl(Laplace, Normal)
def _laplace_normal(p: Any, q: Any) -> Tensor:
    square = q.scale.square()
    apart = 0.5 * (p.loc - q.loc).square() / square
    spread = (2 * p.scale.square() / square).log()
    return p.scale.square() / square + apart - 1 - 0.5 * spread + 0.5 * math.log(math.pi)


@register_kl(Exponential, Normal)
def _exponential_normal(p: Any, q: Any) -> Tensor:
    square, rate = q.scale.square(), p.rate
    first = 0.5 * (rate.square() * square * 2 * math.pi).log()
    mean = rate.reciprocal()
    return first - 1 + (mean.square() - mean * q.loc + q.loc.square() / 2) / square


@register_kl(Uniform, Exponential)
def _uniform_exponential(p: Any, q: Any) -> Tensor:
    result = q.rate * (p.high + p.low) / 2 - ((p.high - p.low) * q.rate).log()
    return where(p.low < 0, inf, result)


def _infinite(p: Any, q: Any) -> Tensor:
    """The divergence from a distribution that is zero where the first isn't."""
    shape = broadcast_shapes(p.batch_shape, q.batch_shape)
    return p.mean.new_full(shape, inf)


for _pair in (
    (Normal, Uniform),
    (Normal, Exponential),
    (Laplace, Uniform),
    (Laplace, Exponential),
    (Gumbel, Uniform),
    (Gumbel, Exponential),
    (Exponential, Uniform),
):
    register_kl(*_pair)(_infinite)
