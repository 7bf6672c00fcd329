"""Transforms from unconstrained numbers to what satisfies a constraint."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from . import constraints as _constraints
from . import transforms

constraints: Any = _constraints

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """
    Return the transform from unconstrained numbers to what satisfies a constraint.

    Classes of constraints can be added by `register`. ``biject_to`` finds bijections,
    ``transform_to`` also transforms of more numbers than needed, which are easier to optimize.

    Parameters
    ----------
    constraint : Constraint

    Returns
    -------
    Transform

    Raises
    ------
    NotImplementedError
        If there is none.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.distributions import constraints, transform_to
    >>> transform_to(constraints.unit_interval)
    SigmoidTransform()
    """

    def __init__(self) -> None:
        self._registry: dict[type, Callable[[Any], transforms.Transform]] = {}
        super().__init__()

    def register(self, constraint: Any, factory: Any = None) -> Any:
        """
        Let a function make the transforms of a constraint, or decorate the function.

        Parameters
        ----------
        constraint : Constraint or type
        factory : callable, optional
            From a constraint to a transform.

        Returns
        -------
        callable

        Raises
        ------
        TypeError
            If `constraint` isn't one.
        """
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        kind = type(constraint) if isinstance(constraint, constraints.Constraint) else constraint
        if not (isinstance(kind, type) and issubclass(kind, constraints.Constraint)):
            raise TypeError(
                "Expected constraint to be either a Constraint subclass or instance, but got "
                f"{constraint}"
            )
        self._registry[kind] = factory
        return factory

    def __call__(self, constraint: Any) -> transforms.Transform:
        """Return the transform of a constraint."""
        try:
            factory = self._registry[type(constraint)]
        except KeyError:
            raise NotImplementedError(
                f"Cannot transform {type(constraint).__name__} constraints"
            ) from None
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


# Functions with a name, so that the registries can be pickled.
def _identity(constraint: Any) -> transforms.Transform:
    return transforms.identity_transform


def _interval(constraint: Any) -> transforms.Transform:
    low, high = constraint.lower_bound, constraint.upper_bound
    if isinstance(low, (int, float)) and low == 0 and high == 1:
        return transforms.SigmoidTransform()
    return transforms.ComposeTransform(
        [transforms.SigmoidTransform(), transforms.AffineTransform(low, high - low)]
    )


def _greater(constraint: Any) -> transforms.Transform:
    low = constraint.lower_bound
    return transforms.ComposeTransform(
        [transforms.ExpTransform(), transforms.AffineTransform(low, 1)]
    )


def _less(constraint: Any) -> transforms.Transform:
    return transforms.ComposeTransform(
        [transforms.ExpTransform(), transforms.AffineTransform(constraint.upper_bound, -1)]
    )


def _corr_cholesky(constraint: Any) -> transforms.Transform:
    return transforms.CorrCholeskyTransform()


def _stick_breaking(constraint: Any) -> transforms.Transform:
    return transforms.StickBreakingTransform()


def _softmax(constraint: Any) -> transforms.Transform:
    return transforms.SoftmaxTransform()


def _lower_cholesky(constraint: Any) -> transforms.Transform:
    return transforms.LowerCholeskyTransform()


def _positive_definite(constraint: Any) -> transforms.Transform:
    return transforms.PositiveDefiniteTransform()


def _independent(find: ConstraintRegistry, constraint: Any) -> transforms.Transform:
    return transforms.IndependentTransform(
        find(constraint.base_constraint), constraint.reinterpreted_batch_ndims
    )


def _cat(find: ConstraintRegistry, constraint: Any) -> transforms.Transform:
    return transforms.CatTransform(
        [find(part) for part in constraint.cseq], constraint.dim, constraint.lengths
    )


def _stack(find: ConstraintRegistry, constraint: Any) -> transforms.Transform:
    return transforms.StackTransform([find(part) for part in constraint.cseq], constraint.dim)


for _registry in (biject_to, transform_to):
    _registry.register(constraints.real, _identity)
    _registry.register(constraints.independent, partial(_independent, _registry))
    _registry.register(constraints.greater_than, _greater)
    _registry.register(constraints.greater_than_eq, _greater)
    _registry.register(constraints.less_than, _less)
    _registry.register(constraints.interval, _interval)
    _registry.register(constraints.half_open_interval, _interval)
    _registry.register(constraints.corr_cholesky, _corr_cholesky)
    _registry.register(constraints.cat, partial(_cat, _registry))
    _registry.register(constraints.stack, partial(_stack, _registry))

biject_to.register(constraints.simplex, _stick_breaking)
transform_to.register(constraints.simplex, _softmax)
transform_to.register(constraints.lower_cholesky, _lower_cholesky)
transform_to.register(constraints.positive_definite, _positive_definite)
transform_to.register(constraints.positive_semidefinite, _positive_definite)
