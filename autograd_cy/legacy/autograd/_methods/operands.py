"""The other operand of a method: a Variable or a number, and no tensor."""

from __future__ import annotations

from typing import Any, NoReturn

from autograd_cy import Tensor

from ...tensors.wrapping import is_number
from .._state import VariableBase

__all__ = ["check_number", "refuse"]


def refuse(name: str, other: Any, expected: str = "a Variable or a number") -> NoReturn:
    """Raise the TypeError of an operand that is none of what is expected."""
    if isinstance(other, Tensor):
        raise TypeError(
            f"{name}: can't combine a Variable and a tensor; use Variable(tensor), or .data of both"
        )
    if isinstance(other, VariableBase):  # refused itself, so only a number would have done
        expected = "a number"
    raise TypeError(f"{name}: expected {expected}, but got {type(other).__name__}")


def check_number(name: str, x: Any) -> Any:
    """A number, which it is to be."""
    kind = type(x)
    if kind is float or kind is int or is_number(x):
        return x
    refuse(name, x)
