"""
Operators by the names that torch's dispatcher has for them: ``torch.ops.aten.add.Tensor``.

There is no dispatcher here: an operator is the function, or the method, of its name, and all
overloads of it are the same call, which finds by its arguments what to do. Namespaces of libraries
that would have to be compiled for PyTorch are empty.
"""

from __future__ import annotations

import os
from importlib import import_module
from types import ModuleType
from typing import Any, NoReturn

from autograd_cy._C.tensor import Tensor

__all__ = ["OpOverload", "OpOverloadPacket", "load_library", "namespace"]

#: Libraries that were loaded: none can be.
loaded_libraries: set[str] = set()

_namespaces: dict[str, _OpNamespace] = {}

# Functions of these modules are operators; others with their names are not.
_OPERATORS = (
    "autograd_cy._C.ops_",
    "autograd_cy._C.creation",
    "autograd_cy._C.random_operators",
    "autograd_cy._interpreted",
    "autograd_cy._tensors",
    "autograd_cy.linalg",
    "autograd_cy.nn.functional",
)

_OVERLOADS = frozenset(
    "Dimname ListList List Scalar ScalarList Scalar_Tensor Scalar_mode Scalar_out Tensor"
    " TensorList Tensor_Scalar Tensor_Tensor Tensor_float Tensor_int Tensor_mode Tensor_out"
    " correction correction_out default dim dim_IntList dim_max dim_min dtype dtype_layout"
    " generator grad_input int int_out memory_format names other out p_tensor quantized reduce"
    " self size source_Tensor start start_step step values_stable vec stable device unary_out"
    " value IntList_out ScalarOpt_dim ScalarOpt_dim_dtype float float_Tensor Tensor_value"
    " src".split()
)


def _slice(
    self: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    return self.movedim(dim, 0)[start:end:step].movedim(0, dim)


def _index(self: Tensor, indices: Any) -> Tensor:
    return self[tuple(slice(None) if i is None else i for i in indices)]


def _sparse(*args: Any, **kwargs: Any) -> NoReturn:
    raise RuntimeError("torch.ops.aten: there are dense tensors only; use a product of these")


# Operators whose functions and methods have other names, or which Python writes as x[...].
_UNDER_OTHER_NAMES: dict[str, Any] = {
    "_pin_memory": lambda self, device=None: self.pin_memory(),
    "_sparse_addmm": _sparse,
    "_sparse_mm_reduce_impl": _sparse,
    "_to_copy": lambda self, **options: self.to(self.device, copy=True).to(**options),
    "alias": lambda self: self.view_as(self),
    "index": _index,
    "slice": _slice,
}


def _lookup(name: str) -> Any:
    """Return the function or method of an operator, or None."""
    if name in _UNDER_OTHER_NAMES:
        return _UNDER_OTHER_NAMES[name]
    package = import_module("autograd_cy")
    places: list[tuple[Any, str]] = [
        (package, name),
        (import_module("autograd_cy.nn.functional"), name),
    ]
    for module in ("special", "linalg", "fft"):
        if name.startswith(f"{module}_"):
            places.append((import_module(f"autograd_cy.{module}"), name[len(module) + 1 :]))
    places.append((Tensor, name))
    for place, inner in places:
        if name.startswith("__"):
            continue
        function = getattr(place, inner, None)
        if not callable(function) or isinstance(function, type):
            continue
        home = getattr(function, "__module__", None) or ""
        if type(function).__name__ == "Form" or home.startswith(_OPERATORS):
            return function
        if place is Tensor:
            return function
    return None


class OpOverload:
    """
    One overload of an operator.

    Parameters
    ----------
    packet : OpOverloadPacket
    overload : str

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.ops.aten.add.Tensor
    <OpOverload(op='aten.add', overload='Tensor')>
    >>> torch.ops.aten.add.Tensor(torch.ones(2), 1)
    tensor([2., 2.])
    """

    def __init__(self, packet: OpOverloadPacket, overload: str) -> None:
        self.overloadpacket = packet
        self.namespace = "aten"
        self._overloadname = overload
        self.__name__ = f"{packet.__name__}.{overload}"
        self.__module__ = packet.__module__

    def name(self) -> str:
        """
        Return the name with its namespace.

        Returns
        -------
        str

        Examples
        --------
        >>> import autograd_cy as torch
        >>> torch.ops.aten.add.Tensor.name()
        'aten::add.Tensor'
        """
        whole = f"aten::{self.overloadpacket.__name__}"
        return whole if self._overloadname == "default" else f"{whole}.{self._overloadname}"

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self.overloadpacket(*args, **kwargs)

    # Policies of checkpoints and modes get functions, and compare them with overloads.
    def __eq__(self, other: object) -> bool:
        return self is other or other is self.overloadpacket._function

    def __hash__(self) -> int:
        return hash(self.overloadpacket._function)

    def __str__(self) -> str:
        return f"aten.{self.__name__}"

    def __repr__(self) -> str:
        packet = self.overloadpacket.__name__
        return f"<OpOverload(op='aten.{packet}', overload='{self._overloadname}')>"


class OpOverloadPacket:
    """
    An operator, with all of its overloads.

    Parameters
    ----------
    name : str
    function : callable

    Raises
    ------
    AttributeError
        If an overload is asked for whose name no operator has.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.ops.aten.add(torch.ones(2), 1)
    tensor([2., 2.])
    """

    def __init__(self, name: str, function: Any) -> None:
        self.__name__ = name
        self.__module__ = f"{import_module('autograd_cy').__name__}.ops.aten"
        self._function = function

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)

    def __getattr__(self, overload: str) -> OpOverload:
        if overload not in _OVERLOADS:
            raise AttributeError(
                f"The underlying op of 'aten.{self.__name__}' has no overload name '{overload}'"
            )
        result = self.__dict__[overload] = OpOverload(self, overload)
        return result

    def __str__(self) -> str:
        return f"aten.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='aten.{self.__name__}')>"


class _OpNamespace(ModuleType):
    """The operators of one library: those of this package in ``aten``, else none."""

    def __getattr__(self, name: str) -> OpOverloadPacket:
        inner = self.__name__.rpartition(".")[2]
        function = _lookup(name) if inner == "aten" else None
        if function is None:
            raise AttributeError(f"'_OpNamespace' '{inner}' object has no attribute '{name}'")
        packet = OpOverloadPacket(name, function)
        setattr(self, name, packet)
        return packet


def namespace(name: str) -> _OpNamespace:
    """
    Return the operators of one library.

    Parameters
    ----------
    name : str

    Returns
    -------
    module
        One without operators, if there is no such library.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> hasattr(torch.ops.torchvision, "nms")
    False
    """
    if name not in _namespaces:
        _namespaces[name] = _OpNamespace(f"autograd_cy.ops.{name}")
    return _namespaces[name]


def load_library(path: str | os.PathLike[str]) -> NoReturn:
    """
    Refuse to load a library of operators for PyTorch.

    Parameters
    ----------
    path : str

    Raises
    ------
    OSError
        Always.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.ops.load_library("operators.so")
    Traceback (most recent call last):
        ...
    OSError: Could not load this library: operators.so (libraries for PyTorch need PyTorch itself)
    """
    raise OSError(
        f"Could not load this library: {os.fspath(path)} (libraries for PyTorch need PyTorch "
        "itself)"
    )
