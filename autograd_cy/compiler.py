"""What programs say to a compiler, which there is none of here: functions run as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from autograd_cy._absent.names import no_attribute

__all__ = [
    "allow_in_graph",
    "cudagraph_mark_step_begin",
    "disable",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "reset",
]

_Function = TypeVar("_Function", bound=Callable)


def is_compiling() -> bool:
    """
    Whether the program is being compiled: never.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.compiler.is_compiling()
    False
    """
    return False


def is_dynamo_compiling() -> bool:
    """
    Whether the program is being traced: never.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.compiler.is_dynamo_compiling()
    False
    """
    return False


def is_exporting() -> bool:
    """
    Whether the program is being exported: never.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.compiler.is_exporting()
    False
    """
    return False


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """
    Keep a function from being compiled, which it isn't.

    Parameters
    ----------
    fn : callable, optional
        Without it, a decorator is returned.
    recursive : bool, optional
        Not used.
    reason : str, optional
        Not used.

    Returns
    -------
    callable
        The function.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> @ag.compiler.disable
    ... def double(x):
    ...     return x * 2
    >>> double(ag.ones(1)), ag.compiler.disable(recursive=False)(abs) is abs
    (tensor([2.]), True)
    """
    return (lambda function: function) if fn is None else fn


def allow_in_graph(fn: _Function) -> _Function:
    """
    Let a function be part of a compiled one; it stays as it is.

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
    >>> ag.compiler.allow_in_graph(abs) is abs
    True
    """
    return fn


def cudagraph_mark_step_begin() -> None:
    """
    Do nothing, as there are no graphs of a GPU.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.compiler.cudagraph_mark_step_begin()
    """


def reset() -> None:
    """
    Do nothing, as nothing was compiled.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.compiler.reset()
    """


def __getattr__(name: str) -> object:
    raise no_attribute(__name__, name)
