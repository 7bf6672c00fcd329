"""
The names that the table has, and the errors for those that it calls absent.

A stand-in is made at its first use. One that begins with a capital letter is a class, which other
classes may extend and ``isinstance`` takes; the others are functions.
"""

from __future__ import annotations

import sys
from abc import ABCMeta
from importlib import import_module
from types import ModuleType
from typing import Any, NoReturn

from autograd_cy._lazy import ROOT
from autograd_cy._lazy.table import ABSENT, MODULES, MOVED, STAND_INS, WITHOUT_DEVICE

__all__ = [
    "attribute",
    "attribute_error",
    "fill_module",
    "import_error",
    "is_module",
    "method_error",
    "use_error",
]


def _inner(path: str) -> str:
    """A module's path without the package's name."""
    return path[len(ROOT) :]


def _theirs(path: str, name: str) -> str:
    """The name in torch."""
    return ".".join(filter(None, ("torch", _inner(path), name)))


def is_module(path: str) -> bool:
    """Tell if the table has a module by this path."""
    inner = _inner(path)
    return inner != "" and (inner in MOVED or inner in STAND_INS)


def attribute(path: str, name: str) -> Any:
    """Return what the table has by a name that a module lacks: a module or a stand-in."""
    if is_module(f"{path}.{name}"):
        return import_module(f"{path}.{name}")
    if name not in STAND_INS.get(_inner(path), ()):
        raise attribute_error(path, name)
    # A module that is being imported isn't an attribute of its package yet.
    module = sys.modules.get(path) or import_module(path)
    return vars(module).setdefault(name, _stand_in(path, name))


def attribute_error(path: str, name: str) -> AttributeError:
    """Make the error of a module without this name; it says what to do where torch has it."""
    device = WITHOUT_DEVICE.get(_inner(path))
    hint = f": {device}" if device else _counterpart(path, name)
    if not hint and _inner(path) in MOVED:
        home = _home(path)
        if _counterpart(home, name):
            return attribute_error(home, name)
    return AttributeError(f"module {path!r} has no attribute {name!r}{hint}")


def import_error(path: str) -> ModuleNotFoundError | None:
    """
    Make the error of an import of what torch has by this path; None if the table lacks it.

    It has no ``name``: importlib drops errors of ``from package import name`` that carry it.
    """
    parent, _, name = path.rpartition(".")
    reason = _counterpart(parent, name)
    if not reason and _inner(parent) in MOVED and _counterpart(_home(parent), name):
        reason = f": {attribute_error(parent, name)}"
    return ModuleNotFoundError(f"cannot import {path}{reason}") if reason else None


def method_error(tensor: Any, owner: type, name: str) -> AttributeError:
    """Make the error of a tensor, or of its class, without a method that torch's tensors have."""
    kind = "autograd_cy.Tensor" if owner.__name__ == "Tensor" else owner.__name__
    which = f"type object {kind!r}" if tensor is None else f"{kind!r} object"
    return AttributeError(
        f"{which} has no attribute {name!r}{_counterpart('autograd_cy.Tensor', name)}",
        name=name,
        obj=owner if tensor is None else tensor,
    )


def use_error(path: str, name: str) -> Exception:
    """Make the error of a use of a stand-in: it names it, and what to do instead."""
    way_out = STAND_INS[_inner(path)][name]
    return RuntimeError(
        f"{name}: autograd_cy has no counterpart of {_theirs(path, name)} ({way_out})"
    )


def _counterpart(path: str, name: str) -> str:
    """The end of an error message: what to use instead of this name of torch; or empty."""
    way_out = ABSENT.get(_inner(path), {}).get(name)
    return f": it has no counterpart of {_theirs(path, name)} ({way_out})" if way_out else ""


def _home(path: str) -> str:
    """The first module that has names of a moved one."""
    return f"{ROOT}{MOVED[_inner(path)][0].partition(':')[0]}".rstrip(".")


def fill_module(module: ModuleType) -> None:
    """Set the attributes of a module of the table."""
    path = _inner(module.__name__)
    module.__doc__ = f"What torch has in ``torch.{path}``, from where it is here."
    public = []
    for part in MOVED.get(path, ()):
        source, _, names = part.partition(": ")
        home = import_module(f"{ROOT}{source}".rstrip("."))
        for name in names.split():
            here, _, there = name.partition("=")
            setattr(module, here, getattr(home, there or here))
            public.append(here)
    public += STAND_INS.get(path, ())
    module.__all__ = [name for name in public if not name.startswith("_")]  # type: ignore[attr-defined]


class _StandIn(ABCMeta):
    """The class of classes that can be imported and extended, and raise when they are called."""

    _path: str
    _name: str

    def __call__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise use_error(cls._path, cls._name)

    def __getattr__(cls, name: str) -> NoReturn:
        text = f"type object {cls.__name__!r} has no attribute {name!r}"
        if not name.startswith("__"):
            text += f": {use_error(cls._path, cls._name)}"
        raise AttributeError(text)

    def __getitem__(cls, item: Any) -> Any:  # in annotations
        return cls


def _stand_in(path: str, name: str) -> Any:
    if name[0].isupper():
        text = f"Stands for {_theirs(path, name)}, and raises an error when it is made."
        members = {"__module__": path, "__doc__": text, "_path": path, "_name": name}
        bases: tuple[type, ...] = ()
        if name in MODULES:
            bases = (import_module("autograd_cy.nn").Module,)
        return _StandIn(name, bases, members)

    def stand_in(*args: Any, **kwargs: Any) -> NoReturn:
        raise use_error(path, name)

    stand_in.__name__ = stand_in.__qualname__ = name
    stand_in.__module__ = path
    stand_in.__doc__ = f"Stands for {_theirs(path, name)}, and raises an error when it is called."
    return stand_in
