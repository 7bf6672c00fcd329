"""
Interpreted operators: Python written from their records, NumPy and SciPy for kernels.

The modules of the families are written by the build (ext/codegen/interpreted.py), and `_index` says
which names they have. None is loaded before one of its names is used.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from autograd_cy._C.devices import expect
from autograd_cy._C.tensor import Tensor, _install
from autograd_cy._interpreted._index import FUNCTIONS, KERNELS, METHODS, NAMESPACES

__all__ = ["FUNCTIONS", "LinAlgError", "complete", "find", "install_methods", "names_of", "public"]


class LinAlgError(RuntimeError):
    """A problem of linear algebra that has no solution."""


LinAlgError.__module__ = "autograd_cy.linalg"


expect(KERNELS)


def find(family: str, name: str) -> Callable:
    """A function of the interpreted tier."""
    return getattr(importlib.import_module(f"autograd_cy._interpreted.{family}"), name)


def public(name: str) -> Callable:
    """A function of the top level; KeyError if there is none."""
    return find(*FUNCTIONS[name])


def names_of(namespace: str) -> dict[str, tuple[str, str]]:
    """Name -> place of the functions in a namespace, such as ``linalg``."""
    return NAMESPACES.get(namespace, {})


def complete(namespace: str, names: dict[str, Any]) -> None:
    """Give the module of a namespace, by its globals, the functions of it that it doesn't name."""
    for name, place in names_of(namespace).items():
        if not name.endswith("_") and name not in names:
            names[name] = find(*place)
            names["__all__"].append(name)
    names["__all__"].sort()


class _Method:
    """Stands for a method of Tensor until it is used."""

    _asks = True  # the classes of its arguments, like all functions of this tier

    def __init__(self, name: str):
        self.__name__ = name

    def __get__(self, instance: Any, owner: type | None = None) -> Callable:
        function = find(*METHODS[self.__name__])
        if Tensor.__dict__.get(self.__name__) is self:
            _install(self.__name__, function)
        return function if instance is None else function.__get__(instance, owner)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return find(*METHODS[self.__name__])(*args, **kwargs)


def install_methods() -> None:
    """Give Tensor the methods of the interpreted tier."""
    for name in METHODS:
        _install(name, _Method(name))
