"""Warnings that come once in a process, and name the line of the program."""

from __future__ import annotations

import sys
import warnings

from autograd_cy._C.tensor import _warn_always

__all__ = ["warn_once"]

_warned: set[str] = set()


def warn_once(text: str) -> None:
    """Warn once in a process, or each time (see `set_warn_always`), of the caller's line.

    The caller is the nearest function that isn't of this package.
    """
    if text in _warned and not _warn_always():
        return
    _warned.add(text)
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(
        "autograd_cy."
    ):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, UserWarning, stacklevel=level)
