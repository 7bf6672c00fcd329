"""Constructors that classes of several numbers of dimensions share."""

from __future__ import annotations

from types import FunctionType
from typing import Any, TypeVar

_Class = TypeVar("_Class", bound=type)


def own_constructor(cls: _Class) -> _Class:
    """Give a class its base's constructor by its own name: Python says it of missing arguments."""
    named: Any = cls
    shared = named.__init__
    own: Any = FunctionType(
        shared.__code__, shared.__globals__, "__init__", shared.__defaults__, shared.__closure__
    )
    own.__kwdefaults__ = shared.__kwdefaults__
    own.__annotations__ = shared.__annotations__
    own.__doc__ = shared.__doc__
    own.__module__ = cls.__module__
    own.__qualname__ = f"{cls.__qualname__}.__init__"
    named.__init__ = own
    return cls
