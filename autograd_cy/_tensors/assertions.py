"""Checks that programs write by torch's private functions ``_check`` and ``_assert_async``.

Loaded when one of them is first used.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from autograd_cy._C.tensor import Tensor

__all__ = [
    "_assert",
    "_assert_async",
    "_check",
    "_check_index",
    "_check_is_size",
    "_check_not_implemented",
    "_check_tensor_all",
    "_check_type",
    "_check_value",
    "_check_with",
]

_EXPECTED = "Expected cond to be True, but got False."


def _assert(condition: Any, message: str) -> None:
    """Raise AssertionError with a message unless a condition holds, as ``assert`` does."""
    if not condition:
        raise AssertionError(message)


def _assert_async(input: Tensor, assert_msg: str | None = None) -> None:
    """Raise a RuntimeError unless the only element of a tensor isn't 0."""
    if input.numel() != 1:
        kind = "more than one value" if input.numel() else "no values"
        raise RuntimeError(f"_assert_async: Boolean value of Tensor with {kind} is ambiguous")
    if not input:
        raise RuntimeError(
            "_assert_async: Expected Tensor with single nonzero value, but got zero"
            if assert_msg is None
            else assert_msg
        )


def _check_with(
    error_type: type[Exception], cond: Any, message: Callable[[], Any] | None = None
) -> None:
    """Raise an error unless a condition holds; a function makes its text."""
    if not isinstance(cond, builtins.bool):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if cond:
        return
    if message is None:
        raise error_type(_EXPECTED)
    if not callable(message):
        raise TypeError("message must be a callable")
    raise error_type(str(message()))


def _check(cond: Any, message: Callable[[], Any] | None = None) -> None:
    """Raise a RuntimeError unless a condition holds."""
    _check_with(RuntimeError, cond, message)


def _check_index(cond: Any, message: Callable[[], Any] | None = None) -> None:
    """Raise an IndexError unless a condition holds."""
    _check_with(IndexError, cond, message)


def _check_value(cond: Any, message: Callable[[], Any] | None = None) -> None:
    """Raise a ValueError unless a condition holds."""
    _check_with(ValueError, cond, message)


def _check_type(cond: Any, message: Callable[[], Any] | None = None) -> None:
    """Raise a TypeError unless a condition holds."""
    _check_with(TypeError, cond, message)


def _check_not_implemented(cond: Any, message: Callable[[], Any] | None = None) -> None:
    """Raise a NotImplementedError unless a condition holds."""
    _check_with(NotImplementedError, cond, message)


def _check_is_size(i: Any, message: Callable[[], Any] | None = None, *, max: Any = None) -> None:
    """Raise a RuntimeError unless a number can be a size."""
    _check_with(RuntimeError, i >= 0 and (max is None or i <= max), message)


def _check_tensor_all(cond: Tensor, message: Callable[[], Any] | None = None) -> None:
    """Raise a RuntimeError unless all elements of a tensor of bools are true."""
    if not isinstance(cond, Tensor):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    _check_with(RuntimeError, builtins.bool(cond.all().item()), message)
