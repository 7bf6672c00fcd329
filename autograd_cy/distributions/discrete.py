"""Distributions of integers and of categories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from autograd_cy import Size, Tensor, arange, finfo, multinomial, nan, no_grad
from autograd_cy import bernoulli as _bernoulli
from autograd_cy.nn.functional import binary_cross_entropy_with_logits, one_hot, softplus

from . import constraints
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .utils import (
    broadcast_all,
    lazy_property,
    logits_to_probs,
    probs_to_logits,
)

__all__ = [
    "Bernoulli",
    "Categorical",
    "Geometric",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
]


def _one_of(probs: Any, logits: Any) -> str:
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")
    return "probs" if probs is not None else "logits"


class _OfProbability(Distribution):
    """A distribution with a probability, or its log-odds, for each element."""

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None):
        name = _one_of(probs, logits)
        (value,) = broadcast_all(probs if name == "probs" else logits)
        setattr(self, name, value)
        self._param = value
        super().__init__(value.shape, validate_args=validate_args)

    @lazy_property
    def logits(self) -> Tensor:
        """The log-odds."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Tensor:
        """The probabilities."""
        return logits_to_probs(self.logits, is_binary=True)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        values = {
            name: self.__dict__[name].expand(batch_shape)
            for name in ("probs", "logits")
            if name in self.__dict__
        }
        param = values["probs" if "probs" in values else "logits"]
        return self._new(batch_shape, _instance, _param=param, **values)

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter that was given."""
        return self._param.size()


class Bernoulli(_OfProbability, ExponentialFamily):
    r"""
    The distribution of 1, with the probability `probs`, and 0.

    Parameters
    ----------
    probs : Tensor or float, optional
    logits : Tensor or float, optional
        The log-odds, in place of `probs`.
    validate_args : bool, optional

    Raises
    ------
    ValueError
        If both or neither are given.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.Bernoulli(torch.tensor(0.25)).variance
    tensor(0.1875)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        result = (self.probs >= 0.5).to(self.probs.dtype)
        return result.masked_fill(self.probs == 0.5, nan)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with no_grad():
            return _bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Tensor:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.logits,)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return softplus(x)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = arange(2, dtype=self._param.dtype, device=self._param.device)
        values = values.reshape((2,) + (1,) * len(self._batch_shape))
        return values.expand((2, *self._batch_shape)) if expand else values


class Geometric(_OfProbability):
    r"""
    The distribution of the number of failures before the first success.

    Parameters
    ----------
    probs : Tensor or float, optional
        Of a success.
    logits : Tensor or float, optional
        The log-odds, in place of `probs`.
    validate_args : bool, optional

    Raises
    ------
    ValueError
        If both or neither are given, or a probability is 0.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.Geometric(torch.tensor(0.25)).mean
    tensor(3.)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None):
        super().__init__(probs, logits, validate_args)
        if self._validate_args and probs is not None and not (self.probs > 0).all():
            raise ValueError(
                f"Expected parameter probs (Tensor of shape {tuple(self.probs.shape)}) of "
                f"distribution {self!r} to be positive but found invalid values:\n{self.probs}"
            )

    @property
    def mean(self) -> Tensor:
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Tensor:
        return self.probs * 0

    @property
    def variance(self) -> Tensor:
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with no_grad():
            u = self.probs.new_empty(self._extended_shape(sample_shape))
            u.uniform_(finfo(self.probs.dtype).tiny, 1)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        value, probs = broadcast_all(value, self.probs)
        # 0 failures with the probability 1 are 0 * -inf.
        probs = probs.masked_fill((probs == 1) & (value == 0), 0)
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self) -> Tensor:
        return (
            binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs
        )


class Categorical(Distribution):
    r"""
    The distribution of the numbers of categories.

    Parameters
    ----------
    probs : Tensor, optional
        Weights of the categories, in the last dimension; they are divided by their sum.
    logits : Tensor, optional
        Unnormalised logarithms of probabilities, in place of `probs`.
    validate_args : bool, optional

    Raises
    ------
    ValueError
        If both or neither are given, or there is no dimension.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.Categorical(torch.tensor([1.0, 3.0])).log_prob(torch.tensor(1))
    tensor(-0.2877)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {
        "probs": constraints.simplex,
        "logits": constraints.real_vector,
    }
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None):
        name = _one_of(probs, logits)
        param = probs if name == "probs" else logits
        if param.dim() < 1:
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        if name == "probs":
            self.probs = param / param.sum(-1, keepdim=True)
        else:
            self.logits = param - param.logsumexp(-1, keepdim=True)
        self._param = self.__dict__[name]
        self._num_events = self._param.size(-1)
        super().__init__(self._param.shape[:-1], validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        shape = (*batch_shape, self._num_events)
        values = {
            name: self.__dict__[name].expand(shape)
            for name in ("probs", "logits")
            if name in self.__dict__
        }
        param = values["probs" if "probs" in values else "logits"]
        instance = self._get_checked_instance(Categorical, _instance)
        return self._new(
            batch_shape, instance, _param=param, _num_events=self._num_events, **values
        )

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self._num_events - 1)

    @lazy_property
    def logits(self) -> Tensor:
        """The logarithms of the probabilities."""
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self) -> Tensor:
        """The probabilities."""
        return logits_to_probs(self.logits)

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter that was given."""
        return self._param.size()

    @property
    def mean(self) -> Tensor:
        return self.probs.new_full(self._extended_shape(), nan)

    @property
    def mode(self) -> Tensor:
        return self.probs.argmax(-1)

    @property
    def variance(self) -> Tensor:
        return self.probs.new_full(self._extended_shape(), nan)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            count = Size(tuple(sample_shape)).numel()
            flat = self.probs.reshape(-1, self._num_events)
            if not count or not flat.shape[0]:
                return flat.new_zeros(shape).long()
            return multinomial(flat, count, True).T.reshape(shape)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        value = value.long().unsqueeze(-1)
        value, logits = value.broadcast_to(_joint(value, self.logits)), self.logits
        logits = logits.expand((*value.shape[:-1], self._num_events))
        return logits.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self) -> Tensor:
        logits = self.logits.clamp(min=finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = arange(self._num_events, device=self._param.device)
        values = values.reshape((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values


def _joint(value: Tensor, logits: Tensor) -> Any:
    from autograd_cy import broadcast_shapes

    return (*broadcast_shapes(value.shape[:-1], logits.shape[:-1]), 1)


class OneHotCategorical(Distribution):
    r"""
    The distribution of vectors with a 1 at the place of a category, and zeros.

    Parameters
    ----------
    probs : Tensor, optional
        Weights of the categories, in the last dimension.
    logits : Tensor, optional
        Unnormalised logarithms of probabilities, in place of `probs`.
    validate_args : bool, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.OneHotCategorical(torch.tensor([1.0, 3.0])).mean
    tensor([0.2500, 0.7500])
    """

    arg_constraints: ClassVar[dict[str, Any]] = {
        "probs": constraints.simplex,
        "logits": constraints.real_vector,
    }
    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None):
        self._categorical = Categorical(probs, logits)
        shape = self._categorical.param_shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        instance = self._get_checked_instance(OneHotCategorical, _instance)
        return self._new(batch_shape, instance, _categorical=self._categorical.expand(batch_shape))

    @property
    def probs(self) -> Tensor:
        """The probabilities."""
        return self._categorical.probs

    @property
    def logits(self) -> Tensor:
        """The logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter that was given."""
        return self._categorical.param_shape

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        return one_hot(self.probs.argmax(-1), self._event_shape[0]).to(self.probs.dtype)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        chosen = self._categorical.sample(sample_shape)
        return one_hot(chosen, self._event_shape[0]).to(self.probs.dtype)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        return self._categorical.log_prob(value.argmax(-1))

    def entropy(self) -> Tensor:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        from autograd_cy import eye

        n = self._event_shape[0]
        values = eye(n, dtype=self.probs.dtype, device=self.probs.device)
        values = values.reshape((n,) + (1,) * len(self._batch_shape) + (n,))
        return values.expand((n, *self._batch_shape, n)) if expand else values

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class OneHotCategoricalStraightThrough(OneHotCategorical):
    r"""
    Categories as vectors of 0 and 1, with samples whose gradient is that of the probabilities.

    Parameters
    ----------
    probs : Tensor, optional
        Weights of the categories, in the last dimension.
    logits : Tensor, optional
        Unnormalised logarithms of probabilities, in place of `probs`.
    validate_args : bool, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> logits = torch.zeros(2, requires_grad=True)
    >>> d = torch.distributions.OneHotCategoricalStraightThrough(logits=logits)
    >>> d.rsample().sum().backward()
    >>> logits.grad
    tensor([0., 0.])
    """

    has_rsample = True

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        sample, probs = self.sample(sample_shape), self.probs
        return sample + (probs - probs.detach())
