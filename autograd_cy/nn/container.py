"""Modules that hold other modules."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, TypeVar

from .module import Module, shown

__all__ = ["ModuleDict", "ModuleList", "Sequential"]

_M = TypeVar("_M", "Sequential", "ModuleList")


class Sequential(Module):
    """Modules run one after the other, each on the output of the one before.

    Parameters
    ----------
    *args : Module or dict of Module
        The modules, or one dictionary that names them.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.Sequential(torch.nn.Flatten(), torch.nn.ReLU())
    Sequential(
      (0): Flatten(start_dim=1, end_dim=-1)
      (1): ReLU()
    )
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named: Iterable[tuple[str, Module]]
        if len(args) == 1 and isinstance(args[0], Mapping):
            named = args[0].items()
        else:
            named = ((str(number), module) for number, module in enumerate(args))
        for name, module in named:
            self.add_module(name, module)

    def forward(self, input: Any) -> Any:
        """Return the output of the last module.

        Parameters
        ----------
        input : Tensor
            What the first module takes.

        Returns
        -------
        Tensor
        """
        for module in self:
            input = module(input)
        return input

    def append(self, module: Module) -> Sequential:
        """Add a module at the end.

        Parameters
        ----------
        module : Module
            The module.

        Returns
        -------
        Sequential
            This container.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> len(torch.nn.Sequential().append(torch.nn.ReLU()))
        1
        """
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Sequential:
        """Add several modules at the end.

        Parameters
        ----------
        modules : iterable of Module
            The modules.

        Returns
        -------
        Sequential
            This container.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> len(torch.nn.Sequential().extend([torch.nn.ReLU(), torch.nn.Tanh()]))
        2
        """
        for module in list(modules):  # which may be this container
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> Sequential:
        """Put a module before the one at a position; all are numbered anew.

        Parameters
        ----------
        index : int
            The position, which may count from the end.
        module : Module
            The module.

        Returns
        -------
        Sequential
            This container.

        Raises
        ------
        IndexError
            If there is no such position.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> torch.nn.Sequential(torch.nn.ReLU()).insert(0, torch.nn.Tanh())
        Sequential(
          (0): Tanh()
          (1): ReLU()
        )
        """
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}, not {type(module)}")
        if not -len(self._modules) <= index <= len(self._modules):
            raise IndexError(f"Index out of range: {index}")
        _insert(self, index, module)
        return self

    def pop(self, key: int | slice) -> Module:
        """Remove a module, or several, and return it.

        Parameters
        ----------
        key : int or slice
            The position, or positions.

        Returns
        -------
        Module
            The module, or a container of the modules.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Tanh()).pop(-1)
        Tanh()
        """
        return _pop(self, key)

    def __add__(self, other: Sequential) -> Sequential:
        _check_addend(other)
        return Sequential(*iter(self), *iter(other))  # with no question for the lengths

    def __iadd__(self, other: Sequential) -> Sequential:
        _check_addend(other)
        return _add_at_end(self, list(other))

    def __mul__(self, other: int) -> Sequential:
        return Sequential(*[*iter(self)] * _factor(self, other))

    def __rmul__(self, other: int) -> Sequential:
        return self * other

    def __imul__(self, other: int) -> Sequential:
        return _add_at_end(self, list(self._modules.values()) * (_factor(self, other) - 1))

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)(dict(list(self._modules.items())[index]))
        return self._modules[_key(self, index)]

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, _key(self, index), module)

    def __delitem__(self, index: int | slice) -> None:
        _delete(self, index)


class ModuleList(Module):
    """Modules in a list; what is done with them is up to the ``forward`` around it.

    Parameters
    ----------
    modules : iterable of Module, optional
        The modules.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.ModuleList([torch.nn.ReLU(), torch.nn.ReLU(), torch.nn.Tanh()])
    ModuleList(
      (0-1): 2 x ReLU()
      (2): Tanh()
    )
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self += modules

    def append(self, module: Module) -> ModuleList:
        """Add a module at the end.

        Parameters
        ----------
        module : Module
            The module.

        Returns
        -------
        ModuleList
            This list.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> len(torch.nn.ModuleList().append(torch.nn.ReLU()))
        1
        """
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> ModuleList:
        """Add several modules at the end.

        Parameters
        ----------
        modules : iterable of Module
            The modules.

        Returns
        -------
        ModuleList
            This list.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> len(torch.nn.ModuleList().extend([torch.nn.ReLU(), torch.nn.Tanh()]))
        2
        """
        if not isinstance(modules, Iterable):
            raise TypeError(
                "ModuleList.extend should be called with an iterable, but got "
                f"{type(modules).__name__}"
            )
        return _add_at_end(self, list(modules))  # which may be this list

    def insert(self, index: int, module: Module) -> None:
        """Put a module before the one at a position.

        Parameters
        ----------
        index : int
            The position.
        module : Module
            The module.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> modules = torch.nn.ModuleList([torch.nn.ReLU()])
        >>> modules.insert(0, torch.nn.Tanh())
        >>> modules[0]
        Tanh()
        """
        _insert(self, index, module)

    def pop(self, key: int | slice) -> Module:
        """Remove a module, or several, and return it.

        Parameters
        ----------
        key : int or slice
            The position, or positions.

        Returns
        -------
        Module
            The module, or a list of the modules.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> torch.nn.ModuleList([torch.nn.ReLU(), torch.nn.Tanh()]).pop(-1)
        Tanh()
        """
        return _pop(self, key)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*iter(self), *iter(other)])  # with no question for the lengths

    def __iadd__(self, other: Iterable[Module]) -> ModuleList:
        return self.extend(other)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self._modules.values())[index])
        return self._modules[_key(self, index)]

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, _key(self, index), module)

    def __delitem__(self, index: int | slice) -> None:
        _delete(self, index)

    def __repr__(self) -> str:
        # Equal neighbours are told once.
        parts, first = [], 0
        for text, group in groupby(map(repr, iter(self))):
            count = sum(1 for _ in group)
            last = first + count - 1
            parts.append(
                f"({first}-{last}): {count} x {text}" if count > 1 else f"({first}): {text}"
            )
            first = last + 1
        return shown(self, "", parts)


class ModuleDict(Module):
    """Modules in a dictionary; what is done with them is up to the ``forward`` around it.

    Parameters
    ----------
    modules : mapping or iterable of pairs, optional
        The modules by name.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> list(torch.nn.ModuleDict({"act": torch.nn.ReLU()}))
    ['act']
    """

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def update(self, modules: Any) -> None:
        """Add or replace several modules.

        Parameters
        ----------
        modules : mapping or iterable of pairs
            The modules by name.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> modules = torch.nn.ModuleDict()
        >>> modules.update([("act", torch.nn.ReLU())])
        >>> "act" in modules
        True
        """
        if not isinstance(modules, Iterable):
            raise TypeError(
                "ModuleDict.update should be called with an iterable of key/value pairs, but got "
                f"{type(modules).__name__}"
            )
        pairs = modules.items() if hasattr(modules, "items") else modules
        for number, pair in enumerate(pairs):
            if len(pair) != 2:
                raise ValueError(
                    f"ModuleDict update sequence element #{number} has length {len(pair)}; "
                    "2 is required"
                )
            self[pair[0]] = pair[1]

    def keys(self) -> Iterable[str]:
        """Return the names."""
        return self._modules.keys()

    def values(self) -> Iterable[Module]:
        """Return the modules."""
        return self._modules.values()

    def items(self) -> Iterable[tuple[str, Module]]:
        """Return pairs of name and module."""
        return self._modules.items()

    def pop(self, key: str) -> Module:
        """Remove a module and return it.

        Parameters
        ----------
        key : str
            Its name.

        Returns
        -------
        Module

        Examples
        --------
        >>> import autograd_cy as torch
        >>> torch.nn.ModuleDict({"act": torch.nn.ReLU()}).pop("act")
        ReLU()
        """
        module = self[key]
        del self[key]
        return module

    def clear(self) -> None:
        """Remove all modules."""
        self._modules.clear()

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def __getitem__(self, key: str) -> Module:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]


def _key(container: Sequential | ModuleList, index: int) -> str:
    """Return the name of the module at a position, which may count from the end."""
    size, index = len(container), operator.index(index)
    if not -size <= index < size:
        raise IndexError(f"index {index} is out of range")
    return list(container._modules)[index]


def _add_at_end(container: _M, modules: list[Module]) -> _M:
    for number, module in enumerate(modules, len(container)):
        container.add_module(str(number), module)
    return container


def _renumber(container: Sequential | ModuleList, modules: list[Module]) -> None:
    container._modules.clear()
    container._modules.update((str(number), module) for number, module in enumerate(modules))


def _insert(container: Sequential | ModuleList, index: int, module: Module) -> None:
    if not isinstance(module, Module):
        raise TypeError(f"{type(module).__name__} is not a Module subclass")
    order = list(container._modules.values())
    order.insert(index, module)
    _renumber(container, order)


def _delete(container: Sequential | ModuleList, index: int | slice) -> None:
    """Remove modules and number the others anew."""
    names = list(container._modules)
    for name in names[index] if isinstance(index, slice) else [_key(container, index)]:
        del container._modules[name]
    _renumber(container, list(container._modules.values()))


def _pop(container: Sequential | ModuleList, key: int | slice) -> Any:
    module = container[key]
    del container[key]
    return module


def _check_addend(other: Any) -> None:
    if not isinstance(other, Sequential):
        raise ValueError(
            f"add operator supports only objects of Sequential class, but {type(other)} is given."
        )


def _factor(container: Sequential, times: Any) -> int:
    if not isinstance(times, int):
        raise TypeError(f"unsupported operand type(s) for *: {type(container)} and {type(times)}")
    if times <= 0:
        raise ValueError(f"Non-positive multiplication factor {times} for {type(container)}")
    return times
