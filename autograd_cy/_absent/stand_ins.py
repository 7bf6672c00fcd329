"""Names that can be imported and say what to do when they are used.

Programs import at their top what they use on a cluster, with a GPU or in an option alone. Such
names are in the table of ``stand_in_names.py``; a name is made when it is first asked for. One
that begins with a capital letter is a class, which other classes may extend and ``isinstance``
may ask for; the others are functions.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any, NoReturn

from autograd_cy._absent.names import no_attribute
from autograd_cy._absent.stand_in_names import MODULES, NO_GROUP, STAND_INS

__all__ = ["is_a_module", "names_of", "no_counterpart", "stand_in"]

_ROOT = "autograd_cy."


def is_a_module(path: str) -> bool:
    """
    Tell whether the table has a module by this name.

    Examples
    --------
    >>> is_a_module("autograd_cy.fx"), is_a_module("autograd_cy.nothing")
    (True, False)
    """
    return path[len(_ROOT) :] in STAND_INS


def names_of(path: str) -> list[str]:
    """
    List the names that stand in a module for what isn't there.

    Examples
    --------
    >>> "symbolic_trace" in names_of("autograd_cy.fx")
    True
    """
    return list(STAND_INS.get(path[len(_ROOT) :], ()))


def no_counterpart(path: str, name: str) -> Exception:
    """
    Make the error of a use of what isn't there: it names it, and the way out.

    Examples
    --------
    >>> print(no_counterpart("autograd_cy.fx", "symbolic_trace"))
    symbolic_trace: autograd_cy has no counterpart of torch.fx.symbolic_trace (there is no graph ...
    """
    inner = path[len(_ROOT) :]
    way_out = STAND_INS[inner][name]
    kind: type[Exception] = RuntimeError
    words = f"{name}: autograd_cy has no counterpart of {_theirs(path, name)} ({way_out})"
    if way_out.startswith(NO_GROUP):  # as torch says where there is no group of processes
        kind, words = ValueError, f"{name}: {way_out}"
    return kind(words)


class _StandIn(type):
    """The class of classes that can be imported, extended and asked for, and not called."""

    _path: str
    _name: str

    def __call__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise no_counterpart(cls._path, cls._name)

    def __getattr__(cls, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")
        raise AttributeError(
            f"type object {cls.__name__!r} has no attribute {name!r}: "
            f"{no_counterpart(cls._path, cls._name)}"
        )

    def __getitem__(cls, item: Any) -> Any:  # in annotations
        return cls


def _theirs(path: str, name: str) -> str:
    return ".".join(filter(None, ("torch", path[len(_ROOT) :], name)))


def _made(path: str, name: str) -> Any:
    if name[0].isupper():
        text = f"Stands for {_theirs(path, name)}, and raises an error when it is made."
        members = {"__module__": path, "__doc__": text, "_path": path, "_name": name}
        bases = (importlib.import_module("autograd_cy.nn").Module,) if name in MODULES else ()
        return _StandIn(name, bases, members)

    def stand_in(*args: Any, **kwargs: Any) -> NoReturn:
        raise no_counterpart(path, name)

    stand_in.__name__ = stand_in.__qualname__ = name
    stand_in.__module__ = path
    stand_in.__doc__ = f"Stands for {_theirs(path, name)}, and raises an error when it is called."
    return stand_in


def stand_in(path: str, name: str) -> Any:
    """
    Make the object by a name that a module doesn't define, or a module of its table.

    Parameters
    ----------
    path : str
        Of the module.
    name : str

    Returns
    -------
    class, function or module

    Raises
    ------
    AttributeError
        If the table doesn't have it.

    Examples
    --------
    >>> wanted = stand_in("autograd_cy.fx", "Interpreter")
    >>> wanted is stand_in("autograd_cy.fx", "Interpreter")
    True
    """
    inner = path[len(_ROOT) :]
    if name in STAND_INS.get(inner, ()):
        # A module that is being imported isn't asked for again.
        module = sys.modules.get(path) or importlib.import_module(path)
        return vars(module).setdefault(name, _made(path, name))
    if f"{inner}.{name}" in STAND_INS:
        return importlib.import_module(f"{path}.{name}")
    raise no_attribute(path, name)
