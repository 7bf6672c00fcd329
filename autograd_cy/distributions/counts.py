"""Distributions of counts."""

from __future__ import annotations

from typing import Any, ClassVar

from autograd_cy import Tensor, arange, broadcast_tensors, no_grad, special, where
from autograd_cy import binomial as _binomial
from autograd_cy import poisson as _poisson
from autograd_cy.nn.functional import logsigmoid, softplus

from . import constraints
from .discrete import Categorical, _one_of
from .distribution import Distribution, _OfParameters
from .exp_family import ExponentialFamily
from .gamma import Gamma
from .utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits

__all__ = ["Binomial", "Multinomial", "NegativeBinomial", "Poisson"]


class Poisson(_OfParameters, ExponentialFamily):
    r"""
    The Poisson distribution, with :math:`P(k) = \lambda^k e^{-\lambda} / k!`.

    Parameters
    ----------
    rate : Tensor or float
    validate_args : bool, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.Poisson(2.0).log_prob(torch.tensor(0.0))
    tensor(-2.)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer
    _parameters = ("rate",)
    rate: Tensor

    def __init__(self, rate: Any, validate_args: bool | None = None):
        super().__init__(rate, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.rate

    @property
    def mode(self) -> Tensor:
        return self.rate.floor()

    @property
    def variance(self) -> Tensor:
        return self.rate

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with no_grad():
            return _poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        rate, value = broadcast_all(self.rate, value)
        return special.xlogy(value, rate) - rate - (value + 1).lgamma()

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.rate.log(),)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return x.exp()


class _Trials(Distribution):
    """A distribution of counts of trials, each with a probability or log-odds."""

    def __init__(
        self,
        total_count: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ):
        name = _one_of(probs, logits)
        count, value = broadcast_all(total_count, probs if name == "probs" else logits)
        self.total_count = count.type_as(value)
        setattr(self, name, value)
        self._param = value
        super().__init__(value.shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        values = {
            name: self.__dict__[name].expand(batch_shape)
            for name in ("total_count", "probs", "logits")
            if name in self.__dict__
        }
        param = values["probs" if "probs" in values else "logits"]
        return self._new(batch_shape, _instance, _param=param, **values)

    @lazy_property
    def logits(self) -> Tensor:
        """The log-odds."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Tensor:
        """The probabilities."""
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter that was given."""
        return self._param.size()


class Binomial(_Trials):
    r"""
    The distribution of the number of successes among `total_count` trials.

    Parameters
    ----------
    total_count : Tensor or int, optional
    probs : Tensor, optional
        Of a success.
    logits : Tensor, optional
        The log-odds, in place of `probs`.
    validate_args : bool, optional

    Raises
    ------
    ValueError
        If both or neither are given.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.Binomial(4, torch.tensor([0.25, 0.5])).mean
    tensor([1., 2.])
    """

    arg_constraints: ClassVar[dict[str, Any]] = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True

    def __init__(
        self,
        total_count: Any = 1,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ):
        super().__init__(total_count, probs, logits, validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        return ((self.total_count + 1) * self.probs).floor().minimum(self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return _binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        n, logits = self.total_count, self.logits
        choices = (n + 1).lgamma() - (value + 1).lgamma() - (n - value + 1).lgamma()
        return choices + value * logits - n * softplus(logits)

    def _one_count(self, what: str) -> int:
        count = int(self.total_count.max())
        if not self.total_count.min() == count:
            raise NotImplementedError(
                f"Inhomogeneous total count not supported by `{what}`. Make a distribution for "
                "each total_count"
            )
        return count

    def entropy(self) -> Tensor:
        self._one_count("entropy")
        logs = self.log_prob(self.enumerate_support(False))
        return -(logs.exp() * logs).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        count = self._one_count("enumerate_support")
        values = arange(1 + count, dtype=self._param.dtype, device=self._param.device)
        values = values.reshape((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values


class NegativeBinomial(_Trials):
    r"""
    The distribution of the number of successes before `total_count` failures.

    Parameters
    ----------
    total_count : Tensor or float
        Not necessarily an integer.
    probs : Tensor, optional
        Of a success.
    logits : Tensor, optional
        The log-odds, in place of `probs`.
    validate_args : bool, optional

    Raises
    ------
    ValueError
        If both or neither are given.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.NegativeBinomial(2.0, torch.tensor(0.5)).mean
    tensor(2.)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.logits.exp()

    @property
    def mode(self) -> Tensor:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.mean / (-self.logits).sigmoid()

    @lazy_property
    def _gamma(self) -> Gamma:
        """The distribution of the rates of Poisson numbers."""
        return Gamma(self.total_count, (-self.logits).exp(), validate_args=False)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with no_grad():
            return _poisson(self._gamma.sample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        n = self.total_count
        trials = n * logsigmoid(-self.logits) + value * logsigmoid(self.logits)
        choices = (n + value).lgamma() - (value + 1).lgamma() - n.lgamma()
        return trials + where(n + value == 0, 0.0, choices)


class Multinomial(Distribution):
    r"""
    The distribution of the numbers of categories among `total_count` draws.

    Parameters
    ----------
    total_count : int, optional
    probs : Tensor, optional
        Weights of the categories, in the last dimension.
    logits : Tensor, optional
        Unnormalised logarithms of probabilities, in place of `probs`.
    validate_args : bool, optional

    Raises
    ------
    NotImplementedError
        If the numbers of draws are a tensor.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.Multinomial(4, torch.tensor([1.0, 3.0])).mean
    tensor([1., 3.])
    """

    arg_constraints: ClassVar[dict[str, Any]] = {
        "probs": constraints.simplex,
        "logits": constraints.real_vector,
    }

    def __init__(
        self,
        total_count: int = 1,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ):
        if not isinstance(total_count, int):
            raise NotImplementedError(
                "inhomogeneous total_count is not supported: make a distribution for each of them"
            )
        self.total_count = total_count
        self._categorical = Categorical(probs, logits)
        shape = self._categorical.param_shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._new(
            batch_shape,
            self._get_checked_instance(Multinomial, _instance),
            total_count=self.total_count,
            _categorical=self._categorical.expand(batch_shape),
        )

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        return constraints.multinomial(self.total_count)

    @property
    def probs(self) -> Tensor:
        """The probabilities."""
        return self._categorical.probs

    @property
    def logits(self) -> Tensor:
        """The logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter that was given."""
        return self._categorical.param_shape

    @property
    def mean(self) -> Tensor:
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with no_grad():
            drawn = self._categorical.sample((self.total_count, *tuple(sample_shape)))
            drawn = drawn.movedim(0, -1)
            counts = self.probs.new_zeros(self._extended_shape(sample_shape))
            return counts.scatter_add_(-1, drawn, counts.new_ones(drawn.shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        logits, value = broadcast_tensors(self.logits, value)
        logits = where((value == 0) & (logits == -float("inf")), 0.0, logits)
        choices = (value.sum(-1) + 1).lgamma() - (value + 1).lgamma().sum(-1)
        return choices + (logits * value).sum(-1)

    def entropy(self) -> Tensor:
        n = self.probs.new_full((), self.total_count)
        each = Binomial(self.total_count, self.probs, validate_args=False)
        support = each.enumerate_support(False)[1:]
        factorials = (each.log_prob(support).exp() * (support + 1).lgamma()).sum((0, -1))
        return n * self._categorical.entropy() - (n + 1).lgamma() + factorials
