"""
Interpreted operators: Python written from their records, NumPy and SciPy for kernels.

The modules of the families are written by the build (ext/codegen/interpreted.py), and `_index` says
which names they have. None is loaded before one of its names is used; nor are those compiled
families whose file says ``LOADED = "at first use"``, whose names are found here, too.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from autograd_cy._C.devices import expect
from autograd_cy._C.linking import _expect
from autograd_cy._C.tensor import Tensor, _install
from autograd_cy._interpreted._index import FUNCTIONS, KERNELS, LATER, METHODS, NAMESPACES, RESULTS
from autograd_cy._lazy import attach
from autograd_cy._tensors.public import as_method

__all__ = [
    "FUNCTIONS",
    "RESULTS",
    "Family",
    "LinAlgError",
    "complete",
    "find_function",
    "install_methods",
    "later",
    "names_of",
    "public",
]


class LinAlgError(RuntimeError):
    """A problem of linear algebra that has no solution."""


LinAlgError.__module__ = "autograd_cy.linalg"


expect(KERNELS)
_expect(LATER)


def find_function(module: str, name: str) -> Callable:
    """A function of a module that `_index` names; the module is loaded, if it isn't yet."""
    if module.startswith("ops_"):
        return getattr(importlib.import_module(f"autograd_cy._C.{module}"), name)
    return getattr(importlib.import_module(f"autograd_cy._interpreted.{module}"), name)


class _Loaded:
    """The functions of a family that is loaded, as attributes."""


class Family(_Loaded):
    """The functions of a compiled family that is loaded when one of them is first used."""

    def __init__(self, module: str):
        self._module = module

    def __getattr__(self, name: str) -> Callable:
        self.__dict__.update(vars(importlib.import_module(f"autograd_cy._C.{self._module}")))
        # Python finds attributes faster where no __getattr__ may answer for them.
        self.__class__ = _Loaded  # type: ignore[assignment]
        return getattr(self, name)


def public(name: str) -> Callable:
    """A function of the top level; KeyError if there is none."""
    return find_function(*FUNCTIONS[name])


def names_of(namespace: str) -> dict[str, tuple[str, str]]:
    """Name -> place of the functions in a namespace, such as ``linalg``."""
    return NAMESPACES.get(namespace, {})


def complete(
    namespace: str,
    names: dict[str, Any],
    top: Iterable[str] = (),
    renamed: Mapping[str, str] | None = None,
) -> None:
    """
    Give the module of a namespace, by its globals, the functions of it that it doesn't name.

    Those are what records put there, those of the top level that are called the same (`top`), and
    those that have another name there (`renamed`, name -> name at the top level).
    """
    from autograd_cy._tensors import namespace as functions

    added = {name: getattr(functions, name) for name in top}
    added |= {name: getattr(functions, theirs) for name, theirs in (renamed or {}).items()}
    for name, place in names_of(namespace).items():
        if not name.endswith("_") and name not in names:
            added[name] = find_function(*place)
    names |= added
    names["__all__"] = sorted({*names["__all__"], *added})


def later(
    namespace: str, names: dict[str, Any], others: Iterable[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """
    Return ``__getattr__`` and ``__dir__`` for the module of a namespace, by its globals.

    Functions of the namespace that the module doesn't name, and `others` of the top level, are
    loaded when they are first used.
    """
    top = {name: FUNCTIONS[name] for name in others}
    places = {**names_of(namespace), **top}
    public = {name for name in places if not name.endswith("_") and name not in names} | {*top}
    names["__all__"] = sorted({*names["__all__"], *public})

    def load(name: str) -> Any:
        if name not in places:
            return None
        names[name] = function = find_function(*places[name])
        return function

    return attach(names["__name__"], find=load)


class _Method:
    """The stand-in of a method of Tensor until it is used."""

    _dispatches = True  # to the classes of its arguments, like all functions of this tier

    def __init__(self, name: str):
        self.__name__ = name

    def __get__(self, instance: Any, owner: type | None = None) -> Callable:
        function = find_function(
            *METHODS[self.__name__]
        )  # a compiled family installs its methods itself
        if Tensor.__dict__.get(self.__name__) is self:
            _install(self.__name__, as_method(function, self.__name__))
        function = Tensor.__dict__.get(self.__name__, function)
        return function if instance is None else function.__get__(instance, owner)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return find_function(*METHODS[self.__name__])(*args, **kwargs)


def install_methods() -> None:
    """Give Tensor the methods of the interpreted tier."""
    for name in METHODS:
        _install(name, _Method(name))
