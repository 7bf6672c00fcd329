"""The base class of distributions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from autograd_cy import Size, Tensor, no_grad
from autograd_cy._C._warned import warn as _warn

from . import constraints
from .constraints import Constraint
from .utils import lazy_property

__all__ = ["Distribution"]

_DEBUG = __debug__


class Distribution:
    """
    The base of all distributions.

    Subclasses define some of `expand`, `rsample` or `sample`, `log_prob`, `cdf`, `icdf`, `entropy`,
    `mean`, `mode`, `variance`, `support` and `arg_constraints`.

    Parameters
    ----------
    batch_shape : Size, optional
        The shape of distributions with parameters of their own.
    event_shape : Size, optional
        The shape of one sample.
    validate_args : bool, optional
        Whether to check parameters and values against their constraints; by default True, unless
        Python runs with ``-O``.

    Raises
    ------
    ValueError
        If a parameter doesn't satisfy its constraint.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> d = torch.distributions.Normal(torch.zeros(2), 1.0)
    >>> isinstance(d, torch.distributions.Distribution), d.batch_shape
    (True, autograd_cy.Size([2]))
    """

    has_rsample = False
    has_enumerate_support = False
    _validate_args = _DEBUG

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """
        Choose whether distributions made from now on check their arguments.

        Parameters
        ----------
        value : bool

        Raises
        ------
        ValueError
            If it is not a bool.
        """
        if value not in (True, False):
            raise ValueError(f"validate_args must be True or False, not {value!r}")
        Distribution._validate_args = value

    def __init__(
        self,
        batch_shape: Any = (),
        event_shape: Any = (),
        validate_args: bool | None = None,
    ):
        self._batch_shape = Size(batch_shape)
        self._event_shape = Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()
        super().__init__()

    def _check_parameters(self) -> None:
        try:
            limits = self.arg_constraints
        except NotImplementedError:
            return
        for name, constraint in limits.items():
            if constraints.is_dependent(constraint):
                continue
            if name not in self.__dict__ and isinstance(
                getattr(type(self), name, None), (lazy_property, property)
            ):
                continue  # computed from another parameter, which is checked
            value = getattr(self, name)
            if not constraint.check(value).all():
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape "
                    f"{tuple(value.shape)}) of distribution {self!r} to satisfy the constraint "
                    f"{constraint!r}, but found invalid values:\n{value}"
                )

    def _new(self, batch_shape: Any, instance: Any, **attributes: Any) -> Any:
        """Another object of this class, or `instance`, with attributes and no checks."""
        result = self._get_checked_instance(type(self), instance)
        result.__dict__.update(attributes)
        Distribution.__init__(result, batch_shape, self._event_shape, validate_args=False)
        result._validate_args = self._validate_args
        return result

    def _get_checked_instance(self, cls: type, instance: Any = None) -> Any:
        if instance is None and type(self).__init__ is not cls.__init__:  # type: ignore[misc]
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ "
                "method must also define a custom .expand() method."
            )
        return type(self).__new__(type(self)) if instance is None else instance

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        """
        Return this distribution with another batch shape, on the memory of its parameters.

        Parameters
        ----------
        batch_shape : sequence of int

        Returns
        -------
        Distribution
        """
        raise NotImplementedError(f"{type(self).__name__} does not define expand")

    @property
    def batch_shape(self) -> Size:
        """The shape of distributions with parameters of their own."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one sample."""
        return self._event_shape

    @property
    def arg_constraints(self) -> dict[str, Constraint]:
        """The constraints of the parameters, by name."""
        raise NotImplementedError(f"{type(self).__name__} does not define arg_constraints")

    @property
    def support(self) -> Any:
        """The constraint of samples."""
        raise NotImplementedError(f"{type(self).__name__} does not define support")

    @property
    def mean(self) -> Tensor:
        """The mean."""
        raise NotImplementedError(f"{type(self).__name__} does not define mean")

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """The variance."""
        raise NotImplementedError(f"{type(self).__name__} does not define variance")

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """
        Draw samples that have no history.

        Parameters
        ----------
        sample_shape : sequence of int, optional

        Returns
        -------
        Tensor
            Of the shape `sample_shape`, then that of the batch, then that of an event.
        """
        with no_grad():
            return self.rsample(sample_shape)

    def sample_n(self, n: int) -> Tensor:
        """
        Call ``sample((n,))``, which took its place.

        Parameters
        ----------
        n : int

        Returns
        -------
        Tensor

        Warns
        -----
        FutureWarning
            Always: the name is deprecated.
        """
        _warn("`sample_n(n)` will be deprecated. Use `sample((n,))` instead.", FutureWarning)
        return self.sample((n,))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """
        Draw samples through which gradients reach the parameters.

        Parameters
        ----------
        sample_shape : sequence of int, optional

        Returns
        -------
        Tensor
        """
        raise NotImplementedError(f"{type(self).__name__} does not define rsample")

    def log_prob(self, value: Tensor) -> Tensor:
        """
        Return the logarithm of the density, or of the probability.

        Parameters
        ----------
        value : Tensor

        Returns
        -------
        Tensor
        """
        raise NotImplementedError(f"{type(self).__name__} does not define log_prob")

    def cdf(self, value: Tensor) -> Tensor:
        """
        Return the probability of values up to `value`.

        Parameters
        ----------
        value : Tensor

        Returns
        -------
        Tensor
        """
        raise NotImplementedError(f"{type(self).__name__} does not define cdf")

    def icdf(self, value: Tensor) -> Tensor:
        """
        Return the value up to which the probability is `value`.

        Parameters
        ----------
        value : Tensor

        Returns
        -------
        Tensor
        """
        raise NotImplementedError(f"{type(self).__name__} does not define icdf")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """
        Return all values of a discrete distribution, along a new first dimension.

        Parameters
        ----------
        expand : bool, optional
            Whether to repeat them for each distribution of the batch.

        Returns
        -------
        Tensor
        """
        raise NotImplementedError(f"{type(self).__name__} does not define enumerate_support")

    def entropy(self) -> Tensor:
        """
        Return the entropy, in nats.

        Returns
        -------
        Tensor
        """
        raise NotImplementedError(f"{type(self).__name__} does not define entropy")

    def perplexity(self) -> Tensor:
        """
        Return the exponential of the entropy.

        Returns
        -------
        Tensor
        """
        return self.entropy().exp()

    def _extended_shape(self, sample_shape: Any = ()) -> Size:
        return Size(tuple(sample_shape) + tuple(self._batch_shape) + tuple(self._event_shape))

    def _validate_sample(self, value: Any) -> None:
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        dims = len(self._event_shape)
        if value.dim() < dims or value.shape[value.dim() - dims :] != self._event_shape:
            raise ValueError(
                "The right-most size of value must match event_shape: "
                f"{value.shape} vs {self._event_shape}."
            )
        expected = tuple(self._batch_shape) + tuple(self._event_shape)
        for one, other in zip(reversed(value.shape), reversed(expected), strict=False):
            if one != 1 and other != 1 and one != other:
                raise ValueError(
                    f"Value is not broadcastable with batch_shape+event_shape: {value.shape} vs "
                    f"{Size(expected)}."
                )
        try:
            support = self.support
        except NotImplementedError:
            return
        if not support.check(value).all():
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) "
                f"to be within the support ({support!r}) of the distribution {self!r}, but found "
                f"invalid values:\n{value}"
            )

    def _check(self, value: Any) -> None:
        if self._validate_args:
            self._validate_sample(value)

    def __repr__(self) -> str:
        shown = []
        for name in self._shown():
            value = self.__dict__[name]
            small = not isinstance(value, Tensor) or value.numel() == 1
            shown.append(f"{name}: {value if small else value.size()}")
        return f"{type(self).__name__}({', '.join(shown)})"

    def _shown(self) -> list[str]:
        return [name for name in self.arg_constraints if name in self.__dict__]


class _OfParameters(Distribution):
    """A distribution of numbers, one for each element of its parameters, which are broadcast."""

    _parameters: ClassVar[tuple[str, ...]] = ()

    def __init__(self, *values: Any, validate_args: bool | None = None):
        from .utils import broadcast_all

        tensors = broadcast_all(*values)
        for name, value in zip(self._parameters, tensors, strict=True):
            setattr(self, name, value)
        super().__init__(tensors[0].shape, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        values = {name: getattr(self, name).expand(batch_shape) for name in self._parameters}
        return self._new(batch_shape, _instance, **values)
