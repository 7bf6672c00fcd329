"""Sets of values, which parameters and samples of distributions are checked against.

A constraint says which elements of a tensor satisfy it (`check`), how many dimensions on the right
make one element (`event_dim`), and whether values are discrete. ``biject_to`` and ``transform_to``
of ``constraint_registry`` find a transform from unconstrained numbers to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autograd_cy import Tensor, full, linalg
from autograd_cy import bool as _bool
from autograd_cy import cat as _join
from autograd_cy import stack as _pile

__all__ = [
    "Constraint",
    "boolean",
    "cat",
    "corr_cholesky",
    "dependent",
    "dependent_property",
    "greater_than",
    "greater_than_eq",
    "half_open_interval",
    "independent",
    "integer_interval",
    "interval",
    "is_dependent",
    "less_than",
    "lower_cholesky",
    "lower_triangular",
    "multinomial",
    "nonnegative",
    "nonnegative_integer",
    "one_hot",
    "positive",
    "positive_definite",
    "positive_integer",
    "positive_semidefinite",
    "real",
    "real_vector",
    "simplex",
    "square",
    "stack",
    "symmetric",
    "unit_interval",
]


class Constraint:
    """
    A set of values.

    Attributes
    ----------
    is_discrete : bool
        Whether the values are separate, such as integers.
    event_dim : int
        How many dimensions on the right belong to one value.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.constraints.positive.check(torch.tensor([1.0, -1.0]))
    tensor([ True, False])
    """

    is_discrete = False
    event_dim = 0

    def check(self, value: Tensor) -> Tensor:
        """
        Say which values are in the set.

        Parameters
        ----------
        value : Tensor

        Returns
        -------
        Tensor
            Bools, of the shape of `value` without its last `event_dim` dimensions.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define check")

    def __repr__(self) -> str:
        name = type(self).__name__.removeprefix("_")
        return name[0].upper() + name[1:] + "()"


def _whole(truth: Tensor, dims: int) -> Tensor:
    """Return whether all elements of the last dimensions are true."""
    if dims == 0:
        return truth
    return truth.reshape((*truth.shape[: truth.dim() - dims], -1)).all(-1)


class _Dependent(Constraint):
    """
    The place of a constraint that depends on parameters of an object.

    Parameters
    ----------
    is_discrete : bool, optional
    event_dim : int, optional
        What is known of it all the same; a call gives a copy that knows more.

    Returns
    -------
    Constraint

    Examples
    --------
    >>> from autograd_cy.distributions import constraints
    >>> constraints.dependent(is_discrete=True).is_discrete
    True
    """

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented):
        self._is_discrete = is_discrete
        self._event_dim = event_dim

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]
        return self._known(self._is_discrete, "is_discrete")

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        return self._known(self._event_dim, "event_dim")

    def _known(self, value: Any, name: str) -> Any:
        if value is NotImplemented:
            raise NotImplementedError(f"{name} of a dependent constraint is not known statically")
        return value

    def __call__(
        self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented
    ) -> _Dependent:
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
            event_dim=self._event_dim if event_dim is NotImplemented else event_dim,
        )

    def check(self, value: Tensor) -> Tensor:
        raise ValueError("Cannot determine validity of dependent constraint")


def is_dependent(constraint: Any) -> bool:
    """
    Say whether a constraint is known only with the parameters of an object.

    Parameters
    ----------
    constraint : Constraint

    Returns
    -------
    bool

    Examples
    --------
    >>> from autograd_cy.distributions import constraints
    >>> constraints.is_dependent(constraints.dependent)
    True
    """
    return isinstance(constraint, _Dependent)


class dependent_property(property, _Dependent):
    """
    A property that is a constraint of the parameters of its object.

    Of the class it is a dependent constraint.

    Parameters
    ----------
    fn : callable, optional
        The function of the property.
    is_discrete : bool, optional
    event_dim : int, optional

    Examples
    --------
    >>> from autograd_cy.distributions import Uniform, constraints
    >>> Uniform(1.0, 2.0).support
    Interval(lower_bound=1.0, upper_bound=2.0)
    >>> constraints.is_dependent(Uniform.support)
    True
    """

    def __init__(
        self,
        fn: Callable | None = None,
        *,
        is_discrete: Any = NotImplemented,
        event_dim: Any = NotImplemented,
    ):
        super().__init__(fn)
        self._is_discrete = is_discrete
        self._event_dim = event_dim

    def __call__(self, fn: Callable) -> dependent_property:  # type: ignore[override]
        """Take the function, as a decorator with options."""
        return dependent_property(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


class independent(Constraint):
    """
    A constraint whose last dimensions belong to one value.

    Parameters
    ----------
    base_constraint : Constraint
    reinterpreted_batch_ndims : int

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.distributions import constraints
    >>> constraints.independent(constraints.positive, 1).check(torch.tensor([1.0, -1.0]))
    tensor(False)
    """

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int):
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value: Tensor) -> Tensor:
        truth = self.base_constraint.check(value)
        dims = self.reinterpreted_batch_ndims
        if truth.dim() < dims:
            expected = self.base_constraint.event_dim + dims
            raise ValueError(
                f"Expected value.dim() >= {expected} but got {value.dim()} (shape "
                f"{tuple(value.shape)})"
            )
        return _whole(truth, dims)

    def __repr__(self) -> str:
        return f"IndependentConstraint({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class _Real(Constraint):
    def check(self, value: Tensor) -> Tensor:
        return value == value


class _Boolean(Constraint):
    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value == 0) | (value == 1)


class _OneHot(Constraint):
    is_discrete = True
    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return ((value == 0) | (value == 1)).all(-1) & (value.sum(-1) == 1)


class _Bounded(Constraint):
    """Values between bounds, as far as a subclass has them: numbers or tensors."""

    def __init__(self, *bounds: Any, **named: Any):
        left = self._names[len(bounds) :]
        if len(bounds) > len(self._names) or set(named) != set(left):
            raise TypeError(f"{type(self).__name__} takes {' and '.join(self._names)}")
        self._bounds = (*bounds, *(named[name] for name in left))
        for name, bound in zip(self._names, self._bounds, strict=True):
            setattr(self, name, bound)

    _names: tuple[str, ...] = ("lower_bound", "upper_bound")

    def __repr__(self) -> str:
        bounds = ", ".join(
            f"{name}={bound}" for name, bound in zip(self._names, self._bounds, strict=True)
        )
        parts = type(self).__name__.removeprefix("_").split("_")
        return f"{''.join(part[0].upper() + part[1:] for part in parts)}({bounds})"


class integer_interval(_Bounded):
    """
    Integers from a lower bound to an upper one, both included.

    Parameters
    ----------
    lower_bound, upper_bound : number or Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.constraints.integer_interval(0, 2).check(torch.tensor([0.5, 2.0]))
    tensor([False,  True])
    """

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        low, high = self._bounds
        return (value % 1 == 0) & (low <= value) & (value <= high)


class _IntegerGreaterThan(_Bounded):
    is_discrete = True
    _names = ("lower_bound",)

    def check(self, value: Tensor) -> Tensor:
        return (value % 1 == 0) & (value >= self._bounds[0])


class greater_than(_Bounded):
    """
    Numbers greater than a bound.

    Parameters
    ----------
    lower_bound : number or Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.constraints.greater_than(1.0).check(torch.tensor([1.0, 2.0]))
    tensor([False,  True])
    """

    _names = ("lower_bound",)

    def check(self, value: Tensor) -> Tensor:
        return self._bounds[0] < value


class greater_than_eq(_Bounded):
    """
    Numbers not less than a bound.

    Parameters
    ----------
    lower_bound : number or Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.constraints.greater_than_eq(1.0).check(torch.tensor([1.0, 0.0]))
    tensor([ True, False])
    """

    _names = ("lower_bound",)

    def check(self, value: Tensor) -> Tensor:
        return self._bounds[0] <= value


class less_than(_Bounded):
    """
    Numbers less than a bound.

    Parameters
    ----------
    upper_bound : number or Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.constraints.less_than(1.0).check(torch.tensor([1.0, 0.0]))
    tensor([False,  True])
    """

    _names = ("upper_bound",)

    def check(self, value: Tensor) -> Tensor:
        return value < self._bounds[0]


class interval(_Bounded):
    """
    Numbers from a lower bound to an upper one, both included.

    Parameters
    ----------
    lower_bound, upper_bound : number or Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.constraints.interval(0.0, 1.0).check(torch.tensor([1.0, 2.0]))
    tensor([ True, False])
    """

    def check(self, value: Tensor) -> Tensor:
        low, high = self._bounds
        return (low <= value) & (value <= high)


class half_open_interval(_Bounded):
    """
    Numbers from a lower bound, which is included, to an upper one, which isn't.

    Parameters
    ----------
    lower_bound, upper_bound : number or Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.constraints.half_open_interval(0.0, 1.0).check(torch.tensor([0.0, 1.0]))
    tensor([ True, False])
    """

    def check(self, value: Tensor) -> Tensor:
        low, high = self._bounds
        return (low <= value) & (value < high)


class _Simplex(Constraint):
    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class multinomial(Constraint):
    """
    Counts, not negative, with a sum of at most a bound.

    Parameters
    ----------
    upper_bound : int or Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.constraints.multinomial(3).check(torch.tensor([[1.0, 2.0], [2.0, 2.0]]))
    tensor([ True, False])
    """

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: Any):
        self.upper_bound = upper_bound

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)


class _LowerTriangular(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        return _whole(value.tril() == value, 2)


class _LowerCholesky(_LowerTriangular):
    def check(self, value: Tensor) -> Tensor:
        return super().check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(_LowerCholesky):
    def check(self, value: Tensor) -> Tensor:
        tolerance = 10 * value.shape[-1] * _epsilon(value)
        lengths = value.detach().square().sum(-1).sqrt()
        return super().check(value) & ((lengths - 1).abs() <= tolerance).all(-1)


def _epsilon(value: Tensor) -> float:
    from autograd_cy import finfo

    return finfo(value.dtype).eps


class _Square(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        square = value.shape[-1] == value.shape[-2]
        return full(value.shape[:-2], square, dtype=_bool, device=value.device)


class _Symmetric(_Square):
    def check(self, value: Tensor) -> Tensor:
        square = super().check(value)
        if not square.all():
            return square
        return _whole((value - value.mT).abs() <= 1e-6 + 1e-5 * value.mT.abs(), 2)


class _PositiveSemidefinite(_Symmetric):
    def check(self, value: Tensor) -> Tensor:
        symmetric = super().check(value)
        if not symmetric.all():
            return symmetric
        return (linalg.eigvalsh(value) >= 0).all(-1)


class _PositiveDefinite(_Symmetric):
    def check(self, value: Tensor) -> Tensor:
        symmetric = super().check(value)
        if not symmetric.all():
            return symmetric
        return (linalg.eigvalsh(value) > 0).all(-1)


class cat(Constraint):
    """
    Constraints of parts that follow each other along a dimension.

    Parameters
    ----------
    cseq : sequence of Constraint
    dim : int, optional
    lengths : sequence of int, optional
        Of the parts; 1 by default.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.distributions import constraints
    >>> both = constraints.cat([constraints.positive, constraints.real])
    >>> both.check(torch.tensor([-1.0, -1.0]))
    tensor([False,  True])
    """

    def __init__(
        self, cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None
    ):
        self.cseq = list(cseq)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        self.dim = dim

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]
        return any(part.is_discrete for part in self.cseq)

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        return max(part.event_dim for part in self.cseq)

    def check(self, value: Tensor) -> Tensor:
        start, parts = 0, []
        for part, length in zip(self.cseq, self.lengths, strict=True):
            parts.append(part.check(value.narrow(self.dim, start, length)))
            start += length
        return _join(parts, self.dim)


class stack(Constraint):
    """
    Constraints of the slices of a dimension.

    Parameters
    ----------
    cseq : sequence of Constraint
    dim : int, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.distributions import constraints
    >>> both = constraints.stack([constraints.positive, constraints.real])
    >>> both.check(torch.tensor([-1.0, -1.0]))
    tensor([False,  True])
    """

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0):
        self.cseq = list(cseq)
        self.dim = dim

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]
        return any(part.is_discrete for part in self.cseq)

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        dim = max(part.event_dim for part in self.cseq)
        return dim + 1 if self.dim + dim < 0 else dim

    def check(self, value: Tensor) -> Tensor:
        slices = [value.select(self.dim, i) for i in range(value.size(self.dim))]
        parts = [part.check(one) for part, one in zip(self.cseq, slices, strict=False)]
        return _pile(parts, self.dim)


dependent = _Dependent()
real = _Real()
real_vector = independent(real, 1)
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
positive = greater_than(0.0)
nonnegative = greater_than_eq(0.0)
unit_interval = interval(0.0, 1.0)
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
