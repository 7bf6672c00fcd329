"""Distributions that are made of others: transformed, with other events, mixed."""

from __future__ import annotations

from typing import Any

from autograd_cy import Tensor, log_softmax, no_grad

from . import constraints
from .distribution import Distribution
from .transforms import ComposeTransform, Transform
from .utils import _sum_rightmost

__all__ = ["Independent", "MixtureSameFamily", "TransformedDistribution"]


class Independent(Distribution):
    """
    A distribution whose last batch dimensions are dimensions of an event.

    Parameters
    ----------
    base_distribution : Distribution
    reinterpreted_batch_ndims : int
    validate_args : bool, optional

    Raises
    ------
    ValueError
        If the batch has fewer dimensions.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.distributions import Independent, Normal
    >>> d = Independent(Normal(torch.zeros(3), 1.0), 1)
    >>> d.log_prob(torch.zeros(3))
    tensor(-2.7568)
    """

    def __init__(
        self,
        base_distribution: Any,
        reinterpreted_batch_ndims: int,
        validate_args: bool | None = None,
    ):
        dims = len(base_distribution.batch_shape)
        if reinterpreted_batch_ndims > dims:
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual "
                f"{reinterpreted_batch_ndims} vs {dims}"
            )
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        shape = base_distribution.batch_shape + base_distribution.event_shape
        cut = dims - reinterpreted_batch_ndims
        super().__init__(shape[:cut], shape[cut:], validate_args=validate_args)

    @property
    def arg_constraints(self) -> dict[str, Any]:
        return {}

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        inner_shape = tuple(self.event_shape)[: self.reinterpreted_batch_ndims]
        return self._new(
            batch_shape,
            self._get_checked_instance(Independent, _instance),
            base_dist=self.base_dist.expand(tuple(batch_shape) + inner_shape),
            reinterpreted_batch_ndims=self.reinterpreted_batch_ndims,
        )

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self) -> bool:  # type: ignore[override]
        return self.reinterpreted_batch_ndims == 0 and self.base_dist.has_enumerate_support

    @constraints.dependent_property
    def support(self) -> Any:
        base = self.base_dist.support
        dims = self.reinterpreted_batch_ndims
        return constraints.independent(base, dims) if dims else base

    @property
    def mean(self) -> Tensor:
        return self.base_dist.mean

    @property
    def mode(self) -> Tensor:
        return self.base_dist.mode

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance

    def sample(self, sample_shape: Any = ()) -> Tensor:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        return _sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Tensor:
        return _sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand=expand)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_dist!r}, {self.reinterpreted_batch_ndims})"


class TransformedDistribution(Distribution):
    r"""
    The distribution of transformed samples.

    :math:`\log p(y) = \log p(x) - \log |\det dy/dx|` with :math:`x` that the transforms take to
    :math:`y`.

    Parameters
    ----------
    base_distribution : Distribution
    transforms : Transform or list of Transform
        The first is applied first.
    validate_args : bool, optional

    Raises
    ------
    ValueError
        If `transforms` isn't one, or events of the base have too few dimensions for them.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.distributions import ExpTransform, Normal, TransformedDistribution
    >>> d = TransformedDistribution(Normal(0.0, 1.0), [ExpTransform()])
    >>> d.log_prob(torch.tensor(1.0))
    tensor(-0.9189)
    """

    def __init__(self, base_distribution: Any, transforms: Any, validate_args: bool | None = None):
        self.transforms = [transforms] if isinstance(transforms, Transform) else list(transforms)
        if not all(isinstance(part, Transform) for part in self.transforms):
            raise ValueError("transforms must be a Transform or a list of Transforms")
        base_shape = base_distribution.batch_shape + base_distribution.event_shape
        base_event = len(base_distribution.event_shape)
        whole = ComposeTransform(self.transforms)
        needed = whole.domain.event_dim
        if len(base_shape) < needed:
            raise ValueError(
                f"base_distribution needs to have shape with size at least {needed}, but got "
                f"{base_shape}."
            )
        shape = whole.forward_shape(base_shape)
        expanded = tuple(whole.inverse_shape(shape))
        if tuple(base_shape) != expanded:
            batch = expanded[: len(expanded) - base_event]
            base_distribution = base_distribution.expand(batch)
        if needed > base_event:
            base_distribution = Independent(base_distribution, needed - base_event)
        self.base_dist = base_distribution
        event = whole.codomain.event_dim + max(base_event - needed, 0)
        cut = len(shape) - event
        super().__init__(shape[:cut], shape[cut:], validate_args=validate_args)

    @property
    def arg_constraints(self) -> dict[str, Any]:
        return {}

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        shape = tuple(batch_shape) + tuple(self.event_shape)
        for part in reversed(self.transforms):
            shape = part.inverse_shape(shape)
        base_batch = tuple(shape)[: len(shape) - len(self.base_dist.event_shape)]
        return self._new(
            batch_shape,
            self._get_checked_instance(TransformedDistribution, _instance),
            base_dist=self.base_dist.expand(base_batch),
            transforms=self.transforms,
        )

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        return self.base_dist.has_rsample

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:
        if not self.transforms:
            return self.base_dist.support
        codomain = self.transforms[-1].codomain
        dims = len(self.event_shape) - codomain.event_dim
        return constraints.independent(codomain, dims) if dims > 0 else codomain

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with no_grad():
            x = self.base_dist.sample(sample_shape)
            for part in self.transforms:
                x = part(x)
            return x

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        x = self.base_dist.rsample(sample_shape)
        for part in self.transforms:
            x = part(x)
        return x

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        total: Any = 0.0
        event, y = len(self.event_shape), value
        for part in reversed(self.transforms):
            x = part.inv(y)
            event += part.domain.event_dim - part.codomain.event_dim
            log_det = part.log_abs_det_jacobian(x, y)
            total = total - _sum_rightmost(log_det, event - part.domain.event_dim)
            y = x
        base = self.base_dist.log_prob(y)
        return total + _sum_rightmost(base, event - len(self.base_dist.event_shape))

    def _monotonic(self, value: Tensor) -> Tensor:
        sign: Any = 1
        for part in self.transforms:
            sign = sign * part.sign
        if isinstance(sign, int) and sign == 1:
            return value
        return sign * (value - 0.5) + 0.5

    def cdf(self, value: Tensor) -> Tensor:
        for part in reversed(self.transforms):
            value = part.inv(value)
        return self._monotonic(self.base_dist.cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        value = self.base_dist.icdf(self._monotonic(value))
        for part in self.transforms:
            value = part(value)
        return value


class MixtureSameFamily(Distribution):
    """
    A mixture of distributions of one family.

    Parameters
    ----------
    mixture_distribution : Categorical
        Chooses the component.
    component_distribution : Distribution
        Whose last batch dimension is that of the components.
    validate_args : bool, optional

    Raises
    ------
    ValueError
        If the shapes don't fit, or the first isn't a Categorical.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.distributions import Categorical, MixtureSameFamily, Normal
    >>> mixed = MixtureSameFamily(
    ...     Categorical(torch.tensor([0.5, 0.5])), Normal(torch.tensor([-1.0, 1.0]), 1.0)
    ... )
    >>> mixed.mean
    tensor(0.)
    """

    def __init__(
        self,
        mixture_distribution: Any,
        component_distribution: Any,
        validate_args: bool | None = None,
    ):
        from .discrete import Categorical

        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(
                "The Mixture distribution needs to be an instance of torch.distributions."
                "Categorical"
            )
        if not isinstance(component_distribution, Distribution):
            raise ValueError(
                "The Component distribution need to be an instance of torch.distributions."
                "Distribution"
            )
        weights, parts = mixture_distribution.batch_shape, component_distribution.batch_shape[:-1]
        for one, other in zip(reversed(weights), reversed(parts), strict=False):
            if one != 1 and other != 1 and one != other:
                raise ValueError(
                    f"`mixture_distribution.batch_shape` ({weights}) is not compatible with "
                    f"`component_distribution.batch_shape`({parts})"
                )
        count = mixture_distribution.logits.shape[-1]
        if count != component_distribution.batch_shape[-1]:
            raise ValueError(
                f"`mixture_distribution component` ({count}) does not equal "
                f"`component_distribution.batch_shape[-1]` "
                f"({component_distribution.batch_shape[-1]})"
            )
        self._num_component = count
        event = component_distribution.event_shape
        self._event_ndims = len(event)
        super().__init__(parts, event, validate_args=validate_args)

    @property
    def arg_constraints(self) -> dict[str, Any]:
        return {}

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        shape = tuple(batch_shape)
        return self._new(
            shape,
            self._get_checked_instance(MixtureSameFamily, _instance),
            _component_distribution=self._component_distribution.expand(
                (*shape, self._num_component)
            ),
            _mixture_distribution=self._mixture_distribution.expand(shape),
            _num_component=self._num_component,
            _event_ndims=self._event_ndims,
        )

    @constraints.dependent_property
    def support(self) -> Any:
        return self._component_distribution.support

    @property
    def mixture_distribution(self) -> Any:
        """The distribution of the components' numbers."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Any:
        """The distributions that are mixed."""
        return self._component_distribution

    def _pad(self, x: Tensor) -> Tensor:
        return x.unsqueeze(-1 - self._event_ndims)

    def _weights(self) -> Tensor:
        probs = self.mixture_distribution.probs
        return probs.reshape(tuple(probs.shape) + (1,) * self._event_ndims)

    @property
    def mean(self) -> Tensor:
        return (self._weights() * self.component_distribution.mean).sum(-1 - self._event_ndims)

    @property
    def variance(self) -> Tensor:
        weights, dim = self._weights(), -1 - self._event_ndims
        within = (weights * self.component_distribution.variance).sum(dim)
        apart = (self.component_distribution.mean - self._pad(self.mean)).square()
        return within + (weights * apart).sum(dim)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with no_grad():
            batch, event = len(self.batch_shape), self._event_ndims
            chosen = self.mixture_distribution.sample(sample_shape)
            values = self.component_distribution.sample(sample_shape)
            dim = len(tuple(sample_shape)) + batch
            index = chosen.reshape(tuple(chosen.shape) + (1,) * (event + 1))
            index = index.expand((*tuple(chosen.shape), 1, *tuple(self.event_shape)))
            return values.gather(dim, index).squeeze(dim)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        log_probs = self.component_distribution.log_prob(self._pad(value))
        weights = log_softmax(self.mixture_distribution.logits, -1)
        return (log_probs + weights).logsumexp(-1)

    def cdf(self, value: Tensor) -> Tensor:
        probs = self.component_distribution.cdf(self._pad(value))
        return (probs * self.mixture_distribution.probs).sum(-1)

    def __repr__(self) -> str:
        return (
            f"MixtureSameFamily(\n  {self.mixture_distribution!r},\n  "
            f"{self.component_distribution!r})"
        )
