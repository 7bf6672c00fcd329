"""Modules that hold modules or parameters."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any

from ..parameter import Parameter
from .module import Module

__all__ = ["Container", "ModuleList", "ParameterList", "Sequential"]


def _place(i: int, size: int, what: str) -> int:
    if not -size <= i < size:
        raise IndexError(f"index {i} is out of range of {what} with {size} parts")
    return i % size


class Container(Module):
    """A module that owns what it gets by keyword; deriving from Module is the newer form."""

    def __init__(self, **modules: Any) -> None:
        super().__init__()
        for name, module in modules.items():
            self.add_module(name, module)


class Sequential(Module):
    """
    Modules one after the other, given one by one or as an OrderedDict.

    Examples
    --------
    >>> from autograd_cy.legacy import nn
    >>> nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    Sequential (
      (0): Linear (2 -> 3)
      (1): ReLU ()
    )
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            named: Iterable[tuple[str, Any]] = args[0].items()
        else:
            named = ((str(i), module) for i, module in enumerate(args))
        for name, module in named:
            self.add_module(name, module)

    def __getitem__(self, i: int) -> Any:
        return list(self._modules.values())[_place(i, len(self), "a Sequential")]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def forward(self, input: Any) -> Any:
        for module in self._modules.values():
            input = module(input)
        return input


class ModuleList(Module):
    """
    Modules by number.

    Parameters
    ----------
    modules : iterable of Module, optional

    Examples
    --------
    >>> from autograd_cy.legacy import nn
    >>> len(nn.ModuleList([nn.ReLU(), nn.Tanh()]))
    2
    """

    def __init__(self, modules: Iterable[Any] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, i: int) -> Any:
        return self._modules[str(_place(i, len(self), "a ModuleList"))]

    def __setitem__(self, i: int, module: Any) -> None:
        setattr(self, str(_place(i, len(self), "a ModuleList")), module)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __iadd__(self, modules: Iterable[Any]) -> ModuleList:
        return self.extend(modules)

    def append(self, module: Any) -> ModuleList:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Any]) -> ModuleList:
        """Add modules at the end."""
        for module in modules:
            self.append(module)
        return self


class ParameterList(Module):
    """
    Parameters by number.

    Parameters
    ----------
    parameters : iterable of Parameter, optional
    """

    def __init__(self, parameters: Iterable[Any] | None = None) -> None:
        super().__init__()
        if parameters is not None:
            self.extend(parameters)

    def __getitem__(self, i: int) -> Any:
        return self._parameters[str(_place(i, len(self), "a ParameterList"))]

    def __setitem__(self, i: int, param: Any) -> None:
        self.register_parameter(str(_place(i, len(self), "a ParameterList")), param)

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._parameters.values())

    def append(self, parameter: Parameter) -> ParameterList:
        """Add a parameter at the end."""
        self.register_parameter(str(len(self)), parameter)
        return self

    def extend(self, parameters: Iterable[Any]) -> ParameterList:
        """Add parameters at the end."""
        for parameter in parameters:
            self.append(parameter)
        return self
