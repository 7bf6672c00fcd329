"""NVIDIA's library for networks, which isn't there: its switches are kept and change nothing."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from autograd_cy._environment.contexts import _Context

__all__ = ["flags", "is_available", "version"]

enabled = True
benchmark = False
benchmark_limit: int | None = None
deterministic = False
allow_tf32 = True
_BOOLS = ("enabled", "benchmark", "deterministic", "allow_tf32")


def _check_switch(name: str, value: Any) -> None:
    if name in _BOOLS and not isinstance(value, bool):
        raise RuntimeError(f"{__name__}.{name} is bool, but got {type(value).__name__}")


class _Module(ModuleType):
    """The class of this module, which checks its switches."""

    def __setattr__(self, name: str, value: Any) -> None:
        _check_switch(name, value)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Module


def is_available() -> bool:
    """
    Return whether the library is there: never.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.backends.cudnn.is_available()
    False
    """
    return False


def version() -> None:
    """
    Return the version of the library: none.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.backends.cudnn.version() is None
    True
    """
    return


def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int | None = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
) -> _Context:
    """
    Set the switches for the length of a block.

    Parameters
    ----------
    enabled, benchmark, deterministic, allow_tf32 : bool, optional
    benchmark_limit : int or None, optional

    Returns
    -------
    context manager

    Raises
    ------
    RuntimeError
        A value of another kind.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> with ag.backends.cudnn.flags(deterministic=True):
    ...     ag.backends.cudnn.deterministic
    True
    """
    wanted = {
        "enabled": enabled,
        "benchmark": benchmark,
        "benchmark_limit": benchmark_limit,
        "deterministic": deterministic,
        "allow_tf32": allow_tf32,
    }
    for name, value in wanted.items():
        _check_switch(name, value)
    return _Context([(globals(), name, value) for name, value in wanted.items()])
