"""Methods of torch's tensors that these have not: asked for, they say what to use instead."""

from __future__ import annotations

from inspect import getattr_static
from typing import Any, NoReturn

from autograd_cy._absent.table import ABSENT
from autograd_cy._C.tensor import Tensor, _install

__all__ = ["Absent"]


class Absent:
    """
    An attribute that tensors have not.

    Not ``__getattr__``, with which reading any attribute costs more.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, tensor: Any, owner: type) -> NoReturn:
        from autograd_cy._absent.names import no_method

        raise no_method(tensor, owner, self.name)


def _is_absent(owner: type, name: str) -> bool:
    return type(getattr_static(owner, name)) is Absent


def _listed(self: Tensor) -> list[str]:
    """The names that a tensor has, its own and those of its class."""
    absent = {name for name in ABSENT["Tensor"] if _is_absent(type(self), name)}
    return [*(set(object.__dir__(self)) - absent), *vars(self)]


# What defines one of them later, such as a record, puts its own in the place.
for _name in ABSENT["Tensor"]:
    if _name not in vars(Tensor):
        _install(_name, Absent(_name))
_install("__dir__", _listed)
