"""Comparison of tensors with a tolerance, or as wholes, and the choice by a condition."""

from __future__ import annotations

from typing import Any

from autograd_cy._C import ops_arithmetic as _arithmetic
from autograd_cy._C import ops_comparison as _comparison
from autograd_cy._C.arguments import _check_arguments
from autograd_cy._C.tensor import Tensor, _install
from autograd_cy._tensors.events import seen_as
from autograd_cy._tensors.predicates import need_tensor

__all__ = ["allclose", "equal", "isclose"]


@seen_as("aten::isclose")
def isclose(
    input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Tensor:
    """
    Return whether ``|input - other| <= atol + rtol * |other|``, element by element.

    Parameters
    ----------
    input, other : Tensor
        Of one dtype; the two broadcast.
    rtol, atol : float
        Relative and absolute tolerance, not negative.
    equal_nan : bool, default False
        Whether NaN is close to NaN.

    Returns
    -------
    Tensor
        Of dtype bool and the shape that the two broadcast to.

    Raises
    ------
    RuntimeError
        If the dtypes differ, or a tolerance is negative.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.isclose(ag.tensor([1.0]), ag.tensor([1.0 + 1e-7]))
    tensor([True])
    """
    _check_arguments(
        "isclose",
        (input, "Tensor", "input", 1),
        (other, "Tensor", "other", 2),
        (rtol, "float", "rtol", 3),
        (atol, "float", "atol", 4),
        (equal_nan, "bool", "equal_nan", 5),
    )
    if input.dtype != other.dtype:
        raise RuntimeError(f"{other.dtype} did not match {input.dtype}")
    if rtol < 0 or atol < 0:
        raise RuntimeError(f"rtol and atol must be >= 0, but got {rtol} and {atol}")
    close = _comparison.eq(input, other)
    if equal_nan:
        close = close | (_comparison.isnan(input) & _comparison.isnan(other))
    if rtol == 0 and atol == 0:
        return close
    if not (input.is_floating_point() or input.is_complex()):
        input, other = input.double(), other.double()
    gap = _arithmetic.abs(input - other)
    allowed = atol + _arithmetic.abs(rtol * other)
    return close | (_comparison.isfinite(gap) & (gap <= allowed))


@seen_as("aten::allclose")
def allclose(
    input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """
    Return whether all elements are close, see :func:`isclose`.

    Parameters
    ----------
    input, other, rtol, atol, equal_nan
        As for :func:`isclose`.

    Returns
    -------
    bool

    Raises
    ------
    RuntimeError
        If the dtypes differ, or a tolerance is negative.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.allclose(ag.ones(2), ag.ones(2) + 1e-9)
    True
    """
    _check_arguments("allclose", (input, "Tensor", "input", 1), (other, "Tensor", "other", 2))
    return bool(isclose(input, other, rtol, atol, equal_nan).all())


@seen_as("aten::equal")
def equal(input: Tensor, other: Tensor) -> bool:
    """
    Return whether two tensors have the same shape and elements.

    Parameters
    ----------
    input, other : Tensor
        Of any shapes.

    Returns
    -------
    bool
        False if the shapes differ; tensors with NaN are equal to none.

    Raises
    ------
    TypeError
        If one is no tensor.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.equal(ag.ones(2), ag.ones(2))
    True
    """
    _check_arguments("equal", (input, "Tensor", "input", 1), (other, "Tensor", "other", 2))
    return input.shape == other.shape and bool(_comparison.eq(input, other).all())


def _where(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    """
    This tensor where `condition` holds, `other` elsewhere.

    Parameters
    ----------
    condition : Tensor
        Of dtype bool.
    other : Tensor or Number

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.zeros(2).where(ag.tensor([True, False]), 5)
    tensor([0., 5.])
    """
    return _comparison.where(condition, self, other)


def _is_same_size(self: Tensor, other: Tensor) -> bool:
    """Return whether another tensor has the same shape."""
    return self.shape == need_tensor(other, "is_same_size", "other").shape


for _name, _function in {
    "is_same_size": _is_same_size,
    "isclose": isclose,
    "allclose": allclose,
    "equal": equal,
    "where": _where,
}.items():
    _install(_name, _function)
