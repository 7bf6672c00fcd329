"""Constructors that classes of several numbers of dimensions share."""

from __future__ import annotations

import functools
from typing import Any, TypeVar

_Class = TypeVar("_Class", bound=type)


def own_constructor(cls: _Class) -> _Class:
    """Let errors about the arguments of a constructor that is a base's begin with this class."""
    named: Any = cls
    shared = named.__init__
    theirs, own = f"{shared.__qualname__}()", f"{cls.__qualname__}.__init__()"

    @functools.wraps(shared)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            shared(self, *args, **kwargs)
        except TypeError as error:
            text = str(error)
            if text.startswith(theirs):
                error.args = (own + text.removeprefix(theirs),)
            raise

    __init__.__module__, __init__.__qualname__ = cls.__module__, f"{cls.__qualname__}.__init__"
    named.__init__ = __init__
    return cls
