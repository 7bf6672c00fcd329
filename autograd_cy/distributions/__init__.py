"""
Distributions: samples, densities, entropies, divergences, and transforms between them.

Examples
--------
>>> import autograd_cy as torch
>>> from autograd_cy.distributions import Normal
>>> loc = torch.tensor(1.0, requires_grad=True)
>>> Normal(loc, 2.0).log_prob(torch.tensor(3.0)).backward()
>>> loc.grad
tensor(0.5000)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograd_cy._lazy import attach as _attach

from . import constraints, transforms
from . import kl_by_moments as _kl_by_moments  # noqa: F401 - fills the registry
from .bounded import (
    ContinuousBernoulli,
    GeneralizedPareto,
    Kumaraswamy,
    LogisticNormal,
    Pareto,
    RelaxedBernoulli,
    RelaxedOneHotCategorical,
    Weibull,
)
from .constraint_registry import biject_to, transform_to
from .continuous import (
    Cauchy,
    Exponential,
    Gumbel,
    HalfCauchy,
    HalfNormal,
    Laplace,
    LogNormal,
    Normal,
    Uniform,
)
from .counts import Binomial, Multinomial, NegativeBinomial, Poisson
from .discrete import (
    Bernoulli,
    Categorical,
    Geometric,
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
)
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .gamma import Beta, Chi2, Dirichlet, FisherSnedecor, Gamma, InverseGamma, StudentT
from .kl import kl_divergence, register_kl
from .matrices import LKJCholesky, Wishart
from .multivariate import LowRankMultivariateNormal, MultivariateNormal
from .transformed import Independent, MixtureSameFamily, TransformedDistribution
from .transforms import *  # noqa: F403
from .von_mises import VonMises

__all__ = [
    "Bernoulli",
    "Beta",
    "Binomial",
    "Categorical",
    "Cauchy",
    "Chi2",
    "ContinuousBernoulli",
    "Dirichlet",
    "Distribution",
    "Exponential",
    "ExponentialFamily",
    "FisherSnedecor",
    "Gamma",
    "GeneralizedPareto",
    "Geometric",
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "Independent",
    "InverseGamma",
    "Kumaraswamy",
    "LKJCholesky",
    "Laplace",
    "LogNormal",
    "LogisticNormal",
    "LowRankMultivariateNormal",
    "MixtureSameFamily",
    "Multinomial",
    "MultivariateNormal",
    "NegativeBinomial",
    "Normal",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
    "Pareto",
    "Poisson",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
    "StudentT",
    "TransformedDistribution",
    "Uniform",
    "VonMises",
    "Weibull",
    "Wishart",
    "biject_to",
    "constraints",
    "kl_divergence",
    "register_kl",
    "transform_to",
]
__all__ += transforms.__all__

if not TYPE_CHECKING:  # type checkers name what isn't there themselves
    __getattr__, __dir__ = _attach(__name__)
