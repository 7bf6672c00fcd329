"""Ranges and marks for NVIDIA's tools, by the package nvtx or libnvToolsExt."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from autograd_cy.profiler._ranges import nvtx_functions

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]

_depth = threading.local()


def range_push(msg: str) -> int:
    """
    Begin a range.

    Parameters
    ----------
    msg : str

    Returns
    -------
    int
        Number of ranges around it in this thread.

    Raises
    ------
    RuntimeError
        Without the package nvtx and the library.
    """
    nvtx_functions("nvtx.range_push").push(msg)
    depth: int = getattr(_depth, "value", 0)
    _depth.value = depth + 1
    return depth


def range_pop() -> int:
    """
    End the innermost range.

    Returns
    -------
    int
        Number of ranges that are left in this thread; -1 if there was none.

    Raises
    ------
    RuntimeError
        Without the package nvtx and the library.
    """
    pop = nvtx_functions("nvtx.range_pop").pop
    depth: int = getattr(_depth, "value", 0) - 1
    if depth >= 0:
        pop()
        _depth.value = depth
    return depth


def range_start(msg: str) -> Any:
    """
    Begin a range that another thread may end.

    Parameters
    ----------
    msg : str

    Returns
    -------
    object
        What `range_end` takes.

    Raises
    ------
    RuntimeError
        Without the package nvtx and the library.
    """
    return nvtx_functions("nvtx.range_start").start(msg)


def range_end(range_id: Any) -> None:
    """
    End a range of `range_start`.

    Parameters
    ----------
    range_id : object
        What `range_start` returned.

    Raises
    ------
    RuntimeError
        Without the package nvtx and the library.
    """
    nvtx_functions("nvtx.range_end").end(range_id)


def mark(msg: str) -> None:
    """
    Mark this moment.

    Parameters
    ----------
    msg : str

    Raises
    ------
    RuntimeError
        Without the package nvtx and the library.
    """
    nvtx_functions("nvtx.mark").mark(msg)


@contextmanager
def range(msg: str, *args: object, **kwargs: object) -> Iterator[None]:
    """
    A range around a block, or, as decorator, around a function.

    Parameters
    ----------
    msg : str
        Formatted with the further arguments.

    Raises
    ------
    RuntimeError
        Without the package nvtx, on entering.
    """
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()
