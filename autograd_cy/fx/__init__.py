"""Names that programs import of ``torch.fx``; programs run as they are, without a graph of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from autograd_cy._lazy import attach as _attach

__all__ = ["has_side_effect", "wrap"]

_Function = TypeVar("_Function", bound="Callable | str")


def wrap(fn_or_name: _Function) -> _Function:
    """
    Mark a function that a graph is to call as a whole; it stays as it is.

    Parameters
    ----------
    fn_or_name : callable or str

    Returns
    -------
    callable or str
        What was given.

    Raises
    ------
    RuntimeError
        If it is something else.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> @ag.fx.wrap
    ... def double(x):
    ...     return x * 2
    >>> double(ag.ones(1))
    tensor([2.])
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError(
            "Unsupported type for global function! Must be either a callable or string name, not "
            f"{type(fn_or_name).__name__}"
        )
    return fn_or_name


def has_side_effect(fn: _Function) -> _Function:
    """
    Mark a function that a graph is to keep; it stays as it is.

    Parameters
    ----------
    fn : callable

    Returns
    -------
    callable
        The function.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.fx.has_side_effect(print) is print
    True
    """
    return fn


__getattr__, __dir__ = _attach(__name__)
