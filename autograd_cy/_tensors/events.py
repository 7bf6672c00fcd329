"""Events in profiles of operators that are functions in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from autograd_cy._C.recorder import _seen

__all__ = ["seen_as"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


def seen_as(name: str) -> Callable[[_Function], _Function]:
    """Let each call of a function be an event of that name, such as ``aten::einsum``."""

    def decorate(function: _Function) -> _Function:
        return cast(_Function, _seen(name, function))

    return decorate
