"""The module of an event: the path of the module calls around it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from autograd_cy._C import recorder as _recorder

__all__ = ["called", "watch"]

_running = threading.local()
# Module -> {identity of one below it: its name}, as found last; what is found is checked.
_names: WeakKeyDictionary[Any, dict[int, str]] = WeakKeyDictionary()


def watch() -> None:
    """Have the calls of all modules noted, as long as some session wants to know."""
    hooks = sys.modules.get("autograd_cy.nn.hooks")
    if hooks is not None:
        hooks._hook_all()


def called(call: Callable[..., Any], module: Any, *args: Any) -> Any:
    """
    Return ``call(module, *args)``, with the module's path for the events in it.

    Parameters
    ----------
    call : callable
    module : Module
    *args : object
    """
    stack = _running.__dict__.setdefault("stack", [])
    path = _path(stack, module)
    token = _recorder._enter_module(path)
    stack.append((module, path))
    try:
        return call(module, *args)
    finally:
        stack.pop()
        _recorder._leave_module(token)


def _path(stack: list[tuple[Any, str]], module: Any) -> str:
    """The class of the outermost module, then names of attributes."""
    for parent, path in reversed(stack):
        name = _name_in(parent, module)
        if name is not None:
            return f"{path}.{name}" if name else path
    return type(module).__name__


def _name_in(parent: Any, module: Any) -> str | None:
    """The dotted name of a module in another one, or None."""
    known = _names.get(parent, {})
    name = known.get(id(module))
    if name is not None and _below(parent, name) is module:
        return name
    known = {id(below): below_name for below_name, below in parent.named_modules()}
    _names[parent] = known
    return known.get(id(module))


def _below(parent: Any, name: str) -> Any:
    for part in name.split(".") if name else ():
        parent = parent._modules.get(part) if parent is not None else None
    return parent
