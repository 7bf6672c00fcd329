"""Libraries and functions that the written modules need beside operators, loaded at first use."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

from autograd_cy._environment.threads import limit_libraries
from autograd_cy._interpreted import _checks as checks

__all__ = ["checks", "compiled", "composite", "expression", "function", "kernel", "module", "rule"]


def function(module: str, name: str) -> Callable:
    """A function of arrays, of `_<module>_kernels.py`."""
    return _later(f"autograd_cy._interpreted._{module}_kernels", name)


_composites: dict[tuple[str, str], Callable] = {}


def composite(module: str, name: str) -> Callable:
    """A function of tensors, of `_<module>_composites.py`."""
    function = _composites.get((module, name))
    if function is None:  # not asked again
        owner = importlib.import_module(f"autograd_cy._interpreted._{module}_composites")
        function = _composites[module, name] = getattr(owner, name)
    return function


def expression(library: str, make: Callable[[ModuleType], Callable]) -> Callable:
    """The function that `make` gives for a library, which is imported by the first call."""
    function: Callable | None = None

    def call(*args: Any) -> Any:
        nonlocal function
        if function is None:
            function = make(importlib.import_module(library))
            limit_libraries()  # it may have brought a BLAS with threads of its own
        return function(*args)

    return call


def compiled(target: str, arguments: Callable[..., tuple] | None = None) -> Callable:
    """The C function ``module.name`` of autograd_cy._C; `arguments` makes those that it takes."""
    function: Callable | None = None

    def call(*args: Any) -> Any:
        nonlocal function
        if function is None:
            from autograd_cy._interpreted import _capsules

            function = _capsules.function(target)
        return function(*args) if arguments is None else function(*arguments(*args))

    return call


def rule(target: str, arguments: Callable[..., tuple]) -> Callable:
    """A shape rule: takes the address of results, the operator's arguments, and its name."""
    function = compiled(target)

    def call(address: int, args: tuple, op: str) -> None:
        function(address, *arguments(*args), op)

    return call


def kernel(target: str) -> tuple[int, Callable[[int], Callable]]:
    """A kernel of autograd_cy._C by its address, and what makes a function of such an address."""
    from autograd_cy._interpreted import _capsules

    return _capsules.kernel(target)


def _later(module: str, name: str) -> Callable:
    function: Callable | None = None

    def call(*args: Any) -> Any:
        nonlocal function
        if function is None:
            function = getattr(importlib.import_module(module), name)
            limit_libraries()
        return function(*args)

    return call


class module:
    """Another family, whose module may be loading while this one is."""

    def __init__(self, family: str):
        self._family = family

    def __getattr__(self, name: str) -> Any:
        family = importlib.import_module(f"autograd_cy._interpreted.{self._family}")
        function = self.__dict__[name] = getattr(family, name)  # not asked again
        return function
