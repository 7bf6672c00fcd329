"""
Distributions: samples, densities, entropies, divergences, and transforms between them.

Distributions whose samples need draws of the gamma distribution, and some others, are names only
that say what to use instead when they are called.

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
from .discrete import (
    Bernoulli,
    Categorical,
    Geometric,
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
)
from .distribution import Distribution
from .kl import kl_divergence, register_kl
from .multivariate import MultivariateNormal
from .transformed import Independent, MixtureSameFamily, TransformedDistribution
from .transforms import *  # noqa: F403

__all__ = [
    "Bernoulli",
    "Categorical",
    "Cauchy",
    "Distribution",
    "Exponential",
    "Geometric",
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "Independent",
    "Laplace",
    "LogNormal",
    "MixtureSameFamily",
    "MultivariateNormal",
    "Normal",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
    "TransformedDistribution",
    "Uniform",
    "biject_to",
    "constraints",
    "kl_divergence",
    "register_kl",
    "transform_to",
]
__all__ += transforms.__all__

if not TYPE_CHECKING:  # type checkers name what isn't there themselves
    __getattr__, __dir__ = _attach(__name__)
