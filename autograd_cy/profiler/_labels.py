"""Labels: :class:`record_function` as a decorator (the class is ext/core/recorder/labels.pxi)."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from autograd_cy._C.recorder import record_function as record_function

__all__ = ["labelled", "record_function"]


def labelled(function: Callable[..., Any], name: str, args: Any = None) -> Callable[..., Any]:
    """
    The function with a label around each call; of a coroutine, around all that it does.

    Parameters
    ----------
    function : callable
    name : str
    args : object, optional
        As for :class:`record_function`.

    Returns
    -------
    callable
        With the name and the docstring of `function`.
    """
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def awaited(*values: Any, **named: Any) -> Any:
            with record_function(name, args):
                return await function(*values, **named)

        return awaited

    @functools.wraps(function)
    def called(*values: Any, **named: Any) -> Any:
        with record_function(name, args):
            return function(*values, **named)

    return called
