"""Invertible functions with the logarithms of their derivatives, for transformed distributions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd_cy import Tensor
from autograd_cy import cat as _join
from autograd_cy import stack as _pile

from . import constraints
from ._elementwise_transforms import (
    AbsTransform,
    AffineTransform,
    ExpTransform,
    PowerTransform,
    SigmoidTransform,
    SoftplusTransform,
    TanhTransform,
)
from ._transform import (
    ComposeTransform,
    IndependentTransform,
    ReshapeTransform,
    Transform,
    identity_transform,
)
from ._vector_transforms import (
    CorrCholeskyTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    SoftmaxTransform,
    StickBreakingTransform,
)
from .constraints import Constraint
from .utils import _sum_rightmost

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "CatTransform",
    "ComposeTransform",
    "CorrCholeskyTransform",
    "CumulativeDistributionTransform",
    "ExpTransform",
    "IndependentTransform",
    "LowerCholeskyTransform",
    "PositiveDefiniteTransform",
    "PowerTransform",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StackTransform",
    "StickBreakingTransform",
    "TanhTransform",
    "Transform",
    "identity_transform",
]


class _OfParts(Transform):
    """Several transforms side by side."""

    transforms: list[Transform]
    dim: int

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return all(part.bijective for part in self.transforms)


class CatTransform(_OfParts):
    """
    Transforms of parts that follow each other along a dimension.

    Parameters
    ----------
    tseq : sequence of Transform
    dim : int, optional
    lengths : sequence of int, optional
        Of the parts; 1 by default.
    cache_size : int, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.distributions import CatTransform, ExpTransform, identity_transform
    >>> CatTransform([ExpTransform(), identity_transform])(torch.zeros(2))
    tensor([1., 0.])
    """

    def __init__(
        self,
        tseq: Sequence[Transform],
        dim: int = 0,
        lengths: Sequence[int] | None = None,
        cache_size: int = 0,
    ):
        super().__init__(cache_size=cache_size)
        self.transforms = [part.with_cache(cache_size) for part in tseq]
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        self.dim = dim

    @property
    def event_dim(self) -> int:
        return max(part.event_dim for part in self.transforms)

    @property
    def length(self) -> int:
        return sum(self.lengths)

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _parts(self, value: Tensor) -> list[Tensor]:
        return list(value.split(self.lengths, self.dim))

    def _call(self, x: Tensor) -> Tensor:
        pairs = zip(self.transforms, self._parts(x), strict=True)
        return _join([part(one) for part, one in pairs], self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        pairs = zip(self.transforms, self._parts(y), strict=True)
        return _join([part.inv(one) for part, one in pairs], self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        terms = []
        for part, one, other in zip(self.transforms, self._parts(x), self._parts(y), strict=True):
            term = part.log_abs_det_jacobian(one, other)
            terms.append(_sum_rightmost(term, self.event_dim - part.event_dim))
        dim = self.dim - x.dim() if self.dim >= 0 else self.dim
        dim += self.event_dim
        if dim < 0:
            return _join(terms, dim)
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return total

    @property
    def domain(self) -> Constraint:  # type: ignore[override]
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @property
    def codomain(self) -> Constraint:  # type: ignore[override]
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)


class StackTransform(_OfParts):
    """
    Transforms of the slices of a dimension.

    Parameters
    ----------
    tseq : sequence of Transform
    dim : int, optional
    cache_size : int, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.distributions import ExpTransform, StackTransform, identity_transform
    >>> StackTransform([ExpTransform(), identity_transform])(torch.zeros(2))
    tensor([1., 0.])
    """

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0):
        super().__init__(cache_size=cache_size)
        self.transforms = [part.with_cache(cache_size) for part in tseq]
        self.dim = dim

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return StackTransform(self.transforms, self.dim, cache_size)

    def _call(self, x: Tensor) -> Tensor:
        pairs = zip(self.transforms, x.unbind(self.dim), strict=True)
        return _pile([part(one) for part, one in pairs], self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        pairs = zip(self.transforms, y.unbind(self.dim), strict=True)
        return _pile([part.inv(one) for part, one in pairs], self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        slices = zip(self.transforms, x.unbind(self.dim), y.unbind(self.dim), strict=True)
        return _pile([part.log_abs_det_jacobian(a, b) for part, a, b in slices], self.dim)

    @property
    def domain(self) -> Constraint:  # type: ignore[override]
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @property
    def codomain(self) -> Constraint:  # type: ignore[override]
        return constraints.stack([t.codomain for t in self.transforms], self.dim)


class CumulativeDistributionTransform(Transform):
    """
    The transform by the cumulative distribution function of a distribution.

    Parameters
    ----------
    distribution : Distribution
        With `cdf`, `icdf` and `log_prob`.
    cache_size : int, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.distributions import CumulativeDistributionTransform, Normal
    >>> CumulativeDistributionTransform(Normal(0.0, 1.0))(torch.zeros(1))
    tensor([0.5000])
    """

    bijective = True
    codomain = constraints.unit_interval
    sign = 1

    def __init__(self, distribution: Any, cache_size: int = 0):
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Constraint:  # type: ignore[override]
        return self.distribution.support

    def _call(self, x: Tensor) -> Tensor:
        return self.distribution.cdf(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return self.distribution.log_prob(x)

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return CumulativeDistributionTransform(self.distribution, cache_size=cache_size)


# The module that programs and pickles know.
for _name in __all__:
    if _name != "identity_transform":
        globals()[_name].__module__ = __name__
